package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/normalize"
)

// A normaliser reads messages; what it answers is in their order.
type normaliser struct {
	name string
	read func(ctx context.Context, messages []message, done func(int)) ([]string, error)
}

// swar is ours, as it is without any setting.
func swar(_ context.Context, messages []message, done func(int)) ([]string, error) {
	var out []string
	for i, m := range messages {
		out = append(out, normalize.Text(m.Text, normalize.Options{}))
		done(i + 1)
	}
	return out, nil
}

// command runs a program of the shell: a message a line in, a reading a line out.
func command(line string) func(context.Context, []message, func(int)) ([]string, error) {
	return func(ctx context.Context, messages []message, done func(int)) ([]string, error) {
		var in bytes.Buffer
		for _, m := range messages {
			fmt.Fprintln(&in, m.Text)
		}
		cmd := exec.CommandContext(ctx, "sh", "-c", line)
		cmd.WaitDelay = time.Second
		cmd.Stdin, cmd.Stderr = &in, os.Stderr
		lines := &lineCounter{done: done}
		cmd.Stdout = lines
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("%s: %w", line, errors.Join(err, context.Cause(ctx)))
		}
		out := strings.Split(strings.TrimSuffix(lines.String(), "\n"), "\n")
		if len(out) != len(messages) {
			return nil, fmt.Errorf("%s: %d lines came for %d messages: write one line for each, also for what it cannot read", line, len(out), len(messages))
		}
		return out, nil
	}
}

// lineCounter keeps what is written and tells how many lines that is.
type lineCounter struct {
	bytes.Buffer
	lines int
	done  func(int)
}

func (c *lineCounter) Write(p []byte) (int, error) {
	c.lines += bytes.Count(p, []byte("\n"))
	c.done(c.lines)
	return c.Buffer.Write(p)
}

// service asks a service once a message.
func service(url, field, header string) (func(context.Context, []message, func(int)) ([]string, error), error) {
	name, value, ok := strings.Cut(header, ":")
	if header != "" && !ok {
		return nil, fmt.Errorf("the header %q has no colon: write it as 'x-api-key: KEY'", header)
	}
	return func(ctx context.Context, messages []message, done func(int)) ([]string, error) {
		var out []string
		for i, m := range messages {
			spoken, err := ask(ctx, url, field, name, strings.TrimSpace(value), m.Text)
			if err != nil {
				return nil, fmt.Errorf("message %s: %w", m.ID, err)
			}
			out = append(out, spoken)
			done(i + 1)
		}
		return out, nil
	}, nil
}

func ask(ctx context.Context, url, field, name, value, text string) (string, error) {
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("content-type", "application/json")
	if name != "" {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return "", err
	}
	if resp.StatusCode/100 != 2 {
		return "", fmt.Errorf("%s answers %s: %.200s", url, resp.Status, answer)
	}
	if field == "" {
		return string(answer), nil
	}
	var fields map[string]any
	if err := json.Unmarshal(answer, &fields); err != nil {
		return "", fmt.Errorf("%s does not answer with a JSON object: %w", url, err)
	}
	spoken, ok := fields[field].(string)
	if !ok {
		return "", fmt.Errorf("the answer of %s has no text in its field %q: name it with -field", url, field)
	}
	return spoken, nil
}

// findPeers lists the adapters in a folder, or takes one. One that does not run, because its package could not be
// installed, is skipped and named.
func findPeers(ctx context.Context, folder string, progress io.Writer) ([]normaliser, error) {
	python := filepath.Join(".cache", "reading", "bin", "python")
	if info, _ := os.Stat(python); info == nil {
		_, _ = fmt.Fprintf(progress, "SKIPPED: all peers, as %s is missing: run hack/reading/peers/install.sh\n",
			python)
		return nil, nil
	}
	adapters, err := filepath.Glob(filepath.Join(folder, "*.py"))
	if strings.HasSuffix(folder, ".py") {
		adapters = []string{folder}
	}
	if err != nil {
		return nil, err
	}
	var out []normaliser
	for _, a := range adapters {
		name, err := exec.CommandContext(ctx, python, a, "--name").Output()
		if err != nil {
			_, _ = fmt.Fprintf(progress, "SKIPPED: %s, which does not run here: %v\n", filepath.Base(a), reason(err))
			continue
		}
		out = append(out, normaliser{strings.TrimSpace(string(name)), command(python + " " + a)})
	}
	return out, nil
}

// reason is the last line that a program has said about its failure.
func reason(err error) string {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(exit.Stderr)), "\n")
	return lines[len(lines)-1]
}

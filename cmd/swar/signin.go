package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/call"
	"github.com/swar-tts/swar/cmd/internal/control"
	"github.com/swar-tts/swar/cmd/internal/launch"
)

func (a *app) signinCommand() *cobra.Command {
	var server string
	cmd := &cobra.Command{
		Use:   "signin E-MAIL",
		Short: "Sign in to a portal by e-mail, and print an ID token",
		Long: `Sends a sign-in mail, asks for the code in it, and prints an ID token, which is valid for an hour. It is not stored:
standard output has only the token, and standard error everything else.`,
		Example: `  export SWAR_SERVER=https://tts.example.org
  export SWAR_TOKEN=$(swar signin me@example.org)
  swar keys list`,
		Args: launch.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			email, err := control.Email(cmd, args[0])
			if err != nil {
				return err
			}
			base, err := call.Address(cmd, server)
			if err != nil {
				return err
			}
			token, err := a.signIn(cmd.Context(), base, email)
			if err != nil {
				return launch.Interrupted(cmd.Context(), call.Reached(base, "", err))
			}
			_, err = fmt.Fprintln(a.Out, token)
			return err
		},
	}
	cmd.Flags().StringVar(&server, "server", call.DefaultServer, "`address` of the server")
	return cmd
}

// signIn has a code mailed, and makes it a token.
func (a *app) signIn(ctx context.Context, base, email string) (string, error) {
	jar, err := cookiejar.New(nil) // a code is valid only for the browser that requested it
	if err != nil {
		return "", err
	}
	h := &http.Client{Timeout: time.Minute, Jar: jar}
	post := func(path string, fields map[string]string, v any) error {
		b, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, bytes.NewReader(b))
		if err != nil {
			return err
		}
		req.Header.Set("User-Agent", name+"/"+version)
		answer, err := call.Exchange(h, req)
		if err != nil || v == nil {
			return err
		}
		return call.Understand(answer, v)
	}
	if err := post("/auth/v1/email-link", map[string]string{"email": email}, nil); err != nil {
		return "", err
	}
	fmt.Fprintf(a.Err, "If %s may sign in, a mail is on its way. Its code: ", email)
	code, err := readLine(ctx, a.In)
	if err != nil {
		return "", err
	}
	var session struct {
		IDToken string `json:"id_token"`
	}
	err = post("/auth/v1/verify", map[string]string{"email": email, "code": code, "session": "token"}, &session)
	return session.IDToken, err
}

// readLine reads a typed line, until ctx ends.
func readLine(ctx context.Context, r io.Reader) (string, error) {
	type typed struct {
		line string
		err  error
	}
	read := make(chan typed, 1)
	go func() { // it ends with the program: there is no way to stop reading from a terminal
		line, err := bufio.NewReader(r).ReadString('\n')
		if strings.TrimSpace(line) != "" {
			err = nil
		}
		read <- typed{strings.TrimSpace(line), err}
	}()
	select {
	case t := <-read:
		if errors.Is(t.err, io.EOF) {
			return "", errors.New("no code was given")
		}
		if t.err != nil {
			return "", fmt.Errorf("reading the code: %w", t.err)
		}
		return t.line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

package main_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The tests use the program as a user does: they build it once, run it, and look at what it writes, makes and returns.

var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "swar-test-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "swar")
	build := exec.Command("go", "build", "-ldflags", "-X main.version=v0.0-test", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building swar: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// shell is where a test runs commands: an environment, a folder, and programs that are found.
type shell struct {
	t   testing.TB
	env []string
	dir string
	bin string // the only folder in PATH
}

// newShell has espeak-ng and a POSIX shell in its PATH, and skips the test, loudly, where the former is missing.
func newShell(t testing.TB, env ...string) *shell {
	t.Helper()
	s := bareShell(t, env...)
	path, err := exec.LookPath("espeak-ng")
	if err != nil {
		t.Skip("SKIPPED, so that nothing was tested: espeak-ng is not installed; apt-get install espeak-ng")
	}
	s.link("espeak-ng", path)
	return s
}

// bareShell has no speech program.
func bareShell(t testing.TB, env ...string) *shell {
	t.Helper()
	s := &shell{t: t, dir: t.TempDir(), bin: t.TempDir()}
	s.env = append([]string{"PATH=" + s.bin, "HOME=" + t.TempDir(), "TERM=xterm"}, env...)
	for _, tool := range []string{"sh", "cat"} {
		if path, err := exec.LookPath(tool); err == nil {
			s.link(tool, path)
		}
	}
	return s
}

func (s *shell) link(name, to string) {
	s.t.Helper()
	if err := os.Symlink(to, filepath.Join(s.bin, name)); err != nil {
		s.t.Fatal(err)
	}
}

// script puts a program of our own into PATH.
func (s *shell) script(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shell) path(name string) string { return filepath.Join(s.dir, name) }

func (s *shell) read(name string) []byte {
	s.t.Helper()
	b, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// files are the names in the shell's folder.
func (s *shell) files() string {
	s.t.Helper()
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// command bounds every run: a test that hangs says where.
func (s *shell) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	s.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Dir = s.env, s.dir
	return cmd
}

// result is what a command did.
type result struct {
	code     int
	out, err string
}

func (s *shell) run(args ...string) result { s.t.Helper(); return s.runWith("", args...) }

func (s *shell) runWith(stdin string, args ...string) result {
	s.t.Helper()
	cmd := s.command(args...)
	var out, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &stderr
	err := cmd.Run()
	return result{codeOf(s.t, err), out.String(), stderr.String()}
}

// ok is run for a command that must succeed.
func (s *shell) ok(args ...string) result {
	s.t.Helper()
	r := s.run(args...)
	if r.code != 0 {
		s.t.Fatalf("swar %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.err)
	}
	return r
}

func codeOf(t testing.TB, err error) int {
	t.Helper()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0
}

// server is a running `swar serve`.
type server struct {
	*exec.Cmd
	t    testing.TB
	base string

	mu     sync.Mutex
	out    bytes.Buffer
	stderr bytes.Buffer
	line   sync.Cond // a line of stderr has come
	over   chan struct{}
	err    error // of Wait, once over is closed
}

// serve starts a server on a free port, without the portal unless args want it, and waits until it is ready.
func (s *shell) serve(args ...string) *server {
	s.t.Helper()
	v := s.start(append([]string{"serve", "--listen", "127.0.0.1:0", "--portal", "off"}, args...)...)
	ready := v.await(func(line string) bool {
		return strings.Contains(line, "ready") &&
			strings.Contains(line, "listen")
	})
	for _, mark := range []string{"listen=", `"listen":"`} {
		if _, rest, ok := strings.Cut(ready, mark); ok {
			v.base = "http://" + rest[:strings.IndexAny(rest, ` "`)]
		}
	}
	return v
}

// start runs the program in the background. It is killed when the test ends.
func (s *shell) start(args ...string) *server {
	s.t.Helper()
	v := &server{Cmd: s.command(args...), t: s.t, over: make(chan struct{})}
	v.line.L = &v.mu
	v.Stdout = (*output)(v)
	pipe, err := v.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := v.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		for in := bufio.NewReader(pipe); ; {
			text, err := in.ReadString('\n')
			v.mu.Lock()
			v.stderr.WriteString(text)
			v.line.Broadcast()
			v.mu.Unlock()
			if err != nil {
				break
			}
		}
		v.err = v.Wait()
		v.mu.Lock()
		close(v.over)
		v.line.Broadcast()
		v.mu.Unlock()
	}()
	s.t.Cleanup(func() {
		v.Process.Kill()
		<-v.over
	})
	return v
}

// await returns the first line of stderr for which found is true.
func (v *server) await(found func(string) bool) string {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for {
		for line := range strings.Lines(v.stderr.String()) {
			if strings.HasSuffix(line, "\n") && found(line) {
				return strings.TrimSpace(line)
			}
		}
		select {
		case <-v.over:
			v.t.Fatalf("the server ended: %v\n%s", v.err, v.stderr.String())
		default:
		}
		v.line.Wait()
	}
}

// output is where a server's standard output goes.
type output server

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.line.Broadcast()
	return o.out.Write(p)
}

// stdout is what the server has printed.
func (v *server) stdout() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.out.String()
}

func (v *server) log() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.stderr.String()
}

// end waits for the end and returns the exit code.
func (v *server) end() int {
	v.t.Helper()
	<-v.over
	return codeOf(v.t, v.err)
}

func (v *server) signal(s syscall.Signal) {
	v.t.Helper()
	if err := v.Process.Signal(s); err != nil {
		v.t.Fatal(err)
	}
}

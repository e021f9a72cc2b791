//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const sentence = "Namaste! Aapka order kal tak deliver ho jayega, total ₹499 hai."

// server is a swar serve that a test started.
type server struct {
	base string
	cmd  *exec.Cmd

	mu  sync.Mutex
	log bytes.Buffer // standard error
	out bytes.Buffer // standard output
}

// Write keeps what the server prints.
func (s *server) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

func (s *server) printed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// start runs bin/swar serve with the given flags on a free port, without the portal unless they want it, and waits until it is ready. It
// is killed at the end of the test.
func start(t testing.TB, flags ...string) *server {
	t.Helper()
	s := begin(t, flags...)
	s.waitReady(t)
	return s
}

// begin is start without the wait.
func begin(t testing.TB, flags ...string) *server {
	t.Helper()
	program, err := filepath.Abs(cmp.Or(*binary, "../../bin/swar"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("%v: run make e2e, which builds it", err)
	}
	address := freeAddress(t)
	s := &server{base: "http://" + address}
	own := []string{"serve", "--listen", address, "--portal", "off", "--data", t.TempDir()}
	s.cmd = exec.Command(program, append(own, flags...)...)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stdout = s
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			s.mu.Lock()
			fmt.Fprintln(&s.log, lines.Text())
			s.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill()
			<-read
			_ = s.cmd.Wait()
		}
		if t.Failed() {
			t.Logf("server log:\n%s", s.output())
		}
	})
	return s
}

func freeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}

func (s *server) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// waitReady polls /readyz, which is what a load balancer does.
func (s *server) waitReady(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		if resp, err := http.Get(s.base + "/readyz"); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the server did not become ready:\n%s", s.output())
		}
	}
}

func (s *server) post(ctx context.Context, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

// run runs a program and returns what it printed; the test is skipped where it is missing.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed", name)
	}
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// espeakProcesses returns the espeak-ng processes whose parent is the given process. Zombies count.
func espeakProcesses(t *testing.T, parent int) []string {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has just ended
		}
		var pid, ppid int
		var state string
		end := bytes.LastIndexByte(stat, ')')
		if _, err := fmt.Sscanf(string(stat[end+1:]), " %s %d", &state, &ppid); err != nil || !bytes.Contains(stat[:end], []byte("espeak-ng")) {
			continue
		}
		if _, err := fmt.Sscanf(string(stat), "%d", &pid); err == nil && ppid == parent {
			found = append(found, fmt.Sprintf("pid %d, state %s", pid, state))
		}
	}
	return found
}

func signal(t *testing.T, s *server, sig syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

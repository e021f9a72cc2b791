//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// process is a program of ours that a test started.
type process struct {
	name   string // in what the test says of it
	probes string // URL that answers /readyz and /metrics

	path string
	args []string
	cmd  *exec.Cmd
	read chan struct{} // closed when all of its log was read

	mu  sync.Mutex
	log bytes.Buffer // standard error
	out bytes.Buffer // standard output
}

// program returns the path of one that was built.
func program(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../bin", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// begin starts a program and waits for nothing. It is killed at the end of the test, whose log has the program's if it
// failed.
func (p *process) begin(t testing.TB) {
	t.Helper()
	if _, err := os.Stat(p.path); err != nil {
		t.Fatalf("%v: run make e2e, which builds it", err)
	}
	p.restart(t)
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Kill()
			_ = p.wait()
		}
		if t.Failed() {
			t.Logf("log of %s:\n%s", p.name, p.output())
		}
	})
}

// restart starts it again, as it was started before, after it has ended.
func (p *process) restart(t testing.TB) {
	t.Helper()
	p.cmd = exec.Command(p.path, p.args...)
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout = p
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	p.read = read
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			p.mu.Lock()
			fmt.Fprintln(&p.log, lines.Text())
			p.mu.Unlock()
		}
	}()
}

// Write keeps what the program prints.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *process) printed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

func (p *process) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatalf("%s: %v", p.name, err)
	}
}

// kill ends it at once, and returns when it has ended.
func (p *process) kill(t testing.TB) {
	t.Helper()
	p.signal(t, syscall.SIGKILL)
	_ = p.wait()
}

// wait returns how it has ended.
func (p *process) wait() error {
	<-p.read
	return p.cmd.Wait()
}

// waitReady polls /readyz, which is what a load balancer does.
func (p *process) waitReady(t testing.TB) {
	t.Helper()
	untilReady(t, p.name, p.probes+"/readyz", p.read)
}

// untilReady waits until url answers that it is, for as long as what answers there has not ended.
func untilReady(t testing.TB, name, url string, ended <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	for tick := time.NewTicker(50 * time.Millisecond); !answersOK(url); {
		select {
		case <-tick.C:
		case <-ended:
			t.Fatalf("%s has ended instead of becoming ready", name)
		case <-ctx.Done():
			t.Fatalf("%s did not become ready", name)
		}
	}
}

func answersOK(url string) bool {
	resp, err := http.Get(url)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// espeaks returns the espeak-ng processes whose parent is the given process. Zombies count.
func espeaks(t *testing.T, parent int) []string {
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
		_, err = fmt.Sscanf(string(stat[end+1:]), " %s %d", &state, &ppid)
		if err != nil || !bytes.Contains(stat[:end], []byte("espeak-ng")) {
			continue
		}
		if _, err := fmt.Sscanf(string(stat), "%d", &pid); err == nil && ppid == parent {
			found = append(found, fmt.Sprintf("pid %d, state %s", pid, state))
		}
	}
	return found
}

// Ports are below those that connections get of the system, so that one is still free when a program has ended and
// starts again.
const firstPort, lastPort = 15_000, 32_000

// nextPort is where freeAddress looks next: other tests may run at the same time.
var nextPort atomic.Int64

func init() { nextPort.Store(rand.Int64N(lastPort - firstPort)) }

// freeAddress returns an address on which nobody listens, and never the same one soon again: a program takes a while to
// listen on it.
func freeAddress(t testing.TB) string {
	t.Helper()
	const tries = 1000
	for range tries {
		address := fmt.Sprint("127.0.0.1:", firstPort+nextPort.Add(1)%(lastPort-firstPort))
		if listener, err := net.Listen("tcp", address); err == nil {
			if err := listener.Close(); err != nil {
				t.Fatal(err)
			}
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
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

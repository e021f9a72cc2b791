//go:build chaos

package chaos

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// process is a program of a fleet, which is started again and again with the same settings.
type process struct {
	name   string
	args   []string // with the program
	probes string   // where it answers probes and metrics
	log    string   // file
	env    []string // beside this program's
	cmd    *exec.Cmd
	ended  chan struct{}
}

// start starts it. It is not ready yet.
func (p *process) start(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(p.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	p.cmd = exec.Command(p.args[0], p.args[1:]...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.Env = append(os.Environ(), p.env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan<- struct{}) {
		defer close(ended)
		_ = cmd.Wait() // its state tells
	}(p.cmd, p.ended)
}

func (p *process) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Errorf("%s: %v", p.name, err)
	}
}

// terminate asks it to end, and waits until it has, which must be without a failure.
func (p *process) terminate(t testing.TB) {
	t.Helper()
	p.signal(t, syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(150 * time.Second):
		t.Errorf("%s has not ended 150 s after SIGTERM", p.name)
		p.kill()
		return
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("%s: exit code %d after SIGTERM, its log ends:\n%s", p.name, code, p.tail())
	}
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// kill ends it at once.
func (p *process) kill() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

func (p *process) restart(t testing.TB) {
	t.Helper()
	p.start(t)
	p.waitReady(t)
}

// answers gets a page of the probes' address.
func (p *process) answers(path string) (status int, body string) {
	resp, err := probing.Get("http://" + p.probes + path)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, ""
	}
	return resp.StatusCode, string(text)
}

var probing = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func (p *process) waitReady(t testing.TB) {
	t.Helper()
	ready := false
	within(speaking.ready, func() bool {
		status, _ := p.answers("/readyz")
		ready = status == http.StatusOK
		return ready || p.hasEnded()
	})
	if !ready {
		t.Fatalf("%s does not become ready, its log ends:\n%s", p.name, p.tail())
	}
}

// metric sums the values of all metrics that begin like this.
func (p *process) metric(prefix string) (sum float64, ok bool) {
	status, body := p.answers("/metrics")
	for line := range strings.Lines(body) {
		if !strings.HasPrefix(line, prefix) {
			continue
		}
		var v float64
		if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &v); err == nil {
			sum += v
		}
	}
	return sum, status == http.StatusOK
}

func (p *process) tail() string {
	text, _ := os.ReadFile(p.log)
	const most = 4000
	return string(text[max(len(text)-most, 0):])
}

// logged reports whether its log has a text.
func (p *process) logged(text string) bool {
	all, err := os.ReadFile(p.log)
	return err == nil && bytes.Contains(all, []byte(text))
}

// checkLog fails the test for what no fault may bring about.
func (p *process) checkLog(t testing.TB) {
	t.Helper()
	text, err := os.ReadFile(p.log)
	if err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"panic", "DATA RACE", "fatal error"} {
		if i := bytes.Index(text, []byte(bad)); i >= 0 {
			t.Errorf("%s says in its log:\n%s", p.name, text[i:min(i+2000, len(text))])
		}
	}
}

// within waits until something is so, for a limited time.
func within(limit time.Duration, so func() bool) bool {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if so() {
			return true
		}
		if time.Since(begin) > limit {
			return false
		}
	}
}

// lastPort is below those that the system gives to clients: a process that is away for a moment finds its port free
// when it comes back.
var lastPort atomic.Int32

func freeAddress(t testing.TB) string {
	t.Helper()
	lastPort.CompareAndSwap(0, 20000+int32(os.Getpid()%40)*200)
	for range 1000 {
		address := fmt.Sprintf("127.0.0.1:%d", lastPort.Add(1))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

// program returns the path of one that `make chaos` has built.
func program(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs("../../bin/fake/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run make chaos, which builds it", err)
	}
	return path
}

func removeAll(t testing.TB, folder string) {
	t.Helper()
	if err := os.RemoveAll(folder); err != nil {
		t.Error(err)
	}
}

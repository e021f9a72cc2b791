//go:build fleetbench

package fleetbench

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
)

// process is one that a measurement has started.
type process struct {
	cmd *exec.Cmd
	mu  sync.Mutex
	log bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

// start runs a program, on one core where that is not empty, until the test ends.
func start(t testing.TB, core, program string, args ...string) *process {
	t.Helper()
	if core != "" {
		args = append([]string{"-c", core, program}, args...)
		program = "taskset"
	}
	p := &process{cmd: exec.Command(program, args...)}
	p.cmd.Env = append(os.Environ(), "SWAR_LOG_LEVEL=warn")
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(t) })
	return p
}

func (p *process) stop(t testing.TB) {
	if p.cmd.ProcessState != nil {
		return
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	if t.Failed() {
		log := p.log.String()
		t.Logf("%s printed at last:\n%s", filepath.Base(p.cmd.Path), log[max(len(log)-500, 0):])
	}
}

// cpu returns the processor time that the process has used.
func (p *process) cpu(t testing.TB) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var ticks int64
	for _, field := range fields[11:13] { // user and system, in hundredths of a second
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// waitReady waits until address says that it is ready, and returns how long that took.
func waitReady(t testing.TB, address string) time.Duration {
	t.Helper()
	begin := time.Now()
	for time.Since(begin) < 2*time.Minute {
		resp, err := http.Get("http://" + address + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return time.Since(begin)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s does not become ready", address)
	return 0
}

// identities are certificates of a fleet.
type identities struct{ authority *grpcauthtest.Authority }

func (i identities) flags(role grpcauth.Role) []string {
	f := i.authority.Issue(role)
	return []string{"--tls-cert", f.Cert, "--tls-key", f.Key, "--tls-ca", f.CA}
}

const bin = "../../bin/"

// startWorker runs a worker with the fake engine at the pace of playback, and returns its address.
func startWorker(t testing.TB, ids identities, slots int, flags ...string) (string, *process) {
	t.Helper()
	address, probes := freeAddress(t), freeAddress(t)
	args := append([]string{"--listen", address, "--http", probes, "--workers", strconv.Itoa(slots), "--oversubscribe",
		"--engine", "fake", "--fake-frame", "80ms"}, ids.flags(grpcauth.Worker)...)
	p := start(t, "", bin+"fake/swar-worker", append(args, flags...)...)
	waitReady(t, probes)
	return address, p
}

// startRouter runs a router over pods, and returns where its API is.
func startRouter(t testing.TB, ids identities, core string, pods []string, flags ...string) (string, *process) {
	t.Helper()
	address := freeAddress(t)
	args := append([]string{"--listen", address, "--http", freeAddress(t), "--watch", "", "--data", t.TempDir(),
		"--linger", "0s",
		"--endpoints", strings.Join(pods, ",")}, ids.flags(grpcauth.Router)...)
	p := start(t, core, bin+"swar-router", append(args, flags...)...)
	t.Logf("a router answers and speaks after %v", waitReady(t, address).Round(time.Millisecond))
	return address, p
}

// pinSelf keeps this process, the clients, on one core.
func pinSelf(t testing.TB, core string) {
	t.Helper()
	if err := exec.Command("taskset", "-a", "-p", "-c", core, strconv.Itoa(syscall.Getpid())).Run(); err != nil {
		t.Skipf("taskset: %v", err)
	}
}

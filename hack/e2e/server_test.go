//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const sentence = "Namaste! Aapka order kal tak deliver ho jayega, total ₹499 hai."

// server is what a test drives: a swar serve, or, with SWAR_E2E=fleet, a router, its workers and a portal. A swar serve
// is all of them in one process.
type server struct {
	base       string // URL of the API
	portalBase string // URL of the portal's; none where there is no portal

	router  *process
	workers []*process
	portal  *process // nil where there is none
}

// isFleet reports whether the tests drive the processes of a fleet.
func isFleet(t testing.TB) bool {
	t.Helper()
	switch form := os.Getenv("SWAR_E2E"); form {
	case "", "serve":
		return false
	case "fleet":
		return true
	default:
		t.Fatalf("SWAR_E2E=%s: want serve or fleet", form)
		return false
	}
}

// start runs a server with the given flags of swar serve on free ports, without the portal unless they want it, and
// waits until it is ready. It is killed at the end of the test.
func start(t testing.TB, flags ...string) *server {
	t.Helper()
	s := begin(t, flags...)
	s.waitReady(t)
	return s
}

// begin is start without the wait.
func begin(t testing.TB, flags ...string) *server {
	t.Helper()
	if isFleet(t) {
		return beginFleet(t, flags)
	}
	path, err := filepath.Abs(cmp.Or(*binary, program(t, "swar")))
	if err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	base := "http://" + address
	own := []string{"serve", "--listen", address, "--portal", "off", "--data", t.TempDir()}
	p := &process{name: "swar serve", probes: base, path: path, args: append(own, flags...)}
	p.begin(t)
	return &server{base: base, portalBase: base, router: p, workers: []*process{p}, portal: p}
}

// processes returns each of them once, in the order in which they are to be stopped: a router finishes with the workers
// and brings usage to the portal.
func (s *server) processes() []*process {
	all := append([]*process{s.router}, s.workers...)
	if s.portal != nil {
		all = append(all, s.portal)
	}
	var once []*process
	for _, p := range all {
		if !slices.Contains(once, p) {
			once = append(once, p)
		}
	}
	return once
}

func (s *server) printed() string { return s.portal.printed() }

// output is the log of every process.
func (s *server) output() string {
	var all strings.Builder
	for _, p := range s.processes() {
		all.WriteString(p.output())
	}
	return all.String()
}

func (s *server) waitReady(t testing.TB) {
	t.Helper()
	for _, p := range slices.Backward(s.processes()) {
		p.waitReady(t)
	}
	untilReady(t, "the API", s.base+"/readyz", s.router.read)
	inUse := func() bool { return s.health(t).Workers >= len(s.workers) }
	for end := time.Now().Add(10 * time.Second); !inUse(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the router does not use all of %d workers", len(s.workers))
		}
	}
}

// term asks the server to end. In a fleet the router gets the signal: the others get it when it has ended, see wait.
func (s *server) term(t testing.TB) {
	t.Helper()
	s.router.signal(t, syscall.SIGTERM)
}

// wait returns when a server that was asked to end has ended, every process with success.
func (s *server) wait(t testing.TB) {
	t.Helper()
	for _, p := range s.processes() {
		if p != s.router {
			p.signal(t, syscall.SIGTERM)
		}
		if err := p.wait(); err != nil {
			t.Errorf("%s ended with %v, want success\n%s", p.name, err, p.output())
		}
	}
}

// kill ends every process at once, as when the machine fails.
func (s *server) kill(t testing.TB) {
	t.Helper()
	for _, p := range slices.Backward(s.processes()) {
		p.signal(t, syscall.SIGKILL)
	}
	for _, p := range s.processes() {
		_ = p.wait()
	}
}

// pids returns those of the processes that speak.
func (s *server) pids() (pids []int) {
	for _, p := range s.workers {
		pids = append(pids, p.cmd.Process.Pid)
	}
	return pids
}

// metric returns the sum of a metric without labels over the processes that have it, of which there must be one.
func (s *server) metric(t testing.TB, name string) (sum float64) {
	t.Helper()
	found := false
	for _, p := range s.processes() {
		if v, ok := p.metric(t, name); ok {
			sum += v
			found = true
		}
	}
	if !found {
		t.Fatalf("no process has the metric %s", name)
	}
	return sum
}

func (p *process) metric(t testing.TB, name string) (v float64, ok bool) {
	t.Helper()
	resp, err := http.Get(p.probes + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			if v, err = strconv.ParseFloat(strings.TrimSpace(value), 64); err != nil {
				t.Fatal(err)
			}
			return v, true
		}
	}
	return 0, false
}

func (s *server) post(ctx context.Context, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

//go:build chaos

package chaos

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/hack/internal/faultproxy"
)

// shape is what a fleet is made of.
type shape struct {
	workers, slots, routers int
	frame                   time.Duration // that a frame takes; 0: 20 ms
	faults                  float64       // share of frames that fail in the engine
	stale                   time.Duration // age of what the balancer knows
	linger                  time.Duration // of routers
	proxied                 bool          // a proxy stands before each worker
	fullDisk                bool          // the folder of the first router is a disk of its own, and small
	serve                   bool          // swar serve speaks alone, in place of workers, routers and the portal

	// Names of folders, if programs that speak are to have one of their own.
	phonemiser string // an espeak-ng that can be made to die
	bundle     string // a copy of the engine's
	temporary  string // a small disk for temporary files
}

// fleet is the processes of one scenario.
type fleet struct {
	t        *testing.T
	shape    shape
	rand     *rand.Rand
	folder   string
	portal   process
	workers  []*worker
	routers  []*router
	balancer *balancer
	key, org string
	audio    map[string][]byte // of each text, spoken in peace
	ledger   ledger
	env      []string // of programs that speak, beside this one's
}

type worker struct {
	process
	address string
	proxy   *faultproxy.Proxy // nil without one
}

type router struct {
	process
	address string
	data    string
}

// newFleet starts one and waits until it speaks. It ends with the test.
func newFleet(t *testing.T, seed uint64, s shape, audio map[string][]byte) *fleet {
	t.Helper()
	// Not t.TempDir: the path of the portal's socket must be short.
	folder, err := os.MkdirTemp("", "chaos")
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, shape: s, rand: rand.New(rand.NewPCG(seed, 0)), folder: folder, audio: audio}
	t.Cleanup(f.close)
	f.env = f.makePlaces()
	if s.serve {
		f.startAlone(seed)
	} else {
		f.startFleet(seed)
	}
	f.balancer = newBalancer(t, s.stale, f.routers)
	return f
}

// startFleet starts a portal, workers and routers.
func (f *fleet) startFleet(seed uint64) {
	f.t.Helper()
	token := filepath.Join(f.folder, "token")
	if err := os.WriteFile(token, []byte("the-token-of-one-fleet\n"), 0o600); err != nil {
		f.t.Fatal(err)
	}
	dataplane := freeAddress(f.t)
	f.portal = f.process("portal", "--listen", freeAddress(f.t), "--dataplane", dataplane, "--email-sign-in", "off",
		"--data", filepath.Join(f.folder, "portal"), "--model-id", speaking.model, "--voice", "anjura", "--voice", "raj")
	f.portal.restart(f.t)
	var pods []string
	for i := range f.shape.workers {
		w := f.newWorker(i, seed)
		f.workers = append(f.workers, w)
		pods = append(pods, w.reached())
	}
	for i := range f.shape.routers {
		f.routers = append(f.routers, f.newRouter(i, pods, dataplane))
	}
	f.makeKey()
	for _, w := range f.workers {
		w.waitReady(f.t)
	}
	for _, r := range f.routers {
		r.waitReady(f.t)
	}
	f.waitAll()
}

// startAlone starts swar serve, which is the fleet's only router, and its portal.
func (f *fleet) startAlone(seed uint64) {
	f.t.Helper()
	address, data := freeAddress(f.t), filepath.Join(f.folder, "portal")
	r := &router{address: address, data: data}
	r.process = process{name: "serve", probes: address, log: filepath.Join(f.folder, "serve.log"), env: f.env}
	r.args = append([]string{program(f.t, "swar"), "serve", "--listen", address, "--data", data, "--log-format", "json",
		"--email-sign-in", "off",
		"--workers", strconv.Itoa(f.shape.slots)}, speaking.flags(f.shape, seed)...)
	f.routers = []*router{r}
	r.restart(f.t)
	f.key = f.command("keys", "create", "Chaos")
}

// process returns one of the fleet, with what all have in common.
func (f *fleet) process(name string, args ...string) process {
	kind, _, _ := strings.Cut(name, "-")
	p := process{name: name, probes: freeAddress(f.t), log: filepath.Join(f.folder, name+".log")}
	p.args = append([]string{program(f.t, "swar-"+kind), "--http", p.probes, "--log-level", "info",
		"--log-format", "json",
		"--token-file", filepath.Join(f.folder, "token")}, args...)
	return p
}

func (f *fleet) newWorker(i int, seed uint64) *worker {
	w := &worker{address: freeAddress(f.t)}
	w.process = f.process(fmt.Sprintf("worker-%d", i), append([]string{
		"--listen", w.address, "--oversubscribe", "--workers", strconv.Itoa(f.shape.slots),
	}, speaking.flags(f.shape, seed+uint64(i))...)...)
	w.env = f.env
	if f.shape.proxied {
		var err error
		if w.proxy, err = faultproxy.Listen(w.address); err != nil {
			f.t.Fatal(err)
		}
	}
	w.start(f.t)
	return w
}

// reached returns where routers find the worker.
func (w *worker) reached() string {
	if w.proxy != nil {
		return w.proxy.Addr()
	}
	return w.address
}

func (f *fleet) newRouter(i int, pods []string, dataplane string) *router {
	r := &router{address: freeAddress(f.t), data: filepath.Join(f.folder, fmt.Sprintf("router-%d", i))}
	if i == 0 && f.shape.fullDisk {
		mountSmallDisk(f.t, r.data)
	}
	r.process = f.process(fmt.Sprintf("router-%d", i), "--listen", r.address, "--watch", "", "--data", r.data,
		"--endpoints", strings.Join(pods, ","), "--portal-addr", dataplane, "--linger", f.shape.linger.String())
	r.start(f.t)
	return r
}

func (f *fleet) command(args ...string) string {
	f.t.Helper()
	args = append(args, "--data", filepath.Join(f.folder, "portal"))
	cmd := exec.Command(program(f.t, "swar-portal"), args...)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("swar-portal %v: %v\n%s", args, err, problems.String())
	}
	return strings.TrimSpace(string(out))
}

func (f *fleet) makeKey() {
	f.command("orgs", "create", "Chaos")
	f.key = f.command("keys", "create", "Chaos")
}

// waitView waits until a router has so many slots to choose from.
func (f *fleet) waitView(r *router, slots int) {
	f.t.Helper()
	if !within(30*time.Second, func() bool {
		free, ok := r.metric(`tts_fleet_slots{state="free"}`)
		busy, _ := r.metric(`tts_fleet_slots{state="busy"}`)
		return ok && int(free+busy) == slots
	}) {
		f.t.Fatalf("%s does not see %d slots, its log ends:\n%s", r.name, slots, r.tail())
	}
}

// waitAll waits until every router can use every slot.
func (f *fleet) waitAll() {
	f.t.Helper()
	if f.shape.serve {
		return // it is ready once its workers are
	}
	for _, r := range f.routers {
		f.waitView(r, f.shape.workers*f.shape.slots)
	}
}

// waitBusy waits until a worker speaks with most of its slots.
func (f *fleet) waitBusy(w *worker) {
	f.t.Helper()
	if !within(20*time.Second, func() bool {
		busy, _ := w.metric("tts_slots_busy")
		return int(busy) > f.shape.slots/2
	}) {
		f.t.Errorf("%s has little to do", w.name)
	}
}

// waitIdle checks that nothing is left over once nobody speaks.
func (f *fleet) waitIdle() {
	f.t.Helper()
	for _, w := range f.workers {
		if !within(5*time.Second, func() bool { busy, ok := w.metric("tts_slots_busy"); return ok && busy == 0 }) {
			f.t.Errorf("%s: slots are busy while nobody speaks", w.name)
		}
	}
	for _, r := range f.routers {
		for _, name := range []string{
			"tts_streams_active", "tts_queue_depth", "tts_fleet_view_error", `tts_fleet_slots{state="busy"}`,
		} {
			if !within(5*time.Second, func() bool { v, ok := r.metric(name); return ok && v == 0 }) {
				v, ok := r.metric(name)
				f.t.Errorf("%s: %s is %v (%v) while nobody speaks", r.name, name, v, ok)
			}
		}
	}
}

// checkCuts fails the test if a router says that it has cut streams because something was asked to end.
func (f *fleet) checkCuts(r *router) {
	f.t.Helper()
	for _, cause := range []string{"drain", "router_drain"} {
		if n, _ := r.metric(`tts_streams_cut_total{cause="` + cause + `"}`); n > 0 {
			f.t.Errorf("%s has cut %v streams because of %s", r.name, n, cause)
		}
	}
}

func (f *fleet) close() {
	if f.balancer != nil {
		f.balancer.close()
	}
	var all []*process
	if !f.shape.serve {
		all = append(all, &f.portal)
	}
	for _, w := range f.workers {
		if w.proxy != nil {
			_ = w.proxy.Close()
		}
		all = append(all, &w.process)
	}
	for _, r := range f.routers {
		all = append(all, &r.process)
	}
	for _, p := range all {
		if p.cmd == nil {
			continue
		}
		p.kill()
		p.checkLog(f.t)
		if f.t.Failed() {
			f.t.Logf("the log of %s ends:\n%s", p.name, p.tail())
		}
	}
	if f.shape.fullDisk && len(f.routers) > 0 {
		unmount(f.t, f.routers[0].data)
	}
	if filepath.IsAbs(f.shape.temporary) {
		unmount(f.t, f.shape.temporary)
	}
	if f.t.Failed() {
		f.t.Logf("logs and data stay in %s", f.folder)
		return
	}
	if err := os.RemoveAll(f.folder); err != nil {
		f.t.Error(err)
	}
}

// checkMemory fails the test if a program has had more memory than the engine should need, and returns the most.
func (f *fleet) checkMemory() (most int) {
	f.t.Helper()
	speak := make([]*process, 0, len(f.workers)+1)
	for _, w := range f.workers {
		speak = append(speak, &w.process)
	}
	if f.shape.serve {
		speak = append(speak, &f.routers[0].process)
	}
	for _, p := range speak {
		most = max(most, p.mostMemory())
	}
	if speaking.memory > 0 && most > speaking.memory {
		f.t.Errorf("a program that speaks has had %d MiB, more than %d", most, speaking.memory)
	}
	return most
}

// waitFreed waits until workers have given back the slots of a router that is gone: then they hold what the others do.
func (f *fleet) waitFreed(dead *router) {
	f.t.Helper()
	if within(2*time.Second, func() bool {
		var held, used float64
		for _, w := range f.workers {
			busy, _ := w.metric("tts_slots_busy")
			held += busy
		}
		for _, r := range f.routers {
			if r != dead {
				active, _ := r.metric("tts_streams_active")
				used += active
			}
		}
		return held <= used
	}) {
		return
	}
	f.t.Errorf("slots of %s are not free 2 s after its end", dead.name)
}

package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/swar-tts/swar/runtime/fleet/route"
)

// What is not decided by the packages under test. The times are those of the programs.
const (
	meanStream  = 4 * time.Second        // for which an utterance holds its slot
	firstFrame  = 100 * time.Millisecond // until it is heard
	frame       = 80 * time.Millisecond
	heartbeat   = time.Second
	joinStates  = 5 * time.Millisecond  // changes within it are told at once
	tellPerPod  = 50 * time.Microsecond // for which telling who waits is put off
	frameLimit  = time.Second           // for the first frame
	stallLimit  = 10 * time.Second      // for any other
	relinkLimit = time.Second           // until a pod that is back is linked again
)

// config is one run.
type config struct {
	pods, slots, routers int
	zones                int     // 0 where nobody knows them
	load                 float64 // streams that are asked for, of those that can be spoken at a time
	weights              []float64
	delay                time.Duration // of a message, on average; 0 also has nothing joined or put off
	noGrants             bool          // pods are not told who waits
	atRandom             bool
	queueLen             int
	noLimit              bool // who waits waits for ever
	exponential          bool // service times, in place of log-normal ones with a deviation as large as their mean
	lines                int  // different texts
	zipf                 float64
	cache                int // texts that a pod keeps prepared
	warmUp, length       time.Duration
	seed                 uint64
	sampleView           bool
	faults               []fault
	scaling              *scaling // nil where the fleet has a size
}

// fault is something that goes wrong at a time.
type fault struct {
	at time.Duration
	do func(w *world)
}

// world is a fleet and its clients in virtual time.
type world struct {
	cfg      config
	now      time.Time
	begin    time.Time // of what is measured
	end      time.Time // of arrivals
	queue    events
	sequence uint64
	arrivals *rand.Rand // apart from the network's, so that all policies meet the same clients
	network  *rand.Rand
	texts    *zipf
	pods     []*pod
	routers  []*router
	ids      uint64
	result   *result

	deployment *deployment // nil where the fleet has a size
}

type event struct {
	at       time.Duration // since the beginning
	sequence uint64
	do       func()
}

func (e event) isBefore(o event) bool { return e.at < o.at || e.at == o.at && e.sequence < o.sequence }

// events is a binary heap, in which events of the same time keep their order.
type events []event

func (e *events) push(v event) {
	h := append(*e, v)
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].isBefore(h[parent]) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
	*e = h
}

func (e *events) pop() event {
	h := *e
	first, last := h[0], len(h)-1
	h[0], h[last] = h[last], event{}
	h = h[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if h[child].isBefore(h[least]) {
				least = child
			}
		}
		if least == i {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	*e = h
	return first
}

// epoch is when every run begins.
var epoch = time.Unix(0, 0).UTC()

// run plays a whole run.
func run(cfg config) *result {
	w := &world{
		cfg: cfg, now: epoch, begin: epoch.Add(cfg.warmUp), end: epoch.Add(cfg.warmUp + cfg.length),
		arrivals: rand.New(rand.NewPCG(cfg.seed, 1)), network: rand.New(rand.NewPCG(cfg.seed, 2)),
		result: newResult(cfg),
	}
	if cfg.lines > 0 {
		w.texts = newZipf(cfg.lines, cfg.zipf)
	}
	for i := range cfg.pods {
		w.pods = append(w.pods, newPod(w, i))
	}
	for i := range cfg.routers {
		w.routers = append(w.routers, newRouter(w, i))
	}
	if cfg.scaling != nil {
		w.deployment = newDeployment(w, cfg.scaling)
	}
	w.after(0, w.arrive)
	for _, f := range cfg.faults {
		w.after(f.at, func() { f.do(w) })
	}
	if cfg.sampleView {
		w.after(cfg.warmUp, w.sampleView)
	}
	for len(w.queue) > 0 {
		e := w.queue.pop()
		at := epoch.Add(e.at)
		if at.Before(w.now) {
			panic("the clock goes back")
		}
		w.now = at
		e.do()
		w.result.Events++
	}
	w.result.close(w)
	return w.result
}

// after has something happen later.
func (w *world) after(d time.Duration, do func()) { w.at(w.now.Add(d), do) }

func (w *world) at(t time.Time, do func()) {
	w.sequence++
	w.queue.push(event{t.Sub(epoch), w.sequence, do})
}

// travel is how long a message is on its way.
func (w *world) travel() time.Duration {
	if w.cfg.delay == 0 {
		return 0
	}
	return time.Duration((0.75 + w.network.Float64()/2) * float64(w.cfg.delay))
}

// join is for how long changes are collected before they are told.
func (w *world) join() time.Duration {
	if w.cfg.delay == 0 {
		return 0
	}
	return joinStates
}

// id returns a number that nobody else has.
func (w *world) id() uint64 {
	w.ids++
	return w.ids
}

// isOver reports whether nobody arrives any more: what repeats ends then, so that the world comes to rest.
func (w *world) isOver() bool { return !w.now.Before(w.end) }

// arrive brings a client, and the next one after it.
func (w *world) arrive() {
	if w.isOver() {
		return
	}
	most := w.cfg.load * float64(w.cfg.pods*w.cfg.slots)
	if w.deployment != nil {
		most = w.deployment.most
	}
	w.after(seconds(w.arrivals.ExpFloat64()*meanStream.Seconds()/most), w.arrive)
	if d := w.deployment; d != nil && w.arrivals.Float64()*most >= d.demand(w.now.Sub(epoch)) {
		return // so many do not ask at this time
	}
	w.result.called(w)
	q := &request{arrived: w.now, length: w.length(), measured: !w.now.Before(w.begin)}
	choice := w.arrivals.Float64()
	if w.texts != nil {
		q.text = w.texts.draw(w.arrivals.Float64())
	}
	w.router(choice).arrive(q)
}

// length draws for how long an utterance holds its slot.
func (w *world) length() time.Duration {
	if w.cfg.exponential {
		return seconds(w.arrivals.ExpFloat64() * meanStream.Seconds())
	}
	variance := math.Ln2 // deviation = mean
	return seconds(math.Exp(math.Log(meanStream.Seconds()) - variance/2 + math.Sqrt(variance)*w.arrivals.NormFloat64()))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// router returns the one to which a balancer takes a client, at random by weight. One that is dead is passed over.
func (w *world) router(choice float64) *router {
	i := int(choice * float64(len(w.routers)))
	if w.cfg.weights != nil {
		all := 0.0
		for _, weight := range w.cfg.weights {
			all += weight
		}
		for i = 0; choice >= w.cfg.weights[i]/all && i < len(w.routers)-1; i++ {
			choice -= w.cfg.weights[i] / all
		}
	}
	for w.routers[i].dead {
		i = (i + 1) % len(w.routers)
	}
	return w.routers[i]
}

// zipf draws texts, of which few are asked for often and most of them hardly ever.
type zipf struct{ upTo []float64 }

func newZipf(n int, s float64) *zipf {
	z := &zipf{make([]float64, n)}
	all := 0.0
	for i := range n {
		all += math.Pow(float64(i+1), -s)
		z.upTo[i] = all
	}
	return z
}

func (z *zipf) draw(u float64) int {
	i, _ := slices.BinarySearch(z.upTo, u*z.upTo[len(z.upTo)-1])
	return min(i, len(z.upTo)-1)
}

// affinity is what a router sees of a text.
func (w *world) affinity(text int) uint64 {
	if w.texts == nil {
		return w.network.Uint64()
	}
	return uint64(text) * 0x9e3779b97f4a7c15
}

// zone returns that of a router or a pod.
func (w *world) zone(i int) string {
	if w.cfg.zones == 0 {
		return ""
	}
	return string(rune('a' + i%w.cfg.zones))
}

// endpoints lists the pods that there are.
func (w *world) endpoints() []route.Endpoint {
	var all []route.Endpoint
	for _, p := range w.pods {
		if p.running && !(p.terminating && p.dead) {
			all = append(all, route.Endpoint{Address: p.address, Zone: p.zone, Terminating: p.terminating})
		}
	}
	return all
}

package route_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/fleet/route/routetest"
	"github.com/swar-tts/swar/runtime/speech"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// world is routers and pods, and what is on its way between them. Links keep the order of what they carry; calls and
// links overtake one another as they like.
type world struct {
	*rapid.T
	now       time.Time
	addresses []string
	pods      map[string]*routetest.Pod // those that live
	unfit     map[string]bool
	epoch     uint64
	routers   []*testRouter
	attempts  []*attempt // in the order in which they were made
	expiring  bool       // the wait of a request is being ended
}

// testRouter is a router with its requests and links.
type testRouter struct {
	*route.Router
	id       uint64
	limit    int // of the queue
	links    map[string]*link
	listed   map[string]bool
	requests map[route.ID]*request
	lastID   route.ID
	lastSent map[string]uint64 // newest attempt at each pod
	tell     bool              // the pods are to be told who waits
	done     int               // requests that have ended
}

type link struct {
	pod      *routetest.Pod
	toRouter []any // route.State, routetest.Grant or cut
	toPod    []any // waiting or decline
}

type (
	cut     struct{}
	waiting struct {
		since    []time.Time
		received uint64
	}
	decline struct{ number uint64 }
)

type request struct {
	arrivedAt  time.Time
	sends      int
	waits      bool
	attempt    *attempt
	answered   bool
	failedPods map[string]bool // pods that it must not meet again before its wait is over
	patient    time.Time       // until when it goes only where a slot is kept for it
}

// attempt is a request on its way to a pod, or in it.
type attempt struct {
	router   *testRouter // nil once nobody listens
	id       route.ID
	send     route.Send
	session  string
	pod      *routetest.Pod // who speaks it; nil before and afterwards
	arrived  bool
	toRouter []any // answered, ended, refusal or lost
}

type (
	answered struct{}
	ended    struct {
		state route.State
		kept  *routetest.Grant
	}
	refusal struct{ state route.State }
	lost    struct{}
)

func newWorld(t *rapid.T) *world {
	w := &world{T: t, now: noon, pods: make(map[string]*routetest.Pod), unfit: make(map[string]bool)}
	for i := range rapid.IntRange(1, 4).Draw(t, "pods") {
		address := fmt.Sprint("pod", i)
		w.addresses = append(w.addresses, address)
		w.start(address)
		w.unfit[address] = rapid.IntRange(0, 9).Draw(t, "unfit") == 0
	}
	for range rapid.IntRange(1, 3).Draw(t, "routers") {
		w.routers = append(w.routers, w.newRouter())
	}
	return w
}

func (w *world) start(address string) {
	w.epoch++
	w.pods[address] = routetest.New(w.epoch, rapid.IntRange(1, 3).Draw(w.T, "workers"))
}

func (w *world) newRouter() *testRouter {
	w.epoch++
	cfg := route.Config{QueueLen: rapid.IntRange(-1, 3).Draw(w.T, "queue"), Seed: w.epoch}
	r := &testRouter{
		Router: route.New(cfg), id: w.epoch, limit: queueLimit(cfg), links: make(map[string]*link),
		listed:   make(map[string]bool),
		requests: make(map[route.ID]*request), lastSent: make(map[string]uint64),
	}
	w.list(r, w.addresses, "")
	for _, address := range w.addresses {
		w.connect(r, address)
	}
	return r
}

func queueLimit(cfg route.Config) int {
	if cfg.QueueLen == 0 {
		return route.DefaultQueueLen
	}
	return max(cfg.QueueLen, 0)
}

// list tells a router of pods, one of which goes away.
func (w *world) list(r *testRouter, addresses []string, terminating string) {
	var all []route.Endpoint
	clear(r.listed)
	for _, a := range addresses {
		all = append(all, route.Endpoint{Address: a, Terminating: a == terminating})
		r.listed[a] = true
	}
	w.do(r, r.List(w.now, all))
	for _, a := range w.addresses {
		if l := r.links[a]; l != nil && !r.listed[a] {
			l.pod.Leave(r.id)
			delete(r.links, a)
			w.do(r, r.Disconnect(w.now, a))
		}
	}
	w.checkWork(r)
}

// connect begins a link, if there is none.
func (w *world) connect(r *testRouter, address string) {
	pod := w.pods[address]
	if pod == nil || r.links[address] != nil || !r.listed[address] {
		return
	}
	pod.Leave(r.id)
	r.links[address] = &link{pod: pod}
	w.do(r, r.Connect(w.now, address, !w.unfit[address]))
	w.do(r, r.State(w.now, address, pod.State(r.id)))
	w.checkWork(r)
	r.tell = r.tell || r.Queued() > 0
}

// cut ends a link: the pod knows at once, the router after some of what was on its way.
func (w *world) cut(r *testRouter, address string) {
	l := r.links[address]
	if l == nil || slices.Contains(l.toRouter, any(cut{})) {
		return
	}
	l.pod.Leave(r.id)
	l.toPod = nil
	l.toRouter = append(l.toRouter[:rapid.IntRange(0, len(l.toRouter)).Draw(w.T, "delivered")], cut{})
}

// kill ends a pod with all that it speaks.
func (w *world) kill(address string) {
	pod := w.pods[address]
	if pod == nil {
		return
	}
	delete(w.pods, address)
	for _, a := range w.attempts {
		if a.pod == pod {
			a.pod = nil
			a.toRouter = append(a.toRouter, lost{})
		}
	}
	for _, r := range w.routers {
		if l := r.links[address]; l != nil && l.pod == pod {
			w.cut(r, address)
		}
	}
}

// killRouter ends a router; another one takes its place.
func (w *world) killRouter(i int) {
	r := w.routers[i]
	for _, a := range w.attempts {
		if a.router == r {
			a.router = nil
		}
	}
	for _, l := range r.links {
		l.pod.Leave(r.id)
	}
	w.routers[i] = w.newRouter()
}

func (w *world) arrive(r *testRouter) {
	r.lastID++
	r.requests[r.lastID] = &request{arrivedAt: w.now, failedPods: make(map[string]bool)}
	q := route.Request{Affinity: rapid.Uint64().Draw(w.T, "affinity")}
	if n := rapid.IntRange(0, 6).Draw(w.T, "session"); n < 2 {
		q.Session = fmt.Sprint("session", n)
	}
	before := r.View(w.now)
	effects := slices.Clone(r.Arrive(w.now, r.lastID, q))
	for _, e := range effects {
		if s, ok := e.(route.Send); ok && s.Grant == 0 {
			w.checkCouldTake(before, s.Pod)
		}
	}
	w.do(r, effects)
	if a := r.requests[r.lastID]; a != nil && a.attempt != nil {
		a.attempt.session = q.Session
	}
}

// checkCouldTake fails where a pod that was sent something had no slot in view.
func (w *world) checkCouldTake(view []route.PodView, address string) {
	i := slices.IndexFunc(view, func(p route.PodView) bool { return p.Address == address })
	if p := view[i]; !p.InUse || p.Free == 0 {
		w.Fatalf("a new request was sent to %+v", p)
	}
}

// do notes what a router has decided, and checks that it may.
func (w *world) do(r *testRouter, effects []route.Effect) {
	var displaced *request
	for _, effect := range slices.Clone(effects) {
		switch e := effect.(type) {
		case route.Send:
			w.send(r, e)
		case route.Refuse:
			q := r.requests[e.ID]
			if q == nil || q.attempt != nil || e.Err == nil {
				w.Fatalf("%+v refuses %+v", e, q)
			}
			w.checkNobodyCould(r, q)
			if errors.Is(e.Err, speech.ErrBusy) && !w.expiring && q.sends < route.MaxAttempts {
				displaced = q
			}
			w.end(r, e.ID)
		case route.Wait:
			q := r.requests[e.ID]
			if q == nil || q.attempt != nil || q.waits {
				w.Fatalf("%+v lets %+v wait", e, q)
			}
			q.waits = true
		case route.Decline:
			if l := r.links[e.Pod]; l != nil && l.pod == w.pods[e.Pod] {
				l.toPod = append(l.toPod, decline{e.Grant})
			}
		case route.PublishWaiting:
			r.tell = true
		}
	}
	w.checkQueue(r)
	for id, q := range r.requests {
		if displaced != nil && q.waits && q.arrivedAt.After(displaced.arrivedAt) {
			w.Fatalf("%+v was refused though %d is younger and waits", displaced, id)
		}
	}
}

func (w *world) end(r *testRouter, id route.ID) {
	delete(r.requests, id)
	r.done++
}

func (w *world) send(r *testRouter, e route.Send) {
	q := r.requests[e.ID]
	if q == nil || q.attempt != nil {
		w.Fatalf("%+v sends %+v", e, q)
	}
	if q.sends++; q.sends > route.MaxAttempts {
		w.Fatalf("request %d is sent for the %dth time", e.ID, q.sends)
	}
	if q.failedPods[e.Pod] && !w.expiring {
		w.Fatalf("request %d goes to %s again, which has failed it", e.ID, e.Pod)
	}
	if e.Number <= r.lastSent[e.Pod] {
		w.Fatalf("attempt %d at %s comes after %d", e.Number, e.Pod, r.lastSent[e.Pod])
	}
	r.lastSent[e.Pod] = e.Number
	view := r.View(w.now)
	i := slices.IndexFunc(view, func(p route.PodView) bool { return p.Address == e.Pod })
	if i < 0 || !view[i].InUse {
		w.Fatalf("%+v sends to a pod that is not in use: %+v", e, view)
	}
	if q.waits {
		for id, other := range r.requests {
			isPassedOver := other.failedPods[e.Pod] || e.Grant == 0 && w.now.Before(other.patient)
			if other.waits && other.arrivedAt.Before(q.arrivedAt) && !isPassedOver && other.attempt == nil {
				w.Fatalf("request %d overtakes %d", e.ID, id)
			}
		}
	}
	q.waits = false
	q.attempt = &attempt{router: r, id: e.ID, send: e}
	w.attempts = append(w.attempts, q.attempt)
}

// checkQueue compares who waits with what the router says, and its counts with what has ended.
func (w *world) checkQueue(r *testRouter) {
	waits := 0
	for _, q := range r.requests {
		if q.waits {
			waits++
		}
	}
	since := r.Waiting()
	if waits != r.Queued() || waits != len(since) {
		w.Fatalf("%d wait, %d in the queue, %d told", waits, r.Queued(), len(since))
	}
	if waits > r.limit {
		w.Fatalf("%d wait, at most %d may", waits, r.limit)
	}
	if !slices.IsSortedFunc(since, time.Time.Compare) {
		w.Fatalf("told that they wait since %v: the oldest does not come first", since)
	}
	c := r.Counts()
	if got := c.Served + c.Cut + c.Refused + c.Warming + c.Failed + c.Left; got != int64(r.done) {
		w.Fatalf("%d requests have ended, counted as %+v", r.done, c)
	}
	if got := c.Arrived - int64(r.done); got != int64(len(r.requests)) {
		w.Fatalf("%d requests have not ended, counted as %+v", len(r.requests), c)
	}
}

// checkWork fails where somebody waits while a pod that may speak it has a slot in view.
func (w *world) checkWork(r *testRouter) {
	for _, p := range r.View(w.now) {
		if !p.InUse || p.Free == 0 || p.Suspect {
			continue
		}
		for id, q := range r.requests {
			if q.waits && !q.failedPods[p.Address] && !w.now.Before(q.patient) {
				w.Fatalf("request %d waits while %+v is free", id, p)
			}
		}
	}
}

// checkNobodyCould fails where the end of its wait ends a request that pods failed, though one of them could try once
// more.
func (w *world) checkNobodyCould(r *testRouter, q *request) {
	if !w.expiring || q.sends >= route.MaxAttempts {
		return
	}
	for _, p := range r.View(w.now) {
		if q.failedPods[p.Address] && p.InUse && p.Free > 0 && !p.Suspect {
			w.Fatalf("%+v is refused, though %+v could try it once more", q, p)
		}
	}
}

// tellGrants puts what a pod grants on its way.
func (w *world) tellGrants(pod *routetest.Pod, grants []routetest.Grant) {
	if pod.Free() < 0 {
		w.Fatalf("a pod has %d busy and %d kept slots", pod.Busy(), pod.Reserved())
	}
	for _, g := range grants {
		for _, r := range w.routers {
			for _, l := range r.links {
				if r.id == g.Router && l.pod == pod && !slices.Contains(l.toRouter, any(cut{})) {
					l.toRouter = append(l.toRouter, g)
				}
			}
		}
	}
}

// reach has an attempt come to its pod.
func (w *world) reach(a *attempt) {
	if a.arrived {
		return
	}
	a.arrived = true
	pod := w.pods[a.send.Pod]
	if pod == nil {
		a.toRouter = append(a.toRouter, lost{})
		return
	}
	id := uint64(0)
	if a.router != nil {
		id = a.router.id
	}
	if !pod.Speak(id, a.send.Number, a.send.Grant) {
		a.toRouter = append(a.toRouter, refusal{pod.State(id)})
		return
	}
	a.pod = pod
}

// finish has a pod end what it speaks.
func (w *world) finish(a *attempt, more bool) {
	if a.pod == nil {
		return
	}
	pod, session, id := a.pod, "", uint64(0)
	a.pod = nil
	if a.router != nil {
		id = a.router.id
		if more {
			session = a.session
		}
	}
	e := ended{}
	grants := slices.Clone(pod.End(w.now, id, session))
	for i, g := range grants {
		if g.Session != "" {
			e.kept = &g
			grants = slices.Delete(grants, i, i+1)
			break
		}
	}
	e.state = pod.State(id)
	a.toRouter = append(a.toRouter, e)
	w.tellGrants(pod, grants)
}

// hear delivers the next reply of an attempt.
func (w *world) hear(a *attempt) {
	if len(a.toRouter) == 0 {
		return
	}
	m := a.toRouter[0]
	a.toRouter = a.toRouter[1:]
	r := a.router
	if r == nil {
		return
	}
	q := r.requests[a.id]
	switch m := m.(type) {
	case answered:
		q.answered = true
		w.do(r, r.Answered(w.now, a.id))
		return
	case ended:
		w.do(r, r.EndState(w.now, a.send.Pod, m.state))
		if m.kept != nil {
			w.do(r, r.Granted(w.now, a.send.Pod, m.kept.Number, m.kept.Session))
		}
		w.end(r, a.id)
		w.do(r, r.Ended(w.now, a.id))
		w.checkWork(r)
	case refusal:
		w.do(r, r.EndState(w.now, a.send.Pod, m.state))
		q.attempt = nil
		if q.sends == route.MaxAttempts-1 {
			q.patient = w.now.Add(2 * route.GrantTime)
		}
		w.do(r, r.Refused(w.now, a.id))
	case lost:
		q.attempt = nil
		q.failedPods[a.send.Pod] = true
		if q.answered {
			w.end(r, a.id)
		}
		ejected := r.Counts().Ejected
		w.do(r, r.AttemptFailed(w.now, a.id, speech.ErrWorkerGone))
		if r.Counts().Ejected > ejected {
			w.checkEjected(r)
		}
	}
	a.router = nil
}

// checkEjected fails where more than half of the pods that could be used are left alone.
func (w *world) checkEjected(r *testRouter) {
	out, all := 0, 0
	for _, p := range r.View(w.now) {
		isGoing := p.Draining || p.Cordoned || p.Terminating || !r.listed[p.Address]
		if p.Connected && !p.OtherModel && p.Warm && !isGoing {
			all++
			if p.Ejected {
				out++
			}
		}
	}
	if 2*out > all {
		w.Fatalf("%d of %d pods are left alone", out, all)
	}
}

// hearLink delivers the next message of a link to its router.
func (w *world) hearLink(r *testRouter, address string) {
	l := r.links[address]
	if l == nil || len(l.toRouter) == 0 {
		return
	}
	m := l.toRouter[0]
	l.toRouter = l.toRouter[1:]
	switch m := m.(type) {
	case route.State:
		w.do(r, r.State(w.now, address, m))
		w.checkWork(r)
	case routetest.Grant:
		w.do(r, r.Granted(w.now, address, m.Number, m.Session))
	case cut:
		delete(r.links, address)
		w.do(r, r.Disconnect(w.now, address))
	}
}

// tellLink delivers the next message of a link to its pod.
func (w *world) tellLink(r *testRouter, address string) {
	l := r.links[address]
	if l == nil || len(l.toPod) == 0 {
		return
	}
	m := l.toPod[0]
	l.toPod = l.toPod[1:]
	switch m := m.(type) {
	case waiting:
		var ages []time.Duration
		for _, since := range m.since {
			ages = append(ages, w.now.Sub(since))
		}
		w.tellGrants(l.pod, l.pod.Waiting(w.now, r.id, ages, m.received))
	case decline:
		w.tellGrants(l.pod, l.pod.Decline(w.now, m.number))
	}
}

// push puts the state of a pod on its way.
func (w *world) push(r *testRouter, address string) {
	if l := r.links[address]; l != nil && !slices.Contains(l.toRouter, any(cut{})) {
		l.toRouter = append(l.toRouter, l.pod.State(r.id))
	}
}

// tellWaiting puts who waits at a router on its way to all pods.
func (w *world) tellWaiting(r *testRouter) {
	if !r.tell {
		return
	}
	r.tell = false
	for address, l := range r.links {
		if !slices.Contains(l.toRouter, any(cut{})) {
			l.toPod = append(l.toPod, waiting{r.Waiting(), r.GrantsOf(address)})
		}
	}
}

// advance lets time pass.
func (w *world) advance(d time.Duration) {
	w.now = w.now.Add(d)
	for _, address := range w.addresses {
		if pod := w.pods[address]; pod != nil {
			w.tellGrants(pod, pod.Expire(w.now))
		}
	}
	for _, r := range w.routers {
		for _, id := range slices.Sorted(maps.Keys(r.requests)) {
			q := r.requests[id]
			if q == nil || !q.waits || w.now.Sub(q.arrivedAt) < route.DefaultQueueWait {
				continue
			}
			q.waits = false
			w.expiring = true
			w.do(r, r.Expire(w.now, id))
			w.expiring = false
		}
	}
}

// leave has a request's asker go while it waits, or before it was really sent.
func (w *world) leave(r *testRouter, id route.ID) {
	q := r.requests[id]
	switch {
	case q == nil:
	case q.waits:
		w.end(r, id)
		w.do(r, r.Leave(id))
	case q.attempt != nil && !q.attempt.arrived:
		q.attempt.arrived, q.attempt.router = true, nil
		w.end(r, id)
		w.do(r, r.SendFailed(w.now, id, q.attempt.send.Grant))
		w.checkWork(r)
	}
}

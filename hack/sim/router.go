package main

import (
	"errors"
	"time"

	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/speech"
)

// router carries out what a [route.Router] decides.
type router struct {
	*route.Router
	world      *world
	index      int
	id         uint64
	zone       string
	dead       bool
	links      map[string]*link
	requests   map[route.ID]*request
	lastID     route.ID
	publishing bool
	spoken     time.Duration // for which its utterances have held slots
}

// request is an utterance that a client asks for.
type request struct {
	id       route.ID
	router   *router
	arrived  time.Time
	length   time.Duration
	text     int
	measured bool
	sends    int
	number   uint64 // of the attempt that counts; 0 for none
	pod      string // whom that was sent to
	hasAudio bool
	tries    int // of the client, before this one
}

func newRouter(w *world, i int) *router {
	r := &router{
		world: w, index: i, id: w.id(), zone: w.zone(i), links: make(map[string]*link),
		requests: make(map[route.ID]*request),
	}
	r.Router = route.New(route.Config{
		Zone: r.zone, QueueLen: w.cfg.queueLen, AtRandom: w.cfg.atRandom, Seed: w.cfg.seed + r.id,
	})
	r.do(r.List(w.now, w.endpoints()))
	for _, p := range w.pods {
		r.link(p)
	}
	return r
}

// link begins a link to a pod.
func (r *router) link(p *pod) {
	if r.dead || p.dead || r.links[p.address] != nil {
		return
	}
	l := &link{router: r, pod: p}
	r.links[p.address] = l
	p.links = append(p.links, l)
	r.do(r.Connect(r.world.now, p.address, true))
	r.state(p.address, p.State(r.id))
	if r.Queued() > 0 {
		r.publishSoon()
	}
}

// unlink notes that a link is down.
func (r *router) unlink(l *link) {
	if !r.dead && r.links[l.pod.address] == l {
		delete(r.links, l.pod.address)
		r.do(r.Disconnect(r.world.now, l.pod.address))
	}
}

// kill ends the process; another one takes its place.
func (r *router) kill() {
	w := r.world
	r.dead = true
	for _, q := range r.requests {
		w.result.abandoned(q)
	}
	for _, p := range w.pods {
		for _, l := range p.links {
			if l.router != r {
				continue
			}
			l.down = true
			w.after(w.travel(), func() { p.Leave(r.id) })
		}
		for _, a := range p.speaking {
			if a.router == r {
				w.after(seconds(w.network.Float64()*frame.Seconds()), func() { p.finish(a) })
			}
		}
	}
	w.after(restartTime, func() {
		for _, p := range w.pods {
			p.forget(r)
		}
		w.routers[r.index] = newRouter(w, r.index)
	})
}

// forget removes the link of a router that is dead.
func (p *pod) forget(r *router) {
	for i, l := range p.links {
		if l.router == r {
			p.links = append(p.links[:i], p.links[i+1:]...)
			return
		}
	}
}

func (r *router) arrive(q *request) {
	r.lastID++
	q.id, q.router = r.lastID, r
	r.requests[q.id] = q
	r.world.result.arrived(q)
	r.do(r.Arrive(r.world.now, q.id, route.Request{Affinity: r.world.affinity(q.text)}))
}

// do carries out effects, all of which take time, so that no other event comes between.
func (r *router) do(effects []route.Effect) {
	w := r.world
	for _, effect := range effects {
		switch e := effect.(type) {
		case route.Send:
			q, p := r.requests[e.ID], w.pods[podIndex(e.Pod)]
			q.number, q.pod = e.Number, e.Pod
			q.sends++
			w.result.message(w)
			w.after(w.travel(), func() { p.reach(q, e) })
		case route.Refuse:
			q := r.requests[e.ID]
			w.result.refused(q, e.Err)
			delete(r.requests, e.ID)
			w.again(q, e.Err)
		case route.Wait:
			r.wait(r.requests[e.ID])
		case route.Decline:
			if l := r.links[e.Pod]; l != nil {
				l.declines = append(l.declines, e.Grant)
				l.sendWaiting()
			}
		case route.PublishWaiting:
			r.publishSoon()
		}
	}
}

// podIndex is the number in an address.
func podIndex(address string) (i int) {
	for _, c := range address[len("pod") : len("pod")+5] {
		i = 10*i + int(c-'0')
	}
	return i
}

func (r *router) wait(q *request) {
	if r.world.cfg.noLimit {
		return
	}
	left := max(q.arrived.Add(route.DefaultQueueWait).Sub(r.world.now), 0)
	r.world.after(left, func() {
		if !r.dead && r.requests[q.id] == q {
			r.do(r.Expire(r.world.now, q.id))
		}
	})
}

// publishSoon has all pods told who waits.
func (r *router) publishSoon() {
	w := r.world
	if r.publishing || w.cfg.noGrants {
		return
	}
	r.publishing = true
	putOff := time.Duration(0)
	if w.cfg.delay > 0 {
		putOff = time.Duration(w.listed()) * tellPerPod
	}
	w.after(putOff, func() {
		r.publishing = false
		since := r.Waiting()
		for _, p := range w.pods {
			if l := r.links[p.address]; l != nil {
				l.waiting = since
				l.sendWaiting()
			}
		}
	})
}

// sendWaiting says what a router has to say to a pod, as soon as nothing has been said for a moment.
func (l *link) sendWaiting() {
	w := l.pod.world
	if l.down || l.routerIsPausing || l.waiting == nil && l.declines == nil {
		return
	}
	declines, waiting, now := l.declines, l.waiting, w.now
	l.declines, l.waiting = nil, nil
	for _, number := range declines {
		l.carry(toPod, func() {
			l.pod.sendState(l.pod.Decline(w.now, number))
			l.pod.changed()
		})
	}
	if waiting != nil {
		received := l.router.GrantsOf(l.pod.address)
		l.carry(toPod, func() { l.receive(now, waiting, received) })
	}
	if pause := w.join(); pause > 0 {
		l.routerIsPausing = true
		w.after(pause, func() {
			l.routerIsPausing = false
			l.sendWaiting()
		})
	}
}

// receive takes in, at the pod, who waits, as it was when that was said.
func (l *link) receive(said time.Time, since []time.Time, received uint64) {
	ages := make([]time.Duration, len(since))
	for i, t := range since {
		ages[i] = said.Sub(t)
	}
	p := l.pod
	before := p.Reserved()
	p.sendState(p.Waiting(p.world.now, l.router.id, ages, received))
	if p.Reserved() != before {
		p.changed()
	}
}

func (r *router) state(address string, s route.State) {
	if !r.dead {
		r.do(r.State(r.world.now, address, s))
	}
}

func (r *router) granted(address string, number uint64) {
	if !r.dead {
		r.do(r.Granted(r.world.now, address, number, ""))
	}
}

// isCurrent reports whether that attempt of q has not come to an end before.
func (r *router) isCurrent(q *request, number uint64) bool {
	return !r.dead && r.requests[q.id] == q && q.number == number
}

func (r *router) answered(q *request, number uint64) {
	if r.isCurrent(q, number) {
		q.hasAudio = true
		r.do(r.Answered(r.world.now, q.id))
	}
}

func (r *router) ended(q *request, number uint64, s route.State) {
	if !r.isCurrent(q, number) {
		return
	}
	r.do(r.EndState(r.world.now, q.pod, s))
	delete(r.requests, q.id)
	r.spoken += q.length
	r.world.result.served(q)
	r.do(r.Ended(r.world.now, q.id))
}

func (r *router) refused(q *request, s route.State) {
	if r.dead {
		return
	}
	r.do(r.EndState(r.world.now, q.pod, s))
	q.number = 0
	r.do(r.Refused(r.world.now, q.id))
}

var errGone = errors.New("the pod is gone")

func (r *router) lost(q *request, number uint64) {
	if !r.isCurrent(q, number) {
		return
	}
	q.number = 0
	if q.hasAudio {
		delete(r.requests, q.id)
		r.world.result.cut(q)
	}
	r.do(r.AttemptFailed(r.world.now, q.id, errors.Join(speech.ErrWorkerGone, errGone)))
}

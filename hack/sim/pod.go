package main

import (
	"slices"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/fleet/route/routetest"
)

// pod is a worker pod, and the links to it.
type pod struct {
	*routetest.Pod
	world    *world
	index    int
	address  string
	zone     string
	dead     bool
	hung     bool
	leaving  bool // it ends when it has spoken what it speaks
	links    []*link
	speaking []*attempt
	prepared *simplelru.LRU[int, struct{}] // texts

	running       bool // Kubernetes has started it
	ready         bool // as Kubernetes saw it last
	terminating   bool // Kubernetes deletes it
	lost          bool // with its node
	cordonedUntil time.Time
}

// link is a connection between a router and a pod. Each direction keeps its order.
type link struct {
	router     *router
	pod        *pod
	down       bool
	receivedAt [2]time.Time // when the last message arrives: at the router, at the pod

	dirty, pausing bool // the pod has something to tell; it has told a moment ago

	waiting         []time.Time // who waits is to be told, if that is not nil
	declines        []uint64
	routerIsPausing bool
}

// attempt is an utterance that a pod speaks.
type attempt struct {
	*request
	number uint64
	over   bool
}

func newPod(w *world, i int) *pod {
	p := &pod{world: w, index: i, address: podAddress(i), zone: w.zone(i), running: true, ready: true}
	p.start()
	w.after(seconds(w.network.Float64()), p.beat)
	return p
}

func (p *pod) start() {
	p.Pod = routetest.New(p.world.id(), p.world.cfg.slots)
	p.dead, p.hung, p.leaving = false, false, false
	if p.world.cfg.cache > 0 {
		var err error
		if p.prepared, err = simplelru.NewLRU[int, struct{}](p.world.cfg.cache, nil); err != nil {
			panic(err)
		}
	}
}

// beat tells every router each second.
func (p *pod) beat() {
	if p.world.isOver() {
		return
	}
	p.changed()
	p.world.after(heartbeat, p.beat)
}

// changed tells every router, as soon as nothing has been told for a moment.
func (p *pod) changed() {
	if p.dead || p.hung {
		return
	}
	for _, l := range p.links {
		if l.dirty = true; !l.pausing {
			l.sendState()
		}
	}
}

func (l *link) sendState() {
	if l.down || !l.dirty {
		return
	}
	l.dirty = false
	state := l.pod.State(l.router.id)
	l.carry(toRouter, func() { l.router.state(l.pod.address, state) })
	if pause := l.pod.world.join(); pause > 0 {
		l.pausing = true
		l.pod.world.after(pause, func() {
			l.pausing = false
			l.sendState()
		})
	}
}

const (
	toRouter = 0
	toPod    = 1
)

// carry delivers a message over the link, behind those before it.
func (l *link) carry(direction int, deliver func()) {
	w := l.pod.world
	at := w.now.Add(w.travel())
	if at.Before(l.receivedAt[direction]) {
		at = l.receivedAt[direction]
	}
	l.receivedAt[direction] = at
	w.result.message(w)
	w.at(at, func() {
		if !l.down && (direction == toRouter || !l.pod.hung) {
			deliver()
		}
	})
}

// sendState sends grants to their routers, and lets them end.
func (p *pod) sendState(grants []routetest.Grant) {
	for _, g := range grants {
		i := slices.IndexFunc(p.links, func(l *link) bool { return l.router.id == g.Router })
		if i < 0 {
			continue
		}
		l := p.links[i]
		l.carry(toRouter, func() { l.router.granted(p.address, g.Number) })
		process := p.Pod
		p.world.after(route.GrantTime, func() {
			if p.Pod != process {
				return
			}
			before := p.Reserved()
			p.sendState(p.Expire(p.world.now))
			if p.Reserved() != before {
				p.changed()
			}
		})
	}
}

// reach takes an attempt in.
func (p *pod) reach(q *request, s route.Send) {
	w, r := p.world, q.router
	switch {
	case p.dead:
		w.after(w.travel(), func() { r.lost(q, s.Number) })
		return
	case p.hung:
		w.after(frameLimit, func() { r.lost(q, s.Number) })
		return
	}
	spoken := p.Speak(r.id, s.Number, s.Grant)
	p.changed()
	if !spoken {
		state := p.State(r.id)
		w.result.message(w)
		w.after(w.travel(), func() { r.refused(q, state) })
		return
	}
	w.result.started(w, q, p)
	a := &attempt{request: q, number: s.Number}
	p.speaking = append(p.speaking, a)
	w.after(min(firstFrame, q.length), func() {
		if !a.over && !p.hung {
			w.after(w.travel(), func() { r.answered(q, s.Number) })
		}
	})
	w.after(q.length, func() { p.finish(a) })
}

// finish ends what is spoken.
func (p *pod) finish(a *attempt) {
	if a.over || p.hung {
		return
	}
	w, r := p.world, a.router
	a.over = true
	p.speaking = slices.DeleteFunc(p.speaking, func(b *attempt) bool { return a == b })
	p.sendState(p.End(w.now, r.id, ""))
	p.changed()
	state := p.State(r.id)
	w.result.message(w)
	w.after(w.travel(), func() { r.ended(a.request, a.number, state) })
	if p.leaving && p.Busy() == 0 {
		p.kill()
	}
}

// drain lets nothing new in. The pod ends as soon as it is empty.
func (p *pod) drain() {
	p.Drain()
	p.leaving = true
	p.changed()
	if p.Busy() == 0 {
		p.kill()
	}
}

// kill ends the process. Another one begins after a while, where no Deployment sees to that.
func (p *pod) kill() {
	w := p.world
	p.dead, p.hung = true, false
	for _, a := range p.speaking {
		a.over = true
		w.after(w.travel(), func() { a.router.lost(a.request, a.number) })
	}
	for _, l := range p.links {
		l.down = true
		w.after(w.travel(), func() { l.router.unlink(l) })
	}
	p.speaking, p.links = nil, nil
	if w.deployment != nil {
		w.list()
		return
	}
	w.after(restartTime, func() {
		p.start()
		for _, r := range w.routers {
			w.after(seconds(w.network.Float64()*relinkLimit.Seconds()), func() { r.link(p) })
		}
	})
}

// restartTime is how long a pod is gone: until another one is warm in its place.
const restartTime = 5 * time.Second

// hang stops the process without ending it.
func (p *pod) hang() {
	w := p.world
	p.hung = true
	for _, a := range p.speaking {
		w.after(stallLimit, func() {
			if !a.over {
				a.router.lost(a.request, a.number)
			}
		})
	}
}

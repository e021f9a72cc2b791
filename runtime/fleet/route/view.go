package route

import (
	"cmp"
	"slices"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// State is what a pod says of itself: always all of it.
type State struct {
	Epoch    uint64 // of the pod's process
	Sequence uint64 // grows with every state of an epoch

	Workers  int
	Ready    int  // warm and alive
	Busy     int  // speaking
	Reserved int  // kept for a grant for a moment
	Warm     bool // every worker was warm once
	Draining bool
	Cordoned bool // takes nothing new for a while, because it may be removed

	Seen       uint64        // newest attempt of this router that the state counts
	FirstFrame time.Duration // how long the first frame took when a worker was warmed
}

// Free returns the number of free slots.
func (s State) Free() int { return max(s.Ready-s.Busy-s.Reserved, 0) }

// pod is the router's view of one.
type pod struct {
	address     string
	zone        string
	terminating bool

	avoided   bool // it is terminating, and another pod could be used
	unlisted  bool // kept for what runs there
	connected bool
	unfit     bool   // another model, or another protocol
	process   uint64 // epoch of the last state
	state     State
	stateAt   time.Time // when the state came

	unseen  []uint64 // numbers of those, running, that the state does not count yet
	running int
	grants  uint64 // received from it

	strikes      int // failures since the last frame
	ejections    int // in a row
	ejectedUntil time.Time
}

// candidate is a pod with what decides whether it comes first. They lie side by side, because each request compares
// all.
type candidate struct {
	*pod
	hash uint64 // for its rank
	near bool   // it is in the router's zone, or that is unknown
}

// free is how many slots a new attempt can hope for.
func (p *pod) free() int { return max(p.state.Free()-len(p.unseen), 0) }

// inUse reports whether p speaks, or will when a slot is free.
func (p *pod) inUse(now time.Time) bool { return p.isUsable() && !p.isEjected(now) }

// isUsable reports whether p could be in use, unless it is left alone because it has failed. A terminating pod is the
// last resort: until its replacement is warm it is better than a refusal.
func (p *pod) isUsable() bool {
	isOurs := p.connected && !p.unfit && p.state.Warm
	isGoing := p.avoided || p.unlisted || p.state.Draining || p.state.Cordoned
	return isOurs && !isGoing
}

func (p *pod) isEjected(now time.Time) bool { return now.Before(p.ejectedUntil) }

// suspect reports whether p has been silent for too long to be trusted.
func (p *pod) suspect(now time.Time) bool { return now.Sub(p.stateAt) >= suspectAfter }

// forget notes that an attempt is over.
func (p *pod) forget(req *request) {
	p.running--
	p.see(req)
}

// see notes that the pod's state counts an attempt.
func (p *pod) see(req *request) {
	p.unseen = slices.DeleteFunc(p.unseen, func(n uint64) bool { return n == req.number })
}

// List sets the addresses of all pods. Utterances on a removed one may finish.
func (r *Router) List(now time.Time, all []Endpoint) []Effect {
	for _, p := range r.pods {
		p.unlisted = true
	}
	for _, e := range all {
		p, ok := r.pods[e.Address]
		if !ok {
			p = &pod{address: e.Address}
			r.pods[e.Address] = p
		}
		p.zone, p.terminating, p.avoided, p.unlisted = e.Zone, e.Terminating, false, false
	}
	for address, p := range r.pods {
		if p.unlisted && p.running == 0 {
			delete(r.pods, address)
		}
	}
	r.listed = r.listed[:0]
	for _, p := range r.pods {
		near := r.cfg.Zone == "" || p.zone == r.cfg.Zone
		r.listed = append(r.listed, candidate{p, hashString(p.address), near})
	}
	slices.SortFunc(r.listed, func(a, b candidate) int { return cmp.Compare(a.address, b.address) })
	r.avoidTerminating()
	r.serveWaiting(now)
	return r.done()
}

// Connect notes that a pod is reachable and whether it fits. A pod fits when it has the model of the others.
func (r *Router) Connect(now time.Time, address string, fit bool) []Effect {
	p, ok := r.pods[address]
	if !ok {
		return r.done()
	}
	p.connected, p.unfit, p.stateAt, p.state, p.grants = true, !fit, now, State{}, 0
	for _, req := range r.requests {
		if req.pod == p && req.answered { // its slot is among the busy ones, even if attempts are counted anew
			p.see(req)
		}
	}
	r.avoidTerminating()
	return r.done()
}

// Disconnect records that a pod is unreachable. Its utterances may continue: they have connections of their own.
func (r *Router) Disconnect(_ time.Time, address string) []Effect {
	if p, ok := r.pods[address]; ok {
		p.connected, p.state = false, State{}
		r.avoidTerminating()
	}
	return r.done()
}

// State records a pod's state from its link. Outdated states are ignored.
func (r *Router) State(now time.Time, address string, s State) []Effect {
	if p, ok := r.pods[address]; ok && p.connected {
		r.setState(now, p, s)
	}
	return r.done()
}

// EndState records a pod's state from the end of an utterance. It is ignored if the link reports another process at the
// pod's address.
func (r *Router) EndState(now time.Time, address string, s State) []Effect {
	if p, ok := r.pods[address]; ok && p.connected && p.state.Epoch == s.Epoch {
		r.setState(now, p, s)
	}
	return r.done()
}

func (r *Router) setState(now time.Time, p *pod, s State) {
	if s.Epoch == p.state.Epoch && s.Sequence <= p.state.Sequence {
		return
	}
	if s.Epoch != p.process { // what the one before failed says nothing of this one
		p.process, p.strikes, p.ejectedUntil = s.Epoch, 0, time.Time{}
	}
	p.state, p.stateAt = s, now
	p.unseen = slices.DeleteFunc(p.unseen, func(n uint64) bool { return n <= s.Seen })
	r.avoidTerminating()
	r.serveWaiting(now)
}

// avoidTerminating has terminating pods avoided while any other pod is usable.
func (r *Router) avoidTerminating() {
	isTerminating := func(c candidate) bool { return c.terminating }
	if !slices.ContainsFunc(r.listed, isTerminating) {
		return
	}
	others := slices.ContainsFunc(r.listed, func(c candidate) bool { return !c.terminating && c.isUsable() })
	for _, c := range r.listed {
		c.avoided = c.terminating && others
	}
}

// Avoided returns the addresses of terminating pods that would take utterances, though another pod is in use.
func (r *Router) Avoided(now time.Time) (addresses []string) {
	if !r.anyInUse(now) {
		return nil
	}
	for _, c := range r.listed {
		if c.avoided && c.connected && !c.state.Draining && !c.state.Cordoned {
			addresses = append(addresses, c.address)
		}
	}
	return addresses
}

// GrantsOf returns the number of grants received from a pod since it was connected.
func (r *Router) GrantsOf(address string) uint64 {
	if p, ok := r.pods[address]; ok {
		return p.grants
	}
	return 0
}

// FirstFrameOf returns the time of a pod's slowest first frame during warm-up. 0 means unknown.
func (r *Router) FirstFrameOf(address string) time.Duration {
	if p, ok := r.pods[address]; ok {
		return p.state.FirstFrame
	}
	return 0
}

// InUse reports whether any pod speaks, or will when a slot is free.
func (r *Router) InUse(now time.Time) bool { return r.anyInUse(now) }

// Capacity returns the slots of all pods, of which other routers use some, and the queue of this one.
func (r *Router) Capacity(now time.Time) speech.Capacity {
	c := speech.Capacity{Queued: r.waiting.Len(), QueueLimit: r.waiting.Limit()}
	for _, p := range r.listed {
		if !p.connected || p.unfit {
			continue
		}
		c.Workers += p.state.Workers
		if p.inUse(now) {
			c.Ready += p.state.Ready
		}
		c.Busy += p.state.Busy
		c.Reserved += p.state.Reserved
	}
	return c
}

// IsWarm reports whether a pod is connected, fit, and was warm once.
func (r *Router) IsWarm(address string) bool {
	p, ok := r.pods[address]
	return ok && p.connected && !p.unfit && p.state.Warm
}

// IsDraining reports whether a pod has said that it goes away.
func (r *Router) IsDraining(address string) bool {
	p, ok := r.pods[address]
	return ok && (p.state.Draining || p.terminating)
}

// Queued returns how many requests wait.
func (r *Router) Queued() int { return r.waiting.Len() }

func (r *Router) anyInUse(now time.Time) bool {
	return slices.ContainsFunc(r.listed, func(c candidate) bool { return c.inUse(now) })
}

// PodView is a pod as the router sees it.
type PodView struct {
	Endpoint
	State
	Connected  bool
	OtherModel bool // speaks with another model
	Ejected    bool
	Suspect    bool
	InUse      bool
	Free       int // slots that a new attempt can hope for
	Running    int // attempts of this router
	Unseen     int // of those, not in the state yet
}

// View returns every pod, in the order of their addresses.
func (r *Router) View(now time.Time) []PodView {
	all := make([]PodView, len(r.listed))
	for i, p := range r.listed {
		all[i] = PodView{
			Endpoint: Endpoint{p.address, p.zone, p.terminating}, State: p.state, Connected: p.connected,
			OtherModel: p.unfit,
			Ejected:    p.isEjected(now), Suspect: p.connected && p.suspect(now), InUse: p.inUse(now),
			Free: p.free(), Running: p.running, Unseen: len(p.unseen),
		}
	}
	return all
}

package route

import "time"

// maxWaiting is how many waiting utterances of one router a pod looks at: the queue of any sensible one.
const maxWaiting = 64

// Grants decides, in a pod, which router gets a slot that becomes free: the one whose client has waited longest. Asking
// in the order of arrival keeps the whole fleet first come, first served, and spares the race of all routers for one
// slot. The zero value is ready.
type Grants struct {
	routers map[uint64]*waiters
	order   []uint64 // of routers, so that equal ages are granted in a fixed order
}

// waiters are the waiting requests of one router, as it last sent them, without those that were granted a slot since.
type waiters struct {
	since   []time.Time // the oldest first
	granted uint64      // how many grants it was sent
}

// Waiting sets how long the utterances of a router have waited, the oldest first. It also has the number of grants that
// had reached the router at that time: those on their way are for the first utterances.
func (g *Grants) Waiting(now time.Time, router uint64, ages []time.Duration, received uint64) {
	w := g.of(router)
	w.since = w.since[:0]
	ages = ages[:min(len(ages), maxWaiting)]
	underWay := min(w.granted-min(received, w.granted), uint64(len(ages)))
	for _, age := range ages[underWay:] {
		w.since = append(w.since, now.Add(-age))
	}
}

func (g *Grants) of(router uint64) *waiters {
	if g.routers == nil {
		g.routers = make(map[uint64]*waiters)
	}
	w, ok := g.routers[router]
	if !ok {
		w = &waiters{}
		g.routers[router] = w
		g.order = append(g.order, router)
	}
	return w
}

// Leave drops a disconnected router.
func (g *Grants) Leave(router uint64) {
	delete(g.routers, router)
	for i, id := range g.order {
		if id == router {
			g.order = append(g.order[:i], g.order[i+1:]...)
			return
		}
	}
}

// AnyWaiting reports whether any request waits for a slot.
func (g *Grants) AnyWaiting() bool {
	for _, w := range g.routers {
		if len(w.since) > 0 {
			return true
		}
	}
	return false
}

// Next grants a slot to the router whose request has waited longest. ok is false if none waits.
func (g *Grants) Next() (router uint64, ok bool) {
	var first *waiters
	for _, id := range g.order {
		w := g.routers[id]
		if len(w.since) > 0 && (first == nil || w.since[0].Before(first.since[0])) {
			router, first = id, w
		}
	}
	if first == nil {
		return 0, false
	}
	first.since = first.since[1:]
	first.granted++
	return router, true
}

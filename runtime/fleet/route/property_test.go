package route_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/swar-tts/swar/runtime/fleet/route"
)

// TestWhateverHappens plays a world of routers and pods in any order of events, checks after each what must hold, and
// then lets it come to rest: nobody waits, everything has ended once, and every router knows what is free.
func TestWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(0, 300).Draw(t, "events") {
			w.step()
		}
		w.rest()
		w.checkAtRest()
	})
}

// step lets one thing happen.
func (w *world) step() {
	i := rapid.IntRange(0, len(w.routers)-1).Draw(w.T, "router")
	r := w.routers[i]
	address := rapid.SampledFrom(w.addresses).Draw(w.T, "pod")
	event := rapid.SampledFrom([]string{
		"arrive", "arrive", "arrive", "reach", "reach", "reach", "finish", "hear", "hear", "hear", "hear link", "hear link",
		"push", "tell", "tell link", "tell link", "leave", "time", "rare", "answer", "lose",
	}).Draw(w.T, "event")
	switch event {
	case "arrive":
		w.arrive(r)
	case "reach", "finish", "hear", "answer", "lose":
		w.stepAttempt(event)
	case "hear link":
		w.hearLink(r, address)
	case "push":
		w.push(r, address)
	case "tell":
		w.tellWaiting(r)
	case "tell link":
		w.tellLink(r, address)
	case "leave":
		if all := slices.Sorted(maps.Keys(r.requests)); len(all) > 0 {
			w.leave(r, rapid.SampledFrom(all).Draw(w.T, "request"))
		}
	case "time":
		w.advance(rapid.SampledFrom([]time.Duration{
			time.Millisecond, 10 * time.Millisecond, 49 * time.Millisecond, time.Second, 4 * time.Second,
		}).Draw(w.T, "for"))
	case "rare":
		w.stepRarely(i, address)
	}
}

// stepAttempt lets something happen to an attempt.
func (w *world) stepAttempt(event string) {
	open := slices.DeleteFunc(slices.Clone(w.attempts), func(a *attempt) bool {
		switch event {
		case "reach":
			return a.arrived
		case "hear":
			return len(a.toRouter) == 0
		}
		return a.pod == nil
	})
	if len(open) == 0 {
		return
	}
	a := rapid.SampledFrom(open).Draw(w.T, "attempt")
	switch event {
	case "reach":
		w.reach(a)
	case "finish":
		w.finish(a, rapid.Bool().Draw(w.T, "more"))
	case "hear":
		w.hear(a)
	case "answer":
		a.toRouter = append(a.toRouter, answered{})
	case "lose": // the connection, of which the pod hears later
		a.toRouter = append(a.toRouter, lost{})
	}
}

// stepRarely lets something happen that ought to be rare.
func (w *world) stepRarely(i int, address string) {
	r := w.routers[i]
	switch rapid.IntRange(0, 8).Draw(w.T, "which") {
	case 0:
		w.kill(address)
	case 1:
		if w.pods[address] == nil {
			w.start(address)
		}
	case 2:
		w.cut(r, address)
	case 3, 4:
		w.connect(r, address)
	case 5:
		some := slices.DeleteFunc(slices.Clone(w.addresses),
			func(string) bool { return rapid.IntRange(0, 3).Draw(w.T, "drop") == 0 })
		w.list(r, some, rapid.SampledFrom(append(w.addresses, "")).Draw(w.T, "terminating"))
	case 6:
		w.killRouter(i)
	case 7:
		if pod := w.pods[address]; pod != nil {
			w.tellGrants(pod, pod.Cordon(w.now, rapid.Bool().Draw(w.T, "cordon")))
		}
	case 8:
		if pod := w.pods[address]; pod != nil {
			pod.Drain()
		}
	}
	w.do(r, r.Tick(w.now))
	w.checkWork(r)
}

// rest lets nothing new happen, and everything that has begun come to its end.
func (w *world) rest() {
	for _, r := range w.routers {
		w.list(r, w.addresses, "")
	}
	for _, address := range w.addresses {
		if w.pods[address] == nil {
			w.start(address)
		}
	}
	for range 20 { // in each, what has come to nothing is tried once more
		w.deliverAll()
	}
	w.advance(2 * time.Second) // who waits still is refused
	for range 3 {              // a cut is heard, the link is there again, and what was kept meanwhile is free
		w.deliverAll()
	}
}

// deliverAll has everything arrive that is on its way, and ends what is spoken.
func (w *world) deliverAll() {
	for _, r := range w.routers {
		w.do(r, r.Tick(w.now))
		for _, address := range w.addresses {
			w.connect(r, address)
			w.push(r, address)
			for l := r.links[address]; l != nil && len(l.toRouter) > 0; l = r.links[address] {
				w.hearLink(r, address)
			}
		}
		w.tellWaiting(r)
		for _, address := range w.addresses {
			for l := r.links[address]; l != nil && len(l.toPod) > 0; l = r.links[address] {
				w.tellLink(r, address)
			}
		}
	}
	for len(w.attempts) > 0 { // hearing makes new ones
		a := w.attempts[0]
		w.attempts = w.attempts[1:]
		w.reach(a)
		w.finish(a, false)
		for len(a.toRouter) > 0 {
			w.hear(a)
		}
	}
	w.advance(route.GrantTime)
}

func (w *world) checkAtRest() {
	for address, pod := range w.pods {
		if pod.Busy() != 0 || pod.Reserved() != 0 {
			w.Errorf("%s has %d busy and %d kept slots at rest", address, pod.Busy(), pod.Reserved())
		}
	}
	for _, r := range w.routers {
		if len(r.requests) != 0 || r.Queued() != 0 {
			w.Errorf("%d requests have not ended, %d wait", len(r.requests), r.Queued())
		}
		for _, p := range r.View(w.now) {
			pod := w.pods[p.Address]
			if !p.Connected || p.Unseen != 0 || p.Running != 0 || p.Free != pod.Free() {
				w.Errorf("a router sees %+v, which has %d free", p, pod.Free())
			}
			if want := pod.IsOpen() && !w.unfit[p.Address] && !p.Ejected; p.InUse != want {
				w.Errorf("a router uses %+v: %v, want %v", p, p.InUse, want)
			}
		}
	}
}

// Package routetest is a fake worker pod without workers, network or clock. The tests of package route and the
// simulator use it. What it grants is decided by [route.Grants], as in a real one.
package routetest

import (
	"slices"
	"time"

	"github.com/swar-tts/swar/runtime/fleet/route"
)

// Pod owns slots, of which some are busy and some are kept. Events and the time go in, and the grants that are to be
// told come out; they are good until the next event. Whoever drives it calls [Pod.Expire] at the times that
// [Pod.Until] names. It is not safe for concurrent use.
type Pod struct {
	workers  int
	busy     int
	reserved []reservedSlot // in the order in which they end

	epoch    uint64
	sequence uint64
	cold     bool
	draining bool
	cordoned bool

	waiters route.Grants
	last    uint64            // number of a kept slot
	seen    map[uint64]uint64 // by router
	grants  []Grant           // to be told
}

// Grant is a slot that is kept for a router, or for a session of it.
type Grant struct {
	Router  uint64
	Number  uint64
	Session string
}

type reservedSlot struct {
	number uint64
	until  time.Time
}

// New returns a warm pod. No two processes have the same epoch.
func New(epoch uint64, workers int) *Pod {
	return &Pod{epoch: epoch, workers: workers, seen: make(map[uint64]uint64)}
}

// State is what the pod says of itself to a router.
func (p *Pod) State(router uint64) route.State {
	p.sequence++
	s := route.State{
		Epoch: p.epoch, Sequence: p.sequence, Workers: p.workers, Busy: p.busy, Reserved: len(p.reserved),
		Warm: !p.cold, Draining: p.draining, Cordoned: p.cordoned, Seen: p.seen[router],
	}
	if !p.cold {
		s.Ready = p.workers
	}
	return s
}

// Free returns how many slots nobody has.
func (p *Pod) Free() int { return p.workers - p.busy - len(p.reserved) }

// Busy returns how many slots speak.
func (p *Pod) Busy() int { return p.busy }

// Reserved returns how many slots are kept for somebody.
func (p *Pod) Reserved() int { return len(p.reserved) }

// Epoch names the process.
func (p *Pod) Epoch() uint64 { return p.epoch }

// IsOpen reports whether the pod would take something new if it had a slot.
func (p *Pod) IsOpen() bool { return !p.cold && !p.draining && !p.cordoned }

// Leave notes that the link of a router has ended.
func (p *Pod) Leave(router uint64) { p.waiters.Leave(router) }

// Waiting takes in who waits at a router: see [route.Grants.Waiting].
func (p *Pod) Waiting(now time.Time, router uint64, ages []time.Duration, received uint64) []Grant {
	p.waiters.Waiting(now, router, ages, received)
	return p.grantIdle(now)
}

// Decline gives a slot that was kept back.
func (p *Pod) Decline(now time.Time, number uint64) []Grant {
	p.reserved = slices.DeleteFunc(p.reserved, func(k reservedSlot) bool { return k.number == number })
	return p.grantIdle(now)
}

// Until returns when the next kept slot ends; ok is false where none is kept.
func (p *Pod) Until() (_ time.Time, ok bool) {
	if len(p.reserved) == 0 {
		return time.Time{}, false
	}
	return p.reserved[0].until, true
}

// Expire ends the slots that were kept for their whole time.
func (p *Pod) Expire(now time.Time) []Grant {
	for len(p.reserved) > 0 && !now.Before(p.reserved[0].until) {
		p.reserved = p.reserved[1:]
	}
	return p.grantIdle(now)
}

// Speak gives a slot to an attempt of a router. It is the granted slot, if that is still reserved, else any. It
// reports whether there is one.
func (p *Pod) Speak(router, number, grant uint64) bool {
	p.seen[router] = max(p.seen[router], number)
	if !p.IsOpen() {
		return false
	}
	own := slices.IndexFunc(p.reserved, func(k reservedSlot) bool { return grant != 0 && k.number == grant })
	switch {
	case own >= 0:
		p.reserved = slices.Delete(p.reserved, own, own+1)
	case p.Free() <= 0:
		return false
	}
	p.busy++
	return true
}

// End notes that an utterance of a router is over, whose session, if it is named, goes on.
func (p *Pod) End(now time.Time, router uint64, session string) []Grant {
	p.busy--
	p.grants = p.grants[:0]
	if !p.draining && !p.cordoned {
		if id, ok := p.waiters.Next(); ok {
			p.reserve(now, Grant{Router: id})
		} else if session != "" {
			p.reserve(now, Grant{Router: router, Session: session})
		}
	}
	return p.grants
}

func (p *Pod) reserve(now time.Time, g Grant) {
	p.last++
	g.Number = p.last
	p.reserved = append(p.reserved, reservedSlot{g.Number, now.Add(route.GrantTime)})
	p.grants = append(p.grants, g)
}

// grantIdle keeps idle slots for those who wait.
func (p *Pod) grantIdle(now time.Time) []Grant {
	p.grants = p.grants[:0]
	for p.IsOpen() && p.Free() > 0 {
		id, ok := p.waiters.Next()
		if !ok {
			break
		}
		p.reserve(now, Grant{Router: id})
	}
	return p.grants
}

// Drain lets nothing new in for good.
func (p *Pod) Drain() { p.draining = true }

// Cordon lets nothing new in for as long as it is on.
func (p *Pod) Cordon(now time.Time, on bool) []Grant {
	p.cordoned = on
	return p.grantIdle(now)
}

// Warm says whether every worker was warm once.
func (p *Pod) Warm(now time.Time, warm bool) []Grant {
	p.cold = !warm
	return p.grantIdle(now)
}

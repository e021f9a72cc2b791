package link

import (
	"sync"
	"time"
)

// patience ends a wait. It counts slices of the time in which this process ran: while the machine stands still, or its
// processors are given to others, pods are not to blame, and what they have sent may not have been read.
type patience struct {
	over func() // called at the deadline, in a separate goroutine

	mu         sync.Mutex
	timer      *time.Timer
	slice      time.Duration
	slicesLeft int    // slices
	turn       uint64 // grows when the wait begins anew, so that a tick of the one before counts nothing
	out        bool
}

// slices is how many parts a wait has: a stop of the process, however long, counts as one of them.
const slices = 8

// newPatience begins a wait.
func newPatience(d time.Duration, over func()) *patience {
	p := &patience{over: over}
	p.Reset(d)
	return p
}

// Reset begins the wait anew, also after it has run out.
func (p *patience) Reset(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopLocked()
	p.slice, p.slicesLeft, p.out = d/slices, slices, false
	p.nextLocked()
}

// Stop ends the wait. It reports false if it had run out.
func (p *patience) Stop() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopLocked()
	return !p.out
}

func (p *patience) stopLocked() {
	p.turn++
	if p.timer != nil {
		p.timer.Stop()
	}
}

func (p *patience) nextLocked() {
	turn := p.turn
	p.timer = time.AfterFunc(p.slice, func() { p.tick(turn) })
}

func (p *patience) tick(turn uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if turn != p.turn {
		return
	}
	if p.slicesLeft--; p.slicesLeft > 0 {
		p.nextLocked()
		return
	}
	p.out = true
	p.over()
}

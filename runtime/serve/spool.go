package serve

import (
	"errors"
	"math/bits"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// How long a client may take nothing of what waits for it. docs/api.md promises them.
const (
	holdLimit  = 10 * time.Second // while a worker waits for it, because the spool is full
	stallLimit = 30 * time.Second // otherwise
)

// defaultSpool is what the spools of all clients may hold together: 5,500 s of pcm16.
const defaultSpool = 256 << 20

// spoolBudget is the memory for audio that was encoded and has not been taken, of all clients together.
//
// A client may spool as much as is still free. So one alone can use half of the budget, and when many have spooled
// much, clients that need little, or are new, still find room. A client that has read everything always gets one more
// piece: no client waits for the readers of others only.
type spoolBudget struct {
	limit int64

	mu      sync.Mutex
	used    int64
	waits   int64         // how often a worker had to wait
	changed chan struct{} // closed when used decreases; nil if no writer waits for that
}

func newSpoolBudget(limit int64) *spoolBudget { return &spoolBudget{limit: max(limit, 0)} }

// spoolUse is how much of a budget is used.
type spoolUse struct{ bytes, limit, waits int64 }

func (b *spoolBudget) use() spoolUse {
	b.mu.Lock()
	defer b.mu.Unlock()
	return spoolUse{b.used, b.limit, b.waits}
}

// isFull reports whether there is no room for a group of frames, if there is a budget at all.
func (b *spoolBudget) isFull() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit > 0 && b.used+groupBlock > b.limit
}

// spool is what one client has of a budget. It is safe for concurrent use.
type spool struct {
	budget *spoolBudget

	// Guarded by the lock of the budget.
	size  int64  // bytes
	taken uint64 // how often the client has taken something
}

// errStopped is the result of a wait that was stopped. The context has the reason.
var errStopped = errors.New("delivery has ended")

// reserve takes n bytes of the budget. While there is no room for them it waits, and a worker with it: until done
// closes, which is errStopped, or until the client has taken nothing for holdLimit, which is [speech.ErrClientSlow].
func (s *spool) reserve(done <-chan struct{}, n int) error {
	changed, taken := s.tryReserve(n, true)
	if changed == nil {
		return nil
	}
	hold := time.NewTimer(holdLimit)
	defer hold.Stop()
	for {
		select {
		case <-changed:
		case <-hold.C:
			return speech.ErrClientSlow
		case <-done:
			return errStopped
		}
		before := taken
		if changed, taken = s.tryReserve(n, false); changed == nil {
			return nil
		}
		if taken != before {
			hold.Reset(holdLimit)
		}
	}
}

// tryReserve takes n bytes, or returns what to wait for before it is tried again, and how often the client has taken
// something.
func (s *spool) tryReserve(n int, first bool) (changed <-chan struct{}, taken uint64) {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.fitsLocked(n) {
		s.addLocked(n)
		return nil, s.taken
	}
	if first {
		b.waits++
	}
	return b.changedLocked(), s.taken
}

// awaitRoom waits until there is room for n bytes, without taking them.
func (s *spool) awaitRoom(done <-chan struct{}, n int) error {
	for {
		changed := s.roomOrChange(n)
		if changed == nil {
			return nil
		}
		select {
		case <-changed:
		case <-done:
			return errStopped
		}
	}
}

// hasRoom reports whether n bytes could be reserved now.
func (s *spool) hasRoom(n int) bool {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.fitsLocked(n)
}

func (s *spool) roomOrChange(n int) (changed <-chan struct{}) {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	if s.fitsLocked(n) {
		return nil
	}
	return s.budget.changedLocked()
}

// overdraw takes n bytes whether there is room or not.
func (s *spool) overdraw(n int) {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.addLocked(n)
}

// release returns n bytes. took reports that the client has read them, and that they were not dropped.
func (s *spool) release(n int, took bool) {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	s.addLocked(-n)
	if took {
		s.taken++
	}
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

func (s *spool) fitsLocked(n int) bool {
	return s.size == 0 || s.size+int64(n) <= s.budget.limit-s.budget.used
}

func (s *spool) addLocked(n int) {
	s.size += int64(n)
	s.budget.used += int64(n)
}

func (b *spoolBudget) changedLocked() <-chan struct{} {
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	return b.changed
}

// block is a buffer for encoded audio. Sizes are powers of two, so that short Opus pages do not hold buffers for pcm16.
type block struct {
	bytes []byte
	pool  *sync.Pool // nil: too large to be kept
}

const (
	minBlock = 9  // 512 bytes
	maxBlock = 16 // 64 KiB

	groupBlock = 16 << 10 // what four frames of pcm16 lie in, the largest group there usually is
)

var blocks [maxBlock + 1]sync.Pool

// newBlock returns a block of n bytes, whose contents are arbitrary.
func newBlock(n int) *block {
	class := max(bits.Len(uint(max(n, 1)-1)), minBlock)
	if class > maxBlock {
		return &block{bytes: make([]byte, n)}
	}
	b, ok := blocks[class].Get().(*block)
	if !ok {
		b = &block{bytes: make([]byte, 1<<class), pool: &blocks[class]}
	}
	b.bytes = b.bytes[:n]
	return b
}

// blockOf returns a block that holds the parts one behind the other.
func blockOf(parts ...[]byte) *block {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	b := newBlock(size)
	at := 0
	for _, p := range parts {
		at += copy(b.bytes[at:], p)
	}
	return b
}

// size is the memory that b holds.
func (b *block) size() int { return cap(b.bytes) }

func (b *block) free() {
	if b.pool != nil {
		b.pool.Put(b)
	}
}

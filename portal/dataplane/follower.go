package dataplane

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/dataplane/wire"
)

// awaitLimit is how long a key change waits for front ends to apply it; then its caller is answered anyway.
const awaitLimit = time.Second

var errAwaitLimit = errors.New("not every front end acknowledged the change of a key in time")

// follower is a front end that reports which changes it has applied: a connected client, or this process. The lock of
// its feed guards what changes.
type follower struct {
	id    uint64 // never 0, and never given again
	name  string // for the log
	taken uint64 // sequence of the last change that it has applied; 0: none
	late  uint64 // sequence of the change that it was awaited for in vain, which is logged once; 0: it is not late
}

// follow adds a follower with this name. It must be called before the first update is sent: later changes are either in
// that update, or are awaited.
func (f *Feed) follow(name string) *follower {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastFollower++
	w := &follower{id: f.lastFollower, name: name}
	f.followers[w.id] = w
	return w
}

// unfollow ends what follow began. No call waits for w any longer.
func (f *Feed) unfollow(w *follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.followers, w.id)
	f.moveLocked()
}

// acknowledge records that the follower of that id has applied all changes up to at. It ignores an acknowledgement that
// comes after the follower has left, is older than a known one, or is for an earlier feed.
func (f *Feed) acknowledge(id uint64, at wire.Position) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.followers[id]
	if w == nil || at.Epoch != f.epoch || at.Sequence > f.sequence || at.Sequence <= w.taken {
		return
	}
	w.taken = at.Sequence
	if w.late != 0 && w.taken >= w.late {
		w.late = 0
		f.log.Info("a front end acknowledges key changes again", "process", w.name)
	}
	f.moveLocked()
}

// Followers counts the clients that check keys. The first number has applied all changes, the second has not.
func (f *Feed) Followers() (current, behind int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.followers {
		if w.taken == f.sequence {
			current++
		} else {
			behind++
		}
	}
	return current, behind
}

func (f *Feed) moveLocked() {
	if f.moved != nil {
		close(f.moved)
		f.moved = nil
	}
}

// AwaitKey returns when all front ends have applied the creation, change or revocation of k. The store must have sent
// it to this feed, and all followers acknowledged it. Followers that leave are no longer awaited, and new ones are not
// awaited: their first update has the change.
//
// It gives up after a second. A follower that has not acknowledged by then is logged once, until it does. Nor does it
// wait longer when the store is unreachable, or when the key has changed again in the meantime.
func (f *Feed) AwaitKey(ctx context.Context, k tenant.Key) {
	ctx, cancel := context.WithTimeoutCause(ctx, awaitLimit, errAwaitLimit)
	defer cancel()
	at, awaited, err := f.awaitStore(ctx, k)
	if err != nil {
		return
	}
	awaited = f.awaitFollowers(ctx, at, awaited)
	if errors.Is(context.Cause(ctx), errAwaitLimit) {
		f.logLate(at, awaited)
	}
}

// awaitStore returns the sequence at which the feed has k's change, and the followers to await.
func (f *Feed) awaitStore(ctx context.Context, k tenant.Key) (at uint64, all []*follower, err error) {
	for {
		f.mu.Lock()
		knows, growth := f.knowsLocked(k), f.growth
		if knows {
			at, all = f.sequence, slices.Collect(maps.Values(f.followers))
		}
		f.mu.Unlock()
		if knows {
			return at, all, nil
		}
		select {
		case <-growth:
		case <-ctx.Done():
			return 0, nil, context.Cause(ctx)
		}
	}
}

// knowsLocked reports whether the feed says of k what k does.
func (f *Feed) knowsLocked(k tenant.Key) bool {
	e, held := f.keys[k.Hash]
	says := func() bool {
		return slices.Equal(e.Voices, k.Voices) && e.Disclosure == k.Disclosure.Or(k.OrgDisclosure)
	}
	return f.begun && held != k.Revoked() && (!held || says())
}

// awaitFollowers waits until all of them have applied the change at or have left, or ctx ends. It returns the others.
func (f *Feed) awaitFollowers(ctx context.Context, at uint64, all []*follower) []*follower {
	for {
		f.mu.Lock()
		all = slices.DeleteFunc(all, func(w *follower) bool { return w.taken >= at || f.followers[w.id] == nil })
		if f.moved == nil {
			f.moved = make(chan struct{})
		}
		moved := f.moved
		f.mu.Unlock()
		if len(all) == 0 {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return all
		}
	}
}

// logLate says once of each of them that the change at is not acknowledged.
func (f *Feed) logLate(at uint64, all []*follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range all {
		if w.late == 0 && w.taken < at && f.followers[w.id] != nil {
			w.late = at
			f.log.Warn("a front end does not acknowledge key changes: revoked keys may still work there",
				"process", w.name, "waited", awaitLimit)
		}
	}
}

package dataplane

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/dataplane/wire"
)

const (
	// maxChanges are kept for readers that are behind: a reader that missed more gets everything again. That is also
	// less to send then, unless there are many more keys than this.
	maxChanges = 4096

	minRetry = 100 * time.Millisecond // wait before the store is tried again; doubled after each failure
	maxRetry = 2 * time.Second
)

// Feed knows every key of the store, and serves any number of readers. None of them delays the others: each continues
// from its own position, and one that is too far behind gets everything again.
type Feed struct {
	store tenant.Store
	log   *slog.Logger
	epoch uint64

	mu       sync.Mutex
	keys     map[access.Hash]access.Entry // that are good
	refused  map[access.Hash]bool         // keys that are revoked, whatever the store says of them
	purgeAt  int                          // number of keys at which expired ones are purged
	changes  []access.Entry               // the newest ones, oldest first
	sequence uint64                       // of the last change; 1 before the first, so that 0 is before everything
	begun    bool                         // keys are what the store had at some moment
	stale    bool                         // the store is unreachable
	growth   chan struct{}                // closed and replaced when there is something new

	lexicons      map[string]access.ProjectLexicon // by project
	lexiconsBegun bool                             // they are what the store had at some moment
	lexiconChange uint64                           // counts their changes

	followers    map[uint64]*follower // by id
	lastFollower uint64               // its id
	// moved: closed when a follower has applied a change or left; nil while no call waits for that
	moved chan struct{}
}

// NewFeed returns a feed that knows nothing before it runs.
func NewFeed(store tenant.Store, log *slog.Logger) *Feed {
	return &Feed{
		store: store, log: log, epoch: 1 + rand.Uint64N(1<<63), sequence: 1, purgeAt: minPurge, stale: true,
		growth: make(chan struct{}), lexicons: make(map[string]access.ProjectLexicon),
		keys: make(map[access.Hash]access.Entry), refused: make(map[access.Hash]bool),
		followers: make(map[uint64]*follower),
	}
}

// Run follows the store until ctx ends, whatever the store does, and returns nil. Only a store that was closed is an
// error.
func (f *Feed) Run(ctx context.Context) error {
	following, stop := context.WithCancel(ctx)
	var lexicons sync.WaitGroup
	lexicons.Go(func() { f.followLexicons(following) })
	defer lexicons.Wait()
	defer stop()
	for wait := minRetry; ctx.Err() == nil; wait = min(2*wait, maxRetry) {
		err := f.store.WatchKeys(ctx, func(keys []tenant.Key, full bool) error {
			wait = minRetry
			f.apply(keys, full)
			return nil
		})
		f.storeLost()
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, tenant.ErrClosed):
			return err
		default:
			f.log.Warn("lost the watch on keys; retrying", "error", err)
			pause(ctx, wait)
		}
	}
	return nil
}

// Refuse revokes a key for all readers at once and forever, although the store does not have that yet.
func (f *Feed) Refuse(h access.Hash) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused[h] = true
	f.putLocked(ended(h))
	f.notifyLocked()
}

// apply turns records of the store into changes. After a pause the store sends all records, of which most are known.
func (f *Feed) apply(keys []tenant.Key, full bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if full {
		stay := make(map[access.Hash]bool, len(keys))
		for i := range keys {
			stay[keys[i].Hash] = true
		}
		for hash := range f.keys {
			if !stay[hash] {
				f.putLocked(ended(hash))
			}
		}
	}
	for _, k := range keys {
		f.putLocked(entryOf(k))
	}
	f.purgeLocked()
	f.begun, f.stale = true, false
	f.notifyLocked()
}

// storeLost records that the store is unreachable.
func (f *Feed) storeLost() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stale = true
	f.notifyLocked()
}

func (f *Feed) putLocked(e access.Entry) {
	if f.refused[e.Hash] {
		e = ended(e.Hash)
	}
	old, known := f.keys[e.Hash]
	switch {
	case e.Revoked && !known, known && reflect.DeepEqual(old, e):
		return
	case e.Revoked:
		delete(f.keys, e.Hash)
	default:
		f.keys[e.Hash] = e
	}
	f.sequence++
	if len(f.changes) == 2*maxChanges { // seldom, so that a change costs no copying of all others
		f.changes = append(make([]access.Entry, 0, 2*maxChanges), f.changes[maxChanges:]...)
	}
	f.changes = append(f.changes, e)
}

const minPurge = 1024

// purgeLocked forgets keys that have expired. Readers do so by themselves.
func (f *Feed) purgeLocked() {
	if len(f.keys) < f.purgeAt {
		return
	}
	now := time.Now()
	maps.DeleteFunc(f.keys, func(_ access.Hash, e access.Entry) bool { return expired(e, now) })
	f.purgeAt = max(minPurge, 2*len(f.keys))
}

func (f *Feed) notifyLocked() {
	close(f.growth)
	f.growth = make(chan struct{})
}

// reader reads a feed. It is not safe for concurrent use.
type reader struct {
	feed     *Feed
	at       wire.Position
	reported bool // whether the reader knows stale
	stale    bool

	lexicons      map[string]int64 // the versions that were read; nil: none yet
	lexiconChange uint64
}

// next returns what is new since the reader's position, as soon as there is something. The first update comes at once
// when the feed has begun, even if it says no more than that nothing is new. It fails when ctx ends, with its cause.
func (r *reader) next(ctx context.Context) (wire.Update, error) {
	for {
		u, growth := r.tryNext()
		if growth == nil {
			r.at, r.stale, r.reported = u.Position, u.Stale, true
			return u, nil
		}
		select {
		case <-growth:
		case <-ctx.Done():
			return wire.Update{}, context.Cause(ctx)
		}
	}
}

// tryNext returns what is new, or what to wait for.
func (r *reader) tryNext() (wire.Update, <-chan struct{}) {
	f := r.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	now := wire.Position{Epoch: f.epoch, Sequence: f.sequence}
	u := wire.Update{Position: now, Stale: f.stale}
	behind := f.sequence - r.at.Sequence // wraps around for a position that never was, and is far too much then
	switch {
	case !f.begun, r.reported && r.at == now && r.stale == f.stale && r.lexiconChange == f.lexiconChange:
		return u, f.growth
	case r.at.Epoch != f.epoch || behind > uint64(min(len(f.changes), maxChanges)):
		u.Full = true
		u.Keys = make([]access.Entry, 0, len(f.keys))
		at := time.Now()
		for _, e := range f.keys {
			if !expired(e, at) {
				u.Keys = append(u.Keys, e)
			}
		}
	default:
		u.Keys = slices.Clone(f.changes[len(f.changes)-int(behind):])
	}
	r.readLexiconsLocked(&u)
	return u, nil
}

// pause waits for about d, or until ctx ends. The wait is random, so that clients that lost the same store do not all
// return in the same moment.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d/2 + rand.N(d/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

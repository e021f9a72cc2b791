package access

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Entry is a key as the portal tells of it.
type Entry struct {
	Hash       Hash
	OrgID      string
	ProjectID  string
	KeyPrefix  string
	Playground bool
	Voices     []string  // empty means every voice
	Origin     string    // the only web origin that may use the key; empty means any caller
	ExpiresAt  time.Time // zero for never
	Revoked    bool      // for ever
}

// RingConfig says how long a ring stands on its own.
type RingConfig struct {
	Grace time.Duration // how long known keys are good while the portal is away; 0 means 60 s
}

// Ring is a keyring that holds every key of the portal in memory, and is told of each change. It is safe for concurrent use.
//
// Looking up costs no more for an unknown key than for a known one, so that unknown ones need not be remembered. A ring begins without
// keys and with the portal away.
type Ring struct {
	grace time.Duration
	ready chan struct{} // closed by the first Back

	mu    sync.RWMutex
	keys  map[Hash]*held
	left  map[string]int64 // last use, as in held, of keys that are no longer held
	away  time.Time        // since when; zero while the portal is there
	began bool             // ready is closed
	moved chan struct{}    // closed when keys change; nil while nobody awaits that
}

// held is a key in a ring. Only used changes without the write lock.
type held struct {
	grant  Grant
	origin string
	until  time.Time // zero for never
	ended  chan struct{}
	expiry *time.Timer  // nil for never
	used   atomic.Int64 // microseconds since 1970; 0: not since the last drain
}

// NewRing returns an empty ring.
func NewRing(cfg RingConfig) *Ring {
	if cfg.Grace == 0 {
		cfg.Grace = time.Minute
	}
	return &Ring{
		grace: cfg.Grace, ready: make(chan struct{}), keys: make(map[Hash]*held), left: make(map[string]int64),
		away: time.Now().Add(-cfg.Grace),
	}
}

// Grant implements [Keyring]. It allocates nothing.
//
// A key that is bound to an origin is refused without the header Origin too: browsers send it with every POST and every WebSocket
// handshake, and what is no browser has no business with such a key.
func (r *Ring) Grant(_ context.Context, p Presented) (Grant, error) {
	if _, ok := Parse(p.Key); !ok {
		return Grant{}, ErrInvalidKey
	}
	// Only hashes are compared from here on. How long that takes tells about the hash of a guess, which nobody can steer.
	hash, now := HashOf(p.Key), time.Now()
	r.mu.RLock()
	defer r.mu.RUnlock()
	h, known := r.keys[hash]
	switch {
	case !r.away.IsZero() && (!known || now.Sub(r.away) >= r.grace):
		return Grant{}, ErrUnavailable
	case !known, h.expired(now), h.origin != "" && h.origin != p.Origin:
		return Grant{}, ErrInvalidKey
	}
	h.touch(now)
	return h.grant, nil
}

// Replace makes entries all there is. Keys that are not among them end.
func (r *Ring) Replace(entries []Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stay := make(map[Hash]bool, len(entries))
	for i := range entries {
		stay[entries[i].Hash] = true
	}
	for hash, h := range r.keys {
		if !stay[hash] {
			r.endLocked(hash, h)
		}
	}
	r.applyLocked(entries)
}

// Apply takes over what has changed, in the order of entries. It keeps their Voices.
func (r *Ring) Apply(entries []Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.applyLocked(entries)
}

// Away notes that the portal can no longer be heard. Known keys stay good for the grace from the first Away on; unknown ones may be new,
// so that nothing is said about them.
func (r *Ring) Away() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away.IsZero() {
		r.away = time.Now()
	}
}

// Back notes that the ring holds what the portal does.
func (r *Ring) Back() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = time.Time{}
	if !r.began {
		r.began = true
		close(r.ready)
	}
}

// Ready returns a channel that is closed when the ring has been filled for the first time.
func (r *Ring) Ready() <-chan struct{} { return r.ready }

// Await returns when done says so of the key of hash, which is asked now and after each change of the ring; the grant is empty for a key that
// is not held. It fails when ctx ends before, with its cause. It is for who has changed a key and wants to say so only when that is true
// here.
func (r *Ring) Await(ctx context.Context, hash Hash, done func(g Grant, held bool) bool) error {
	for {
		r.mu.Lock()
		var grant Grant
		h, held := r.keys[hash]
		if held {
			grant = h.grant
		}
		if r.moved == nil {
			r.moved = make(chan struct{})
		}
		moved := r.moved
		r.mu.Unlock()
		if done(grant, held) {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Size returns how many keys are held, and whether the portal is there.
func (r *Ring) Size() (keys int, current bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return len(r.keys), r.away.IsZero()
}

// Touched returns when keys were last used, by key id, since the last call. A time is early by up to a second: a key that is used all
// the time is noted once a second.
func (r *Ring) Touched() map[string]time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	used := make(map[string]time.Time)
	for id, at := range r.left {
		used[id] = time.UnixMicro(at).UTC()
	}
	clear(r.left)
	for _, h := range r.keys {
		if at := h.used.Swap(0); at != 0 {
			used[h.grant.KeyID] = time.UnixMicro(at).UTC()
		}
	}
	return used
}

func (r *Ring) applyLocked(entries []Entry) {
	now := time.Now()
	for i := range entries {
		e := &entries[i]
		h, known := r.keys[e.Hash]
		switch {
		case e.Revoked || !e.ExpiresAt.IsZero() && !now.Before(e.ExpiresAt):
			if known {
				r.endLocked(e.Hash, h)
			}
			continue
		case !known:
			h = &held{ended: make(chan struct{}), grant: Grant{KeyID: e.Hash.KeyID()}}
			r.keys[e.Hash] = h
		}
		h.origin = e.Origin
		h.grant = Grant{
			KeyID: h.grant.KeyID, KeyPrefix: e.KeyPrefix, OrgID: e.OrgID, ProjectID: e.ProjectID, Playground: e.Playground,
			Voices: e.Voices, Ended: h.ended,
		}
		if !h.until.Equal(e.ExpiresAt) {
			h.until = e.ExpiresAt
			r.expireLocked(e.Hash, h, now)
		}
	}
	r.movedLocked()
}

// expireLocked makes h end when its time has come, and at no other time.
func (r *Ring) expireLocked(hash Hash, h *held, now time.Time) {
	if h.expiry != nil {
		h.expiry.Stop()
		h.expiry = nil
	}
	if h.until.IsZero() {
		return
	}
	h.expiry = time.AfterFunc(h.until.Sub(now), func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		now := time.Now()
		switch {
		case r.keys[hash] != h: // it has ended in this moment
		case h.expired(now):
			r.endLocked(hash, h)
		default: // it was prolonged in this moment, or the clock was put back
			r.expireLocked(hash, h, now)
		}
	})
}

// endLocked forgets h and stops what runs on it.
func (r *Ring) endLocked(hash Hash, h *held) {
	delete(r.keys, hash)
	close(h.ended)
	if h.expiry != nil {
		h.expiry.Stop()
	}
	if at := h.used.Load(); at != 0 {
		r.left[h.grant.KeyID] = at
	}
	r.movedLocked()
}

func (r *Ring) movedLocked() {
	if r.moved != nil {
		close(r.moved)
		r.moved = nil
	}
}

func (h *held) expired(now time.Time) bool { return !h.until.IsZero() && !now.Before(h.until) }

// touch writes once a second at most, so that a busy key does not go back and forth between processors.
func (h *held) touch(now time.Time) {
	if at := now.UnixMicro(); at-h.used.Load() >= time.Second.Microseconds() {
		h.used.Store(at)
	}
}

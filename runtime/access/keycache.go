package access

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swar-tts/swar/runtime/lexicon"
	"github.com/swar-tts/swar/runtime/speech"
)

// Entry is a key as the portal sends it.
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

	Disclosure speech.Disclosure // of the key, else of its organisation
}

// PlaygroundLife is how long a key for the playground is good.
const PlaygroundLife = 2 * time.Hour

// KeyCacheConfig sets how long a cache is valid without the portal.
type KeyCacheConfig struct {
	Grace time.Duration // how long known keys are good while the portal is away; 0 means 60 s
}

// KeyCache is a keyring that holds every key of the portal in memory, and takes over each change. It is safe for
// concurrent use.
//
// Looking up costs no more for an unknown key than for a known one, so that unknown ones need not be remembered. A
// cache begins without keys and with the portal away.
type KeyCache struct {
	grace time.Duration
	now   func() time.Time // time.Now but in tests
	ready chan struct{}    // closed by the first Back, or by a good copy
	copy  *KeySnapshot     // nil without; set before the cache changes for the first time

	mu       sync.RWMutex
	keys     map[Hash]*cachedKey
	lexicons map[string]*lexicon.Lexicon // by project; those without entries are left out
	lastUses map[string]int64            // last use, as in cachedKey, of keys that are no longer held
	lostAt   time.Time                   // since when; zero while the portal is there
	began    bool                        // ready is closed
	changes  uint64                      // how often keys were made, changed or ended by the portal
}

// cachedKey is a key in a cache. Only used changes without the write lock.
type cachedKey struct {
	grant  Grant
	origin string
	until  time.Time // as the portal says; zero for never
	ends   time.Time // until, by the monotonic clock; zero for never
	ended  chan struct{}
	expiry *time.Timer  // nil for never
	used   atomic.Int64 // microseconds since 1970; 0: not since the last drain
}

// NewKeyCache returns an empty cache.
func NewKeyCache(cfg KeyCacheConfig) *KeyCache {
	if cfg.Grace == 0 {
		cfg.Grace = time.Minute
	}
	return &KeyCache{
		grace: cfg.Grace, now: time.Now, ready: make(chan struct{}), keys: make(map[Hash]*cachedKey),
		lexicons: make(map[string]*lexicon.Lexicon), lastUses: make(map[string]int64),
		lostAt: time.Now().Add(-cfg.Grace),
	}
}

// Grant implements [Keyring]. It allocates nothing.
//
// A key for an origin is refused without the header Origin, too: browsers send it with every POST and every WebSocket
// handshake, and other clients must not use such a key.
func (c *KeyCache) Grant(_ context.Context, creds Credentials) (Grant, error) {
	if _, ok := Parse(creds.Key); !ok {
		return Grant{}, ErrInvalidKey
	}
	// Only hashes are compared from here on. The time reveals only the hash of a guess, which an attacker cannot
	// choose.
	hash, now := HashOf(creds.Key), c.now()
	c.mu.RLock()
	defer c.mu.RUnlock()
	h, known := c.keys[hash]
	switch {
	case c.graceEndedLocked(now), !known && !c.lostAt.IsZero():
		return Grant{}, ErrUnavailable
	case !known, h.expired(now), h.origin != "" && h.origin != creds.Origin:
		return Grant{}, ErrInvalidKey
	}
	h.touch(now)
	grant := h.grant
	grant.Lexicon = c.lexicons[grant.ProjectID]
	return grant, nil
}

// Replace makes entries all there is. Keys that are not among them end.
func (c *KeyCache) Replace(entries []Entry) {
	c.change(func() (narrowed bool) { return c.replaceLocked(entries) })
}

// Apply takes over what has changed, in the order of entries. It keeps their Voices.
func (c *KeyCache) Apply(entries []Entry) {
	c.change(func() (narrowed bool) { return c.applyLocked(entries) })
}

// change lets do change the keys. If any key loses rights, a snapshot with the old rights is removed before change
// returns.
func (c *KeyCache) change(do func() (narrowed bool)) {
	c.mu.Lock()
	narrowed := do()
	c.mu.Unlock()
	if narrowed && c.copy != nil {
		c.copy.remove()
	}
}

func (c *KeyCache) replaceLocked(entries []Entry) (narrowed bool) {
	stay := make(map[Hash]bool, len(entries))
	for i := range entries {
		stay[entries[i].Hash] = true
	}
	for hash, h := range c.keys {
		if !stay[hash] {
			c.changes++
			c.endLocked(hash, h)
			narrowed = true
		}
	}
	return c.applyLocked(entries) || narrowed
}

// PortalLost records that the portal is unreachable. Known keys stay valid for the grace after the first Away; unknown
// ones may be new, so they get ErrUnavailable.
func (c *KeyCache) PortalLost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lostAt.IsZero() {
		c.lostAt = c.now()
	}
}

// PortalBack notes that the cache holds what the portal does.
func (c *KeyCache) PortalBack() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lostAt = time.Time{}
	c.beginLocked()
}

func (c *KeyCache) beginLocked() {
	if !c.began {
		c.began = true
		close(c.ready)
	}
}

// Ready returns a channel that is closed when the cache is filled for the first time. The keys came from the portal
// or a valid snapshot.
func (c *KeyCache) Ready() <-chan struct{} { return c.ready }

// Check returns [ErrUnavailable] while no key can be checked. The grace without the portal is over, or the cache was
// never filled.
func (c *KeyCache) Check() error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.graceEndedLocked(c.now()) {
		return ErrUnavailable
	}
	return nil
}

// graceEndedLocked reports whether the portal has been away for too long. It needs the read lock only.
func (c *KeyCache) graceEndedLocked(now time.Time) bool {
	return !c.lostAt.IsZero() && now.Sub(c.lostAt) >= c.grace
}

// Size returns how many keys are held, and whether the portal is there.
func (c *KeyCache) Size() (keys int, current bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.keys), c.lostAt.IsZero()
}

// LastUsed returns when keys were last used, by key id, since the last call. A time is early by up to a second: a key
// that is used all the time is noted once a second.
func (c *KeyCache) LastUsed() map[string]time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	used := make(map[string]time.Time)
	for id, at := range c.lastUses {
		used[id] = time.UnixMicro(at).UTC()
	}
	clear(c.lastUses)
	for _, h := range c.keys {
		if at := h.used.Swap(0); at != 0 {
			used[h.grant.KeyID] = time.UnixMicro(at).UTC()
		}
	}
	return used
}

// applyLocked reports whether a key that was known has ended or changed. What changes may allow less.
func (c *KeyCache) applyLocked(entries []Entry) (narrowed bool) {
	now := c.now()
	for i := range entries {
		e := &entries[i]
		h, known := c.keys[e.Hash]
		isOver := !e.ExpiresAt.IsZero() && !now.Before(e.ExpiresAt)
		if known && h.until.Equal(e.ExpiresAt) { // it ends when it would have, whatever the clock says now
			isOver = h.expired(now)
		}
		switch {
		case e.Revoked || isOver:
			if known {
				c.changes++
				c.endLocked(e.Hash, h)
				narrowed = true
			}
			continue
		case !known:
			h = &cachedKey{ended: make(chan struct{}), grant: Grant{KeyID: e.Hash.KeyID()}}
			c.keys[e.Hash] = h
		case h.entry(e.Hash).equal(e):
			continue
		default:
			narrowed = true
		}
		c.changes++
		h.origin = e.Origin
		h.grant = Grant{
			KeyID: h.grant.KeyID, KeyPrefix: e.KeyPrefix, OrgID: e.OrgID, ProjectID: e.ProjectID,
			Playground: e.Playground,
			Voices:     e.Voices, Disclosure: e.Disclosure, Ended: h.ended,
		}
		if !h.until.Equal(e.ExpiresAt) {
			h.until, h.ends = e.ExpiresAt, e.ends(now)
			c.expireLocked(e.Hash, h, now)
		}
	}
	return narrowed
}

// expireLocked makes h end when its time has come, and at no other time.
func (c *KeyCache) expireLocked(hash Hash, h *cachedKey, now time.Time) {
	if h.expiry != nil {
		h.expiry.Stop()
		h.expiry = nil
	}
	if h.ends.IsZero() {
		return
	}
	h.expiry = time.AfterFunc(h.ends.Sub(now), func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		now := c.now()
		switch {
		case c.keys[hash] != h: // it has ended in this moment
		case h.expired(now):
			c.endLocked(hash, h)
		default: // it was prolonged in this moment
			c.expireLocked(hash, h, now)
		}
	})
}

// endLocked forgets h and stops what runs on it.
func (c *KeyCache) endLocked(hash Hash, h *cachedKey) {
	delete(c.keys, hash)
	close(h.ended)
	if h.expiry != nil {
		h.expiry.Stop()
	}
	if at := h.used.Load(); at != 0 {
		c.lastUses[h.grant.KeyID] = at
	}
}

// entry is the portal's entry for h.
func (h *cachedKey) entry(hash Hash) Entry {
	return Entry{
		Hash: hash, OrgID: h.grant.OrgID, ProjectID: h.grant.ProjectID, KeyPrefix: h.grant.KeyPrefix,
		Playground: h.grant.Playground, Voices: h.grant.Voices, Origin: h.origin, ExpiresAt: h.until,
		Disclosure: h.grant.Disclosure,
	}
}

// equal reports whether e says the same as other.
func (e Entry) equal(other *Entry) bool {
	sameTenant := e.OrgID == other.OrgID && e.ProjectID == other.ProjectID
	sameKey := e.Hash == other.Hash && e.KeyPrefix == other.KeyPrefix && e.Playground == other.Playground
	sameLimits := e.Origin == other.Origin && e.ExpiresAt.Equal(other.ExpiresAt) && slices.Equal(e.Voices, other.Voices)
	return sameTenant && sameKey && sameLimits && e.Disclosure == other.Disclosure && e.Revoked == other.Revoked
}

// ends returns when a key that is learned of now ends. It has a monotonic reading: whoever sets the clock neither ends
// a key nor prolongs it. A key for the playground that was made while the portal's clock stood in the future lives no
// longer than any other.
func (e Entry) ends(now time.Time) time.Time {
	if e.ExpiresAt.IsZero() {
		return time.Time{}
	}
	left := e.ExpiresAt.Sub(now)
	if e.Playground {
		left = min(left, PlaygroundLife)
	}
	return now.Add(left)
}

func (h *cachedKey) expired(now time.Time) bool { return !h.ends.IsZero() && !now.Before(h.ends) }

// touch writes once a second at most, so that a busy key does not move between processors.
func (h *cachedKey) touch(now time.Time) {
	at, last := now.UnixMicro(), h.used.Load()
	if at-last >= time.Second.Microseconds() || at < last { // the clock was put back
		h.used.Store(at)
	}
}

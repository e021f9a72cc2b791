package synth

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache keeps prefills, the least recently used leaving first when their bytes exceed the budget. Values are shared
// between workers and must not be changed. It is safe for concurrent use.
//
// Where values have memory that must be given back, the cache owns them from Add on: see [NewOwningCache].
type Cache[V any] struct {
	free func(V) // nil where the collector does it

	mu     sync.Mutex
	lru    *simplelru.LRU[CacheKey, *cached[V]]
	bytes  int64
	budget int64
}

// CacheKey identifies a prefill: the same text sounds the same in the same voice, at the same speed.
type CacheKey struct {
	Voice, Text string
	Speed       float64 // the engine's own; 0 for one that has no other than 1
}

// cached is a value with what the cache knows of it, guarded by the cache's mutex.
type cached[V any] struct {
	value   V
	bytes   int64
	loans   int
	evicted bool // from the cache: the last one to return it frees it
}

// NewCache returns an empty cache that holds at most budget bytes. A budget of 0 or less caches nothing.
func NewCache[V any](budget int64) *Cache[V] { return NewOwningCache[V](budget, nil) }

// NewOwningCache is [NewCache] with a function that frees values. free is called once for every value, as soon as it
// has left the cache and is not borrowed. free must not call the cache.
func NewOwningCache[V any](budget int64, free func(V)) *Cache[V] {
	c := &Cache[V]{free: free, budget: budget}
	// The entry limit never binds: the byte budget does.
	lru, err := simplelru.NewLRU(1<<30, func(_ CacheKey, v *cached[V]) {
		c.bytes -= v.bytes
		v.evicted = true
		c.freeLocked(v)
	})
	if err != nil {
		panic(err) // only for a limit that is not positive
	}
	c.lru = lru
	return c
}

// freeLocked frees a value that neither the cache nor anybody else has any more.
func (c *Cache[V]) freeLocked(v *cached[V]) {
	if c.free != nil && v.evicted && v.loans == 0 {
		c.free(v.value)
	}
}

// Get returns the value of k and marks it as used. Values that are freed have to be borrowed instead.
func (c *Cache[V]) Get(k CacheKey) (V, bool) {
	l, ok := c.Borrow(k)
	if ok {
		l.Return()
	}
	return l.Value, ok
}

// Loan is a value that is not freed before it is returned.
type Loan[V any] struct {
	Value V

	cache *Cache[V]
	entry *cached[V]
}

// Return gives the value back. It must be called exactly once, and the value not be used afterwards.
func (l *Loan[V]) Return() {
	l.cache.mu.Lock()
	defer l.cache.mu.Unlock()
	l.entry.loans--
	l.cache.freeLocked(l.entry)
}

// Borrow lends the value of k and marks it as used.
func (c *Cache[V]) Borrow(k CacheKey) (l Loan[V], ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.borrowLocked(k)
}

func (c *Cache[V]) borrowLocked(k CacheKey) (l Loan[V], ok bool) {
	v, ok := c.lru.Get(k)
	if !ok {
		return l, false
	}
	v.loans++
	return Loan[V]{v.value, c, v}, true
}

// BorrowBest lends the value of a voice for which score is largest, and marks it as used. ok is false where score is
// above 0 for none.
func (c *Cache[V]) BorrowBest(voice string, score func(V) int) (l Loan[V], best int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var key CacheKey
	for _, k := range c.lru.Keys() {
		if k.Voice != voice {
			continue
		}
		if v, held := c.lru.Peek(k); held {
			if n := score(v.value); n > best {
				key, best = k, n
			}
		}
	}
	if best == 0 {
		return l, 0, false
	}
	l, ok = c.borrowLocked(key)
	return l, best, ok
}

// Add stores v, which takes the given number of bytes beside its key. A value larger than the whole budget is not
// stored.
func (c *Cache[V]) Add(k CacheKey, v V, bytes int64) {
	bytes += int64(len(k.Voice) + len(k.Text))
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes > c.budget {
		c.freeLocked(&cached[V]{value: v, evicted: true})
		return
	}
	c.lru.Remove(k) // so that the eviction callback subtracts the old size
	c.lru.Add(k, &cached[V]{value: v, bytes: bytes})
	c.bytes += bytes
	for c.bytes > c.budget {
		c.lru.RemoveOldest()
	}
}

// Clear empties the cache.
func (c *Cache[V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lru.Purge()
}

// Bytes returns how many bytes are held, at most the budget. What was borrowed before it left the cache no longer
// counts.
func (c *Cache[V]) Bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// Len returns the number of prefills held.
func (c *Cache[V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Len()
}

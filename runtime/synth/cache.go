package synth

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache keeps prefills, the least recently used leaving first when their bytes exceed the budget. Values are shared between
// workers and must not be changed. It is safe for concurrent use.
type Cache[V any] struct {
	mu     sync.Mutex
	lru    *simplelru.LRU[CacheKey, sized[V]]
	bytes  int64
	budget int64
}

// CacheKey identifies a prefill: the same text sounds the same in the same voice.
type CacheKey struct{ Voice, Text string }

type sized[V any] struct {
	value V
	bytes int64
}

// NewCache returns an empty cache that holds at most budget bytes. A budget of 0 or less caches nothing.
func NewCache[V any](budget int64) *Cache[V] {
	c := &Cache[V]{budget: budget}
	// The entry limit never binds: the byte budget does.
	lru, err := simplelru.NewLRU(1<<30, func(_ CacheKey, v sized[V]) { c.bytes -= v.bytes })
	if err != nil {
		panic(err) // only for a limit that is not positive
	}
	c.lru = lru
	return c
}

// Get returns the value of k and marks it as used.
func (c *Cache[V]) Get(k CacheKey) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.lru.Get(k)
	return v.value, ok
}

// Add stores v, which takes the given number of bytes beside its key. A value larger than the whole budget is not stored.
func (c *Cache[V]) Add(k CacheKey, v V, bytes int64) {
	bytes += int64(len(k.Voice) + len(k.Text))
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes > c.budget {
		return
	}
	c.lru.Remove(k) // so that the eviction callback subtracts the old size
	c.lru.Add(k, sized[V]{v, bytes})
	c.bytes += bytes
	for c.bytes > c.budget {
		c.lru.RemoveOldest()
	}
}

// Bytes returns how many bytes are held, at most the budget.
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

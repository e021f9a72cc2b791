package model

// What follows is for tests of the engine: they look at streams and slots, and run the scheduler without a model.

// NewFakeCache returns a cache without a model, in which step takes the place of a run. Its streams are those that
// [KVCache.Place] returns.
func NewFakeCache(slots int, step func(first, n int, members []*Stream) error) *KVCache {
	c := &KVCache{slots: make([]slot, slots), capacity: 100, stepRange: step}
	c.unlocked.L = &c.mu
	return c
}

// Place returns a stream that slot i is assigned to.
func (c *KVCache) Place(i int) *Stream {
	s := &Stream{cache: c, slot: i}
	c.slots[i].stream = s
	return s
}

// Warmed reports whether the first n slots were stepped together.
func (c *KVCache) Warmed(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.views[[2]int{0, n}]
	return ok
}

// Warmed reports whether so many frames were decoded at once by a graph.
func Warmed(d Decoder, frames int) bool {
	_, ok := d.(*graphDecoder).groups[frames]
	return ok
}

// InUse returns how many streams there are, and how many slots are assigned or locked.
func (m *Model) InUse() (streams, assigned, locked int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.caches {
		c.mu.Lock()
		streams += c.attached
		for _, slot := range c.slots {
			if slot.stream != nil {
				assigned++
			}
			if slot.locked {
				locked++
			}
		}
		c.mu.Unlock()
	}
	return streams, assigned, locked
}

// SetLength says how many positions are in use.
func (s *Stream) SetLength(positions int) {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	s.length = positions
}

// TokenRow returns the row of a token. Writing to it changes the model.
func (m *Model) TokenRow(id int32) []float32 {
	width := m.Manifest.Dims.Width
	return m.language.host.Embedding[int(id)*width : (int(id)+1)*width]
}

package onnx

import (
	"sync/atomic"

	"github.com/swar-tts/swar/runtime/synth"
)

// leastPrefix is how many tokens have to be known for a text to go on from another one: the first of all texts are
// often alike, and a row fewer saves hardly anything.
const leastPrefix = 4

// prefill is a text that was read.
type prefill struct {
	tokens   []int32
	snapshot any
}

func (p prefill) free() {
	if f, ok := p.snapshot.(freer); ok {
		f.Free()
	}
}

// common returns how many of the first tokens of another text are those of p. The last one of the other text never
// counts, because a run has to read two rows: that of a token and the start row.
func (p prefill) common(tokens []int32) (n int) {
	for most := min(len(p.tokens), len(tokens)-1); n < most && p.tokens[n] == tokens[n]; {
		n++
	}
	if n < leastPrefix {
		return 0
	}
	return n
}

// prefills is the prefill cache of an engine and what it has counted.
type prefills struct {
	cache  *synth.Cache[prefill]
	budget int64

	hits, misses       atomic.Uint64
	prefixes, prefixed atomic.Uint64 // misses that went on from another text, and the tokens that they did not read
}

func newPrefills(budget int64) *prefills {
	return &prefills{cache: synth.NewOwningCache(budget, prefill.free), budget: max(budget, 0)}
}

// restore brings s, which has begun with the voice, behind the text of key, and returns false if it was not read
// before.
func (c *prefills) restore(s sequence, key synth.CacheKey) (cached bool, err error) {
	l, ok := c.cache.Borrow(key)
	if !ok {
		c.misses.Add(1)
		return false, nil
	}
	defer l.Return()
	c.hits.Add(1)
	return true, s.Restore(l.Value.snapshot)
}

// restorePrefix brings s behind as many of the tokens as another text in the same voice begins with, and returns how
// many that are.
func (c *prefills) restorePrefix(s sequence, voice string, tokens []int32) (known int, err error) {
	p, ok := s.(prefixed)
	if !ok {
		return 0, nil
	}
	l, known, ok := c.cache.BorrowBest(voice, func(v prefill) int { return v.common(tokens) })
	if !ok {
		return 0, nil
	}
	defer l.Return()
	c.prefixes.Add(1)
	c.prefixed.Add(uint64(known))
	return known, p.RestorePrefix(l.Value.snapshot, known)
}

// save keeps what s has read.
func (c *prefills) save(s sequence, key synth.CacheKey, tokens []int32) {
	if c.budget == 0 {
		return
	}
	if snapshot, bytes := s.Save(); snapshot != nil {
		c.cache.Add(key, prefill{tokens, snapshot}, bytes+int64(4*len(tokens)))
	}
}

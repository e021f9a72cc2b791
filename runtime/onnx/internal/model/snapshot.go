package model

import (
	"fmt"
	"slices"
)

// Snapshot is the state of the language model after the text of a chunk. It has the positions after the voice prompt,
// and the last output. It is never changed, so that any stream of the same model may restore it until it is freed.
type Snapshot struct {
	positions int
	kv        []float32 // of each of the arrays of [KVCache] one after another: [heads, positions, head_dim]
	h         []float32
	eos       float32
	freePages func() error
}

// Save returns a [Snapshot] of the state after Prefill and its size in bytes. It is nil when the system has no memory
// for it. Call it before Step, and Free in the end.
//
// Keys and values lie in memory that the collector does not see: it would let garbage grow as large as a full prefill
// cache.
func (s *Stream) Save() (snapshot any, bytes int64) {
	p := &Snapshot{positions: s.length - s.text, h: slices.Clone(s.h), eos: s.eos[0]}
	size := p.positions * s.model.dims.Width
	var err error
	if p.kv, p.freePages, err = pages(len(s.cache.kv) * size); err != nil {
		return nil, 0
	}
	for i := range s.cache.kv {
		s.read(p.kv[i*size:(i+1)*size], i, s.text, p.positions)
	}
	return p, pageBytes(len(p.kv)) + int64(4*(len(p.h)+1))
}

// Free gives the memory back. Nobody may be restoring p.
func (p *Snapshot) Free() {
	p.kv = nil
	_ = p.freePages() // it fails only for what are no pages of ours
}

// Restore takes the place of Prefill.
func (s *Stream) Restore(saved any) error {
	p, ok := saved.(*Snapshot)
	if !ok {
		return fmt.Errorf("restoring a %T", saved)
	}
	if err := s.restore(p, p.positions); err != nil {
		return err
	}
	copy(s.h, p.h)
	s.eos[0] = p.eos
	return nil
}

// RestorePrefix takes the place of reading the first tokens of a text, which are those that p begins with. Prefill
// has to read the rest of the text, at least one token.
func (s *Stream) RestorePrefix(saved any, tokens int) error {
	p, ok := saved.(*Snapshot)
	if !ok {
		return fmt.Errorf("restoring a %T", saved)
	}
	if most := p.positions - 1; tokens > most { // the last one is the start row
		return fmt.Errorf("%d tokens of a text of %d", tokens, most)
	}
	return s.restore(p, tokens)
}

// restore puts the first positions of p behind what the stream has.
func (s *Stream) restore(p *Snapshot, positions int) error {
	if err := s.checkRoom(positions); err != nil {
		return err
	}
	if err := s.lock(); err != nil {
		return err
	}
	defer s.cache.unlock(s.slot)
	size := p.positions * s.model.dims.Width
	for i := range s.cache.kv {
		s.write(i, p.kv[i*size:(i+1)*size], p.positions, s.length, positions)
	}
	s.length += positions
	return nil
}

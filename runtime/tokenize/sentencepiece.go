package tokenize

import (
	"bytes"
	"fmt"
	"sync"
)

// SentencePiece is the tokenizer of a SentencePiece model, unigram or BPE.
//
// It gives the ids that SentencePiece itself gives, without beginning or end markers. Each byte of text that is not
// valid UTF-8 is read as one U+FFFD, as SentencePiece does. Working time is linear in the text for unigram and grows
// with n·log n for BPE, times at most the length of the longest piece, whatever the text is.
//
// A SentencePiece does not change and is safe for concurrent use.
type SentencePiece struct {
	pieces  []piece // by id
	ids     map[string]int32
	unknown int32
	bytes   *[256]int32 // ids of the byte pieces; nil without byte fallback

	byWord, eachUnknown bool // see model

	normal  normaliser
	segment segmenter
}

// segmenter cuts s.text into pieces, emits them from first to last, and returns the emitter.
type segmenter interface {
	segment(e emitter, s *scratch) emitter
}

// Load reads a .model file, or a tokenizer.json that was made of one. The file is not kept.
//
// It refuses, with an error that names the reason, files that are damaged and models that Encode could not follow to
// the letter: types other than unigram and BPE, white space as a suffix, and two pieces of one name; in a
// tokenizer.json also every step that SentencePiece does not have.
//
// Text gives the same ids whichever of the two files was loaded. The library that tokenizer.json comes from gives
// others in a few places, in which SentencePiece is followed: the name of a special token in text is text, rules of
// the character map are found wherever they begin, and only the space is white space.
func Load(file []byte) (*SentencePiece, error) {
	form, read := "sentencepiece model", readModel
	if IsJSON(file) {
		form, read = "tokenizer.json", readJSON
	}
	m, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", form, err)
	}
	t, err := build(m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", form, err)
	}
	return t, nil
}

// Encode adds the ids of text to dst and returns the extended slice.
func (t *SentencePiece) Encode(dst []int32, text string) []int32 {
	s := scratches.Get().(*scratch)
	defer s.release()
	return t.encode(dst, s, text)
}

// Count returns how many ids Encode gives for text.
func (t *SentencePiece) Count(text string) int {
	s := scratches.Get().(*scratch)
	defer s.release()
	s.ids = t.encode(s.ids[:0], s, text)
	return len(s.ids)
}

// Size returns the number of pieces; ids run from 0 to Size()-1.
func (t *SentencePiece) Size() int { return len(t.pieces) }

// Piece returns the text of the piece with this id, or "". U+2581 usually stands for a space in it.
func (t *SentencePiece) Piece(id int) string {
	if id < 0 || id >= len(t.pieces) {
		return ""
	}
	return t.pieces[id].text
}

// ID returns the id of the piece with exactly this text, and whether there is one.
func (t *SentencePiece) ID(piece string) (int, bool) {
	id, ok := t.ids[piece]
	return int(id), ok
}

func (t *SentencePiece) encode(dst []int32, s *scratch, text string) []int32 {
	s.text = t.normal.normalise(s.text[:0], text)
	return t.segment.segment(emitter{ids: dst, of: t}, s).ids
}

// emitter turns the pieces of a text, first to last, into ids.
type emitter struct {
	ids          []int32
	of           *SentencePiece
	afterUnknown bool
}

// emit adds the piece that stands for surface. What is unknown becomes its bytes, or else one id for the whole run.
func (e *emitter) emit(id int32, surface []byte) {
	unknown := id == e.of.unknown
	if e.afterUnknown && (e.of.eachUnknown || e.of.byWord && bytes.HasPrefix(surface, []byte(spaceMark))) {
		e.afterUnknown = false
	}
	switch {
	case unknown && e.of.bytes != nil:
		for _, b := range surface {
			e.ids = append(e.ids, e.of.bytes[b])
		}
	case !unknown || !e.afterUnknown:
		e.ids = append(e.ids, id)
	}
	e.afterUnknown = unknown
}

// scratch is what encoding one text needs beside its result.
type scratch struct {
	text   []byte // normalised
	ids    []int32
	path   []step
	best   []arrival
	marks  []symbol
	heap   []pair
	splits map[int32]int
}

var scratches = sync.Pool{New: func() any { return &scratch{splits: map[int32]int{}} }}

// release gives s back, unless a text of unusual length has made it so large that keeping it would waste memory.
func (s *scratch) release() {
	const largest = 1 << 16 // bytes of normalised text; five times the longest request
	if cap(s.text) <= largest {
		scratches.Put(s)
	}
}

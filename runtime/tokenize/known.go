package tokenize

// Knows reports whether normalised text is made of known pieces alone. No part of it is unknown or comes out as
// bytes. A model has heard how such text sounds; of what is unknown it only knows that it was there.
func (t *SentencePiece) Knows(text string) bool {
	s := scratches.Get().(*scratch)
	defer s.release()
	n := t.normal
	n.prefix = false // whether the mark before a word is a piece of its own says nothing about text
	s.text = n.normalise(s.text[:0], text)
	e := t.segment.segment(emitter{ids: s.ids[:0], of: t}, s)
	s.ids = e.ids
	for _, id := range s.ids {
		if kind := t.pieces[id].typ; kind == unknownPiece || kind == bytePiece {
			return false
		}
	}
	return true
}

// ByteFallback reports whether what is unknown comes out as bytes, not as the unknown piece.
func (t *SentencePiece) ByteFallback() bool { return t.bytes != nil }

package tokenize

import (
	"maps"
	"unicode/utf8"
)

// bpe cuts text into characters and joins neighbours for as long as there is a piece for both together: the highest
// score first, the leftmost of equals. With merges, these say which neighbours are joined, and when.
type bpe struct {
	of       *SentencePiece
	ordinary map[string]int32
	user     *trie // pieces that are never cut nor joined
	merges   map[neighbours]merge
	longest  int // bytes of the longest piece
}

func newBPE(t *SentencePiece, ordinary map[string]int32, user *trie, merges map[neighbours]merge) *bpe {
	maps.DeleteFunc(merges, func(_ neighbours, m merge) bool {
		_, inText := ordinary[t.pieces[m.id].text]
		return !inText
	})
	b := &bpe{of: t, ordinary: ordinary, user: user, merges: merges}
	for text := range ordinary {
		b.longest = max(b.longest, len(text))
	}
	return b
}

// symbol is a part of the text between two cuts. The symbols form a list in the order of the text.
type symbol struct {
	from, size int // size 0: joined to the one before
	prev, next int // -1 is none
	frozen     bool
	id         int32 // of the piece, with merges; -1 is none
}

// pair is two neighbours that a piece would join. It is stale when their size has changed since.
type pair struct {
	score             float32
	id                int32 // of the piece for both, with merges
	left, right, size int
}

func (p pair) before(q pair) bool { return p.score > q.score || p.score == q.score && p.left < q.left }

func (b *bpe) segment(e emitter, s *scratch) emitter {
	text := s.text
	if len(text) == 0 {
		return e
	}
	marks := s.marks[:0]
	for from := 0; from < len(text); {
		size := longest(b.user, text[from:])
		frozen := size > 0
		if !frozen {
			_, size = utf8.DecodeRune(text[from:])
		}
		i := len(marks)
		marks = append(marks, symbol{from, size, i - 1, i + 1, frozen, b.pieceOf(text[from:][:size])})
		from += size
	}
	marks[len(marks)-1].next = -1
	s.marks, s.heap = marks, s.heap[:0]
	clear(s.splits)

	for i := range marks[1:] {
		b.offer(s, i, i+1)
	}
	for len(s.heap) > 0 {
		p := s.pop()
		l, r := &marks[p.left], &marks[p.right]
		if l.size == 0 || r.size == 0 || l.size+r.size != p.size {
			continue
		}
		l.size, l.next, l.id, r.size = p.size, r.next, p.id, 0
		if l.next >= 0 {
			marks[l.next].prev = p.left
			b.offer(s, p.left, l.next)
		}
		if l.prev >= 0 {
			b.offer(s, l.prev, p.left)
		}
	}
	for i := 0; i >= 0; i = marks[i].next {
		b.emit(&e, s, text[marks[i].from:][:marks[i].size])
	}
	return e
}

// pieceOf returns the id of a character where merges need it.
func (b *bpe) pieceOf(character []byte) int32 {
	if b.merges != nil {
		if id, ok := b.ordinary[string(character)]; ok {
			return id
		}
	}
	return -1
}

// offer puts the neighbours left and right up for joining, if there is a piece for them.
func (b *bpe) offer(s *scratch, left, right int) {
	l, r := &s.marks[left], &s.marks[right]
	size := l.size + r.size
	if l.frozen || r.frozen || size > b.longest {
		return
	}
	if b.merges != nil {
		if m, ok := b.merges[neighbours{l.id, r.id}]; ok {
			s.push(pair{m.score, m.id, left, right, size})
		}
		return
	}
	id, ok := b.ordinary[string(s.text[l.from:][:size])]
	if !ok {
		return
	}
	s.push(pair{b.of.pieces[id].score, id, left, right, size})
	if b.of.pieces[id].typ == unusedPiece {
		s.splits[id] = l.size
	}
}

// emit adds the id of surface. An unused piece helps to join but is not for the result: it is cut again where it was
// last joined.
func (b *bpe) emit(e *emitter, s *scratch, surface []byte) {
	id, ok := b.ordinary[string(surface)]
	if !ok { // also a control piece of one character, for which SentencePiece has no answer but an error
		e.emit(b.of.unknown, surface)
		return
	}
	if b.of.pieces[id].typ == unusedPiece {
		if cut, ok := s.splits[id]; ok {
			b.emit(e, s, surface[:cut])
			b.emit(e, s, surface[cut:])
			return
		}
	}
	e.emit(id, surface)
}

// push and pop keep s.heap a binary heap. container/heap would allocate for every pair.
func (s *scratch) push(p pair) {
	s.heap = append(s.heap, p)
	h, i := s.heap, len(s.heap)-1
	for i > 0 {
		parent := (i - 1) / 2
		if !p.before(h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = p
}

func (s *scratch) pop() pair {
	h := s.heap
	top, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	for i := 0; len(h) > 0; {
		child := 2*i + 1
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if child >= len(h) || !h[child].before(last) {
			h[i] = last
			break
		}
		h[i] = h[child]
		i = child
	}
	s.heap = h
	return top
}

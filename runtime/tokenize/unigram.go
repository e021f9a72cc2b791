package tokenize

import (
	"errors"
	"math"
	"unicode/utf8"
)

// unigram cuts text into the pieces with the highest sum of scores (Viterbi).
type unigram struct {
	pieces  []piece
	trie    *trie
	unknown int32
	penalty float32 // score of a character without a piece
	highest float32 // score of the best piece, at least the smallest positive number
}

func newUnigram(t *SentencePiece, ordinary map[string]int32) (*unigram, error) {
	const belowLowest = 10
	lowest, highest, found := float32(math.MaxFloat32), float32(smallestNormal), false
	for _, p := range t.pieces {
		if p.typ == normalPiece {
			lowest, highest, found = min(lowest, p.score), max(highest, p.score), true
		}
	}
	if !found {
		return nil, errors.New("no normal piece")
	}
	return &unigram{
		pieces:  t.pieces,
		trie:    prefixes(t.pieces, ordinary, func(p piece) bool { return p.typ != unusedPiece }),
		unknown: t.unknown,
		penalty: lowest - belowLowest,
		highest: highest,
	}, nil
}

// smallestNormal is where SentencePiece begins to look for the highest score. Real scores are negative, so that it is
// nearly always also the result, and user-defined pieces score -0.1.
const smallestNormal = 0x1p-126

// arrival is the best way to a place in the text: through the piece id, which begins at from.
type arrival struct {
	score float32
	id    int32
	from  int // -1 is not reached yet
}

// step is one piece of a finished path.
type step struct {
	id       int32
	from, to int
}

func (u *unigram) segment(e emitter, s *scratch) emitter {
	text := s.text
	s.best = append(s.best[:0], arrival{})
	for range text {
		s.best = append(s.best, arrival{from: -1})
	}
	best, path := s.best, s.path[:0]
	for from := 0; from < len(text); {
		_, width := utf8.DecodeRune(text[from:])
		till, single := best[from].score, false
		node := int32(0)
		for to := from; to < len(text); {
			if node = u.trie.child(node, text[to]); node == 0 {
				break
			}
			to++
			id := u.trie.nodes[node].id
			if id < 0 {
				continue
			}
			// The sum is compared in float64 and kept in float32. Both decide ties, and only this way they fall as in
			// SentencePiece.
			score := float64(u.pieces[id].score)
			if u.pieces[id].typ == userPiece {
				score = float64(float32(to-from)*u.highest) - 0.1
			}
			score += float64(till)
			if b := &best[to]; b.from < 0 || score > float64(b.score) {
				*b = arrival{float32(score), id, from}
			}
			single = single || to-from == width
		}
		if !single {
			score := u.penalty + till
			if b := &best[from+width]; b.from < 0 || score > b.score {
				*b = arrival{score, u.unknown, from}
			}
		}
		from += width
	}
	for to := len(text); to > 0; to = best[to].from {
		path = append(path, step{best[to].id, best[to].from, to})
	}
	for i := len(path) - 1; i >= 0; i-- {
		e.emit(path[i].id, text[path[i].from:path[i].to])
	}
	s.path = path
	return e
}

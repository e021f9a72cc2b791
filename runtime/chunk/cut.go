package chunk

import (
	"cmp"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// rank says how well text can be cut at a place: the lower, the better.
type rank int

const (
	afterSentence rank = iota
	afterClause        // ; : dash bracket
	afterComma
	beforeConjunction
	atSpace

	// From here on only where there is nothing else.

	beforeMark // at a space before a lone mark, which belongs to the word before it
	inGroups   // after a comma between number words or spelled letters: a phone number or code, read in groups
	inNumber   // at a space between number words or spelled letters, or before a unit: read in one go, up to the comma
	inWord
	inConjunct // between a virama and its consonant
)

// place is where text may be cut: the left part ends at end, the right one begins at next.
type place struct {
	end, next int
	rank      rank
	words     int // heard before it, from the start of the text that is cut
}

// cut splits a sentence of more than limit tokens into parts that fit. Its own tokens are known.
func (s *splitter) cut(sentence span) []span {
	places := s.places(sentence)
	total := places[len(places)-1].words
	words := 0 // before start
	var parts []span
	for start := sentence.start; len(places) > 0; {
		n, tokens := s.prefix(start, len(places), func(k int) int { return places[k-1].end }, s.plenty())
		if n == 0 && places[0].rank < inWord {
			if inside := s.inside(start, places[0], words); len(inside) > 0 {
				places = append(inside, places...)
				continue
			}
		}
		best := max(n-1, 0)
		switch {
		case n == 0: // a grapheme that exceeds the limit
			tokens = s.measure(start, places[0].end)
		case n < len(places):
			left := float64(sentence.tokens) * float64(sentence.end-start) / float64(sentence.end-sentence.start)
			number := max(2, int(left)/s.limit+1)
			best = choose(places[:n], start, start+(sentence.end-start)/number, words, total)
			if best < n-1 {
				counted := s.measure(start, places[best].end)
				if counted > s.limit { // although it is shorter than what fits
					best, counted = n-1, tokens
				}
				tokens = counted
			}
		}
		p := places[best]
		parts = append(parts, span{start, p.end, tokens})
		start, words, places = p.next, p.words, places[best+1:]
	}
	return parts
}

// choose returns the best of the places, of which there is at least one. The part begins at start with so many words
// before it, and would best end at ideal.
func choose(places []place, start, ideal, words, total int) int {
	early := start + (ideal-start)/2
	// compare looks at what spoils a place most first: a forced cut, then a stranded word or two, then a part that is
	// too small.
	compare := func(a, b place) int {
		stranded := func(p place) int { return flag(p.words-words < minWords || total-p.words < minWords) }
		return cmp.Or(
			cmp.Compare(max(a.rank, atSpace), max(b.rank, atSpace)),
			cmp.Compare(stranded(a), stranded(b)),
			cmp.Compare(flag(a.end < early), flag(b.end < early)),
			cmp.Compare(a.rank, b.rank),
			cmp.Compare(max(a.end-ideal, ideal-a.end), max(b.end-ideal, ideal-b.end)),
		)
	}
	best := 0
	for i := range places {
		if compare(places[i], places[best]) < 0 {
			best = i
		}
	}
	return best
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// places returns where the piece may be cut, from left to right: at its white space, and after a comma or the like
// that has none after it. The last one is the end of the piece.
func (s *splitter) places(piece span) []place {
	var places []place
	starts := s.starts[sort.SearchInts(s.starts, piece.start+1):sort.SearchInts(s.starts, piece.end)] // but the first
	words, from := 0, piece.start
	add := func(end, next int) {
		if !silent(s.text[from:end]) {
			words++
		}
		p := place{end, next, afterSentence, words}
		if next < piece.end && (len(starts) == 0 || starts[0] != next) {
			p.rank = s.rank(from, end, next)
		}
		places = append(places, p)
		from = next
	}
	for i := piece.start; i < piece.end; {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		end := i + size
		next := end
		isPlace := false
		switch {
		case unicode.IsSpace(r):
			end = i
			next = piece.end - len(strings.TrimLeftFunc(s.text[i:piece.end], unicode.IsSpace))
			isPlace = between(s.text, next)
		case strings.ContainsRune(",;:–—)]}", r):
			after, _ := utf8.DecodeRuneInString(s.text[end:])
			isPlace = unicode.IsLetter(after) && between(s.text, end)
		}
		for len(starts) > 0 && starts[0] < next {
			starts = starts[1:]
		}
		if isPlace || len(starts) > 0 && starts[0] == next {
			add(end, next)
		}
		i = next
	}
	add(piece.end, piece.end)
	return places
}

// rank tells how well a sentence can be cut between the word from..end and the one at next.
func (s *splitter) rank(from, end, next int) rank {
	const quotes = `"'”’»“‘«`
	before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s.text[:end], quotes))
	after, _ := utf8.DecodeRuneInString(strings.TrimLeft(s.text[next:], quotes))
	right := s.text[next:]
	if i := strings.IndexFunc(right, func(r rune) bool { return unicode.IsSpace(r) || r == ',' }); i > 0 {
		right = right[:i]
	}
	switch {
	case silent(right):
		return beforeMark
	case strings.ContainsRune(";:–—-)]}", before), strings.ContainsRune("([{–—", after):
		return afterClause
	}
	left := strings.TrimFunc(s.text[from:end], unicode.IsPunct)
	right = strings.TrimFunc(right, unicode.IsPunct)
	isInNumber := spelled(left) && spelled(right)
	switch {
	case before == ',' && isInNumber:
		return inGroups
	case before == ',':
		return afterComma
	case conjunction(right):
		return beforeConjunction
	case isInNumber, spelled(left) && measured(right), measured(left) && spelled(right):
		return inNumber
	}
	return atSpace
}

const (
	virama  = '\u094d'
	joiners = "\u200c\u200d"
)

// plenty is how many tokens fill a part well enough: cuts are best near the middle, so that the last places that fit
// hardly matter.
func (s *splitter) plenty() int { return s.limit - s.limit/8 }

// inside returns the places inside the word from start to p, which is too long: between its graphemes.
func (s *splitter) inside(start int, p place, words int) []place {
	var places []place
	from := start
	for rest, state := s.text[start:p.end], -1; ; {
		var grapheme string
		grapheme, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if rest == "" {
			return places
		}
		end := p.end - len(rest)
		if end <= from {
			continue
		}
		next, _ := trim(s.text, end, p.end) // a space that carries a mark is the one kind of space that a word has
		inside := place{end, next, inWord, words}
		if last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(grapheme, joiners)); last == virama {
			inside.rank = inConjunct
		}
		places = append(places, inside)
		from = next
	}
}

package chunk

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// rank says how well a sentence can be cut at a place: the lower, the better.
type rank int

const (
	afterClause rank = iota // ; : dash bracket
	afterComma
	beforeConjunction
	atSpace
)

// place is where a sentence may be cut: the left part ends at end, the right one begins at next.
type place struct {
	end, next int
	rank      rank
}

// cut splits a sentence of more than limit tokens.
func (s *splitter) cut(sentence unit) []unit {
	places := s.places(sentence)
	left := sentence.tokens // estimate of what is still to be cut: joints may cost a token
	var parts []unit
	for start := sentence.start; start < sentence.end; {
		rest := unit{start, sentence.end, left}
		if left <= s.limit {
			if rest = s.unit(start, sentence.end); rest.tokens <= s.limit {
				return append(parts, rest)
			}
			left = rest.tokens
		}
		part, next, used := s.first(rest, places)
		parts = append(parts, part)
		left = max(left-part.tokens, 1)
		start, places = next, places[used:]
	}
	return parts
}

// first cuts the first part off rest. It returns where the next one begins and how many places lie before that.
func (s *splitter) first(rest unit, places []place) (part unit, next, used int) {
	fitting := s.fitting(rest.start, places)
	if fitting == 0 {
		return s.breakWord(rest, places)
	}
	number := (rest.tokens + s.limit - 1) / s.limit
	ideal := rest.start + (rest.end-rest.start)/max(number, 2)
	best := choose(places[:fitting], rest.start, ideal)
	p := places[best]
	return s.unit(rest.start, p.end), p.next, best + 1
}

// fitting returns how many of the places leave a left part of at most limit tokens. It gallops, so that it never counts much more text
// than fits.
func (s *splitter) fitting(start int, places []place) int {
	fits := func(i int) bool { return s.count(s.text[start:places[i].end]) <= s.limit }
	high := 8
	for high < len(places) && fits(high) {
		high *= 2
	}
	low := high / 2
	if high == 8 {
		low = 0
	}
	high = min(high, len(places))
	return low + sort.Search(high-low, func(i int) bool { return !fits(low + i) })
}

// choose picks the place of the best rank that lies in the second half of what may be taken, the nearest to ideal.
func choose(places []place, start, ideal int) int {
	earliest := start + (ideal-start)/2
	best := -1
	for i, p := range places {
		if p.end < earliest && i < len(places)-1 {
			continue
		}
		if best < 0 || p.rank < places[best].rank || p.rank == places[best].rank && distance(p.end, ideal) < distance(places[best].end, ideal) {
			best = i
		}
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }

// breakWord cuts inside the first word, which alone exceeds the limit: between graphemes, and at least after one.
func (s *splitter) breakWord(rest unit, places []place) (part unit, next, used int) {
	end := rest.end
	if len(places) > 0 {
		end, next, used = places[0].end, places[0].next, 1
	}
	var ends []int
	for word, state, at := s.text[rest.start:end], -1, rest.start; word != ""; {
		var grapheme string
		grapheme, word, _, state = uniseg.FirstGraphemeClusterInString(word, state)
		at += len(grapheme)
		ends = append(ends, at)
		if len(ends) > 8 && len(ends)&(len(ends)-1) == 0 && s.count(s.text[rest.start:at]) > s.limit {
			break
		}
	}
	n := sort.Search(len(ends), func(i int) bool { return s.count(s.text[rest.start:ends[i]]) > s.limit })
	at := ends[max(n-1, 0)]
	if at == end && used == 1 {
		return s.unit(rest.start, at), next, used
	}
	return s.unit(rest.start, at), at, 0
}

// places returns where the sentence may be cut, from left to right: at its white space.
func (s *splitter) places(sentence unit) []place {
	var places []place
	for i := sentence.start; i < sentence.end; {
		space := strings.IndexFunc(s.text[i:sentence.end], unicode.IsSpace)
		if space < 0 {
			break
		}
		end := i + space
		next, _ := trim(s.text, end, sentence.end)
		places = append(places, place{end, next, s.rank(end, next)})
		i = next
	}
	return places
}

func (s *splitter) rank(end, next int) rank {
	before, _ := utf8.DecodeLastRuneInString(s.text[:end])
	after, _ := utf8.DecodeRuneInString(s.text[next:])
	switch {
	case strings.ContainsRune(";:–—-)]}", before), strings.ContainsRune("–—-([{", after):
		return afterClause
	case before == ',':
		return afterComma
	}
	word := s.text[next:]
	if i := strings.IndexFunc(word, unicode.IsSpace); i >= 0 {
		word = word[:i]
	}
	if conjunctions[word] {
		return beforeConjunction
	}
	return atSpace
}

var conjunctions = map[string]bool{
	"और": true, "लेकिन": true, "मगर": true, "या": true, "तथा": true, "एवं": true, "क्योंकि": true, "इसलिए": true, "ताकि": true, "जबकि": true, "तो": true, "कि": true,
	"aur": true, "lekin": true, "magar": true, "ya": true, "kyunki": true, "isliye": true, "taaki": true, "jabki": true, "toh": true,
	"and": true, "but": true, "or": true, "because": true, "so": true, "while": true, "which": true,
}

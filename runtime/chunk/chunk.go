// Package chunk splits spoken text into the pieces that are synthesised one after another.
//
// Every chunk is decoded for itself, so a cut is heard as a pause: cuts are made where a reader would pause, and the
// text should be normalised before, so that few full stops are left that do not end a sentence.
package chunk

import (
	"math"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/speech"
)

// Split splits text into chunks of at most limit tokens. count counts the tokens of a text; limit is at least 1.
//
// Sentences stay whole where they fit, and neighbours share a chunk as long as they fit. A longer sentence is cut
// into parts of similar length: after ; : a dash or bracket, else after a comma, else before a conjunction, else at a
// space, else at a comma between number words or spelled letters (a phone number is read in groups), else at a space
// between them or before their unit, else between two graphemes. A chunk of one or two words is avoided where its
// neighbour can spare some, and so is one without any letter or digit. Only a single grapheme may exceed the limit;
// it then stands alone.
//
// The text of a chunk is a substring of text without white space around it; every other character of text is in
// exactly one chunk. Nothing is assumed about count but that, by and large, more text has more tokens. It may be
// expensive: it is called a handful of times for each chunk, on pieces of about that length.
func Split(text string, limit int, count func(string) int) []speech.Chunk {
	return split(text, limit, count, math.MaxInt)
}

// split is Split that may stop after enough chunks. The last of them may be another one than in the whole, then.
func split(text string, limit int, count func(string) int, enough int) []speech.Chunk {
	s := splitter{text: text, limit: max(limit, 1), count: count, perByte: 0.2}
	sentences := s.sentences()
	for _, sentence := range sentences {
		s.starts = append(s.starts, sentence.start)
	}
	pieces := s.pack(sentences, enough)
	s.mend(pieces)
	return s.chunks(pieces)
}

// Sentences is Split for engines that make no pause between sentences of one chunk. Each sentence is a chunk, but
// sentences of one or two words join the next one, or the previous one at the end. There are more chunks, therefore.
func Sentences(text string, limit int, count func(string) int) []speech.Chunk {
	s := splitter{text: text, limit: max(limit, 1), count: count, perByte: 0.2}
	var groups [][]span
	words := minWords // of the last group
	for _, sentence := range s.sentences() {
		s.starts = append(s.starts, sentence.start)
		if words >= minWords {
			groups, words = append(groups, nil), 0
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], sentence)
		words += s.words(sentence)
	}
	if last := len(groups) - 1; last > 0 && words < minWords {
		groups[last-1] = append(groups[last-1], groups[last]...)
		groups = groups[:last]
	}
	var pieces []span
	for _, group := range groups {
		pieces = append(pieces, s.pack(group, math.MaxInt)...)
	}
	s.mend(pieces)
	return s.chunks(pieces)
}

// Growing is Split for a model whose first sample waits for the whole chunk. The first chunk has at most lead tokens,
// and none has more than all before it together, or lead where that is more. So no chunk takes long to prepare beside
// what is heard meanwhile, and a long text has few chunks.
func Growing(text string, lead, limit int, count func(string) int) []speech.Chunk {
	var all []speech.Chunk
	tokens, chars := 0, 0 // before rest
	for rest := text; ; {
		most := min(max(lead, tokens), limit)
		enough := math.MaxInt
		if most < limit {
			enough = 2 // the first is right then
		}
		chunks := split(rest, most, count, enough)
		if len(chunks) == 0 {
			return all
		}
		if most < limit {
			chunks = chunks[:1]
		}
		for _, c := range chunks {
			c.Index, c.CharStart, c.CharEnd = len(all), chars+c.CharStart, chars+c.CharEnd
			all = append(all, c)
			tokens += c.Tokens
		}
		if most == limit {
			return all
		}
		end := strings.Index(rest, chunks[0].Text) + len(chunks[0].Text)
		chars += utf8.RuneCountInString(rest[:end])
		rest = rest[end:]
	}
}

type splitter struct {
	text    string
	limit   int
	count   func(string) int
	starts  []int   // where sentences begin
	perByte float64 // tokens, as last counted: where to look first
}

// span is a piece of the text, in bytes, without white space around it.
type span struct {
	start, end int
	tokens     int // or unknown
}

const unknown = -1

func (s *splitter) measure(start, end int) int {
	tokens := s.count(s.text[start:end])
	if tokens > 0 && end > start {
		s.perByte = float64(tokens) / float64(end-start)
	}
	return tokens
}

// prefix returns how many of the n pieces that begin at start and end at end(1) to end(n) fit into a chunk, and the
// tokens of so many. It is content with fewer that have enough tokens.
//
// It looks where the limit should be by the last count, which is nearly always right after two or three, and halves
// the rest.
func (s *splitter) prefix(start, n int, end func(k int) int, enough int) (fit, tokens int) {
	low, high := 0, n+1
	for tries := 0; high-low > 1 && tokens < enough; tries++ {
		k := min(low+(high-low)/2, 2*low+1) // doubled at most, so that little is counted in vain
		if tries < 4 {
			full := start + int(float64(s.limit)/s.perByte)
			k = sort.Search(n, func(i int) bool { return end(i+1) > full })
		}
		k = min(max(k, low+1), high-1)
		if counted := s.measure(start, end(k)); counted <= s.limit {
			low, tokens = k, counted
		} else {
			high = k
		}
	}
	return low, tokens
}

// pack lets neighbours share a chunk as long as they fit, and cuts what alone does not. It stops after enough chunks.
func (s *splitter) pack(units []span, enough int) []span {
	var packed []span
	for len(units) > 0 && len(packed) < enough {
		n, tokens := 1, units[0].tokens
		if !s.tooLargeToJoin(units) {
			n, tokens = s.prefix(units[0].start, len(units), func(k int) int { return units[k-1].end }, s.limit)
		}
		if n < len(units) && units[n].tokens == unknown {
			next := &units[n]
			if next.tokens = s.measure(next.start, next.end); next.tokens > s.limit {
				// Its first part may still fit in here.
				parts := s.cut(*next)
				units = append(append(units[:n:n], parts...), units[n+1:]...)
				continue
			}
		}
		if n == 0 { // a grapheme that exceeds the limit
			n, tokens = 1, units[0].tokens
		}
		packed = append(packed, span{units[0].start, units[n-1].end, tokens})
		units = units[n:]
	}
	return packed
}

// tooLargeToJoin reports whether the first two units, parts of a sentence, are so large that counting them together
// is a waste.
func (s *splitter) tooLargeToJoin(units []span) bool {
	return len(units) > 1 && units[0].tokens != unknown && units[1].tokens != unknown &&
		units[0].tokens+units[1].tokens > s.limit+s.limit/4
}

// minWords is the length below which a chunk sounds clipped.
const minWords = 3

// mend moves text between neighbours, so that no chunk has less than minWords words or none at all, where that is
// possible.
func (s *splitter) mend(pieces []span) {
	for i := range pieces {
		n := s.words(pieces[i])
		if n >= minWords {
			continue
		}
		if !s.lengthen(pieces, i, minWords) && n == 0 {
			s.lengthen(pieces, i, 1)
		}
	}
}

// lengthen shares words between piece i and a neighbour, rather the one before it, so that both have at least so many,
// and reports whether that was possible.
func (s *splitter) lengthen(pieces []span, i, words int) bool {
	return i > 0 && s.moveBoundary(&pieces[i-1], &pieces[i], words) ||
		i+1 < len(pieces) && s.moveBoundary(&pieces[i], &pieces[i+1], words)
}

// moveBoundary moves the boundary of two neighbours to a better place that leaves both at least so many words, and
// reports whether there is one. A boundary between sentences moves into a sentence only to where a reader would
// pause.
func (s *splitter) moveBoundary(a, b *span, words int) bool {
	if s.words(*a)+s.words(*b) < 2*words {
		return false
	}
	both := span{start: a.start, end: b.end}
	places := s.places(both)
	total := places[len(places)-1].words
	worst := atSpace
	switch at := sort.SearchInts(s.starts, b.start); {
	case words < minWords:
		worst = inNumber
	case at < len(s.starts) && s.starts[at] == b.start:
		worst = beforeConjunction
	}
	n, _ := s.prefix(both.start, len(places)-1, func(k int) int { return places[k-1].end }, s.plenty())
	first := sort.Search(n, func(i int) bool { return places[i].words >= words })
	last := sort.Search(n, func(i int) bool { return total-places[i].words < words })
	if first >= last {
		return false
	}
	places = places[first:last]
	p := places[choose(places, both.start, both.start+(both.end-both.start)/2, 0, total)]
	if p.rank > worst {
		return false
	}
	left, right := span{both.start, p.end, unknown}, span{p.next, both.end, unknown}
	left.tokens = s.measure(left.start, left.end)
	right.tokens = s.measure(right.start, right.end)
	if left.tokens > s.limit || right.tokens > s.limit {
		return false
	}
	*a, *b = left, right
	return true
}

// words counts the words that are heard, up to what two chunks need.
func (s *splitter) words(p span) int {
	n := 0
	for word := range strings.FieldsSeq(s.text[p.start:p.end]) {
		if !silent(word) {
			n++
		}
		if n == 2*minWords {
			break
		}
	}
	return n
}

func (s *splitter) chunks(pieces []span) []speech.Chunk {
	chunks := make([]speech.Chunk, 0, len(pieces))
	pos, chars := 0, 0
	advance := func(to int) int {
		chars += utf8.RuneCountInString(s.text[pos:to])
		pos = to
		return chars
	}
	for i, p := range pieces {
		chunks = append(chunks, speech.Chunk{
			Index: i, Text: s.text[p.start:p.end], Tokens: p.tokens, CharStart: advance(p.start),
			CharEnd: advance(p.end),
		})
	}
	return chunks
}

// silent reports whether text has neither a letter nor a digit.
func silent(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

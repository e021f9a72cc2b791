// Package chunk splits spoken text into the pieces that are synthesised one after another.
//
// Every chunk is decoded for itself, so a cut is heard as a pause: cuts are made where a reader would pause, and the text must be
// normalised before, so that no decimal point or abbreviation looks like the end of a sentence.
package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/speech"
)

// Split splits text into chunks of at most limit tokens, as count counts the text of a chunk. Sentences stay whole where they fit,
// and short ones share a chunk. A longer sentence is cut after ; : dash or bracket, else after a comma, else before a conjunction,
// else at a space, else between two graphemes, in parts of similar length. A single grapheme that exceeds limit stands alone.
//
// Every character of text except white space is in exactly one chunk, in order. count is called a few times for each chunk.
func Split(text string, limit int, count func(string) int) []speech.Chunk {
	s := splitter{text: text, limit: limit, count: count}
	var units []unit
	for _, sentence := range sentences(text) {
		units = append(units, s.fit(sentence)...)
	}
	return s.chunks(s.balance(s.pack(units)))
}

// unit is a part of the text, in byte offsets and without white space around it, that is not cut any further.
type unit struct {
	start, end int
	tokens     int
}

type splitter struct {
	text  string
	limit int
	count func(string) int
}

func (s *splitter) unit(start, end int) unit {
	return unit{start, end, s.count(s.text[start:end])}
}

// fit returns the sentence whole, or its parts if it is too long.
func (s *splitter) fit(sentence unit) []unit {
	sentence.tokens = s.count(s.text[sentence.start:sentence.end])
	if sentence.tokens <= s.limit {
		return []unit{sentence}
	}
	return s.cut(sentence)
}

// group is a chunk in the making: units that are spoken together.
type group []unit

func (g group) start() int { return g[0].start }
func (g group) end() int   { return g[len(g)-1].end }

// pack lets neighbours share a chunk as long as they fit.
func (s *splitter) pack(units []unit) []group {
	var groups []group
	tokens := 0 // of the last group, or a little more
	for _, u := range units {
		if n := len(groups) - 1; n >= 0 {
			// A joint costs at most a token, so text is counted only near the limit.
			joined := tokens + u.tokens + 1
			if joined > s.limit && tokens+u.tokens <= 2*s.limit {
				joined = s.count(s.text[groups[n].start():u.end])
			}
			if joined <= s.limit {
				groups[n] = append(groups[n], u)
				tokens = joined
				continue
			}
		}
		groups = append(groups, group{u})
		tokens = u.tokens
	}
	return groups
}

// minWords is the length below which a chunk sounds clipped.
const minWords = 3

// balance gives a chunk of one or two words the last sentence of the chunk before it, where that fits and leaves enough behind.
func (s *splitter) balance(groups []group) []group {
	for i := 1; i < len(groups); i++ {
		before, g := groups[i-1], groups[i]
		if len(before) < 2 || words(s.text[g.start():g.end()]) >= minWords {
			continue
		}
		last := before[len(before)-1]
		if words(s.text[before.start():last.start]) < minWords || s.count(s.text[last.start:g.end()]) > s.limit {
			continue
		}
		groups[i-1] = before[:len(before)-1]
		groups[i] = append(group{last}, g...)
	}
	return groups
}

func words(text string) int { return len(strings.Fields(text)) }

func (s *splitter) chunks(groups []group) []speech.Chunk {
	out := make([]speech.Chunk, 0, len(groups))
	pos, chars := 0, 0
	advance := func(to int) int {
		chars += utf8.RuneCountInString(s.text[pos:to])
		pos = to
		return chars
	}
	for i, g := range groups {
		text := s.text[g.start():g.end()]
		out = append(out, speech.Chunk{
			Index: i, Text: text, Tokens: s.count(text), CharStart: advance(g.start()), CharEnd: advance(g.end()),
		})
	}
	return out
}

// sentences returns the sentences of text. A part without any letter or digit belongs to the sentence before it, or else after it.
func sentences(text string) []unit {
	var all []unit
	add := func(start, end int) {
		start, end = trim(text, start, end)
		if start == end {
			return
		}
		if n := len(all) - 1; n >= 0 && (silent(text[start:end]) || silent(text[all[n].start:all[n].end])) {
			all[n].end = end
			return
		}
		all = append(all, unit{start: start, end: end})
	}
	start := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		if !endsSentence(text, r, i) {
			continue
		}
		for i < len(text) {
			r, size := utf8.DecodeRuneInString(text[i:])
			if !strings.ContainsRune(`.!?…।॥"'”’»)]}`, r) {
				break
			}
			i += size
		}
		add(start, i)
		start = i
	}
	add(start, len(text))
	return all
}

// endsSentence reports whether r, which ends at i, ends a sentence. A full stop does so only before white space or closing marks, so
// never in 3.14 or a.b, and not after a single letter, so never in U. S.
func endsSentence(text string, r rune, i int) bool {
	switch r {
	case '।', '॥', '\n':
		return true
	case '!', '?', '…':
		return true
	case '.':
		rest := strings.TrimLeft(text[i:], `.!?…"'”’»)]}`)
		if rest != "" {
			if next, _ := utf8.DecodeRuneInString(rest); !unicode.IsSpace(next) {
				return false
			}
		}
		return !afterSingleLetter(text[:i-1])
	}
	return false
}

// afterSingleLetter reports whether text ends with a Latin capital that stands alone.
func afterSingleLetter(text string) bool {
	n := len(text)
	if n == 0 || text[n-1] < 'A' || text[n-1] > 'Z' {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:n-1])
	return n == 1 || unicode.IsSpace(before) || before == '.'
}

func silent(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

func trim(text string, start, end int) (int, int) {
	trimmed := strings.TrimLeftFunc(text[start:end], unicode.IsSpace)
	start = end - len(trimmed)
	return start, start + len(strings.TrimRightFunc(trimmed, unicode.IsSpace))
}

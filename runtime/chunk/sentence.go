package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// closers may follow the mark that ends a sentence, and still belong to it.
const closers = `.!?…।॥"'”’»)]}`

// sentences returns the sentences of the text. A part without any letter or digit belongs to the sentence before it,
// else after it.
func (s *splitter) sentences() []span {
	var all []span
	mute := false // the last of them has neither a letter nor a digit
	add := func(start, end int) {
		start, end = trim(s.text, start, end)
		if start == end {
			return
		}
		quiet := silent(s.text[start:end])
		if n := len(all) - 1; n >= 0 && (quiet || mute) {
			all[n].end = end
			mute = mute && quiet
			return
		}
		all = append(all, span{start, end, unknown})
		mute = quiet
	}
	start := 0
	for i := 0; i < len(s.text); {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		i += size
		if !strings.ContainsRune(".!?…।॥\n", r) {
			continue
		}
		end := len(s.text) - len(strings.TrimLeft(s.text[i:], closers))
		if r == '\n' {
			end = i
		}
		next := len(s.text) - len(strings.TrimLeftFunc(s.text[end:], unicode.IsSpace))
		if r == '.' && !endsSentence(s.text, i-1, end) || !between(s.text, end) || !between(s.text, next) {
			continue
		}
		add(start, end)
		start, i = end, end
	}
	add(start, len(s.text))
	return all
}

// endsSentence reports whether the full stop at dot ends a sentence. The marks after it end at end.
//
// White space must follow, so 3.14 and a.b are safe. A single Latin letter before it is an initial, as in "U. S." or
// "J. Sharma", unless the word before that is a single letter too: "the O T P." spells a word at the end of its
// sentence. A sentence that ends in "plan B." is taken for longer than it is, which is heard less than a sentence
// that is torn.
func endsSentence(text string, dot, end int) bool {
	if end < len(text) {
		if r, _ := utf8.DecodeRuneInString(text[end:]); !unicode.IsSpace(r) {
			return false
		}
	}
	if !singleLetter(text[:dot]) {
		return true
	}
	before := strings.TrimRightFunc(text[:dot-1], unicode.IsSpace)
	return len(before) < dot-1 && singleLetter(before)
}

// singleLetter reports whether text ends with a Latin letter that is a word by itself.
func singleLetter(text string) bool {
	n := len(text) - 1
	if n < 0 || text[n]|0x20 < 'a' || text[n]|0x20 > 'z' {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(text[:n])
	return n == 0 || !unicode.In(r, unicode.L, unicode.M, unicode.N)
}

// between reports whether the place at i, after white space or a mark, is not inside a grapheme.
func between(text string, i int) bool {
	if i == 0 || i == len(text) {
		return true
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	if r < 0x300 || r < 0xe00 && unicode.IsLetter(r) { // these join with nothing before them
		return true
	}
	_, before := utf8.DecodeLastRuneInString(text[:i])
	_, rest, _, _ := uniseg.FirstGraphemeClusterInString(text[i-before:i+size], -1)
	return rest != ""
}

func trim(text string, start, end int) (int, int) {
	trimmed := strings.TrimLeftFunc(text[start:end], unicode.IsSpace)
	start = end - len(trimmed)
	return start, start + len(strings.TrimRightFunc(trimmed, unicode.IsSpace))
}

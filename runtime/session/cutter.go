package session

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/normalize"
)

// The sizes of pieces.
const (
	longSentence = 200 // code points without an end after which a sentence is cut where a reader would breathe
	minWords     = 3   // shorter sentences are spoken badly alone
)

const (
	endMarks     = ".!?…।॥|\n。？！؟۔" // without one of these no sentence ends
	closers      = "\"'”’»)]}"
	clauseMarks  = ",;:–—"
	ellipsisMark = "…"
)

// cutter finds sentences in text that is still being written. It is a value without a clock: the same messages give the
// same sentences.
type cutter struct {
	raw    bool // the text is not normalised any more
	markup bool // the text has elements of SSML
	opt    normalize.Options
	text   string // what has no end yet
}

// sentence is a piece that is spoken at once, as it was written, with the white space behind it.
type sentence struct {
	text string
	line bool // a line break ends it
}

// add appends text and returns the sentences that are whole now.
func (c *cutter) add(text string, sep Sep) []sentence {
	if first, _ := utf8.DecodeRuneInString(text); sep == Piece && unicode.IsLetter(first) && endsInMark(c.text) {
		text = " " + text
	}
	wasLong := utf8.RuneCountInString(c.text) > longSentence
	c.text += text
	isLong := utf8.RuneCountInString(c.text) > longSentence
	if !strings.ContainsFunc(text, c.canEnd) && isLong == wasLong {
		return nil
	}
	if c.markup {
		return c.wholeMarkup()
	}
	return c.whole()
}

// canEnd reports whether with this character a sentence may have become whole.
func (c *cutter) canEnd(r rune) bool {
	return unicode.IsSpace(r) || r == '।' || r == '॥' || r == '|' || c.markup && r == '>'
}

// endsInMark reports whether a mark that can end a sentence is last, but for closing quotes.
func endsInMark(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, closers))
	return last != '|' && last != '\n' && strings.ContainsRune(endMarks, last)
}

// flush takes out what is left and can be spoken now.
func (c *cutter) flush() []sentence {
	if c.markup {
		return c.complete()
	}
	return c.rest()
}

// rest takes out what is left, whole or not.
func (c *cutter) rest() []sentence {
	text := c.text
	c.text = ""
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return []sentence{{text: text}}
}

// take takes out the first n bytes and the white space behind them.
func (c *cutter) take(n int) sentence {
	end := len(c.text) - len(strings.TrimLeftFunc(c.text[n:], unicode.IsSpace))
	s := sentence{c.text[:end], strings.Contains(c.text[n:end], "\n")}
	c.text = c.text[end:]
	return s
}

// whole takes out the sentences that end whatever follows.
func (c *cutter) whole() (all []sentence) {
	if strings.ContainsAny(c.text, endMarks) {
		taken := len(c.text)
		for _, e := range normalize.Ends(c.text) {
			at := e.At - (taken - len(c.text))
			if at > 0 && c.isSure(e, at) {
				all = append(all, c.take(at))
			}
		}
		all = append(all, c.pauses()...)
	}
	for utf8.RuneCountInString(c.text) > longSentence {
		at := c.breath()
		if at == 0 {
			break
		}
		all = append(all, c.take(at))
	}
	return all
}

// isSure reports whether the sentence that ends at byte at of the text ends there whatever follows.
func (c *cutter) isSure(e normalize.End, at int) bool {
	behind := c.text[at:]
	space := behind[:len(behind)-len(strings.TrimLeftFunc(behind, unicode.IsSpace))]
	if e.Open {
		return false
	}
	return e.Line || strings.Contains(space, "\n") || e.Sure && space != ""
}

// pauses removes endings with dots that mean a pause. They occur in the middle of a sentence as often as at its end, so
// no words may precede them whose reading the rest of the sentence could decide.
func (c *cutter) pauses() (all []sentence) {
	for from := 0; ; {
		at := indexEllipsis(c.text[from:])
		if at < 0 {
			return all
		}
		at += from
		behind, _ := utf8.DecodeRuneInString(c.text[at:])
		switch {
		case !unicode.IsSpace(behind):
			from = at
		case !c.isPlain(c.text[:at]):
			return all // and neither is what is longer
		default:
			all = append(all, c.take(at))
			from = 0
		}
	}
}

// indexEllipsis returns the byte behind the first ellipsis and the quotes that close behind it, or -1.
func indexEllipsis(text string) int {
	for _, mark := range []string{ellipsisMark, "..."} {
		if i := strings.Index(text, mark); i >= 0 {
			rest := text[i+len(mark):]
			return len(text) - len(strings.TrimLeft(rest, "."+ellipsisMark+closers))
		}
	}
	return -1
}

// isPlain reports whether text is spoken as it is written.
func (c *cutter) isPlain(text string) bool {
	if c.raw {
		return true
	}
	_, spans := normalize.Spans(text, c.opt)
	return len(spans) == 0
}

// stops reports whether the text ends in a mark that would end its sentence if nothing but white space followed.
func (c *cutter) stops() bool {
	text := c.text
	if c.markup {
		o := outlineOf(text)
		if o.open < len(text) {
			return false
		}
		text = o.plain
	}
	trimmed := strings.TrimRightFunc(text, unicode.IsSpace)
	if !endsInMark(trimmed) {
		return false
	}
	if at := indexEllipsis(trimmed); at == len(trimmed) {
		return true
	}
	ends := normalize.Ends(text)
	return len(ends) > 0 && ends[len(ends)-1].Sure
}

// breath returns where to cut a text without an end: as far to the right as may be within longSentence, rather behind a
// mark, and only where the words on both sides stay what they are. 0: nowhere.
func (c *cutter) breath() int {
	limit, chars := len(c.text), 0
	for i := range c.text {
		if chars++; chars > longSentence+1 {
			limit = i
			break
		}
	}
	marks, spaces := c.places(limit)
	for _, places := range [][]int{marks, spaces} {
		for tries := 0; len(places) > 0 && tries < 8; tries++ {
			at := places[len(places)-1]
			if places = places[:len(places)-1]; c.isHarmless(at) {
				return at
			}
		}
	}
	switch {
	case len(spaces) > 0:
		return spaces[len(spaces)-1]
	case len(marks) > 0:
		return marks[len(marks)-1]
	}
	return 0
}

// places returns where the first limit bytes have white space with something behind it: behind a mark, in the right
// half only, and elsewhere.
func (c *cutter) places(limit int) (marks, spaces []int) {
	for i, r := range c.text[:limit] {
		if !unicode.IsSpace(r) || i == 0 {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(c.text[:i])
		switch {
		case unicode.IsSpace(before):
		case strings.ContainsRune(clauseMarks, before):
			if i > limit/2 {
				marks = append(marks, i)
			}
		default:
			spaces = append(spaces, i)
		}
	}
	return marks, spaces
}

// isHarmless reports whether what is known is spoken in the same way when it is cut at byte at.
func (c *cutter) isHarmless(at int) bool {
	if c.raw {
		return true
	}
	left, right := normalize.Text(c.text[:at], c.opt), normalize.Text(c.text[at:], c.opt)
	return left+" "+right == normalize.Text(c.text, c.opt)
}

// upToSpace takes out what is before the last white space, or all where there is none.
func (c *cutter) upToSpace() []sentence {
	if c.markup {
		return c.complete()
	}
	text := strings.TrimRightFunc(c.text, unicode.IsSpace)
	at := strings.LastIndexFunc(text, unicode.IsSpace)
	if len(text) < len(c.text) || at < 0 || strings.TrimSpace(text[:at]) == "" {
		return c.rest()
	}
	return []sentence{c.take(at)}
}

// plain returns a sentence without the tags of its elements.
func (c *cutter) plain(text string) string {
	if c.markup {
		return outlineOf(text).plain
	}
	return text
}

// hasWords reports whether text has at least this many spoken words.
func hasWords(text string, n int) bool {
	sounds := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	for word := range strings.FieldsSeq(text) {
		if strings.ContainsFunc(word, sounds) {
			n--
		}
		if n <= 0 {
			return true
		}
	}
	return n <= 0
}

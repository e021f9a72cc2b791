package session

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/normalize"
)

// outline is a text with elements of SSML, as far as it was written: what is in elements is spoken with them, so that
// it is cut outside of them alone.
type outline struct {
	// the text, byte for byte, with spaces in the place of tags and of line breaks, which end no sentence
	plain    string
	elements [][2]int // the outermost ones, in bytes
	ends     []int    // behind sentences and paragraphs among them
	open     int      // where the incomplete part begins: the first element without its end, half a tag, or the end
}

func outlineOf(text string) (o outline) {
	plain := []byte(text)
	depth, from, at := 0, 0, 0
	for at < len(text) {
		if text[at] == '\n' {
			plain[at] = ' '
		}
		if text[at] != '<' {
			at++
			continue
		}
		t := tagAt(text[at:])
		if t.size == 0 { // a sign, as in 2 < 3
			at++
			continue
		}
		if depth == 0 {
			from = at
		}
		if t.size < 0 { // half of one
			blank(plain[at:])
			depth = max(depth, 1)
			break
		}
		blank(plain[at : at+t.size])
		at += t.size
		if depth = max(depth+t.step, 0); depth == 0 {
			o.elements = append(o.elements, [2]int{from, at})
			if t.ends {
				o.ends = append(o.ends, at)
			}
		}
	}
	o.plain, o.open = string(plain), len(text)
	if depth > 0 {
		o.open = from
		o.elements = append(o.elements, [2]int{from, len(text) + 1})
	}
	return o
}

func blank(text []byte) {
	for i := range text {
		text[i] = ' '
	}
}

// tag is a start tag, an end tag, or both, or another construct such as a comment.
type tag struct {
	size int  // in bytes; 0: not a tag; -1: incomplete
	step int  // how many more elements are open behind it
	ends bool // it ends a sentence
}

// tagAt reads the tag that text begins with.
func tagAt(text string) tag {
	for _, c := range [][2]string{{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}} {
		if strings.HasPrefix(text, c[0]) || strings.HasPrefix(c[0], text) {
			size := strings.Index(text, c[1])
			if size < 0 {
				return tag{size: -1}
			}
			return tag{size: size + len(c[1])}
		}
	}
	first, _ := utf8.DecodeRuneInString(text[1:])
	if first != '/' && first != '!' && !unicode.IsLetter(first) {
		return tag{}
	}
	quote := byte(0)
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return tagOf(text[:i+1])
		}
	}
	return tag{size: -1}
}

// tagOf reads a whole tag.
func tagOf(text string) tag {
	name := strings.TrimLeft(strings.Trim(text, "<>"), "/")
	if i := strings.IndexFunc(name, func(r rune) bool { return unicode.IsSpace(r) || r == '/' }); i >= 0 {
		name = name[:i]
	}
	t := tag{size: len(text), step: 1}
	switch {
	case strings.HasPrefix(text, "</"):
		t.step, t.ends = -1, name == "s" || name == "p" || name == "speak"
	case strings.HasSuffix(text, "/>"), text[1] == '!':
		t.step = 0
	}
	return t
}

// isOutside reports whether a byte is in no element.
func (o *outline) isOutside(at int) bool {
	return !slices.ContainsFunc(o.elements, func(e [2]int) bool { return e[0] < at && at < e[1] })
}

// wholeMarkup is whole for text with elements.
func (c *cutter) wholeMarkup() (all []sentence) {
	o := outlineOf(c.text)
	cuts := o.ends
	for _, e := range normalize.Ends(o.plain) {
		behind, _ := utf8.DecodeRuneInString(c.text[e.At:])
		if e.Sure && (unicode.IsSpace(behind) || e.Line) && o.isOutside(e.At) {
			cuts = append(cuts, e.At)
		}
	}
	slices.Sort(cuts)
	taken := 0
	for _, at := range cuts {
		if at > taken && hasWords(o.plain[taken:at], 1) {
			s := c.take(at - taken)
			taken, all = taken+len(s.text), append(all, s)
		}
	}
	if at := o.breath(taken) - taken; at > 0 {
		all = append(all, c.take(at))
	}
	return all
}

// breath returns where to cut what is behind a byte and has no end: at white space within longSentence, rather behind a
// mark. It is that byte for nowhere.
func (o *outline) breath(from int) int {
	chars, at, marked := 0, from, from
	for i, r := range o.plain[from:] {
		if chars++; chars > longSentence {
			if marked > from {
				return marked
			}
			return at
		}
		if i == 0 || !unicode.IsSpace(r) || !o.isOutside(from+i) || !hasWords(o.plain[from:from+i], 1) {
			continue
		}
		at = from + i
		before, _ := utf8.DecodeLastRuneInString(o.plain[:at])
		if strings.ContainsRune(clauseMarks, before) {
			marked = at
		}
	}
	return from
}

// complete removes what is not within an unclosed element. A break without words stays, for the words after it.
func (c *cutter) complete() []sentence {
	o := outlineOf(c.text)
	if !hasWords(o.plain[:o.open], 1) {
		return nil
	}
	return []sentence{c.take(o.open)}
}

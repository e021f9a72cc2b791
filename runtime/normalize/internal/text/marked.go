package text

import (
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/normalize/internal/markup"
)

// Part is what a token is a part of, beside plain text.
type Part uint8

const (
	InText    Part = iota
	InCode         // a piece of a program
	InListing      // a line of one
	InMaths        // a formula
	InCall         // one without marks around it
	InTable        // the border of two cells
)

// IsProgram reports whether p is text of a program.
func (p Part) IsProgram() bool { return p == InCode || p == InListing }

// IsMaths reports whether p is a formula.
func (p Part) IsMaths() bool { return p == InMaths || p == InCall }

// BeginsWith is the kind whose rules read t: all of a formula is read by those for [Uttered].
func (t *Token) BeginsWith() Kind {
	if t.Part.IsMaths() {
		return Uttered
	}
	return t.Kind
}

// Lookahead is how many tokens a mark may be long; it keeps hostile text linear.
const Lookahead = 64

// marked takes the text of written that m covers and that is no plain text, from byte i and code point pos on. It returns where it goes on:
// behind m, or at i with the part of the text that m says.
func (s *scanner) marked(m *markup.Span, written string, i int, pos int32, at []int32) (int, int32) {
	switch m.Kind {
	case markup.Code:
		s.inside(InCode, m)
		return i, pos
	case markup.Listing:
		s.inside(InListing, m)
		return i, pos
	case markup.Maths:
		s.inside(InMaths, m)
		if m.Bare {
			s.part = InCall
		}
		return i, pos
	}
	next := pos + int32(utf8.RuneCountInString(written[m.Start:m.End]))
	src, end := pos, next
	if at != nil {
		src, end = at[pos], at[next]
	}
	s.part = InText
	if m.InMaths {
		s.part = InMaths
	}
	switch m.Kind {
	case markup.Silent:
		s.hush(src, end)
		if r, _ := utf8.DecodeRuneInString(written[m.End:]); unicode.IsMark(r) {
			s.gap = true // it would go on the letter before
		}
	case markup.Apart:
		s.hush(src, end)
		s.space()
	case markup.Pause:
		s.sign(',', src, end)
	case markup.Cell:
		s.part = InTable
		s.sign('|', src, end)
	case markup.Char:
		s.rune(m.Rune, src, end)
	case markup.Say:
		t := s.begin(Uttered, src)
		t.Ch, t.End = byte(m.Word), end
	}
	s.part = InText
	return int(m.End), next
}

// inside says what the text up to the end of m is a part of.
func (s *scanner) inside(p Part, m *markup.Span) { s.part, s.partEnd = p, int(m.End) }

// hush notes that nobody says the markup from src to end. The next token has it in front.
func (s *scanner) hush(src, end int32) {
	if s.hushEnd == 0 {
		s.hushed = src
	}
	s.hushEnd = end
}

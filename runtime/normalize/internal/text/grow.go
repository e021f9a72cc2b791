package text

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/swar-tts/swar/runtime/normalize/internal/markup"
)

func (s *scanner) last() *Token { return &s.toks[len(s.toks)-1] }

// extend adds the byte c to the last token if that has the same kind, or begins a new one.
func (s *scanner) extend(k Kind, c byte, src, end int32) {
	t := s.grow(k, src)
	s.text = append(s.text, c)
	t.B = int32(len(s.text))
	t.End = end
}

// isAlike reports whether both bytes are letters of ASCII, or both are digits.
func isAlike(a, b byte) bool {
	return isLetter(a) && isLetter(b) || isFigure(a) && isFigure(b)
}

func isFigure(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// plainEnd is the end, of n at most, of the text from byte i on that no markup interrupts.
func (s *scanner) plainEnd(i, n int, spans []markup.Span) int {
	if len(spans) > 0 {
		n = min(n, max(i, int(spans[0].Start)))
	}
	if s.partEnd > i {
		n = min(n, s.partEnd)
	}
	return n
}

// extendRun adds the letters, or the digits, that rest begins with to the last token, which ends in c, and returns how
// many there are.
func (s *scanner) extendRun(c byte, rest string) (n int) {
	for n < len(rest) && isAlike(c, rest[n]) {
		n++
	}
	s.text = append(s.text, rest[:n]...)
	t := s.last()
	t.B, t.End = t.B+int32(n), t.End+int32(n)
	return n
}

// extendRune is extend for letters beyond ASCII.
func (s *scanner) extendRune(k Kind, r rune, src, end int32) {
	t := s.grow(k, src)
	before := len(s.text)
	s.text = utf8.AppendRune(s.text, r)
	if k != Deva && unicode.Is(unicode.Mn, r) || r == '\u093c' && s.composesNukta(int(t.A), before) {
		s.recompose(max(int(t.A), before-128), before)
	}
	t.B = int32(len(s.text))
	t.End = end
}

// composesNukta reports whether a nukta behind text[from:to] is not in NFC there.
func (s *scanner) composesNukta(from, to int) bool {
	switch r, _ := utf8.DecodeLastRune(s.text[from:to]); r {
	case 'न', 'र', 'ळ', '\u094d', '\u0951', '\u0952', '\u0953', '\u0954':
		return true
	}
	return false
}

// recompose brings the mark at text[mark:] into NFC with the letter before it, which stands behind from at most. What
// was written was in NFC, but something between the two may have gone: a control, a mark of another script.
func (s *scanner) recompose(from, mark int) {
	if n := norm.NFC.LastBoundary(s.text[from:mark]); n > 0 {
		from += n
	}
	s.text = append(s.text[:from], norm.NFC.Bytes(s.text[from:])...)
}

// grow returns the token that the next character belongs to: the last one if it has the same kind, or a new one. An
// apostrophe between letters is part of their word.
func (s *scanner) grow(k Kind, src int32) *Token {
	t := s.last()
	if s.gap || t.Kind != k && t.Kind != Sign || t.Part != s.part {
		return s.begin(k, src)
	}
	if t.Kind == k {
		s.markupTo = 0 // it is inside
		return t
	}
	if n := len(s.toks); k == Latin && t.Ch == '\'' && !t.Gap && s.toks[n-2].Kind == Latin {
		s.toks = s.toks[:n-1]
		return s.last()
	}
	return s.begin(k, src)
}

// space takes white space.
func (s *scanner) space() {
	s.gap = true
	s.endRun()
}

// begin starts a token.
func (s *scanner) begin(k Kind, src int32) *Token {
	n := int32(len(s.text))
	s.toks = append(s.toks, Token{
		Kind: k, Gap: s.gap || len(s.toks) == 1, hard: s.hard, Line: s.line, Part: s.part, A: n, B: n,
		Src: src, End: src,
		MarkupFrom: s.markupFrom, MarkupTo: s.markupTo,
	})
	s.gap, s.hard, s.line, s.markupTo = false, false, false, 0
	return s.last()
}

// endRun marks each token of the run without white space with what the run has in it.
func (s *scanner) endRun() {
	if s.runMarks != 0 {
		for i := s.runStart; i < len(s.toks); i++ {
			s.toks[i].Run = s.runMarks
		}
	}
	s.runStart, s.runMarks = len(s.toks), 0
}

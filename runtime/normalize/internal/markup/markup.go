// Package markup finds what is markup in a text: Markdown as CommonMark and GitHub write it, marks of wikis and
// sources, HTML tags, and LaTeX of school level. It says nothing about words: what remains is text, which the rules of
// package normalize read.
//
// A text is scanned once, from left to right. What is claimed becomes a [Span]; what is doubtful stays text, so that
// 5*6, ****4321 and $20 reach the rules as they were written. The time is linear in the length of the text, and nothing
// but the slice of spans is allocated, which a text without markup does without.
package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what becomes of a stretch of text.
type Kind uint8

// The kinds of stretches.
const (
	Silent    Kind = iota + 1 // nobody says it, and what stands on both sides may touch: **4500**
	Apart                     // nobody says it, and it parts words: <br>
	Pause                     // it parts clauses: the line breaks of a formula
	Cell                      // the border of two cells of a table
	Char                      // it stands for the character Span.Rune: &gt;, \*, ->
	Say                       // it stands for Span.Word; it may be empty in front of what the word goes with
	Code                      // text of a program, inline
	Listing                   // a line of text of a program, in a fence
	Maths                     // numbers, letters, brackets and marks of a formula
	delimiter                 // a mark of emphasis or a bracket that waits for its other half
)

// Span is what a stretch of text is. Start and End are bytes of the text.
type Span struct {
	Start, End int32
	Rune       rune // of Char
	Kind       Kind
	Word       Word // of Say
	InMaths    bool // of Char, Say, Pause and Maths: it is a part of a formula
	Bare       bool // and that has no marks around it, so that its letters are as much words as others: f(x)
}

// Scan returns the markup of text, in order and without overlap; what is in no span is plain text. open is where a
// listing or a formula of several lines begins whose end is not in the text, -1 for none: a text that is still being
// written goes on with it.
func Scan(text string) (spans []Span, open int) {
	first := firstMark(text)
	if first == len(text) {
		return nil, -1
	}
	s := scanner{text: text, open: -1}
	s.spans = make([]Span, 0, 16+len(text)/8)
	s.run(first)
	return s.settle(), s.open
}

// isMark has the bytes with which markup may begin, or which have a meaning in it. Those above ASCII lead arrows, signs
// of sets and the brackets of sources: U+2190 to U+22FF and U+3010.
var isMark = func() (set [256]bool) {
	for _, c := range "*_`~=[]<>$\\&|#^(-" {
		set[c] = true
	}
	set[0xe2], set[0xe3] = true, true
	return set
}()

// firstMark returns where the line of the first mark in text begins, its length for none.
func firstMark(text string) int {
	for i := range len(text) {
		c := text[i]
		switch {
		case !isMark[c]:
			continue
		case c == '(' && !isCall(text, i), c == '-' && !strings.HasPrefix(text[i:], "---") &&
			!strings.HasPrefix(text[i:], "--|"):
			continue
		case c == 0xe2 && !isSignLead(text[i:]):
			continue
		}
		return strings.LastIndexByte(text[:i], '\n') + 1
	}
	return len(text)
}

// isSignLead reports whether an arrow, a sign of mathematics or of a key begins s: U+2190 to U+233F.
func isSignLead(s string) bool { return len(s) > 2 && 0x86 <= s[1] && s[1] <= 0x8c }

// scanner is the state of one scan.
type scanner struct {
	text  string
	spans []Span

	open  int  // see [Scan]
	begin int  // where the present line begins
	table bool // it is a row of one
	cited int  // where the last mark of a source ends

	waiting [12]wait // delimiters of this line without their other half
	waits   int

	never [4]bool // ends that are not in the rest of the text

	unfenced [2]int // widths of fences, of ` and of ~, for which there is no closing one in the rest of the text
}

// wait is a delimiter that may be the first half of a pair.
type wait struct {
	span int  // its index
	mark byte // * _ ~ = [
}

// The ends that are looked for to the end of the text; each is looked for in vain once only.
const (
	endOfDisplay = iota // $$
	endOfBrackets
	endOfParens
	endOfComment
)

// run scans the text from the beginning of a line on.
func (s *scanner) run(i int) {
	for i < len(s.text) {
		i = s.line(i)
		s.begin = i
		i = s.inline(i, lineEnd(s.text, i))
		s.waits = 0
		if i < len(s.text) && s.text[i] == '\n' {
			i++
		}
	}
}

// inline scans the rest of a line, from i to end, and returns where it ended: a formula may lead over line breaks.
func (s *scanner) inline(i, end int) int {
	for i < end {
		if !isMark[s.text[i]] {
			i++
			continue
		}
		next := s.mark(i, end)
		if next > end {
			end = lineEnd(s.text, next)
		}
		i = next
	}
	return i
}

// mark scans what begins with the mark at i, and returns where it ends.
func (s *scanner) mark(i, end int) int {
	switch s.text[i] {
	case '*', '_', '~':
		if strings.HasPrefix(s.text[i:end], "~/") && isSpaceBefore(s.text, i) {
			s.add(i, i+2, Apart) // ~/.bashrc
			return i + 2
		}
		return s.emphasis(i, end)
	case '`':
		return s.code(i, end)
	case '=', '-':
		return s.equals(i, end)
	case '[':
		return s.bracket(i, end)
	case ']':
		return s.closing(i, end)
	case '<':
		return s.angle(i, end)
	case '\\':
		return s.backslash(i, end)
	case '$':
		return s.dollar(i, end)
	case '&':
		return s.entity(i)
	case '|':
		return s.bar(i, end)
	case '#':
		return s.closingHashes(i, end)
	case '(':
		return s.call(i, end)
	case 0xe2, 0xe3:
		return s.sign(i, end)
	}
	return i + 1
}

// add appends a span.
func (s *scanner) add(start, end int, k Kind) *Span {
	s.spans = append(s.spans, Span{Start: int32(start), End: int32(end), Kind: k})
	return &s.spans[len(s.spans)-1]
}

// char appends a span that stands for r.
func (s *scanner) char(start, end int, r rune) { s.add(start, end, Char).Rune = r }

// say appends a span that stands for w.
func (s *scanner) say(start, end int, w Word) { s.add(start, end, Say).Word = w }

// settle drops the delimiters that found no other half: they are text.
func (s *scanner) settle() []Span {
	n := 0
	for _, span := range s.spans {
		if span.Kind != delimiter {
			s.spans[n] = span
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return s.spans[:n]
}

// await appends a delimiter that waits for its other half. Of too many the oldest is given up.
func (s *scanner) await(start, end int, mark byte) {
	if s.waits == len(s.waiting) {
		copy(s.waiting[:], s.waiting[1:])
		s.waits--
	}
	s.waiting[s.waits] = wait{len(s.spans), mark}
	s.waits++
	s.add(start, end, delimiter)
}

// pair finds the newest delimiter of this mark, and gives up those behind it: they are inside. nil: there is none.
func (s *scanner) pair(mark byte) *Span {
	for k := s.waits - 1; k >= 0; k-- {
		if s.waiting[k].mark == mark {
			s.waits = k
			return &s.spans[s.waiting[k].span]
		}
	}
	return nil
}

// lineEnd is where the line ends that i is in.
func lineEnd(text string, i int) int {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(text)
}

// runEnd is where the run of the byte at i ends, end at most.
func runEnd(text string, i, end int) int {
	j := i + 1
	for j < end && text[j] == text[i] {
		j++
	}
	return j
}

// isSpaceAt reports whether white space or nothing stands at i.
func isSpaceAt(text string, i int) bool {
	if i >= len(text) {
		return true
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return unicode.IsSpace(r)
}

// isSpaceBefore reports whether white space or nothing stands before i.
func isSpaceBefore(text string, i int) bool {
	if i == 0 {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return unicode.IsSpace(r)
}

// isWordAt reports whether a letter, a digit or a mark of a letter stands at i.
func isWordAt(text string, i int) bool {
	r, _ := utf8.DecodeRuneInString(text[min(i, len(text)):])
	return isWordRune(r)
}

// isWordBefore reports whether a letter, a digit or a mark of a letter stands before i.
func isWordBefore(text string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return isWordRune(r)
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return isAlpha(byte(r)) || isDigit(byte(r))
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r))
}

// isDigitAt reports whether a digit stands at i; that of Devanagari is one, too.
func isDigitAt(text string, i int) bool {
	if i >= len(text) {
		return false
	}
	if text[i] < utf8.RuneSelf {
		return isDigit(text[i])
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return unicode.IsDigit(r)
}

// isDigitBefore reports whether a digit stands before i.
func isDigitBefore(text string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return r != utf8.RuneError && unicode.IsDigit(r)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// skipSpaces is where what is no space and no tab begins, from i on.
func skipSpaces(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

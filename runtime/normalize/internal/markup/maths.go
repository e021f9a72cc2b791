package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFormula is how many bytes a formula may have, and maxDepth how deep it may be nested.
const (
	maxFormula = 2000
	maxDepth   = 10
)

// dollar takes a formula between dollars, and leaves prices: $20 and $30.
func (s *scanner) dollar(i, end int) int {
	if i+1 < len(s.text) && s.text[i+1] == '$' {
		j := s.find(i+2, "$$", endOfDisplay)
		switch {
		case j > i+2 && j-i < maxFormula && !strings.Contains(s.text[i:j], "\n\n"):
			s.formula(i, i+2, j, j+2)
			return j + 2
		case j < 0 && s.open < 0:
			s.open = i
		}
		return i + 2
	}
	n := strings.IndexByte(s.text[i+1:end], '$')
	if n < 1 || n > maxFormula {
		return i + 1
	}
	j := i + 1 + n
	if !isFormula(s.text[i+1:j]) || isWordAt(s.text, j+1) {
		return i + 1
	}
	s.formula(i, i+1, j, j+1)
	return j + 1
}

// isFormula reports whether what stands between two dollars is a formula, and no price and the words behind it: its
// dollars touch it, and it has what no price has, or nothing but single letters, numbers and signs.
func isFormula(s string) bool {
	first, last := s[0], s[len(s)-1]
	if first == ' ' || last == ' ' || first == '\t' || last == '\t' {
		return false
	}
	if strings.ContainsAny(s, `\^_{`) {
		return true
	}
	run, words, letters := 0, 0, 0
	for _, r := range s {
		switch {
		case unicode.IsLetter(r) && r < 0x370:
			letters++
			if run++; run == 4 {
				words++
			}
			continue
		case r == '?' || r == ';' || r == '₹' || 0x900 <= r && r <= 0x97f:
			return false
		}
		run = 0
	}
	related := strings.ContainsAny(s, "=<>≤≥≠≈")
	number := letters == 0 && !related && strings.Trim(strings.TrimLeft(s, "+-"), "0123456789.") == ""
	return words == 0 && (related || letters > 0 && run < 4 && !isPriceLike(s) || number)
}

// isPriceLike reports whether s is an amount with words or a hyphen behind it: 5-, 10 to, 5M.
func isPriceLike(s string) bool {
	rest := strings.TrimLeft(s, "0123456789.,")
	return len(rest) < len(s) && (strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "-") ||
		len(rest) > 0 && strings.IndexByte("kKmMbBLC", rest[0]) >= 0)
}

// formula takes the formula from and to, with its marks, which begin at open and end at close.
func (s *scanner) formula(open, from, to, end int) {
	s.add(open, from, Apart)
	m := maths{s: s}
	m.read(from, to, 0)
	s.add(to, end, Apart)
}

// maths reads a formula.
type maths struct {
	s    *scanner
	bars int // how many | there were
	bare bool
}

func (m *maths) add(i, end int, k Kind) {
	span := m.s.add(i, end, k)
	span.InMaths, span.Bare = k == Pause || k == Maths, m.bare
}

func (m *maths) say(i, end int, w Word) {
	m.s.say(i, end, w)
	m.s.spans[len(m.s.spans)-1].InMaths = true
}

// char adds a sign of a formula that has no word: a bracket, a half.
func (m *maths) char(i, end int, r rune) {
	m.s.char(i, end, r)
	m.s.spans[len(m.s.spans)-1].InMaths = true
}

// read reads the formula from i to end.
func (m *maths) read(i, end, depth int) {
	for i < end {
		i = max(i+1, m.part(i, end, depth))
	}
}

// part reads what begins at i, and returns where it ends.
func (m *maths) part(i, end, depth int) int {
	text := m.s.text
	c := text[i]
	switch {
	case c >= utf8.RuneSelf:
		return m.rune(i, end)
	case isDigit(c):
		return m.number(i, end)
	case isAlpha(c):
		j := i
		for j < end && isAlpha(text[j]) {
			j++
		}
		m.add(i, j, Maths)
		return j
	case c == '\\':
		return m.command(i, end, depth)
	case c == '^':
		return m.power(i, end, depth)
	case c == '<' && i+1 < end && text[i+1] == '=', c == '>' && i+1 < end && text[i+1] == '=':
		m.say(i, i+2, map[byte]Word{'<': AtMost, '>': AtLeast}[c])
		return i + 2
	case asciiSigns[c] != NoWord:
		m.say(i, i+1, asciiSigns[c])
	default:
		m.mark(i, end, c)
	}
	return i + 1
}

// mark reads a mark of ASCII that is no operator.
func (m *maths) mark(i, end int, c byte) {
	switch c {
	case '(', ')', ',', ';', ':', '.':
		m.add(i, i+1, Maths)
	case '!':
		m.say(i, i+1, Factorial)
	case '|':
		m.bar(i, end)
	case '%':
		m.s.char(i, i+1, '%')
	case '&':
		m.add(i, i+1, m.column(i+1, end))
	case ' ', '\t':
	default: // a line break, too: the formula goes on; _ { } [ ] ~ and the like
		m.add(i, i+1, Apart)
	}
}

// column is what the border of two columns before i is: nothing before the sign at which lines are aligned, else a
// pause.
func (m *maths) column(i, end int) Kind {
	next := skipSpaces(m.s.text, i)
	if next < end && strings.IndexByte("=<>\\", m.s.text[next]) >= 0 {
		return Apart
	}
	return Pause
}

// bar reads |x|, and the bar of P(A|B) and of {x | x > 0}, which has no other half.
func (m *maths) bar(i, end int) {
	m.bars++
	switch {
	case m.bars%2 == 0:
		m.add(i, i+1, Apart)
	case strings.IndexByte(m.s.text[i+1:end], '|') < 0:
		m.say(i, i+1, SuchThat)
	default:
		m.say(i, i+1, Absolute)
	}
}

// number reads digits, with points and commas between them.
func (m *maths) number(i, end int) int {
	text, j := m.s.text, i
	for j < end && (isDigit(text[j]) || (text[j] == '.' || text[j] == ',') && j+1 < end && isDigit(text[j+1])) {
		j++
	}
	m.add(i, j, Maths)
	return j
}

// rune reads a character beyond ASCII.
func (m *maths) rune(i, end int) int {
	r, n := utf8.DecodeRuneInString(m.s.text[i:end])
	if w := signs[r]; w != NoWord {
		m.say(i, i+n, w)
	} else if w := mathsSigns[r]; w != NoWord {
		m.say(i, i+n, w)
	} else if r == '°' {
		m.s.char(i, i+n, r)
	} else {
		m.add(i, i+n, Maths)
	}
	return i + n
}

// argument returns what a command or a mark at i applies to, without its braces, and where it ends.
func (m *maths) argument(i, end int) (from, to, next int) {
	text := m.s.text
	i = skipSpaces(text, i)
	if i >= end {
		return end, end, end
	}
	if text[i] != '{' {
		next = i + 1
		if text[i] == '\\' {
			for next < end && isAlpha(text[next]) {
				next++
			}
		} else if _, n := utf8.DecodeRuneInString(text[i:end]); n > 1 {
			next = i + n
		}
		return i, next, next
	}
	depth := 0
	for j := i; j < end; j++ {
		switch text[j] {
		case '\\':
			j++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1, j, j + 1
			}
		}
	}
	return i + 1, end, end
}

// inside reads an argument; what stands between i and it is said as w.
func (m *maths) inside(i int, w Word, from, to, next, depth int) int {
	if w == NoWord {
		m.add(i, from, Apart)
	} else {
		m.say(i, from, w)
	}
	m.read(from, to, depth+1)
	if next > to {
		m.add(to, next, Apart)
	}
	return next
}

// bracketed is [maths.inside] with brackets around what has several terms.
func (m *maths) bracketed(i int, w Word, from, to, next, depth int) int {
	if !isCompound(m.s.text[from:to]) {
		return m.inside(i, w, from, to, next, depth)
	}
	if w != NoWord {
		m.say(i, from, w)
		i = from
	}
	m.char(i, from, '(')
	m.read(from, to, depth+1)
	m.char(to, next, ')')
	return next
}

// isCompound reports whether s has several terms, outside of brackets.
func isCompound(s string) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '+', '-', '=', '/':
			if depth == 0 && i > 0 {
				return true
			}
		case '\\':
			for _, sign := range [...]string{"pm", "times", "cdot", "frac", "sin", "cos", "tan"} {
				if depth == 0 && strings.HasPrefix(s[i+1:], sign) {
					return true
				}
			}
		}
	}
	return false
}

// power reads what stands behind ^.
func (m *maths) power(i, end, depth int) int {
	from, to, next := m.argument(i+1, end)
	if depth >= maxDepth || from >= to {
		m.add(i, i+1, Apart)
		return i + 1
	}
	w := NoWord
	switch m.s.text[from:to] {
	case "2":
		w = Squared
	case "3":
		w = Cubed
	case `\prime`, "'":
		w = Prime
	case "*", `\ast`, `\star`:
		w = Star
	case `\circ`, "°":
		m.s.char(i, next, '°')
		return next
	}
	if i > 0 && m.s.text[i-1] == '}' && (w == Squared || w == Cubed) && m.isUnit() {
		m.s.char(i, next, map[Word]rune{Squared: '²', Cubed: '³'}[w])
		return next // m/s² as it is written outside of formulas
	}
	if w != NoWord {
		m.say(i, next, w)
		return next
	}
	return m.bracketed(i, Power, from, to, next, depth)
}

// isUnit reports whether the last span closes the text of a unit: \text{m/s}.
func (m *maths) isUnit() bool {
	n := len(m.s.spans)
	return n > 1 && m.s.spans[n-1].Kind == Silent && m.s.spans[n-1].End > m.s.spans[n-1].Start
}

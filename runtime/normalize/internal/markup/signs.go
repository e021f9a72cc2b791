package markup

import (
	"strings"
	"unicode/utf8"
)

// sign takes an arrow, a sign of mathematics outside of a formula with what it relates to, and the mark of a source of
// a chat model.
func (s *scanner) sign(i, end int) int {
	r, n := utf8.DecodeRuneInString(s.text[i:end])
	switch r {
	case '【':
		if k := strings.Index(s.text[i:min(end, i+maxLabel)], "】"); k > 0 &&
			strings.ContainsAny(s.text[i:i+k], "†0123456789") {
			s.add(i, i+k+len("】"), Silent)
			return i + k + len("】")
		}
	case '←', '↔', '⇐', '⟵', '↦':
		s.char(i, i+n, '→')
		return i + n
	}
	w := signs[r]
	if mark := checks[r]; mark != NoWord && s.fillsCell(i, i+n, end) {
		w = mark
	}
	if w == Times && isWordBefore(s.text, i) && isWordAt(s.text, i+n) {
		s.say(i, i+n, w) // F⋅d
		return i + n
	}
	if w == NoWord || w == Times {
		return i + n
	}
	m := maths{s: s, bare: true}
	m.say(i, i+n, w)
	from := skipSpaces(s.text, i+n)
	to := operandEnd(s.text, from, end)
	if w != Union && w != Intersection && !w.IsRelation() {
		return i + n
	}
	if from < to && s.text[from] == '{' { // a set
		m.char(from, from+1, '(')
		m.read(from+1, to-1, 0)
		m.char(to-1, to, ')')
		return to
	}
	m.read(from, to, 0)
	return max(to, i+n)
}

// fillsCell reports whether nothing but spaces stands between i to j and the borders of its cell.
func (s *scanner) fillsCell(i, j, end int) bool {
	before := strings.TrimRight(s.text[s.begin:i], " \t")
	behind := strings.TrimLeft(strings.TrimPrefix(s.text[j:end], "\ufe0f"), " \t")
	opens := strings.HasSuffix(before, "|") || s.table && before == ""
	return opens && (strings.HasPrefix(behind, "|") || s.table && behind == "")
}

// operandEnd returns the end of what a sign before i relates to: a letter, a short name, a number, or a set in
// brackets.
func operandEnd(text string, i, end int) int {
	if i >= end {
		return i
	}
	if c := text[i]; c == '{' || c == '[' || c == '(' {
		if n := strings.IndexAny(text[i:min(end, i+maxLabel)], "}])"); n > 0 {
			return i + n + 1
		}
		return i
	}
	j := i
	for j < end && (isAlpha(text[j]) || isDigit(text[j])) {
		j++
	}
	if j == i {
		if r, n := utf8.DecodeRuneInString(text[i:end]); mathsSigns[r] != NoWord || signs[r] == EmptySet ||
			0x370 <= r && r < 0x400 {
			return i + n
		}
	}
	if j-i > 3 {
		return i
	}
	return j
}

// isCall reports whether the bracket at i opens what a function of mathematics is applied to: T(n/2), f(x).
func isCall(text string, i int) bool {
	if i == 0 || !isAlpha(text[i-1]) || i > 1 &&
		(isAlpha(text[i-2]) || text[i-2] >= utf8.RuneSelf || strings.IndexByte("'_.", text[i-2]) >= 0) {
		return false
	}
	_, ok := callEnd(text, i)
	return ok
}

// callEnd returns the end of the bracket at i, and whether it has nothing in it but single letters, numbers and
// operators.
func callEnd(text string, i int) (end int, ok bool) {
	letters := 0
	for j := i + 1; j < min(len(text), i+24); j++ {
		switch c := text[j]; {
		case c == ')':
			return j + 1, letters > 0
		case isAlpha(c):
			if strings.HasPrefix(text[j:], "log ") {
				j += 3
				continue
			}
			if isAlpha(text[j-1]) {
				return 0, false
			}
			letters++
		case isDigit(c), strings.IndexByte("+-*/^ ,", c) >= 0:
		default:
			return 0, false
		}
	}
	return 0, false
}

// call takes the call of a function of mathematics, with the number before it: 2T(n/2).
func (s *scanner) call(i, end int) int {
	if !isCall(s.text, i) {
		return i + 1
	}
	to, _ := callEnd(s.text, i)
	from := i - 1
	for from > s.begin && isDigit(s.text[from-1]) {
		from--
	}
	if n := len(s.spans); n > 0 && int(s.spans[n-1].End) > from || from > s.begin && isWordBefore(s.text, from) {
		return i + 1
	}
	m := maths{s: s, bare: true}
	m.read(from, min(to, end), 0)
	return to
}

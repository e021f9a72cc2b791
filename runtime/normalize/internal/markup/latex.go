package markup

import (
	"strings"
	"unicode/utf8"
)

// command reads a command of LaTeX, which begins with the backslash at i.
func (m *maths) command(i, end, depth int) int {
	text, j := m.s.text, i+1
	for j < end && isAlpha(text[j]) {
		j++
	}
	name := text[i+1 : j]
	if name == "" {
		return m.escape(i, end)
	}
	if depth >= maxDepth {
		m.add(i, j, Apart)
		return j
	}
	if w := bounded[name]; w != NoWord {
		return m.bounds(i, j, end, depth, w)
	}
	if w := commands[name]; w != NoWord {
		m.say(i, j, w)
		if w == Log && j < end && text[j] == '_' {
			from, to, next := m.argument(j+1, end)
			return m.inside(j, Base, from, to, next, depth)
		}
		return j
	}
	switch name {
	case "frac", "dfrac", "tfrac", "cfrac":
		return m.fraction(i, j, end, depth)
	case "sqrt":
		return m.root(i, j, end, depth)
	case "binom":
		return m.binomial(i, j, end, depth)
	case "vec", "bar", "hat", "overline":
		return m.accent(i, j, end, depth, name)
	case "mathbb":
		if from, to, next := m.argument(j, end); to == from+1 && blackboard[text[from]] != NoWord {
			m.say(i, next, blackboard[text[from]])
			return next
		}
	case "text", "mathrm", "textrm", "mbox", "textit", "textbf", "operatorname", "rm":
		return m.words(i, j, end)
	case "begin", "end":
		return m.environment(i, j, end)
	case "left", "right":
		if j < end && text[j] == '.' {
			j++
		}
	case "quad", "qquad":
		m.add(i, j, Pause)
		return j
	case "dots", "ldots", "cdots":
		m.add(i, j, Pause)
		return j
	case "circ", "degree":
		m.s.char(i, j, '°')
		return j
	}
	m.add(i, j, Apart)
	return j
}

// escape reads a backslash before a mark: \\ ends a line, \% is a percent sign, \, a space.
func (m *maths) escape(i, end int) int {
	next := min(i+2, end)
	if next < i+2 {
		m.add(i, next, Apart)
		return next
	}
	switch c := m.s.text[i+1]; c {
	case '\\':
		m.add(i, next, Pause)
	case '%', '$', '&', '#':
		m.s.char(i, next, rune(c))
	case '{':
		m.char(i, next, '(')
	case '}':
		m.char(i, next, ')')
	default:
		if c == '|' || c >= utf8.RuneSelf { // it is read by itself
			m.add(i, i+1, Apart)
			return i + 1
		}
		m.add(i, next, Apart)
	}
	return next
}

// bounds reads a sum, an integral or a limit, and the bounds behind it.
func (m *maths) bounds(i, j, end, depth int, w Word) int {
	m.say(i, j, w)
	text := m.s.text
	for strings.HasPrefix(text[j:end], `\limits`) {
		m.add(j, j+len(`\limits`), Apart)
		j += len(`\limits`)
	}
	lower := false
	for range 2 {
		at := skipSpaces(text, j)
		if at >= end || text[at] != '_' && text[at] != '^' {
			break
		}
		from, to, next := m.argument(at+1, end)
		word := UpTo
		if text[at] == '_' {
			if lower = true; w == Limit {
				word = NoWord
			} else {
				word = From
			}
		}
		j = m.inside(at, word, from, to, next, depth)
	}
	if lower && w != Limit {
		m.say(j, j, Of)
	}
	return j
}

// fraction reads \frac{a}{b}.
func (m *maths) fraction(i, j, end, depth int) int {
	from, to, next := m.argument(j, end)
	from2, to2, next2 := m.argument(next, end)
	text := m.s.text
	if r := vulgar(text[from:to], text[from2:to2]); r != 0 {
		m.char(i, next2, r)
		return next2
	}
	m.bracketed(i, NoWord, from, to, next, depth)
	return m.bracketed(next, Over, from2, to2, next2, depth)
}

// vulgar is the character that a over b is, 0 for none.
func vulgar(a, b string) rune {
	switch {
	case a == "1" && b == "2":
		return '½'
	case a == "1" && b == "4":
		return '¼'
	case a == "3" && b == "4":
		return '¾'
	}
	return 0
}

// root reads \sqrt{x} and \sqrt[3]{x}.
func (m *maths) root(i, j, end, depth int) int {
	text, w := m.s.text, Root
	begin := i
	if j < end && text[j] == '[' {
		n := strings.IndexByte(text[j:min(end, j+maxLabel)], ']')
		switch {
		case n < 2:
		case text[j+1:j+n] == "3":
			w, j = CubeRoot, j+n+1
		default:
			m.inside(i, NoWord, j+1, j+n, j+n, depth)
			w, begin, j = NthRoot, j+n, j+n+1
		}
	}
	from, to, next := m.argument(j, end)
	return m.bracketed(begin, w, from, to, next, depth)
}

// binomial reads \binom{n}{k}.
func (m *maths) binomial(i, j, end, depth int) int {
	from, to, next := m.argument(j, end)
	from2, to2, next2 := m.argument(next, end)
	m.inside(i, NoWord, from, to, next, depth)
	return m.inside(next, Choose, from2, to2, next2, depth)
}

// accent reads \vec{F}, \bar{x} and \hat{x}; a line over several letters is silent.
func (m *maths) accent(i, j, end, depth int, name string) int {
	from, to, next := m.argument(j, end)
	w := map[string]Word{"bar": Bar, "hat": Hat}[name]
	before := NoWord
	if name == "vec" {
		before = Vector
	}
	m.inside(i, before, from, to, to, depth)
	switch {
	case w != NoWord:
		m.say(to, next, w)
	case next > to:
		m.add(to, next, Apart)
	}
	return next
}

// words reads \text{…}, which is read as any text; its marks part no number from its unit.
func (m *maths) words(i, j, end int) int {
	from, to, next := m.argument(j, end)
	if j < end && m.s.text[j] != '{' && m.s.text[j] != ' ' {
		m.add(i, j, Apart)
		return j
	}
	m.s.add(i, from, Apart)
	if next > to {
		m.s.add(to, next, Silent)
	}
	return next
}

// environment passes over \begin{aligned} and \end{aligned}, and the columns of an array.
func (m *maths) environment(i, j, end int) int {
	_, _, next := m.argument(j, end)
	if strings.HasPrefix(m.s.text[i:end], `\begin{array}`) {
		_, _, next = m.argument(next, end)
	}
	m.add(i, next, Apart)
	return next
}

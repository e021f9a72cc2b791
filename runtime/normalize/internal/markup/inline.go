package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// emphasis takes a run of *, _ or ~. A run is one delimiter whatever its length, because *x* and **x** sound
// alike. What could be a product, a mask or a key of a telephone is no delimiter: 5*6, 98****10, *121#.
func (s *scanner) emphasis(i, end int) int {
	j := runEnd(s.text, i, end)
	mark := s.text[i]
	opens := j < end && !isSpaceAt(s.text, j) && (!isPunctAt(s.text, j) || !isWordBefore(s.text, i))
	closes := !isSpaceBefore(s.text, i) && (isWordBefore(s.text, i) || !isWordAt(s.text, j) || inDevanagari(s.text, j))
	inside := isWordBefore(s.text, i) && isWordAt(s.text, j)
	switch {
	case mark == '~' && j-i != 2, mark == '_' && inside, j-i > 3:
		return j
	case isDigitBefore(s.text, i) && isDigitAt(s.text, j), inside && j == i+1, mark == '*' && j == i+1 &&
		isKeyed(s.text, j, end):
		return j
	}
	if closes {
		if first := s.pair(mark); first != nil {
			first.Kind = Silent
			s.add(i, j, Silent)
			return j
		}
	}
	if opens {
		s.await(i, j, mark)
	}
	return j
}

// isKeyed reports whether digits begin at i which no star ends: *121#.
func isKeyed(text string, i, end int) bool {
	if !isDigitAt(text, i) {
		return false
	}
	for j := i; j < min(end, i+maxLabel); j++ {
		switch c := text[j]; {
		case c == '*':
			return j+1 < end && isDigit(text[j+1])
		case c <= ' ' || c == '#':
			return true
		}
	}
	return true
}

// inDevanagari reports whether a letter of Devanagari stands at i. Behind **नोट:** many write on without a space.
func inDevanagari(text string, i int) bool {
	r, _ := utf8.DecodeRuneInString(text[min(i, len(text)):])
	return 0x904 <= r && r <= 0x939
}

// isPunctAt reports whether a mark or a sign stands at i.
func isPunctAt(text string, i int) bool {
	r, _ := utf8.DecodeRuneInString(text[min(i, len(text)):])
	return unicode.IsPunct(r) || unicode.IsSymbol(r)
}

// code takes `code`: its marks are silent.
func (s *scanner) code(i, end int) int {
	j := runEnd(s.text, i, end)
	for k := j; k < end; k++ {
		if s.text[k] != '`' {
			continue
		}
		l := runEnd(s.text, k, end)
		if l-k != j-i {
			k = l - 1
			continue
		}
		s.add(i, j, Silent)
		if hasWord(s.text[j:k]) {
			s.program(j, k, Code)
		} else {
			s.add(j, k, Code) // the sign is what is talked about: `->`
		}
		s.add(k, l, Silent)
		return l
	}
	return j
}

// hasWord reports whether s has a letter, a digit, or none of the signs that have a name.
func hasWord(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || isAlpha(s[i]) || isDigit(s[i]) {
			return true
		}
	}
	return len(s) > maxSigns || strings.TrimSpace(s) == ""
}

// program adds a line or a piece of a program from i to end. The angles of types are silent there, and so are tags and
// the prompt of a shell.
func (s *scanner) program(i, end int, k Kind) {
	from := i
	for _, prompt := range [...]string{"$ ", ">>> ", "% ", "C:\\> "} {
		if strings.HasPrefix(s.text[skipSpaces(s.text, i):end], prompt) {
			from = skipSpaces(s.text, i) + len(prompt)
			s.add(i, from, Apart)
		}
	}
	start := from
	for j := from; j < end; j++ {
		n := s.programMark(j, end)
		if s.text[j] == '<' {
			if to := tagEnd(s.text, j, end); to > 0 && (k == Listing || j > i || to < end) {
				n = to - j // of a page: only a tag that is named, `<div>`, is said
			}
		}
		if n == 0 {
			continue
		}
		if start < j {
			s.add(start, j, k)
		}
		s.programSpan(j, j+n)
		start = j + n
		j = start - 1
	}
	if start < end {
		s.add(start, end, k)
	}
}

// programMark returns the length of what is not read as it is at j of a program, 0 for anything else.
func (s *scanner) programMark(j, end int) int {
	switch rest := s.text[j:end]; {
	case strings.HasPrefix(rest, "./") && isSpaceBefore(s.text, j), strings.HasPrefix(rest, "./") &&
		s.text[j-1] == '`', isComment(s.text, j, end):
		return 2
	case strings.HasPrefix(rest, "->"), strings.HasPrefix(rest, "=>"), strings.HasPrefix(rest, "~/"):
		return 2
	case isShift(rest), j > 0 && isShift(s.text[j-1:end]):
		return 0
	case rest[0] == '<' || rest[0] == '>':
		return s.programAngle(j, rest)
	}
	return 0
}

// programAngle is [scanner.programMark] for < and >, with which rest begins.
func (s *scanner) programAngle(j int, rest string) int {
	beside := j > 0 && (s.text[j-1] == ' ' || s.text[j-1] == '-' || s.text[j-1] == '=')
	compares := isWordBefore(s.text, j) && isDigitAt(s.text[:j+len(rest)], j+1)
	if compares || len(rest) > 1 && rest[1] == '=' || beside && (len(rest) > 1 && rest[1] == ' ') {
		return 0 // a > 0, a <= 5, a>5
	}
	if rest[0] == '<' && len(rest) > 1 && rest[1] == '/' {
		return 2
	}
	return 1
}

// isShift reports whether s begins with an operator that shifts by a number, or with its second half: << 2, > 1.
func isShift(s string) bool {
	double := strings.TrimPrefix(strings.TrimPrefix(s, "<<"), ">>")
	return len(s)-len(double) == 2 && strings.HasPrefix(double, " ") && isDigitAt(double, 1)
}

// programSpan adds what [scanner.programMark] has found.
func (s *scanner) programSpan(i, end int) {
	if arrow := s.text[i:end]; arrow == "->" || arrow == "=>" {
		s.char(i, end, '→')
		return
	}
	k := Apart
	if before := strings.TrimRight(s.text[:i], " \t"); before != "" && isWordBefore(before, len(before)) &&
		isComment(s.text, i, len(s.text)) {
		k = Pause
	}
	s.add(i, end, k)
}

// isComment reports whether what stands at i begins a comment of a program: # or // with a space behind it.
func isComment(text string, i, end int) bool {
	rest, before := text[i:end], strings.TrimRight(text[:i], " \t")
	if !isSpaceBefore(text, i) || before == "" {
		return false
	}
	opensLine := before[len(before)-1] == '\n' // there # is left to the rules
	divides := isDigitAt(rest, 3)              // 7 // 2
	return strings.HasPrefix(rest, "// ") && !divides || strings.HasPrefix(rest, "# ") && !opensLine
}

// equals takes == marked ==, and arrows made of = and -.
func (s *scanner) equals(i, end int) int {
	j := runEnd(s.text, i, end)
	if j < end && s.text[j] == '>' && (j-i > 1 || s.text[i] == '=') {
		s.char(i, j+1, '→')
		return j + 1
	}
	if s.text[i] == '-' || j-i != 2 {
		return j
	}
	opens := isSpaceBefore(s.text, i) && isWordAt(s.text, j)
	closes := isSpaceAt(s.text, j) || j < end && !isWordAt(s.text, j)
	if closes && !isSpaceBefore(s.text, i) {
		if first := s.pair('='); first != nil {
			first.Kind = Silent
			s.add(i, j, Silent)
		}
	} else if opens {
		s.await(i, j, '=')
	}
	return j
}

// angle takes a tag, a comment, and the angles around an address.
func (s *scanner) angle(i, end int) int {
	rest := s.text[i:]
	switch {
	case strings.HasPrefix(rest, "<!--"):
		if j := s.find(i+4, "-->", endOfComment); j > 0 {
			s.add(i, j+3, Apart)
			return j + 3
		}
	case strings.HasPrefix(rest, "<--"), strings.HasPrefix(rest, "<- "), strings.HasPrefix(rest, "<=> "),
		strings.HasPrefix(rest, "<->"):
		j := i + 1
		for j < end && strings.IndexByte("-=>", s.text[j]) >= 0 {
			j++
		}
		s.char(i, j, '→')
		return j
	}
	if j := addressEnd(s.text, i+1, end); j > 0 {
		s.add(i, i+1, Apart)
		s.add(j, j+1, Apart)
		return j + 1
	}
	if j := tagEnd(s.text, i, end); j > 0 {
		s.add(i, j, Apart)
		return j
	}
	return i + 1
}

// find returns where what is first found at or behind i, once it has not been found it is not looked for again; -1 for
// nowhere.
func (s *scanner) find(i int, what string, which int) int {
	if s.never[which] || i > len(s.text) {
		return -1
	}
	n := strings.Index(s.text[i:], what)
	if n < 0 {
		s.never[which] = true
		return -1
	}
	return i + n
}

// addressEnd returns where the angle stands that closes <https://x.in> or <help@x.in>, whose address begins at i; 0 for
// none.
func addressEnd(text string, i, end int) int {
	at, scheme := false, strings.HasPrefix(text[i:end], "http://") || strings.HasPrefix(text[i:end], "https://") ||
		strings.HasPrefix(text[i:end], "www.")
	for j := i; j < min(end, i+maxAddress); j++ {
		switch c := text[j]; {
		case c == '>':
			if at && j > i || scheme {
				return j
			}
			return 0
		case c == '@':
			at = j > i
		case c <= ' ' || c == '<':
			return 0
		}
	}
	return 0
}

// The lengths that tags, addresses and labels may have in bytes, so that hostile text is not looked through again and
// again.
const (
	maxTag     = 256
	maxAddress = 256
	maxLabel   = 64
	maxSigns   = 4 // of code that has no words
)

// tagNames are the elements of HTML and SSML that people write in messages. Anything else in angles is said, unless it
// has attributes: <Ramesh Kumar>, <last 4 digits>.
var tagNames = set(`a abbr audio b blockquote body br break button code dd del details div dl dt em emphasis entry figure font
	footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label lang li link main mark meta nav ol option p
	phoneme pre prosody q s samp say-as script section select small source span speak strike strong style sub summary sup table tbody
	td textarea tfoot th thead title token tr u ul var video voice w wbr svg path`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// tagEnd returns where the tag ends that begins at i, 0 if none does.
func tagEnd(text string, i, end int) int {
	j, isTag := tagName(text, i+1, end)
	if j == 0 {
		return 0
	}
	for ; j < min(end, i+maxTag); j++ {
		switch c := text[j]; {
		case c == '<':
			return 0
		case c == '=' && j+1 < end && (text[j+1] == '"' || text[j+1] == '\''), c == '/' && j+1 < end &&
			text[j+1] == '>':
			isTag = true // an attribute, or an element without content
		case c == '>' && isTag:
			return j + 1
		case c == '>':
			return 0
		}
	}
	return 0
}

// tagName returns where the name of a tag ends that begins at i, with its stroke, and whether it is one of HTML; 0
// where there is none.
func tagName(text string, i, end int) (j int, isTag bool) {
	if i >= end {
		return 0, false
	}
	closing := text[i] == '/' || text[i] == '!' || text[i] == '?'
	if closing {
		i++
	}
	for j = i; j < end && (isAlpha(text[j]) || isDigit(text[j]) || text[j] == '-') && j < i+12; {
		j++
	}
	switch {
	case j == i, !isAlpha(text[i]), j < end && strings.IndexByte(" \t/>", text[j]) < 0,
		j+1 < end && text[j] == '/' && text[j+1] != '>': // <A/c>
		return 0, false
	}
	return j, closing || isTagName(text[i:j])
}

func isTagName(name string) bool {
	var buf [12]byte
	low := buf[:0]
	for i := range min(len(name), len(buf)) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		low = append(low, c)
	}
	return tagNames[string(low)]
}

// backslash takes an escaped mark and the beginning of a formula: \*, \(x\), \[x\].
func (s *scanner) backslash(i, end int) int {
	if i+1 >= end {
		return i + 1
	}
	switch c := s.text[i+1]; c {
	case '(':
		return s.between(i, `\)`, endOfParens)
	case '[':
		return s.between(i, `\]`, endOfBrackets)
	case '*', '_', '`', '#', '~', '|', '$', '&', '%', '<', '>', '+', '-', '.', '!', '{', '}':
		s.char(i, i+2, rune(c))
		return i + 2
	}
	return i + 1
}

// between takes the formula from \( to its end.
func (s *scanner) between(i int, closing string, which int) int {
	j := s.find(i+2, closing, which)
	if j < 0 || j-i > maxFormula {
		if which == endOfBrackets && j < 0 && s.open < 0 {
			s.open = i
		}
		s.add(i, i+2, Apart)
		return i + 2
	}
	s.formula(i, i+2, j, j+2)
	return j + 2
}

// entities are the named references of characters that reach us; the others are those of letters, and stay.
var entities = []struct {
	name string
	r    rune
}{
	{"amp;", '&'}, {"nbsp;", ' '}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}, {"rarr;", '→'}, {"larr;", '→'},
	{"times;", '×'}, {"divide;", '÷'}, {"deg;", '°'}, {"hellip;", '…'}, {"ndash;", '–'}, {"mdash;", '—'}, {"euro;", '€'},
	{"pound;", '£'}, {"cent;", '¢'}, {"yen;", '¥'}, {"copy;", '©'}, {"reg;", '®'}, {"trade;", '™'}, {"le;", '≤'}, {"ge;", '≥'},
	{"ne;", '≠'}, {"plusmn;", '±'}, {"frac12;", '½'}, {"frac14;", '¼'}, {"frac34;", '¾'}, {"bull;", '•'}, {"middot;", '·'},
	{"lsquo;", '\''}, {"rsquo;", '\''}, {"ldquo;", '"'}, {"rdquo;", '"'}, {"sup2;", '²'}, {"sup3;", '³'}, {"minus;", '−'},
	{"emsp;", ' '}, {"ensp;", ' '}, {"thinsp;", ' '}, {"zwj;", '\u200d'}, {"zwnj;", '\u200c'}, {"infin;", '∞'}, {"pi;", 'π'},
}

// entity takes a reference of a character: &amp;, &#8377;, &#x20b9;. One that stands for markup itself is a character.
func (s *scanner) entity(i int) int {
	rest := s.text[i+1:]
	if strings.HasPrefix(rest, "#") {
		if r, n := numbered(rest[1:]); n > 0 {
			s.char(i, i+2+n, r)
			return i + 2 + n
		}
		return i + 1
	}
	for _, e := range entities {
		if strings.HasPrefix(rest, e.name) {
			n := i + 1 + len(e.name)
			s.char(i, n, e.r)
			return n
		}
	}
	return i + 1
}

// numbered returns the character of 8377; or x20b9; and the length of that; 0 for none.
func numbered(s string) (r rune, n int) {
	base := rune(10)
	if strings.HasPrefix(s, "x") || strings.HasPrefix(s, "X") {
		base, n = 16, 1
	}
	for first := n; n < len(s) && n < first+7; n++ {
		c := s[n]
		switch {
		case isDigit(c):
			r = r*base + rune(c-'0')
		case base == 16 && 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r*base + rune(c|0x20-'a') + 10
		case c == ';' && n > first && r > ' ' && utf8.ValidRune(r):
			return r, n + 1
		default:
			return 0, 0
		}
	}
	return 0, 0
}

package markup

import (
	"strings"
)

// line takes what is markup because a line begins with it, from i on, and returns where the text of the line begins;
// for a listing, the line behind it.
func (s *scanner) line(i int) int {
	for {
		if next := s.fence(i); next > i {
			if i = next; i >= len(s.text) {
				return i
			}
			continue
		}
		break
	}
	end := lineEnd(s.text, i)
	begin := skipSpaces(s.text, i)
	if begin >= end {
		s.table = false
		return end
	}
	if s.silentLine(begin, end) {
		return end
	}
	isRow := s.text[begin] == '|' && strings.IndexByte(s.text[begin+1:end], '|') > 0 // also without its head
	s.table = isRow || strings.IndexByte(s.text[begin:end], '|') >= 0 && (s.table || s.isSeparatorBehind(end))
	begin = quote(s.text, begin, end)
	if next := s.definition(begin, end); next > begin {
		return next
	}
	if next := s.wikiHeading(begin, end); next > begin {
		return next
	}
	return s.item(begin, end)
}

// fence takes a listing: the lines of its marks are silent, with the language that stands there.
func (s *scanner) fence(i int) int {
	begin := skipSpaces(s.text, i)
	width := fenceAt(s.text, begin)
	if width == 0 {
		return i
	}
	mark := s.text[begin]
	end := lineEnd(s.text, begin)
	if mark == '`' && strings.IndexByte(s.text[begin+width:end], '`') >= 0 {
		return i // ```code```
	}
	closing := s.closingFence(end, mark, width)
	if closing < 0 {
		if bare := strings.TrimSpace(s.text[begin+width:end]) == ""; s.open < 0 && !bare {
			s.open = begin
		}
		if isInfo(s.text[begin+width : end]) {
			s.add(begin, end, Silent)
			return min(end+1, len(s.text))
		}
		return i
	}
	s.add(begin, end, Silent)
	for k := end + 1; k < closing; {
		to := min(lineEnd(s.text, k), closing)
		s.program(k, to, Listing)
		k = to + 1
	}
	from := skipSpaces(s.text, closing)
	end = lineEnd(s.text, from)
	s.add(from, end, Silent)
	return min(end+1, len(s.text))
}

// fenceAt returns how many marks of a fence begin at i, 0 if it is none.
func fenceAt(text string, i int) int {
	if i >= len(text) || text[i] != '`' && text[i] != '~' {
		return 0
	}
	if n := runEnd(text, i, len(text)) - i; n >= 3 {
		return n
	}
	return 0
}

// isInfo reports whether nothing or one word, the language of a listing, stands behind the marks of a fence that never
// ends.
func isInfo(info string) bool { return strings.IndexByte(strings.TrimSpace(info), ' ') < 0 }

// closingFence returns where the line begins that closes a fence of this mark and width whose first line ends at i; -1
// for none.
func (s *scanner) closingFence(i int, mark byte, width int) int {
	if s.unfenced[fenceIndex(mark)] > 0 && width >= s.unfenced[fenceIndex(mark)] {
		return -1
	}
	for k := i; k < len(s.text); {
		k++
		begin, end := skipSpaces(s.text, k), lineEnd(s.text, min(k, len(s.text)))
		if begin < end && s.text[begin] == mark && fenceAt(s.text, begin) >= width {
			if strings.TrimSpace(s.text[runEnd(s.text, begin, end):end]) == "" {
				return k
			}
		}
		k = end
	}
	s.unfenced[fenceIndex(mark)] = width
	return -1
}

func fenceIndex(mark byte) int {
	if mark == '~' {
		return 1
	}
	return 0
}

// silentLine takes a line that is nothing but marks: a rule, what underlines a heading, what parts the head of a table
// from its rows.
func (s *scanner) silentLine(begin, end int) bool {
	var dashes, bars, equals, stars, lines int
	for _, c := range []byte(s.text[begin:end]) {
		switch c {
		case '-':
			dashes++
		case '|', ':', '+':
			bars++
		case '=':
			equals++
		case '*':
			stars++
		case '_':
			lines++
		case ' ', '\t', '\r':
		default:
			return false
		}
	}
	rule := max(dashes, stars, lines, equals)
	table := bars > 0 && rule == dashes && dashes > 0 && strings.IndexByte(s.text[begin:end], '|') >= 0
	alone := rule == dashes+stars+lines+equals
	if !alone || !table && (bars > 0 || rule < 3 && equals < 2) {
		return false
	}
	s.add(begin, end, Silent)
	return true
}

// isSeparatorBehind reports whether the line behind the one that ends at end parts the head of a table from its rows.
func (s *scanner) isSeparatorBehind(end int) bool {
	if end >= len(s.text) {
		return false
	}
	next := s.text[end+1 : lineEnd(s.text, end+1)]
	return strings.Trim(next, "|-: \t\r") == "" && strings.Contains(next, "-") && strings.Contains(next, "|")
}

// bar takes the border of two cells; those at the ends of a row are silent. Outside of a table a bar may be a danda,
// and stays.
func (s *scanner) bar(i, end int) int {
	if !s.table {
		return i + 1
	}
	first := strings.TrimSpace(s.text[s.begin:i]) == ""
	if first || strings.TrimSpace(s.text[i+1:end]) == "" {
		s.add(i, i+1, Silent)
	} else {
		s.add(i, i+1, Cell)
	}
	return i + 1
}

// quote passes over the marks of a quotation, > and > >, which stay: before a number they compare, > 90% marks.
func quote(text string, begin, end int) int {
	for begin < end && text[begin] == '>' {
		begin = skipSpaces(text, begin+1)
	}
	return min(begin, end)
}

// definition takes the label of a source or of a footnote, [1]: and [^a]:, whose text is read, and a line that only
// says where a link leads, [a]: https://x.in.
func (s *scanner) definition(begin, end int) int {
	if begin >= end || s.text[begin] != '[' {
		return begin
	}
	length := strings.IndexByte(s.text[begin:min(end, begin+maxLabel)], ']')
	if length < 2 || begin+length+1 >= end || s.text[begin+length+1] != ':' {
		return begin
	}
	label := s.text[begin+1 : begin+length]
	behind := begin + length + 2
	if label[0] == '^' || strings.Trim(label, "0123456789") == "" {
		s.add(begin, behind, Silent)
		return behind
	}
	target := s.text[skipSpaces(s.text, behind):end]
	for _, lead := range [...]string{"http://", "https://", "<", "/", "www.", "#", "./"} {
		if strings.HasPrefix(target, lead) {
			s.add(begin, end, Silent)
			return end
		}
	}
	return begin
}

// wikiHeading takes the signs around a heading of a wiki: == History ==.
func (s *scanner) wikiHeading(begin, end int) int {
	if begin >= end || s.text[begin] != '=' {
		return begin
	}
	j := runEnd(s.text, begin, end)
	line := strings.TrimRight(s.text[:end], " \t\r")
	last := strings.TrimRight(line, "=")
	if j-begin < 2 || j-begin > 6 || len(line)-len(last) < 2 || len(last) <= j ||
		strings.Contains(s.text[j:len(last)], "==") {
		return begin
	}
	s.add(begin, j, Silent)
	s.inline(j, len(last))
	s.add(len(last), len(line), Silent)
	return end
}

// item takes the box of a task behind the mark of its item: - [x] done.
func (s *scanner) item(begin, end int) int {
	j := begin
	switch {
	case j < end && strings.IndexByte("-*+", s.text[j]) >= 0:
		j++
	case j < end && isDigit(s.text[j]):
		for j < end && isDigit(s.text[j]) {
			j++
		}
		if j < end && (s.text[j] == '.' || s.text[j] == ')') {
			j++
		}
	default:
		return begin
	}
	box := skipSpaces(s.text, j)
	if box == j || box+3 >= end || s.text[box] != '[' || s.text[box+2] != ']' || s.text[box+3] != ' ' {
		return begin
	}
	switch s.text[box+1] {
	case ' ':
		s.add(box, box+3, Silent)
	case 'x', 'X':
		s.say(box, box+3, Done)
	default:
		return begin
	}
	return box + 3
}

// closingHashes takes the signs that close a heading: ## Title ##.
func (s *scanner) closingHashes(i, end int) int {
	j := runEnd(s.text, i, end)
	heading := s.begin < i && s.text[s.begin] == '#'
	if heading && isSpaceBefore(s.text, i) && strings.TrimSpace(s.text[j:end]) == "" {
		s.add(i, j, Silent)
	}
	return j
}

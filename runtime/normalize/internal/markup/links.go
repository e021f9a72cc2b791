package markup

import "strings"

// bracket takes the mark of a source or a footnote, [1], [2, 3], [^1], and what may be the beginning of a link.
func (s *scanner) bracket(i, end int) int {
	if j := s.source(i, end); j > i {
		s.add(i, j, Silent)
		s.cited = j
		return j
	}
	s.await(i, i+1, '[')
	return i + 1
}

// source returns the end of the mark of a source at i, which nobody reads out; i for anything else in brackets.
func (s *scanner) source(i, end int) int {
	n := strings.IndexByte(s.text[i:min(end, i+maxLabel)], ']')
	if n < 2 {
		return i
	}
	label, behind := s.text[i+1:i+n], i+n+1
	switch {
	case behind < end && s.text[behind] == '(':
		return i
	case label[0] == '^' && strings.IndexByte(label, ' ') < 0, label == "citation needed",
		strings.HasPrefix(label, "note "):
		return behind
	case strings.Trim(label, "0123456789,- –") != "", len(label) > 3 && strings.Trim(label, "0123456789") == "":
		return i
	}
	if s.isCited(i, behind, end) {
		return behind
	}
	return i
}

// isCited reports whether the number in brackets from i to behind names a source by where it stands: है[1], (1984) [2].
// and what follows another such mark.
func (s *scanner) isCited(i, behind, end int) bool {
	text := s.text
	if i > 0 && s.cited > s.begin && strings.Trim(text[s.cited:i], " ,;–-") == "" {
		return true
	}
	if s.isListed(i, behind) {
		return false
	}
	next := skipSpaces(text, behind)
	ends := next >= end || strings.IndexByte(".,;:[", text[next]) >= 0 || strings.HasPrefix(text[next:], "।")
	before := strings.TrimRight(text[s.begin:i], " \t")
	switch {
	case before == "":
		// [1] [2] under a paragraph
		return strings.Trim(text[i:min(end, i+4*maxLabel)], "[]0123456789,;- \r") == "" && end-i < 4*maxLabel
	case strings.HasPrefix(text[next:end], "="):
		return false // arr[1] = 5
	case len(before) == i-s.begin:
		letter := isAlpha(text[i-1]) && !isWordBefore(text, i-1)
		return !letter && (isWordBefore(text, i) || strings.IndexByte(".,])\"'*?!", text[i-1]) >= 0 ||
			strings.HasSuffix(before, "।"))
	case strings.IndexByte(".!?", before[len(before)-1]) >= 0 || strings.HasSuffix(before, "।"):
		return next >= end
	}
	return ends && !isDigitBefore(text, s.begin+len(before)) && !s.isPressed(i, behind, end)
}

// isListed reports whether the brackets from i to behind hold a list of a program: nums = [4,1,7], **Output:** [1,4,7].
func (s *scanner) isListed(i, behind int) bool {
	before := strings.TrimRight(s.text[s.begin:i], " \t*")
	if before == "" || behind-i < 5 || !strings.Contains(s.text[i:behind], ",") {
		return false
	}
	last := before[len(before)-1]
	return last == '=' || last == ':' || last == '('
}

// pressing are words beside which a number in brackets is a key, an option or a code.
var pressing = [...]string{"dab", "दब", "press", "Press", "type", "Type", "likh", "लिख", "bhej", "भेज", "option",
	"Option", "विकल्प", "button", "बटन",
	"code", "Code", "कोड", "send", "Send", "reply", "Reply", "chun", "चुन"}

// isPressed reports whether a word beside the brackets from i to behind asks for what is in them.
func (s *scanner) isPressed(i, behind, end int) bool {
	around := s.text[max(s.begin, i-48):i] + s.text[behind:min(end, behind+48)]
	for _, w := range pressing {
		if strings.Contains(around, w) {
			return true
		}
	}
	return false
}

// closing takes the address or the label behind the text of a link: ](https://x.in), ][1].
func (s *scanner) closing(i, end int) int {
	j := i + 1
	switch {
	case j < end && s.text[j] == '(':
		if to := targetEnd(s.text, j, end); to > 0 {
			s.link(i, to)
			return to
		}
	case j < end && s.text[j] == '[':
		n := strings.IndexByte(s.text[j:min(end, j+maxLabel)], ']')
		if n > 0 && s.isLinkText(i) {
			s.link(i, j+n+1)
			return j + n + 1
		}
	}
	s.pair('[')
	return j
}

// isLinkText reports whether a bracket is open before the one at i, and words stand between the two.
func (s *scanner) isLinkText(i int) bool {
	for k := s.waits - 1; k >= 0; k-- {
		if s.waiting[k].mark == '[' {
			from := int(s.spans[s.waiting[k].span].Start)
			return (from == 0 || !isWordBefore(s.text, from)) && isWordBefore(s.text, i) && !isDigitBefore(s.text, i)
		}
	}
	return false
}

// link makes the marks of a link silent, whose text ends at i, and its target at end.
func (s *scanner) link(i, end int) {
	if first := s.pair('['); first != nil {
		first.Kind = Silent
		if first.Start > 0 && s.text[first.Start-1] == '!' {
			first.Start-- // a picture
		}
	}
	s.add(i, end, Silent)
}

// maxTarget bounds the target of a link, in bytes.
const maxTarget = 2048

// targetEnd returns the end of the target of a link, which begins with the bracket at i; 0 if it is none.
func targetEnd(text string, i, end int) int {
	depth := 0
	for j := i; j < min(end, i+maxTarget); j++ {
		switch text[j] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return j + 1
			}
		case ' ':
			if j+1 < end && (text[j+1] == '"' || text[j+1] == '\'') {
				return titleEnd(text, j+1, end)
			}
		case ']':
			if j+1 < end && text[j+1] == '(' {
				return 0
			}
		}
	}
	return 0
}

// titleEnd returns the end of a target behind the title that begins at i.
func titleEnd(text string, i, end int) int {
	n := strings.IndexByte(text[i+1:min(end, i+maxTarget)], text[i])
	if n < 0 {
		return 0
	}
	j := i + 1 + n + 1
	if j < end && text[j] == ')' {
		return j + 1
	}
	return 0
}

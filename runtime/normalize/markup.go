package normalize

import (
	"strings"

	"github.com/swar-tts/swar/runtime/speech"
)

// Markup is silent: emphasis, headings, list marks, quotes, rules, the address of a link, tags.

// lookahead is how many tokens markup may be long; it keeps hostile text linear.
const lookahead = 64

// markup passes over marks of Markdown and over tags.
func (r *reader) markup(i int) int {
	t := r.at(i)
	if i == r.start {
		if next := r.lineMark(i); next > i {
			return next
		}
	}
	switch t.ch {
	case squared, cubed:
		return r.power(i)
	case raised:
		return r.footnote(i)
	case '~':
		if t.gap && r.tight(i+1) && (r.at(i+1).kind == digits || r.at(i+1).isCurrency()) {
			return i // ~9hrs
		}
		return r.hush(i, i+1, speech.SpanMarkup)
	case '[':
		return r.hush(i, max(i+1, r.citation(i)), speech.SpanMarkup)
	case '\\':
		return r.command(i)
	case '`', '_', '^', '{', '}', silent:
		return r.hush(i, i+1, speech.SpanMarkup)
	case '*':
		if r.at(i-1).kind == digits && r.at(i+1).kind == digits || r.isKey(i) || r.isStarred(i) {
			return i
		}
		return r.hush(i, i+1, speech.SpanMarkup)
	case '=':
		return r.equalSigns(i)
	case '!':
		if r.tightSign(i+1, '[') {
			return r.hush(i, i+1, speech.SpanMarkup)
		}
	case ']':
		return r.hush(i, r.linkEnd(i), speech.SpanMarkup)
	}
	return i
}

// citation returns the end of the mark of a source or a footnote at token i, which nobody reads out: [1], [2, 3], [^1], and at the beginning
// of a line [1]:; i for anything else in brackets.
func (r *reader) citation(i int) int {
	j := i + 1
	note := r.tightSign(j, '^')
	if note {
		j++
	}
	for k := j; ; k += 2 {
		if r.small(k, 3) < 1 || k > i+16 {
			return i
		}
		if !r.isSign(k+1, ',') && !r.at(k+1).isOneOf(hyphens) {
			j = k + 1
			break
		}
	}
	if !r.tightSign(j, ']') || r.tightSign(j+1, '(') {
		return i
	}
	next := j + 1
	if i == r.start {
		if r.tightSign(next, ':') {
			return next + 1
		}
		return i
	}
	if note || r.isCited(i) {
		return next
	}
	ends := r.at(next).kind == nothing || r.at(next).isOneOf(".,;"+string(rune(danda)))
	if ends && r.at(i-1).kind.lettered() && !r.near(i, pressed|codeWord|idWord, 3) {
		return next
	}
	return i
}

// isCited reports whether the bracket at token i goes on a word or its stop, and on no name of a program: है[1]; but x[1], `arr[0]`.
func (r *reader) isCited(i int) bool {
	before := r.at(i - 1)
	if !r.tight(i) || r.single(i-1) || r.isSign(i-2, '`') {
		return false
	}
	return before.kind.lettered() && !r.isSetBehind(i) || before.isOneOf(".,])"+string(rune(danda)))
}

// isSetBehind reports whether brackets begin at token i and an equals sign stands behind them: arr[1] = 5.
func (r *reader) isSetBehind(i int) bool { return r.isSign(i+2, ']') && r.isSign(i+3, '=') }

// equalSigns passes over the signs around a heading of a wiki, == Itihas ==, and around marked words, ==word==; those of a == b are said.
func (r *reader) equalSigns(i int) int {
	j := i
	for j < i+lookahead && r.isSign(j, '=') && (j == i || r.tight(j)) {
		j++
	}
	next := r.at(j)
	if j-i < 2 {
		return i
	}
	opens := i == r.start || r.at(i).gap && !next.gap && next.kind.lettered()
	closes := next.kind == nothing || r.tight(i) && (next.gap || next.kind == sign)
	if opens || closes {
		return r.hush(i, j, speech.SpanMarkup)
	}
	return i
}

// linkEnd returns the end of the address behind the bracket at token i, ](url), or what is behind the bracket.
func (r *reader) linkEnd(i int) int {
	if !r.tightSign(i+1, '(') {
		return i + 1
	}
	for j := i + 2; j < i+lookahead && r.at(j).kind != nothing; j++ {
		if r.isSign(j, ')') {
			return j + 1
		}
	}
	return i + 1
}

// footnote passes over raised figures, which point to a footnote where they are no power.
func (r *reader) footnote(i int) int {
	next := i + 1
	if r.tightDigits(next) {
		next++
	}
	return r.hush(i, next, speech.SpanMarkup)
}

// power reads the raised figure of 10² and x². Behind anything else it points to a footnote, and is silent.
func (r *reader) power(i int) int {
	letter := r.single(i-1) && !r.isMeasure(i-1)
	if base := r.at(i-1).kind == digits || letter || r.isProduct(i-1); !base || !r.tight(i) {
		return r.hush(i, i+1, speech.SpanMarkup)
	}
	r.begin(i, speech.SpanSign)
	if r.at(i).ch == squared {
		r.say(r.lang.words[wordSquared])
	} else {
		r.say(r.lang.words[wordCubed])
	}
	return r.end(i + 1)
}

// foldTags makes one silent token of each tag, <b> or <break time="1s"/>, so that no rule sees what is inside.
func foldTags(toks []token, text []byte) []token {
	n := 0
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		if end := tagEnd(toks, i, text); end > i {
			t.kind, t.end, t.b = tag, toks[end].end, toks[end].b
			i = end
		}
		toks[n] = t
		n++
	}
	return toks[:n]
}

// tagNames are the elements of HTML and SSML that people write in messages. Anything else in brackets is said, unless it has attributes:
// <Ramesh Kumar>, <last 4 digits>.
var tagNames = wordSet(`a abbr audio b blockquote body br break button code dd del details div dl dt em emphasis entry figure font footer
	form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label lang li link main mark meta nav ol option p phoneme pre prosody q s
	samp say-as script section select small source span speak strike strong style sub summary sup table tbody td textarea tfoot th thead title token tr
	u ul var video voice w wbr svg path`)

// tagEnd returns the token that closes the tag that token i opens; i if it opens none.
func tagEnd(toks []token, i int, text []byte) int {
	if toks[i].kind != sign || toks[i].ch != '<' {
		return i
	}
	n := toks[i+1]
	if n.gap || n.kind != latin && !n.isOneOf("/!?") {
		return i
	}
	isTag := n.kind != latin || tagNames[strings.ToLower(string(text[n.a:n.b]))] && !toks[i+2].gap
	if toks[i+2].ch == '/' && toks[min(i+3, len(toks)-1)].ch != '>' {
		isTag = false // <A/c>
	}
	for j := i + 1; j < min(i+lookahead, len(toks)-1) && !toks[j].line; j++ {
		switch t := toks[j]; {
		case t.kind != sign:
		case t.ch == '<':
			return i
		case t.ch == '=' && toks[j+1].kind == sign && !toks[j+1].gap && toks[j+1].isOneOf("\"'"), t.ch == '/' && toks[j+1].ch == '>':
			isTag = true // an attribute, or an element without content
		case t.ch == '>' && isTag:
			return j
		case t.ch == '>':
			return i
		}
	}
	return i
}

// lineMark passes over what may stand at the start of a line: # heading, - item, > quote, a rule.
func (r *reader) lineMark(i int) int {
	t := r.at(i)
	j := i
	for j < i+lookahead && r.isSign(j, t.ch) && (j == i || r.tight(j)) {
		j++
	}
	next := r.at(j)
	width := j - i
	lineEnds := next.kind == nothing
	switch t.ch {
	case '#', '>', bullet, arrow:
		ticket := t.ch == '#' && width == 1 && next.kind == digits // # 58213 is its number
		if ticket || t.ch == '>' && r.isShareAt(j) {
			return i // > 90% marks
		}
		if next.gap && !lineEnds || t.isOneOf(">"+string(rune(bullet))) {
			return r.hush(i, j, speech.SpanMarkup)
		}
	case '-', '*', '+', enDash, emDash:
		if width == 1 && next.gap || width >= 3 && lineEnds {
			return r.hush(i, j, speech.SpanMarkup)
		}
	case '`':
		if width >= 3 && r.isInfo(j) {
			return r.hush(i, j+1, speech.SpanMarkup)
		}
	case '_':
		if width >= 3 {
			return r.hush(i, j, speech.SpanMarkup)
		}
	}
	return i
}

// isInfo reports whether the language of a listing stands at token i, behind its opening marks: ```python.
func (r *reader) isInfo(i int) bool {
	return r.tight(i) && r.at(i).kind == latin && r.at(i+1).kind == nothing
}

// isShareAt reports whether a percentage begins at token i.
func (r *reader) isShareAt(i int) bool { return r.at(i).kind == digits && r.isSign(i+1, '%') }

// listNumber reads the number of a list item, 1. or 1), with a stop behind it; inside a line, 1) … 2), it stands between pauses.
func (r *reader) listNumber(i int) int {
	if len(r.str(i)) > 3 || !r.at(i+2).gap || i+2 >= r.stop {
		return i
	}
	mark := "."
	switch {
	case i == r.start && (r.tightSign(i+1, '.') || r.tightSign(i+1, ')')):
	case r.listsInLine(i):
		r.pause()
		mark = ","
	default:
		return i
	}
	r.begin(i, speech.SpanList)
	r.sayPlain(i, r.lang)
	r.mark(mark)
	return r.end(i + 2)
}

// listsInLine reports whether the number at token i numbers an item inside a line: 1) चाय 2) कॉफ़ी.
func (r *reader) listsInLine(i int) bool {
	if i <= r.start || !r.at(i).gap || r.at(i-1).kind == digits {
		return false
	}
	return len(r.str(i)) <= 2 && r.tightSign(i+1, ')') && !r.inBrackets(i)
}

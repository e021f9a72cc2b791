package text

import (
	"unicode"
	"unicode/utf8"
)

// Without returns toks without those that drop chooses, but for the first and the last. What stands in front of one
// that is dropped then stands in front of the next, and white space stands in front of a next word: a你b are two. Quotes
// that have nothing between them go, too.
func Without(toks []Token, drop func(t *Token) bool) []Token {
	last := len(toks) - 1
	kept := 1
	var gone Token // what the dropped ones leave to the next
	quoted := false
	for i := 1; i <= last; i++ {
		t := toks[i]
		if i < last && drop(&t) {
			if gone.Kind == Nothing {
				quoted = !t.Gap && toks[kept-1].IsOneOf(quotes)
			}
			gone.leave(&t)
			continue
		}
		if quoted && !t.Gap && t.Kind == Sign && t.Ch == toks[kept-1].Ch {
			kept--
			before := toks[kept]
			before.leave(&gone)
			before.leave(&t)
			gone, quoted = before, false
			continue
		}
		if gone.Kind != Nothing {
			t.Gap, t.Line = t.Gap || gone.Gap || t.Kind.WordLike(), t.Line || gone.Line
			gone.joinMarkup(&t)
			t.MarkupFrom, t.MarkupTo = gone.MarkupFrom, gone.MarkupTo
		}
		toks[kept], gone, quoted = t, Token{}, false
		kept++
	}
	return toks[:kept]
}

// quotes are the marks that quotes begin and end with alike.
const quotes = `"'`

// leave adds what stands in front of next to what stands in front of t, for neither stays.
func (t *Token) leave(next *Token) {
	t.Kind, t.Gap, t.Line = next.Kind, t.Gap || next.Gap, t.Line || next.Line
	t.joinMarkup(next)
}

// joinMarkup adds the silent markup in front of next to that in front of t.
func (t *Token) joinMarkup(next *Token) {
	if t.MarkupTo == 0 {
		t.MarkupFrom = next.MarkupFrom
	}
	t.MarkupTo = max(t.MarkupTo, next.MarkupTo)
}

// IsGreek reports whether word begins with a Greek letter: rules read those of formulas and units.
func IsGreek(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.Is(unicode.Greek, r)
}

package phoneme

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// marks are what ends a clause. The program is fed clauses without them, as when the model was trained.
const marks = ",;:–—….।!?॥-"

// markSymbols are the marks that the model knows as another one.
var markSymbols = map[rune]rune{'।': '.', '॥': '.', '–': '—', '-': '—'}

// clause is a part of a text between two marks.
type clause struct {
	words []word
	mark  rune  // behind it, in Kokoro's symbols; 0 for none
	said  []ids // the program's words, once they are written
	at    int   // how many ids were before them
}

// word is a word of the text.
type word struct {
	from, to int    // bytes of the text
	fed      string // what the program is fed
}

// ids are a range of ids.
type ids struct{ first, last int }

// split cuts text into clauses. Each has a word.
func split(text string) []clause {
	var all []clause
	open := false // the last clause may go on
	for from, to := range fields(text) {
		whole := text[from:to]
		spoken := strings.TrimRight(whole, marks)
		if fed := plain(spoken); fed != "" {
			if !open {
				all, open = append(all, clause{}), true
			}
			c := &all[len(all)-1]
			c.words = append(c.words, word{from, from + len(spoken), fed})
		}
		if mark, _ := utf8.DecodeRuneInString(whole[len(spoken):]); len(spoken) < len(whole) && open {
			if symbol, ok := markSymbols[mark]; ok {
				mark = symbol
			}
			all[len(all)-1].mark, open = mark, false
		}
	}
	return all
}

// fields yields where each part of text between white space begins and ends.
func fields(text string) func(yield func(from, to int) bool) {
	return func(yield func(from, to int) bool) {
		from := -1
		for i, r := range text {
			switch {
			case !unicode.IsSpace(r):
				if from < 0 {
					from = i
				}
			case from >= 0:
				if !yield(from, i) {
					return
				}
				from = -1
			}
		}
		if from >= 0 {
			yield(from, len(text))
		}
	}
}

// plain leaves out of a word what a prepared one does not have, because the program may take it for an order.
func plain(word string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', unicode.In(r, unicode.Devanagari):
			return r
		case strings.ContainsRune("-.,:'", r):
			return r
		}
		return -1
	}, word)
}

// fed is what the program is fed for the clause.
func (c *clause) fed() string {
	var out strings.Builder
	for i, w := range c.words {
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(w.fed)
	}
	return out.String()
}

// plain reports whether the program's words are those of the clause. There are more when it splits words (AutoPay
// is two), and fewer when it joins them ("has been" is one). Where no word can be split, nothing makes up for a
// join, and the number decides.
func (c *clause) plain() bool {
	return len(c.said) == len(c.words) && !slices.ContainsFunc(c.words, func(w word) bool { return maySplit(w.fed) })
}

// maySplit reports whether the program may take a word for several: one with digits, or a capital behind a small
// letter.
func maySplit(word string) bool {
	small := false
	for _, r := range word {
		if '0' <= r && r <= '9' || '०' <= r && r <= '९' || small && 'A' <= r && r <= 'Z' {
			return true
		}
		small = 'a' <= r && r <= 'z'
	}
	return false
}

// first and last are the range of the clause's ids.
func (c *clause) first() int {
	if len(c.said) == 0 {
		return c.at
	}
	return c.said[0].first
}

func (c *clause) last() int {
	if len(c.said) == 0 {
		return c.at
	}
	return c.said[len(c.said)-1].last
}

// writer writes the ids of clauses.
type writer struct {
	ids []int64
	due string // symbols before the next word
}

// add writes a clause of which said are the words, and says in c where they are.
func (w *writer) add(c *clause, said []string) {
	c.said, c.at = make([]ids, 0, len(said)), len(w.ids)
	for _, symbols := range said {
		sounds := appendIDs(nil, symbols)
		if len(sounds) == 0 {
			continue
		}
		w.ids = appendIDs(w.ids, w.due)
		first := len(w.ids)
		w.ids = append(w.ids, sounds...)
		c.said = append(c.said, ids{first, len(w.ids)})
		w.due = " "
	}
	switch {
	case len(c.said) == 0 || c.mark == 0: // no sound, no pause of its own
	case c.mark == '—':
		w.due = " — "
	default:
		w.due = string(c.mark) + " "
	}
}

// end writes the last mark.
func (w *writer) end() { w.ids = appendIDs(w.ids, strings.TrimRight(w.due, " ")) }

package normalize

import (
	"slices"
	"strings"

	"github.com/swar-tts/swar/runtime/speech"
)

// Rules decide by what stands beside a word, and a reading changes that: a sign between two words falls silent, a number becomes
// words, a line its full stop. So where a word was kept that its neighbours decide about, what is spoken is read again until it stays
// the same. One message in nine has such a word, and hardly any changes.

// rereadings is how often a text is read again at most.
const rereadings = 4

// settle reads what is spoken until another reading would not change it.
func (r *reader) settle(written string) {
	for range rereadings {
		if same := !r.doubtful || string(r.out) == written; same && !r.torn {
			return
		}
		again := newReader(r.home, string(r.out), Options{EnDigits: r.opt.EnDigits}, r.want)
		if len(r.guides) > 0 { // which words were put in is not known any more
			if r.several {
				return
			}
			again.only = r.lang
		}
		again.run()
		if string(again.out) == string(r.out) {
			return
		}
		r.adopt(again)
	}
}

// isDecidedBeside reports whether words and signs beside token i may lead to another reading of it than as the word that it is.
func (r *reader) isDecidedBeside(i int) bool {
	t := &r.toks[i]
	e := t.word
	switch {
	case !t.kind.lettered():
		return false
	case t.kind == latin && (t.cas == upper || t.cas == mixed || t.b-t.a == 1):
		return true
	case t.kind == latin && isRomanLetters(r.str(i)):
		return true // level xi
	case e.is(apart):
		return false // से waits for a number, and none is left
	case r.reads(i, "ve", "per", "Per", "pr", "प्रति"):
		return true // 00-ve; the unit of a rate
	}
	return e.chat != nil || len(e.beside) > 0 || e.is(shortened|month|weekday)
}

// isRomanLetters reports whether s is made of the letters of small Roman numerals.
func isRomanLetters(s string) bool { return strings.Trim(s, "ivxIVX") == "" }

// adopt takes what another reading makes of what r has spoken. Pieces on both sides of what it changes stay; those between become one.
func (r *reader) adopt(again *reader) {
	before, after := r.out, again.out
	r.out, r.doubtful, r.torn = after, again.doubtful, again.torn
	if !r.want {
		return
	}
	head, tail := shared(before, after)
	first, last := 0, len(r.pieces)
	for first < last && r.pieces[first].to <= head {
		first++
	}
	for last > first && r.pieces[last-1].from >= len(before)-tail {
		last--
	}
	changed := piece{first: 1, next: len(r.toks) - 1, to: len(after), kind: again.kindBehind(head)}
	if first > 0 {
		changed.first, changed.from = r.pieces[first-1].next, r.pieces[first-1].to
	}
	for i := last; i < len(r.pieces); i++ {
		r.pieces[i].from += len(after) - len(before)
		r.pieces[i].to += len(after) - len(before)
	}
	if last < len(r.pieces) {
		changed.next, changed.to = r.pieces[last].first, r.pieces[last].from
	}
	if changed.first < changed.next { // else only what stands between two pieces changed
		r.pieces = slices.Replace(r.pieces, first, last, changed)
	}
}

// shared returns the lengths of the words that a and b begin with alike, and of those that they end with.
func shared(a, b []byte) (head, tail int) {
	shorter := min(len(a), len(b))
	for i := 0; i < shorter && a[i] == b[i]; i++ {
		if a[i] == ' ' {
			head = i + 1
		}
	}
	for i := 1; i <= shorter-head && a[len(a)-i] == b[len(b)-i]; i++ {
		if a[len(a)-i] == ' ' {
			tail = i
		}
	}
	return head, tail
}

// kindBehind is the kind of the first piece that ends behind from.
func (r *reader) kindBehind(from int) speech.SpanKind {
	for _, p := range r.pieces {
		if p.to > from {
			return p.kind
		}
	}
	return speech.SpanSign // only punctuation changed
}

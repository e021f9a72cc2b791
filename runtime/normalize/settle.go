package normalize

import (
	"slices"

	"github.com/swar-tts/swar/runtime/normalize/internal/say"
	"github.com/swar-tts/swar/runtime/speech"
)

// Rules decide by what stands beside a word, and a reading changes that: a sign between two words falls silent, a number becomes
// words, a line its full stop. So where a word was kept that its neighbours decide about, what is spoken is read again until it stays
// the same. One message in nine has such a word, and hardly any changes.

// rereadings is how often a text is read again at most.
const rereadings = 4

// settle reads what is spoken until another reading would not change it. Words of which the engine speaks only a part would become others.
func (r *reader) settle(written string) {
	for range rereadings {
		same := !r.writer.Doubtful || string(r.writer.Out) == written
		if same && !r.torn || r.writer.Partial {
			return
		}
		again := newReader(r.Home, string(r.writer.Out), Options{EnDigits: r.opt.EnDigits, Language: r.opt.Language, Speaks: r.opt.Speaks}, r.writer.Want)
		again.surveyed = true  // what is spoken is no witness of what was written
		if len(r.guides) > 0 { // which words were put in is not known any more
			if r.several {
				return
			}
			again.only = r.Lang
		}
		again.run()
		if string(again.writer.Out) == string(r.writer.Out) {
			return
		}
		r.adopt(again)
	}
}

// adopt takes what another reading makes of what r has spoken. Pieces on both sides of what it changes stay; those between become one.
func (r *reader) adopt(again *reader) {
	before, after := r.writer.Out, again.writer.Out
	r.writer.Out, r.writer.Doubtful, r.writer.Partial, r.torn = after, again.writer.Doubtful, again.writer.Partial, again.torn
	for _, m := range again.writer.Missing {
		r.writer.Missing = append(r.writer.Missing, say.Missing{At: r.Toks[len(r.Toks)-1].Src, Character: m.Character})
	}
	if !r.writer.Want {
		return
	}
	head, tail := shared(before, after)
	first, last := 0, len(r.writer.Pieces)
	for first < last && r.writer.Pieces[first].To <= head {
		first++
	}
	for last > first && r.writer.Pieces[last-1].From >= len(before)-tail {
		last--
	}
	changed := say.Piece{First: 1, Next: len(r.Toks) - 1, To: len(after), Kind: again.kindBehind(head)}
	if first > 0 {
		changed.First, changed.From = r.writer.Pieces[first-1].Next, r.writer.Pieces[first-1].To
	}
	for i := last; i < len(r.writer.Pieces); i++ {
		r.writer.Pieces[i].From += len(after) - len(before)
		r.writer.Pieces[i].To += len(after) - len(before)
	}
	if last < len(r.writer.Pieces) {
		changed.Next, changed.To = r.writer.Pieces[last].First, r.writer.Pieces[last].From
	}
	if changed.First < changed.Next { // else only what stands between two pieces changed
		r.writer.Pieces = slices.Replace(r.writer.Pieces, first, last, changed)
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
	for _, p := range r.writer.Pieces {
		if p.To > from {
			return p.Kind
		}
	}
	return speech.SpanSign // only punctuation changed
}

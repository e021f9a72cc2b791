package normalize

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/lexicon"
	"github.com/swar-tts/swar/runtime/normalize/internal/say"
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// A lexicon and marks guide the reader: they say what is read in the place of a word, or how. The words that they put
// in stand in the text before any rule looks at it, so that neighbours and sentences are decided as if they had been
// written. Only the language of a sentence is that of its other words: a name in Devanagari makes no Hindi of English.
// The places of tokens go on to be those of what was written.

// guide is how a stretch of the text is read.
type guide struct {
	speech.Mark                 // Start and End are places in what was written, in NFC
	kind        speech.SpanKind // of what it becomes; empty: its pieces are those of the rules

	outStart, outEnd int // places in the text that is read, in code points
	first, next      int // its tokens

	piece int // the index of its piece, once there is one, counted from 1
}

// replaces reports whether g puts other words in.
func (g *guide) replaces() bool { return g.Spoken != "" }

// guidance makes the guides of written, and returns the text that is read and its tokens.
func (r *reader) guidance(written string) (clean string, toks []text.Token, uncomposed bool) {
	plain, at := written, []int32(nil)
	if !text.Composed(written) {
		plain, at = text.Compose(written)
	}
	r.guides = guides(marksIn(r.opt.Marks, at), r.opt.Lexicon.Find(plain))
	if len(r.guides) == 0 {
		r.source = written
		return r.scan(written)
	}
	r.source = r.putIn(plain)
	clean, toks, uncomposed = r.scan(r.source)
	r.findTokens(toks)
	from, to := places{guides: r.guides, at: at}, places{guides: r.guides, at: at}
	for i := range toks {
		toks[i].Src, toks[i].End = from.start(int(toks[i].Src)), to.end(int(toks[i].End))
	}
	return clean, toks, uncomposed
}

// marksIn returns marks with places in a text in NFC, whose code points came from those that at says.
func marksIn(marks []speech.Mark, at []int32) []speech.Mark {
	if at == nil {
		return marks
	}
	place := func(p int) int { return sort.Search(len(at)-1, func(i int) bool { return int(at[i]) >= p }) }
	marks = slices.Clone(marks)
	for i := range marks {
		marks[i].Start, marks[i].End = place(marks[i].Start), place(marks[i].End)
	}
	return marks
}

// guides joins marks and the words of a lexicon. A word within a mark that only says a language is found there; with
// any other mark the mark decides.
func guides(marks []speech.Mark, words []lexicon.Match) (all []guide) {
	add := func(m speech.Mark, kind speech.SpanKind) {
		if m.Start < m.End {
			all = append(all, guide{Mark: m, kind: kind})
		}
	}
	addWord := func(w lexicon.Match, lang string) {
		if w.Entry.Lang != "" {
			lang = w.Entry.Lang
		}
		add(speech.Mark{Start: w.Start, End: w.End, Spoken: w.Entry.Spoken, Lang: lang}, speech.SpanLexicon)
	}
	for _, m := range marks {
		for ; len(words) > 0 && words[0].End <= m.Start; words = words[1:] {
			addWord(words[0], "")
		}
		isLang := m.Spoken == "" && m.As == ""
		for ; len(words) > 0 && words[0].Start < m.End; words = words[1:] {
			if w := words[0]; isLang && m.Start <= w.Start && w.End <= m.End {
				add(speech.Mark{Start: m.Start, End: w.Start, Lang: m.Lang}, "")
				addWord(w, m.Lang)
				m.Start = w.End
			}
		}
		kind := speech.SpanKind("")
		if m.Spoken != "" {
			kind = speech.SpanAlias
		}
		add(m, kind)
	}
	for _, w := range words {
		addWord(w, "")
	}
	return all
}

// putIn returns the text that is read: plain, and what the guides put in.
func (r *reader) putIn(plain string) string {
	var b strings.Builder
	b.Grow(len(plain) + 64)
	chars, out := 0, 0 // code points of plain and of what is built
	upTo := func(to int) (passed string) {
		n := 0
		for ; chars < to && n < len(plain); chars++ {
			_, size := utf8.DecodeRuneInString(plain[n:])
			n += size
		}
		passed, plain = plain[:n], plain[n:]
		return passed
	}
	for i := range r.guides {
		g := &r.guides[i]
		out += g.Start - chars
		b.WriteString(upTo(g.Start))
		spoken := upTo(g.End)
		if g.replaces() {
			spoken = g.Spoken
		}
		g.outStart = out
		out += utf8.RuneCountInString(spoken)
		g.outEnd = out
		b.WriteString(spoken)
	}
	b.WriteString(plain)
	return b.String()
}

// findTokens finds the tokens of the guides. A token on the edge of two belongs to the first.
func (r *reader) findTokens(toks []text.Token) {
	i, last := 1, len(toks)-1
	for k := range r.guides {
		g := &r.guides[k]
		for i < last && int(toks[i].End) <= g.outStart {
			i++
		}
		g.first = i
		for ; i < last && int(toks[i].Src) < g.outEnd; i++ {
			toks[i].Put = g.replaces()
		}
		g.next = i
	}
}

// places finds where places of the text that is read stand in what was written. They are asked for in order.
type places struct {
	guides []guide
	at     []int32 // where code points in NFC come from; nil: they are those of what was written
}

// start is where what begins at p was written: a word that was put in begins where that which it replaces does.
func (s *places) start(p int) int32 {
	for len(s.guides) > 1 && s.guides[1].outStart <= p {
		s.guides = s.guides[1:]
	}
	if g := &s.guides[0]; g.outStart <= p && p < g.outEnd && g.replaces() {
		return s.source(g.Start)
	}
	return s.source(s.plain(p))
}

// end is where what ends at p was written.
func (s *places) end(p int) int32 {
	for len(s.guides) > 1 && s.guides[1].outStart < p {
		s.guides = s.guides[1:]
	}
	if g := &s.guides[0]; g.outStart < p && p <= g.outEnd && g.replaces() {
		return s.source(g.End)
	}
	return s.source(s.plain(p))
}

// plain is the place in what was written, in NFC, of one that no guide has put in.
func (s *places) plain(p int) int {
	switch g := &s.guides[0]; {
	case p < g.outEnd: // before it, or in one that replaces nothing
		return p - g.outStart + g.Start
	default:
		return p - g.outEnd + g.End
	}
}

func (s *places) source(p int) int32 {
	if s.at == nil {
		return int32(p)
	}
	return s.at[min(p, len(s.at)-1)]
}

// guided is step for a text with guides.
func (r *reader) guided(i int) int {
	for r.guide < len(r.guides) && r.guides[r.guide].next <= i {
		r.guide++
	}
	if r.guide == len(r.guides) || r.guides[r.guide].first > i {
		return r.step(i)
	}
	g := &r.guides[r.guide]
	sentence := r.Lang
	switch g.Lang {
	case lexicon.Hindi:
		r.speak(r.Home)
	case lexicon.English:
		r.speak(words.English)
	}
	defer r.speak(sentence)
	from, pieces := len(r.writer.Out), len(r.writer.Pieces)
	next := i
	if g.As != "" {
		next = r.readAs(g, i)
	}
	if next == i {
		next = r.step(i)
	}
	if r.writer.Want && g.kind != "" {
		r.gather(g, pieces, say.Piece{First: i, Next: next, From: min(from, len(r.writer.Out)), To: len(r.writer.Out),
			Kind: g.kind})
	}
	return next
}

// gather makes one piece of all that is read of g. The pieces from index on are those of its newest part.
func (r *reader) gather(g *guide, index int, part say.Piece) {
	r.writer.Pieces = r.writer.Pieces[:index]
	if g.piece == index && index > 0 {
		whole := &r.writer.Pieces[index-1]
		whole.Next, whole.To = part.Next, part.To
		return
	}
	r.writer.Pieces = append(r.writer.Pieces, part)
	g.piece = len(r.writer.Pieces)
}

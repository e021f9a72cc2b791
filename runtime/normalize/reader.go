package normalize

import (
	"strings"
	"unicode"

	"github.com/swar-tts/swar/runtime/normalize/internal/rules"
	"github.com/swar-tts/swar/runtime/normalize/internal/say"
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// reader reads one text: it walks the tokens and has the rules write what is said.
type reader struct {
	rules.Reader
	writer say.Writer

	rules    *rules.Set
	opt      Options
	lineStop int        // where the line of the present sentence ends
	only     words.Lang // in which every sentence is read; nil: each in its own
	several  bool       // sentences have been read in both languages
	torn     bool       // text may not be in NFC

	source string  // what was scanned
	guides []guide // in order
	guide  int     // the one that the present token is in, or before

	why      *Why // nil unless somebody asks
	whyWords []WhyWord
}

// read normalises written.
func read(written string, o Options, want bool) *reader {
	return readIn(words.Hindi, written, o, want)
}

// readIn is [read] with another language than Hindi beside English.
func readIn(home words.Lang, written string, o Options, want bool) *reader {
	r := newReader(home, written, o, want)
	r.run()
	r.settle(r.source)
	return r
}

// newReader scans written, and reads nothing yet.
func newReader(home words.Lang, written string, o Options, want bool) *reader {
	r := new(reader)
	r.wire()
	r.opt, r.writer.Want, r.Home, r.EnDigits = o, want, home, o.EnDigits
	r.source = strings.TrimFunc(written, unicode.IsSpace)
	if o.Lexicon == nil && len(o.Marks) == 0 {
		r.Text, r.Toks, r.torn = text.Scan(r.source)
	} else {
		r.Text, r.Toks, r.torn = r.guidance(r.source)
	}
	text.LookUpTokens(r.Text, r.Toks)
	r.writer.Out = make([]byte, 0, 3*len(r.Text)+64)
	if want {
		r.writer.Pieces = make([]say.Piece, 0, len(r.Toks)/4+4)
	}
	return r
}

// wire joins what r is made of.
func (r *reader) wire() {
	r.rules, r.Said = rules.All, &r.writer
	r.Draft.Over(&r.View)
	r.writer.Over(&r.View)
}

// run reads the text.
func (r *reader) run() {
	last := len(r.Toks) - 1
	for i := 1; i < last; {
		if i >= r.Stop {
			if r.Toks[i].Line {
				r.writer.EndLine()
			}
			r.sentence(i)
		}
		r.passMarkup(i)
		if len(r.guides) == 0 {
			i = r.step(i)
		} else {
			i = r.guided(i)
		}
	}
	if r.Toks[last].Line { // of silent markup
		r.writer.EndLine()
	}
	r.passMarkup(last)
}

// passMarkup makes a piece of the silent markup in front of token i.
func (r *reader) passMarkup(i int) {
	if w := &r.writer; w.Want && r.Toks[i].HushEnd > 0 {
		w.Pieces = append(w.Pieces, say.Piece{First: i, Next: i, From: len(w.Out), To: len(w.Out), Kind: speech.SpanMarkup})
	}
}

// step reads the piece that begins with token i and returns where the next one begins.
func (r *reader) step(i int) int {
	all := r.rules.For(r.Toks[i].BeginsWith())
	for k := range all {
		r.Reset()
		if reading, ok := all[k].Try(&r.Reader, i); ok {
			if r.why != nil {
				reading = r.explainPiece(i, reading, all[k:])
			}
			return r.write(reading, all[k].Identifier)
		}
	}
	return i + 1
}

// write writes what a rule has read, and returns where the next piece begins.
func (r *reader) write(reading rules.Reading, identifier bool) int {
	r.writer.Write(reading.Say)
	if after := r.At(reading.Next); identifier && (after.Kind == text.Digits || text.SignCurrency(after.Ch) > 0) {
		r.writer.Pause() // so that a quantity behind a code is not taken for a part of it
	}
	return reading.Next
}

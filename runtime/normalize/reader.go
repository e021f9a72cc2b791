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

	rules      *rules.Set
	opt        Options
	lineStop   int  // where the line of the present sentence ends
	surveyed   bool // the language of the message has been looked for
	uncomposed bool // text may not be in NFC

	source string  // what was scanned
	guides []guide // in order
	guide  int     // the one that the present token is in, or before

	why      *Why // nil unless somebody asks
	whyWords []WhyWord
}

// newReader scans written, and reads nothing yet.
func newReader(home words.Lang, written string, o Options, want bool) *reader {
	r := new(reader)
	r.wire()
	r.opt, r.writer.Want, r.writer.Speaks, r.Home, r.EnDigits = o, want, o.Speaks, home, o.EnDigits
	r.source = strings.TrimFunc(written, unicode.IsSpace)
	if o.Lexicon == nil && len(o.Marks) == 0 {
		r.Text, r.Toks, r.uncomposed = r.scan(r.source)
	} else {
		r.Text, r.Toks, r.uncomposed = r.guidance(r.source)
	}
	text.LookUpTokens(r.Text, r.Toks)
	r.writer.Out = make([]byte, 0, 7*len(r.Text)/2+128)
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

// passMarkup makes a piece of the silent markup in front of token i.
func (r *reader) passMarkup(i int) {
	if w := &r.writer; w.Want && r.Toks[i].MarkupTo > 0 {
		w.Pieces = append(w.Pieces, say.Piece{First: i, Next: i, From: len(w.Out), To: len(w.Out),
			Kind: speech.SpanMarkup})
	}
}

// Package normalize turns written Hinglish into spoken words: ₹500 hai → पाँच सौ रुपये hai. Amounts, dates, phone
// numbers, codes, acronyms and signs become words in the language of their sentence. Everything else stays as written.
//
// The package runs five layers; each imports only those before it:
//   - internal/words loads the tables of words, units and money.
//   - internal/markup finds Markdown, LaTeX and HTML.
//   - internal/text cuts a text into tokens and recognises numbers, units, dates, times and short forms.
//   - internal/say writes numbers, dates and amounts as words.
//   - internal/rules decides what is said for each class of writing.
//
// A text is scanned once, cut into sentences, and read from left to right. At each token the rules that may begin there
// are tried in order, and the first one that fits is spoken. A rule looks at a constant number of tokens, so the time
// is linear in the length of the text. Characters that the engine cannot speak are left out on the way (unspoken.go).
package normalize

import (
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/lexicon"
	"github.com/swar-tts/swar/runtime/normalize/internal/say"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// Options choose how identifiers are read, and what is not read as it is written.
type Options struct {
	EnDigits bool // codes, phone numbers and card tails with English digit names; amounts and counts never change

	// Language is that of the message that the text is part of, [Hindi] or [English]. Sentences of numbers, signs and
	// acronyms alone take it: the OTP 407 of an English message. Empty: the text is the whole message, whose sentences
	// say it themselves.
	Language string

	// Case is that of the message that the text is part of, [UpperCase] or [MixedCase]. It decides whether short
	// capitals are words in sentences that do not say it themselves: the VIG of YOUR CAB IS HERE. VIG: 98… Empty: the
	// text is the whole message.
	Case string

	// Speaks reports whether the engine can speak all of text, which is a word or a mark; nil: it can speak everything.
	// What it cannot is left out: words in scripts that no rule reads before any rule looks at the text, anything else
	// where it would be said.
	Speaks func(text string) bool

	Lexicon *lexicon.Lexicon // words that something else is read for; nil: none
	Marks   []speech.Mark    // of the text without white space around it, in order
}

// Reading is what is spoken for a text.
type Reading struct {
	// Text has single spaces, no digit, no currency sign and no other sign that a voice would have to guess at. A line
	// break ends a sentence. It is empty, or punctuation only, when nothing of what was written can be spoken.
	Text     string
	Spans    []speech.Span // the pieces that were rewritten, if they were wanted, in order and without overlap
	Unspoken string        // the characters that [Options.Speaks] refuses, each once, in the order of the text
}

// Read returns what is spoken for written: "OTP 407" → "ओ टी पी चार शून्य सात". The offsets of spans count code points:
// of written without the white space around it, and of the spoken text.
//
// It is a pure function: the same arguments give the same reading. It is safe for concurrent use.
func Read(written string, o Options, spans bool) Reading {
	r := read(written, o, spans)
	reading := Reading{Text: r.writer.Spoken(), Unspoken: r.unspoken()}
	if spans {
		reading.Spans = r.spans(reading.Text)
	}
	return reading
}

// Text is the text of [Read].
func Text(written string, o Options) string { return Read(written, o, false).Text }

// Spans is the text of [Read] and its spans.
func Spans(written string, o Options) (string, []speech.Span) {
	reading := Read(written, o, true)
	return reading.Text, reading.Spans
}

// spans are the pieces of text, which is what is spoken.
func (r *reader) spans(text string) []speech.Span {
	spans := make([]speech.Span, 0, len(r.writer.Pieces))
	start := 0             // byte where the last span begins
	chars, counted := 0, 0 // code points of what is spoken, and the bytes that hold them
	count := func(to int) int {
		chars += utf8.RuneCountInString(text[counted:to])
		counted = to
		return chars
	}
	for _, p := range r.writer.Pieces {
		from, to := p.From, p.To
		from = behindMark(text, from)
		to = max(from, behindMark(text, to))
		for from < to && text[from] == ' ' {
			from++
		}
		s := speech.Span{Kind: p.Kind, Spoken: text[from:to]}
		s.Start, s.End = r.writtenAt(p)
		if p.First == p.Next && len(spans) > 0 && s.Start < spans[len(spans)-1].End {
			continue // silent markup inside of what has a span
		}
		s.OutStart, s.OutEnd = count(from), count(to)
		if n := len(spans); n > 0 && s.Start < spans[n-1].End {
			same := &spans[n-1] // of one character that became several: ∬
			same.End, same.Spoken, same.OutEnd = max(same.End, s.End), text[start:to], s.OutEnd
			continue
		}
		spans, start = append(spans, s), from
	}
	return spans
}

// behindMark is at, or the end of the mark that at is inside of now: a longer one took the place of the comma that a
// piece had ended with.
func behindMark(text string, at int) int {
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

// writtenAt is where p was written. A piece without tokens is the silent markup in front of one.
func (r *reader) writtenAt(p say.Piece) (start, end int) {
	t := &r.Toks[p.First]
	if p.First == p.Next {
		return int(t.MarkupFrom), int(t.MarkupTo)
	}
	return int(t.Src), int(r.Toks[p.Next-1].End)
}

// read normalises written.
func read(written string, o Options, want bool) *reader {
	return readIn(words.Hindi, written, o, want)
}

// readIn is [read] with another language than Hindi beside English.
func readIn(home words.Lang, written string, o Options, want bool) *reader {
	r := newReader(home, written, o, want)
	r.run()
	if r.uncomposed {
		r.writer.Compose()
	}
	return r
}

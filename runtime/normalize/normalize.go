// Package normalize turns written Hinglish into what is said: amounts, dates, phone numbers, codes, acronyms and signs become words,
// in the language of their sentence, and everything else stays as it was written.
//
// It is the loop over five layers, each of which knows those before it only. internal/words has the words and what they mean.
// internal/markup finds what is markup. internal/text cuts a text into tokens and tells what stands in a sentence: numbers, units, dates, times, short forms. internal/say
// writes words. internal/rules decide what is said for what is written.
//
// A text is scanned once, cut into sentences, and read from left to right: at each token the rules for its kind are tried in their
// order, and the first one that fits speaks. Rules look a few tokens back and ahead, never further than a constant, so the time grows
// with the length of the text and with nothing else. Where a reading changes what stands beside a word that its neighbours decide
// about, what is spoken is read again until it stays (settle.go).
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

	// Language is that of the message that the text is part of, [Hindi] or [English]. Sentences of numbers, signs and acronyms alone
	// take it: the OTP 407 of an English message. Empty: the text is the whole message, whose sentences say it themselves.
	Language string

	Lexicon *lexicon.Lexicon // words that something else is read for; nil: none
	Marks   []speech.Mark    // of the text without white space around it, in order
}

// Text returns what is spoken for written: single spaces, no digit, no currency sign and no other sign that a voice would have to
// guess at. A line break ends a sentence. The result is empty, or punctuation only, when nothing in written can be spoken.
//
// It is a pure function: the same arguments give the same text, and normalising that text again, without a lexicon and marks, changes
// nothing. It is safe for concurrent use.
func Text(written string, o Options) string {
	r := read(written, o, false)
	return r.writer.Spoken()
}

// Spans is [Text], and beside it the pieces that were rewritten, in order and without overlap. Their offsets count code points: of
// the input without the white space around it, and of what is spoken.
func Spans(written string, o Options) (string, []speech.Span) {
	r := read(written, o, true)
	text := r.writer.Spoken()
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
		for from < len(text) && !utf8.RuneStart(text[from]) { // the mark behind which it is silent became a longer one
			from++
		}
		to = max(from, to)
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
	return text, spans
}

// writtenAt is where p was written. A piece without tokens is the silent markup in front of one.
func (r *reader) writtenAt(p say.Piece) (start, end int) {
	t := &r.Toks[p.First]
	if p.First == p.Next {
		return int(t.Hushed), int(t.HushEnd)
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
	r.settle(r.source)
	return r
}

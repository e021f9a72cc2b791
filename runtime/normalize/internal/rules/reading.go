package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/say"
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/speech"
)

// Reading is what a rule makes of a stretch of the text. It is a value: the caller may write it, or not.
type Reading struct {
	Next int        // the first token that it does not cover
	Say  say.Phrase // what is said, with its kind and its reason; valid until another rule is tried
}

// Try looks at the text from token i on. ok is false for what is not of its class.
type Try func(r *Reader, i int) (reading Reading, ok bool)

// Reader is what a rule looks at: the text, what has been said of it so far, and the draft of its reading.
type Reader struct {
	text.View
	say.Draft
	Said
}

// Said reports what has been said before the token that is read.
type Said interface {
	LastSaid() string // the last word, if it is in Latin letters
	BehindWord() bool // the last thing is a word
	IsGlued() bool    // a hyphen waits for a word
	Waits() bool      // a bracket or a hyphen does
}

// Done is the reading that has been drafted, which covers the tokens before next.
func (r *Reader) Done(next int) (Reading, bool) { return Reading{Next: next, Say: r.Phrase()}, true }

// End ends the piece that Begin began before token next, and with it the reading.
func (r *Reader) End(next int) (Reading, bool) {
	r.Draft.End(next)
	return r.Done(next)
}

// Silence is the reading of tokens that are silent.
func (r *Reader) Silence(i, next int, kind speech.SpanKind) (Reading, bool) {
	r.Draft.Silence(i, next, kind)
	return r.Done(next)
}

// keep reads a token as it is written.
func keep(r *Reader, i int) (Reading, bool) {
	r.Keep(i)
	return r.Done(i + 1)
}

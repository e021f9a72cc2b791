package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// arc reads the minutes and seconds of an angle: 28°36′N, 77°12′30″E.
func arc(r *Reader, i int) (Reading, bool) {
	if !r.IsSign(i-1, text.Degree) || !r.TightSign(i+1, '\'') || r.Small(i, 2) < 0 {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanUnit)
	r.Cardinal(uint64(r.Small(i, 2)), r.Lang)
	r.Say(r.Lang.Measure(words.Units["min"]).Many)
	next := i + 2
	if seconds := r.Small(next, 2); seconds >= 0 && r.Tight(next) && r.TightSign(next+1, '"') {
		r.Cardinal(uint64(seconds), r.Lang)
		r.Say(r.Lang.Measure(words.Units["sec"]).Many)
		next += 2
	}
	return r.End(next)
}

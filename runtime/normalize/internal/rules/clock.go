package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// clock reads 5:30 PM, 17:45, 9:30 बजे, 2pm, 10am-2pm.
func clock(r *Reader, i int) (Reading, bool) {
	if r.Joined(i) {
		return Reading{}, false
	}
	if reading, ok := duration(r, i); ok {
		return reading, true
	}
	a, ok := text.MomentAt(&r.View, i)
	if !ok {
		return Reading{}, false
	}
	if t := r.At(a.Next); t.IsOneOf(text.Dashes) && t.Gap == r.At(a.Next+1).Gap {
		if b, ok := text.MomentAt(&r.View, a.Next+1); ok && (b.Clear() || endsClock(&r.View, &a, &b)) {
			// 10-11 AM: what is written once is said once.
			shared := !a.Clear() || a.Half == 0 && b.Half != 0
			if a.Half == 0 && a.Hour%12 <= b.Hour%12 {
				a.Half = b.Half
			}
			r.Begin(i, speech.SpanTime)
			r.SayTime(&a, shared)
			r.Say(r.Lang.Words[words.WordTo])
			if shared && a.Half != 0 && r.Lang.Clock != nil {
				b.Half = 0
			}
			r.SayTime(&b, false)
			return r.End(b.Next)
		}
	}
	if !a.Clear() {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanTime)
	r.SayTime(&a, false)
	return r.End(a.Next)
}

// endsClock reports whether b, an hour alone, is the end of a range that began at a: 1:15-2.
func endsClock(v *text.View, a, b *text.Moment) bool {
	if hours := 1 <= a.Hour && a.Hour <= 12 && 1 <= b.Hour && b.Hour <= 12; !hours || !a.Full {
		return false
	}
	return !v.CountedAt(b.Next) && !v.At(b.Next).IsOneOf("%:") && text.UnitText(v, b.Next, b.Next+1) == nil
}

// alwaysOpen reads 24x7 and 24/7.
func alwaysOpen(r *Reader, i int) (Reading, bool) {
	if r.Str(i) != "24" || r.Small(i+2, 1) != 7 {
		return Reading{}, false
	}
	if !r.Tight(i+1) || !r.Tight(i+2) || !r.LooseEnd(i+3) {
		return Reading{}, false
	}
	if !isTimes(&r.View, i+1) && !r.At(i+1).IsOneOf("/*") {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanDuration)
	r.Say(r.Lang.Words[words.WordAlwaysOpen])
	return r.End(i + 3)
}

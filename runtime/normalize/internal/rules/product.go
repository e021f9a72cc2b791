package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// product reads two or three letters of a formula that are multiplied: u + gt, mc². Behind a number they are [algebra].
func product(r *Reader, i int) (Reading, bool) {
	if !isLetterProduct(&r.View, i) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanNumber)
	sayFactors(r, i)
	return r.End(i + 1)
}

// isLetterProduct reports whether token i is two letters that a formula multiplies: it stands behind a single letter, a
// number or a power and the operator that joins them, or behind an equals sign with a power of its own.
func isLetterProduct(v *text.View, i int) bool {
	t := v.At(i)
	if !t.InSmallLetters() || len(v.Str(i)) != 2 || v.Joined(i) || text.UnitText(v, i, i+1) != nil {
		return false
	}
	sign, raised := v.At(i-1), isRaised(v, i)
	begins := sign.IsVulgarFraction() || raised && sign.IsOneOf("=+-*/")
	switch {
	case raised && t.Word == &words.Unknown && v.LooseEnd(i+2):
		return true // ax²
	case !raised && !endsTerm(v, i+1):
		return false
	case begins:
		return hasEquals(v, i)
	case sign.IsOneOf("+*" + text.Hyphens + string(rune(text.Multiply))):
		return sign.Gap == t.Gap && isTerm(v, i-2) && reckons(v, i)
	}
	return v.IsSign(i-1, '=') && v.Single(i-2) && v.At(i+1).IsOneOf("+.,"+text.Hyphens)
}

// isRaised reports whether a power stands closely behind token i.
func isRaised(v *text.View, i int) bool {
	return v.Tight(i+1) && v.At(i+1).IsOneOf("^"+string(rune(text.Squared))+string(rune(text.Cubed)))
}

// endsTerm reports whether a term of a formula may end before token i.
func endsTerm(v *text.View, i int) bool {
	t := v.At(i)
	operated := t.Gap && t.IsOneOf("+="+text.Hyphens)
	return operated || t.Kind == text.Nothing || t.IsOneOf(".,)") || v.In(i, words.Joiner)
}

// isLasting reports whether the number at token i is of seconds, minutes or hours, which nobody measures sizes in.
func isLasting(v *text.View, i int) bool {
	n, ok := text.NumberAt(v, i)
	return ok && v.Reads(n.Next, "seconds", "second", "sec", "minutes", "minute", "min", "hours", "ms")
}

// into reads the x of ₹2,500 x 12 and of 3 x ₹250.
func into(r *Reader, i int) (Reading, bool) {
	if !text.Cross(&r.View, i) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanSign)
	r.Say(r.Lang.Words[words.WordTimes])
	return r.End(i + 1)
}

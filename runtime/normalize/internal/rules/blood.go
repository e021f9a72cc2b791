package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// polarity reads +ve and -ve, as of Rh -ve, which are English words in Hindi sentences, too, and the minus of a blood
// group: O-. Its plus is a plus, as people say it.
func polarity(r *Reader, i int) (Reading, bool) {
	t := r.At(i)
	said, next := "positive", i+2
	switch {
	case isBloodGroup(&r.View, i) && t.Ch != '+':
		said, next = r.Lang.Words[words.WordNegative], i+1
	case !t.IsOneOf("+-") || !r.Tight(i+1) || !r.Reads(i+1, "ve") || !r.LooseEnd(i+2):
		return Reading{}, false
	case t.Ch == '-':
		said = "negative"
	}
	r.Begin(i, speech.SpanSign)
	r.Say(said)
	return r.End(next)
}

// isBloodGroup reports whether the sign at token i is that of a blood group. A and B with a sign are marks in school,
// too, so they ask for a word of blood near them.
func isBloodGroup(v *text.View, i int) bool {
	if !v.At(i).IsOneOf("+"+text.Hyphens) || !v.Tight(i) || !v.LooseEnd(i+1) || v.Joined(i-1) {
		return false
	}
	if next := v.At(i + 1); next.IsOneOf("+-*") || v.TightSign(i+1, '(') || v.IsSign(i-2, '-') {
		return false
	}
	if v.Reads(i-1, "O", "AB", "ओ", "एबी") {
		return v.At(i+1).Kind != text.Digits || v.At(i+1).Gap && isBloodNear(v, i)
	}
	if !v.Reads(i-1, "A", "B", "ए", "बी") {
		return false
	}
	return isBloodNear(v, i)
}

// isBloodNear reports whether a word of blood stands near token i.
func isBloodNear(v *text.View, i int) bool {
	for j := max(v.Start, i-8); j < min(v.Stop, i+9); j++ {
		if v.In(j, words.BloodWord) {
			return true
		}
	}
	return false
}

package rules

import (
	"strings"

	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// Masked numbers: the mask in front is silent, one in the middle is a pause, and what is left is read digit by digit.

// maskedWord reads XXXX1234 and XXXX-XXXX-4321.
func maskedWord(r *Reader, i int) (Reading, bool) {
	if r.Joined(i) {
		return Reading{}, false
	}
	if reading, ok := gluedMask(r, i); ok {
		return reading, true
	}
	if text.Crosses(&r.View, i) {
		next, wide := text.MaskAt(&r.View, i)
		hides := 3
		if text.Stroked(&r.View, i-3) == "account" {
			hides = 2 // A/c XX 4417
		}
		if d := r.At(behindHyphen(&r.View, next)); wide < 4 && (d.Kind != text.Digits || d.Gap && wide < hides) {
			return Reading{}, false // XL, XXX
		}
		return masked(r, i)
	}
	if !text.LoneCross(&r.View, i) {
		return Reading{}, false
	}
	named := text.ContextOf(&r.View, i).What == text.IDNear || r.IsWord(i-1, words.BeforeID) || isOtherTail(&r.View, i)
	if n := len(r.Str(i + 1)); n < 3 || n > 4 || !named {
		return Reading{}, false // X1234 is a mask behind "account" only
	}
	return masked(r, i)
}

// isOtherTail reports whether the X at token i masks the account that money went to from another one: from a/c x4417 to
// x2208.
func isOtherTail(v *text.View, i int) bool {
	if !v.Reads(i-1, "to", "from") {
		return false
	}
	for j := i - 2; j > i-6; j-- {
		if text.LoneCross(v, j) {
			return true
		}
	}
	return false
}

// gluedMask reads A/cXX5468 and acctXX0417, where no space parts the word from its mask.
func gluedMask(r *Reader, i int) (Reading, bool) {
	word, least := i, 2
	if r.Single(i) && r.TightSign(i+1, '/') && r.Tight(i+2) {
		word, least = i+2, 1
	}
	if !r.TightDigits(word+1) || len(r.Str(word+1)) < 3 {
		return Reading{}, false
	}
	w := r.AtWord(word)
	name := strings.TrimRight(w, "xX")
	bare := word > i && len(w) == len(name) // A/c5544
	if len(w)-len(name) < least && !bare || name == "" {
		return Reading{}, false
	}
	full := name
	switch e := words.LookUp(name); {
	case word > i:
		if full = words.Stroked(strings.ToLower(r.Str(i) + name)); full != "account" {
			return Reading{}, false
		}
	case !e.IsAny(words.IdentifierWord, words.BeforeID):
		return Reading{}, false
	case e.Full != "":
		full = e.Full
	}
	r.Begin(i, speech.SpanMasked)
	r.Say(full)
	return r.End(sayMasked(r, word+1))
}

// maskedDigits reads 98******10, 98XXXXXX10 and 4321 XXXX XXXX 9087.
func maskedDigits(r *Reader, i int) (Reading, bool) {
	if r.Joined(i) {
		return Reading{}, false
	}
	j := i + 1
	if r.NumberBehind(j, '-') && r.TightSign(j+2, '*') {
		if next, wide := text.MaskAt(&r.View, j+2); wide >= 3 && r.Tight(next) &&
			r.At(behindHyphen(&r.View, next)).Kind == text.Digits {
			return masked(r, i) // 01-07***8812
		}
	}
	if r.TightSign(j, '-') {
		j++
	}
	next, wide := text.MaskAt(&r.View, j)
	if next == j || wide < 2 || r.At(j).Gap && wide < 3 {
		return Reading{}, false
	}
	between := r.Tight(j) && r.TightDigits(next)
	if !between && r.IsSign(j, '*') && (wide < 3 || closesEmphasis(&r.View, i, wide)) {
		return Reading{}, false // **4500**
	}
	if r.At(j).IsOneOf(text.Dots) && !between {
		return Reading{}, false // dots behind a number are an ellipsis
	}
	return masked(r, i)
}

// closesEmphasis reports whether so many stars behind token i close what as many have opened: **Total: 4500**.
func closesEmphasis(v *text.View, i, wide int) bool {
	for k := i - 1; k >= max(v.Start, i-text.Lookahead); k-- {
		if !v.IsSign(k, '*') {
			continue
		}
		first := k
		for v.Tight(first) && v.IsSign(first-1, '*') {
			first--
		}
		opens := v.Tight(k+1) && (v.At(first).Gap || v.At(first-1).Kind == text.Sign)
		return opens && k-first+1 == wide
	}
	return false
}

// maskedSign reads ****4321, *1207, •••• 5560 and, where a card or an account is named, ...0042.
func maskedSign(r *Reader, i int) (Reading, bool) {
	if r.Tight(i) && r.IsSign(i-1, r.At(i).Ch) {
		return Reading{}, false // the whole run was looked at when it began
	}
	next, wide := text.MaskAt(&r.View, i)
	hides := r.IsSign(i, '*') && wide >= 2 && !r.TightSign(next+1, '*')
	behindName := hides && r.TightDigits(next) && r.At(i-1).Kind.Lettered() // wallet**88
	if next == i || r.Joined(i) && !behindName {
		return Reading{}, false
	}
	if r.At(next).Kind != text.Digits {
		return Reading{}, false
	}
	if named := behindName && len(r.Str(next)) >= 2; !named && !hidesDigits(&r.View, i, next, wide) {
		return Reading{}, false
	}
	return masked(r, i)
}

// hidesDigits reports whether the signs at token i, which are so wide, are a mask of the digits at token next.
func hidesDigits(v *text.View, i, next, wide int) bool {
	size := len(v.Str(next))
	if v.At(i).IsOneOf(text.Dots) {
		return size >= 2 && isAccountNear(v, i) && !countsBehind(v, next+1)
	}
	if wide >= 3 && (v.Tight(next) || !v.IsSign(i, '#')) {
		return true
	}
	dialled := v.TightSign(next+1, '*') || v.TightSign(next+1, '#') // *121#
	hides := v.At(i).IsOneOf("*" + string(rune(text.Bullet)))
	return hides && v.Tight(next) && size >= 3 && !dialled
}

// countsBehind reports whether the word at token i is a noun that is counted, and no credit: A/c ..5530 Cr INR 200.
func countsBehind(v *text.View, i int) bool {
	moved := text.CurrencyCode(v, i+1) > 0 || v.At(i+1).IsCurrency()
	return v.CountedAt(i) && !moved
}

// isAccountNear reports whether an account, a card or a bank is named in front of token i.
func isAccountNear(v *text.View, i int) bool {
	// UMRN ...7731
	lettered := v.At(i-1).InCapitals() && len(v.Str(i-1)) >= 3 && !text.SaidAsWord(v.At(i-1).Word, v.Str(i-1))
	return lettered || text.ContextOf(v, i).What != text.NoContext || v.In(i-1, words.Bank) || v.In(i-2, words.Bank)
}

// masked reads groups of digits and masks from token i, which holds either, as far as they go.
func masked(r *Reader, i int) (Reading, bool) {
	r.Begin(i, speech.SpanMasked)
	return r.End(sayMasked(r, i))
}

// sayMasked says the digits of a masked number from token i and returns the token behind it.
func sayMasked(r *Reader, i int) int {
	spokenAny := false
	j := frontOfCard(&r.View, i)
	for range 2 * text.MaxParts {
		k := j
		if j > i && r.IsSign(k, '-') && r.Tight(k) {
			k++
		}
		if next, wide := text.MaskAt(&r.View, k); next > k && (j == i || wide >= 2) {
			j = next
			if spokenAny && (r.At(j).Kind == text.Digits || r.IsSign(j, '-')) {
				r.Pause()
			}
			continue
		}
		if t := r.At(k); t.Kind == text.Digits && (k == i || !(t.Gap && r.At(k-1).Kind == text.Digits)) {
			if spokenAny && k > j {
				r.Pause() // 112-508***-006
			}
			r.Grouped(r.Str(k))
			spokenAny = true
			j = k + 1
			continue
		}
		break
	}
	if !spokenAny {
		r.Apart()
	}
	return j
}

// frontOfCard returns where the mask behind the digits at token i begins, if it hides so much that only the tail is
// said, as of 5123 XXXX XXXX 0096; else i.
func frontOfCard(v *text.View, i int) int {
	if v.At(i).Kind != text.Digits || len(v.Str(i)) > 6 {
		return i
	}
	j := i + 1
	if v.TightSign(j, '-') {
		j++
	}
	next, wide := text.MaskAt(v, j)
	if v.IsSign(next, '-') && v.Tight(next) {
		next++
	}
	if t := v.At(next); wide >= 8 && t.Kind == text.Digits && t.B-t.A == 4 {
		return j
	}
	return i
}

// serviceCode reads *121# and *123*1#, which are dialled as they stand.
func serviceCode(r *Reader, i int) (Reading, bool) {
	if !r.IsSign(i, '*') || !r.TightDigits(i+1) {
		return Reading{}, false
	}
	j := i + 2
	for j-i < text.Lookahead && r.NumberBehind(j, '*') {
		j += 2
	}
	if !r.TightSign(j, '#') {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanCode)
	for k := i; k < j; k += 2 {
		r.Say(r.Lang.Words[words.WordStar])
		r.Grouped(r.Str(k + 1))
	}
	r.Say(r.Lang.Words[words.WordHash])
	return r.End(j + 1)
}

package text

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// isSymbol reports whether the Latin word at token j is a symbol beside a number: kg, Rs, PM, Aug.
func isSymbol(v *View, j int) bool {
	t := v.At(j)
	ofLanguage := t.Word.IsAny(words.HindiWord, words.HindiMaybe, words.EnglishWord) // 5hai
	if v.At(j-1).Kind == Digits && (v.Tight(j) && !ofLanguage || t.Word.IsAny(words.Meridiem, words.ScaleWord)) {
		return true
	}
	if IsMeasure(v, j) {
		return true
	}
	if t.Word.Is(words.Month) && t.B-t.A <= 4 && (v.At(j+1).Kind == Digits || v.At(j-1).Kind == Digits) {
		return true
	}
	over := v.IsSign(j-1, '/') && v.Tight(j) && IsMeasure(v, j-2) && UnitText(v, j, j+1) != nil // km/hr
	micro := v.At(j-1).Kind == Foreign && v.Tight(j) && v.At(j-2).Kind == Digits                // 35 µm
	return over || micro || CurrencyCode(v, j) > 0 || Cross(v, j)
}

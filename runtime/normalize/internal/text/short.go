package text

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// IsWordBeforeStop reports whether a word that is a short form, too, stands at token i in full, and the dot before next
// ends its sentence: piece of art. A short form goes on with a number, a small letter or, with a capital of its own, a
// name: fig. 3, max. weight, Col. Rao.
func IsWordBeforeStop(v *View, i, next int) bool {
	switch n := v.At(next); {
	case n.Kind == Nothing, v.IsSign(next, '.'):
		return true
	case v.IsWord(i, words.RomanHead) && RomanValue(v.AtWord(next)) > 0:
		return false // vol. I
	case n.Kind == Latin && n.Cas != words.Lower:
		return v.At(i).Cas == words.Lower
	case n.Kind == Deva:
		return v.At(i).Cas == words.Lower && v.At(i).Kind == Latin
	}
	return false
}

// CountsPieces reports whether the no or nos at token i, whose dot ends before next, has its number before it.
func CountsPieces(v *View, i, next int) bool {
	if v.At(i-1).Kind != Digits || len(v.Str(i-1)) > 4 {
		return false
	}
	if v.Reads(i, "nos", "Nos", "NOS") {
		return true
	}
	return v.Reads(i, "no", "No") && next > i+1 && (v.At(next).Kind.Lettered() || v.At(next).Kind == Nothing)
}

// IsLongCode reports whether what begins at token i is so long, or so mixed, that the no before it can be no answer.
func IsLongCode(v *View, i int) bool {
	t := v.At(i)
	if t.Kind == Digits {
		if v.Joined(i+1) && CurrencyCode(v, i+1) == 0 {
			return true
		}
		n := len(v.Str(i))
		return n >= 5 || n >= 3 && v.At(i+1).Kind == Digits
	}
	if TypedVehicle(v, i) > i {
		return true // gaadi no mh12 ab 4471
	}
	return t.Cas == words.Upper && (CodeLetters(v, i) || v.At(i+1).Kind == Digits && len(v.Str(i+1)) >= 3)
}

// Named reports whether the word before token i says whose number it is.
func Named(v *View, i int) bool {
	switch {
	case v.IsAnyWord(i-1, words.IdentifierWord, words.DotOrNone, words.NumbersThings, words.BeforeID),
		isAcronym(v, i-1), Stroked(v, i-3) == "account":
		return true
	case v.Capital(i-1) && v.At(i+1).Kind == Digits && !v.Single(i-2):
		return true // W NO 14
	case v.IsSign(i-1, '.'):
		return v.IsAnyWord(i-2, words.IdentifierWord, words.DotOrNone)
	}
	if v.IsSign(i+1, '.') && IsIs(v, i+2) && v.In(i-1, words.Owner) {
		return true // mera no. hai 98
	}
	next := i + 1
	if v.TightSign(next, '.') {
		next++
	}
	if v.In(i-1, words.Owner) && (v.Reads(next+1, "double", "triple") || Singles(v, next) > next+4) {
		return true // uska no 9 triple 4
	}
	return v.In(i-1, words.Possessive) && IsLongCode(v, next)
}

// CodeLetters reports whether the letters at token i go on with digits: A-12, SAVE50, XX3345.
func CodeLetters(v *View, i int) bool {
	j := i + 1
	if v.TightSign(j, '-') || v.TightSign(j, '/') {
		j++
	}
	return v.TightDigits(j) || Crosses(v, i)
}

// NumberFollows reports whether a number or a code begins at token i.
func NumberFollows(v *View, i int) bool {
	t := v.At(i)
	if next, wide := MaskAt(v, i); wide > 1 && v.At(i).IsOneOf("*.") && v.At(next).Kind == Digits {
		return true // No **9242, No ..3390
	}
	if v.IsSign(i, ':') && Crosses(v, i+1) {
		return v.TightDigits(i + 2) // No:XXXX4417
	}
	if t.IsOneOf("#:-+") {
		t = v.At(i + 1)
	}
	if t.Kind == Deva {
		return v.TightDigits(i+1) || v.TightSign(i+1, '-') && v.TightDigits(i+2) // एमपी4471, एमपी-4471
	}
	if !t.InCapitals() {
		return t.Kind == Digits || TypedVehicle(v, i) > i
	}
	if j := i + 1; (v.TightSign(j, '/') || v.TightSign(j, '-')) && v.Tight(j+1) && v.At(j+1).InCapitals() {
		return true // DL/CPM/0041177
	}
	vehicle := words.LookUpWritten(v.Str(i)).Is(words.State) && v.At(i+1).Kind == Digits // MH 12
	return vehicle || CodeLetters(v, i)
}

// Stroked returns what A/c, C/o and their like say, "" for anything else at token i.
func Stroked(v *View, i int) string {
	if !v.Single(i) || !v.TightSign(i+1, '/') || !v.TightLetter(i+2) || !v.LooseEnd(i+3) {
		return ""
	}
	if v.Reads(i, "w") && v.Reads(i+2, "o") && !(v.At(i-1).Cas == words.Title && v.At(i+3).Cas == words.Title) {
		return "without" // between two names it is wife of
	}
	return words.Stroked(string([]byte{v.Text[v.Toks[i].A] | 0x20, v.Text[v.Toks[i+2].A] | 0x20}))
}

// isAcronym reports whether token i is two to five capitals that are spelled: the GST of GST no.
func isAcronym(v *View, i int) bool {
	t := v.At(i)
	n := t.B - t.A
	return t.InCapitals() && 2 <= n && n <= 5 && !SaidAsWord(t.Word, v.Str(i))
}

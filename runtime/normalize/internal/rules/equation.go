package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// relations are the signs that make a statement of what stands on both sides of them.
const relations = "=" + string(rune(text.Approx)) + string(rune(text.NotEqual)) + string(rune(text.LessEqual)) +
	string(rune(text.GreaterEqual))

// reckons reports whether the sentence of token i has an equals sign, or its like, near it: the signs around are those
// of a formula.
func reckons(v *text.View, i int) bool {
	for j := max(v.Start, i-24); j < min(v.Stop, i+24); j++ {
		if v.At(j).IsOneOf(relations) {
			return true
		}
	}
	return false
}

// isReckonedOn reports whether the sign of multiplication at token i goes on a sum that does not begin with a number:
// /month × 12 months = …, (1 + r) × 3 = …
func isReckonedOn(v *text.View, i int) bool {
	p := v.At(i - 1)
	return p.Kind.WordLike() && reckons(v, i) || p.IsOneOf(")]%") && v.At(i+1).Kind != text.Nothing
}

// isQuotient reports whether the stroke at token i stands apart between two terms of a formula that are no numbers:
// (r^n – 1) / (r – 1).
func isQuotient(v *text.View, i int) bool {
	if !reckons(v, i) {
		return false
	}
	if raised := v.IsSign(i-2, '(') && v.IsSign(i+2, ')') && v.TightSign(i+3, '^'); raised {
		return true // (EV/BV)^(1/n)
	}
	if v.IsSign(i-1, ')') && v.At(i+1).Kind == text.Latin {
		return true // (Gain − Cost)/Cost
	}
	if isNamedQuotient(v, i) {
		return true
	}
	if !v.At(i).Gap || !v.At(i+1).Gap {
		return false
	}
	p, next := v.At(i-1), v.At(i+1)
	divided := p.Kind.WordLike() || p.IsOneOf(")]"+string(rune(text.Squared))+string(rune(text.Cubed)))
	return divided && (next.Kind.WordLike() || next.IsOneOf("(["))
}

// isNamedQuotient reports whether the stroke at token i and its terms are all between two equals signs:
// Speed = Distance/Time = 60 km/h.
func isNamedQuotient(v *text.View, i int) bool {
	return v.IsSign(i-2, '=') && v.IsSign(i+2, '=') && v.At(i-1).Kind.Lettered() && v.At(i+1).Kind.Lettered()
}

// isPrintedMinus reports whether the sign at token j is a minus of print apart between two terms of a formula, which
// may be words: (Gain − Cost).
func isPrintedMinus(v *text.View, j int) bool {
	if v.At(j).Ch != text.MinusSign || !v.At(j).Gap || !v.At(j+1).Gap {
		return false
	}
	return v.At(j-1).Kind.WordLike() && v.At(j+1).Kind.WordLike() && reckons(v, j)
}

// isBracketedMinus reports whether the dash at token j stands apart between the last two terms of a bracket of a
// formula: (r^n – 1).
func isBracketedMinus(v *text.View, j int) bool {
	closes := v.At(j + 2).IsOneOf(")]")
	return v.At(j).Gap && v.At(j+1).Gap && closes && reckons(v, j)
}

// sayFactors says the letters of token i one by one: ab → a b. A word with other letters than those of English stays.
func sayFactors(r *Reader, i int) {
	s := r.Str(i)
	if !ascii(s) {
		r.Keep(i)
		return
	}
	for k := range len(s) {
		r.Say(s[k : k+1])
	}
}

// isFactorAndLetters reports whether token i is a number that multiplies two or three letters of a formula: 2ab, 4ac.
func isFactorAndLetters(v *text.View, i int) bool {
	letters := v.AtWord(i + 1)
	if n := len(letters); n < 2 || n > 3 || !v.At(i+1).InSmallLetters() || !v.LooseEnd(i+2) {
		return false
	}
	if text.UnitText(v, i+1, i+2) != nil && letters != "ac" || text.EnglishEnding(letters) ||
		v.At(i+1).Word.IsAny(words.Meridiem, words.ScaleWord) {
		return false
	}
	operator := "+-*/" + text.Hyphens
	joined := v.At(i-1).IsOneOf("=("+operator) || v.At(i+2).IsOneOf("=)"+operator)
	return joined && reckons(v, i)
}

// isPolynomial reports whether the hyphen at token j stands behind a power, x² - 7x, or between the two terms of a
// bracket: (x-3), (p-q), (x₂-x₁).
func isPolynomial(v *text.View, j int) bool {
	raised := string(rune(text.Squared)) + string(rune(text.Cubed))
	if v.At(j-1).IsOneOf(raised) && v.At(j).Gap == v.At(j+1).Gap {
		return true
	}
	left, right := j-1, j+1
	if v.At(left).Low {
		left--
	}
	if v.At(right + 1).Low {
		right++
	}
	if !v.IsSign(left-1, '(') || !v.IsSign(right+1, ')') || !v.Single(left) || !v.At(left).InSmallLetters() {
		return false
	}
	return v.At(j+1).Kind == text.Digits || v.Single(j+1) && reckons(v, j)
}

// markOfFunction returns the word of a mark that only functions have, or the power of a bracket, no word for any other.
func markOfFunction(v *text.View, i int) words.Connector {
	switch {
	case v.TightSign(i, text.Squared) && v.IsSign(i-1, ')'):
		return words.WordSquared
	case v.TightSign(i, text.Cubed) && v.IsSign(i-1, ')'):
		return words.WordCubed
	case isPrime(v, i):
		return words.WordPrime
	case isGiven(v, i):
		return words.WordGiven
	case v.IsSign(i, text.Arrow) && v.Single(i-1) && v.Reads(i-2, "as", "lim", "limit", "जब", "jab", "when"):
		return words.WordTends // as x→0
	}
	return words.NoWord
}

// isPrime reports whether the quote at token i is the prime of a function: f'(x).
func isPrime(v *text.View, i int) bool {
	if !v.TightSign(i, '\'') || !v.TightSign(i+1, '(') {
		return false
	}
	return v.Single(i-1) && v.At(i-1).InSmallLetters() && !v.Joined(i-1)
}

// isGiven reports whether the bar at token i stands between two events: P(A|B).
func isGiven(v *text.View, i int) bool {
	if !v.TightSign(i, '|') || !v.Tight(i+1) || !v.IsSign(i-2, '(') || !v.IsSign(i+2, ')') {
		return false
	}
	return v.Capital(i-1) && v.Capital(i+1)
}

// isPrintedDifference reports whether the minus of print at token j stands apart between two amounts of a formula:
// 180° − 75° =.
func isPrintedDifference(v *text.View, j int) bool {
	if v.At(j).Ch != text.MinusSign || !v.At(j).Gap || !v.At(j+1).Gap {
		return false
	}
	return v.At(j-1).IsOneOf("%"+string(rune(text.Degree))) && v.At(j+1).Kind == text.Digits && reckons(v, j)
}

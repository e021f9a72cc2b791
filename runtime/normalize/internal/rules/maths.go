package rules

import (
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// greekLetters are the letters that formulas are written with, and the places of their names in [language.greek].
var greekLetters = map[string]int{
	"α": 1, "β": 2, "γ": 3, "δ": 4, "Δ": 4, "ε": 5, "η": 6, "θ": 7, "Θ": 7, "λ": 8, "μ": 9, "ν": 10, "π": 11, "Π": 11, "ρ": 12, "σ": 13, "Σ": 13, "τ": 14, "φ": 15, "Φ": 15, "χ": 16, "ψ": 17, "ω": 18, "Ω": 18, "κ": 19,
}

// greek names a Greek letter that stands for itself; a word of Greek stays.
func greek(r *Reader, i int) (Reading, bool) {
	s := r.Str(i)
	if greekLetters[s] > 0 {
		r.Begin(i, speech.SpanSign)
		r.Say(r.Lang.Greek[greekLetters[s]])
		return r.End(i + 1)
	}
	first, n := utf8.DecodeRuneInString(s)
	if first != 'Δ' || greekLetters[s[n:]] == 0 {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanSign) // Δθ
	r.Say(r.Lang.Greek[greekLetters["Δ"]])
	r.Say(r.Lang.Greek[greekLetters[s[n:]]])
	return r.End(i + 1)
}

// inEquation reports whether an equals sign follows token i, with nothing but numbers, letters and signs between.
func inEquation(v *text.View, i int) bool {
	for j := i; j < i+12; j++ {
		t := v.At(j)
		switch {
		case t.IsOneOf("=<>" + string(rune(text.Approx)) + string(rune(text.NotEqual)) + string(rune(text.LessEqual)) +
			string(rune(text.GreaterEqual))):
			return true
		case j > i && v.In(j, words.HowMuch):
			return true // 3x - 5 कितना होगा
		case t.Kind == text.Digits, v.Single(j),
			t.IsOneOf("+*/.^()" + text.Hyphens + string(rune(text.Multiply)) + string(rune(text.Divide)) +
				string(rune(text.Squared)) + string(rune(text.Cubed))):
		default:
			return false
		}
	}
	return false
}

// isMinus reports whether the hyphen at token j subtracts: 20 - 7 = 13.
func isMinus(v *text.View, j int) bool {
	t, next := v.At(j), v.At(j+1)
	if isPrintedMinus(v, j) || isProgramMinus(v, j) || isPrintedDifference(v, j) {
		return true
	}
	if !t.IsOneOf(text.Hyphens) || !isTerm(v, j-1) || !isTerm(v, j+1) {
		return false
	}
	if v.IsSign(j-1, ')') && v.At(j-2).Kind == text.Deva {
		return false
	}
	if t.Ch == text.MinusSign || isBracketedMinus(v, j) || isPolynomial(v, j) {
		return true
	}
	apart := t.Gap && next.Gap
	unknown := apart && v.Single(j-1) && next.Kind == text.Digits && hasEquals(v, j) // 3x = 20, then find x - 2
	return unknown || inEquation(v, j+1) || t.Gap == next.Gap && v.At(j-2).IsOneOf("=+")
}

// isProgramMinus reports whether the hyphen at token j subtracts in a program: end - start + 1.
func isProgramMinus(v *text.View, j int) bool {
	t := v.At(j)
	if !t.Part.IsProgram() || t.Ch != '-' || !t.Gap || !v.At(j+1).Gap {
		return false
	}
	left, right := v.At(j-1), v.At(j+1)
	if !left.Kind.WordLike() && !left.IsOneOf(")]") || !right.Kind.WordLike() && !right.IsOneOf("([") {
		return false
	}
	return t.Part == text.InCode || hasEquals(v, j) || v.Reads(j-2, "return") || right.Kind == text.Digits
}

// hasEquals reports whether an equals sign stands in front of token j in its sentence.
func hasEquals(v *text.View, j int) bool {
	for k := j - 1; k >= max(v.Start, j-14); k-- {
		if v.IsSign(k, '=') {
			return true
		}
	}
	return false
}

// isNegative reports whether the hyphen at token j is the sign of a term: -x = 5, 1 + - 2 = - 1.
func isNegative(v *text.View, j int) bool {
	if v.IsSign(j-1, '=') && v.At(j).Gap && v.Reads(j+1, "log", "ln", "sin", "cos", "tan") && v.Tight(j+1) {
		return v.At(j).IsOneOf(text.Hyphens) // pH = -log[H+]
	}
	if v.IsSign(j-1, '=') && v.Tight(j) && v.TightDigits(j+1) {
		return v.At(j).IsOneOf(text.Hyphens) // b=-4
	}
	number := v.TightDigits(j + 1) // which has its minus with it
	if !v.At(j).IsOneOf(text.Hyphens) || !isTerm(v, j+1) || number {
		return false
	}
	behindSign := v.At(j - 1).IsOneOf("=+*/(")
	begins := j == v.Start && v.Tight(j+1) // and no item of a list: - 1 <= n
	return v.IsSign(j-1, '=') || (begins || behindSign) && inEquation(v, j+1)
}

// isTerm reports whether token j is a number, a letter or a bracket of a formula.
func isTerm(v *text.View, j int) bool {
	return v.At(j).Kind == text.Digits || v.Single(j) ||
		v.At(j).IsOneOf("()"+string(rune(text.Squared))+string(rune(text.Cubed))) || greekLetters[foreignWord(v, j)] > 0
}

func foreignWord(v *text.View, j int) string {
	if v.At(j).Kind == text.Foreign {
		return v.Str(j)
	}
	return ""
}

// formula reads the signs that are words only in formulas: the minus of 20 - 7 = 13, the bang of 5!, the caret of 2^5,
// a root.
func formula(r *Reader, i int) (Reading, bool) {
	if a, ok := compared(&r.View, i); ok {
		r.Begin(i, speech.SpanSign)
		r.SayAmount(&a, r.Lang, false)
		r.Say(r.Lang.Words[signWords[r.At(i).Ch]])
		return r.End(a.Next)
	}
	w, next := markOfFunction(&r.View, i), i+1
	switch t := r.At(i); {
	case w != words.NoWord:
	case isMinus(&r.View, i), isNegative(&r.View, i):
		w = words.WordMinus
	case t.Ch == text.Root && opensTerm(&r.View, i+1):
		w = words.WordRoot
	case t.Ch == '/' && (divides(&r.View, i) || isQuotient(&r.View, i)):
		w = words.WordOver
	case t.Ch == '!' && r.Tight(i) && r.At(i-1).Kind == text.Digits && r.At(i+1).IsOneOf(operators):
		w = words.WordFactorial
	case isStarPower(&r.View, i), hasExponent(&r.View, i):
		w, next = exponent(&r.View, i+1)
	default:
		return Reading{}, false
	}
	r.Begin(i, speech.SpanSign)
	r.Say(r.Lang.Words[w])
	if w == words.WordPower && r.At(next).IsOneOf(text.Hyphens) {
		r.Say(r.Lang.Words[words.WordMinus]) // 10^-6
		next++
	}
	return r.End(next)
}

// hasExponent reports whether the caret or the raised mark at token i stands between a term and its power: 2^5, 10⁻⁷.
func hasExponent(v *text.View, i int) bool {
	if !v.At(i).IsOneOf("^"+string(rune(text.Raised))) || !v.Tight(i) || !isTerm(v, i-1) && !isProduct(v, i-1) {
		return false
	}
	return tightTerm(v, i+1) || v.At(i+1).IsOneOf(text.Hyphens) && v.Tight(i+1) && v.TightDigits(i+2)
}

// isStarPower reports whether the power of a program begins at token i: 2 ** 5.
func isStarPower(v *text.View, i int) bool {
	return v.At(i).Part.IsProgram() && v.IsSign(i, '*') && v.TightSign(i+1, '*') && isTerm(v, i+2)
}

// opensTerm reports whether a term begins at token i, perhaps with its bracket.
func opensTerm(v *text.View, i int) bool { return isTerm(v, i) || v.IsSign(i, '[') }

// isProduct reports whether token i is two letters of a formula: the mc of E = mc².
func isProduct(v *text.View, i int) bool {
	return v.At(i).InSmallLetters() && len(v.Str(i)) == 2 && hasEquals(v, i)
}

// divides reports whether the stroke at token i stands over a term of a formula.
func divides(v *text.View, i int) bool {
	if !isTerm(v, i-1) && !v.Joined(i) || !isTerm(v, i+1) && !v.IsSign(i+1, text.Root) {
		return false
	}
	if v.IsSign(i+1, text.Root) {
		return true // 1/√3
	}
	if v.IsSign(i-1, ')') && reckons(v, i) {
		return true
	}
	if negated := v.At(i-2).IsOneOf(text.Hyphens) && v.At(i-3).IsOneOf(relations); negated {
		return true // = -b/a
	}
	letter := v.Single(i+1) && v.At(i+1).InSmallLetters()
	if v.At(i-1).Kind == text.Digits && letter && reckons(v, i) {
		return true // 1/x
	}
	related := v.At(i-2).IsOneOf(relations) || v.IsSign(i-2, '(') && v.IsSign(i+2, ')') && reckons(v, i)
	return related || inEquation(v, i+1)
}

// exponent returns how that at token i is said: as a square or a cube, else before it.
func exponent(v *text.View, i int) (w words.Connector, next int) {
	if v.IsSign(i, '*') {
		i++ // 2 ** 5
	}
	switch v.Str(i) {
	case "2":
		return words.WordSquared, i + 1
	case "3":
		return words.WordCubed, i + 1
	}
	return words.WordPower, i
}

// algebra reads 3x and 2πr: a number and the letters that it multiplies, in a formula.
func algebra(r *Reader, i int) (Reading, bool) {
	if len(r.Str(i)) > 4 || r.Joined(i) || !r.Tight(i+1) {
		return Reading{}, false
	}
	j := i + 1
	if isFactorAndLetters(&r.View, i) {
		r.Begin(i, speech.SpanNumber)
		r.SayPlain(i, r.Lang)
		sayFactors(r, j)
		return r.End(j + 1)
	}
	if !r.TightLetter(j) || r.At(j).Cas != words.Lower || !r.LooseEnd(j+1) {
		return Reading{}, false
	}
	if r.Reads(j, "k") && len(r.Str(i)) > 1 {
		return Reading{}, false // 35k = 0.35L is money
	}
	switch next := r.At(j + 1); {
	case next.IsOneOf("=" + string(rune(text.Squared)) + string(rune(text.Cubed))):
	case next.IsOneOf("+"+text.Hyphens) && inEquation(&r.View, j+2):
	case r.At(i-1).IsOneOf("+-=") && inEquation(&r.View, j+1):
	case r.At(i-1).IsOneOf("+-") && isPolynomial(&r.View, i-1):
	default:
		return Reading{}, false
	}
	r.Begin(i, speech.SpanNumber)
	r.SayPlain(i, r.Lang)
	return r.End(j)
}

// scientific reads 2e-4 and 1.5e+6.
func scientific(r *Reader, i int) (Reading, bool) {
	e := i + 1
	if r.NumberBehind(e, '.') {
		e += 2
	}
	if !r.TightLetter(e) || !r.Reads(e, "e") || !r.Tight(e+1) || !r.At(e+1).IsOneOf("+"+text.Hyphens) {
		return Reading{}, false
	}
	n, ok := text.NumberAt(&r.View, i)
	if !ok || n.Next != e || n.Size > 4 || r.Joined(i) {
		return Reading{}, false
	}
	if power := r.Small(e+2, 3); power < 0 || !r.Tight(e+2) || !r.LooseEnd(e+3) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanNumber)
	r.SayNumber(&n, r.Lang, false)
	r.Say(r.Lang.Words[words.WordTimes])
	r.Cardinal(10, r.Lang)
	r.Say(r.Lang.Words[words.WordPower])
	if r.At(e+1).Ch != '+' {
		r.Say(r.Lang.Words[words.WordMinus])
	}
	r.SayPlain(e+2, r.Lang)
	return r.End(e + 3)
}

// operators are the signs that a factorial stands before.
const operators = "=+-*/)" + string(rune(text.Divide)) + string(rune(text.Multiply))

// tightTerm reports whether token i is a term directly behind the sign before it.
func tightTerm(v *text.View, i int) bool { return v.Tight(i) && isTerm(v, i) }

// comparing are the signs whose word comes last in Hindi.
const comparing = "<>" + string(rune(text.LessEqual)) + string(rune(text.GreaterEqual))

// compared returns the amount behind the sign at token i, which stands between something and it in a Hindi sentence,
// where its word comes last: 7 < 8 is सात आठ से कम, and temperature > 90 is temperature नब्बे से ज़्यादा. At the
// beginning of a line > is a quotation unless a share follows.
func compared(v *text.View, i int) (a text.Amount, ok bool) {
	isFirst := i == v.Start || v.At(i-1).Kind == text.Sign && !isTerm(v, i-1) && !v.At(i-1).IsOneOf("%)")
	if v.English || !v.At(i).IsOneOf(comparing) {
		return a, false
	}
	if named := v.At(i-1).Kind.Lettered() || v.Joined(i-1); !named && !v.At(i).Gap {
		return a, false
	}
	if next := v.At(i + 1); next.Kind != text.Digits && !next.IsCurrency() {
		return a, false
	}
	a, ok = text.AmountAt(v, i+1)
	if isQuotation := isFirst && !a.Percent && !v.Tight(i+1); !ok || isQuotation || !v.LooseEnd(a.Next) {
		return a, false
	}
	if decimals := !a.N.Whole() && v.At(i-1).Kind == text.Digits; decimals || v.CountedAt(a.Next) {
		return a, false // 0.6 > 0.58, where digits would follow digits
	}
	return a, !v.At(a.Next).IsOneOf("./,:-") || !v.Tight(a.Next+1)
}

package normalize

import "github.com/swar-tts/swar/runtime/speech"

// greekLetters are the letters that formulas are written with, and the places of their names in [language.greek].
var greekLetters = map[string]int{
	"α": 1, "β": 2, "γ": 3, "δ": 4, "Δ": 4, "ε": 5, "η": 6, "θ": 7, "Θ": 7, "λ": 8, "μ": 9, "ν": 10, "π": 11, "Π": 11, "ρ": 12, "σ": 13, "Σ": 13, "τ": 14, "φ": 15, "Φ": 15, "χ": 16, "ψ": 17, "ω": 18, "Ω": 18, "κ": 19,
}

// greek names a Greek letter that stands for itself; a word of Greek stays.
func (r *reader) greek(i int) int {
	name := greekLetters[r.str(i)]
	if name == 0 {
		return i
	}
	r.begin(i, speech.SpanSign)
	r.say(r.lang.greek[name])
	return r.end(i + 1)
}

// inEquation reports whether an equals sign follows token i, with nothing but numbers, letters and signs between.
func (r *reader) inEquation(i int) bool {
	for j := i; j < i+12; j++ {
		t := r.at(j)
		switch {
		case t.isOneOf("=<>" + string(rune(approx)) + string(rune(notEqual)) + string(rune(lessEqual)) + string(rune(greaterEqual))):
			return true
		case j > i && r.in(j, howMuch):
			return true // 3x - 5 कितना होगा
		case t.kind == digits, r.single(j), t.isOneOf("+*/.^()" + hyphens + string(rune(multiply)) + string(rune(divide)) + string(rune(squared)) + string(rune(cubed))):
		default:
			return false
		}
	}
	return false
}

// isMinus reports whether the hyphen at token j subtracts: 20 - 7 = 13.
func (r *reader) isMinus(j int) bool {
	t, next := r.at(j), r.at(j+1)
	if !t.isOneOf(hyphens) || !r.isTerm(j-1) || !r.isTerm(j+1) {
		return false
	}
	if r.isSign(j-1, ')') && r.at(j-2).kind == deva {
		return false
	}
	apart := t.gap && next.gap
	unknown := apart && r.single(j-1) && next.kind == digits && r.hasEquals(j) // 3x = 20, then find x - 2
	return unknown || r.inEquation(j+1) || t.gap == next.gap && r.at(j-2).isOneOf("=+")
}

// hasEquals reports whether an equals sign stands in front of token j in its sentence.
func (r *reader) hasEquals(j int) bool {
	for k := j - 1; k >= max(r.start, j-14); k-- {
		if r.isSign(k, '=') {
			return true
		}
	}
	return false
}

// isNegative reports whether the hyphen at token j is the sign of a term: -x = 5, 1 + - 2 = - 1.
func (r *reader) isNegative(j int) bool {
	number := r.tightDigits(j + 1) // which has its minus with it
	if !r.at(j).isOneOf(hyphens) || !r.isTerm(j+1) || number {
		return false
	}
	behindSign := r.at(j - 1).isOneOf("=+*/(")
	return r.isSign(j-1, '=') || (j == r.start || behindSign) && r.inEquation(j+1)
}

// isTerm reports whether token j is a number, a letter or a bracket of a formula.
func (r *reader) isTerm(j int) bool {
	return r.at(j).kind == digits || r.single(j) || r.at(j).isOneOf("()"+string(rune(squared))+string(rune(cubed))) || greekLetters[r.foreignWord(j)] > 0
}

func (r *reader) foreignWord(j int) string {
	if r.at(j).kind == foreign {
		return r.str(j)
	}
	return ""
}

// formula reads the signs that are words only in formulas: the minus of 20 - 7 = 13, the bang of 5!, the caret of 2^5, a root.
func (r *reader) formula(i int) int {
	if a, ok := r.compared(i); ok {
		r.begin(i, speech.SpanSign)
		r.sayAmount(&a, r.lang, false)
		r.say(r.lang.words[signWords[r.at(i).ch]])
		return r.end(a.next)
	}
	var w connector
	next := i + 1
	switch t := r.at(i); {
	case r.isMinus(i), r.isNegative(i):
		w = wordMinus
	case t.ch == root && r.isTerm(i+1):
		w = wordRoot
	case t.ch == '/' && r.divides(i):
		w = wordOver
	case t.ch == '!' && r.tight(i) && r.at(i-1).kind == digits && r.at(i+1).isOneOf(operators):
		w = wordFactorial
	case r.hasExponent(i):
		w, next = r.exponent(i + 1)
	case (t.ch == squared || t.ch == cubed) && r.tight(i) && r.isSign(i-1, ')'):
		w = wordSquared
		if t.ch == cubed {
			w = wordCubed
		}
	default:
		return i
	}
	r.begin(i, speech.SpanSign)
	r.say(r.lang.words[w])
	if w == wordPower && r.at(next).isOneOf(hyphens) {
		r.say(r.lang.words[wordMinus]) // 10^-6
		next++
	}
	return r.end(next)
}

// hasExponent reports whether the caret or the raised mark at token i stands between a term and its power: 2^5, 10⁻⁷.
func (r *reader) hasExponent(i int) bool {
	if !r.at(i).isOneOf("^"+string(rune(raised))) || !r.tight(i) || !r.isTerm(i-1) && !r.isProduct(i-1) {
		return false
	}
	return r.tightTerm(i+1) || r.numberBehind(i+1, '-') || r.numberBehind(i+1, enDash)
}

// isProduct reports whether token i is two letters of a formula: the mc of E = mc².
func (r *reader) isProduct(i int) bool {
	return r.at(i).inSmallLetters() && len(r.str(i)) == 2 && r.hasEquals(i)
}

// divides reports whether the stroke at token i stands over a term of a formula.
func (r *reader) divides(i int) bool {
	return (r.isTerm(i-1) || r.joined(i)) && r.isTerm(i+1) && r.inEquation(i+1)
}

// exponent returns how that at token i is said: as a square or a cube, else before it.
func (r *reader) exponent(i int) (w connector, next int) {
	switch r.str(i) {
	case "2":
		return wordSquared, i + 1
	case "3":
		return wordCubed, i + 1
	}
	return wordPower, i
}

// algebra reads 3x and 2πr: a number and the letters that it multiplies, in a formula.
func (r *reader) algebra(i int) int {
	if len(r.str(i)) > 4 || r.joined(i) || !r.tight(i+1) {
		return i
	}
	j := i + 1
	if !r.tightLetter(j) || r.at(j).cas != lower || !r.looseEnd(j+1) {
		return i
	}
	if r.reads(j, "k") && len(r.str(i)) > 1 {
		return i // 35k = 0.35L is money
	}
	switch next := r.at(j + 1); {
	case next.isOneOf("=" + string(rune(squared)) + string(rune(cubed))):
	case next.isOneOf("+"+hyphens) && r.inEquation(j+2):
	case r.at(i-1).isOneOf("+-=") && r.inEquation(j+1):
	default:
		return i
	}
	r.begin(i, speech.SpanNumber)
	r.sayPlain(i, r.lang)
	return r.end(j)
}

// scientific reads 2e-4 and 1.5e+6.
func (r *reader) scientific(i int) int {
	e := i + 1
	if r.numberBehind(e, '.') {
		e += 2
	}
	if !r.tightLetter(e) || !r.reads(e, "e") || !r.tight(e+1) || !r.at(e+1).isOneOf("+"+hyphens) {
		return i
	}
	n, ok := r.number(i)
	if !ok || n.next != e || n.size > 4 || r.joined(i) {
		return i
	}
	if power := r.small(e+2, 3); power < 0 || !r.tight(e+2) || !r.looseEnd(e+3) {
		return i
	}
	r.begin(i, speech.SpanNumber)
	r.sayNumber(&n, r.lang, false)
	r.say(r.lang.words[wordTimes])
	r.cardinal(10, r.lang)
	r.say(r.lang.words[wordPower])
	if r.at(e+1).ch != '+' {
		r.say(r.lang.words[wordMinus])
	}
	r.sayPlain(e+2, r.lang)
	return r.end(e + 3)
}

// operators are the signs that a factorial stands before.
const operators = "=+-*/)" + string(rune(divide)) + string(rune(multiply))

// tightTerm reports whether token i is a term directly behind the sign before it.
func (r *reader) tightTerm(i int) bool { return r.tight(i) && r.isTerm(i) }

// comparing are the signs whose word comes last in Hindi.
const comparing = "<>" + string(rune(lessEqual)) + string(rune(greaterEqual))

// compared returns the amount behind the sign at token i, which stands between something and it in a Hindi sentence, where its word comes
// last: 7 < 8 is सात आठ से कम, and temperature > 90 is temperature नब्बे से ज़्यादा. At the beginning of a line > is a quotation unless a share
// follows.
func (r *reader) compared(i int) (a amount, ok bool) {
	isFirst := i == r.start || r.at(i-1).kind == sign && !r.isTerm(i-1) && !r.at(i-1).isOneOf("%)")
	if r.lang == english || !r.at(i).isOneOf(comparing) || !r.at(i).gap {
		return a, false
	}
	if next := r.at(i + 1); next.kind != digits && !next.isCurrency() {
		return a, false
	}
	a, ok = r.amount(i + 1)
	if !ok || !r.looseEnd(a.next) || isFirst && !a.percent {
		return a, false
	}
	if decimals := !a.n.whole() && r.at(i-1).kind == digits; decimals || r.countedAt(a.next) {
		return a, false // 0.6 > 0.58, where digits would follow digits
	}
	return a, !r.at(a.next).isOneOf("./,:-") || !r.tight(a.next+1)
}

package normalize

import "github.com/swar-tts/swar/runtime/speech"

// greekLetters are the letters that formulas are written with.
var greekLetters = map[string]struct{ hi, en string }{
	"α": {"अल्फ़ा", "alpha"}, "β": {"बीटा", "beta"}, "γ": {"गामा", "gamma"}, "δ": {"डेल्टा", "delta"}, "Δ": {"डेल्टा", "delta"}, "ε": {"एप्सिलॉन", "epsilon"}, "η": {"ईटा", "eta"},
	"θ": {"थीटा", "theta"}, "Θ": {"थीटा", "theta"}, "λ": {"लैम्डा", "lambda"}, "μ": {"म्यू", "mu"}, "ν": {"न्यू", "nu"}, "π": {"पाई", "pi"}, "Π": {"पाई", "pi"}, "ρ": {"रो", "rho"},
	"σ": {"सिग्मा", "sigma"}, "Σ": {"सिग्मा", "sigma"}, "τ": {"टाऊ", "tau"}, "φ": {"फ़ाई", "phi"}, "Φ": {"फ़ाई", "phi"}, "χ": {"काई", "chi"}, "ψ": {"साई", "psi"}, "ω": {"ओमेगा", "omega"},
	"Ω": {"ओमेगा", "omega"}, "κ": {"कप्पा", "kappa"},
}

// greek names a Greek letter that stands for itself; a word of Greek stays.
func (r *reader) greek(i int) int {
	name, ok := greekLetters[r.str(i)]
	if !ok {
		return i
	}
	r.begin(i, speech.SpanSign)
	r.say(r.lang.pick(name.hi, name.en))
	return r.end(i + 1)
}

// inEquation reports whether an equals sign follows token i, with nothing but numbers, letters and signs between.
func (r *reader) inEquation(i int) bool {
	for j := i; j < i+12; j++ {
		t := r.at(j)
		switch {
		case t.isOneOf("=<>" + string(rune(approx)) + string(rune(notEqual)) + string(rune(lessEqual)) + string(rune(greaterEqual))):
			return true
		case t.kind == digits, r.single(j), t.isOneOf("+*/.^()" + hyphens + string(rune(multiply)) + string(rune(divide)) + string(rune(squared)) + string(rune(cubed))):
		default:
			return false
		}
	}
	return false
}

// isMinus reports whether the hyphen at token j subtracts: 20 - 7 = 13.
func (r *reader) isMinus(j int) bool {
	t := r.at(j)
	if !t.isOneOf(hyphens) || t.gap != r.at(j+1).gap || !r.isTerm(j-1) || !r.isTerm(j+1) {
		return false
	}
	return r.inEquation(j+1) || r.at(j-2).isOneOf("=+")
}

// isTerm reports whether token j is a number, a letter or a bracket of a formula.
func (r *reader) isTerm(j int) bool {
	return r.at(j).kind == digits || r.single(j) || r.at(j).isOneOf("()"+string(rune(squared))+string(rune(cubed))) || greekLetters[r.foreignWord(j)].en != ""
}

func (r *reader) foreignWord(j int) string {
	if r.at(j).kind == foreign {
		return r.str(j)
	}
	return ""
}

// formula reads the signs that are words only in formulas: the minus of 20 - 7 = 13, the bang of 5!, the caret of 2^5, a root.
func (r *reader) formula(i int) int {
	if r.compares(i) {
		r.begin(i, speech.SpanSign)
		r.sayPlain(i+1, hindi)
		r.say("से")
		if r.at(i).ch == '<' {
			r.say("कम")
		} else {
			r.say("ज़्यादा")
		}
		return r.end(i + 2)
	}
	hi, en := "", ""
	next := i + 1
	switch t := r.at(i); {
	case r.isMinus(i):
		hi, en = "माइनस", "minus"
	case t.ch == root && r.isTerm(i+1):
		hi, en = "वर्गमूल", "square root of"
	case t.ch == '!' && r.tight(i) && r.at(i-1).kind == digits && r.at(i+1).isOneOf("=+-*/)"+string(rune(divide))+string(rune(multiply))):
		hi, en = "फ़ैक्टोरियल", "factorial"
	case t.ch == '^' && r.tight(i) && r.isTerm(i-1) && r.tight(i+1) && r.isTerm(i+1):
		if r.tightDigits(i+1) && r.str(i+1) == "2" {
			hi, en, next = "का वर्ग", "squared", i+2
		} else {
			hi, en = "की घात", "to the power"
		}
	case (t.ch == squared || t.ch == cubed) && r.tight(i) && r.isSign(i-1, ')'):
		hi, en = "का वर्ग", "squared"
		if t.ch == cubed {
			hi, en = "का घन", "cubed"
		}
	default:
		return i
	}
	r.begin(i, speech.SpanSign)
	r.say(r.lang.pick(hi, en))
	return r.end(next)
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
	if r.at(j+1).isOneOf("="+string(rune(squared))+string(rune(cubed))) || r.at(j+1).isOneOf("+"+hyphens) && r.inEquation(j+2) || r.at(i-1).isOneOf("+-=") && r.inEquation(j+1) {
		r.begin(i, speech.SpanNumber)
		r.sayPlain(i, r.lang)
		return r.end(j)
	}
	return i
}

// compares reports whether the sign at token i stands between two things in a Hindi sentence, where it comes last: 7 < 8 is सात आठ से कम.
func (r *reader) compares(i int) bool {
	if r.lang != hindi || !r.at(i).isOneOf("<>") || !r.at(i).gap || !r.isTerm(i-1) {
		return false
	}
	if r.at(i+1).kind != digits || !r.at(i+1).gap || !r.looseEnd(i+2) || len(r.str(i+1)) > maxSize {
		return false
	}
	return !r.countedAt(i+2) && !(r.at(i+2).isOneOf("./%,:-") && r.tight(i+3))
}

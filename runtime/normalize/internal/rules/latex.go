package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// texWords are the commands that stand for a word.
var texWords = map[string]words.Connector{
	"times": words.WordTimes, "cdot": words.WordTimes, "div": words.WordDivided, "pm": words.WordPlusMinus, "sqrt": words.WordRoot, "approx": words.WordAbout,
	"leq": words.WordAtMost, "le": words.WordAtMost, "geq": words.WordAtLeast, "ge": words.WordAtLeast, "neq": words.WordUnequal, "ne": words.WordUnequal, "lt": words.WordLess, "gt": words.WordMore,
	"degree": words.WordDegree, "circ": words.WordDegree,
}

// texGreek are the commands that stand for a Greek letter, and the places of their names in [language.greek].
var texGreek = map[string]int{
	"alpha": 1, "beta": 2, "gamma": 3, "delta": 4, "Delta": 4, "epsilon": 5, "eta": 6, "theta": 7, "Theta": 7, "lambda": 8, "mu": 9, "nu": 10, "pi": 11,
	"rho": 12, "sigma": 13, "Sigma": 13, "tau": 14, "phi": 15, "Phi": 15, "chi": 16, "psi": 17, "omega": 18, "Omega": 18, "kappa": 19,
}

// command reads the backslash of LaTeX and what it stands before: \pi, \times, \frac{1}{2}, \(. Any other backslash is silent.
func command(r *Reader, i int) (Reading, bool) {
	name := ""
	if r.Tight(i + 1) {
		name = r.AtWord(i + 1)
	}
	if reading, ok := texFraction(r, i, name); ok {
		return reading, true
	}
	word := ""
	if w := texWords[name]; w != words.NoWord {
		word = r.Lang.Words[w]
	} else if g := texGreek[name]; g > 0 {
		word = r.Lang.Greek[g]
	}
	switch {
	case word != "":
		r.Begin(i, speech.SpanSign)
		r.Say(word)
		return r.End(i + 2)
	case r.Tight(i+1) && r.At(i+1).IsOneOf("()"):
		return r.Hush(i, i+2, speech.SpanMarkup)
	}
	return r.Hush(i, i+1, speech.SpanMarkup)
}

// texFraction reads \frac{1}{2}: one thing over another, each a number or a word.
func texFraction(r *Reader, i int, name string) (Reading, bool) {
	if name != "frac" && name != "dfrac" && name != "tfrac" {
		return Reading{}, false
	}
	braces := r.IsSign(i+2, '{') && r.IsSign(i+4, '}') && r.IsSign(i+5, '{') && r.IsSign(i+7, '}')
	if over, under := r.At(i+3).Kind, r.At(i+6).Kind; !braces || !over.WordLike() || !under.WordLike() {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanFraction)
	if f := halvesAndQuarters[r.Str(i+3)+"/"+r.Str(i+6)]; f > 0 {
		r.MixedNumber(&text.Number{Fraction: f}, r.Lang)
		return r.End(i + 8)
	}
	sayTerm(r, i+3)
	r.Say(r.Lang.Words[words.WordOver])
	sayTerm(r, i+6)
	return r.End(i + 8)
}

var halvesAndQuarters = map[string]byte{"1/2": text.Half, "1/4": text.Quarter, "3/4": text.ThreeQuarters}

// sayTerm says the number or the word at token i.
func sayTerm(r *Reader, i int) {
	switch number := r.At(i).Kind == text.Digits; {
	case number && text.IsSayable(&r.View, i):
		r.SayPlain(i, r.Lang)
	case number:
		r.Grouped(r.Str(i))
	default:
		r.Keep(i)
		r.Apart()
	}
}

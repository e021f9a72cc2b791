package normalize

import "github.com/swar-tts/swar/runtime/speech"

// What language models write of LaTeX: the marks around a formula, and the commands that schools need.

// hushMath makes the dollars around a formula silent, so that no rule takes them for money: $x^2 + 4 = 20$.
func hushMath(toks []token) {
	for i := 1; i < len(toks)-1; i++ {
		if toks[i].kind != sign || toks[i].ch != '$' {
			continue
		}
		end := mathEnd(toks, i)
		if end == i {
			continue
		}
		for _, k := range [...]int{i, i + 1, end - 1, end} {
			if toks[k].kind == sign && toks[k].ch == '$' {
				toks[k].ch = silent
			}
		}
		i = end
	}
}

// mathEnd returns the last dollar of the formula that the dollar at token i opens, i for none. A formula has its dollars close to it, a sign
// that no price has or nothing but a letter, and ends with its sentence at most.
func mathEnd(toks []token, i int) int {
	first := i + 1
	if toks[first].ch == '$' && toks[first].kind == sign && !toks[first].gap {
		first++
	}
	if toks[first].gap || toks[first].kind == nothing {
		return i
	}
	formula := false
	for j := first; j < min(i+lookahead, len(toks)-1); j++ {
		t := &toks[j]
		next := &toks[j+1]
		switch {
		case t.line, t.isOneOf("?!;"), t.kind == sign && t.ch == danda, t.isOneOf(".") && next.gap:
			return i
		case t.isOneOf("=^\\{"), t.kind == sign && (t.ch == squared || t.ch == cubed):
			formula = true
		case t.kind != sign || t.ch != '$':
		case t.gap || j == first:
			return i
		default:
			if double := next.kind == sign && next.ch == '$' && !next.gap; double {
				j++
				next = &toks[j+1]
			}
			letter := j == first+1 && toks[first].kind == latin
			if !next.gap && next.kind.wordLike() || !formula && !letter {
				return i
			}
			return j
		}
	}
	return i
}

// texWords are the commands that stand for a word.
var texWords = map[string]connector{
	"times": wordTimes, "cdot": wordTimes, "div": wordDivided, "pm": wordPlusMinus, "sqrt": wordRoot, "approx": wordAbout,
	"leq": wordAtMost, "le": wordAtMost, "geq": wordAtLeast, "ge": wordAtLeast, "neq": wordUnequal, "ne": wordUnequal, "lt": wordLess, "gt": wordMore,
	"degree": wordDegree, "circ": wordDegree,
}

// texGreek are the commands that stand for a Greek letter, and the places of their names in [language.greek].
var texGreek = map[string]int{
	"alpha": 1, "beta": 2, "gamma": 3, "delta": 4, "Delta": 4, "epsilon": 5, "eta": 6, "theta": 7, "Theta": 7, "lambda": 8, "mu": 9, "nu": 10, "pi": 11,
	"rho": 12, "sigma": 13, "Sigma": 13, "tau": 14, "phi": 15, "Phi": 15, "chi": 16, "psi": 17, "omega": 18, "Omega": 18, "kappa": 19,
}

// command reads the backslash of LaTeX and what it stands before: \pi, \times, \frac{1}{2}, \(. Any other backslash is silent.
func (r *reader) command(i int) int {
	name := ""
	if r.tight(i + 1) {
		name = r.atWord(i + 1)
	}
	if next := r.texFraction(i, name); next > i {
		return next
	}
	word := ""
	if w := texWords[name]; w != noWord {
		word = r.lang.words[w]
	} else if g := texGreek[name]; g > 0 {
		word = r.lang.greek[g]
	}
	switch {
	case word != "":
		r.begin(i, speech.SpanSign)
		r.say(word)
		return r.end(i + 2)
	case r.tight(i+1) && r.at(i+1).isOneOf("()"):
		return r.hush(i, i+2, speech.SpanMarkup)
	}
	return r.hush(i, i+1, speech.SpanMarkup)
}

// texFraction reads \frac{1}{2}: one thing over another, each a number or a word.
func (r *reader) texFraction(i int, name string) int {
	if name != "frac" && name != "dfrac" && name != "tfrac" {
		return i
	}
	braces := r.isSign(i+2, '{') && r.isSign(i+4, '}') && r.isSign(i+5, '{') && r.isSign(i+7, '}')
	if over, under := r.at(i+3).kind, r.at(i+6).kind; !braces || !over.wordLike() || !under.wordLike() {
		return i
	}
	r.begin(i, speech.SpanFraction)
	if f := halvesAndQuarters[r.str(i+3)+"/"+r.str(i+6)]; f > 0 {
		r.mixedNumber(&number{fraction: f}, r.lang)
		return r.end(i + 8)
	}
	r.sayTerm(i + 3)
	r.say(r.lang.words[wordOver])
	r.sayTerm(i + 6)
	return r.end(i + 8)
}

var halvesAndQuarters = map[string]byte{"1/2": half, "1/4": quarter, "3/4": threeQuarters}

// sayTerm says the number or the word at token i.
func (r *reader) sayTerm(i int) {
	switch number := r.at(i).kind == digits; {
	case number && r.isSayable(i):
		r.sayPlain(i, r.lang)
	case number:
		r.grouped(r.str(i))
	default:
		r.keep(i)
		r.join = spaced
	}
}

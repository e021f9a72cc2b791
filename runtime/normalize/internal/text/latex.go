package text

// What language models write of LaTeX: the marks around a formula, and the commands that schools need.

// hushMath makes the dollars around a formula silent, so that no rule takes them for money: $x^2 + 4 = 20$.
func hushMath(toks []Token) {
	for i := 1; i < len(toks)-1; i++ {
		if toks[i].Kind != Sign || toks[i].Ch != '$' {
			continue
		}
		end := mathEnd(toks, i)
		if end == i {
			continue
		}
		for _, k := range [...]int{i, i + 1, end - 1, end} {
			if toks[k].Kind == Sign && toks[k].Ch == '$' {
				toks[k].Ch = Silent
			}
		}
		i = end
	}
}

// mathEnd returns the last dollar of the formula that the dollar at token i opens, i for none. A formula has its dollars close to it, a sign
// that no price has or nothing but a letter, and ends with its sentence at most.
func mathEnd(toks []Token, i int) int {
	first := i + 1
	if toks[first].Ch == '$' && toks[first].Kind == Sign && !toks[first].Gap {
		first++
	}
	if toks[first].Gap || toks[first].Kind == Nothing {
		return i
	}
	formula := false
	for j := first; j < min(i+Lookahead, len(toks)-1); j++ {
		t := &toks[j]
		next := &toks[j+1]
		switch {
		case t.Line, t.IsOneOf("?!;"), t.Kind == Sign && t.Ch == Danda, t.IsOneOf(".") && next.Gap:
			return i
		case t.IsOneOf("=^\\{"), t.Kind == Sign && (t.Ch == Squared || t.Ch == Cubed):
			formula = true
		case t.Kind != Sign || t.Ch != '$':
		case t.Gap || j == first:
			return i
		default:
			if double := next.Kind == Sign && next.Ch == '$' && !next.Gap; double {
				j++
				next = &toks[j+1]
			}
			letter := j == first+1 && toks[first].Kind == Latin
			if !next.Gap && next.Kind.WordLike() || !formula && !letter {
				return i
			}
			return j
		}
	}
	return i
}

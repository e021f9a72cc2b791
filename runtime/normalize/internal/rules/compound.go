package rules

import (
	"strings"

	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// symbolsOfElements are those of chemistry that school books use.
const symbolsOfElements = "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y " +
	"Zr Mo Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba W Pt Au Hg Pb Bi Ra U Th"

// elements are the same by their capital, and by their small letter or 0.
var elements = func() (all ['Z' - 'A' + 1]['z' - 'a' + 2]bool) {
	for s := range strings.FieldsSeq(symbolsOfElements) {
		small := 0
		if len(s) > 1 {
			small = int(s[1]-'a') + 1
		}
		all[s[0]-'A'][small] = true
	}
	return all
}()

// maxCompound is how many tokens a formula of chemistry may have: Ca(OH)₂ has five.
const maxCompound = 24

// chemical is what has been seen of a formula of chemistry.
type chemical struct {
	next    int  // the token behind it
	symbols int  // how many elements it names
	mixed   bool // one of its words has two elements and a small letter: NaCl
	lowered bool // one of its figures stands lowered: CO₂
	charged int  // the token behind the charge of an ion, 0 for none
}

// compound reads a formula of chemistry by its letters: NaCl, 2H₂O, Ca(OH)₂. One without lowered figures and without
// small letters is a code, unless it stands in a reaction.
func compound(r *Reader, i int) (Reading, bool) {
	if t := r.At(i); r.Joined(i) || t.Kind == text.Latin && t.Cas == words.Lower {
		return Reading{}, false
	}
	c := chemicalAt(&r.View, i)
	c.charged = chargeAt(&r.View, &c)
	known := c.mixed || c.lowered || c.charged > 0 || isKnownCompound(&r.View, i, &c)
	if c.symbols == 0 || !known && !isReaction(&r.View, i, &c) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanAcronym)
	for j := i; j < c.next; j++ {
		switch t := r.At(j); {
		case t.Kind == text.Latin:
			r.Letters(strings.ToUpper(r.Str(j)), r.Lang)
		case t.Kind == text.Digits:
			r.SayPlain(j, r.Lang)
		}
	}
	return sayCharge(r, &c)
}

// sayCharge says the charge of an ion behind the formula c, 2+ or -, and ends the reading.
func sayCharge(r *Reader, c *chemical) (Reading, bool) {
	if c.charged == 0 {
		return r.End(c.next)
	}
	for j := c.next; j < c.charged; j++ {
		switch t := r.At(j); {
		case t.Kind == text.Digits:
			r.SayPlain(j, r.Lang)
		case t.Ch == text.Squared, t.Ch == text.Cubed:
			r.Say(r.Lang.Below100[raisedFigure(t)])
		case t.Ch == '+':
			r.Say(r.Lang.Words[words.WordPlus])
		case t.IsOneOf(text.Dashes):
			r.Say(r.Lang.Words[words.WordMinus])
		}
	}
	return r.End(c.charged)
}

// raisedFigure is the figure of a token that is ² or ³.
func raisedFigure(t *text.Token) int {
	if t.Ch == text.Squared {
		return 2
	}
	return 3
}

// chargeAt returns the end of the charge closely behind the formula c, 0 for none. It stands raised, or the sentence
// speaks of ions: Ca²⁺, Cl⁻, the Na+ ion.
func chargeAt(v *text.View, c *chemical) int {
	j, raised := c.next, false
	if c.symbols == 0 {
		return 0
	}
	for v.Tight(j) && (v.IsSign(j, text.Raised) || v.IsSign(j, text.Squared) || v.IsSign(j, text.Cubed)) {
		j, raised = j+1, true
	}
	if raised && v.TightDigits(j) {
		j++
	}
	if v.TightSign(j, text.Raised) {
		j++
	}
	if !v.Tight(j) || !v.At(j).IsOneOf("+"+text.Dashes) || !v.LooseEnd(j+1) {
		return 0
	}
	if !raised && !v.IsNear(j, words.Ion, 8) && !v.In(j+1, words.Ion) && !v.In(j+2, words.Ion) {
		return 0
	}
	return j + 1
}

// knownCompounds are those that are known without lowered figures and small letters.
var knownCompounds = text.WordSet("H2O H2O2 CO2 SO2 SO3 NO2 N2O NH3 CH4 O2 O3 H2 N2 H2SO4 HNO3 H2CO3 H3PO4 C2H6 C2H4 C2H2 C6H6 C6H12O6 " +
	"CH3COOH C2H5OH CHCL3 KOH KI KNO3 PH3 HF HCN KMnO4")

// isKnownCompound reports whether the formula c at token i is one that everybody knows, with figures in it.
func isKnownCompound(v *text.View, i int, c *chemical) bool {
	if c.symbols == 0 {
		return false
	}
	if v.At(i).Kind == text.Digits {
		i++
	}
	return c.next > i+1 && knownCompounds[v.Between(i, c.next)]
}

// chemicalAt looks at the formula of chemistry that begins at token i; it has no symbols where none does.
func chemicalAt(v *text.View, i int) (c chemical) {
	j, depth := i, 0
	if v.At(i).Kind == text.Digits && len(v.Str(i)) <= 2 && v.Tight(i+1) {
		j++
	}
	if v.At(j).Kind != text.Latin {
		return c
	}
	for first := j; j < i+maxCompound && (j == first || v.Tight(j)); j++ {
		t := v.At(j)
		switch {
		case t.Kind == text.Latin:
			if !c.names(v.Str(j)) {
				return chemical{}
			}
		case t.Kind == text.Digits && len(v.Str(j)) <= 2:
			c.lowered = c.lowered || t.Low
		case t.IsOneOf("(") && depth == 0 && isSymbols(v, j+1): // and no HCl(aq)
			depth++
			continue
		case t.IsOneOf(")") && depth == 1:
			depth--
		default:
			return c.end(v, depth)
		}
		c.next = j + 1
	}
	return c.end(v, depth)
}

// names adds the elements of the word s, and reports whether it is made of their symbols.
func (c *chemical) names(s string) bool {
	n, small := symbolsOf(s)
	c.symbols += n
	c.mixed = c.mixed || small && n > 1
	return n > 0
}

// end is the formula, unless more is joined to it or a bracket is open.
func (c chemical) end(v *text.View, depth int) chemical {
	if depth > 0 || !v.LooseEnd(c.next) {
		return chemical{}
	}
	return c
}

// isSymbols reports whether token i is a word of symbols of elements.
func isSymbols(v *text.View, i int) bool {
	n, _ := symbolsOf(v.AtWord(i))
	return n > 0 && v.At(i).Kind == text.Latin
}

// symbolsOf returns how many elements the word s names, 0 if it is not made of their symbols, and whether one has a
// small letter.
func symbolsOf(s string) (n int, small bool) {
	if len(s) > 8 || s == "NaN" {
		return 0, false
	}
	for i := 0; i < len(s); n++ {
		capital, second := s[i], 0
		if i++; i < len(s) && 'a' <= s[i] && s[i] <= 'z' {
			second = int(s[i]-'a') + 1
			small = true
			i++
		}
		if capital < 'A' || capital > 'Z' || !elements[capital-'A'][second] {
			return 0, false
		}
	}
	return n, small
}

// isReaction reports whether the formula c at token i is added to another, or leads to it: 2Mg + O₂ → 2MgO.
func isReaction(v *text.View, i int, c *chemical) bool {
	joins := "+" + string(rune(text.Arrow))
	behind := c.next
	if v.TightSign(behind, '(') && v.Reads(behind+1, "s", "l", "g", "aq") && v.IsSign(behind+2, ')') {
		behind += 3 // 2H2(g)
	}
	if !v.At(i-1).IsOneOf(joins) && !v.At(behind).IsOneOf(joins) {
		return false
	}
	for j := max(v.Start, i-maxCompound); j < min(v.Stop, i+maxCompound); j++ {
		if n, small := symbolsOf(v.AtWord(j)); v.At(j).Low || small && n > 1 || v.IsSign(j, text.Arrow) {
			return true
		}
	}
	return false
}

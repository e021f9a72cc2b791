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
}

// compound reads a formula of chemistry by its letters: NaCl, 2H₂O, Ca(OH)₂. One without lowered figures and without
// small letters is a code, unless it stands in a reaction.
func compound(r *Reader, i int) (Reading, bool) {
	if t := r.At(i); r.Joined(i) || t.Kind == text.Latin && t.Cas == words.Lower {
		return Reading{}, false
	}
	c := chemicalAt(&r.View, i)
	if c.symbols == 0 || !c.mixed && !c.lowered && !isReaction(&r.View, i, &c) {
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
	return r.End(c.next)
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
	if !v.At(i-1).IsOneOf(joins) && !v.At(c.next).IsOneOf(joins) {
		return false
	}
	for j := max(v.Start, i-maxCompound); j < min(v.Stop, i+maxCompound); j++ {
		if n, small := symbolsOf(v.AtWord(j)); v.At(j).Low || small && n > 1 {
			return true
		}
	}
	return false
}

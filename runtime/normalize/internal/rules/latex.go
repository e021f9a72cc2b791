package rules

import (
	marks "github.com/swar-tts/swar/runtime/normalize/internal/markup"
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/speech"
)

// Formulas that package markup has found: what is a number, a letter or a sign there is clear, so no other rule reads
// them.

// maths reads token i of a formula.
func maths(r *Reader, i int) (Reading, bool) {
	t := r.At(i)
	kind := speech.SpanSign
	switch {
	case t.Kind == text.SignWord && t.Src == t.End: // it has no sign of its own
		next := sayMaths(r, i)
		r.Extend()
		return r.Done(next)
	case t.Kind == text.SignWord && t.Part.IsMaths() && comesLast(r, marks.Word(t.Ch)):
		return relation(r, i)
	case t.IsOneOf("(),;:."), isNameInMaths(&r.View, i):
		return r.Done(sayMaths(r, i))
	case t.Kind == text.Digits:
		kind = speech.SpanNumber
	}
	r.Begin(i, kind)
	return r.End(sayMaths(r, i))
}

// comesLast reports whether w is said behind what it relates to: x पाँच से कम.
func comesLast(r *Reader, w marks.Word) bool { return !r.English && hindiLast[w] }

// relation reads a relation whose word comes last, and what is behind its sign: x < 5 is x पाँच से कम.
func relation(r *Reader, i int) (Reading, bool) {
	r.Begin(i, speech.SpanSign)
	j, depth := i+1, 0
	if marks.Word(r.At(i).Ch) == marks.Tends { // and what it is the limit of comes behind
		if j = sayMaths(r, j); marks.Word(r.At(j-1).Ch) == marks.Minus {
			j = sayMaths(r, j)
		}
		r.Say(mathsWord(r, marks.Tends))
		return r.End(j)
	}
	for j < r.Stop && (goesOnFormula(&r.View, j) || depth > 0 && r.At(j).Part.IsMaths()) {
		switch {
		case r.IsSign(j, '('):
			depth++
		case r.IsSign(j, ')'):
			depth--
		}
		j = sayMaths(r, j)
	}
	r.Say(mathsWord(r, marks.Word(r.At(i).Ch)))
	return r.End(j)
}

// goesOnFormula reports whether token j is still what the relation before it relates to.
func goesOnFormula(v *text.View, j int) bool {
	t := v.At(j)
	if !t.Part.IsMaths() || t.IsOneOf(",;:") {
		return false
	}
	w := marks.Word(t.Ch)
	return t.Kind != text.SignWord || !w.IsRelation() && !isPart(w)
}

// isPart reports whether w parts two statements.
func isPart(w marks.Word) bool {
	switch w {
	case marks.Therefore, marks.Because, marks.SuchThat, marks.And, marks.Or, marks.UpTo, marks.Of:
		return true
	}
	return false
}

// sayMaths says token i of a formula, or the number that begins with it, and returns where that ends.
func sayMaths(r *Reader, i int) int {
	t := r.At(i)
	switch {
	case t.Kind == text.SignWord:
		w := marks.Word(t.Ch)
		if r.Say(mathsWord(r, w)); w == marks.Done {
			r.Mark(":")
		}
	case t.Kind == text.Digits, t.IsVulgarFraction():
		return sayMathsNumber(r, i)
	case isNameInMaths(&r.View, i):
		r.Keep(i)
	case t.Kind == text.Latin: // they are multiplied
		sayFactors(r, i)
	case t.Kind == text.Foreign:
		r.Say(r.Lang.Greek[greekLetters[r.Str(i)]])
	case t.IsOneOf("("):
		r.Open(i)
	case t.IsOneOf(")"):
		r.Close(')')
	case t.IsOneOf(",;:."):
		r.Mark(r.Str(i))
	}
	return i + 1
}

// isNameInMaths reports whether token i of a formula is kept as it is: a letter, a word of four letters and more, one
// of Devanagari.
func isNameInMaths(v *text.View, i int) bool {
	switch t := v.At(i); t.Kind {
	case text.Latin:
		n := t.B - t.A
		return n == 1 || n > 3 || mathsNames[v.Str(i)]
	case text.Foreign:
		return greekLetters[v.Str(i)] == 0
	case text.Deva:
		return true
	}
	return false
}

// sayMathsNumber says the number at token i. With a unit, a degree or a percentage behind it it is a quantity as
// anywhere else.
func sayMathsNumber(r *Reader, i int) int {
	n, ok := text.NumberAt(&r.View, i)
	if !ok {
		return i + 1
	}
	if isMeasured(&r.View, n.Next) {
		if a, ok := text.AmountAt(&r.View, i); ok {
			r.SayAmount(&a, r.Lang, false)
			return a.Next
		}
	}
	if plain := text.IsSayable(&r.View, i) && !(r.ZeroLed(i) && n.Whole()); r.At(i).Kind == text.Digits && !plain {
		r.Grouped(r.Str(i))
		return i + 1
	}
	r.SayNumber(&n, r.Lang, false)
	return n.Next
}

// isMeasured reports whether a unit, a degree or a percent sign that is no part of a formula stands at token i.
func isMeasured(v *text.View, i int) bool {
	t := v.At(i)
	if t.Part != text.InText || t.Kind == text.Nothing {
		return false
	}
	if text.IsPhysical(v, i) {
		return true
	}
	return t.IsOneOf("%"+string(rune(text.Degree))) || text.UnitText(v, i, i+1) != nil
}

// mathsNames are the names of up to three letters that are one word in a formula.
var mathsNames = text.WordSet("max min gcd lcm hcf HCF LCM GCD mod sin cos tan cot sec log ln if or and for kg km cm mm ml")

// opensProgram reports whether a piece of a program begins with token i.
func opensProgram(v *text.View, i int) bool {
	return v.At(i).Part.IsProgram() && (v.At(i-1).Part != v.At(i).Part || v.At(i).Line)
}

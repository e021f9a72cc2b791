package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// markup passes over marks that package markup leaves, as one half of a pair is missing or they begin a sentence inside
// a line.
func markup(r *Reader, i int) (Reading, bool) {
	t := r.At(i)
	if beginsLine(&r.View, i) {
		if reading, ok := lineMark(r, i); ok {
			return reading, true
		}
	}
	switch t.Ch {
	case text.Squared, text.Cubed:
		return power(r, i)
	case text.Raised:
		return footnote(r, i)
	case '~':
		if t.Gap && r.Tight(i+1) && (r.At(i+1).Kind == text.Digits || r.At(i+1).IsCurrency()) {
			return Reading{}, false // ~9hrs
		}
		return r.Silence(i, i+1, speech.SpanMarkup)
	case '`', '_', '^', '[', ']', '{', '}', '\\', text.Silent:
		return r.Silence(i, i+1, speech.SpanMarkup)
	case '*':
		if saysStar(&r.View, i) {
			return Reading{}, false
		}
		return r.Silence(i, i+1, speech.SpanMarkup)
	case '=':
		return equalSigns(r, i)
	case '!':
		if r.TightSign(i+1, '[') {
			return r.Silence(i, i+1, speech.SpanMarkup)
		}
	}
	return Reading{}, false
}

// saysStar reports whether the star at token i is a word: a product, a key, a star of quality.
func saysStar(v *text.View, i int) bool {
	if multiplies(v, i) || v.At(i-1).Kind == text.Digits && v.At(i+1).Kind == text.Digits {
		return true
	}
	return isKey(v, i) || isStarred(v, i)
}

// equalSigns passes over the signs around a heading of a wiki, == Itihas ==, and around marked words, ==word==; those
// of a == b are said.
func equalSigns(r *Reader, i int) (Reading, bool) {
	j := i
	for j < i+text.Lookahead && r.IsSign(j, '=') && (j == i || r.Tight(j)) {
		j++
	}
	next := r.At(j)
	if j-i < 2 || r.At(i).Part.IsProgram() {
		return Reading{}, false
	}
	opens := i == r.Start || r.At(i).Gap && !next.Gap && next.Kind.Lettered()
	closes := next.Kind == text.Nothing || r.Tight(i) && (next.Gap || next.Kind == text.Sign)
	if opens || closes {
		return r.Silence(i, j, speech.SpanMarkup)
	}
	return Reading{}, false
}

// footnote passes over raised figures, which point to a footnote where they are no power.
func footnote(r *Reader, i int) (Reading, bool) {
	next := i + 1
	if r.TightDigits(next) {
		next++
	}
	return r.Silence(i, next, speech.SpanMarkup)
}

// power reads the raised figure of 10² and x². Behind anything else it points to a footnote, and is silent.
func power(r *Reader, i int) (Reading, bool) {
	letter := r.Single(i-1) && !text.IsMeasure(&r.View, i-1) || isLetterProduct(&r.View, i-1)
	letter = letter || r.Reads(i-1, "sin", "cos", "tan", "sec", "cot", "log")
	if base := r.At(i-1).Kind == text.Digits || letter || isProduct(&r.View, i-1); !base || !r.Tight(i) {
		return r.Silence(i, i+1, speech.SpanMarkup)
	}
	r.Begin(i, speech.SpanSign)
	if r.Reads(i-1, "sp", "dsp") { // of chemistry
		r.Say(r.Lang.Below100[raisedFigure(r.At(i))])
		return r.End(i + 1)
	}
	if r.At(i).Ch == text.Squared {
		r.Say(r.Lang.Words[words.WordSquared])
	} else {
		r.Say(r.Lang.Words[words.WordCubed])
	}
	return r.End(i + 1)
}

// beginsLine reports whether token i is the first of its sentence, but for the marks of a quotation.
func beginsLine(v *text.View, i int) bool {
	for k := 0; k < 8 && i > v.Start && v.IsSign(i-1, '>'); k++ {
		i--
	}
	return i == v.Start
}

// lineMark passes over what may stand at the start of a line: # heading, - item, > quote, a rule.
func lineMark(r *Reader, i int) (Reading, bool) {
	t := r.At(i)
	j := rowEnd(&r.View, i)
	next := r.At(j)
	width := j - i
	lineEnds := next.Kind == text.Nothing
	switch t.Ch {
	case '#', '>', text.Bullet, text.Arrow:
		ticket := t.Ch == '#' && width == 1 && next.Kind == text.Digits // # 58213 is its number
		if ticket || t.Ch == '>' && comparesAt(&r.View, j) {
			return Reading{}, false
		}
		if next.Gap && !lineEnds || t.IsOneOf(">"+string(rune(text.Bullet))) {
			return r.Silence(i, j, speech.SpanMarkup)
		}
	case '-', '*', '+', text.EnDash, text.EmDash, text.MinusSign:
		if width == 1 && next.Gap || width >= 3 && lineEnds {
			return r.Silence(i, j, speech.SpanMarkup)
		}
	case '`':
		if width >= 3 && isInfo(&r.View, j) {
			return r.Silence(i, j+1, speech.SpanMarkup)
		}
	case '_':
		if width >= 3 {
			return r.Silence(i, j, speech.SpanMarkup)
		}
	}
	return Reading{}, false
}

// rowEnd returns the token behind the row of the sign at token i.
func rowEnd(v *text.View, i int) int {
	j := i
	for j < i+text.Lookahead && v.IsSign(j, v.At(i).Ch) && (j == i || v.Tight(j)) {
		j++
	}
	return j
}

// isInfo reports whether the language of a listing stands at token i, behind its opening marks: ```python.
func isInfo(v *text.View, i int) bool {
	return v.Tight(i) && v.At(i).Kind == text.Latin && v.At(i+1).Kind == text.Nothing
}

// comparesAt reports whether > before token j compares, and quotes nothing: > 90% marks, >₹15 lakh.
func comparesAt(v *text.View, j int) bool {
	next := v.At(j)
	return isShareAt(v, j) || v.Tight(j) && (next.Kind == text.Digits || next.IsCurrency())
}

// isShareAt reports whether a percentage begins at token i.
func isShareAt(v *text.View, i int) bool { return v.At(i).Kind == text.Digits && v.IsSign(i+1, '%') }

// listNumber reads the number of a list item, 1. or 1), with a stop behind it; inside a line, 1) … 2), it stands
// between pauses.
func listNumber(r *Reader, i int) (Reading, bool) {
	if len(r.Str(i)) > 3 || !r.At(i+2).Gap || i+2 >= r.Stop {
		return Reading{}, false
	}
	mark := "."
	switch {
	case beginsLine(&r.View, i) && (r.TightSign(i+1, '.') || r.TightSign(i+1, ')')):
	case listsInLine(&r.View, i):
		r.Pause()
		mark = ","
	default:
		return Reading{}, false
	}
	r.Begin(i, speech.SpanList)
	r.SayPlain(i, r.Lang)
	r.Mark(mark)
	return r.End(i + 2)
}

// listsInLine reports whether the number at token i numbers an item inside a line: 1) चाय 2) कॉफ़ी.
func listsInLine(v *text.View, i int) bool {
	if i <= v.Start || !v.At(i).Gap || v.At(i-1).Kind == text.Digits {
		return false
	}
	return len(v.Str(i)) <= 2 && v.TightSign(i+1, ')') && !inBrackets(v, i)
}

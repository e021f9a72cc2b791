package rules

import (
	"strings"

	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// punctuation keeps what parts and ends sentences.
func punctuation(r *Reader, i int) (Reading, bool) {
	t := r.At(i)
	switch t.Ch {
	case text.Danda:
		r.Mark("।")
	case '|':
		return bar(r, i)
	case ',', ';', ':', '?', '!':
		r.Mark(r.Str(i))
	case '.', text.Ellipsis:
		return dots(r, i)
	case '(':
		r.Open(i)
	case ')':
		switch {
		case !isMarker(&r.View, i):
			if !inBrackets(&r.View, i) {
				r.DropColon()
			}
			r.Close(')')
		case r.At(i+1).Kind != text.Nothing:
			r.Pause()
		}
	case '"', '\'':
		begins := t.Gap || r.Waits() || opensAddress(&r.View, i-1)
		if begins && r.Tight(i+1) && !r.At(i+1).IsOneOf(".,;:?!)") {
			r.Open(i)
		} else {
			r.Close(t.Ch)
		}
	case '-', text.EnDash, text.EmDash, text.MinusSign:
		return dash(r, i)
	default:
		return Reading{}, false
	}
	return r.Done(i + 1)
}

// isMarker reports whether the bracket at i belongs to a list number, 1), which has no opening one.
func isMarker(v *text.View, i int) bool {
	p, before := v.At(i-1), v.At(i-2)
	if p.Kind != text.Digits || p.B-p.A > 2 || inBrackets(v, i-1) {
		return false
	}
	return before.Kind == text.Nothing || p.Gap && before.IsOneOf(",;:")
}

// dots reads a full stop or an ellipsis.
func dots(r *Reader, i int) (Reading, bool) {
	if text.IsDotOfName(&r.View, i) {
		r.Begin(i, speech.SpanSign)
		r.Say(r.Lang.Words[words.WordDot])
		return r.End(i + 1)
	}
	j := i
	for r.IsSign(j, r.At(i).Ch) && (j == i || r.Tight(j)) {
		j++
	}
	if j-i > 1 || r.At(i).Ch == text.Ellipsis {
		r.Mark("...")
	} else {
		r.Mark(".")
	}
	return r.Done(j)
}

// bar reads |: a danda behind Devanagari, else the border between two cells.
func bar(r *Reader, i int) (Reading, bool) {
	j := i
	for r.IsSign(j, '|') {
		j++
	}
	if text.IsDanda(&r.View, i) && j <= i+2 {
		r.Mark("।")
	} else if i > r.Start && j < r.Stop {
		r.Pause()
	}
	return r.Silence(i, j, speech.SpanSign)
}

// dash keeps a hyphen or a dash between words; before a number it is a pause.
func dash(r *Reader, i int) (Reading, bool) {
	j := i
	for t := r.At(j); t.IsOneOf(text.Dashes) && (j == i || !t.Gap); t = r.At(j) {
		j++
	}
	if r.TightSign(j, '>') {
		r.Pause() // ->
		return r.Silence(i, j+1, speech.SpanSign)
	}
	t, next := r.At(i), r.At(j)
	number := next.Kind == text.Digits && (t.Gap || next.Gap || next.B-next.A > 4)
	// else what it parts would join when it is read again
	omitted := r.At(i-1).IsOneOf("#*_`~^\\[]{}"+string(rune(text.Silent))) && r.Tight(i)
	if number || omitted || next.IsCurrency() {
		r.Pause()
		return r.Silence(i, j, speech.SpanSign)
	}
	if !r.BehindWord() || !next.Kind.WordLike() || isMaskAlone(&r.View, j) {
		return r.Silence(i, j, speech.SpanSign)
	}
	mark := "-"
	switch several := j > i+1; {
	case t.Ch == text.EnDash && !several:
		mark = "–"
	case t.Ch == text.EmDash, several: // -- is how typewriters wrote a dash
		mark = "—"
	}
	r.Hyphenate(mark, t.Gap, next.Gap)
	return r.Done(j)
}

// isMaskAlone reports whether a mask of crosses begins at token i and no digits are left behind it: ई-XXXX.
func isMaskAlone(v *text.View, i int) bool {
	if !text.Crosses(v, i) {
		return false
	}
	next, wide := text.MaskAt(v, i)
	return wide >= 4 && v.At(behindHyphen(v, next)).Kind != text.Digits
}

// spokenSign reads signs that are words, and drops those that are none.
func spokenSign(r *Reader, i int) (Reading, bool) {
	if reading, ok := bareRate(r, i); ok {
		return reading, true
	}
	t := r.At(i)
	if t.Ch == '%' && r.Tight(i+1) && r.Reads(i+1, "ile", "iles") && r.LooseEnd(i+2) {
		r.Begin(i, speech.SpanAbbreviation)
		r.Say("percentile")
		return r.End(i + 2)
	}
	if isKey(&r.View, i) {
		r.Begin(i, speech.SpanSign)
		if t.Ch == '#' {
			r.Say(r.Lang.Words[words.WordHash])
		} else {
			r.Say(r.Lang.Words[words.WordStar])
		}
		return r.End(i + 1)
	}
	if isPrompt(&r.View, i) || isVariable(&r.View, i) {
		return r.Silence(i, i+1, speech.SpanMarkup)
	}
	if reading, ok := unitSign(r, i); ok {
		return reading, true
	}
	w := signWord(&r.View, i)
	if t.Ch == '%' && isModulo(&r.View, i) {
		w = words.WordModulo
	}
	if w == words.NoWord {
		if partsWords(&r.View, i) {
			r.Pause()
		}
		return r.Silence(i, i+1, speech.SpanSign)
	}
	r.Begin(i, speech.SpanSign)
	r.Say(r.Lang.Words[w])
	return r.End(i + 1)
}

// partsWords reports whether the sign at token i, which is no word, is a pause between what stands beside it.
func partsWords(v *text.View, i int) bool {
	if i <= v.Start || i+1 >= v.Stop || isAngled(v, i) {
		return false
	}
	if !v.IsSign(i, '/') {
		return v.At(i).IsOneOf("<>" + string(rune(text.Arrow)))
	}
	number := v.At(i-1).Kind == text.Digits || v.IsWord(i-1, words.ScaleWord)
	return number && !isLetterBehind(v, i+1) || isNarrationStroke(v, i)
}

// isVariable reports whether the dollar at token i belongs to a program, and to no price: $HOME, ^[a-z]+$.
func isVariable(v *text.View, i int) bool {
	return v.At(i).Ch == '$' && v.At(i).Part.IsProgram() && v.At(i+1).Kind != text.Digits
}

// signUnit returns the unit whose sign stands alone at token i: ¢, and °C in the head of a table.
func signUnit(v *text.View, i int) (u *words.Unit, next int) {
	if u = text.SignUnits[v.At(i).Ch]; u != nil {
		return u, i + 1
	}
	if u, next = text.UnitAt(v, i); v.At(i).Ch != text.Degree || next == i+1 {
		return nil, i
	}
	return u, next
}

// unitSign reads the sign of a currency or of a unit that stands alone.
func unitSign(r *Reader, i int) (Reading, bool) {
	if cur := text.SignCurrency(r.At(i).Ch); cur > 0 {
		r.Begin(i, speech.SpanSign)
		r.Say(r.Lang.Money[cur].Many)
		return r.End(i + 1)
	}
	u, next := signUnit(&r.View, i)
	if u == nil {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanSign)
	r.Say(r.Lang.Measure(u).Many)
	return r.End(next)
}

// isPrompt reports whether the dollar at token i is the prompt of a shell, before a command in small letters: $ npm
// install.
func isPrompt(v *text.View, i int) bool {
	next := v.At(i + 1)
	if v.At(i).Ch != '$' || !next.Gap || !next.InSmallLetters() {
		return false
	}
	return i == v.Start || opensProgram(v, i) || v.In(i+1, words.Command)
}

// isAngled reports whether the sign at token i is a bracket around words, which has its other half near it: <Ramesh
// Kumar>, List<int>.
func isAngled(v *text.View, i int) bool {
	step, other := 1, byte('>')
	inside := i + 1
	if v.IsSign(i, '>') {
		step, other, inside = -1, '<', i-1
	} else if !v.IsSign(i, '<') {
		return false
	}
	touches := v.Toks[max(i, inside)].Src == v.Toks[min(i, inside)].End
	if !touches || !v.At(inside).Kind.WordLike() {
		return false
	}
	for k := i + step; k != i+12*step; k += step {
		if v.IsSign(k, other) {
			return true
		}
	}
	return false
}

// change reads the arrow that leads from one number to another: 60L->75L.
func change(r *Reader, i int) (Reading, bool) {
	next := i + 1
	if r.IsSign(i, '-') && r.TightSign(next, '>') {
		next++
	} else if !r.IsSign(i, text.Arrow) {
		return Reading{}, false
	}
	before := i - 1
	// 80 kg → 72 kg, 25°C → 30°C
	measured := text.IsMeasure(&r.View, before) || r.IsSign(before-1, text.Degree) && r.At(before-2).Kind == text.Digits
	scaled := measured || r.IsWord(before, words.ScaleWord) && r.At(before-1).Kind == text.Digits
	number := r.At(before).Kind == text.Digits || r.IsSign(before, '%') || scaled
	if r.At(before).Kind == text.Digits && (r.ZeroLed(before) ||
		text.ContextOf(&r.View, before).What != text.NoContext) {
		return Reading{}, false // order 0093 → 1 thali
	}
	if !number || leadsToStatement(&r.View, i, next) || !r.At(next).OpensNumber() && !r.At(next).IsCurrency() {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanSign)
	r.Say(r.Lang.Words[words.WordTo])
	return r.End(next)
}

// leadsToStatement reports whether the arrow at token i, which ends before next, leads from one statement to another:
// 45/50 → 90%, 4y = 12 → y = 3, H₂ → 2H.
func leadsToStatement(v *text.View, i, next int) bool {
	if before := v.At(i - 1); before.Kind == text.Digits && (v.IsSign(i-2, '/') || v.Joined(i-1)) {
		return true
	}
	return hasEquals(v, i) || inEquation(v, next)
}

// isModulo reports whether the sign at token i is no share but what is left of a division: (front + 1) % size.
func isModulo(v *text.View, i int) bool {
	return v.At(i).Gap && v.At(i+1).Gap && v.IsSign(i-1, ')') && v.At(i+1).Kind == text.Latin
}

// signWord returns the word that the sign at i is, noWord for nothing.
func signWord(v *text.View, i int) words.Connector {
	numberBefore, numberBehind := v.At(i-1).Kind == text.Digits, v.At(i+1).Kind == text.Digits
	ch := v.At(i).Ch
	switch ch {
	case '&':
		if !(v.Tight(i) && v.IsSign(i-1, '&')) { // a && b
			return words.WordAnd
		}
	case '#':
		if v.Tight(i) && v.Single(i-1) {
			return words.WordSharp // C#
		}
	case text.Star:
		if numberBefore && !v.TightSign(i+1, text.Star) {
			return words.WordStar
		}
	case '/':
		return strokeWord(v, i)
	case '*', text.Multiply:
		return timesWord(v, i)
	case '~':
		if (numberBehind || v.At(i+1).IsCurrency()) && v.Tight(i+1) && v.At(i).Gap {
			return words.WordAbout // ~9hrs
		}
	case '<', '>':
		if numberBehind || v.At(i+1).IsCurrency() {
			return signWords[ch]
		}
	default:
		return signWords[ch]
	}
	return words.NoWord
}

// multiplies reports whether the star at token i stands apart between two names of a program: price * qty. That of
// SELECT * FROM is none.
func multiplies(v *text.View, i int) bool {
	if !v.At(i).Gap || !v.At(i+1).Gap {
		return false
	}
	if isTerm(v, i-1) && (isTerm(v, i+1) || v.IsSign(i+1, '(')) && reckons(v, i) {
		return true // (n * (n + 1)) / 2 =
	}
	apart := v.At(i).Part.IsProgram()
	return apart && v.At(i-1).Kind.WordLike() && !v.At(i-1).InCapitals() && v.At(i+1).Kind.WordLike()
}

// isCrossed reports whether the sign of multiplication at token i stands apart between two things that have names:
// Voltage × Current.
func isCrossed(v *text.View, i int) bool {
	if !v.At(i).Gap || !v.At(i+1).Gap {
		return false
	}
	behind := v.At(i-1).Kind.WordLike() || v.IsSign(i-1, ')')
	return behind && (v.At(i+1).Kind.WordLike() || v.IsSign(i+1, '('))
}

// timesWord returns the word that the star or the sign of multiplication at i is.
func timesWord(v *text.View, i int) words.Connector {
	ch := v.At(i).Ch
	switch {
	case ch == '*' && isStarred(v, i):
		return words.WordStar
	case v.At(i-1).Kind == text.Digits && v.At(i+1).Kind == text.Digits:
		return words.WordTimes
	case multiplies(v, i), ch == text.Multiply && isCrossed(v, i):
		return words.WordTimes
	case ch == text.Multiply && (text.Factors(v, i) || hasEquals(v, i) || isReckonedOn(v, i)):
		return words.WordTimes
	}
	return words.NoWord
}

// strokeWord returns the word that the stroke at i is.
func strokeWord(v *text.View, i int) words.Connector {
	bold := v.At(i-2).Kind == text.Digits || v.At(i-3).Kind == text.Digits
	switch {
	case v.At(i).Part.IsProgram():
		if key := v.IsSign(i-1, '+') || v.At(i+1).Kind == text.Nothing; !key && v.At(i).Gap && !v.Tight(i+1) {
			return words.WordOver
		}
		return words.WordSlash // Ctrl + /
	case isNamedQuotient(v, i):
		return words.WordOver
	case isPointsPerMoney(v, i), isCountedPer(v, i):
		return words.WordPer
	case isChoice(v, i):
		return words.WordOr
	case bold && v.IsSign(i-1, '*') && v.TightDigits(i+1):
		return words.WordOver // **92**/100
	}
	return words.NoWord
}

// signWords has the signs that are one thing wherever they are said.
var signWords = [256]words.Connector{
	'&':               words.WordAnd,
	'%':               words.WordPercent,
	'@':               words.WordAt,
	'+':               words.WordPlus,
	text.PlusMinus:    words.WordPlusMinus,
	'=':               words.WordEquals,
	text.Approx:       words.WordAbout,
	text.NotEqual:     words.WordUnequal,
	'<':               words.WordLess,
	'>':               words.WordMore,
	text.LessEqual:    words.WordAtMost,
	text.GreaterEqual: words.WordAtLeast,
	text.Divide:       words.WordDivided,
	text.Degree:       words.WordDegree,
	text.Half:         words.WordHalf,
}

// letterNamesInDevanagari are the letters that houses and flats have behind their number.
const letterNamesInDevanagari = " ए बी सी डी ई एफ एफ़ जी एच जे के "

// isChoice reports whether the stroke at i stands between two alternatives, haan/na or 5%/₹500, and no "or" stands
// beside them.
func isChoice(v *text.View, i int) bool {
	before, after := v.At(i-1), v.At(i+1)
	choice := (before.Kind.WordLike() || before.IsOneOf("%.")) && !(v.At(i).Gap && v.Tight(i+1)) // yt pe /RiyaVlogs
	another := after.Kind.WordLike() || after.IsCurrency()
	pair := text.CurrencyCode(v, i-1) > 0 && text.CurrencyCode(v, i+1) > 0 // USD/INR
	said := isOr(v, i-1) || isOr(v, i+1)
	if pair || said || isPartOfLabel(v, i) {
		return false
	}
	return choice && another
}

// isPointsPerMoney reports whether the stroke at token i parts what is earned from the money that is spent for it: 10
// pts/Rs 100.
func isPointsPerMoney(v *text.View, i int) bool {
	money := text.CurrencyCode(v, i+1) > 0 || v.At(i+1).IsCurrency()
	return money && v.Reads(i-1, "pts", "points", "pt", "RP", "RPs", "coins") && v.At(i-2).Kind == text.Digits
}

// isCountedPer reports whether the stroke at token i parts what is counted from one of what it is counted for: 32
// ports/switch.
func isCountedPer(v *text.View, i int) bool {
	many, one := v.AtWord(i-1), v.AtWord(i+1)
	counted := v.At(i-2).Kind == text.Digits || v.IsWord(i-2, words.ScaleWord)
	if !counted || !v.Tight(i) || !v.Tight(i+1) || !v.At(i+1).InSmallLetters() {
		return false
	}
	return len(many) > 3 && len(one) > 2 && strings.HasSuffix(many, "s") && !strings.HasSuffix(one, "s")
}

// isPartOfLabel reports whether the stroke at i stands inside of a house, a file, a range or what a bank writes, and
// leaves no choice.
func isPartOfLabel(v *text.View, i int) bool {
	before, after := v.At(i-1), v.At(i+1)
	// 23/बी, 4/b
	lettered := before.Kind == text.Digits && isLetterBehind(v, i+1)
	// EMI 21k/school fee 6k
	amount := v.IsWord(i-1, words.ScaleWord) && v.At(i-2).Kind == text.Digits
	// यूपी/2026/00318, sw/2231/b
	file := before.Kind.Lettered() && text.HasStroke(v, i+1) || v.TightDigits(i+1) && isLetterBehind(v, i+3)
	// 18-25/26-40
	ranged := before.Kind == text.Digits && v.At(i-2).IsOneOf(text.Hyphens) && v.At(i-3).Kind == text.Digits
	// UPI/633180127745/Manju Sweets
	payee := before.Kind == text.Digits && len(v.Str(i-1)) >= 9 && after.Kind == text.Latin
	if payee || isNumberOfName(v, i) || isNarrationStroke(v, i) {
		return true
	}
	return lettered || amount || file || ranged
}

// isNumberOfName reports whether the stroke at token i parts a long number from the name of what has it: Train 12952 /
// MUMBAI RAJDHANI.
func isNumberOfName(v *text.View, i int) bool {
	number, name := v.At(i-1), v.At(i+1)
	apart := v.At(i).Gap && name.Gap && name.Kind == text.Latin && !name.InSmallLetters()
	return apart && number.Kind == text.Digits && len(v.Str(i-1)) >= 5
}

// isLetterBehind reports whether token i, behind a stroke, is the letter of a house or a file: बी, ब, b.
func isLetterBehind(v *text.View, i int) bool {
	t := v.At(i)
	if !v.Tight(i) || !v.LooseEnd(i+1) {
		return false
	}
	if t.Kind == text.Deva {
		return t.B-t.A == 3 || text.IsIn(letterNamesInDevanagari, v.Str(i))
	}
	return v.Single(i) && t.Cas == words.Lower
}

// isStarred reports whether the star at token i is one of quality: a 5* hotel, fridge 3*.
func isStarred(v *text.View, i int) bool {
	if n := v.Small(i-1, 1); n < 1 || n > 7 || !v.Tight(i) || !v.LooseEnd(i+1) {
		return false
	}
	return v.IsNear(i, words.Starred, 6) || v.In(i+1, words.Starred)
}

// isOr reports whether token i says "or" already.
func isOr(v *text.View, i int) bool {
	return v.In(i, words.OrWord)
}

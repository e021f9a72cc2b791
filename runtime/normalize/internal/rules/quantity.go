package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// quantityLang is the language of the number at token i: that of the sentence, but English after an English head noun
// (iPhone 15).
func quantityLang(r *Reader, i int) words.Lang {
	if !r.English && r.IsWord(i-1, words.EnglishHead) && r.At(i-1).Kind == text.Latin && !r.CountedAt(i+1) {
		return words.English
	}
	return r.Lang
}

// signedAmount reads what begins with a sign and is a quantity: ₹500, -7, .5, ½, +0.8%.
func signedAmount(r *Reader, i int) (Reading, bool) {
	t := r.At(i)
	switch {
	case t.IsCurrency(), t.IsVulgarFraction():
	case t.Ch == '.':
		if p := r.At(i - 1); !t.Gap && p.Kind.WordLike() {
			return Reading{}, false
		}
	case t.IsOneOf(text.Hyphens + "+"):
		if !signFits(&r.View, i) {
			return Reading{}, false
		}
	default:
		return Reading{}, false
	}
	a, ok := text.AmountAt(&r.View, i)
	if !ok {
		return Reading{}, false
	}
	return speakAmount(r, i, &a)
}

// signFits reports whether the minus or plus at i belongs to the number behind it.
func signFits(v *text.View, i int) bool {
	p := v.At(i - 1)
	opening := i == v.Start || p.Kind == text.Nothing || p.IsOneOf("([\"")
	if printed := v.At(i).Ch == text.MinusSign && v.Tight(i+1); printed && !v.Joined(i) {
		return !isMinus(v, i) // −312 points, +4/−1
	}
	if !v.Tight(i+1) || !opening && !v.At(i).Gap || p.Kind == text.Digits {
		return false
	}
	if opening || v.At(i).Ch == '+' || p.Kind == text.Sign {
		return true
	}
	if a, ok := text.AmountAt(v, i); ok && a.Marked() && !a.N.Grouped {
		return true
	}
	return v.IsWord(i-1, words.Signed)
}

// moneyPrefix reads Rs 499, INR 2,340, रु. 99.
func moneyPrefix(r *Reader, i int) (Reading, bool) {
	if cur, _ := text.CurrencyBefore(&r.View, i); cur == 0 {
		return bareCurrency(r, i)
	}
	if r.TightSign(i-1, '/') && text.CurrencyCode(&r.View, i-2) > 0 {
		return Reading{}, false // USD/INR 84.21 is what one costs in the other
	}
	a, ok := text.AmountAt(&r.View, i)
	if !ok {
		return bareCurrency(r, i)
	}
	return speakAmount(r, i, &a)
}

// bareCurrency says Rs in full where no figure follows: Rs five hundred.
func bareCurrency(r *Reader, i int) (Reading, bool) {
	if !r.Reads(i, "Rs", "RS", "rs", "रु", "रू") {
		return Reading{}, false
	}
	next := i + 1
	if r.TightSign(next, '.') && !r.Last(next) {
		next++
	}
	inCode := r.Joined(i) && r.At(i-1).Kind != text.Deva || !r.LooseEnd(i+1) && r.At(i+1).Kind != text.Deva
	if inCode && r.At(i).Kind == text.Latin {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanAmount)
	r.Say(r.Lang.Words[words.WordRupees])
	return r.End(next)
}

// markedQuantity reads a number that a unit, a currency, a percent sign, a scale, commas or a decimal point mark as a
// quantity, and one in front of a counted noun.
func markedQuantity(r *Reader, i int) (Reading, bool) {
	a, ok := text.AmountAt(&r.View, i)
	if !ok || !r.LooseEnd(a.Next) {
		return Reading{}, false
	}
	if !a.Marked() && r.ZeroLed(i) && a.N.Size > 2 {
		return Reading{}, false // code 0943 - 2 min
	}
	if !a.Marked() && (!r.CountedAt(a.Next) || r.ZeroLed(i) && a.N.Size > 2) {
		if b, ok := rangeEnd(&r.View, &a); !ok || !b.Marked() && !r.CountedAt(b.Next) {
			return Reading{}, false
		}
	}
	if a.N.Frac != "" && r.ZeroLed(i) && a.N.Size > 2 {
		return Reading{}, false
	}
	return speakAmount(r, i, &a)
}

// quantity reads any other number.
func quantity(r *Reader, i int) (Reading, bool) {
	a, ok := text.AmountAt(&r.View, i)
	if !ok || a.N.Size > 6 && !a.Marked() {
		return Reading{}, false
	}
	return speakAmount(r, i, &a)
}

// speakAmount says a, which began at token i, or the range that it opens.
func speakAmount(r *Reader, i int, a *text.Amount) (Reading, bool) {
	l := quantityLang(r, i)
	b, ok := rangeEnd(&r.View, a)
	if a.IsShareOrPrice() || ok && b.IsShareOrPrice() {
		l = r.Lang // Flat 40-60% off, iPhone ₹49,900 mein: no name goes on with a share or a price
	}
	if ok && isFallingPair(&r.View, i, a, &b) {
		r.Begin(i, speech.SpanRange)
		r.SayAmount(a, r.Lang, false)
		r.Pause()
		r.SayAmount(&b, r.Lang, false)
		return r.End(b.Next)
	}
	if ok {
		return sayRange(r, i, a, &b, l)
	}
	r.Begin(i, kindOf(a))
	r.SayAmount(a, l, false)
	if j := a.Next; r.NumberBehind(j, '/') && (a.Cur > 0 || !a.N.Whole()) {
		// ₹71,200/10 g and 4.5/5: what is behind the stroke is read by itself.
		if a.Cur > 0 {
			r.Say(l.Words[words.WordPer])
		} else {
			r.Say(l.Words[words.WordOver])
		}
		return r.End(j + 1)
	}
	return r.End(a.Next)
}

// sayRange says the range from a, which began at token i, to b.
func sayRange(r *Reader, i int, a, b *text.Amount, l words.Lang) (Reading, bool) {
	r.Begin(i, speech.SpanRange)
	// What is written once is said once, at the end; what is written twice is said twice.
	once := !(a.Cur > 0 && b.Cur > 0)
	r.SayAmount(a, l, once && a.Unit == nil && !a.Percent)
	simple := a.N.Whole() && b.N.Whole() && !a.N.Grouped
	if even := simple && a.N.Value == b.N.Value && a.Scales == b.Scales; !even { // 50-50
		r.Say(l.Words[words.WordTo])
	} else if r.Reads(b.Next-1, "h") && r.At(b.Next-1).Gap {
		b.Unit, b.Next = nil, b.Next-1 // 50-50 h: hai
	}
	if b.Cur == 0 && b.Unit == nil && !b.Percent {
		b.Cur = a.Cur
	}
	r.SayAmount(b, l, false)
	return r.End(b.Next)
}

// isFallingPair reports whether a, at token i, and the smaller b number a part of a book, and are no range: Chapter
// 12-3.
func isFallingPair(v *text.View, i int, a, b *text.Amount) bool {
	if a.Marked() || b.Marked() || b.N.Value >= a.N.Value {
		return false
	}
	return v.IsWord(i-1, words.EnglishHead) && v.At(a.Next).IsOneOf(text.Hyphens)
}

// rangeEnd reads the second end of a range behind a: 2-3, 10–15, ₹500-₹700.
func rangeEnd(v *text.View, a *text.Amount) (b text.Amount, ok bool) {
	j := a.Next
	t := v.At(j)
	if !t.IsOneOf(text.Dashes + "~") {
		return b, false
	}
	if t.Ch == '-' && t.Gap != v.At(j+1).Gap || isMinus(v, j) {
		return b, false
	}
	if v.At(j + 1).IsOneOf("+-") {
		return b, false
	}
	b, ok = text.AmountAt(v, j+1)
	if !ok || !v.LooseEnd(b.Next) || b.N.Size > 7 || v.NumberBehind(b.Next, '-') {
		return b, false
	}
	return b, true
}

// plural reads 1000s of people, which are thousands, and 1s and 0s, which are no seconds.
func plural(r *Reader, i int) (Reading, bool) {
	s := r.Str(i)
	if !r.Tight(i+1) || !r.Reads(i+1, "s") || !r.LooseEnd(i+2) || r.Joined(i) {
		return Reading{}, false
	}
	many := manyOf[s]
	switch {
	case many != "" && r.Reads(i+2, "of"):
	case s == "0" && hasFigures(&r.View, i, "1"):
		many = "zeros"
	case s == "1" && hasFigures(&r.View, i, "0"):
		many = "ones"
	case areNotes(&r.View, i):
		r.Begin(i, speech.SpanNumber)
		r.SayPlain(i, words.English)
		r.Ending("s")
		return r.End(i + 2)
	default:
		return Reading{}, false
	}
	r.Begin(i, speech.SpanNumber)
	r.Say(many)
	return r.End(i + 2)
}

// areNotes reports whether the round number at token i is the value of notes, and notes or coins are near it: only
// 500s.
func areNotes(v *text.View, i int) bool {
	s := v.Str(i)
	if len(s) < 3 || s[len(s)-2:] != "00" {
		return false
	}
	for j := max(v.Start, i-8); j < min(v.Stop, i+6); j++ {
		if v.Reads(j, "notes", "note") {
			return true
		}
	}
	return false
}

// manyOf are round numbers in the plural.
var manyOf = map[string]string{
	"10": "tens", "100": "hundreds", "1000": "thousands", "10000": "tens of thousands", "100000": "lakhs", "1000000": "millions",
}

// hasFigures reports whether the figure is in the plural near token i: 0s.
func hasFigures(v *text.View, i int, figure string) bool {
	for j := max(v.Start, i-16); j < min(v.Stop, i+16); j++ {
		if v.At(j).Kind == text.Digits && v.Str(j) == figure && v.Tight(j+1) && v.Reads(j+1, "s") {
			return true
		}
	}
	return false
}

// longNumber reads what is too long for a quantity digit by digit.
func longNumber(r *Reader, i int) (Reading, bool) {
	r.Begin(i, speech.SpanCode)
	r.Grouped(r.Str(i))
	return r.End(i + 1)
}

// dimensions reads 10x12 and 10 x 12 x 8.
func dimensions(r *Reader, i int) (Reading, bool) {
	if symbol := plotUnit(&r.View, i); symbol != "" {
		r.Begin(i, speech.SpanUnit)
		r.SayPlain(i, r.Lang)
		r.Say(r.Lang.Words[words.WordAcross])
		r.SayPlain(i+3, r.Lang)
		r.Say(r.Lang.Measure(words.Units[symbol]).Many)
		return r.End(i + 5)
	}
	if !times(&r.View, i) || isSum(&r.View, i) {
		return Reading{}, false
	}
	l := r.Lang
	n, ok := text.NumberAt(&r.View, i+2)
	priced := n.Value >= 20 && r.Small(i, 1) > 0 && r.IsNear(i, words.RoundTimes, 3)
	if ok && (n.Grouped || priced) { // 2x2,350, toll 2x110
		r.Begin(i, speech.SpanUnit)
		r.SayPlain(i, l)
		r.Say(l.Words[words.WordTimes])
		r.SayNumber(&n, l, false)
		return r.End(n.Next)
	}
	r.Begin(i, speech.SpanUnit)
	j := i
	for ; ; j += 2 {
		if n, ok := text.NumberAt(&r.View, j); ok && !n.Whole() {
			r.SayNumber(&n, l, false)
			j = n.Next - 1
			break
		}
		r.SayPlain(j, l)
		if !times(&r.View, j) || j-i > 8 {
			break
		}
		if isReckoned(&r.View, j+3) || isLasting(&r.View, j+2) {
			r.Say(l.Words[words.WordTimes])
		} else {
			r.Say(l.Words[words.WordAcross])
		}
	}
	if u, next := text.UnitAt(&r.View, j+1); u != nil && !u.TightOnly && r.LooseEnd(next) {
		r.Say(l.Measure(u).Many) // 10x10x5 cm
		return r.End(next)
	}
	return r.End(j + 1)
}

// isSum reports whether the two numbers from token i on are multiplied, and no size: 60 × 2.5 = 150, 3 × 10⁸.
func isSum(v *text.View, i int) bool {
	raised := "^" + string(rune(text.Squared)) + string(rune(text.Cubed)) + string(rune(text.Raised))
	if behind := v.At(i + 3); !behind.Gap && behind.IsOneOf(raised) {
		return true
	}
	if apart := v.At(i+1).Gap && v.IsSign(i+1, text.Multiply); !apart || !reckons(v, i) {
		return false
	}
	return v.NumberBehind(i+3, '.') || v.At(i-1).IsOneOf("=(") || v.IsSign(i+3, ')')
}

// isReckoned reports whether what stands behind a product, at token j, goes on with it or says what it is: 240 × 15 ÷
// 100, 8 x 5 = 40.
func isReckoned(v *text.View, j int) bool {
	for k := j; k < j+text.Lookahead; k += 2 { // 15 × 6 - 20 ÷ 4
		if v.At(k).IsOneOf("=" + string(rune(text.Divide))) {
			return true
		}
		if !v.At(k).IsOneOf("+*/"+text.Hyphens+string(rune(text.Multiply))) || v.At(k+1).Kind != text.Digits {
			break
		}
	}
	asked := v.IsSign(j, '?') && (v.Reads(j-4, "What's", "what's") || v.Reads(j-5, "What", "what")) // What is 6 × 9?
	return asked || v.In(j, words.Reckoned)
}

// unitAlone reads km/h, mg/dl and kWh where no number stands before them.
func unitAlone(r *Reader, i int) (Reading, bool) {
	if r.Joined(i) {
		return Reading{}, false
	}
	u, next := text.UnitOver(&r.View, i)
	if u == nil {
		u, next = bracketedUnit(&r.View, i)
	}
	if u == nil {
		u, next = unmistakableUnit(&r.View, i)
	}
	raised := r.At(i + 1).IsOneOf(string(rune(text.Squared)) + string(rune(text.Cubed)))
	if bracketed := r.IsSign(i-1, '(') && r.IsSign(i+2, ')'); u == nil && raised && (bracketed || len(r.Str(i)) > 1) {
		u, next = text.SquareAt(&r.View, i) // km² alone
	}
	if u == nil {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanUnit)
	r.Say(r.Lang.Measure(u).Many)
	return r.End(next)
}

// bracketedUnit returns the unit that stands alone in brackets at token i, as in the head of a table: खपत (kWh), weight
// (kg).
func bracketedUnit(v *text.View, i int) (*words.Unit, int) {
	t := v.At(i)
	if !v.IsSign(i-1, '(') || !v.IsSign(i+1, ')') || t.Cas == words.Upper || t.B-t.A < 2 {
		return nil, i
	}
	u := text.UnitText(v, i, i+1)
	if u == nil || u.TightOnly || u.Rare || !v.At(i-2).Kind.Lettered() {
		return nil, i
	}
	return u, i + 1
}

// plotUnit returns the unit of the size that begins at token i: feet for 30'x40', inches for 4"x2", "" for none.
func plotUnit(v *text.View, i int) string {
	mark := v.At(i + 1)
	if !mark.IsOneOf("'\"") || !v.Tight(i+1) || !v.TightSign(i+4, mark.Ch) {
		return ""
	}
	if !v.Tight(i+2) || !isTimes(v, i+2) || !v.TightDigits(i+3) || !v.LooseEnd(i+5) {
		return ""
	}
	if mark.Ch == '"' {
		return "in"
	}
	return "ft"
}

// times reports whether token j is a number, and x and another number follow.
func times(v *text.View, j int) bool {
	t := v.At(j + 1)
	if v.At(j).Kind != text.Digits || v.At(j+2).Kind != text.Digits || t.Gap != v.At(j+2).Gap {
		return false
	}
	return isTimes(v, j+1)
}

// isTimes reports whether token i is an x or the sign of multiplication.
func isTimes(v *text.View, i int) bool { return v.Reads(i, "x", "X") || v.IsSign(i, text.Multiply) }

// multiple reads 2x.
func multiple(r *Reader, i int) (Reading, bool) {
	if len(r.Str(i)) > 4 || !r.Tight(i+1) || !r.Reads(i+1, "x", "X") || !r.LooseEnd(i+2) {
		return Reading{}, false
	}
	if r.TightSign(i+2, text.Squared) || r.TightSign(i+2, text.Cubed) {
		return Reading{}, false // 2x² is algebra
	}
	r.Begin(i, speech.SpanUnit)
	r.SayPlain(i, r.Lang)
	listed := (i == r.Start || r.IsSign(i-1, ',')) && !r.In(i+2, words.Multiplied)
	named := r.At(i+2).Cas == words.Title || listed && r.At(i+2).Kind == text.Latin
	things := named && r.Reads(i+1, "x") && len(r.Str(i)) <= 2
	if !things { // 2x Masala Dosa
		r.Say(r.Lang.Words[words.WordFold])
	}
	return r.End(i + 2)
}

// ratio reads 50:50 and 3:1.
func ratio(r *Reader, i int) (Reading, bool) {
	if reading, ok := mixture(r, i); ok {
		return reading, true
	}
	if !r.NumberBehind(i+1, ':') || r.IsSign(i-1, ':') || r.TightSign(i+3, ':') {
		return Reading{}, false // three numbers are something else
	}
	if len(r.Str(i)) > 3 || len(r.Str(i+2)) > 3 || !r.LooseEnd(i+3) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanRatio)
	r.SayPlain(i, r.Lang)
	if r.Str(i) != r.Str(i+2) {
		r.Say(r.Lang.Words[words.WordRatio])
	}
	r.SayPlain(i+2, r.Lang)
	return r.End(i + 3)
}

// mixture reads 1:2:4, the parts of a mixture.
func mixture(r *Reader, i int) (Reading, bool) {
	if !r.NumberBehind(i+1, ':') || !r.NumberBehind(i+3, ':') {
		return Reading{}, false
	}
	if !r.LooseEnd(i+5) || r.TightSign(i+5, ':') || r.IsSign(i-1, ':') {
		return Reading{}, false
	}
	for j := i; j < i+5; j += 2 {
		if n := r.Small(j, 2); n < 0 || r.ZeroLed(j) {
			return Reading{}, false
		}
	}
	r.Begin(i, speech.SpanRatio)
	for j := i; j < i+5; j += 2 {
		if j > i && r.English {
			r.Say("to")
		}
		r.SayPlain(j, r.Lang)
	}
	return r.End(i + 5)
}

// height reads 6'2" in feet and inches.
func height(r *Reader, i int) (Reading, bool) {
	feet, inches := r.Small(i, 2), r.Small(i+2, 2)
	if feet < 0 || inches < 0 || !r.NumberBehind(i+1, '\'') || !r.LooseEnd(i+3) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanUnit)
	r.SayUnit(feet, words.Units["ft"])
	r.SayUnit(inches, words.Units["in"])
	next := i + 3
	if r.TightSign(next, '"') {
		next++
	} else if r.TightSign(next, '\'') && r.TightSign(next+1, '\'') {
		next += 2
	}
	return r.End(next)
}

// kindOf names the class of a for its span.
func kindOf(a *text.Amount) speech.SpanKind {
	switch {
	case a.Cur > 0:
		return speech.SpanAmount
	case a.Percent:
		return speech.SpanPercent
	case a.Unit != nil:
		return speech.SpanUnit
	case !a.N.Whole():
		return speech.SpanDecimal
	}
	return speech.SpanNumber
}

package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// fraction reads 1/2, 2 1/2, 12/3 and 1/2/3, and versions: 2.0.1.
func fraction(r *Reader, i int) (Reading, bool) {
	if reading, ok := pointedCode(r, i); ok {
		return reading, true
	}
	if reading, ok := version(r, i); ok {
		return reading, true
	}
	if reading, ok := mixedFraction(r, i); ok {
		return reading, true
	}
	if !text.HasStroke(&r.View, i) {
		return Reading{}, false
	}
	l := quantityLang(r, i)
	if reading, ok := partOf(r, i); ok {
		return reading, true
	}
	if reading, ok := fewOf(r, i); ok {
		return reading, true
	}
	if reading, ok := partsOf(r, i, l); ok {
		return reading, true
	}
	if f, next := simpleFraction(&r.View, i); f > 0 && !r.TightSign(next, '/') && !inAddress(&r.View, i) {
		r.Begin(i, speech.SpanFraction)
		r.MixedNumber(&text.Number{Fraction: f}, l)
		if r.Tight(next) && r.Reads(next, "th") && r.LooseEnd(next+1) {
			next++ // 3/4th
		}
		return r.End(unitBehind(r, next, l))
	}
	if isStrokedCode(&r.View, i) {
		return strokedCode(r, i)
	} else if reading, ok := caseOfYear(r, i); ok {
		return reading, true
	}
	if reading, ok := listOf(r, i); ok {
		return reading, true
	}
	return overNumbers(r, i, l)
}

// pointedCode reads the number of a train as 1.2.4.0.1, which people write so that its digits are said.
func pointedCode(r *Reader, i int) (Reading, bool) {
	j := i
	for ; j < i+16 && len(r.AtDigits(j)) == 1 && r.NumberBehind(j+1, '.'); j += 2 {
	}
	if j < i+6 || len(r.AtDigits(j)) != 1 || !r.LooseEnd(j+1) || text.ContextOf(&r.View, i).What == text.NoContext {
		return Reading{}, false
	}
	next := j + 1
	if r.TightSign(next, '.') && !r.Last(next) {
		next++
	}
	r.Begin(i, speech.SpanCode)
	for k := i; k <= j; k += 2 {
		r.Digits(r.Str(k), r.DigitLang())
	}
	return r.End(next)
}

// partsOf reads 1/3 of the flats and 2/5 of them in English.
func partsOf(r *Reader, i int, l words.Lang) (Reading, bool) {
	n, d := r.Small(i, 1), r.Small(i+2, 2)
	part, halved := 0 < n && n < d && d <= 12, d == 2 || d == 4 // halves and quarters have words of their own
	if l != words.English || !part || halved || !r.Reads(i+3, "of") {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanFraction)
	r.Cardinal(uint64(n), l)
	r.Ordinal(uint64(d))
	if n > 1 {
		r.Ending("s")
	}
	return r.End(i + 3)
}

// isStrokedCode reports whether the parts with strokes at token i are those of an account, a file or a policy.
func isStrokedCode(v *text.View, i int) bool {
	three := v.NumberBehind(i+3, '/') && v.LooseEnd(i+5)
	if three && (v.ZeroLed(i+2) || v.ZeroLed(i+4)) && len(v.Str(i+4)) > 4 {
		return true // 1218/40771/00932
	}
	near := text.ContextOf(v, i).What
	if near == text.NoContext {
		return false
	}
	padded := v.ZeroLed(i+2) && len(v.Str(i+2)) >= 3 // 3319/0072
	return v.NumberBehind(i+3, '/') || near == text.IDNear && (len(v.Str(i)) >= 6 || padded)
}

// overNumbers reads 12/3 and 1/2/3, one number over the other, and the unit behind them.
func overNumbers(r *Reader, i int, l words.Lang) (Reading, bool) {
	r.Begin(i, speech.SpanFraction)
	silent := r.Between(i, i+3) == "26/11" || r.Between(i, i+3) == "9/11" // known by these names
	j := i
	for ; ; j += 2 {
		r.SayPlain(j, l)
		if !text.HasStroke(&r.View, j) || j-i > 8 {
			break
		}
		switch {
		case silent:
		case chooses(&r.View, j):
			r.Say(l.Words[words.WordOr])
		default:
			r.Say(l.Words[words.WordOver])
		}
	}
	next := j + 1
	if u, end := text.UnitAt(&r.View, next); u != nil && !u.TightOnly && r.LooseEnd(end) &&
		text.ContextOf(&r.View, i).What == text.NoContext {
		r.Say(l.Measure(u).Many) // 5/6 ft, but not: Khasra no. 118/2 min
		next = end
	}
	return r.End(next)
}

// chooses reports whether the stroke behind the number at token j is or: call 112/108, TGT 1510/1525.
func chooses(v *text.View, j int) bool {
	size := len(v.Str(j))
	if size < 3 || len(v.Str(j+2)) != size {
		return false
	}
	return size == 3 && text.ContextOf(v, j).What == text.IDNear || v.IsNear(j, words.Targets, 3)
}

// listOfCounts reads 3/6/12 months: three numbers or more, each larger than the one before, and what all of them count.
func listOfCounts(r *Reader, i int) (Reading, bool) {
	j, parts := i, 1
	for ; parts < 9 && text.HasStroke(&r.View, j) && r.Small(j, 3) < r.Small(j+2, 3); j += 2 {
		if r.Small(j, 3) < 1 || r.ZeroLed(j) {
			return Reading{}, false
		}
		parts++
	}
	if parts < 3 || r.Tight(j+1) || !r.CountedAt(j+1) {
		return Reading{}, false
	}
	return sayList(r, i, j)
}

// listOf reads the rates 5/12/18/28% and other rows of four numbers, with a pause for each stroke.
func listOf(r *Reader, i int) (Reading, bool) {
	parts, j := 1, i
	for ; text.HasStroke(&r.View, j) && parts < 9; j += 2 {
		parts++
	}
	if parts < 3 || parts == 3 && !r.IsSign(j+1, '%') || !r.LooseEnd(j+1) {
		return Reading{}, false
	}
	return sayList(r, i, j)
}

// sayList says the numbers from token i to token j, with a pause for each stroke.
func sayList(r *Reader, i, j int) (Reading, bool) {
	r.Begin(i, speech.SpanNumber)
	for k := i; k < j; k += 2 {
		r.SayPlain(k, r.Lang)
		r.Pause()
	}
	r.SayPlain(j, r.Lang)
	return r.End(j + 1)
}

// overQuantity reads two numbers with a stroke if the second one has a unit: 6/128GB is the first and the second,
// 100/3kg the first per second. 2/3kg is a part of a kilo.
func overQuantity(r *Reader, i int) (Reading, bool) {
	if !text.HasStroke(&r.View, i) || r.Tight(i) || r.Tight(i+3) && r.At(i+3).Kind != text.Latin {
		return Reading{}, false
	}
	b, ok := text.AmountAt(&r.View, i+2)
	if !ok || b.Unit == nil || b.Per > 0 || !r.LooseEnd(b.Next) {
		return Reading{}, false
	}
	if isOfMonths(&r.View, i) {
		b.Unit = words.Units["mo"] // fees 1200/m ya 3000/3m
	}
	memory := b.Unit == words.Units["gb"] || b.Unit == words.Units["tb"]
	if !memory && !r.Tight(i+3) {
		return Reading{}, false
	}
	a := r.Small(i, 4)
	if a < 0 || !memory && (a < 10 || uint64(a) <= b.N.Value) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanUnit)
	r.SayPlain(i, r.Lang)
	if memory {
		r.Pause()
	} else {
		r.Say(r.Lang.Words[words.WordPer])
	}
	r.SayAmount(&b, r.Lang, false)
	return r.End(b.Next)
}

// isOfMonths reports whether the amount at token i is what so many months cost: fees 1200/m ya 3000/3m.
func isOfMonths(v *text.View, i int) bool {
	dues := v.IsNear(i, words.Monthly, 8) || v.IsNear(i, words.AmountOf, 8)
	return dues && v.Reads(i+3, "m") && len(v.Str(i)) > 2
}

// mixedFraction reads 2 1/2, and 2 3/7 where nothing else is said, or what it counts follows: two and three by seven.
func mixedFraction(r *Reader, i int) (Reading, bool) {
	if !text.HasStroke(&r.View, i+1) || !r.At(i+1).Gap {
		return Reading{}, false
	}
	next := i + 4
	f, _ := simpleFraction(&r.View, i+1)
	if f > 0 && !r.TightSign(next, '/') {
		r.Begin(i, speech.SpanFraction)
		n, _ := text.NumberAt(&r.View, i)
		n.Fraction = f
		r.MixedNumber(&n, r.Lang)
		return r.End(unitBehind(r, next, r.Lang))
	}
	if f > 0 || !r.LooseEnd(next) || r.Joined(i) || r.ZeroLed(i+1) {
		return Reading{}, false
	}
	u, _ := text.UnitAt(&r.View, next)
	alone := i == r.Start && r.Last(next-1)
	if !alone && u == nil && !r.CountedAt(next) || len(r.Str(i)) > 4 {
		return Reading{}, false
	}
	l := quantityLang(r, i)
	r.Begin(i, speech.SpanFraction)
	r.SayPlain(i, l)
	r.Say(l.Words[words.WordAnd])
	r.SayPlain(i+1, l)
	r.Say(l.Words[words.WordOver])
	r.SayPlain(i+3, l)
	return r.End(unitBehind(r, next, l))
}

// caseOfYear reads 245/2026 behind a word of cases and files: the number, and the year that it belongs to.
func caseOfYear(r *Reader, i int) (Reading, bool) {
	y := r.Small(i+2, 4)
	if y < 1950 || y >= 2050 {
		return Reading{}, false
	}
	if !r.LooseEnd(i+3) || r.NumberBehind(i+3, '/') || !text.IsNumbered(&r.View, i) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanFraction)
	r.SayPlain(i, r.Lang)
	if r.English {
		r.Say(words.English.Words[words.WordOutOf])
	} else {
		r.Say(r.Lang.Words[words.WordOver])
	}
	r.Year(uint64(y), r.Lang)
	return r.End(i + 3)
}

// strokedCode reads the parts of a policy or a file, 2001/8834/00, with a pause for each stroke.
func strokedCode(r *Reader, i int) (Reading, bool) {
	r.Begin(i, speech.SpanCode)
	r.Grouped(r.Str(i))
	j := i + 1
	for ; r.NumberBehind(j, '/') && j-i < 8; j += 2 {
		r.Pause()
		r.Grouped(r.Str(j + 1))
	}
	return r.End(j)
}

// partOf reads the 1/3 of a parcel or a page as one of three, and a tally: visits left: 1/2.
func partOf(r *Reader, i int) (Reading, bool) {
	a, b := r.Small(i, 2), r.Small(i+2, 2)
	counts := r.IsWord(i-1, words.Parcels) || isTally(&r.View, i)
	if a < 1 || b < a || !r.LooseEnd(i+3) || !counts {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanFraction)
	if !r.English {
		r.SayPlain(i+2, r.Lang) // तीन में से एक
		r.Say(r.Lang.Words[words.WordOutOf])
		r.SayPlain(i, r.Lang)
	} else {
		r.SayPlain(i, words.English)
		r.Say(words.English.Words[words.WordOutOf])
		r.SayPlain(i+2, words.English)
	}
	return r.End(i + 3)
}

// isTally reports whether the 1/2 at token i counts how often something was used or can be: visits left: 1/2, but
// time left: 1/2 hour.
func isTally(v *text.View, i int) bool {
	named := v.Reads(i-2, "left", "remaining", "used", "availed", "bache")
	return v.IsSign(i-1, ':') && named && !v.At(i+3).Kind.WordLike()
}

// fewOf reads 7/8 baje, 4/5 log and 24/25 को, which are one or the other.
func fewOf(r *Reader, i int) (Reading, bool) {
	a, b := r.Small(i, 2), r.Small(i+2, 2)
	if a < 1 || b != a+1 {
		return Reading{}, false
	}
	counted := a >= 2 && r.In(i+3, words.People) || a >= 4 && r.CountedAt(i+3)
	days := 12 <= a && a <= 30 && r.In(i+3, words.Either)
	if !counted && !days && !r.IsWord(i+3, words.Oclock) {
		return Reading{}, false
	}
	if !r.LooseEnd(i+3) || inAddress(&r.View, i) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanRange)
	r.SayPlain(i, r.Lang)
	if r.English {
		r.Say("or")
	}
	r.SayPlain(i+2, r.Lang)
	return r.End(i + 3)
}

// unitBehind says the unit at token j, as of 1/2 kg, and returns what is behind it, or j if there is none.
func unitBehind(r *Reader, j int, l words.Lang) int {
	u, next := text.UnitAt(&r.View, j)
	if u == nil || u.TightOnly || !r.LooseEnd(next) {
		return j
	}
	r.Say(l.Measure(u).One)
	return next
}

// simpleFraction reads 1/2, 1/4 and 3/4.
func simpleFraction(v *text.View, i int) (fraction byte, next int) {
	if !text.HasStroke(v, i) {
		return 0, i
	}
	switch v.Between(i, i+3) {
	case "1/2":
		return text.Half, i + 3
	case "1/4":
		return text.Quarter, i + 3
	case "3/4":
		return text.ThreeQuarters, i + 3
	}
	return 0, i
}

// inAddress reports whether a word before token i makes the number part of an address.
func inAddress(v *text.View, i int) bool {
	return v.IsWord(i-1, words.Place) || v.IsWord(i-2, words.Place) && v.IsSign(i-1, '.')
}

// roundFraction reads a fraction over a round number that would be a code or a telephone number by its length.
func roundFraction(r *Reader, i int) (Reading, bool) {
	if !text.IsRound(&r.View, i) || !text.HasStroke(&r.View, i) {
		return Reading{}, false
	}
	return fraction(r, i)
}

// version reads 2.0.1, and an internet address digit by digit.
func version(r *Reader, i int) (Reading, bool) {
	if !r.TightSign(i+1, '.') || r.At(i+2).Kind != text.Digits || !r.Tight(i+2) || !text.TightDotted(&r.View, i+3) {
		return Reading{}, false
	}
	j := i
	for text.TightDotted(&r.View, j+1) && j-i < 12 {
		j += 2
	}
	if !r.LooseEnd(j + 1) {
		return Reading{}, false
	}
	l := quantityLang(r, i)
	address := j == i+6
	r.Begin(i, speech.SpanVersion)
	for k := i; k <= j; k += 2 {
		switch {
		case address && k > i:
			r.Say(l.Words[words.WordDot])
		case k > i:
			r.Say(l.Words[words.WordPoint])
		}
		if address {
			r.Digits(r.Str(k), r.DigitLang())
		} else {
			r.SayPlain(k, l)
		}
	}
	return r.End(j + 1)
}

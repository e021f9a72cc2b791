package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// date reads a date that begins with a number: 15/08/2026, 2026-08-15, 15-Aug-26, 15 अगस्त, 08/29.
func date(r *Reader, i int) (Reading, bool) {
	if r.Joined(i) && !isGluedDay(&r.View, i) || len(r.Str(i)) > 4 || isDoor(&r.View, i) {
		return Reading{}, false
	}
	if reading, ok := dayRange(r, i); ok {
		return reading, true
	}
	if reading, ok := eitherDay(r, i); ok {
		return reading, true
	}
	if reading, ok := stampedDay(r, i); ok {
		return reading, true
	}
	d, ok := anyDay(&r.View, i)
	if !ok {
		return fiscalYear(r, i)
	}
	r.Begin(i, speech.SpanDate)
	r.SayDate(&d)
	if m, ok := text.IsoTime(&r.View, d.Next); ok {
		r.SayTime(&m, false)
		return r.End(m.Next)
	}
	if r.NumberBehind(d.Next, '-') && r.NumberBehind(d.Next+2, ':') {
		r.Pause() // 24-11-26-14:05
		return r.End(d.Next + 1)
	}
	days := isDayRange(&r.View, i) || text.HasStroke(&r.View, i) && text.IsOfDays(&r.View, i)
	if r.At(d.Next).IsOneOf(text.Dashes) && (days || isPeriod(&r.View, &d)) {
		r.Say(r.Lang.Words[words.WordTo])
		return r.End(d.Next + 1)
	}
	return r.End(sayMonthsBehind(r, d.Next))
}

// dayRange reads 15-20 Aug and 15th-20th August.
func dayRange(r *Reader, i int) (Reading, bool) {
	a, j := dayAt(&r.View, i)
	if t := r.At(j); a == 0 || !t.IsOneOf(text.Hyphens) || t.Gap != r.At(j+1).Gap {
		return Reading{}, false
	}
	b, k := dayAt(&r.View, j+1)
	if b == 0 {
		return Reading{}, false
	}
	m, next := text.MonthAt(&r.View, k)
	if m == 0 || r.Tight(k) {
		return Reading{}, false
	}
	d := text.Day{Day: b, Month: m, Next: next}
	d.Keep(&r.View, k)
	text.YearBehind(&r.View, next, &d)
	r.Begin(i, speech.SpanDate)
	r.SayDay(a, r.Lang)
	r.Say(r.Lang.Words[words.WordTo])
	r.SayDate(&d)
	return r.End(d.Next)
}

// eitherDay reads 15/16 March.
func eitherDay(r *Reader, i int) (Reading, bool) {
	a, b := r.Small(i, 2), r.Small(i+2, 2)
	days := 1 <= a && b == a+1 && b <= 31
	if !days || !r.NumberBehind(i+1, '/') || r.Tight(i+3) {
		return Reading{}, false
	}
	m, next := text.MonthAt(&r.View, i+3)
	if m == 0 {
		return Reading{}, false
	}
	d := text.Day{Day: b, Month: m, Next: next}
	d.Keep(&r.View, i+3)
	text.YearBehind(&r.View, next, &d)
	r.Begin(i, speech.SpanDate)
	r.SayDay(a, r.Lang)
	if r.English {
		r.Say("or")
	}
	r.SayDate(&d)
	return r.End(d.Next)
}

// dayAt reads a day of the month, 15 or 15th; 0 for none.
func dayAt(v *text.View, i int) (day, next int) {
	n := v.Small(i, 2)
	if n < 1 || n > 31 {
		return 0, i
	}
	if t := v.At(i + 1); t.Kind == text.Latin && !t.Gap && text.EnglishEnding(v.Str(i+1)) {
		return n, i + 2
	}
	return n, i + 1
}

// monthThenDay reads Aug 15th, August 15, 2026 and Aug 2026.
func monthThenDay(r *Reader, i int) (Reading, bool) {
	m, next := text.MonthAt(&r.View, i)
	if _, to := monthBehind(&r.View, next); m > 0 && to > 0 {
		return months(r, i)
	}
	if m > 0 && isMonthBeside(&r.View, i, next) {
		r.Begin(i, speech.SpanDate)
		r.Say(words.English.Months[m])
		return r.End(next)
	}
	year := r.NumberBehind(next, '-') || r.IsSign(next, '\'') && r.TightDigits(next+1)
	if m == 0 || r.At(next).Kind != text.Digits && !year || r.Joined(i) {
		return Reading{}, false
	}
	d := text.Day{Month: m, Next: next}
	d.Keep(&r.View, i)
	if r.TightSign(next, '-') || r.IsSign(next, '\'') {
		return monthAndYear(r, i, next, &d)
	}
	if r.IsSign(next, '-') {
		return Reading{}, false
	}
	if text.YearAt(&r.View, next, &d, false); d.Year > 0 {
		r.Begin(i, speech.SpanDate)
		r.SayDate(&d)
		return r.End(d.Next)
	}
	if isPaidMonthOfYear(&r.View, i, next) {
		text.YearAt(&r.View, next, &d, true)
		r.Begin(i, speech.SpanDate)
		r.SayDate(&d)
		return r.End(d.Next)
	}
	return monthAndDay(r, i, next, &d)
}

// isPaidMonthOfYear reports whether the month in capitals at token i is one that is paid for, and the figures on it, at
// token j, are its year: SALARY JUL27.
func isPaidMonthOfYear(v *text.View, i, j int) bool {
	paid := v.IsAnyWord(i-1, words.Monthly, words.AmountOf) && v.At(i).InCapitals()
	return (paid || v.Reads(i-1, "QE")) && v.Pair(j) >= 24 && v.Tight(j)
}

// monthAndDay reads Aug 15th, August 15, 2026 and Nov 28-Dec 3: d has the month at token i, and the day stands at token
// j.
func monthAndDay(r *Reader, i, j int, d *text.Day) (Reading, bool) {
	a := r.Small(j, 2)
	if a < 1 || a > 31 || r.CountedAt(j+1) {
		return Reading{}, false
	}
	if behind := r.At(j + 1); !behind.Gap && behind.IsOneOf(":%") || text.TightDotted(&r.View, j+1) {
		return Reading{}, false // a time, a share, a decimal
	}
	k := j + 1
	if r.Tight(k) && r.At(k).Kind == text.Latin {
		if !text.EnglishEnding(r.Str(k)) {
			return Reading{}, false
		}
		k++
	}
	if b, behind := laterDay(&r.View, k, a); b > 0 {
		d.Day, d.Next = b, behind // Jan 15-20
		text.YearBehind(&r.View, behind, d)
		r.Begin(i, speech.SpanDate)
		r.SayDay(a, r.Lang)
		r.Say(r.Lang.Words[words.WordTo])
		r.SayDate(d)
		return r.End(d.Next)
	}
	to, end := monthBehind(&r.View, k)
	b, behind := dayAt(&r.View, end)
	ranged := to > 0 && b > 0 && r.LooseEnd(behind)
	if !ranged && r.Tight(k) && r.At(k).IsOneOf(text.Hyphens+"/") {
		return Reading{}, false
	}
	d.Day, d.Next = a, k
	text.YearBehind(&r.View, k, d)
	r.Begin(i, speech.SpanDate)
	r.SayDate(d)
	if !ranged {
		return r.End(d.Next)
	}
	last := text.Day{Day: b, Month: to, Next: behind}
	last.Keep(&r.View, k+1)
	text.YearBehind(&r.View, behind, &last)
	r.Say(r.Lang.Words[words.WordTo])
	r.SayDate(&last)
	return r.End(last.Next)
}

// laterDay returns the day of the same month that a hyphen at token k leads to from day a, and where it ends; 0 for
// none.
func laterDay(v *text.View, k, a int) (day, end int) {
	if !v.Tight(k) || !v.At(k).IsOneOf(text.Hyphens) {
		return 0, k
	}
	if day, end = dayAt(v, k+1); day <= a || !v.LooseEnd(end) || v.CountedAt(end) {
		return 0, k
	}
	return day, end
}

// isMonthBeside reports whether the short month at token i, which ends before next, is added to another: Oct+Nov, Oct &
// Nov.
func isMonthBeside(v *text.View, i, next int) bool {
	if v.At(i).Kind != text.Latin || v.At(i).Cas == words.Lower || v.At(i).B-v.At(i).A > 4 {
		return false
	}
	if v.At(next).IsOneOf("+&") {
		if m, _ := text.MonthAt(v, next+1); m > 0 {
			return true
		}
	}
	if v.At(i - 1).IsOneOf("+&") {
		m, _ := text.MonthAt(v, i-2)
		return m > 0
	}
	return false
}

// monthAndYear reads Aug-25, Mar-2027 and Jul'26: d has the month at token i, and the sign in front of the year stands
// at token j.
func monthAndYear(r *Reader, i, j int, d *text.Day) (Reading, bool) {
	if len(r.Str(j+1)) == 1 || r.NumberBehind(j+2, '-') || r.NumberBehind(j+2, '/') || !r.LooseEnd(j+2) {
		return Reading{}, false
	}
	if text.YearAt(&r.View, j+1, d, true); d.Year == 0 {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanDate)
	r.SayDate(d)
	return r.End(d.Next)
}

// monthBehind returns the month that a hyphen at token i leads to, and where it ends; 0 for none.
func monthBehind(v *text.View, i int) (m, end int) {
	if !v.TightSign(i, '-') && !v.TightSign(i, text.EnDash) {
		return 0, 0
	}
	m, end = text.MonthAt(v, i+1)
	if m == 0 || !v.LooseEnd(end) && v.At(end).Kind != text.Digits {
		return 0, 0
	}
	return m, end
}

// months says months with hyphens between them, as a range: Aug-Sep 2026.
func months(r *Reader, i int) (Reading, bool) {
	var from text.Day
	from.Month, from.Next = text.MonthAt(&r.View, i)
	from.Keep(&r.View, i)
	r.Begin(i, speech.SpanDate)
	r.SayDate(&from)
	return r.End(sayMonthsBehind(r, from.Next))
}

// sayMonthsBehind says the months that hyphens from token i on lead to, and returns what is behind them.
func sayMonthsBehind(r *Reader, i int) int {
	for {
		m, end := monthBehind(&r.View, i)
		if m == 0 {
			return i
		}
		to := text.Day{Month: m, Next: end}
		to.Keep(&r.View, i+1)
		text.YearBehind(&r.View, end, &to)
		r.Say(r.Lang.Words[words.WordTo])
		r.SayDate(&to)
		i = to.Next
	}
}

// fiscalYear reads 2025-26, a year and the next.
func fiscalYear(r *Reader, i int) (Reading, bool) {
	y := r.Small(i, 4)
	if y < 1100 || y > 2099 {
		return Reading{}, false
	}
	if t := r.At(i + 1); t.Gap || !t.IsOneOf(text.Hyphens+"/") || !r.TightDigits(i+2) || !r.LooseEnd(i+3) {
		return Reading{}, false
	}
	if y < 1900 && !isOldYears(&r.View, i, y) {
		return Reading{}, false
	}
	next := r.Small(i+2, 4)
	switch {
	case len(r.Str(i+2)) == 2 && next == (y+1)%100:
	case len(r.Str(i+2)) == 2 && next > y%100 && next-y%100 <= 30:
		r.Begin(i, speech.SpanYear)
		r.Year(uint64(y), r.Lang)
		r.Say(r.Lang.Words[words.WordTo])
		r.Cardinal(uint64(next), r.Lang)
		return r.End(i + 3)
	case len(r.Str(i+2)) == 4 && y < next && next <= 2099, len(r.Str(i+2)) == 4 && 1900 <= next && next <= 2099:
		r.Begin(i, speech.SpanYear)
		r.Year(uint64(y), r.Lang)
		r.Say(r.Lang.Words[words.WordTo])
		r.Year(uint64(next), r.Lang)
		return r.End(i + 3)
	default:
		return Reading{}, false
	}
	r.Begin(i, speech.SpanYear)
	r.Year(uint64(y), r.Lang)
	r.Cardinal(uint64(next), r.Lang)
	return r.End(i + 3)
}

// isOldYears reports whether y, which is token i, is the first of two years before 1900: 1834-35, (1869-1948),
// 1526-1857 AD.
func isOldYears(v *text.View, i, y int) bool {
	last := v.Small(i+2, 4)
	if len(v.Str(i+2)) == 2 {
		return last == (y+1)%100 && !v.CountedAt(i+3) && !v.At(i-1).IsCurrency()
	}
	bracketed := v.IsSign(i-1, '(') && v.IsSign(i+3, ')')
	return y < last && (bracketed || isOfEra(v, i+2) || v.IsWord(i-1, words.YearBefore))
}

// bareYear reads 1947 where a word says that it is a year, and 1990s.
func bareYear(r *Reader, i int) (Reading, bool) {
	y := r.Small(i, 4)
	if y < 1100 || y > 2199 {
		return Reading{}, false
	}
	if !r.LooseEnd(i+1) || !saidToBeYear(&r.View, i, y) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanYear)
	r.Year(uint64(y), r.Lang)
	return r.End(i + 1)
}

// saidToBeYear reports whether a word beside y, which is token i, makes it a year: in 2010. If the word often stands
// beside other numbers, y must be near today.
func saidToBeYear(v *text.View, i, y int) bool {
	before := i - 1
	if v.IsSign(before, '.') && v.IsWord(before-1, words.Shortened) {
		before-- // Est. 1995
	}
	// in 1857, सन् 1526
	behindYearWord := v.IsWord(before, words.YearBefore) && (y >= 1800 || v.At(before).Kind == text.Deva)
	beforeYearWord := 1900 <= y && y < 2100 && v.IsWord(i+1, words.YearAfter) // 1947 में
	if behindYearWord || beforeYearWord {
		return true
	}
	longAgo := v.In(i+1, words.Possessive) && v.IsWord(i+2, words.Past)  // 1857 ki kranti
	behindTitle := v.English && 1950 <= y && y < 2050 && isTitle(v, i-1) // World Cup 1983
	if longAgo || behindTitle || isOfEra(v, i) || isBracketedYear(v, i, y) {
		return true
	}
	return opensYears(v, i, y) || closesYears(v, i, y)
}

// isOfEra reports whether the era of the year at token i stands beside it, or the law that is of it: 1857 ईस्वी,
// 1200 ई., AD 1526.
func isOfEra(v *text.View, i int) bool {
	if v.IsSign(i-1, ',') && v.Reads(i-2, "Act", "Rules", "Bill", "Ordinance") {
		return true // the Forest Act, 1927
	}
	behind := v.In(i+1, words.Era) && (v.At(i+1).Kind == text.Deva || v.At(i+1).Cas == words.Upper)
	return behind || v.Reads(i+1, "ई") && v.IsSign(i+2, '.') || v.Reads(i-1, "AD")
}

// isBracketedYear reports whether y, which is token i, stands in brackets behind a name: 'Nadi' (1988).
func isBracketedYear(v *text.View, i, y int) bool {
	if !v.IsSign(i-1, '(') || !v.IsSign(i+1, ')') || y%100 == 0 {
		return false
	}
	before := v.At(i - 2)
	return 1800 <= y && y < 2100 && (before.Kind.Lettered() || before.IsOneOf("\"'"))
}

// closesYears reports whether y, which is token i, is the second of two years: 1967 से 1979.
func closesYears(v *text.View, i, y int) bool {
	first := v.Small(i-2, 4)
	if first < 1900 || y <= first || y >= 2100 {
		return false
	}
	return v.Reads(i-1, "से", "se") && !v.CountedAt(i+1)
}

// opensYears reports whether y, which is token i, is the first of two years: 1857 से 1947 तक.
func opensYears(v *text.View, i, y int) bool {
	last := v.Small(i+2, 4)
	if !v.In(i+1, words.BetweenDays) || last <= y || last < 1900 || last >= 2100 {
		return false
	}
	return v.LooseEnd(i+3) && v.IsWord(i+3, words.YearAfter)
}

// isTitle reports whether token i is a capitalised word inside its sentence: World Cup 2023.
func isTitle(v *text.View, i int) bool {
	t := v.At(i)
	if i <= v.Start || v.CountedAt(i+2) {
		return false
	}
	capitalised := t.Kind == text.Latin && (t.Cas == words.Title || t.Cas == words.Upper)
	return capitalised && !t.Word.IsAny(words.IdentifierWord, words.CodeWord, words.EnglishHead, words.Place)
}

// decades reads 1990s, and the 90s.
func decades(r *Reader, i int) (Reading, bool) {
	y, s := r.Small(i, 4), i+1
	if r.TightSign(s, '\'') {
		s++ // the 80's
	}
	if y < 20 || y%10 > 0 {
		return Reading{}, false
	}
	if !r.Tight(s) || !r.Reads(s, "s") || !r.LooseEnd(s+1) {
		return Reading{}, false
	}
	// the 90s, 90s में
	saidToBeDecade := r.In(i-1, words.BeforeDecade) || r.IsWord(s+1, words.YearAfter) ||
		r.IsSign(i-1, '\'') && r.Tight(i)
	if y < 1100 && !(y < 100 && saidToBeDecade) {
		return Reading{}, false
	}
	if y < 50 && isTakenNear(&r.View, i) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanYear)
	r.Decade(uint64(y))
	return r.End(s + 1)
}

// isTakenNear reports whether a word of what takes seconds stands near token i: video 30s ka hai.
func isTakenNear(v *text.View, i int) bool {
	for j := max(v.Start, i-5); j < min(v.Stop, i+6); j++ {
		if v.IsWord(j, words.Lasting) || v.In(j, words.Media) {
			return true
		}
	}
	return false
}

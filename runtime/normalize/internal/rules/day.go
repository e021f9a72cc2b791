package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// daysOf are the ways to write a date that begins with a number. The first that fits wins.
var daysOf = [...]func(v *text.View, i int) (text.Day, bool){
	text.NumericDate, text.MonthSecond, text.ShortDate, text.HyphenedDay, numericMonth, dottedDay,
}

// anyDay reads the date at token i, however it is written.
func anyDay(v *text.View, i int) (d text.Day, ok bool) {
	for _, try := range daysOf {
		if d, ok = try(v, i); ok {
			return d, true
		}
	}
	return d, false
}

// stampedDay reads 24-11-202614:05:33.
func stampedDay(r *Reader, i int) (Reading, bool) {
	d, m, ok := text.StampedDate(&r.View, i)
	if !ok {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanDate)
	r.SayDate(&d)
	r.SayTime(&m, false)
	return r.End(m.Next)
}

// isPeriod reports whether another date in numbers follows the hyphen behind d: 01/04/27-31/03/28.
func isPeriod(v *text.View, d *text.Day) bool {
	to, ok := text.NumericDate(v, d.Next+1)
	return ok && d.Year > 0 && 12*to.Year+to.Month >= 12*d.Year+d.Month
}

// isDoor reports whether the number at token i is that of a door or a plot, which may look like a date: #12-3-45, H.No.
// 8-2-26.
func isDoor(v *text.View, i int) bool {
	if v.IsSign(i-1, '#') {
		return true
	}
	if v.IsWord(i-1, words.Door) {
		_, day := text.NumericDate(v, i)
		return !day || len(v.Str(i+4)) != 4 // HOUSE 11-05-2027
	}
	no := i - 1
	if v.IsSign(no, '.') {
		no--
	}
	if !v.In(no, words.NumberWord) {
		return false
	}
	dotted := v.IsSign(no-1, '.') && v.Reads(no-2, "H", "h", "D", "R", "P")
	return dotted || v.IsAnyWord(no-1, words.Place, words.NumbersThings)
}

// numericMonth reads 03-2010, a month and its year: nobody counts from three to 2010.
func numericMonth(v *text.View, i int) (d text.Day, ok bool) {
	if !v.NumberBehind(i+1, '-') || !v.LooseEnd(i+3) || v.NumberBehind(i+3, '-') || v.CountedAt(i+3) {
		return d, false
	}
	a, b := v.Small(i, 2), v.Small(i+2, 4)
	if a < 1 || a > 12 || b < 1900 || b >= 2100 {
		return d, false
	}
	alone := i == v.Start && v.Last(i+2)
	dated := v.Near(i, 2, words.DateWord, words.Expiry) || v.IsWord(i+3, words.YearAfter)
	return text.Day{Month: a, Year: b, Next: i + 3}, len(v.Str(i)) == 2 && (alone || dated || v.ZeroLed(i))
}

// dottedDay reads 15.12 तक → fifteenth December: before such a word it is neither a time nor a decimal.
func dottedDay(v *text.View, i int) (d text.Day, ok bool) {
	if full, ok := text.NumericDate(v, i+4); ok && v.NumberBehind(i+1, '.') && v.In(i+3, words.BetweenDays) &&
		v.IsSign(i+5, '.') {
		if d := (text.Day{Day: v.Small(i, 2), Month: v.Small(i+2, 2), Next: i + 3}); d.Sound() && full.Year > 0 {
			return d, true // 26.1 या 2.2.26
		}
	}
	if isDayRange(v, i) {
		return text.Day{Day: v.Pair(i), Month: v.Pair(i + 2), Next: i + 3}, true
	}
	a, b := v.Small(i, 2), v.Small(i+2, 2)
	if a < 13 || a > 31 || b < 1 || b > 12 {
		return d, false
	}
	if !v.NumberBehind(i+1, '.') || len(v.Str(i+2)) != 2 || !v.In(i+3, words.Either) {
		return d, false
	}
	if v.At(i-1).IsCurrency() || text.CurrencyCode(v, i-1) > 0 || v.IsWord(i-1, words.AmountOf) {
		return d, false
	}
	return text.Day{Day: a, Month: b, Next: i + 3}, true
}

// isDayRange reports whether token i begins the days 01.06-30.06, or the second of them: both are months, and not both
// the minutes of times.
func isDayRange(v *text.View, i int) bool {
	if v.At(i-1).IsOneOf(text.Dashes) && v.NumberBehind(i-3, '.') {
		i -= 4
	}
	if !v.At(i+3).IsOneOf(text.Dashes) || !v.NumberBehind(i+1, '.') || !v.NumberBehind(i+5, '.') || !v.LooseEnd(i+7) {
		return false
	}
	for _, j := range [...]int{i, i + 4} {
		if d := (text.Day{Day: v.Pair(j), Month: v.Pair(j + 2)}); !d.Sound() {
			return false
		}
	}
	return v.Pair(i+2)%5 != 0 || v.Pair(i+6)%5 != 0
}

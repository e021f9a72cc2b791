package text

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// Dates: the day comes first in every numeric form, as India writes it.

// Day is a date as it is written; what is missing is 0.
type Day struct {
	Day, Month, Year int
	Word             int // the token of a Latin month in full, which is kept
	Next             int
}

// NumericDate reads three numbers with the same sign between them.
func NumericDate(v *View, i int) (d Day, ok bool) {
	sep := v.At(i + 1)
	if !isInThree(v, i) {
		return d, false
	}
	a, b, c := v.Small(i, 4), v.Small(i+2, 2), v.Small(i+4, 4)
	if a < 0 || b < 0 || c < 0 {
		return d, false
	}
	d.Next = i + 5
	if len(v.Str(i)) == 4 {
		d.Year, d.Month, d.Day = a, b, c
		return d, len(v.Str(i+4)) <= 2 && d.Sound()
	}
	size := len(v.Str(i + 4))
	if len(v.Str(i)) > 2 || size != 2 && size != 4 {
		return d, false
	}
	if sep.Ch == '.' && size == 2 && isVersion(v, i, c) {
		return d, false
	}
	d.Day, d.Month, d.Year = a, b, c
	if size == 2 {
		d.Year = CenturyOf(d.Year)
	}
	if d.Month > 12 {
		d.Day, d.Month = d.Month, d.Day
	}
	return d, d.Sound()
}

// isInThree reports whether what begins at token i has two signs of dates in it, the same ones, and ends behind its
// third part.
func isInThree(v *View, i int) bool {
	sep := v.At(i + 1)
	if sep.Gap || !sep.IsOneOf("/-.") && !isColonDate(v, i) {
		return false
	}
	if !v.Tight(i+2) || !v.TightSign(i+3, sep.Ch) || !v.Tight(i+4) {
		return false
	}
	goesOn := v.NumberBehind(i+5, sep.Ch) && !v.NumberBehind(i+7, ':') && !opensPeriod(v, i) // but 24-11-26-14:05
	_, timed := IsoTime(v, i+5)
	return (timed || v.LooseEnd(i+5)) && !goesOn && !v.IsSign(i+5, '%')
}

// opensPeriod reports whether what begins at token i is the first of two dates with years, and a hyphen between them:
// 01-05-27-31-07-27.
func opensPeriod(v *View, i int) bool {
	if !v.NumberBehind(i+7, '-') || !v.NumberBehind(i+9, '-') || v.NumberBehind(i+11, '-') {
		return false
	}
	from := Day{Day: v.Pair(i), Month: v.Pair(i + 2)}
	to := Day{Day: v.Pair(i + 6), Month: v.Pair(i + 8)}
	return from.Sound() && to.Sound() && len(v.Str(i+4)) == len(v.AtDigits(i+10))
}

// isColonDate reports whether three numbers with colons at token i are the date in front of a time, as a bank prints
// it: (2027:05:11 18:22:40).
func isColonDate(v *View, i int) bool {
	timed := v.At(i+5).Gap && v.NumberBehind(i+6, ':')
	if !timed || !v.NumberBehind(i+1, ':') || v.Pair(i+2) > 12 {
		return false
	}
	if y := v.Small(i, 4); len(v.Str(i)) == 4 {
		return 1990 <= y && y < 2100
	}
	y := v.Small(i+4, 2)
	return len(v.Str(i)) == 2 && 20 <= y && y < 40
}

// StampedDate reads 24-11-202614:05:33, whose year runs into the hour.
func StampedDate(v *View, i int) (d Day, m Moment, ok bool) {
	sep := v.At(i + 1)
	parted := !sep.Gap && sep.IsOneOf("/-.") && v.TightSign(i+3, sep.Ch)
	if !parted || !v.NumberBehind(i+5, ':') {
		return d, m, false
	}
	n := v.Small(i+4, 6)
	d = Day{Day: v.Small(i, 2), Month: v.Small(i+2, 2), Year: n / 100}
	switch len(v.AtDigits(i + 4)) {
	case 6:
	case 4: // 24-11-2614:05
		if d.Year = CenturyOf(d.Year); d.Year >= 2040 {
			return d, m, false
		}
	default:
		return d, m, false
	}
	m = Moment{Hour: n % 100, Min: v.Pair(i + 6), Sec: -1, Full: true, Next: i + 7}
	if s := v.Pair(i + 8); v.NumberBehind(i+7, ':') && 0 <= s && s < 60 {
		m.Sec, m.Next = s, i+9
	}
	d.Next = i + 5
	clock := m.Hour < 24 && 0 <= m.Min && m.Min < 60
	return d, m, clock && d.Sound() && v.LooseEnd(m.Next)
}

// HyphenedDay reads the 12-05 of on 12-05, which falls or has a zero in front, so that it is no range.
func HyphenedDay(v *View, i int) (d Day, ok bool) {
	a, b := v.Pair(i), v.Pair(i+2)
	goesOn := !v.LooseEnd(i+3) || v.NumberBehind(i+3, '-') || v.IsSign(i+3, '%')
	if a < 1 || b < 1 || !v.NumberBehind(i+1, '-') || goesOn {
		return d, false
	}
	falls := v.ZeroLed(i+2) || a > b
	named := v.In(i-1, words.DateNamed) || v.Reads(i-1, "on", "On", "ON") || v.Reads(i+3, "ko", "को")
	d = Day{Day: a, Month: b, Next: i + 3}
	return d, falls && named && !v.CountedAt(i+3) && d.Sound()
}

// isVersion reports whether three numbers with points from token i on, the last being c, are a version, 1.2.15, and no
// day.
func isVersion(v *View, i, c int) bool {
	if len(v.Str(i+2)) > 1 || v.Near(i, 2, words.DateWord) {
		return false
	}
	t := v.At(i - 1)
	if c < 20 || c >= 40 || !t.Kind.Lettered() || v.English {
		return true
	}
	return t.Cas == words.Title || t.Cas == words.Upper || v.In(i-1, words.Versioned)
}

// CenturyOf is the year that two figures are short for. Loans and bonds end in thirty years at most, so what is from 60
// on is long ago.
func CenturyOf(y int) int {
	if y >= 60 {
		return 1900 + y
	}
	return 2000 + y
}

// Sound reports whether d can be a date.
func (d *Day) Sound() bool {
	if d.Month < 1 || d.Month > 12 || d.Day < 1 || d.Day > 31 {
		return false
	}
	return d.Year == 0 || 1000 <= d.Year && d.Year <= 2999
}

// ShortDate reads two numbers with a stroke: 08/29 is the end of a card's life, 15/08 the fifteenth of August.
func ShortDate(v *View, i int) (d Day, ok bool) {
	if !HasStroke(v, i) || v.TightSign(i+3, '/') || !v.LooseEnd(i+3) {
		return d, false
	}
	a, b := v.Small(i, 2), v.Small(i+2, 4)
	if a < 0 || b < 0 {
		return d, false
	}
	d.Next = i + 3
	switch {
	case isMonthAndYear(v, i, a, b):
		d.Month, d.Year = a, b
		if b < 100 {
			d.Year += 2000
		}
		return d, true
	case isDayAndMonth(v, i, a, b):
		d.Day, d.Month = a, b
		return d, d.Sound()
	}
	return d, false
}

// isMonthAndYear reports whether the numbers a and b at token i, with a stroke between them, are a month and its year.
func isMonthAndYear(v *View, i, a, b int) bool {
	size := len(v.Str(i + 2))
	if a < 1 || a > 12 || size != 2 && size != 4 {
		return false
	}
	if timed := v.At(i+3).Kind == Digits && v.NumberBehind(i+4, ':'); expires(v, i) && !timed {
		return size == 2 || b >= 1900
	}
	if isPaidMonth(v, i, b) {
		return true
	}
	if size == 4 {
		return 1900 <= b && b < 2100 && !IsNumbered(v, i) // file no. 12/2026
	}
	recent := 13 <= b && b <= 50
	return recent && (v.IsWord(i+3, words.YearAfter) || v.Near(i, 2, words.DateWord)) // bond 6/22 में
}

// IsNumbered reports whether a word before token i makes it the number of a file or a case.
func IsNumbered(v *View, i int) bool {
	return ContextOf(v, i).What == IDNear || v.IsSign(i-1, '.') && v.Reads(i-2, "सं", "नं", "क्र", "no", "No", "NO")
}

// isDayAndMonth reports whether the numbers a and b at token i, with a stroke between them, are a day and its month.
func isDayAndMonth(v *View, i, a, b int) bool {
	dated := isWordedDay(v, i) || followsDate(v, i) || isPlainDay(v, i, a, b)
	if two := len(v.Str(i)) == 2 && len(v.Str(i+2)) == 2; two && b < 20 && dated {
		return true
	}
	if b < 1 || b > 12 || a > 31 || v.IsWord(i-1, words.Place) {
		return false
	}
	if isOneOfDays(v, i, b) || IsOfDays(v, i) || isNamedDay(v, i) {
		return true
	}
	twoFigures := len(v.Str(i)) == 2 && !v.Reads(i+3, "se", "से") // 12/4 से may be a fraction
	beforeKo := b >= 10 && v.Reads(i+3, "ko", "को")               // 3/12 ko
	plain := a >= 13 || twoFigures || beforeKo
	return plain && (dated || v.In(i-1, words.BeforeDay))
}

// isWordedDay reports whether a word beside the numbers at token i is one of days: on, Monday, तक.
func isWordedDay(v *View, i int) bool {
	return v.Near(i, 2, words.DateWord, words.Expiry) || isDateTail(v, i+3) || WeekdayAt(v, i-1) > 0
}

// isNamedDay reports whether the word before token i says that a day follows: दिनांक 4/11, debited on 4/11.
func isNamedDay(v *View, i int) bool {
	if v.In(i-1, words.DateNamed) {
		return true
	}
	return v.English && v.Reads(i-1, "on") && (EndsClause(v, i+3) || v.In(i+3, words.PaidBy))
}

// isOneOfDays reports whether the day at token i, of month b, is one of two: from 3/2 to 5/2.
func isOneOfDays(v *View, i, b int) bool {
	for _, j := range [...]int{i - 4, i + 4} {
		first := min(i, j)
		apart := v.In(first+3, words.BetweenDays) && HasStroke(v, j) && v.LooseEnd(j+3)
		if from := v.In(first-1, words.BeforeDay); apart && from && v.Small(j, 2) <= 31 && v.Small(j+2, 2) == b {
			return true
		}
	}
	return false
}

// IsOfDays reports whether the numbers with a stroke at token i are the first or the last of a row of days, 1/1 से 31/1
// तक: one of the two cannot be a part, or both are in one month.
func IsOfDays(v *View, i int) bool {
	first := i
	if between := v.At(i - 1); HasStroke(v, i-4) && (v.Reads(i-1, "से", "se", "to") || between.IsOneOf(Dashes)) {
		first = i - 4
	}
	last := first + 4
	if !HasStroke(v, first) || !HasStroke(v, last) || !v.LooseEnd(last+3) {
		return false
	}
	if !v.Reads(first+3, "से", "se", "to") && !v.At(first+3).IsOneOf(Dashes) {
		return false
	}
	from := Day{Day: v.Small(first, 2), Month: v.Small(first+2, 2)}
	to := Day{Day: v.Small(last, 2), Month: v.Small(last+2, 2)}
	if !from.Sound() || !to.Sound() || v.CountedAt(last+3) {
		return false
	}
	until := v.Reads(last+3, "तक", "tak", "tk")
	if whole := from.Day >= from.Month || to.Day >= to.Month; whole {
		return until || to.Day > 12
	}
	return until && from.Month == to.Month && from.Month > 4
}

// isPlainDay reports whether a and b at token i are a day and its month by themselves: in 27/11 the first is no part of
// the second, nobody writes a part as 01/11, and nothing beside it is a house or a number.
func isPlainDay(v *View, i, a, b int) bool {
	zeroLed := v.ZeroLed(i) && len(v.Str(i)) == 2
	if a < 13 && !zeroLed || a > 31 {
		return false
	}
	if b < 1 || len(v.Str(i+2)) != 2 || a == 26 && b == 11 {
		return false
	}
	counts := v.CountedAt(i+3) && !v.Reads(i+3, "CR") // 31/07 CR 2000.00
	if v.IsAnyWord(i-1, words.Place, words.Door, words.Coach, words.AddressWord, words.CodeWord, words.Games) ||
		v.IsSign(i-1, '#') || counts || v.At(i+3).IsOneOf("%"+Hyphens) {
		return false
	}
	before := v.At(i - 1)
	listed := zeroLed || v.ZeroLed(i+2)
	return (before.Kind.Lettered() || listed && before.IsOneOf(",:;")) && ContextOf(v, i).What == NoContext
}

// followsDate reports whether a date of two numbers stands before token i and its postposition: 25/12 से 05/01.
func followsDate(v *View, i int) bool {
	if !v.In(i-1, words.BetweenDays) || len(v.Str(i)) != 2 || len(v.Str(i+2)) != 2 {
		return false
	}
	before := Day{Day: v.Small(i-4, 2), Month: v.Small(i-2, 2)}
	return HasStroke(v, i-4) && before.Sound()
}

// expires reports whether a word near tokens i to i+2 says that they end the life of a card: valid thru 08/29.
func expires(v *View, i int) bool {
	return v.Near(i, 4, words.Expiry) || v.IsWord(i+3, words.Expiry) || v.IsWord(i+4, words.Expiry)
}

// isDateTail reports whether token i is a postposition that follows a date.
func isDateTail(v *View, i int) bool {
	return v.In(i, words.AfterDay)
}

// MonthAt reads the name of a month at token i.
func MonthAt(v *View, i int) (m, next int) {
	t := v.At(i)
	if t.Kind == Deva && v.TightSign(i+1, '.') {
		if e := words.LookUpWritten(v.Str(i)); e.Is(words.DottedMonth) {
			return e.N, i + 2
		}
	}
	if !t.Kind.Lettered() || !t.Word.Is(words.Month) {
		return 0, i
	}
	if s := v.Str(i); s == "may" || s == "mar" {
		return 0, i // the verbs
	}
	next = i + 1
	if t.Kind == Latin && t.B-t.A <= 4 && v.TightSign(next, '.') && !v.Last(next) {
		next++
	}
	return t.Word.N, next
}

// MonthSecond reads 15 August 2026, 15-Aug-26, 15th Aug.
func MonthSecond(v *View, i int) (d Day, ok bool) {
	a := v.Small(i, 2)
	if a < 1 || a > 31 {
		return d, false
	}
	j := i + 1
	if v.Tight(j) && v.At(j).Kind == Latin && EnglishEnding(v.Str(j)) {
		j++
	}
	hyphen := byte(0)
	if t := v.At(j); !t.Gap && t.IsOneOf("-/") && v.Tight(j+1) {
		hyphen = t.Ch
		j++
	}
	m, next := MonthAt(v, j)
	if m == 0 {
		return d, false
	}
	d.Day, d.Month, d.Next = a, m, next
	d.Keep(v, j)
	if hyphen != 0 {
		if v.IsSign(next, '\'') || v.TightSign(next, hyphen) && v.Tight(next+1) && v.LooseEnd(next+2) {
			YearAt(v, next+1, &d, true) // 30-Sep-27, 30-Sep'27
		}
		return d, true
	}
	if v.Tight(next) && v.At(next).Kind == Digits {
		YearAt(v, next, &d, true) // 01Jan25
	} else {
		YearBehind(v, next, &d)
	}
	return d, true
}

// Keep lets a month that is written in full in Latin letters be said as it is written.
func (d *Day) Keep(v *View, j int) {
	if t := v.At(j); t.Kind == Latin && int(t.B-t.A) == len(words.English.Months[d.Month]) {
		d.Word = j
	}
}

// YearBehind reads the year behind a month: 2026, , 2026 or '26.
func YearBehind(v *View, j int, d *Day) {
	k := j
	if v.TightSign(k, ',') {
		k++
	}
	if v.IsSign(k, '\'') {
		YearAt(v, k+1, d, true)
		return
	}
	YearAt(v, k, d, false)
}

// YearAt reads a year at token j into d.
func YearAt(v *View, j int, d *Day, short bool) {
	t := v.At(j)
	if t.Kind != Digits || !v.LooseEnd(j+1) {
		return
	}
	if v.NumberBehind(j+1, ':') || v.NumberBehind(j+1, '/') || TightDotted(v, j+1) {
		return // a time, a fraction, a decimal
	}
	switch y := v.Small(j, 4); {
	case len(v.Str(j)) == 4 && 1100 <= y && y < 2200 && !v.CountedAt(j+1):
		d.Year, d.Next = y, j+1
	case len(v.Str(j)) == 2 && short:
		d.Year, d.Next = CenturyOf(y), j+1
	}
}

package text

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// Times of the day and durations.

// Moment is a time as it is written.
type Moment struct {
	Hour, Min, Sec int  // sec is -1 when it is not written
	Half           byte // 'a' or 'p', 0 when neither is written
	Baje           int  // the token of a Latin baje, which is kept
	Oclock         bool // बजे is written
	Full           bool // hour and minute are written
	Next           int
}

// military reads four digits that are a time because the sentence is about travel: boards 1735, 0915 पर, 0610 ki local.
func military(v *View, i int) (m Moment, ok bool) {
	if m, ok := bareTime(v, i); ok {
		return m, true
	}
	hours := isHours(v, i+1) && v.Tight(i+1) && v.LooseEnd(i+2) // 2145hrs
	if len(v.Str(i)) != 4 || !hours && !v.LooseEnd(i+1) {
		return m, false
	}
	hhmm := v.Small(i, 4)
	if inHours(v, i) {
		m = Moment{Hour: hhmm / 100, Min: hhmm % 100, Sec: -1, Full: true, Next: i + 1}
		if isHours(v, m.Next) {
			m.Next++
		}
		return m, m.Hour < 24 && m.Min < 60
	}
	if v.At(i+1).IsOneOf("./-:%") && v.Tight(i+2) {
		return m, false
	}
	m = Moment{Hour: hhmm / 100, Min: hhmm % 100, Sec: -1, Full: true, Next: i + 1}
	if m.Hour > 23 || m.Min > 59 || !isDeparture(v, i) {
		return m, false
	}
	if isHours(v, m.Next) {
		m.Next++
		if m.Hour < 12 {
			m.Half = 'a'
		}
	}
	return m, true
}

// bareTime reads three or four digits that people type for a time behind a part of the day, or behind @ or before a
// postposition where the sentence has another time: sham 730 tk, gym @630.
func bareTime(v *View, i int) (m Moment, ok bool) {
	n := len(v.Str(i))
	if n < 3 || n > 4 || n == 3 && v.ZeroLed(i) {
		return m, false
	}
	if !v.LooseEnd(i+1) || v.CountedAt(i+1) {
		return m, false
	}
	hhmm := v.Small(i, 4)
	m = Moment{Hour: hhmm / 100, Min: hhmm % 100, Sec: -1, Full: true, Next: i + 1}
	if m.Hour < 1 || m.Hour > 12 || m.Min > 59 || m.Min%5 != 0 {
		return m, false
	}
	tied := v.In(i+1, words.BehindBareTime) || v.IsSign(i-1, '@') && v.Tight(i)
	if !tied {
		return m, false
	}
	if v.IsWord(i-1, words.DayPart) {
		return m, true
	}
	until := v.Reads(i+1, "tk", "tak", "तक") && (v.Near(i, 8, words.DayPart) || m.Min%15 == 0 && isOnTheWay(v, i+2))
	return m, m.Min > 0 && (until || besideClock(v, i))
}

// isOnTheWay reports whether the words from token i on say that somebody goes or comes: 730 tak ghar aa jaungi.
func isOnTheWay(v *View, i int) bool {
	for j := i; j < i+3; j++ {
		if v.In(j, words.Homeward) {
			return true
		}
	}
	return false
}

// inHours reports whether token i is one of two times of four digits, 0200-0400 hrs.
func inHours(v *View, i int) bool {
	if opensHours(v, i) || opensFlight(v, i) {
		return true
	}
	behind := v.At(i-1).IsOneOf(Hyphens) && (opensHours(v, i-2) || opensHours(v, i-3))
	return behind || v.IsSign(i-1, '-') && opensFlight(v, i-2)
}

// opensFlight reports whether token i is the first of two times of four digits behind a day or a flight: 05AUG
// 0515-0640.
func opensFlight(v *View, i int) bool {
	if !v.TightSign(i+1, '-') || !v.LooseEnd(i+3) || v.NumberBehind(i+3, '-') {
		return false
	}
	padded := v.ZeroLed(i) || v.ZeroLed(i+2)
	dated := v.IsWord(i-1, words.Month) || v.Near(i, 3, words.Travel)
	return padded && dated && isClockIn4(v, i) && isClockIn4(v, i+2)
}

// isClockIn4 reports whether token i has four digits that a clock can show.
func isClockIn4(v *View, i int) bool {
	n := v.Small(i, 4)
	return len(v.AtDigits(i)) == 4 && n < 2400 && n%100 < 60
}

// opensHours reports whether token i is the first of two times of four digits, 0200-0400 hrs.
func opensHours(v *View, i int) bool {
	j := i + 1
	if isHours(v, j) {
		j++ // 2200 hrs-0600 hrs
	}
	if v.At(i).Kind != Digits || v.At(j+1).Kind != Digits || !v.At(j).IsOneOf(Hyphens) {
		return false
	}
	return len(v.Str(i)) == 4 && len(v.Str(j+1)) == 4 && isHours(v, j+2)
}

// isHours reports whether token i says that the four digits before it are a time.
func isHours(v *View, i int) bool { return v.Reads(i, "hrs", "Hrs", "HRS", "hours", "hr", "h") }

// isDeparture reports whether the four digits at token i stand where the time of a train or a flight does.
func isDeparture(v *View, i int) bool {
	if isHours(v, i+1) && !v.Reads(i+1, "h") {
		return v.ZeroLed(i) || v.IsWord(i-1, words.Departs) || v.In(i-1, words.BeforeTime)
	}
	named := v.IsAnyWord(i-1, words.IdentifierWord, words.CodeWord, words.AmountOf, words.YearBefore, words.Place,
		words.EnglishHead) && !v.IsWord(i-1, words.Travel)
	if named || v.CountedAt(i+1) || CurrencyCode(v, i-1) > 0 || v.IsWord(i-1, words.Sport) {
		return false
	}
	leads := leadsToTime(v, i)
	if !leads && (!followsTime(v, i) || IsPrice(v, i)) {
		return false
	}
	for j := max(v.Start, i-14); j < min(v.Stop, i+8); j++ {
		travels := v.IsWord(j, words.Travel) && (j != i-1 || leads || v.ZeroLed(i))
		if travels || j != i && IsFlightNumber(v, j) {
			return true
		}
	}
	return false
}

// leadsToTime reports whether the word before the four digits at token i makes them a time: boards 1735, DEL-BOM 0655.
func leadsToTime(v *View, i int) bool {
	if v.IsWord(i-1, words.Departs) || v.IsSign(i-1, '.') && v.IsWord(i-2, words.Departs) {
		return true
	}
	next := v.At(i + 1)
	ends := next.Kind == Nothing || next.IsOneOf(".,;")
	return ends && v.ZeroLed(i) && v.At(i-1).Kind == Latin
}

// followsTime reports whether a postposition of times stands behind the four digits at token i, which look like no
// year: 1550 pe, 0610 ki local.
func followsTime(v *View, i int) bool {
	if year := v.Small(i, 4); 1900 <= year && year < 2100 {
		return false
	}
	if IsPar(v, i+1) || v.Reads(i+1, "ke", "के") {
		return true
	}
	return v.ZeroLed(i) && v.In(i+1, words.AfterDeparture)
}

// IsFlightNumber reports whether the number at token j is that of a flight, 6E-2045 or AI-2804.
func IsFlightNumber(v *View, j int) bool {
	if v.At(j).Kind != Digits {
		return false
	}
	k := j - 1
	if v.IsSign(k, '-') {
		k--
	}
	if v.At(k).Kind != Latin || len(v.Str(j)) < 3 || len(v.Str(j)) > 4 {
		return false
	}
	if v.Single(k) && v.At(k-1).Kind == Digits && v.Tight(k) {
		return words.LookUpWritten(v.Between(k-1, k+1)).Is(words.Airline)
	}
	return words.LookUpWritten(v.Str(k)).Is(words.Airline)
}

// Clear reports whether m is a time without a second look.
func (m *Moment) Clear() bool { return m.Full || m.Half != 0 || m.Oclock }

// MomentAt reads the time at token i. A number alone is read too, but is not clear.
func MomentAt(v *View, i int) (m Moment, ok bool) {
	if m, ok := military(v, i); ok {
		return m, true
	}
	h := v.Small(i, 2)
	if h < 0 || h > 24 {
		return m, false
	}
	m.Hour, m.Sec, m.Next = h, -1, i+1
	if minutesFollow(v, i+1) && !minutesBehind(v, i, &m) {
		return m, false
	}
	halfBehind(v, &m)
	if goesOn := v.TightSign(m.Next, ':') && v.At(m.Next+1).Kind == Digits; goesOn || !v.LooseEnd(m.Next) {
		return m, false
	}
	if dotted := m.Next == i+3 && v.IsSign(i+1, '.'); dotted && !m.Clear() {
		m.Full = isTimedRange(v, i) || isDottedTime(v, i) // 1.00-1.30
	}
	if m.isDecimal() || m.isZeroHour() {
		return m, false
	}
	m.Full = m.Full || m.Oclock && m.Next > i+2 && v.At(i+1).Kind == Sign
	return m, true
}

// isShortDotted reports whether the decimal at token i is a time because of the letter on it: 5.30p.
func isShortDotted(v *View, i int) bool {
	priced := v.At(i-1).IsCurrency() || CurrencyCode(v, i-1) > 0
	return isShortMeridiem(v, i+3) && looksTimed(v, i, 12) && !priced
}

// isDecimal reports whether m is a number with a point, as far as it says itself: 5.30.
func (m *Moment) isDecimal() bool { return m.Min > 0 && !m.Clear() }

// isZeroHour reports whether m is 0 AM, which nobody writes.
func (m *Moment) isZeroHour() bool { return m.Hour == 0 && m.Half != 0 && !m.Full }

// minutesBehind reads the minutes and the seconds behind the hour at token i into m.
func minutesBehind(v *View, i int, m *Moment) bool {
	minute := v.Small(i+2, 2)
	if minute < 0 || minute > 59 {
		return false
	}
	if minute == 5 && v.IsSign(i+1, '.') && len(v.Str(i+2)) == 1 && v.IsWord(i+3, words.Oclock) {
		minute = 30 // 9.5 baje
	}
	m.Min, m.Next = minute, i+3
	m.Full = v.IsSign(i+1, ':') || isShortDotted(v, i)
	if !v.TightSign(i+3, ':') || !v.Tight(i+4) || len(v.Str(i+4)) != 2 {
		return true
	}
	if v.IsSign(i-1, '=') && v.Single(i-2) {
		return false // a:b:c = 8:12:15
	}
	if s := v.Small(i+4, 2); s >= 0 && s < 60 {
		m.Sec, m.Next = s, i+5
	}
	return true
}

// isTimedRange reports whether the decimal at token i belongs to two times, 1.00-1.30 or 11-1.30, where the sentence
// speaks of hours.
func isTimedRange(v *View, i int) bool {
	dash := i + 3
	if !v.At(dash).IsOneOf(Dashes) {
		dash = i - 1
	}
	if !v.At(dash).IsOneOf(Dashes) || !looksTimed(v, i, 24) {
		return false
	}
	from, next := dash-3, dash+2
	switch {
	case looksTimed(v, dash+1, 24):
		next = dash + 4
	case !isHour(v, dash+1):
		return false
	}
	if i != from && !looksTimed(v, from, 24) {
		if from = dash - 1; !isHour(v, from) {
			return false
		}
	}
	if v.IsSign(next, '%') || v.CountedAt(next) || CurrencyCode(v, from-1) > 0 || v.At(from-1).IsCurrency() {
		return false
	}
	for k := max(v.Start, from-7); k < min(v.Stop, next+4); k++ {
		if v.IsWord(k, words.Timed) {
			return true
		}
	}
	return false
}

// isHour reports whether token i is an hour by itself.
func isHour(v *View, i int) bool {
	h := v.Small(i, 2)
	return 1 <= h && h <= 12 && !v.IsSign(i-1, '.') && !v.NumberBehind(i+1, '.')
}

// looksTimed reports whether the decimal at token i has an hour up to last, and minutes as people give them.
func looksTimed(v *View, i, last int) bool {
	h, m := v.Small(i, 2), v.Small(i+2, 2)
	if h < 1 || h > last || !v.NumberBehind(i+1, '.') {
		return false
	}
	return len(v.Str(i+2)) == 2 && m < 60 && m%5 == 0
}

// isDottedTime reports whether the decimal at token i is a time of day: at 5.30, kal 5.30 ko.
func isDottedTime(v *View, i int) bool {
	if !looksTimed(v, i, 12) || v.Joined(i) {
		return false
	}
	if !v.LooseEnd(i+3) || v.CountedAt(i+3) || v.At(i+3).IsOneOf("%/") {
		return false
	}
	if u, _ := UnitAt(v, i+3); u != nil || v.At(i+3).IsOneOf(Dashes) {
		return false
	}
	joint := v.Reads(i+3, "ki", "की", "wali", "वाली")
	if joint && v.IsWord(i+4, words.Travel) || besideClock(v, i) {
		return true
	}
	if v.Small(i+2, 2)%15 != 0 && !v.Near(i, 3, words.Travel, words.DayPart) {
		return false
	}
	if joint && v.In(i-1, words.NextOne) || v.In(i+4, words.Arriving) && !v.IsWord(i-1, words.AmountOf) {
		return true // next 3.15 ki, 10.30 tk aa jaye
	}
	return isTimeByWords(v, i)
}

// isTimeByWords reports whether the words around the decimal at token i make it a time: at 5.30, appt 5.15, kal 5.30
// ko.
func isTimeByWords(v *View, i int) bool {
	next := v.At(i + 3)
	ends := next.Kind == Nothing || next.IsOneOf(".,;?!")
	switch {
	case v.In(i-1, words.Appointed) && (ends || next.Kind == Sign):
		return true
	case v.Reads(i-1, "or") && ends && isHour(v, i-2) && v.Reads(i-3, "at", "At"):
		return true // at 4 or 4.30
	case v.Reads(i-1, "at", "At"):
		return ends || v.IsWord(i+3, words.DayPart) || v.In(i+3, words.AfterTime)
	case !v.In(i+3, words.AfterDottedTime) && !IsPar(v, i+3):
		return false
	}
	for j := max(v.Start, i-8); j < i; j++ {
		if v.IsAnyWord(j, words.DayPart, words.Travel, words.Timed) || v.In(j, words.NearToday) ||
			WeekdayAt(v, j) > 0 || v.In(j, words.SchoolDay) {
			return true
		}
	}
	return false
}

// besideClock reports whether another time stands in the sentence, so that the decimal at token i, which looks like
// one, is one, too.
func besideClock(v *View, i int) bool {
	if v.IsWord(i-1, words.AmountOf) || v.At(i-1).IsCurrency() || CurrencyCode(v, i-1) > 0 {
		return false
	}
	for j := max(v.Start, i-16); j < min(v.Stop, i+16); j++ {
		colon := v.TightSign(j, ':') && v.Pair(j+1) >= 0 && v.Tight(j+1) && v.At(j-1).Kind == Digits
		if colon || v.IsWord(j, words.Oclock) || v.At(j-1).Kind == Digits && isMeridiem(v, j) {
			return true
		}
	}
	return false
}

// minutesFollow reports whether token i parts an hour from its minutes: 5:30, 5.30. One digit is enough where a word
// behind it says that this is a time.
func minutesFollow(v *View, i int) bool {
	t := v.At(i)
	if t.Gap || !t.IsOneOf(":.") || !v.Tight(i+1) {
		return false
	}
	return len(v.Str(i+1)) == 2 || v.IsAnyWord(i+2, words.Oclock, words.Meridiem)
}

// pairs reads what is written as 10:30 directly behind the token before i; a number that has not two digits is -1.
func pairs(v *View, i int) (hour, minute int) {
	if !v.Tight(i) || !v.TightSign(i+1, ':') || !v.Tight(i+2) {
		return -1, -1
	}
	return v.Pair(i), v.Pair(i + 2)
}

// Pair is the value of a token of two digits; -1 if it is no such token.
func (v *View) Pair(i int) int {
	if t := v.At(i); t.B-t.A != 2 {
		return -1
	}
	return v.Small(i, 2)
}

// halfBehind reads AM, p.m., बजे and baje behind a time.
func halfBehind(v *View, m *Moment) {
	for range 2 {
		j := m.Next
		t := v.At(j)
		switch {
		case m.Half == 0 && isMeridiem(v, j):
			m.Half = v.Text[t.A] | 0x20
			m.Next = j + 1
		case m.Half == 0 && isDottedMeridiem(v, j):
			m.Half = v.Text[t.A] | 0x20
			m.Next = j + 3
			if v.TightSign(m.Next, '.') && !v.Last(m.Next) {
				m.Next++
			}
		case m.Full && m.Half == 0 && v.Reads(j, "hrs", "hr", "Hrs", "HRS"):
			m.Next = j + 1 // 17:45 hrs
		case m.Full && m.Half == 0 && isShortMeridiem(v, j):
			m.Half = v.Text[t.A] | 0x20
			m.Next = j + 1
		case t.Word.Is(words.Oclock):
			m.Oclock = true
			if t.Kind == Latin {
				m.Baje = j
			}
			m.Next = j + 1
		default:
			return
		}
	}
}

// isShortMeridiem reports whether token j is the a or p of 5:15p.
func isShortMeridiem(v *View, j int) bool {
	return v.Tight(j) && v.Reads(j, "a", "p", "A", "P") && v.LooseEnd(j+1)
}

// isMeridiem reports whether token j is am or pm. In small letters, apart, and before an English word it is the verb.
func isMeridiem(v *View, j int) bool {
	t := v.At(j)
	if t.Kind != Latin || !t.Word.Is(words.Meridiem) {
		return false
	}
	verb := v.Reads(j, "am") && v.IsWord(j+1, words.EnglishWord) && !v.In(j+1, words.AfterMeridiem)
	return v.Tight(j) || t.Cas == words.Upper || !verb
}

// isDottedMeridiem reports whether a.m or p.m begins at token j. The dot behind it may be missing.
func isDottedMeridiem(v *View, j int) bool {
	if !v.Single(j) || !v.TightSign(j+1, '.') || !v.TightLetter(j+2) {
		return false
	}
	half, m := v.Text[v.Toks[j].A]|0x20, v.Text[v.Toks[j+2].A]|0x20
	return (half == 'a' || half == 'p') && m == 'm'
}

// IsPostposition reports whether token i ties the time to what follows, so that nothing need be said between them.
func IsPostposition(v *View, i int) bool {
	return v.AtWord(i) == "" || v.In(i, words.TiesTime)
}

// DayPartNear reports whether the sentence names the part of the day near token i.
func DayPartNear(v *View, i int) bool {
	for j := max(v.Start, i-8); j < min(v.Stop, i+3); j++ {
		if v.IsWord(j, words.DayPart) {
			return true
		}
	}
	return false
}

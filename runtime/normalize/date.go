package normalize

import "github.com/swar-tts/swar/runtime/speech"

// Dates: the day comes first in every numeric form, as India writes it.

// day is a date as it is written; what is missing is 0.
type day struct {
	day, month, year int
	word             int // the token of a Latin month in full, which is kept
	next             int
}

// date reads a date that begins with a number: 15/08/2026, 2026-08-15, 15-Aug-26, 15 अगस्त, 08/29.
func (r *reader) date(i int) int {
	if r.joined(i) || len(r.str(i)) > 4 || r.isDoor(i) {
		return i
	}
	if next := r.dayRange(i); next > i {
		return next
	}
	if next := r.eitherDay(i); next > i {
		return next
	}
	d, ok := r.numericDate(i)
	if !ok {
		if d, ok = r.monthSecond(i); !ok {
			if d, ok = r.shortDate(i); !ok {
				if d, ok = r.numericMonth(i); !ok {
					if d, ok = r.dottedDay(i); !ok {
						return r.fiscalYear(i)
					}
				}
			}
		}
	}
	r.begin(i, speech.SpanDate)
	r.sayDate(&d)
	if m, ok := r.isoTime(d.next); ok {
		r.sayTime(&m, false)
		return r.end(m.next)
	}
	if r.at(d.next).isOneOf(dashes) && (r.isDayRange(i) || r.stroke(i) && r.isOfDays(i)) {
		r.say(r.lang.words[wordTo])
		return r.end(d.next + 1)
	}
	return r.end(r.sayMonthsBehind(d.next))
}

// isDoor reports whether the number at token i is that of a door or a plot, which may look like a date: #12-3-45, H.No. 8-2-26.
func (r *reader) isDoor(i int) bool {
	if r.isSign(i-1, '#') || r.isWord(i-1, door) {
		return true
	}
	no := i - 1
	if r.isSign(no, '.') {
		no--
	}
	if !r.in(no, numberWord) {
		return false
	}
	dotted := r.isSign(no-1, '.') && r.reads(no-2, "H", "h", "D", "R", "P")
	return dotted || r.isWord(no-1, place|numbersThings)
}

// dayRange reads 15-20 Aug and 15th-20th August.
func (r *reader) dayRange(i int) int {
	a, j := r.dayAt(i)
	if t := r.at(j); a == 0 || !t.isOneOf(hyphens) || t.gap != r.at(j+1).gap {
		return i
	}
	b, k := r.dayAt(j + 1)
	if b == 0 {
		return i
	}
	m, next := r.monthAt(k)
	if m == 0 || r.tight(k) {
		return i
	}
	d := day{day: b, month: m, next: next}
	d.keep(r, k)
	r.yearBehind(next, &d)
	r.begin(i, speech.SpanDate)
	r.sayDay(a, r.lang)
	r.say(r.lang.words[wordTo])
	r.sayDate(&d)
	return r.end(d.next)
}

// eitherDay reads 15/16 March.
func (r *reader) eitherDay(i int) int {
	a, b := r.small(i, 2), r.small(i+2, 2)
	days := 1 <= a && b == a+1 && b <= 31
	if !days || !r.numberBehind(i+1, '/') || r.tight(i+3) {
		return i
	}
	m, next := r.monthAt(i + 3)
	if m == 0 {
		return i
	}
	d := day{day: b, month: m, next: next}
	d.keep(r, i+3)
	r.yearBehind(next, &d)
	r.begin(i, speech.SpanDate)
	r.sayDay(a, r.lang)
	if r.lang == english {
		r.say("or")
	}
	r.sayDate(&d)
	return r.end(d.next)
}

// dayAt reads a day of the month, 15 or 15th; 0 for none.
func (r *reader) dayAt(i int) (day, next int) {
	n := r.small(i, 2)
	if n < 1 || n > 31 {
		return 0, i
	}
	if t := r.at(i + 1); t.kind == latin && !t.gap && englishEnding(r.str(i+1)) {
		return n, i + 2
	}
	return n, i + 1
}

// small is the value of digits token i with at most size digits; -1 if it is no such token.
func (r *reader) small(i, size int) int {
	t := r.at(i)
	if t.kind != digits || int(t.b-t.a) > size {
		return -1
	}
	n := 0
	for _, c := range []byte(r.str(i)) {
		n = 10*n + int(c-'0')
	}
	return n
}

// numericDate reads three numbers with the same sign between them.
func (r *reader) numericDate(i int) (d day, ok bool) {
	sep := r.at(i + 1)
	if sep.gap || !sep.isOneOf("/-.") {
		return d, false
	}
	if !r.tight(i+2) || !r.tightSign(i+3, sep.ch) || !r.tight(i+4) {
		return d, false
	}
	if _, timed := r.isoTime(i + 5); !timed && !r.looseEnd(i+5) || r.numberBehind(i+5, sep.ch) || r.isSign(i+5, '%') {
		return d, false
	}
	a, b, c := r.small(i, 4), r.small(i+2, 2), r.small(i+4, 4)
	if a < 0 || b < 0 || c < 0 {
		return d, false
	}
	d.next = i + 5
	if len(r.str(i)) == 4 {
		d.year, d.month, d.day = a, b, c
		return d, len(r.str(i+4)) <= 2 && d.sound()
	}
	size := len(r.str(i + 4))
	if len(r.str(i)) > 2 || size != 2 && size != 4 {
		return d, false
	}
	if sep.ch == '.' && size == 2 && r.isVersion(i, c) {
		return d, false
	}
	d.day, d.month, d.year = a, b, c
	if size == 2 {
		d.year = centuryOf(d.year)
	}
	if d.month > 12 {
		d.day, d.month = d.month, d.day
	}
	return d, d.sound()
}

// isVersion reports whether three numbers with points from token i on, the last being c, are a version, 1.2.15, and no day.
func (r *reader) isVersion(i, c int) bool {
	if len(r.str(i+2)) > 1 || r.near(i, dateWord, 2) {
		return false
	}
	t := r.at(i - 1)
	if c < 20 || c >= 40 || !t.kind.lettered() || r.lang == english {
		return true
	}
	return t.cas == title || t.cas == upper || r.in(i-1, versioned)
}

// centuryOf is the year that two figures are short for. Loans and bonds end in thirty years at most, so what is from 60 on is long ago.
func centuryOf(y int) int {
	if y >= 60 {
		return 1900 + y
	}
	return 2000 + y
}

// dottedDay reads 15.12 तक: no hour, and no decimal before such a word.
func (r *reader) dottedDay(i int) (d day, ok bool) {
	if full, ok := r.numericDate(i + 4); ok && r.numberBehind(i+1, '.') && r.in(i+3, betweenDays) && r.isSign(i+5, '.') {
		if d := (day{day: r.small(i, 2), month: r.small(i+2, 2), next: i + 3}); d.sound() && full.year > 0 {
			return d, true // 26.1 या 2.2.26
		}
	}
	if r.isDayRange(i) {
		return day{day: r.pair(i), month: r.pair(i + 2), next: i + 3}, true
	}
	a, b := r.small(i, 2), r.small(i+2, 2)
	if a < 13 || a > 31 || b < 1 || b > 12 {
		return d, false
	}
	if !r.numberBehind(i+1, '.') || len(r.str(i+2)) != 2 || !r.in(i+3, either) {
		return d, false
	}
	if r.at(i-1).isCurrency() || r.currencyCode(i-1) > 0 || r.isWord(i-1, amountOf) {
		return d, false
	}
	return day{day: a, month: b, next: i + 3}, true
}

// sound reports whether d can be a date.
func (d *day) sound() bool {
	if d.month < 1 || d.month > 12 || d.day < 1 || d.day > 31 {
		return false
	}
	return d.year == 0 || 1000 <= d.year && d.year <= 2999
}

// numericMonth reads 03-2010, a month and its year: nobody counts from three to 2010.
func (r *reader) numericMonth(i int) (d day, ok bool) {
	if !r.numberBehind(i+1, '-') || !r.looseEnd(i+3) || r.numberBehind(i+3, '-') || r.countedAt(i+3) {
		return d, false
	}
	a, b := r.small(i, 2), r.small(i+2, 4)
	if a < 1 || a > 12 || b < 1900 || b >= 2100 {
		return d, false
	}
	alone := i == r.start && r.last(i+2)
	dated := r.near(i, dateWord|expiry, 2) || r.isWord(i+3, yearAfter)
	return day{month: a, year: b, next: i + 3}, len(r.str(i)) == 2 && (alone || dated || r.zeroLed(i))
}

// shortDate reads two numbers with a stroke: 08/29 is the end of a card's life, 15/08 the fifteenth of August.
func (r *reader) shortDate(i int) (d day, ok bool) {
	if !r.stroke(i) || r.tightSign(i+3, '/') || !r.looseEnd(i+3) {
		return d, false
	}
	a, b := r.small(i, 2), r.small(i+2, 4)
	if a < 0 || b < 0 {
		return d, false
	}
	d.next = i + 3
	switch {
	case r.isMonthAndYear(i, a, b):
		d.month, d.year = a, b
		if b < 100 {
			d.year += 2000
		}
		return d, true
	case r.isDayAndMonth(i, a, b):
		d.day, d.month = a, b
		return d, d.sound()
	}
	return d, false
}

// isMonthAndYear reports whether the numbers a and b at token i, with a stroke between them, are a month and its year.
func (r *reader) isMonthAndYear(i, a, b int) bool {
	size := len(r.str(i + 2))
	if a < 1 || a > 12 || size != 2 && size != 4 {
		return false
	}
	if r.expires(i) {
		return size == 2 || b >= 1900
	}
	if size == 4 {
		return 1900 <= b && b < 2100 && !r.isNumbered(i) // file no. 12/2026
	}
	recent := 13 <= b && b <= 50
	return recent && (r.isWord(i+3, yearAfter) || r.near(i, dateWord, 2)) // bond 6/22 में
}

// isNumbered reports whether a word before token i makes it the number of a file or a case.
func (r *reader) isNumbered(i int) bool {
	return r.context(i).what == idNear || r.isSign(i-1, '.') && r.reads(i-2, "सं", "नं", "क्र", "no", "No", "NO")
}

// isDayAndMonth reports whether the numbers a and b at token i, with a stroke between them, are a day and its month.
func (r *reader) isDayAndMonth(i, a, b int) bool {
	worded := r.near(i, dateWord|expiry, 2) || r.isDateTail(i+3) || r.weekdayAt(i-1) > 0
	dated := worded || r.followsDate(i) || r.isPlainDay(i, a, b)
	if two := len(r.str(i)) == 2 && len(r.str(i+2)) == 2; two && b < 20 && dated {
		return true
	}
	if b < 1 || b > 12 || a > 31 || r.isWord(i-1, place) {
		return false
	}
	if r.isOneOfDays(i, b) || r.isOfDays(i) || r.in(i-1, dateNamed) {
		return true
	}
	twoFigures := len(r.str(i)) == 2 && !r.reads(i+3, "se", "से") // 12/4 से may be a fraction
	beforeKo := b >= 10 && r.reads(i+3, "ko", "को")               // 3/12 ko
	plain := a >= 13 || twoFigures || beforeKo
	return plain && (dated || r.in(i-1, beforeDay))
}

// isOneOfDays reports whether the day at token i, of month b, is one of two: from 3/2 to 5/2.
func (r *reader) isOneOfDays(i, b int) bool {
	for _, j := range [...]int{i - 4, i + 4} {
		first := min(i, j)
		apart := r.in(first+3, betweenDays) && r.stroke(j) && r.looseEnd(j+3)
		if from := r.in(first-1, beforeDay); apart && from && r.small(j, 2) <= 31 && r.small(j+2, 2) == b {
			return true
		}
	}
	return false
}

// isOfDays reports whether the numbers with a stroke at token i are the first or the last of a row of days, 1/1 से 31/1 तक: one of the two
// cannot be a part, or both are in one month.
func (r *reader) isOfDays(i int) bool {
	first := i
	if between := r.at(i - 1); r.stroke(i-4) && (r.reads(i-1, "से", "se", "to") || between.isOneOf(dashes)) {
		first = i - 4
	}
	last := first + 4
	if !r.stroke(first) || !r.stroke(last) || !r.looseEnd(last+3) {
		return false
	}
	if !r.reads(first+3, "से", "se", "to") && !r.at(first+3).isOneOf(dashes) {
		return false
	}
	from := day{day: r.small(first, 2), month: r.small(first+2, 2)}
	to := day{day: r.small(last, 2), month: r.small(last+2, 2)}
	if !from.sound() || !to.sound() || r.countedAt(last+3) {
		return false
	}
	until := r.reads(last+3, "तक", "tak", "tk")
	if whole := from.day >= from.month || to.day >= to.month; whole {
		return until || to.day > 12
	}
	return until && from.month == to.month && from.month > 4
}

// isPlainDay reports whether a and b at token i are a day and its month by themselves: in 27/11 the first is no part of the second, nobody
// writes a part as 01/11, and nothing beside it is a house or a number.
func (r *reader) isPlainDay(i, a, b int) bool {
	zeroLed := r.zeroLed(i) && len(r.str(i)) == 2
	if a < 13 && !zeroLed || a > 31 {
		return false
	}
	if b < 1 || len(r.str(i+2)) != 2 || a == 26 && b == 11 {
		return false
	}
	if r.isWord(i-1, place|door|coach|addressWord|codeWord|games) || r.isSign(i-1, '#') || r.countedAt(i+3) || r.at(i+3).isOneOf("%-"+string(rune(enDash))) {
		return false
	}
	before := r.at(i - 1)
	return (before.kind.lettered() || zeroLed && before.isOneOf(",:;")) && r.context(i).what == noContext
}

// followsDate reports whether a date of two numbers stands before token i and its postposition: 25/12 से 05/01.
func (r *reader) followsDate(i int) bool {
	if !r.in(i-1, betweenDays) || len(r.str(i)) != 2 || len(r.str(i+2)) != 2 {
		return false
	}
	before := day{day: r.small(i-4, 2), month: r.small(i-2, 2)}
	return r.stroke(i-4) && before.sound()
}

// expires reports whether a word near tokens i to i+2 says that they end the life of a card: valid thru 08/29.
func (r *reader) expires(i int) bool {
	return r.near(i, expiry, 4) || r.isWord(i+3, expiry) || r.isWord(i+4, expiry)
}

// near reports whether one of the words before token i has the trait.
func (r *reader) near(i int, t trait, words int) bool {
	for j := i - 1; j >= r.start && words > 0 && i-j < 8; j-- {
		switch r.at(j).kind {
		case latin, deva:
			if r.isWord(j, t) {
				return true
			}
			words--
		case digits:
			return false
		}
	}
	return false
}

// isDayRange reports whether token i begins the days 01.06-30.06, or the second of them: both are months, and not both the minutes of times.
func (r *reader) isDayRange(i int) bool {
	if r.at(i-1).isOneOf(dashes) && r.numberBehind(i-3, '.') {
		i -= 4
	}
	if !r.at(i+3).isOneOf(dashes) || !r.numberBehind(i+1, '.') || !r.numberBehind(i+5, '.') || !r.looseEnd(i+7) {
		return false
	}
	for _, j := range [...]int{i, i + 4} {
		if d := (day{day: r.pair(j), month: r.pair(j + 2)}); !d.sound() {
			return false
		}
	}
	return r.pair(i+2)%5 != 0 || r.pair(i+6)%5 != 0
}

// isDateTail reports whether token i is a postposition that follows a date.
func (r *reader) isDateTail(i int) bool {
	return r.in(i, afterDay)
}

// hindiShortMonths are months that are short only with their dot: जन and नव are words, too.
var hindiShortMonths = map[string]int{"सितं": 9, "नवं": 11, "दिसं": 12, "जन": 1, "फर": 2, "फ़र": 2, "अप्रै": 4, "जुला": 7, "अग": 8, "सित": 9, "अक्टू": 10, "नव": 11, "दिस": 12}

// monthAt reads the name of a month at token i.
func (r *reader) monthAt(i int) (m, next int) {
	t := r.at(i)
	if t.kind == deva && r.tightSign(i+1, '.') && hindiShortMonths[r.str(i)] > 0 {
		return hindiShortMonths[r.str(i)], i + 2
	}
	if !t.kind.lettered() || !t.word.is(month) {
		return 0, i
	}
	if s := r.str(i); s == "may" || s == "mar" {
		return 0, i // the verbs
	}
	next = i + 1
	if t.kind == latin && t.b-t.a <= 4 && r.tightSign(next, '.') && !r.last(next) {
		next++
	}
	return t.word.n, next
}

// monthSecond reads 15 August 2026, 15-Aug-26, 15th Aug.
func (r *reader) monthSecond(i int) (d day, ok bool) {
	a := r.small(i, 2)
	if a < 1 || a > 31 {
		return d, false
	}
	j := i + 1
	if r.tight(j) && r.at(j).kind == latin && englishEnding(r.str(j)) {
		j++
	}
	hyphen := byte(0)
	if t := r.at(j); !t.gap && t.isOneOf("-/") && r.tight(j+1) {
		hyphen = t.ch
		j++
	}
	m, next := r.monthAt(j)
	if m == 0 {
		return d, false
	}
	d.day, d.month, d.next = a, m, next
	d.keep(r, j)
	if hyphen != 0 {
		if r.tightSign(next, hyphen) && r.tight(next+1) && r.looseEnd(next+2) {
			r.yearAt(next+1, &d, true)
		}
		return d, true
	}
	if r.tight(next) && r.at(next).kind == digits {
		r.yearAt(next, &d, true) // 01Jan25
	} else {
		r.yearBehind(next, &d)
	}
	return d, true
}

// keep lets a month that is written in full in Latin letters be said as it is written.
func (d *day) keep(r *reader, j int) {
	if t := r.at(j); t.kind == latin && int(t.b-t.a) == len(english.months[d.month]) {
		d.word = j
	}
}

// yearBehind reads the year behind a month: 2026, , 2026 or '26.
func (r *reader) yearBehind(j int, d *day) {
	k := j
	if r.tightSign(k, ',') {
		k++
	}
	if r.isSign(k, '\'') {
		r.yearAt(k+1, d, true)
		return
	}
	r.yearAt(k, d, false)
}

// yearAt reads a year at token j into d.
func (r *reader) yearAt(j int, d *day, short bool) {
	t := r.at(j)
	if t.kind != digits || !r.looseEnd(j+1) {
		return
	}
	if r.numberBehind(j+1, ':') || r.numberBehind(j+1, '/') || r.tightDotted(j+1) {
		return // a time, a fraction, a decimal
	}
	switch y := r.small(j, 4); {
	case len(r.str(j)) == 4 && 1100 <= y && y < 2200 && !r.countedAt(j+1):
		d.year, d.next = y, j+1
	case len(r.str(j)) == 2 && short:
		d.year, d.next = centuryOf(y), j+1
	}
}

// monthFirst reads Aug 15th, August 15, 2026 and Aug 2026.
func (r *reader) monthFirst(i int) int {
	m, next := r.monthAt(i)
	if _, to := r.monthBehind(next); m > 0 && to > 0 {
		return r.months(i)
	}
	if m > 0 && r.isMonthBeside(i, next) {
		r.begin(i, speech.SpanDate)
		r.say(english.months[m])
		return r.end(next)
	}
	year := r.numberBehind(next, '-') || r.isSign(next, '\'') && r.tightDigits(next+1)
	if m == 0 || r.at(next).kind != digits && !year || r.joined(i) {
		return i
	}
	d := day{month: m, next: next}
	d.keep(r, i)
	if r.tightSign(next, '-') || r.tightSign(next, '\'') {
		return r.monthAndYear(i, next, &d)
	}
	if r.isSign(next, '-') {
		return i
	}
	if r.yearAt(next, &d, false); d.year > 0 {
		r.begin(i, speech.SpanDate)
		r.sayDate(&d)
		return r.end(d.next)
	}
	return r.monthAndDay(i, next, &d)
}

// monthAndDay reads Aug 15th, August 15, 2026 and Nov 28-Dec 3: d has the month at token i, and the day stands at token j.
func (r *reader) monthAndDay(i, j int, d *day) int {
	a := r.small(j, 2)
	if a < 1 || a > 31 || r.countedAt(j+1) {
		return i
	}
	if r.tightSign(j+1, ':') || r.tightSign(j+1, '%') || r.tightDotted(j+1) {
		return i // a time, a share, a decimal
	}
	k := j + 1
	if r.tight(k) && r.at(k).kind == latin {
		if !englishEnding(r.str(k)) {
			return i
		}
		k++
	}
	if b, behind := r.dayAt(k + 1); r.tightSign(k, '-') && b > a && r.looseEnd(behind) && !r.countedAt(behind) {
		d.day, d.next = b, behind // Jan 15-20
		r.yearBehind(behind, d)
		r.begin(i, speech.SpanDate)
		r.sayDay(a, r.lang)
		r.say(r.lang.words[wordTo])
		r.sayDate(d)
		return r.end(d.next)
	}
	to, end := r.monthBehind(k)
	b, behind := r.dayAt(end)
	ranged := to > 0 && b > 0 && r.looseEnd(behind)
	if !ranged && (r.tightSign(k, '-') || r.tightSign(k, enDash) || r.tightSign(k, '/')) {
		return i
	}
	d.day, d.next = a, k
	r.yearBehind(k, d)
	r.begin(i, speech.SpanDate)
	r.sayDate(d)
	if !ranged {
		return r.end(d.next)
	}
	last := day{day: b, month: to, next: behind}
	last.keep(r, k+1)
	r.yearBehind(behind, &last)
	r.say(r.lang.words[wordTo])
	r.sayDate(&last)
	return r.end(last.next)
}

// isMonthBeside reports whether the short month at token i, which ends before next, is added to another: Oct+Nov, Oct & Nov.
func (r *reader) isMonthBeside(i, next int) bool {
	if r.at(i).kind != latin || r.at(i).cas == lower || r.at(i).b-r.at(i).a > 4 {
		return false
	}
	if r.at(next).isOneOf("+&") {
		if m, _ := r.monthAt(next + 1); m > 0 {
			return true
		}
	}
	if r.at(i - 1).isOneOf("+&") {
		m, _ := r.monthAt(i - 2)
		return m > 0
	}
	return false
}

// monthAndYear reads Aug-25, Mar-2027 and Jul'26: d has the month at token i, and the sign in front of the year stands at token j.
func (r *reader) monthAndYear(i, j int, d *day) int {
	if len(r.str(j+1)) == 1 || r.numberBehind(j+2, '-') || r.numberBehind(j+2, '/') || !r.looseEnd(j+2) {
		return i
	}
	if r.yearAt(j+1, d, true); d.year == 0 {
		return i
	}
	r.begin(i, speech.SpanDate)
	r.sayDate(d)
	return r.end(d.next)
}

// monthBehind returns the month that a hyphen at token i leads to, and where it ends; 0 for none.
func (r *reader) monthBehind(i int) (m, end int) {
	if !r.tightSign(i, '-') && !r.tightSign(i, enDash) {
		return 0, 0
	}
	m, end = r.monthAt(i + 1)
	if m == 0 || !r.looseEnd(end) && r.at(end).kind != digits {
		return 0, 0
	}
	return m, end
}

// months says months with hyphens between them, as a range: Aug-Sep 2026.
func (r *reader) months(i int) int {
	var from day
	from.month, from.next = r.monthAt(i)
	from.keep(r, i)
	r.begin(i, speech.SpanDate)
	r.sayDate(&from)
	return r.end(r.sayMonthsBehind(from.next))
}

// sayMonthsBehind says the months that hyphens from token i on lead to, and returns what is behind them.
func (r *reader) sayMonthsBehind(i int) int {
	for {
		m, end := r.monthBehind(i)
		if m == 0 {
			return i
		}
		to := day{month: m, next: end}
		to.keep(r, i+1)
		r.yearBehind(end, &to)
		r.say(r.lang.words[wordTo])
		r.sayDate(&to)
		i = to.next
	}
}

// sayDate says day, month and year, as far as they are there.
func (r *reader) sayDate(d *day) {
	l := r.lang
	if d.day > 0 {
		r.sayDay(d.day, l)
	}
	if d.word > 0 {
		r.say(r.str(d.word))
	} else {
		r.say(l.months[d.month])
	}
	if d.year > 0 {
		r.year(uint64(d.year), l)
	}
}

// sayDay says a day of the month.
func (r *reader) sayDay(n int, l lang) {
	if l.ordinals {
		r.ordinal(uint64(n))
	} else {
		r.cardinal(uint64(n), l)
	}
}

// fiscalYear reads 2025-26, a year and the next.
func (r *reader) fiscalYear(i int) int {
	y := r.small(i, 4)
	if y < 1100 || y > 2099 {
		return i
	}
	if t := r.at(i + 1); t.gap || !t.isOneOf(hyphens+"/") || !r.tightDigits(i+2) || !r.looseEnd(i+3) {
		return i
	}
	if y < 1900 && !r.isOldYears(i, y) {
		return i
	}
	next := r.small(i+2, 4)
	switch {
	case len(r.str(i+2)) == 2 && next == (y+1)%100:
	case len(r.str(i+2)) == 2 && next > y%100 && next-y%100 <= 30:
		r.begin(i, speech.SpanYear)
		r.year(uint64(y), r.lang)
		r.say(r.lang.words[wordTo])
		r.cardinal(uint64(next), r.lang)
		return r.end(i + 3)
	case len(r.str(i+2)) == 4 && y < next && next <= 2099, len(r.str(i+2)) == 4 && 1900 <= next && next <= 2099:
		r.begin(i, speech.SpanYear)
		r.year(uint64(y), r.lang)
		r.say(r.lang.words[wordTo])
		r.year(uint64(next), r.lang)
		return r.end(i + 3)
	default:
		return i
	}
	r.begin(i, speech.SpanYear)
	r.year(uint64(y), r.lang)
	r.cardinal(uint64(next), r.lang)
	return r.end(i + 3)
}

// isOldYears reports whether y, which is token i, is the first of two years before 1900: 1834-35, (1869-1948), 1526-1857 AD.
func (r *reader) isOldYears(i, y int) bool {
	last := r.small(i+2, 4)
	if len(r.str(i+2)) == 2 {
		return last == (y+1)%100 && !r.countedAt(i+3) && !r.at(i-1).isCurrency()
	}
	bracketed := r.isSign(i-1, '(') && r.isSign(i+3, ')')
	return y < last && (bracketed || r.isOfEra(i+2) || r.isWord(i-1, yearBefore))
}

// bareYear reads 1947 where a word says that it is a year, and 1990s.
func (r *reader) bareYear(i int) int {
	y := r.small(i, 4)
	if y < 1100 || y > 2199 {
		return i
	}
	if !r.looseEnd(i+1) || !r.saidToBeYear(i, y) {
		return i
	}
	r.begin(i, speech.SpanYear)
	r.year(uint64(y), r.lang)
	return r.end(i + 1)
}

// saidToBeYear reports whether a word beside y, which is token i, makes it a year. The more often such a word stands
// beside other numbers, the nearer to today y must be.
func (r *reader) saidToBeYear(i, y int) bool {
	before := i - 1
	if r.isSign(before, '.') && r.isWord(before-1, shortened) {
		before-- // Est. 1995
	}
	behindYearWord := r.isWord(before, yearBefore) && (y >= 1800 || r.at(before).kind == deva) // in 1857, सन् 1526
	beforeYearWord := 1900 <= y && y < 2100 && r.isWord(i+1, yearAfter)                        // 1947 में
	if behindYearWord || beforeYearWord {
		return true
	}
	longAgo := r.in(i+1, possessive) && r.isWord(i+2, past)                     // 1857 ki kranti
	behindTitle := r.lang == english && 1950 <= y && y < 2050 && r.isTitle(i-1) // World Cup 1983
	if longAgo || behindTitle || r.isOfEra(i) || r.isBracketedYear(i, y) {
		return true
	}
	return r.opensYears(i, y) || r.closesYears(i, y)
}

// isOfEra reports whether the era of the year at token i stands beside it: 1857 ईस्वी, 1200 ई., AD 1526.
func (r *reader) isOfEra(i int) bool {
	behind := r.in(i+1, era) && (r.at(i+1).kind == deva || r.at(i+1).cas == upper)
	return behind || r.reads(i+1, "ई") && r.isSign(i+2, '.') || r.reads(i-1, "AD")
}

// isBracketedYear reports whether y, which is token i, stands in brackets behind a name: 'Nadi' (1988).
func (r *reader) isBracketedYear(i, y int) bool {
	if !r.isSign(i-1, '(') || !r.isSign(i+1, ')') || y%100 == 0 || r.lang == english {
		return false
	}
	before := r.at(i - 2)
	return 1800 <= y && y < 2100 && (before.kind.lettered() || before.isOneOf("\"'"))
}

// closesYears reports whether y, which is token i, is the second of two years: 1967 से 1979.
func (r *reader) closesYears(i, y int) bool {
	first := r.small(i-2, 4)
	if first < 1900 || y <= first || y >= 2100 {
		return false
	}
	return r.reads(i-1, "से", "se") && !r.countedAt(i+1)
}

// opensYears reports whether y, which is token i, is the first of two years: 1857 से 1947 तक.
func (r *reader) opensYears(i, y int) bool {
	last := r.small(i+2, 4)
	if !r.in(i+1, betweenDays) || last <= y || last < 1900 || last >= 2100 {
		return false
	}
	return r.looseEnd(i+3) && r.isWord(i+3, yearAfter)
}

// isTitle reports whether token i is a capitalised word inside its sentence: World Cup 2023.
func (r *reader) isTitle(i int) bool {
	t := r.at(i)
	if i <= r.start || r.countedAt(i+2) {
		return false
	}
	capitalised := t.kind == latin && (t.cas == title || t.cas == upper)
	return capitalised && !t.word.is(idWord|codeWord|englishHead|place)
}

// decades reads 1990s, and the 90s.
func (r *reader) decades(i int) int {
	y, s := r.small(i, 4), i+1
	if r.tightSign(s, '\'') {
		s++ // the 80's
	}
	if y < 20 || y%10 > 0 {
		return i
	}
	if !r.tight(s) || !r.reads(s, "s") || !r.looseEnd(s+1) {
		return i
	}
	// the 90s, 90s में
	saidToBeDecade := r.in(i-1, beforeDecade) || r.isWord(s+1, yearAfter) || r.isSign(i-1, '\'') && r.tight(i)
	if y < 1100 && !(y < 100 && saidToBeDecade) {
		return i
	}
	if y < 50 && r.isTakenNear(i) {
		return i
	}
	r.begin(i, speech.SpanYear)
	r.decade(uint64(y))
	return r.end(s + 1)
}

// isTakenNear reports whether a word of what takes seconds stands near token i: video 30s ka hai.
func (r *reader) isTakenNear(i int) bool {
	for j := max(r.start, i-5); j < min(r.stop, i+6); j++ {
		if r.isWord(j, lasting) || r.in(j, media) {
			return true
		}
	}
	return false
}

// decade says 1990s.
func (r *reader) decade(y uint64) {
	r.year(y, r.lang)
	if r.lang.decade != "" {
		r.say(r.lang.decade)
		return
	}
	if n := len(r.out); r.out[n-1] == 'y' {
		r.out = append(r.out[:n-1], "ies"...)
	} else {
		r.out = append(r.out, 's')
	}
}

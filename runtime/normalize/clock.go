package normalize

import "github.com/swar-tts/swar/runtime/speech"

// Times of the day and durations.

// moment is a time as it is written.
type moment struct {
	hour, min, sec int  // sec is -1 when it is not written
	half           byte // 'a' or 'p', 0 when neither is written
	baje           int  // the token of a Latin baje, which is kept
	oclock         bool // बजे is written
	full           bool // hour and minute are written
	next           int
}

// clock reads 5:30 PM, 17:45, 9:30 बजे, 2pm, 10am-2pm.
func (r *reader) clock(i int) int {
	if r.joined(i) {
		return i
	}
	if next := r.duration(i); next > i {
		return next
	}
	a, ok := r.moment(i)
	if !ok {
		return i
	}
	if t := r.at(a.next); t.isOneOf(dashes) && t.gap == r.at(a.next+1).gap {
		if b, ok := r.moment(a.next + 1); ok && (b.clear() || r.endsClock(&a, &b)) {
			// 10-11 AM: what is written once is said once.
			shared := !a.clear() || a.half == 0 && b.half != 0
			if a.half == 0 && a.hour%12 <= b.hour%12 {
				a.half = b.half
			}
			r.begin(i, speech.SpanTime)
			r.sayTime(&a, shared)
			r.say(r.lang.words[wordTo])
			if shared && a.half != 0 && r.lang.clock != nil {
				b.half = 0
			}
			r.sayTime(&b, false)
			return r.end(b.next)
		}
	}
	if !a.clear() {
		return i
	}
	r.begin(i, speech.SpanTime)
	r.sayTime(&a, false)
	return r.end(a.next)
}

// endsClock reports whether b, an hour alone, is the end of a range that began at a: 1:15-2.
func (r *reader) endsClock(a, b *moment) bool {
	if hours := 1 <= a.hour && a.hour <= 12 && 1 <= b.hour && b.hour <= 12; !hours || !a.full {
		return false
	}
	return !r.countedAt(b.next) && !r.at(b.next).isOneOf("%:") && r.unitText(b.next, b.next+1) == nil
}

// military reads four digits that are a time because the sentence is about travel: boards 1735, 0915 पर, 0610 ki local.
func (r *reader) military(i int) (m moment, ok bool) {
	if m, ok := r.bareTime(i); ok {
		return m, true
	}
	hours := r.isHours(i+1) && r.tight(i+1) && r.looseEnd(i+2) // 2145hrs
	if len(r.str(i)) != 4 || !hours && !r.looseEnd(i+1) {
		return m, false
	}
	hhmm := r.small(i, 4)
	if r.opensHours(i) || r.at(i-1).isOneOf(hyphens) && (r.opensHours(i-2) || r.opensHours(i-3)) { // 0200-0400 hrs
		m = moment{hour: hhmm / 100, min: hhmm % 100, sec: -1, full: true, next: i + 1}
		if r.isHours(m.next) {
			m.next++
		}
		return m, m.hour < 24 && m.min < 60
	}
	if r.at(i+1).isOneOf("./-:%") && r.tight(i+2) {
		return m, false
	}
	m = moment{hour: hhmm / 100, min: hhmm % 100, sec: -1, full: true, next: i + 1}
	if m.hour > 23 || m.min > 59 || !r.isDeparture(i) {
		return m, false
	}
	if r.isHours(m.next) {
		m.next++
		if m.hour < 12 {
			m.half = 'a'
		}
	}
	return m, true
}

// bareTime reads three or four digits that people type for a time behind a part of the day, or behind @ or before a postposition where
// the sentence has another time: sham 730 tk, gym @630.
func (r *reader) bareTime(i int) (m moment, ok bool) {
	n := len(r.str(i))
	if n < 3 || n > 4 || n == 3 && r.zeroLed(i) {
		return m, false
	}
	if !r.looseEnd(i+1) || r.countedAt(i+1) {
		return m, false
	}
	hhmm := r.small(i, 4)
	m = moment{hour: hhmm / 100, min: hhmm % 100, sec: -1, full: true, next: i + 1}
	if m.hour < 1 || m.hour > 12 || m.min > 59 || m.min%5 != 0 {
		return m, false
	}
	tied := r.in(i+1, behindBareTime) || r.isSign(i-1, '@') && r.tight(i)
	if !tied {
		return m, false
	}
	if r.isWord(i-1, dayPart) {
		return m, true
	}
	until := r.reads(i+1, "tk", "tak", "तक") && (r.near(i, dayPart, 8) || m.min%15 == 0 && r.isOnTheWay(i+2))
	return m, m.min > 0 && (until || r.besideClock(i))
}

// isOnTheWay reports whether the words from token i on say that somebody goes or comes: 730 tak ghar aa jaungi.
func (r *reader) isOnTheWay(i int) bool {
	for j := i; j < i+3; j++ {
		if r.in(j, homeward) {
			return true
		}
	}
	return false
}

// opensHours reports whether token i is the first of two times of four digits, 0200-0400 hrs.
func (r *reader) opensHours(i int) bool {
	j := i + 1
	if r.isHours(j) {
		j++ // 2200 hrs-0600 hrs
	}
	if r.at(i).kind != digits || r.at(j+1).kind != digits || !r.at(j).isOneOf(hyphens) {
		return false
	}
	return len(r.str(i)) == 4 && len(r.str(j+1)) == 4 && r.isHours(j+2)
}

// isHours reports whether token i says that the four digits before it are a time.
func (r *reader) isHours(i int) bool { return r.reads(i, "hrs", "Hrs", "HRS", "hours", "hr", "h") }

// isDeparture reports whether the four digits at token i stand where the time of a train or a flight does.
func (r *reader) isDeparture(i int) bool {
	if r.isHours(i+1) && !r.reads(i+1, "h") {
		return r.zeroLed(i) || r.isWord(i-1, departs) || r.in(i-1, beforeTime)
	}
	named := r.isWord(i-1, idWord|codeWord|amountOf|yearBefore|place|englishHead) && !r.isWord(i-1, travel)
	if named || r.countedAt(i+1) || r.currencyCode(i-1) > 0 || r.isWord(i-1, sport) {
		return false
	}
	leads := r.leadsToTime(i)
	if !leads && (!r.followsTime(i) || r.isPrice(i)) {
		return false
	}
	for j := max(r.start, i-14); j < min(r.stop, i+8); j++ {
		travels := r.isWord(j, travel) && (j != i-1 || leads || r.zeroLed(i))
		if travels || j != i && r.isFlightNumber(j) {
			return true
		}
	}
	return false
}

// leadsToTime reports whether the word before the four digits at token i makes them a time: boards 1735, DEL-BOM 0655.
func (r *reader) leadsToTime(i int) bool {
	if r.isWord(i-1, departs) || r.isSign(i-1, '.') && r.isWord(i-2, departs) {
		return true
	}
	next := r.at(i + 1)
	ends := next.kind == nothing || next.isOneOf(".,;")
	return ends && r.zeroLed(i) && r.at(i-1).kind == latin
}

// followsTime reports whether a postposition of times stands behind the four digits at token i, which look like no year: 1550 pe,
// 0610 ki local.
func (r *reader) followsTime(i int) bool {
	if year := r.small(i, 4); 1900 <= year && year < 2100 {
		return false
	}
	if r.isPar(i+1) || r.reads(i+1, "ke", "के") {
		return true
	}
	return r.zeroLed(i) && r.in(i+1, afterDeparture)
}

// isFlightNumber reports whether the number at token j is that of a flight, 6E-2045 or AI-2804.
func (r *reader) isFlightNumber(j int) bool {
	if r.at(j).kind != digits {
		return false
	}
	k := j - 1
	if r.isSign(k, '-') {
		k--
	}
	if r.at(k).kind != latin || len(r.str(j)) < 3 || len(r.str(j)) > 4 {
		return false
	}
	if r.single(k) && r.at(k-1).kind == digits && r.tight(k) {
		return isIn(airlines, r.between(k-1, k+1))
	}
	return isIn(airlines, r.str(k))
}

// clear reports whether m is a time without a second look.
func (m *moment) clear() bool { return m.full || m.half != 0 || m.oclock }

// moment reads the time at token i. A number alone is read too, but is not clear.
func (r *reader) moment(i int) (m moment, ok bool) {
	if m, ok := r.military(i); ok {
		return m, true
	}
	h := r.small(i, 2)
	if h < 0 || h > 24 {
		return m, false
	}
	m.hour, m.sec, m.next = h, -1, i+1
	if r.minutesFollow(i+1) && !r.minutes(i, &m) {
		return m, false
	}
	r.half(&m)
	if !r.looseEnd(m.next) || r.tightSign(m.next, ':') && r.at(m.next+1).kind == digits {
		return m, false
	}
	if dotted := m.next == i+3 && r.isSign(i+1, '.'); dotted && !m.clear() && (r.isTimedRange(i) || r.isDottedTime(i)) {
		m.full = true // 1.00-1.30
	}
	decimal := m.min > 0 && !m.clear() // 5.30 by itself
	zeroHour := m.hour == 0 && m.half != 0 && !m.full
	if decimal || zeroHour {
		return m, false
	}
	m.full = m.full || m.oclock && m.next > i+2 && r.at(i+1).kind == sign
	return m, true
}

// minutes reads the minutes and the seconds behind the hour at token i into m.
func (r *reader) minutes(i int, m *moment) bool {
	minute := r.small(i+2, 2)
	if minute < 0 || minute > 59 {
		return false
	}
	if minute == 5 && r.isSign(i+1, '.') && len(r.str(i+2)) == 1 && r.isWord(i+3, oclock) {
		minute = 30 // 9.5 baje
	}
	m.min, m.next = minute, i+3
	m.full = r.isSign(i+1, ':')
	if !r.tightSign(i+3, ':') || !r.tight(i+4) || len(r.str(i+4)) != 2 {
		return true
	}
	if s := r.small(i+4, 2); s >= 0 && s < 60 {
		m.sec, m.next = s, i+5
	}
	return true
}

// isTimedRange reports whether the decimal at token i belongs to two times, 1.00-1.30 or 11-1.30, where the sentence speaks of hours.
func (r *reader) isTimedRange(i int) bool {
	dash := i + 3
	if !r.at(dash).isOneOf(dashes) {
		dash = i - 1
	}
	if !r.at(dash).isOneOf(dashes) || !r.looksTimed(i, 24) {
		return false
	}
	from, next := dash-3, dash+2
	switch {
	case r.looksTimed(dash+1, 24):
		next = dash + 4
	case !r.isHour(dash + 1):
		return false
	}
	if i != from && !r.looksTimed(from, 24) {
		if from = dash - 1; !r.isHour(from) {
			return false
		}
	}
	if r.isSign(next, '%') || r.countedAt(next) || r.currencyCode(from-1) > 0 || r.at(from-1).isCurrency() {
		return false
	}
	for k := max(r.start, from-7); k < min(r.stop, next+4); k++ {
		if r.isWord(k, timed) {
			return true
		}
	}
	return false
}

// isHour reports whether token i is an hour by itself.
func (r *reader) isHour(i int) bool {
	h := r.small(i, 2)
	return 1 <= h && h <= 12 && !r.isSign(i-1, '.') && !r.numberBehind(i+1, '.')
}

// looksTimed reports whether the decimal at token i has an hour up to last, and minutes as people give them.
func (r *reader) looksTimed(i, last int) bool {
	h, m := r.small(i, 2), r.small(i+2, 2)
	if h < 1 || h > last || !r.numberBehind(i+1, '.') {
		return false
	}
	return len(r.str(i+2)) == 2 && m < 60 && m%5 == 0
}

// isDottedTime reports whether the decimal at token i is a time of day: at 5.30, kal 5.30 ko.
func (r *reader) isDottedTime(i int) bool {
	if !r.looksTimed(i, 12) || r.joined(i) {
		return false
	}
	if !r.looseEnd(i+3) || r.countedAt(i+3) || r.at(i+3).isOneOf("%/") {
		return false
	}
	if u, _ := r.unit(i + 3); u != nil || r.at(i+3).isOneOf(dashes) {
		return false
	}
	joint := r.reads(i+3, "ki", "की", "wali", "वाली")
	if joint && r.isWord(i+4, travel) || r.besideClock(i) {
		return true
	}
	if r.small(i+2, 2)%15 != 0 && !r.near(i, travel|dayPart, 3) {
		return false
	}
	if joint && r.in(i-1, nextOne) || r.in(i+4, arriving) && !r.isWord(i-1, amountOf) {
		return true // next 3.15 ki, 10.30 tk aa jaye
	}
	return r.isTimeByWords(i)
}

// isTimeByWords reports whether the words around the decimal at token i make it a time: at 5.30, appt 5.15, kal 5.30 ko.
func (r *reader) isTimeByWords(i int) bool {
	next := r.at(i + 3)
	ends := next.kind == nothing || next.isOneOf(".,;?!")
	switch {
	case r.in(i-1, appointed) && (ends || next.kind == sign):
		return true
	case r.reads(i-1, "at", "At"):
		return ends || r.isWord(i+3, dayPart) || r.in(i+3, afterTime)
	case !r.in(i+3, afterDottedTime) && !r.isPar(i+3):
		return false
	}
	for j := max(r.start, i-8); j < i; j++ {
		if r.isWord(j, dayPart|travel|timed) || r.in(j, nearToday) || r.weekdayAt(j) > 0 || r.in(j, schoolDay) {
			return true
		}
	}
	return false
}

// besideClock reports whether another time stands in the sentence, so that the decimal at token i, which looks like one, is one, too.
func (r *reader) besideClock(i int) bool {
	if r.isWord(i-1, amountOf) || r.at(i-1).isCurrency() || r.currencyCode(i-1) > 0 {
		return false
	}
	for j := max(r.start, i-16); j < min(r.stop, i+16); j++ {
		colon := r.tightSign(j, ':') && r.pair(j+1) >= 0 && r.tight(j+1) && r.at(j-1).kind == digits
		if colon || r.isWord(j, oclock) || r.at(j-1).kind == digits && r.isMeridiem(j) {
			return true
		}
	}
	return false
}

// minutesFollow reports whether token i parts an hour from its minutes: 5:30, 5.30. One digit is enough where a word
// behind it says that this is a time.
func (r *reader) minutesFollow(i int) bool {
	t := r.at(i)
	if t.gap || !t.isOneOf(":.") || !r.tight(i+1) {
		return false
	}
	return len(r.str(i+1)) == 2 || r.isWord(i+2, oclock|meridiem)
}

// isoTime reads the T10:30 of 2026-08-15T10:30, with seconds and a zone. The zone is silent, for people read such a stamp as the
// time of the day; the clock of 24 that it is written on tells the part of the day.
func (r *reader) isoTime(i int) (m moment, ok bool) {
	if !r.tight(i) || !r.reads(i, "T") {
		return m, false
	}
	hour, minute := r.pairs(i + 1)
	if hour < 0 || hour > 23 || minute < 0 || minute > 59 {
		return m, false
	}
	m = moment{hour: hour, min: minute, sec: -1, half: 'a', full: true, next: i + 4}
	if m.hour >= 12 {
		m.half = 'p'
	}
	if s := r.pair(i + 5); r.tightSign(i+4, ':') && r.tight(i+5) && 0 <= s && s < 60 {
		m.sec, m.next = s, i+6
		if r.numberBehind(i+6, '.') {
			m.next = i + 8 // nobody says thousandths
		}
	}
	m.next += r.zone(m.next)
	return m, r.looseEnd(m.next)
}

// zone returns how many tokens at j are the zone of a time stamp: Z, +05:30, +0530.
func (r *reader) zone(j int) int {
	switch {
	case r.tight(j) && r.reads(j, "Z"):
		return 1
	case !r.tight(j) || !r.at(j).isOneOf("+-"):
		return 0
	}
	if hour, minute := r.pairs(j + 1); hour >= 0 && minute >= 0 {
		return 4
	}
	if r.tightDigits(j+1) && len(r.str(j+1)) == 4 {
		return 2
	}
	return 0
}

// pairs reads what is written as 10:30 directly behind the token before i; a number that has not two digits is -1.
func (r *reader) pairs(i int) (hour, minute int) {
	if !r.tight(i) || !r.tightSign(i+1, ':') || !r.tight(i+2) {
		return -1, -1
	}
	return r.pair(i), r.pair(i + 2)
}

// pair is the value of a token of two digits; -1 if it is no such token.
func (r *reader) pair(i int) int {
	if t := r.at(i); t.b-t.a != 2 {
		return -1
	}
	return r.small(i, 2)
}

// half reads AM, p.m., बजे and baje behind a time.
func (r *reader) half(m *moment) {
	for range 2 {
		j := m.next
		t := r.at(j)
		switch {
		case m.half == 0 && r.isMeridiem(j):
			m.half = r.text[t.a] | 0x20
			m.next = j + 1
		case m.half == 0 && r.isDottedMeridiem(j):
			m.half = r.text[t.a] | 0x20
			m.next = j + 3
			if r.tightSign(m.next, '.') && !r.last(m.next) {
				m.next++
			}
		case m.full && m.half == 0 && r.reads(j, "hrs", "hr", "Hrs", "HRS"):
			m.next = j + 1 // 17:45 hrs
		case m.full && m.half == 0 && r.isShortMeridiem(j):
			m.half = r.text[t.a] | 0x20
			m.next = j + 1
		case t.word.is(oclock):
			m.oclock = true
			if t.kind == latin {
				m.baje = j
			}
			m.next = j + 1
		default:
			return
		}
	}
}

// isShortMeridiem reports whether token j is the a or p of 5:15p.
func (r *reader) isShortMeridiem(j int) bool {
	return r.tight(j) && r.reads(j, "a", "p", "A", "P") && r.looseEnd(j+1)
}

// isMeridiem reports whether token j is am or pm. In small letters, apart, and before an English word it is the verb.
func (r *reader) isMeridiem(j int) bool {
	t := r.at(j)
	if t.kind != latin || !t.word.is(meridiem) {
		return false
	}
	verb := r.reads(j, "am") && r.isWord(j+1, englishWord) && !r.in(j+1, afterMeridiem)
	return r.tight(j) || t.cas == upper || !verb
}

// isDottedMeridiem reports whether a.m or p.m begins at token j. The dot behind it may be missing.
func (r *reader) isDottedMeridiem(j int) bool {
	if !r.single(j) || !r.tightSign(j+1, '.') || !r.tightLetter(j+2) {
		return false
	}
	half, m := r.text[r.toks[j].a]|0x20, r.text[r.toks[j+2].a]|0x20
	return (half == 'a' || half == 'p') && m == 'm'
}

// dayPart24 returns the word for the part of the day of an hour on the clock of 24.
func (c *clockWords) dayPart24(h int) string {
	switch {
	case h < 4 || h >= 20:
		return c.night
	case h < 12:
		return c.morning
	case h < 16:
		return c.noon
	}
	return c.evening
}

// sayTime says m. With elide the last word is left to the end of the range.
func (r *reader) sayTime(m *moment, elide bool) {
	if r.lang.clock != nil {
		r.quarteredTime(m, elide)
		return
	}
	half := m.half
	h := m.hour
	if m.full && half == 0 && (h > 12 || h == 0) {
		half = 'a'
		if h >= 12 && h < 24 {
			half = 'p'
		}
	}
	h %= 12
	if h == 0 {
		h = 12
	}
	r.cardinal(uint64(h), r.lang)
	switch {
	case m.min == 0:
	case m.min < 10:
		r.say("oh")
		r.say(englishBelow20[m.min])
	default:
		r.cardinal(uint64(m.min), r.lang)
	}
	switch {
	case elide:
	case half == 'a':
		r.say("A M")
	case half == 'p':
		r.say("P M")
	}
	if m.sec > 0 {
		r.say("and")
		r.cardinal(uint64(m.sec), r.lang)
		r.say("seconds")
	}
}

// quarteredTime says m as Hindi does: the part of the day, quarters of an hour, and minutes that have passed.
func (r *reader) quarteredTime(m *moment, elide bool) {
	l, c := r.lang, r.lang.clock
	h := m.hour
	h24, known := h%24, h > 12 || h == 0
	if m.half != 0 {
		known = true
		if h24 = h % 12; m.half == 'p' {
			h24 += 12
		}
	}
	if known && !r.dayPartNear(m.next) {
		r.say(c.dayPart24(h24))
	}
	h %= 12
	if h == 0 {
		h = 12
	}
	fraction := byte(0)
	switch {
	case m.sec > 0:
	case m.min == 15:
		fraction = quarter
	case m.min == 30:
		fraction = half
	case m.min == 45:
		fraction = threeQuarters
	}
	switch {
	case m.min == 0 && m.sec <= 0:
		r.cardinal(uint64(h), l)
	case fraction == quarter && h == 1:
		r.say(l.quarters.andQuarter)
		r.cardinal(1, l)
	case fraction == threeQuarters && h == 12:
		r.say(l.quarters.lessQuarter)
		r.cardinal(1, l)
	case fraction > 0:
		r.sayQuarters(l, uint64(h), fraction)
	default:
		r.cardinal(uint64(h), l)
		r.say(c.past)
		r.cardinal(uint64(m.min), l)
		r.say(c.minutes)
		if m.sec > 0 {
			r.cardinal(uint64(m.sec), l)
			r.say(c.seconds)
		}
		if m.oclock && !r.isPostposition(m.next) {
			r.say(c.at) // बजे would have said it
		}
		return
	}
	switch {
	case elide:
	case m.baje > 0 && !r.reads(m.baje, "bje"):
		r.say(r.str(m.baje))
	default:
		r.say(c.oclock)
	}
}

// isPostposition reports whether token i ties the time to what follows, so that nothing need be said between them.
func (r *reader) isPostposition(i int) bool {
	return r.atWord(i) == "" || r.in(i, tiesTime)
}

// dayPartNear reports whether the sentence names the part of the day near token i.
func (r *reader) dayPartNear(i int) bool {
	for j := max(r.start, i-8); j < min(r.stop, i+3); j++ {
		if r.isWord(j, dayPart) {
			return true
		}
	}
	return false
}

// sayUnit says a count of a unit.
func (r *reader) sayUnit(n int, u *unit) {
	r.cardinal(uint64(n), r.lang)
	switch {
	case n == 1:
		r.say(r.lang.measure(u).one)
	default:
		r.say(r.lang.measure(u).many)
	}
}

// alwaysOpen reads 24x7 and 24/7.
func (r *reader) alwaysOpen(i int) int {
	if r.str(i) != "24" || r.small(i+2, 1) != 7 {
		return i
	}
	if !r.tight(i+1) || !r.tight(i+2) || !r.looseEnd(i+3) {
		return i
	}
	if !r.isTimes(i+1) && !r.at(i+1).isOneOf("/*") {
		return i
	}
	r.begin(i, speech.SpanDuration)
	r.say(r.lang.words[wordAlwaysOpen])
	return r.end(i + 3)
}

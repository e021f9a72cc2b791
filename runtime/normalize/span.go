package normalize

import "github.com/swar-tts/swar/runtime/speech"

// lengths are the letters behind the numbers of a duration, longest first.
var lengths = [...]struct {
	words string
	unit  string
}{{" d day days ", "d"}, {" h hr hrs ", "hr"}, {" m min mins ", "min"}, {" s sec secs ", "sec"}}

// lengthAt returns the place in lengths of the word at token i, -1 for none.
func (r *reader) lengthAt(i int) int {
	if r.at(i).kind != latin || r.at(i).cas != lower {
		return -1
	}
	for k := range lengths {
		if isIn(lengths[k].words, r.str(i)) {
			return k
		}
	}
	return -1
}

// duration reads 2h 30m, 1h30m20s, 12m 30s and, where the sentence speaks of how long something lasts, 15m and 2:03:15.
func (r *reader) duration(i int) int {
	if next := r.stopwatch(i); next > i {
		return next
	}
	first := r.lengthAt(i + 1)
	if first < 0 || !r.tight(i+1) || len(r.str(i)) > 3 {
		return i
	}
	j, last := i, -1
	for {
		k := r.lengthAt(j + 1)
		if k <= last || !r.tight(j+1) || r.at(j).kind != digits || len(r.str(j)) > 3 {
			break
		}
		last = k
		j += 2
		if !r.looseEnd(j) && r.at(j).kind != digits {
			return i
		}
	}
	if j == i+2 {
		return r.lastingMetres(i)
	}
	if !r.looseEnd(j) {
		return i
	}
	r.begin(i, speech.SpanDuration)
	for k := i; k < j; k += 2 {
		r.sayUnit(r.small(k, 3), units[lengths[r.lengthAt(k+1)].unit])
	}
	return r.end(j)
}

// lastingMetres reads 15m as minutes, or as months, behind the words for either.
func (r *reader) lastingMetres(i int) int {
	if !r.reads(i+1, "m") || !r.looseEnd(i+2) || r.at(i+2).isOneOf("/"+string(rune(squared))) {
		return i
	}
	u := ""
	for j := max(r.start, i-6); j < min(r.stop, i+5); j++ {
		switch {
		case r.isWord(j, terms):
			u = "mo"
		case r.isWord(j, lasting) && u == "":
			u = "min"
		}
	}
	if u == "" {
		return i
	}
	r.begin(i, speech.SpanDuration)
	r.sayUnit(r.small(i, 3), units[u])
	return r.end(i + 2)
}

// termLetters reads 60 M behind a tenure, 7D behind a window and 2N/3D or 3D/2N, the nights and days of a journey.
func (r *reader) termLetters(i int) int {
	if r.small(i, 3) < 1 || r.joined(i) {
		return i
	}
	if first, second := r.small(i, 2), r.small(i+3, 2); first > 0 && second > 0 {
		for _, letters := range [...]string{"ND", "DN"} {
			if r.isTrip(i, letters) {
				r.begin(i, speech.SpanDuration)
				r.sayUnit(first, tripUnits[letters[0]])
				r.sayUnit(second, tripUnits[letters[1]])
				return r.end(i + 5)
			}
		}
	}
	if !r.looseEnd(i + 2) {
		return i
	}
	u := ""
	if r.reads(i+1, "N") && r.isNear(i, starred, 7) {
		u = "~night"
	}
	for j := i - 1; j > i-4 && j >= r.start && u == ""; j-- {
		switch {
		case r.isWord(j, terms) && r.reads(i+1, "M", "m"):
			u = "mo"
		case r.in(j, windowed) && r.reads(i+1, "D", "d"):
			u = "d"
		}
	}
	if u == "" {
		return i
	}
	r.begin(i, speech.SpanDuration)
	r.sayUnit(r.small(i, 3), units[u])
	return r.end(i + 2)
}

// tripUnits are what the letters of 2N/3D count.
var tripUnits = map[byte]*unit{'N': units["~night"], 'D': units["d"]}

// isTrip reports whether 2N/3D or 2N-3D begins at token i, with these letters.
func (r *reader) isTrip(i int, letters string) bool {
	if !r.tight(i+1) || r.atWord(i+1) != letters[:1] || !r.tight(i+2) || !r.at(i+2).isOneOf("/-&") {
		return false
	}
	return r.tight(i+3) && r.tight(i+4) && r.atWord(i+4) == letters[1:] && r.looseEnd(i+5)
}

// stopwatch reads what a clock cannot show, 52:40, and what a race or a film took, 2:03:15.
func (r *reader) stopwatch(i int) int {
	if !r.numberBehind(i+1, ':') || len(r.str(i+2)) != 2 || len(r.str(i)) > 2 || r.isSign(i-1, ':') {
		return i
	}
	three := r.numberBehind(i+3, ':')
	next := i + 3
	if three {
		next = i + 5
	}
	a, b := r.small(i, 2), r.small(i+2, 2)
	decimals := r.numberBehind(next, '.') && len(r.str(next+1)) <= 3 && r.looseEnd(next+2)
	if decimals && !three && b < 60 {
		return r.hundredths(i)
	}
	if !r.looseEnd(next) || r.numberBehind(next, ':') || r.numberBehind(next, '.') {
		return i
	}
	if b > 59 || three && r.small(i+4, 2) < 0 {
		return i
	}
	if three {
		if !r.isTaken(i, next) {
			return i
		}
		return r.sayStopwatch(i, next, false, false)
	}
	return r.twoLengths(i, a)
}

// twoLengths reads a and the minutes or seconds behind its colon at token i: 2:30 घंटे, 3:40 min, the 0:30 of a video, 52:40.
func (r *reader) twoLengths(i, a int) int {
	next := i + 3
	late := a < 13 && r.reads(next, "late", "Late", "लेट")
	hours := r.in(next, hourly)
	minutes := r.in(next, minuteWord)
	played := r.in(i-1, media) || a == 0 && r.isNear(i, media, 14)
	if said := late || hours || minutes || played; !said && (a < 13 || !r.isTaken(i, next)) {
		return i
	}
	return r.sayStopwatch(i, next, late || hours, hours || minutes)
}

// sayStopwatch says the lengths that tokens i to next are: hours first, or minutes and seconds. named means that token next is the unit
// that has been said.
func (r *reader) sayStopwatch(i, next int, hours, named bool) int {
	three := next == i+5
	r.begin(i, speech.SpanDuration)
	k := 1
	if !three && !hours {
		k = 2
	}
	for j := i; j < next; j += 2 {
		if n := r.small(j, 2); n > 0 {
			r.sayUnit(n, units[lengths[k].unit])
		}
		k++
	}
	if named { // 3:40 min
		if next++; r.tightSign(next, '.') && !r.last(next) {
			next++
		}
	}
	return r.end(next)
}

// hundredths reads 2:59.05, minutes and seconds as races are timed.
func (r *reader) hundredths(i int) int {
	r.begin(i, speech.SpanDuration)
	if n := r.small(i, 2); n > 0 {
		r.sayUnit(n, units["min"])
	}
	seconds := number{value: uint64(max(0, r.small(i+2, 2))), frac: r.str(i + 4)}
	r.sayNumber(&seconds, r.lang, false)
	r.say(r.lang.measure(units["s"]).many)
	return r.end(i + 5)
}

// isTaken reports whether words beside tokens i to next say that so much time was taken.
func (r *reader) isTaken(i, next int) bool {
	for j := max(r.start, i-5); j < min(r.stop, next+4); j++ {
		joint := r.reads(j, "ki", "की") && (j != next || r.isWord(j+1, travel) || r.near(i, travel, 3)) // 17:00 ki flight
		if r.isWord(j, taken) && !joint {
			return true
		}
	}
	return false
}

// weekdayRange reads Mon-Fri and सोम-शनि; the short ones are said in full.
func (r *reader) weekdayRange(i int) int {
	if r.weekdayAt(i) == 0 || r.joined(i) || !r.weekdayBehind(i+1) {
		return i
	}
	r.begin(i, speech.SpanRange)
	r.sayWeekday(i)
	next := i + 1
	for r.weekdayBehind(next) {
		r.say(r.lang.words[wordTo])
		r.sayWeekday(next + 1)
		next += 2
	}
	if r.tightSign(next, '.') && !r.last(next) && r.at(next-1).kind == latin {
		next++
	}
	return r.end(next)
}

// weekdayBehind reports whether a hyphen and another weekday follow from token i.
func (r *reader) weekdayBehind(i int) bool {
	return r.at(i).isOneOf(hyphens) && r.at(i).gap == r.at(i+1).gap && r.weekdayAt(i+1) > 0
}

func (r *reader) sayWeekday(i int) {
	d := r.weekdayAt(i)
	if r.at(i).kind == deva {
		r.say(r.home.weekdays[d])
	} else {
		r.say(english.weekdays[d])
	}
}

// weekdayAt is the number of the day that token i names, 0 for none. In small letters sun, sat and wed are other words.
func (r *reader) weekdayAt(i int) int {
	t := r.at(i)
	if !t.word.is(weekday) || t.cas == lower && r.reads(i, "sun", "sat", "wed") {
		return 0
	}
	return t.word.n
}

// letterRange reads rows A-F: two letters behind the word for what they name.
func (r *reader) letterRange(i int) int {
	if !r.capital(i) || !r.capital(i+2) || !r.at(i+1).isOneOf(hyphens) || r.at(i+1).gap != r.at(i+2).gap {
		return i
	}
	ascends := r.text[r.toks[i].a] < r.text[r.toks[i+2].a]
	if !ascends || !r.isWord(i-1, lettered) || !r.looseEnd(i+3) || r.joined(i) {
		return i
	}
	r.begin(i, speech.SpanRange)
	r.letters(r.str(i), r.lang)
	r.say(r.lang.words[wordTo])
	r.letters(r.str(i+2), r.lang)
	return r.end(i + 3)
}

// capital reports whether token i is one capital letter.
func (r *reader) capital(i int) bool { return r.single(i) && r.at(i).cas == upper }

// chatWord reads 2day and gr8 as the words that they sound like.
func (r *reader) chatWord(i int) int {
	if r.joined(i) {
		return i
	}
	j := i
	for j < i+3 && (r.at(j).kind == latin || r.at(j).kind == digits) {
		if j++; !r.tight(j) {
			break
		}
	}
	if j == i+1 || !r.looseEnd(j) {
		return i
	}
	s := r.between(i, j)
	var buf [8]byte
	if len(s) > len(buf) {
		return i
	}
	low, cas := fold(buf[:0], s)
	word := chatWords[string(low)]
	if word == "" || cas == upper && string(low) != "7up" {
		return i
	}
	r.begin(i, speech.SpanAbbreviation)
	r.say(word)
	return r.end(j)
}

// chatWords are what people type with figures for syllables.
var chatWords = map[string]string{
	"2day": "today", "10q": "thank you", "h2h": "head to head", "5star": "five star", "spo2": "S P O two", "7up": "seven up", "1mg": "one M G", "2bara": "dobara", "2baara": "dobara", "2moro": "tomorrow", "2morrow": "tomorrow", "2mrw": "tomorrow", "2nite": "tonight", "2night": "tonight", "gr8": "great", "l8r": "later", "l8": "late", "b4": "before", "m8": "mate", "n8": "night",
	"w8": "wait", "hba1c": "H B A one C", "4u": "for you", "4ever": "forever", "str8": "straight", "any1": "anyone", "some1": "someone", "no1": "no one", "every1": "everyone", "2gether": "together", "h8": "hate",
}

// inches reads the mark of 6.7" where a number has it and no quotation is open.
func (r *reader) inches(i int) int {
	a, ok := r.number(i)
	if !ok || a.size > 3 || r.joined(i) {
		return i
	}
	if !r.tightSign(a.next, '"') || !r.looseEnd(a.next+1) {
		return i
	}
	for j := i - 1; j >= max(r.start, i-lookahead); j-- {
		if r.isSign(j, '"') && !(r.tight(j) && r.at(j-1).kind == digits) {
			return i
		}
	}
	r.begin(i, speech.SpanUnit)
	r.sayNumber(&a, r.lang, false)
	u := units["in"]
	r.say(r.lang.measure(u).many)
	return r.end(a.next + 1)
}

package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// lengths are the letters behind the numbers of a duration, longest first.
var lengths = [...]struct {
	words string
	unit  string
}{{" d day days ", "d"}, {" h hr hrs ", "hr"}, {" m min mins ", "min"}, {" s sec secs ", "sec"}}

// lengthAt returns the place in lengths of the word at token i, -1 for none.
func lengthAt(v *text.View, i int) int {
	if v.At(i).Kind != text.Latin || v.At(i).Cas != words.Lower {
		return -1
	}
	for k := range lengths {
		if text.IsIn(lengths[k].words, v.Str(i)) {
			return k
		}
	}
	return -1
}

// duration reads 2h 30m, 1h30m20s, 12m 30s and, where the sentence speaks of how long something lasts, 15m and 2:03:15.
func duration(r *Reader, i int) (Reading, bool) {
	if reading, ok := stopwatch(r, i); ok {
		return reading, true
	}
	first := lengthAt(&r.View, i+1)
	if first < 0 || !r.Tight(i+1) || len(r.Str(i)) > 3 {
		return Reading{}, false
	}
	j, last := i, -1
	for {
		k := lengthAt(&r.View, j+1)
		if k <= last || !r.Tight(j+1) || r.At(j).Kind != text.Digits || len(r.Str(j)) > 3 {
			break
		}
		last = k
		j += 2
		if !r.LooseEnd(j) && r.At(j).Kind != text.Digits {
			return Reading{}, false
		}
	}
	if j == i+2 {
		return lastingMetres(r, i)
	}
	if !r.LooseEnd(j) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanDuration)
	for k := i; k < j; k += 2 {
		r.SayUnit(r.Small(k, 3), words.Units[lengths[lengthAt(&r.View, k+1)].unit])
	}
	return r.End(j)
}

// lastingMetres reads 15m as minutes, or as months, behind the words for either.
func lastingMetres(r *Reader, i int) (Reading, bool) {
	if !r.Reads(i+1, "m") || !r.LooseEnd(i+2) || r.At(i+2).IsOneOf("/"+string(rune(text.Squared))) {
		return Reading{}, false
	}
	u := ""
	for j := max(r.Start, i-6); j < min(r.Stop, i+5); j++ {
		switch {
		case r.IsWord(j, words.Terms):
			u = "mo"
		case r.IsWord(j, words.Lasting) && u == "":
			u = "min"
		}
	}
	if u == "" {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanDuration)
	r.SayUnit(r.Small(i, 3), words.Units[u])
	return r.End(i + 2)
}

// termLetters reads 60 M behind a tenure, 7D behind a window and 2N/3D or 3D/2N, the nights and days of a journey.
func termLetters(r *Reader, i int) (Reading, bool) {
	if r.Small(i, 3) < 1 || r.Joined(i) {
		return Reading{}, false
	}
	if first, second := r.Small(i, 2), r.Small(i+3, 2); first > 0 && second > 0 {
		for _, letters := range [...]string{"ND", "DN"} {
			if isTrip(&r.View, i, letters) {
				r.Begin(i, speech.SpanDuration)
				r.SayUnit(first, tripUnits[letters[0]])
				r.SayUnit(second, tripUnits[letters[1]])
				return r.End(i + 5)
			}
		}
	}
	if !r.LooseEnd(i + 2) {
		return Reading{}, false
	}
	u := termUnit(&r.View, i)
	if u == "" {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanDuration)
	r.SayUnit(r.Small(i, 3), words.Units[u])
	return r.End(i + 2)
}

// termUnit is the unit of the letter behind the number at token i, "" for none.
func termUnit(v *text.View, i int) string {
	bracketed := v.IsSign(i-1, '(') && v.IsSign(i+2, ')') && v.IsNear(i, words.Month, 3) // 12-14 Nov (2N)
	if v.Reads(i+1, "N") && (bracketed || v.IsNear(i, words.Starred, 7)) {
		return "~night"
	}
	named := v.At(i-1).Kind.Lettered() && v.At(i+2).InSmallLetters() && !v.In(i+2, words.Joiner) // the 7D movie
	if v.Reads(i+1, "D") && v.Small(i, 3) >= 7 && !named && v.IsNear(i, words.Packed, 12) {
		return "d" // Plan: 2GB/D, 56D
	}
	for j := i - 1; j > i-4 && j >= v.Start; j-- {
		switch {
		case v.IsWord(j, words.Terms) && v.Reads(i+1, "M", "m"):
			return "mo"
		case v.In(j, words.Windowed) && v.Reads(i+1, "D", "d"):
			return "d"
		case v.Reads(j, "valid", "Valid") && v.Reads(i+1, "m"):
			return "min" // an OTP
		}
	}
	return ""
}

// tripUnits are what the letters of 2N/3D count.
var tripUnits = map[byte]*words.Unit{'N': words.Units["~night"], 'D': words.Units["d"]}

// isTrip reports whether 2N/3D or 2N-3D begins at token i, with these letters.
func isTrip(v *text.View, i int, letters string) bool {
	if !v.Tight(i+1) || v.AtWord(i+1) != letters[:1] || !v.Tight(i+2) || !v.At(i+2).IsOneOf("/-&") {
		return false
	}
	return v.Tight(i+3) && v.Tight(i+4) && v.AtWord(i+4) == letters[1:] && v.LooseEnd(i+5)
}

// stopwatch reads what a clock cannot show, 52:40, and what a race or a film took, 2:03:15.
func stopwatch(r *Reader, i int) (Reading, bool) {
	if !r.NumberBehind(i+1, ':') || len(r.Str(i+2)) != 2 || len(r.Str(i)) > 2 || r.IsSign(i-1, ':') {
		return Reading{}, false
	}
	three := r.NumberBehind(i+3, ':')
	next := i + 3
	if three {
		next = i + 5
	}
	a, b := r.Small(i, 2), r.Small(i+2, 2)
	decimals := r.NumberBehind(next, '.') && len(r.Str(next+1)) <= 3 && r.LooseEnd(next+2)
	if decimals && !three && b < 60 {
		return hundredths(r, i)
	}
	if !r.LooseEnd(next) || r.NumberBehind(next, ':') || r.NumberBehind(next, '.') {
		return Reading{}, false
	}
	if b > 59 || three && r.Small(i+4, 2) < 0 {
		return Reading{}, false
	}
	if three {
		if !isTaken(&r.View, i, next) {
			return Reading{}, false
		}
		return sayStopwatch(r, i, next, false, false)
	}
	return twoLengths(r, i, a)
}

// twoLengths reads a and the minutes or seconds behind its colon at token i: 2:30 घंटे, 3:40 min, the 0:30 of a video,
// 52:40.
func twoLengths(r *Reader, i, a int) (Reading, bool) {
	next := i + 3
	late := a < 13 && r.Reads(next, "late", "Late", "लेट")
	hours := r.In(next, words.Hourly)
	minutes := r.In(next, words.MinuteWord)
	played := r.In(i-1, words.Media) || a == 0 && r.IsNear(i, words.Media, 14)
	if said := late || hours || minutes || played; !said && (a < 13 || !isTaken(&r.View, i, next)) {
		return Reading{}, false
	}
	return sayStopwatch(r, i, next, late || hours, hours || minutes)
}

// sayStopwatch says the lengths that tokens i to next are: hours first, or minutes and seconds. named means that token
// next is the unit that has been said.
func sayStopwatch(r *Reader, i, next int, hours, named bool) (Reading, bool) {
	three := next == i+5
	r.Begin(i, speech.SpanDuration)
	k := 1
	if !three && !hours {
		k = 2
	}
	for j := i; j < next; j += 2 {
		if n := r.Small(j, 2); n > 0 {
			r.SayUnit(n, words.Units[lengths[k].unit])
		}
		k++
	}
	if named { // 3:40 min
		if next++; r.TightSign(next, '.') && !r.Last(next) {
			next++
		}
	}
	return r.End(next)
}

// hundredths reads 2:59.05, minutes and seconds as races are timed.
func hundredths(r *Reader, i int) (Reading, bool) {
	r.Begin(i, speech.SpanDuration)
	if n := r.Small(i, 2); n > 0 {
		r.SayUnit(n, words.Units["min"])
	}
	seconds := text.Number{Value: uint64(max(0, r.Small(i+2, 2))), Frac: r.Str(i + 4)}
	r.SayNumber(&seconds, r.Lang, false)
	r.Say(r.Lang.Measure(words.Units["s"]).Many)
	return r.End(i + 5)
}

// isTaken reports whether words beside tokens i to next say that so much time was taken.
func isTaken(v *text.View, i, next int) bool {
	for j := max(v.Start, i-5); j < min(v.Stop, next+4); j++ {
		// 17:00 ki flight
		joint := v.Reads(j, "ki", "की") && (j != next || v.IsWord(j+1, words.Travel) || v.Near(i, 3, words.Travel))
		if v.IsWord(j, words.Taken) && !joint {
			return true
		}
	}
	return false
}

// weekdayRange reads Mon-Fri and सोम-शनि; the short ones are said in full.
func weekdayRange(r *Reader, i int) (Reading, bool) {
	if text.WeekdayAt(&r.View, i) == 0 || r.Joined(i) || !weekdayBehind(&r.View, i+1) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanRange)
	sayWeekday(r, i)
	next := i + 1
	for weekdayBehind(&r.View, next) {
		r.Say(r.Lang.Words[words.WordTo])
		sayWeekday(r, next+1)
		next += 2
	}
	if r.TightSign(next, '.') && !r.Last(next) && r.At(next-1).Kind == text.Latin {
		next++
	}
	return r.End(next)
}

// weekdayBehind reports whether a hyphen and another weekday follow from token i.
func weekdayBehind(v *text.View, i int) bool {
	return v.At(i).IsOneOf(text.Hyphens) && v.At(i).Gap == v.At(i+1).Gap && text.WeekdayAt(v, i+1) > 0
}

func sayWeekday(r *Reader, i int) {
	d := text.WeekdayAt(&r.View, i)
	if r.At(i).Kind == text.Deva {
		r.Say(r.Home.Weekdays[d])
	} else {
		r.Say(words.English.Weekdays[d])
	}
}

// letterRange reads rows A-F: two letters behind the word for what they name.
func letterRange(r *Reader, i int) (Reading, bool) {
	if !r.Capital(i) || !r.Capital(i+2) || !r.At(i+1).IsOneOf(text.Hyphens) || r.At(i+1).Gap != r.At(i+2).Gap {
		return Reading{}, false
	}
	ascends := r.Text[r.Toks[i].A] < r.Text[r.Toks[i+2].A]
	if !ascends || !r.IsWord(i-1, words.Lettered) || !r.LooseEnd(i+3) || r.Joined(i) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanRange)
	r.Letters(r.Str(i), r.Lang)
	r.Say(r.Lang.Words[words.WordTo])
	r.Letters(r.Str(i+2), r.Lang)
	return r.End(i + 3)
}

// chatWord reads 2day and gr8 as the words that they sound like.
func chatWord(r *Reader, i int) (Reading, bool) {
	if r.Joined(i) {
		return Reading{}, false
	}
	j := i
	for j < i+3 && (r.At(j).Kind == text.Latin || r.At(j).Kind == text.Digits) {
		if j++; !r.Tight(j) {
			break
		}
	}
	if j == i+1 || !r.LooseEnd(j) {
		return Reading{}, false
	}
	s := r.Between(i, j)
	var buf [8]byte
	if len(s) > len(buf) {
		return Reading{}, false
	}
	low, cas := words.Fold(buf[:0], s)
	word := words.Figured(low)
	if word == "" || cas == words.Upper && string(low) != "7up" {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanAbbreviation)
	r.Say(word)
	return r.End(j)
}

// inches reads the mark of 6.7" where a number has it and no quotation is open.
func inches(r *Reader, i int) (Reading, bool) {
	a, ok := text.NumberAt(&r.View, i)
	if !ok || a.Size > 3 || r.Joined(i) {
		return Reading{}, false
	}
	if !r.TightSign(a.Next, '"') || !r.LooseEnd(a.Next+1) {
		return Reading{}, false
	}
	for j := i - 1; j >= max(r.Start, i-text.Lookahead); j-- {
		if r.IsSign(j, '"') && !(r.Tight(j) && r.At(j-1).Kind == text.Digits) {
			return Reading{}, false
		}
	}
	r.Begin(i, speech.SpanUnit)
	r.SayNumber(&a, r.Lang, false)
	u := words.Units["in"]
	r.Say(r.Lang.Measure(u).Many)
	return r.End(a.Next + 1)
}

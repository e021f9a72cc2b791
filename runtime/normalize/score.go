package normalize

import "github.com/swar-tts/swar/runtime/speech"

// score reads the figures of a bowler, 4-0-22-3, and of an innings, 174/7 and 187-6, where the sentence is about sport.
func (r *reader) score(i int) int {
	if r.joined(i) || !r.numberBehind(i+1, '-') && !r.numberBehind(i+1, '/') {
		return i
	}
	if !r.isSporting(i) && !r.hasOvers(i+3) {
		return i
	}
	if _, ok := r.numericDate(i); ok && len(r.str(i)) == 2 && r.isSign(i+1, '-') {
		return i // out for delivery on 14-01-26
	}
	if next := r.figures(i); next > i {
		return next
	}
	runs, wickets := r.small(i, 3), r.small(i+2, 3)
	more := r.numberBehind(i+3, '/') || r.numberBehind(i+3, '-')
	if runs < 0 || wickets < 0 || more || !r.looseEnd(i+3) {
		return i
	}
	innings := wickets <= 10 && runs > 20
	if !innings && (r.isSign(i+1, '-') || runs > 10) {
		return i // a game of 21-18 is a range of its own
	}
	r.begin(i, speech.SpanRatio)
	r.sayPlain(i, r.lang)
	switch {
	case r.lang == english:
		r.say(english.words[wordFor])
	case innings:
		r.say(r.lang.words[wordFor])
	}
	r.sayPlain(i+2, r.lang)
	return r.end(i + 3)
}

// hasOvers reports whether overs in brackets begin at token i: 176/5 (20), 92/3 (11.4 ov).
func (r *reader) hasOvers(i int) bool {
	if !r.isSign(i, '(') || r.small(i+1, 2) < 0 || r.small(i+1, 2) > 50 {
		return false
	}
	j := i + 2
	if r.numberBehind(j, '.') && r.small(j+1, 1) >= 0 {
		j += 2
	}
	if r.reads(j, "ov", "overs", "Ov") {
		j++
	}
	return r.isSign(j, ')')
}

// gameMinute reads the 67' of a goal.
func (r *reader) gameMinute(i int) int {
	n := r.small(i, 3)
	if n < 1 || n > 120 || r.joined(i) {
		return i
	}
	if !r.tightSign(i+1, '\'') || !r.looseEnd(i+2) || !r.isGame(i) {
		return i
	}
	r.begin(i, speech.SpanDuration)
	r.sayUnit(n, units["min"])
	return r.end(i + 2)
}

// isGame reports whether a word of games stands near token i.
func (r *reader) isGame(i int) bool {
	for j := max(r.start, i-8); j < min(r.stop, i+8); j++ {
		if r.isWord(j, games) {
			return true
		}
	}
	return false
}

// ballsFaced reads the 52 of 78* (52), and of 78(52) beside words of sport, as the balls that the runs took.
func (r *reader) ballsFaced(i int) int {
	if r.small(i, 3) < 1 || !r.isSign(i-1, '(') || !r.isSign(i+1, ')') {
		return i
	}
	notOut := r.isSign(i-2, '*') && r.at(i-3).kind == digits
	behindRuns := r.tight(i-1) && r.at(i-2).kind == digits && !r.at(i-3).isOneOf(hyphens)
	out := behindRuns && (r.isFence(i+2) || r.isSporting(i)) // 64(41)
	if !notOut && !out {
		return i
	}
	r.begin(i, speech.SpanNumber)
	r.sayUnit(r.small(i, 3), units["~ball"])
	return r.end(i + 1)
}

// boundaries reads 6x4 4x6 and (98b, 8x4, 2x6): the fours and the sixes of a batsman, and the balls.
func (r *reader) boundaries(i int) int {
	u, next := r.boundary(i)
	if u == nil {
		return i
	}
	other := next
	if r.at(other).isOneOf(",;") {
		other++
	}
	after, _ := r.boundary(other)
	balls := r.reads(i-1, "b") || r.at(i-1).isOneOf(",;") && r.reads(i-2, "b")
	before := r.at(i-1).isOneOf(",;") && r.isFence(i-4) || r.isFence(i-3)
	if after == nil && !balls && !before {
		return i
	}
	r.begin(i, speech.SpanNumber)
	r.sayUnit(r.small(i, 2), u)
	return r.end(next)
}

// boundary returns what the number at token i counts if it is written as 6x4, 4x6 or 98b.
func (r *reader) boundary(i int) (*unit, int) {
	n := r.small(i, 3)
	switch {
	case n < 0 || r.joined(i):
		return nil, i
	case r.isFence(i) && r.small(i+2, 1) == 4:
		return units["~four"], i + 3
	case r.isFence(i):
		return units["~six"], i + 3
	case r.tight(i+1) && r.reads(i+1, "b") && r.isSign(i-1, '('):
		return units["~ball"], i + 2
	}
	return nil, i
}

// isFence reports whether 8x4 or 2x6 begins at token i.
func (r *reader) isFence(i int) bool {
	if r.small(i, 2) < 0 || !r.tight(i+1) || !r.isTimes(i+1) {
		return false
	}
	if !r.tight(i+2) || !r.looseEnd(i+3) {
		return false
	}
	n := r.small(i+2, 1)
	return n == 4 || n == 6
}

// goals reads the end of a game in a Hindi sentence: 3-2 से जीता is तीन दो.
func (r *reader) goals(i int) int {
	if r.lang == english {
		return i
	}
	a, b := r.small(i, 2), r.small(i+2, 2)
	won := r.reads(i+3, "se", "से") && r.isWord(i+4, games) // 34-29 से जीता
	most := 20
	if won {
		most = 99
	}
	if a < 0 || b < 0 || a > most || b > most {
		return i
	}
	if r.joined(i) || !r.numberBehind(i+1, '-') || r.numberBehind(i+3, '-') || !r.looseEnd(i+3) {
		return i
	}
	if r.countedAt(i+3) || r.isWord(i+3, oclock) {
		return i
	}
	if !r.near(i, games, 3) && !r.isWord(i+3, games) && !r.isWord(i+4, games) {
		return i
	}
	r.begin(i, speech.SpanRatio)
	r.sayPlain(i, r.lang)
	r.sayPlain(i+2, r.lang)
	return r.end(i + 3)
}

// ageAndSex reads 45/M and 32/F, as clinics write whom they treat.
func (r *reader) ageAndSex(i int) int {
	if age := r.small(i, 3); age < 1 || age > 120 || r.joined(i) || r.zeroLed(i) {
		return i
	}
	sex := i + 2
	if !r.tightSign(i+1, '/') || !r.tight(sex) || !r.looseEnd(sex+1) {
		return i
	}
	if r.isWord(i-1, place|door|coach|codeWord|idWord) || r.isSign(i-1, '#') {
		return i // flat 12/F
	}
	w := wordMale
	switch r.str(sex) {
	case "M":
	case "F":
		w = wordFemale
	default:
		return i
	}
	r.begin(i, speech.SpanNumber)
	r.sayPlain(i, r.lang)
	r.pause()
	r.say(r.lang.words[w])
	return r.end(sex + 1)
}

// figures reads overs, maidens, runs and wickets with hyphens between them.
func (r *reader) figures(i int) int {
	parts := 1
	for j := i; r.numberBehind(j+1, '-') && parts < 6; j += 2 {
		parts++
	}
	next := i + 2*parts - 1
	if parts < 3 || parts > 4 || !r.looseEnd(next) {
		return i
	}
	for j := i; j < next; j += 2 {
		if len(r.str(j)) > 3 {
			return i
		}
	}
	r.begin(i, speech.SpanRatio)
	for j := i; j < next; j += 2 {
		r.sayPlain(j, r.lang)
		if j+2 < next {
			r.pause()
		}
	}
	return r.end(next)
}

// isSporting reports whether the sentence speaks of runs, wickets and their like near token i.
func (r *reader) isSporting(i int) bool {
	sports := false
	for j := max(r.start, i-16); j < min(r.stop, i+16); j++ {
		if r.in(j, examined) {
			return false // scored 3/100 in maths
		}
		sports = sports || r.isWord(j, sport)
	}
	return sports
}

// relay reads 4x100m.
func (r *reader) relay(i int) int {
	if !r.tight(i+1) || !r.reads(i+1, "x", "X") || !r.tightDigits(i+2) || r.joined(i) {
		return i
	}
	a, ok := r.amount(i + 2)
	if !ok || a.unit == nil || !r.looseEnd(a.next) {
		return i
	}
	r.begin(i, speech.SpanUnit)
	r.sayPlain(i, r.lang)
	r.say(r.lang.words[wordAcross])
	r.sayAmount(&a, r.lang, false)
	return r.end(a.next)
}

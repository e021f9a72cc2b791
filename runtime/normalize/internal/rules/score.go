package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// score reads the figures of a bowler, 4-0-22-3, and of an innings, 174/7 and 187-6, where the sentence is about sport.
func score(r *Reader, i int) (Reading, bool) {
	if r.Joined(i) || !r.At(i+1).IsOneOf("-/") || !r.NumberBehind(i+1, r.At(i+1).Ch) {
		return Reading{}, false
	}
	if !isOfSport(&r.View, i) {
		return Reading{}, false
	}
	if reading, ok := figures(r, i); ok {
		return reading, true
	}
	runs, wickets := r.Small(i, 3), r.Small(i+2, 3)
	more := r.At(i+3).IsOneOf("/-") && r.NumberBehind(i+3, r.At(i+3).Ch)
	if runs < 0 || wickets < 0 || more || !r.LooseEnd(i+3) {
		return Reading{}, false
	}
	innings := wickets <= 10 && runs > 20
	if !innings && (r.IsSign(i+1, '-') || runs > 10 || wickets == 10) {
		return Reading{}, false // a game of 21-18 is a range of its own
	}
	r.Begin(i, speech.SpanRatio)
	r.SayPlain(i, r.Lang)
	switch {
	case r.English:
		r.Say(words.English.Words[words.WordFor])
	case innings:
		r.Say(r.Lang.Words[words.WordFor])
	}
	r.SayPlain(i+2, r.Lang)
	return r.End(i + 3)
}

// isOfSport reports whether the two numbers at token i may be a score: not 14-01-26 beside "out for delivery", and not
// 1/3 of the batter.
func isOfSport(v *text.View, i int) bool {
	if isHyphenedDate(v, i) || v.Reads(i+3, "of") {
		return false
	}
	return isSporting(v, i) || hasOvers(v, i+3)
}

// isHyphenedDate reports whether a date with hyphens begins at token i.
func isHyphenedDate(v *text.View, i int) bool {
	_, ok := text.NumericDate(v, i)
	return ok && len(v.Str(i)) == 2 && v.IsSign(i+1, '-')
}

// hasOvers reports whether overs in brackets begin at token i: 176/5 (20), 92/3 (11.4 ov).
func hasOvers(v *text.View, i int) bool {
	if !v.IsSign(i, '(') || v.Small(i+1, 2) < 0 || v.Small(i+1, 2) > 50 {
		return false
	}
	j := i + 2
	if v.NumberBehind(j, '.') && v.Small(j+1, 1) >= 0 {
		j += 2
	}
	if v.Reads(j, "ov", "overs", "Ov") {
		j++
	}
	return v.IsSign(j, ')')
}

// gameMinute reads the 67' of a goal.
func gameMinute(r *Reader, i int) (Reading, bool) {
	n := r.Small(i, 3)
	if n < 1 || n > 120 || r.Joined(i) {
		return Reading{}, false
	}
	if !r.TightSign(i+1, '\'') || !r.LooseEnd(i+2) || !isGame(&r.View, i) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanDuration)
	r.SayUnit(n, words.Units["min"])
	return r.End(i + 2)
}

// isGame reports whether a word of games stands near token i.
func isGame(v *text.View, i int) bool {
	for j := max(v.Start, i-8); j < min(v.Stop, i+8); j++ {
		if v.IsWord(j, words.Games) {
			return true
		}
	}
	return false
}

// ballsFaced reads the 52 of 78* (52), and of 78(52) beside words of sport, as the balls that the runs took.
func ballsFaced(r *Reader, i int) (Reading, bool) {
	if r.Small(i, 3) < 1 || !r.IsSign(i-1, '(') || !r.IsSign(i+1, ')') {
		return Reading{}, false
	}
	notOut := r.IsSign(i-2, '*') && r.At(i-3).Kind == text.Digits
	behindRuns := r.Tight(i-1) && r.At(i-2).Kind == text.Digits && !r.At(i-3).IsOneOf(text.Hyphens)
	out := behindRuns && (isFence(&r.View, i+2) || isSporting(&r.View, i)) // 64(41)
	if !notOut && !out {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanNumber)
	r.SayUnit(r.Small(i, 3), words.Units["~ball"])
	return r.End(i + 1)
}

// boundaries reads 6x4 4x6 and (98b, 8x4, 2x6): the fours and the sixes of a batsman, and the balls.
func boundaries(r *Reader, i int) (Reading, bool) {
	u, next := boundary(&r.View, i)
	if u == nil {
		return Reading{}, false
	}
	other := next
	if r.At(other).IsOneOf(",;") {
		other++
	}
	after, _ := boundary(&r.View, other)
	balls := r.Reads(i-1, "b") || r.At(i-1).IsOneOf(",;") && r.Reads(i-2, "b")
	before := r.At(i-1).IsOneOf(",;") && isFence(&r.View, i-4) || isFence(&r.View, i-3)
	if after == nil && !balls && !before {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanNumber)
	r.SayUnit(r.Small(i, 2), u)
	return r.End(next)
}

// boundary returns what the number at token i counts if it is written as 6x4, 4x6 or 98b.
func boundary(v *text.View, i int) (*words.Unit, int) {
	n := v.Small(i, 3)
	switch {
	case n < 0 || v.Joined(i):
		return nil, i
	case isFence(v, i) && v.Small(i+2, 1) == 4:
		return words.Units["~four"], i + 3
	case isFence(v, i):
		return words.Units["~six"], i + 3
	case v.Tight(i+1) && v.Reads(i+1, "b") && v.IsSign(i-1, '('):
		return words.Units["~ball"], i + 2
	}
	return nil, i
}

// isFence reports whether 8x4 or 2x6 begins at token i.
func isFence(v *text.View, i int) bool {
	if v.Small(i, 2) < 0 || !v.Tight(i+1) || !isTimes(v, i+1) {
		return false
	}
	if !v.Tight(i+2) || !v.LooseEnd(i+3) {
		return false
	}
	n := v.Small(i+2, 1)
	return n == 4 || n == 6
}

// goals reads the end of a game in a Hindi sentence: 3-2 से जीता is तीन दो.
func goals(r *Reader, i int) (Reading, bool) {
	if r.English {
		return Reading{}, false
	}
	a, b := r.Small(i, 2), r.Small(i+2, 2)
	won := r.Reads(i+3, "se", "से") && r.IsWord(i+4, words.Games) // 34-29 से जीता
	most := 20
	if won {
		most = 99
	}
	if a < 0 || b < 0 || a > most || b > most {
		return Reading{}, false
	}
	if r.Joined(i) || !r.NumberBehind(i+1, '-') || r.NumberBehind(i+3, '-') || !r.LooseEnd(i+3) {
		return Reading{}, false
	}
	if r.CountedAt(i+3) || r.IsWord(i+3, words.Oclock) {
		return Reading{}, false
	}
	if !r.Near(i, 3, words.Games) && !r.IsWord(i+3, words.Games) && !r.IsWord(i+4, words.Games) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanRatio)
	r.SayPlain(i, r.Lang)
	r.SayPlain(i+2, r.Lang)
	return r.End(i + 3)
}

// ageAndSex reads 45/M and 32/F, as clinics write whom they treat.
func ageAndSex(r *Reader, i int) (Reading, bool) {
	if age := r.Small(i, 3); age < 1 || age > 120 || r.Joined(i) || r.ZeroLed(i) {
		return Reading{}, false
	}
	sex := i + 2
	if !r.TightSign(i+1, '/') || !r.Tight(sex) || !r.LooseEnd(sex+1) {
		return Reading{}, false
	}
	if r.IsAnyWord(i-1, words.Place, words.Door, words.Coach, words.CodeWord, words.IdentifierWord) ||
		r.IsSign(i-1, '#') {
		return Reading{}, false // flat 12/F
	}
	w := words.WordMale
	switch r.Str(sex) {
	case "M":
	case "F":
		w = words.WordFemale
	default:
		return Reading{}, false
	}
	r.Begin(i, speech.SpanNumber)
	r.SayPlain(i, r.Lang)
	r.Pause()
	r.Say(r.Lang.Words[w])
	return r.End(sex + 1)
}

// figures reads overs, maidens, runs and wickets with hyphens between them.
func figures(r *Reader, i int) (Reading, bool) {
	parts := 1
	for j := i; r.NumberBehind(j+1, '-') && parts < 6; j += 2 {
		parts++
	}
	next := i + 2*parts - 1
	if parts < 3 || parts > 4 || !r.LooseEnd(next) {
		return Reading{}, false
	}
	for j := i; j < next; j += 2 {
		if len(r.Str(j)) > 3 {
			return Reading{}, false
		}
	}
	r.Begin(i, speech.SpanRatio)
	for j := i; j < next; j += 2 {
		r.SayPlain(j, r.Lang)
		if j+2 < next {
			r.Pause()
		}
	}
	return r.End(next)
}

// isSporting reports whether the sentence speaks of runs, wickets and their like near token i.
func isSporting(v *text.View, i int) bool {
	sports := false
	for j := max(v.Start, i-16); j < min(v.Stop, i+16); j++ {
		if v.In(j, words.Examined) {
			return false // scored 3/100 in maths
		}
		sports = sports || v.IsWord(j, words.Sport)
	}
	return sports
}

// relay reads 4x100m.
func relay(r *Reader, i int) (Reading, bool) {
	if !r.Tight(i+1) || !r.Reads(i+1, "x", "X") || !r.TightDigits(i+2) || r.Joined(i) {
		return Reading{}, false
	}
	a, ok := text.AmountAt(&r.View, i+2)
	if !ok || a.Unit == nil || !r.LooseEnd(a.Next) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanUnit)
	r.SayPlain(i, r.Lang)
	r.Say(r.Lang.Words[words.WordAcross])
	r.SayAmount(&a, r.Lang, false)
	return r.End(a.Next)
}

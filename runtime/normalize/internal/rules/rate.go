package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// bareRate reads the stroke of 1500/month and 96.72/L, where no currency says that a price stands before it.
func bareRate(r *Reader, i int) (Reading, bool) {
	if reading, ok := perMicro(r, i); ok {
		return reading, true
	}
	isBehind := r.Tight(i+1) || text.IsPeriodApart(&r.View, i)
	if !r.IsSign(i, '/') || !isBehind || !r.LooseEnd(i+2) {
		return Reading{}, false
	}
	if !r.Tight(i) && words.Rates[r.AtWord(i+1)] == "" {
		return Reading{}, false // 7,800 /cumm
	}
	if reading, ok := frequency(r, i); ok {
		return reading, true
	}
	j, counts := ratedNumber(&r.View, i)
	switch {
	case j < 0:
		return Reading{}, false
	case isMonthlyRate(&r.View, i, j):
		r.Begin(i, speech.SpanAmount)
		r.Say(r.Lang.Words[words.WordPerMonth])
		return r.End(i + 2)
	case !isRate(&r.View, i, j, counts):
		return Reading{}, false
	}
	r.Begin(i, speech.SpanAmount)
	r.SayRate(i+1, r.Lang)
	return r.End(i + 2)
}

// perMicro reads the stroke and the unit of 8,000/µL.
func perMicro(r *Reader, i int) (Reading, bool) {
	if !r.IsSign(i, '/') || !r.Tight(i+1) || r.At(i+1).Kind != text.Foreign {
		return Reading{}, false
	}
	u, next := text.UnitAt(&r.View, i+1)
	if u == nil {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanUnit)
	r.Say(r.Lang.Words[words.WordPer])
	r.Say(r.Lang.Measure(u).One)
	return r.End(next)
}

// ratedNumber returns the number in front of the stroke at token i, -1 for none. counts means that a word between them
// says what it counts: 8 units/day, 100 SMS/day.
func ratedNumber(v *text.View, i int) (number int, counts bool) {
	j := i - 1
	if v.At(j-1).Kind == text.Digits {
		sms := v.At(j).Kind == text.Latin && v.In(i+1, words.Period)
		sacks := v.At(j).Kind == text.Deva && v.At(i+1).Kind == text.Deva // 2 बोरी/बीघा
		counts = v.IsWord(j, words.Counted) || sms || sacks
	}
	if v.IsSign(j, '%') && v.In(i+1, words.Period) {
		j-- // 0.75%/month
	}
	if counts || v.Joined(j) && v.IsWord(j, words.ScaleWord) {
		j-- // 25k/month
	}
	if v.At(j).Kind != text.Digits {
		return -1, false
	}
	return j, counts
}

// isRate reports whether the word behind the stroke at token i is what the number at token j is for each of.
func isRate(v *text.View, i, j int, counts bool) bool {
	var buf [16]byte
	low, _ := words.Fold(buf[:0], v.AtWord(i+1))
	rated, scaled := words.Rates[string(low)] != "", j < i-1 && !counts
	switch {
	case rated && len(low) > 1:
		return true
	case counts:
		return rated
	case scaled && text.ListsOn(v, i+2):
		return false // EMI 21k/school fee 6k
	case scaled && len(low) >= 3 && v.At(i+1).InSmallLetters():
		return true // 8k/bed
	case v.Reads(i+1, "q") && len(v.Str(j)) >= 4:
		return true // 7450/q: a quintal of cotton
	case len(low) == 1 && !scaled && !v.TightSign(j-1, '.'):
		return false // 12/C is a house
	}
	return rated || words.Units[string(low)] != nil
}

// isMonthlyRate reports whether the m behind the stroke at token i is a month: pension 1500/m.
func isMonthlyRate(v *text.View, i, j int) bool {
	return v.Reads(i+1, "m") && j == i-1 && len(v.Str(j)) >= 3 && countsMoney(v, j)
}

// countsMoney reports whether a word of wages or dues stands in front of the number at token j.
func countsMoney(v *text.View, j int) bool {
	return v.IsNear(j, words.Monthly, 4) || v.Near(j, 3, words.AmountOf)
}

// frequency reads the stroke of once/wk and of trip/head.
func frequency(r *Reader, i int) (Reading, bool) {
	often := r.IsAnyWord(i-1, words.Frequency, words.Taxing) && r.In(i+1, words.Period)              // Rs 799+GST/mo
	heads := r.In(i+1, words.HeadWord) && r.At(i-1).Kind == text.Latin && !r.In(i-1, words.HeadWord) // trip/head
	dosed := r.IsSign(i-2, '/') && r.In(i+1, words.Period) && text.UnitText(&r.View, i-1, i) != nil  // mg/kg/day
	if !often && !heads && !dosed {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanSign)
	r.SayRate(i+1, r.Lang)
	return r.End(i + 2)
}

// unmistakableUnit returns the unit at token i whose capitals no word has, as those of kWh: Reading kWh 214.
func unmistakableUnit(v *text.View, i int) (*words.Unit, int) {
	s := v.Str(i)
	if len(s) != 3 || v.At(i).Cas != words.Mixed || s[0] < 'a' || v.At(i).Part.IsProgram() {
		return nil, i
	}
	u := text.UnitText(v, i, i+1)
	if u == nil || u.TightOnly || u.Rare || !v.LooseEnd(i+1) {
		return nil, i
	}
	return u, i + 1
}

package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// postalCode reads six digits behind a city, or behind a word and a hyphen, also as three and three.
func postalCode(r *Reader, i int) (Reading, bool) {
	n, next := len(r.Str(i)), sixDigits(&r.View, i)
	if next == i {
		return Reading{}, false
	}
	if !r.LooseEnd(next) || r.CountedAt(next) || r.TightSign(next, '.') && r.At(next+1).Kind == text.Digits {
		return Reading{}, false
	}
	hyphen := r.IsSign(i-1, '-') || r.IsSign(i-1, text.EnDash)
	before := i - 1
	if hyphen || r.IsSign(i-1, ',') {
		before--
	}
	before = frontOfBracket(&r.View, before, hyphen)
	t := r.At(before)
	// of a place that we need not know: Rampur-244901
	name := t.Kind == text.Deva || t.Kind == text.Latin && t.Cas == words.Title
	byPlace := (hyphen || before < i-3) && name || isAddressEnd(&r.View, i)
	if !t.Word.Is(words.City) && !(n == 6 && byPlace) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanPincode)
	for j := i; j < next; j++ {
		r.Digits(r.Str(j), r.DigitLang())
	}
	return r.End(next)
}

// sixDigits returns the token behind the six digits that begin with token i, in one or as three and three; i for none,
// and for a zero in front.
func sixDigits(v *text.View, i int) int {
	switch n := len(v.Str(i)); {
	case v.Text[v.Toks[i].A] == '0':
		return i
	case n == 6:
		return i + 1
	case n == 3 && len(v.AtDigits(i+1)) == 3:
		return i + 2
	}
	return i
}

// frontOfBracket returns the token before the brackets that end with token j, if they stand in an address: Thane (W)
// 400601, सीहोर (म.प्र.) ४६६००१ and, with a hyphen behind them, SAS Nagar (Mohali)-140301. Else j.
func frontOfBracket(v *text.View, j int, hyphen bool) int {
	if !v.IsSign(j, ')') {
		return j
	}
	for k := j - 1; k > j-6 && k >= v.Start; k-- {
		if v.IsSign(k, '(') {
			dotted := v.IsSign(k+2, '.')
			letter := k == j-2 && v.Single(k+1)
			// Mainpuri(UP)205264
			state := k == j-2 && v.At(k+1).Cas == words.Upper && words.LookUpWritten(v.Str(k+1)).Is(words.State)
			if letter || hyphen || dotted || state {
				return k - 1
			}
			return j
		}
	}
	return j
}

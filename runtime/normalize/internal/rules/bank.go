package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// What banks, cards and telephone firms write in a way of their own.

// isMovedVerb reports whether the cr, dr or db at token i is the verb of an account: has been cr. with Rs 450, a/c XX41
// db by Rs 450.
func isMovedVerb(v *text.View, i, next int) bool {
	if !v.Reads(next, "for", "by", "with") {
		return false
	}
	money := text.CurrencyCode(v, next+1) > 0 || v.At(next+1).IsCurrency()
	return v.Reads(i-1, "is", "been") || money && v.At(i-1).Kind == text.Digits && !text.IsMoneyBehind(v, i-1)
}

// isFormNumber reports whether the no at token i numbers the name before it, with four figures at next: Req no 4417.
func isFormNumber(v *text.View, i, next int) bool {
	name := v.At(i - 1)
	named := name.Kind == text.Latin && name.Cas != words.Lower && i-1 > v.Start
	return named && len(v.AtDigits(next)) == 4 && !v.CountedAt(next+1)
}

// isBillOfYear reports whether the number at token i is that of a bill, and a financial year follows its stroke:
// 4417/26-27.
func isBillOfYear(v *text.View, i int) bool {
	if !v.NumberBehind(i+1, '/') || !v.NumberBehind(i+3, '-') || !v.LooseEnd(i+5) {
		return false
	}
	from, to := v.Small(i+2, 2), v.Small(i+4, 2)
	return len(v.Str(i)) >= 3 && from > 12 && to == from+1
}

// isGluedDay reports whether the number at token i begins a day that no space parts from its preposition: on24Nov26.
func isGluedDay(v *text.View, i int) bool {
	m, _ := text.MonthAt(v, i+1)
	_, numeric := text.NumericDate(v, i)
	return v.Reads(i-1, "on", "dt", "from", "till") && v.Tight(i) && (m > 0 || numeric)
}

// isNarrated reports whether tokens i to end are names with capitals in front of an address in small letters, between
// hyphens as statements print them: UPI-RAVI KUMAR-ravi.k@okaxis.
func isNarrated(v *text.View, i, end int) bool {
	if v.At(i).Kind != text.Latin || v.At(i).Cas == words.Lower {
		return false
	}
	for j := end - 1; j > i; j-- {
		if v.IsSign(j, '-') && v.At(j-1).Cas != words.Lower {
			return v.At(j+1).Cas == words.Lower
		}
	}
	return false
}

// isPriceBehind reports whether money stands behind the @ at token j, which is no address then: 1GB@Rs19.
func isPriceBehind(v *text.View, j int) bool {
	return text.CurrencyCode(v, j+1) > 0 && (v.TightDigits(j+2) || v.NumberBehind(j+2, '.'))
}

// endsHandle reports whether the sign at token k ends a UPI address behind which no space was typed: k@okbank.Ref No,
// k@okaxis-704417.
func endsHandle(v *text.View, k int) bool {
	next := v.At(k + 1)
	if v.At(k-1).Kind != text.Latin || v.At(k-1).Cas != words.Lower || !v.Tight(k+1) {
		return false
	}
	capital := next.Kind == text.Latin && next.Cas != words.Lower && !words.LookUpWritten(v.Str(k+1)).Is(words.TopLevel)
	switch {
	case v.IsSign(k, '.'):
		return capital
	case v.IsSign(k, '-'):
		return capital || next.Kind == text.Digits && len(v.Str(k+1)) >= 6
	}
	return false
}

// isNumberedPart reports whether two numbers with a hyphen begin at token i, the second of them smaller, which is no
// range: #7740-2.
func isNumberedPart(v *text.View, i int) bool {
	if !v.NumberBehind(i+1, '-') || !v.LooseEnd(i+3) || len(v.Str(i)) < 3 {
		return false
	}
	second := v.Small(i+2, 3)
	return 0 <= second && second < v.Small(i, 6)
}

// hexName returns the end of a name in front of @ that no person chose, as of a mandate: 3f9a77c1d2e04b58. i for any
// other.
func hexName(v *text.View, i int) int {
	j, turns := i, 0
	for ; v.At(j).Kind.WordLike() && (j == i || v.Tight(j)) && j-i < text.Lookahead; j++ {
		turns++
	}
	if n := int(v.At(j-1).B - v.At(i).A); turns < 5 || n < 10 || n > 40 || !v.TightSign(j, '@') {
		return i
	}
	return j
}

// byFours says letters and digits one by one, with a pause after every fourth.
func byFours(r *Reader, s string) {
	for i := range len(s) {
		if i > 0 && i%4 == 0 {
			r.Pause()
		}
		if '0' <= s[i] && s[i] <= '9' {
			r.Digits(s[i:i+1], r.DigitLang())
		} else {
			r.Letters(s[i:i+1], r.Lang)
		}
	}
}

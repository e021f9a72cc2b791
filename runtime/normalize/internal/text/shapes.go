package text

import (
	"strings"

	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// Singles returns the end of the row of single digits that begins at token i: 1 2 3 4.
func Singles(v *View, i int) int {
	j := i
	for v.At(j).Kind == Digits && len(v.Str(j)) == 1 && j-i < 2*MaxParts {
		j++
	}
	decimal := v.TightSign(j, '.') && v.Tight(j+1)
	if !v.LooseEnd(j) || v.CountedAt(j) || decimal || v.TightSign(j, ':') {
		return i
	}
	return j
}

// isPointedTrain reports whether the number of a train with a point behind each digit ends with token i: 1.2.4.0.1.
func isPointedTrain(v *View, i int) bool {
	for k := i; k > i-10; k -= 2 {
		if len(v.AtDigits(k)) != 1 || k > i-8 && !v.IsSign(k-1, '.') {
			return false
		}
	}
	return true
}

// HasStroke reports whether token j is a number, and a stroke and another number follow closely.
func HasStroke(v *View, j int) bool {
	if v.At(j).Kind != Digits || !v.NumberBehind(j+1, '/') {
		return false
	}
	return IsSayable(v, j) && IsSayable(v, j+2)
}

// IsSayable reports whether the digits token j can be said as a number: one of up to sixteen digits, or a round one of
// up to eighteen.
func IsSayable(v *View, j int) bool {
	n := len(v.Str(j))
	return n <= maxSize || IsRound(v, j)
}

// IsRound reports whether at least half of twelve to eighteen digits are zeros at the end, as in no code.
func IsRound(v *View, j int) bool {
	s := v.Str(j)
	zeros := len(s) - len(strings.TrimRight(s, "0"))
	return 12 <= len(s) && len(s) <= 18 && 2*zeros >= len(s) && s[0] != '0'
}

// RomanEndings are the endings of 19vi and 5va, which Hindi has from five on.
var RomanEndings = map[string]string{
	"vi": "वीं", "vin": "वीं", "wi": "वीं", "win": "वीं", "va": "वाँ", "van": "वाँ", "wa": "वाँ", "wan": "वाँ", "ve": "वें", "ven": "वें", "we": "वें", "wen": "वें",
}

// EnglishEnding reports whether s is st, nd, rd or th.
func EnglishEnding(s string) bool {
	if len(s) != 2 {
		return false
	}
	switch [2]byte{s[0] | 0x20, s[1] | 0x20} {
	case [2]byte{'s', 't'}, [2]byte{'n', 'd'}, [2]byte{'r', 'd'}, [2]byte{'t', 'h'}:
		return true
	}
	return false
}

// MaxParts is how many groups of digits a telephone or card number is written in.
const MaxParts = 5

// Cross reports whether token i is an x that stands apart between two factors.
func Cross(v *View, i int) bool {
	return v.Reads(i, "x", "X") && !v.Tight(i) && !v.Tight(i+1) && Factors(v, i)
}

// Factors reports whether token i stands between a number, with or without its unit, and a number or an amount of
// money.
func Factors(v *View, i int) bool {
	if v.At(i-1).Kind != Digits && v.At(i-2).Kind != Digits {
		return false
	}
	if cur, next := CurrencyBefore(v, i+1); cur > 0 {
		return v.At(next).Kind == Digits
	}
	return v.At(i+1).Kind == Digits
}

// IsDotOfName reports whether the dot at token i is the first character of a name: .NET, .pdf files.
func IsDotOfName(v *View, i int) bool {
	next := v.At(i + 1)
	if !v.IsSign(i, '.') || !v.Tight(i+1) {
		return false
	}
	if v.At(i).Part.IsProgram() {
		return next.Kind == Latin // nginx.conf, ~/.bashrc
	}
	if words.LookUpWritten(v.Str(i+1)).Is(words.DotFile) && !v.Tight(i) {
		return true // ~/.bashrc
	}
	if v.Tight(i) {
		return v.At(i-1).Kind == Deva && v.Reads(i+1, "भारत") // जनसेवा.भारत
	}
	return next.Kind == Latin && next.B-next.A > 2 &&
		(next.Cas == words.Upper || words.LookUpWritten(v.Str(i+1)).Is(words.TopLevel))
}

// WeekdayAt is the number of the day that token i names, 0 for none. In small letters sun, sat and wed are other words.
func WeekdayAt(v *View, i int) int {
	t := v.At(i)
	if !t.Word.Is(words.Weekday) || t.Cas == words.Lower && v.Reads(i, "sun", "sat", "wed") {
		return 0
	}
	return t.Word.N
}

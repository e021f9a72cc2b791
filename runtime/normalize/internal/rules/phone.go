package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
	"github.com/swar-tts/swar/runtime/speech"
)

// maskedAbroad reads +91-98XXXXXX12, +91-98231-XXXX7 and +91 XXXXX X4321 from the plus at token i.
func maskedAbroad(r *Reader, i int) (Reading, bool) {
	code := r.Str(i + 1)
	from := i + 2
	if r.TightSign(from, '-') {
		from++
	}
	hidden := from
	if r.At(from).Kind == text.Digits {
		hidden = behindHyphen(&r.View, from+1)
	}
	next, wide := text.MaskAt(&r.View, hidden)
	if len(code) > 3 || wide < 3 || r.At(hidden).IsOneOf(text.Dots) {
		return Reading{}, false
	}
	if tail := behindHyphen(&r.View, next); r.At(tail).Kind != text.Digits || len(r.Str(tail)) < 2 && wide < 4 {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanMasked)
	sayCountry(r, i, code, false, -1)
	return r.End(sayMasked(r, from))
}

// phone reads a telephone number without a country code.
func phone(r *Reader, i int) (Reading, bool) {
	t := r.At(i)
	if c := r.Text[t.A]; c < '6' && c > '1' || r.Joined(i) {
		return Reading{}, false // most numbers begin with 2 to 5, and no telephone number does
	}
	var at [text.MaxParts]int
	var size [text.MaxParts]int
	n := digitParts(&r.View, i, &at)
	for k := range n {
		size[k] = len(r.Str(at[k]))
	}
	for ; n > 0; n-- {
		next := at[n-1] + 1
		if !r.LooseEnd(next) || r.TightSign(next, '@') || r.NumberBehind(next, '-') {
			continue
		}
		shape := shapeOfPhone(&r.View, i, size[:n])
		if shape == 0 || r.TightSign(next, '*') {
			continue
		}
		r.Begin(i, speech.SpanPhone)
		sayPhone(r, shape, at[:n])
		for r.NumberBehind(next, '/') && r.LooseEnd(next+2) && len(r.Str(next+1)) <= 3 {
			r.Say(r.Lang.Words[words.WordOr]) // 8896012300/01
			r.Digits(r.Str(next+1), r.DigitLang())
			next += 2
		}
		return r.End(next)
	}
	return Reading{}, false
}

// phoneShape is how a telephone number is read.
type phoneShape uint8

const (
	mobile   phoneShape = iota + 1 // five and five
	zeroed                         // a zero, then a mobile number
	prefixed                       // 91, then a mobile number
	tollFree                       // 1800, then as written
	landline                       // area code, then as written or by fours
)

// shapeOfPhone recognises a telephone number by the sizes of its groups and its first digits: 5+5 → a mobile number.
func shapeOfPhone(v *text.View, i int, size []int) phoneShape {
	s := v.Text[v.Toks[i].A:]
	total := 0
	for _, n := range size {
		total += n
	}
	if shape := mobileShape(v, i, size, total); shape > 0 {
		return shape
	}
	switch {
	case total == 8 && len(size) == 1 && isTollFree(v, i) && isOneOfPhones(v, i):
		return tollFree
	case total != 10 && total != 11:
		return 0
	case size[0] >= 4 && isTollFree(v, i):
		return tollFree
	case s[0] == '0' && s[1] != '0' && areaFirst(size, total):
		return landline
	}
	return 0
}

// mobileShape is [shapeOfPhone] for so many digits of a mobile number.
func mobileShape(v *text.View, i int, size []int, total int) phoneShape {
	s := v.Text[v.Toks[i].A:]
	switch {
	case total == 10 && s[0] >= '6' && usual(size):
		return mobile
	case total == 11 && s[0] == '0' && mobileBehindZero(v, i, size):
		return zeroed
	case total == 12 && size[0] == 2 && s[:2] == "91" && mobileBehind(v, i, size):
		return prefixed
	}
	return 0
}

// isTollFree reports whether the digits at token i begin as numbers do whose calls a firm pays.
func isTollFree(v *text.View, i int) bool {
	s := v.Str(i)
	return len(s) >= 4 && (s[:4] == "1800" || s[:4] == "1860" || s[:4] == "1900")
}

// isOneOfPhones reports whether the eight digits at token i are one of two helplines with a stroke between them:
// 18001331/18002442.
func isOneOfPhones(v *text.View, i int) bool {
	if v.NumberBehind(i+1, '/') && isTollFree(v, i+2) {
		return true
	}
	return v.TightSign(i-1, '/') && v.At(i-2).Kind == text.Digits && isTollFree(v, i-2)
}

// mobileBehindZero reports whether a mobile number follows the zero at token i, in one with it or apart.
func mobileBehindZero(v *text.View, i int, size []int) bool {
	if size[0] == 11 {
		return v.Text[v.Toks[i].A+1] >= '6'
	}
	return size[0] == 1 && mobileBehind(v, i, size)
}

// mobileBehind reports whether a mobile number follows the group of digits at token i, the first of the given sizes.
func mobileBehind(v *text.View, i int, size []int) bool {
	return firstDigit(v, i+1) >= '6' && usual(size[1:])
}

// areaFirst reports whether so many digits are grouped as people write landlines: the area code apart, or all in one.
func areaFirst(size []int, total int) bool {
	if len(size) == 1 {
		return total == 11
	}
	return size[0] >= 3 && size[0] <= 5 && size[1] >= 3
}

// firstDigit is the first digit at token i or behind its hyphen.
func firstDigit(v *text.View, i int) byte {
	if v.At(i).Kind == text.Sign {
		i++
	}
	if v.At(i).Kind != text.Digits {
		return 0
	}
	return v.Text[v.Toks[i].A]
}

// usual reports whether ten digits are grouped as people write mobile numbers.
func usual(size []int) bool {
	switch len(size) {
	case 1:
		return true
	case 2:
		return size[0] >= 3 && size[1] >= 3
	case 3:
		return size[0] >= 2 && size[1] >= 2 && size[2] >= 2
	case 4, 5:
		for _, n := range size {
			if n < 2 {
				return false
			}
		}
		return true
	}
	return false
}

// sayPhone says the groups of digits at the tokens at.
func sayPhone(r *Reader, shape phoneShape, at []int) {
	var buf [16]byte
	b := buf[:0]
	for _, i := range at {
		b = append(b, r.Str(i)...)
	}
	l := r.DigitLang()
	switch shape {
	case mobile:
		r.Cut(b, 5)
	case zeroed:
		r.Cut(b, 1, 6)
	case prefixed:
		r.Cut(b, 2, 7)
	case tollFree:
		switch {
		case len(b) == 8:
			r.Cut(b, 4)
		case len(at) == 1:
			r.Cut(b, 4, 7)
		default:
			r.SayParts(at)
		}
	case landline:
		if len(at) == 1 {
			r.Cut(b, 3, 7)
			return
		}
		r.Digits(r.Str(at[0]), l)
		r.Pause()
		r.SayParts(at[1:])
	}
}

// phoneSign reads a number with its country code, +91 98765 43210 or (+91) 98765 43210, and one with a bracketed area,
// (022) 6789 1234.
func phoneSign(r *Reader, i int) (Reading, bool) {
	switch {
	case r.IsSign(i, '+') && r.At(i+1).Kind == text.Digits && r.Tight(i+1):
		if reading, ok := maskedAbroad(r, i); ok {
			return reading, true
		}
		return international(r, i, i+1, false)
	case r.IsSign(i, '(') && r.IsSign(i+1, '+') && r.At(i+2).Kind == text.Digits && r.IsSign(i+3, ')'):
		return international(r, i, i+2, true)
	case isArea(&r.View, i) && (r.ZeroLed(i+1) || isTrunkZero(&r.View, i-1)):
		return area(r, i)
	}
	return Reading{}, false
}

// international reads a number whose country code is at token first.
func international(r *Reader, i, first int, bracket bool) (Reading, bool) {
	code := r.Str(first)
	country := countryCode(code)
	from := first + 1
	if bracket {
		from++
	}
	if r.IsSign(from, '-') && r.Tight(from) {
		from++
	}
	bracketed := -1
	if !bracket && isArea(&r.View, from) {
		bracketed = from + 1 // +91 (22) 6789 1234
		from += 3
	}
	var at [text.MaxParts]int
	n := 0
	if len(code) == country {
		n = digitParts(&r.View, from, &at)
	}
	total := len(code) - country
	if bracketed > 0 {
		total += len(r.Str(bracketed))
	}
	k := 0
	for k < n && total+len(r.Str(at[k])) <= 12 && total < 10 {
		total += len(r.Str(at[k]))
		k++
	}
	if total < 7 || total > 12 || bracket && len(code) != country {
		return Reading{}, false
	}
	next := first + 1
	if k > 0 {
		next = at[k-1] + 1
	}
	if !r.LooseEnd(next) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanPhone)
	sayCountry(r, i, code[:country], bracket, bracketed)
	indian := code[:country] == "91" && total == 10
	sayAbroad(r, code[country:], at[:k], indian, bracketed > 0)
	if isExtension(&r.View, next) {
		r.Pause()
		r.Digits(r.Str(next), r.DigitLang())
		next++
	}
	return r.End(next)
}

// sayAbroad says what stands behind the code of a country: rest if it goes on the code, or the groups of digits at the
// tokens at.
func sayAbroad(r *Reader, rest string, at []int, indian, bracketed bool) {
	switch {
	case rest != "" && indian:
		r.Cut([]byte(rest), 5)
	case rest != "":
		r.Grouped(rest)
	case indian && !bracketed && firstDigit(&r.View, at[0]) >= '6':
		sayPhone(r, mobile, at)
	default:
		r.SayParts(at)
	}
}

// isExtension reports whether the number at token i, behind one with its country, goes on with it: +91 98765 43210 123.
func isExtension(v *text.View, i int) bool {
	n := len(v.Str(i))
	if v.At(i).Kind != text.Digits || n < 3 || n > 4 || !v.LooseEnd(i+1) {
		return false
	}
	next := v.At(i + 1)
	return next.Kind == text.Nothing || next.IsOneOf(".,;)?!"+string(rune(text.Danda)))
}

// isArea reports whether a number in brackets begins at token i.
func isArea(v *text.View, i int) bool {
	return v.IsSign(i, '(') && v.At(i+1).Kind == text.Digits && v.IsSign(i+2, ')')
}

// sayCountry says the code of a country, in brackets if it was written so, and the area at token bracketed, -1 for
// none.
func sayCountry(r *Reader, i int, code string, bracket bool, bracketed int) {
	l := r.DigitLang()
	if bracket {
		r.Open(i)
	}
	r.Say(l.Words[words.WordPlus])
	r.Digits(code, l)
	switch {
	case bracket:
		r.Close(')')
	case bracketed > 0:
		r.Open(bracketed - 1)
		r.Digits(r.Str(bracketed), l)
		r.Close(')')
	default:
		r.Pause()
	}
}

// countryCode is the length of the country code that s begins with: all of a short s, else that of the well-known
// codes.
func countryCode(s string) int {
	if len(s) <= 3 {
		return len(s)
	}
	switch s[0] {
	case '1', '7':
		return 1
	}
	switch s[:2] {
	case "97", "88", "96", "85", "35", "37", "38", "42", "21", "22", "23", "24", "25", "26", "29", "50", "59", "67",
		"68", "69", "99":
		return 3
	}
	return 2
}

// isTrunkZero reports whether token i is the zero that is dialled before an area: 0 (80) 2641 1128.
func isTrunkZero(v *text.View, i int) bool { return v.At(i).Kind == text.Digits && v.Str(i) == "0" }

// area reads (022) 6789 1234.
func area(r *Reader, i int) (Reading, bool) {
	std := len(r.Str(i + 1))
	var at [text.MaxParts]int
	n := digitParts(&r.View, i+3, &at)
	total := std
	k := 0
	for k < n && total < 10 {
		total += len(r.Str(at[k]))
		k++
	}
	if trunk := isTrunkZero(&r.View, i-1); trunk && std == 2 {
		std, total = 3, total+1
	}
	if std < 3 || std > 5 || k == 0 {
		return Reading{}, false
	}
	if total < 10 || total > 11 || !r.LooseEnd(at[k-1]+1) {
		return Reading{}, false
	}
	r.Begin(i, speech.SpanPhone)
	r.Open(i)
	r.Digits(r.Str(i+1), r.DigitLang())
	r.Close(')')
	r.SayParts(at[:k])
	return r.End(at[k-1] + 1)
}

// isKey reports whether the sign at i is a key of a telephone: a lone # or * where keys are pressed, maybe in quotes.
func isKey(v *text.View, i int) bool {
	t, next := v.At(i), v.At(i+1)
	ends := next.Gap || next.Kind == text.Nothing || next.Kind == text.Sign && next.Ch != t.Ch
	quoted := isQuote(v.At(i-1)) && isQuote(next) && !isKeyName(v, i-2)
	lone := (t.Gap || quoted) && ends
	if t.Ch != '#' && t.Ch != '*' || !lone {
		return false
	}
	for j := max(v.Start, i-8); j <= i+3; j++ {
		if v.IsWord(j, words.Pressed) {
			return true
		}
	}
	return false
}

// isKeyName reports whether the words that end with token i name a key already: the hash key "#".
func isKeyName(v *text.View, i int) bool {
	if v.Reads(i, "key") {
		i--
	}
	return v.Reads(i, "hash", "star", "pound", "हैश", "स्टार")
}

// isQuote reports whether t is a mark of quotation.
func isQuote(t *text.Token) bool { return t.IsOneOf("'\"") }

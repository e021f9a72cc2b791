package normalize

import "github.com/swar-tts/swar/runtime/speech"

// maxParts is how many groups of digits a telephone or card number is written in.
const maxParts = 5

// digitParts collects the groups of digits that begin at token i and are parted by one space or one hyphen. It returns how many
// there are; group k stands at token at[k].
func (r *reader) digitParts(i int, at *[maxParts]int) int {
	n := 0
	for n < maxParts && r.at(i).kind == digits {
		at[n] = i
		n++
		i++
		switch {
		case r.at(i).kind == digits: // parted by a space
		case r.isSign(i, '-') && r.tight(i) && r.tight(i+1), r.isSign(i, enDash) && r.tight(i) && r.tight(i+1):
			i++
		default:
			return n
		}
	}
	return n
}

// phone reads a telephone number without a country code.
func (r *reader) phone(i int) int {
	t := r.at(i)
	if c := r.text[t.a]; c < '6' && c > '1' || r.joined(i) {
		return i // most numbers begin with 2 to 5, and no telephone number does
	}
	var at [maxParts]int
	var size [maxParts]int
	n := r.digitParts(i, &at)
	for k := range n {
		size[k] = len(r.str(at[k]))
	}
	for ; n > 0; n-- {
		next := at[n-1] + 1
		if !r.looseEnd(next) || r.tightSign(next, '@') || r.numberBehind(next, '-') {
			continue
		}
		shape := r.phoneShape(i, size[:n])
		if shape == 0 || r.tightSign(next, '*') {
			continue
		}
		r.begin(i, speech.SpanPhone)
		r.sayPhone(shape, at[:n])
		for r.numberBehind(next, '/') && r.looseEnd(next+2) && len(r.str(next+1)) <= 3 {
			r.say(r.lang.words[wordOr]) // 8896012300/01
			r.digits(r.str(next+1), r.digitLang())
			next += 2
		}
		return r.end(next)
	}
	return i
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

// phoneShape tells a telephone number by the sizes of its groups and its first digits.
func (r *reader) phoneShape(i int, size []int) phoneShape {
	s := r.text[r.toks[i].a:]
	total := 0
	for _, n := range size {
		total += n
	}
	switch {
	case total == 10 && s[0] >= '6' && usual(size):
		return mobile
	case total == 11 && s[0] == '0' && r.mobileBehindZero(i, size):
		return zeroed
	case total == 12 && size[0] == 2 && s[:2] == "91" && r.mobileBehind(i, size):
		return prefixed
	case total == 8 && len(size) == 1 && r.isTollFree(i) && r.isOneOfPhones(i):
		return tollFree
	case total != 10 && total != 11:
		return 0
	case size[0] >= 4 && r.isTollFree(i):
		return tollFree
	case s[0] == '0' && s[1] != '0' && areaFirst(size, total):
		return landline
	}
	return 0
}

// isTollFree reports whether the digits at token i begin as numbers do whose calls a firm pays.
func (r *reader) isTollFree(i int) bool {
	s := r.str(i)
	return len(s) >= 4 && (s[:4] == "1800" || s[:4] == "1860" || s[:4] == "1900")
}

// isOneOfPhones reports whether the eight digits at token i are one of two helplines with a stroke between them: 18001331/18002442.
func (r *reader) isOneOfPhones(i int) bool {
	if r.numberBehind(i+1, '/') && r.isTollFree(i+2) {
		return true
	}
	return r.tightSign(i-1, '/') && r.at(i-2).kind == digits && r.isTollFree(i-2)
}

// mobileBehindZero reports whether a mobile number follows the zero at token i, in one with it or apart.
func (r *reader) mobileBehindZero(i int, size []int) bool {
	if size[0] == 11 {
		return r.text[r.toks[i].a+1] >= '6'
	}
	return size[0] == 1 && r.mobileBehind(i, size)
}

// mobileBehind reports whether a mobile number follows the group of digits at token i, the first of the given sizes.
func (r *reader) mobileBehind(i int, size []int) bool {
	return r.firstDigit(i+1) >= '6' && usual(size[1:])
}

// areaFirst reports whether so many digits are grouped as people write landlines: the area code apart, or all in one.
func areaFirst(size []int, total int) bool {
	if len(size) == 1 {
		return total == 11
	}
	return size[0] >= 3 && size[0] <= 5 && size[1] >= 3
}

// firstDigit is the first digit at token i or behind its hyphen.
func (r *reader) firstDigit(i int) byte {
	if r.at(i).kind == sign {
		i++
	}
	if r.at(i).kind != digits {
		return 0
	}
	return r.text[r.toks[i].a]
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
func (r *reader) sayPhone(shape phoneShape, at []int) {
	var buf [16]byte
	b := buf[:0]
	for _, i := range at {
		b = append(b, r.str(i)...)
	}
	l := r.digitLang()
	switch shape {
	case mobile:
		r.cut(b, 5)
	case zeroed:
		r.cut(b, 1, 6)
	case prefixed:
		r.cut(b, 2, 7)
	case tollFree:
		switch {
		case len(b) == 8:
			r.cut(b, 4)
		case len(at) == 1:
			r.cut(b, 4, 7)
		default:
			r.sayParts(at)
		}
	case landline:
		if len(at) == 1 {
			r.cut(b, 3, 7)
			return
		}
		r.digits(r.str(at[0]), l)
		r.pause()
		r.sayParts(at[1:])
	}
}

// cut says digits with pauses at the given places.
func (r *reader) cut(b []byte, places ...int) {
	from := 0
	for _, p := range places {
		r.digitBytes(b[from:p])
		r.pause()
		from = p
	}
	r.digitBytes(b[from:])
}

func (r *reader) digitBytes(b []byte) {
	l := r.digitLang()
	for _, c := range b {
		r.say(l.below100[c-'0'])
	}
}

// sayParts says groups of digits as they are written, long ones by four.
func (r *reader) sayParts(at []int) {
	for k, i := range at {
		if k > 0 {
			r.pause()
		}
		r.grouped(r.str(i))
	}
}

// phoneSign reads a number with its country code, +91 98765 43210 or (+91) 98765 43210, and one with a bracketed area, (022) 6789 1234.
func (r *reader) phoneSign(i int) int {
	switch {
	case r.isSign(i, '+') && r.at(i+1).kind == digits && r.tight(i+1):
		if next := r.maskedAbroad(i); next > i {
			return next
		}
		return r.international(i, i+1, false)
	case r.isSign(i, '(') && r.isSign(i+1, '+') && r.at(i+2).kind == digits && r.isSign(i+3, ')'):
		return r.international(i, i+2, true)
	case r.isArea(i) && (r.zeroLed(i+1) || r.isTrunkZero(i-1)):
		return r.area(i)
	}
	return i
}

// international reads a number whose country code is at token first.
func (r *reader) international(i, first int, bracket bool) int {
	code := r.str(first)
	country := countryCode(code)
	from := first + 1
	if bracket {
		from++
	}
	if r.isSign(from, '-') && r.tight(from) {
		from++
	}
	bracketed := -1
	if !bracket && r.isArea(from) {
		bracketed = from + 1 // +91 (22) 6789 1234
		from += 3
	}
	var at [maxParts]int
	n := 0
	if len(code) == country {
		n = r.digitParts(from, &at)
	}
	total := len(code) - country
	if bracketed > 0 {
		total += len(r.str(bracketed))
	}
	k := 0
	for k < n && total+len(r.str(at[k])) <= 12 && total < 10 {
		total += len(r.str(at[k]))
		k++
	}
	if total < 7 || total > 12 || bracket && len(code) != country {
		return i
	}
	next := first + 1
	if k > 0 {
		next = at[k-1] + 1
	}
	if !r.looseEnd(next) {
		return i
	}
	r.begin(i, speech.SpanPhone)
	r.sayCountry(i, code[:country], bracket, bracketed)
	indian := code[:country] == "91" && total == 10
	switch {
	case len(code) > country && indian:
		r.cut([]byte(code[country:]), 5)
	case len(code) > country:
		r.grouped(code[country:])
	case indian && bracketed < 0 && r.firstDigit(at[0]) >= '6':
		r.sayPhone(mobile, at[:k])
	default:
		r.sayParts(at[:k])
	}
	if r.isExtension(next) {
		r.pause()
		r.digits(r.str(next), r.digitLang())
		next++
	}
	return r.end(next)
}

// isExtension reports whether the number at token i, behind one with its country, goes on with it: +91 98765 43210 123.
func (r *reader) isExtension(i int) bool {
	n := len(r.str(i))
	if r.at(i).kind != digits || n < 3 || n > 4 || !r.looseEnd(i+1) {
		return false
	}
	next := r.at(i + 1)
	return next.kind == nothing || next.isOneOf(".,;)?!"+string(rune(danda)))
}

// isArea reports whether a number in brackets begins at token i.
func (r *reader) isArea(i int) bool {
	return r.isSign(i, '(') && r.at(i+1).kind == digits && r.isSign(i+2, ')')
}

// sayCountry says the code of a country, in brackets if it was written so, and the area at token bracketed, -1 for none.
func (r *reader) sayCountry(i int, code string, bracket bool, bracketed int) {
	l := r.digitLang()
	if bracket {
		r.open(i)
	}
	r.say(l.words[wordPlus])
	r.digits(code, l)
	switch {
	case bracket:
		r.close(')')
	case bracketed > 0:
		r.open(bracketed - 1)
		r.digits(r.str(bracketed), l)
		r.close(')')
	default:
		r.pause()
	}
}

// countryCode is the length of the country code that s begins with: all of a short s, else that of the well-known codes.
func countryCode(s string) int {
	if len(s) <= 3 {
		return len(s)
	}
	switch s[0] {
	case '1', '7':
		return 1
	}
	switch s[:2] {
	case "97", "88", "96", "85", "35", "37", "38", "42", "21", "22", "23", "24", "25", "26", "29", "50", "59", "67", "68", "69", "99":
		return 3
	}
	return 2
}

// isTrunkZero reports whether token i is the zero that is dialled before an area: 0 (80) 2641 1128.
func (r *reader) isTrunkZero(i int) bool { return r.at(i).kind == digits && r.str(i) == "0" }

// area reads (022) 6789 1234.
func (r *reader) area(i int) int {
	std := len(r.str(i + 1))
	var at [maxParts]int
	n := r.digitParts(i+3, &at)
	total := std
	k := 0
	for k < n && total < 10 {
		total += len(r.str(at[k]))
		k++
	}
	if trunk := r.isTrunkZero(i - 1); trunk && std == 2 {
		std, total = 3, total+1
	}
	if std < 3 || std > 5 || k == 0 {
		return i
	}
	if total < 10 || total > 11 || !r.looseEnd(at[k-1]+1) {
		return i
	}
	r.begin(i, speech.SpanPhone)
	r.open(i)
	r.digits(r.str(i+1), r.digitLang())
	r.close(')')
	r.sayParts(at[:k])
	return r.end(at[k-1] + 1)
}

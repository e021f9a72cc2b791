package normalize

import (
	"strings"

	"github.com/swar-tts/swar/runtime/speech"
)

// fraction reads 1/2, 2 1/2, 12/3 and 1/2/3, and versions: 2.0.1.
func (r *reader) fraction(i int) int {
	if next := r.pointedCode(i); next > i {
		return next
	}
	if next := r.version(i); next > i {
		return next
	}
	if next := r.mixedFraction(i); next > i {
		return next
	}
	if !r.stroke(i) {
		return i
	}
	l := r.quantityLang(i)
	if next := r.partOf(i); next > i {
		return next
	}
	if next := r.fewOf(i); next > i {
		return next
	}
	if next := r.partsOf(i, l); next > i {
		return next
	}
	if f, next := r.simpleFraction(i); f > 0 && !r.tightSign(next, '/') && !r.inAddress(i) {
		r.begin(i, speech.SpanFraction)
		r.mixedNumber(&number{fraction: f}, l)
		if r.tight(next) && r.reads(next, "th") && r.looseEnd(next+1) {
			next++ // 3/4th
		}
		return r.end(r.unitBehind(next, l))
	}
	if r.isStrokedCode(i) {
		return r.strokedCode(i)
	} else if next := r.caseOfYear(i); next > i {
		return next
	}
	if next := r.listOf(i); next > i {
		return next
	}
	return r.overNumbers(i, l)
}

// isPointedTrain reports whether the number of a train with a point behind each digit ends with token i: 1.2.4.0.1.
func (r *reader) isPointedTrain(i int) bool {
	for k := i; k > i-10; k -= 2 {
		if len(r.atDigits(k)) != 1 || k > i-8 && !r.isSign(k-1, '.') {
			return false
		}
	}
	return true
}

// pointedCode reads the number of a train as 1.2.4.0.1, which people write so that its digits are said.
func (r *reader) pointedCode(i int) int {
	j := i
	for ; j < i+16 && len(r.atDigits(j)) == 1 && r.numberBehind(j+1, '.'); j += 2 {
	}
	if j < i+6 || len(r.atDigits(j)) != 1 || !r.looseEnd(j+1) || r.context(i).what == noContext {
		return i
	}
	next := j + 1
	if r.tightSign(next, '.') && !r.last(next) {
		next++
	}
	r.begin(i, speech.SpanCode)
	for k := i; k <= j; k += 2 {
		r.digits(r.str(k), r.digitLang())
	}
	return r.end(next)
}

// partsOf reads 1/3 of the flats and 2/5 of them in English.
func (r *reader) partsOf(i int, l lang) int {
	n, d := r.small(i, 1), r.small(i+2, 2)
	part, halved := 0 < n && n < d && d <= 12, d == 2 || d == 4 // halves and quarters have words of their own
	if l != english || !part || halved || !r.reads(i+3, "of") {
		return i
	}
	r.begin(i, speech.SpanFraction)
	r.cardinal(uint64(n), l)
	r.ordinal(uint64(d))
	if n > 1 {
		r.out = append(r.out, 's')
	}
	return r.end(i + 3)
}

// isStrokedCode reports whether the parts with strokes at token i are those of an account, a file or a policy.
func (r *reader) isStrokedCode(i int) bool {
	three := r.numberBehind(i+3, '/') && r.looseEnd(i+5)
	if three && (r.zeroLed(i+2) || r.zeroLed(i+4)) && len(r.str(i+4)) > 4 {
		return true // 1218/40771/00932
	}
	near := r.context(i).what
	if near == noContext {
		return false
	}
	padded := r.zeroLed(i+2) && len(r.str(i+2)) >= 3 // 3319/0072
	return r.numberBehind(i+3, '/') || near == idNear && (len(r.str(i)) >= 6 || padded)
}

// overNumbers reads 12/3 and 1/2/3, one number over the other, and the unit behind them.
func (r *reader) overNumbers(i int, l lang) int {
	r.begin(i, speech.SpanFraction)
	silent := r.between(i, i+3) == "26/11" || r.between(i, i+3) == "9/11" // known by these names
	j := i
	for ; ; j += 2 {
		r.sayPlain(j, l)
		if !r.stroke(j) || j-i > 8 {
			break
		}
		switch {
		case silent:
		case r.chooses(j):
			r.say(l.words[wordOr])
		default:
			r.say(l.words[wordOver])
		}
	}
	next := j + 1
	if u, end := r.unit(next); u != nil && !u.tightOnly && r.looseEnd(end) && r.context(i).what == noContext {
		r.say(l.measure(u).many) // 5/6 ft, but not: Khasra no. 118/2 min
		next = end
	}
	return r.end(next)
}

// chooses reports whether the stroke behind the number at token j is or: call 112/108, TGT 1510/1525.
func (r *reader) chooses(j int) bool {
	size := len(r.str(j))
	if size < 3 || len(r.str(j+2)) != size {
		return false
	}
	return size == 3 && r.context(j).what == idNear || r.isNear(j, targets, 3)
}

// listOfCounts reads 3/6/12 months: three numbers or more, each larger than the one before, and what all of them count.
func (r *reader) listOfCounts(i int) int {
	j, parts := i, 1
	for ; parts < 9 && r.stroke(j) && r.small(j, 3) < r.small(j+2, 3); j += 2 {
		if r.small(j, 3) < 1 || r.zeroLed(j) {
			return i
		}
		parts++
	}
	if parts < 3 || r.tight(j+1) || !r.countedAt(j+1) {
		return i
	}
	return r.sayList(i, j)
}

// listOf reads the rates 5/12/18/28% and other rows of four numbers, with a pause for each stroke.
func (r *reader) listOf(i int) int {
	parts, j := 1, i
	for ; r.stroke(j) && parts < 9; j += 2 {
		parts++
	}
	if parts < 3 || parts == 3 && !r.isSign(j+1, '%') || !r.looseEnd(j+1) {
		return i
	}
	return r.sayList(i, j)
}

// sayList says the numbers from token i to token j, with a pause for each stroke.
func (r *reader) sayList(i, j int) int {
	r.begin(i, speech.SpanNumber)
	for k := i; k < j; k += 2 {
		r.sayPlain(k, r.lang)
		r.pause()
	}
	r.sayPlain(j, r.lang)
	return r.end(j + 1)
}

// overQuantity reads two numbers with a stroke, of which the second has a unit: 6/128GB is the one and the other, 100/3kg one for the
// other. 2/3kg is a part of a kilo.
func (r *reader) overQuantity(i int) int {
	if !r.stroke(i) || r.tight(i) || r.tight(i+3) && r.at(i+3).kind != latin {
		return i
	}
	b, ok := r.amount(i + 2)
	if !ok || b.unit == nil || b.per > 0 || !r.looseEnd(b.next) {
		return i
	}
	memory := b.unit == units["gb"] || b.unit == units["tb"]
	if !memory && !r.tight(i+3) {
		return i
	}
	a := r.small(i, 4)
	if a < 0 || !memory && (a < 10 || uint64(a) <= b.n.value) {
		return i
	}
	r.begin(i, speech.SpanUnit)
	r.sayPlain(i, r.lang)
	if memory {
		r.pause()
	} else {
		r.say(r.lang.words[wordPer])
	}
	r.sayAmount(&b, r.lang, false)
	return r.end(b.next)
}

// mixedFraction reads 2 1/2, and 2 3/7 where nothing else is said, or what it counts follows: two and three by seven.
func (r *reader) mixedFraction(i int) int {
	if !r.stroke(i+1) || !r.at(i+1).gap {
		return i
	}
	next := i + 4
	f, _ := r.simpleFraction(i + 1)
	if f > 0 && !r.tightSign(next, '/') {
		r.begin(i, speech.SpanFraction)
		n, _ := r.number(i)
		n.fraction = f
		r.mixedNumber(&n, r.lang)
		return r.end(r.unitBehind(next, r.lang))
	}
	if f > 0 || !r.looseEnd(next) || r.joined(i) || r.zeroLed(i+1) {
		return i
	}
	u, _ := r.unit(next)
	alone := i == r.start && r.last(next-1)
	if !alone && u == nil && !r.countedAt(next) || len(r.str(i)) > 4 {
		return i
	}
	l := r.quantityLang(i)
	r.begin(i, speech.SpanFraction)
	r.sayPlain(i, l)
	r.say(l.words[wordAnd])
	r.sayPlain(i+1, l)
	r.say(l.words[wordOver])
	r.sayPlain(i+3, l)
	return r.end(r.unitBehind(next, l))
}

// caseOfYear reads 245/2026 behind a word of cases and files: the number, and the year that it belongs to.
func (r *reader) caseOfYear(i int) int {
	y := r.small(i+2, 4)
	if y < 1950 || y >= 2050 {
		return i
	}
	if !r.looseEnd(i+3) || r.numberBehind(i+3, '/') || !r.isNumbered(i) {
		return i
	}
	r.begin(i, speech.SpanFraction)
	r.sayPlain(i, r.lang)
	if r.lang == english {
		r.say(english.words[wordOutOf])
	} else {
		r.say(r.lang.words[wordOver])
	}
	r.year(uint64(y), r.lang)
	return r.end(i + 3)
}

// strokedCode reads the parts of a policy or a file, 2001/8834/00, with a pause for each stroke.
func (r *reader) strokedCode(i int) int {
	r.begin(i, speech.SpanCode)
	r.grouped(r.str(i))
	j := i + 1
	for ; r.numberBehind(j, '/') && j-i < 8; j += 2 {
		r.pause()
		r.grouped(r.str(j + 1))
	}
	return r.end(j)
}

// partOf reads the 1/3 of a parcel or a page as one of three.
func (r *reader) partOf(i int) int {
	a, b := r.small(i, 2), r.small(i+2, 2)
	if a < 1 || b < a || !r.looseEnd(i+3) || !r.isWord(i-1, parcels) {
		return i
	}
	r.begin(i, speech.SpanFraction)
	if r.lang != english {
		r.sayPlain(i+2, r.lang) // तीन में से एक
		r.say(r.lang.words[wordOutOf])
		r.sayPlain(i, r.lang)
	} else {
		r.sayPlain(i, english)
		r.say(english.words[wordOutOf])
		r.sayPlain(i+2, english)
	}
	return r.end(i + 3)
}

// fewOf reads 7/8 baje, 4/5 log and 24/25 को, which are one or the other.
func (r *reader) fewOf(i int) int {
	a, b := r.small(i, 2), r.small(i+2, 2)
	if a < 1 || b != a+1 {
		return i
	}
	counted := a >= 2 && r.in(i+3, people) || a >= 4 && r.countedAt(i+3)
	days := 12 <= a && a <= 30 && r.in(i+3, either)
	if !counted && !days && !r.isWord(i+3, oclock) {
		return i
	}
	if !r.looseEnd(i+3) || r.inAddress(i) {
		return i
	}
	r.begin(i, speech.SpanRange)
	r.sayPlain(i, r.lang)
	if r.lang == english {
		r.say("or")
	}
	r.sayPlain(i+2, r.lang)
	return r.end(i + 3)
}

// unitBehind says the unit at token j, as of 1/2 kg, and returns what is behind it, or j if there is none.
func (r *reader) unitBehind(j int, l lang) int {
	u, next := r.unit(j)
	if u == nil || u.tightOnly || !r.looseEnd(next) {
		return j
	}
	r.say(l.measure(u).one)
	return next
}

// stroke reports whether token j is a number, and a stroke and another number follow closely.
func (r *reader) stroke(j int) bool {
	if r.at(j).kind != digits || !r.numberBehind(j+1, '/') {
		return false
	}
	return r.isSayable(j) && r.isSayable(j+2)
}

// isSayable reports whether the digits token j can be said as a number: one of up to sixteen digits, or a round one of up to eighteen.
func (r *reader) isSayable(j int) bool {
	n := len(r.str(j))
	return n <= maxSize || r.isRound(j)
}

// isRound reports whether at least half of twelve to eighteen digits are zeros at the end: such a number is no code.
func (r *reader) isRound(j int) bool {
	s := r.str(j)
	zeros := len(s) - len(strings.TrimRight(s, "0"))
	return 12 <= len(s) && len(s) <= 18 && 2*zeros >= len(s) && s[0] != '0'
}

// simpleFraction reads 1/2, 1/4 and 3/4.
func (r *reader) simpleFraction(i int) (fraction byte, next int) {
	if !r.stroke(i) {
		return 0, i
	}
	switch r.between(i, i+3) {
	case "1/2":
		return half, i + 3
	case "1/4":
		return quarter, i + 3
	case "3/4":
		return threeQuarters, i + 3
	}
	return 0, i
}

// inAddress reports whether a word before token i makes the number part of an address.
func (r *reader) inAddress(i int) bool {
	return r.isWord(i-1, place) || r.isWord(i-2, place) && r.isSign(i-1, '.')
}

// sayPlain says the digits token j as a number, or digit by digit when it is too long or begins with a zero.
func (r *reader) sayPlain(j int, l lang) {
	s := r.str(j)
	if !r.isSayable(j) || r.zeroLed(j) {
		r.digits(s, l)
		return
	}
	n := uint64(0)
	for _, c := range []byte(s) {
		n = 10*n + uint64(c-'0')
	}
	r.cardinal(n, l)
}

// roundFraction reads a fraction over a round number that would be a code or a telephone number by its length.
func (r *reader) roundFraction(i int) int {
	if !r.isRound(i) || !r.stroke(i) {
		return i
	}
	return r.fraction(i)
}

// version reads 2.0.1, and an internet address digit by digit.
func (r *reader) version(i int) int {
	if !r.tightSign(i+1, '.') || r.at(i+2).kind != digits || !r.tight(i+2) || !r.tightDotted(i+3) {
		return i
	}
	j := i
	for r.tightDotted(j+1) && j-i < 12 {
		j += 2
	}
	if !r.looseEnd(j + 1) {
		return i
	}
	l := r.quantityLang(i)
	address := j == i+6
	r.begin(i, speech.SpanVersion)
	for k := i; k <= j; k += 2 {
		switch {
		case address && k > i:
			r.say(l.words[wordDot])
		case k > i:
			r.say(l.words[wordPoint])
		}
		if address {
			r.digits(r.str(k), r.digitLang())
		} else {
			r.sayPlain(k, l)
		}
	}
	return r.end(j + 1)
}

package normalize

import "github.com/swar-tts/swar/runtime/speech"

// quantityLang is the language of the number at token i: that of the sentence, but English after an English head noun (iPhone 15).
func (r *reader) quantityLang(i int) lang {
	if r.lang != english && r.isWord(i-1, englishHead) && r.at(i-1).kind == latin && !r.countedAt(i+1) {
		return english
	}
	return r.lang
}

// signedAmount reads what begins with a sign and is a quantity: ₹500, -7, .5, ½, +0.8%.
func (r *reader) signedAmount(i int) int {
	t := r.at(i)
	switch {
	case t.isCurrency(), t.isVulgarFraction():
	case t.ch == '.':
		if p := r.at(i - 1); !t.gap && p.kind.wordLike() {
			return i
		}
	case t.isOneOf(hyphens + "+"):
		if !r.signFits(i) {
			return i
		}
	default:
		return i
	}
	a, ok := r.amount(i)
	if !ok {
		return i
	}
	return r.speakAmount(i, &a)
}

// signFits reports whether the minus or plus at i belongs to the number behind it.
func (r *reader) signFits(i int) bool {
	p := r.at(i - 1)
	opening := i == r.start || p.kind == nothing || p.isOneOf("([\"")
	if !r.tight(i+1) || !opening && !r.at(i).gap || p.kind == digits {
		return false
	}
	if opening || r.at(i).ch == '+' || p.kind == sign {
		return true
	}
	if a, ok := r.amount(i); ok && a.marked() && !a.n.grouped {
		return true
	}
	return r.isWord(i-1, signed)
}

// moneyPrefix reads Rs 499, INR 2,340, रु. 99.
func (r *reader) moneyPrefix(i int) int {
	if cur, _ := r.currencyBefore(i); cur == 0 {
		return r.bareCurrency(i)
	}
	if r.tightSign(i-1, '/') && r.currencyCode(i-2) > 0 {
		return i // USD/INR 84.21 is what one costs in the other
	}
	a, ok := r.amount(i)
	if !ok {
		return r.bareCurrency(i)
	}
	return r.speakAmount(i, &a)
}

// bareCurrency says Rs in full where no figure follows: Rs five hundred.
func (r *reader) bareCurrency(i int) int {
	if !r.reads(i, "Rs", "RS", "rs", "रु", "रू") {
		return i
	}
	next := i + 1
	if r.tightSign(next, '.') && !r.last(next) {
		next++
	}
	inCode := r.joined(i) && r.at(i-1).kind != deva || !r.looseEnd(i+1) && r.at(i+1).kind != deva
	if inCode && r.at(i).kind == latin {
		return i
	}
	r.begin(i, speech.SpanAmount)
	r.say(r.lang.words[wordRupees])
	return r.end(next)
}

// markedQuantity reads a number that a unit, a currency, a percent sign, a scale, commas or a decimal point mark as a quantity, and
// one in front of a counted noun.
func (r *reader) markedQuantity(i int) int {
	a, ok := r.amount(i)
	if !ok || !r.looseEnd(a.next) {
		return i
	}
	if !a.marked() && r.zeroLed(i) && a.n.size > 2 {
		return i // code 0943 - 2 min
	}
	if !a.marked() && (!r.countedAt(a.next) || r.zeroLed(i) && a.n.size > 2) {
		if b, ok := r.rangeEnd(&a); !ok || !b.marked() && !r.countedAt(b.next) {
			return i
		}
	}
	if a.n.frac != "" && r.zeroLed(i) && a.n.size > 2 {
		return i
	}
	return r.speakAmount(i, &a)
}

// countedAt reports whether token i is a noun that is counted.
func (r *reader) countedAt(i int) bool { return r.isWord(i, counted|scaleWord) }

// quantity reads any other number.
func (r *reader) quantity(i int) int {
	a, ok := r.amount(i)
	if !ok || a.n.size > 6 && !a.marked() {
		return i
	}
	return r.speakAmount(i, &a)
}

// speakAmount says a, which began at token i, or the range that it opens.
func (r *reader) speakAmount(i int, a *amount) int {
	l := r.quantityLang(i)
	b, ok := r.rangeEnd(a)
	if a.isShareOrPrice() || ok && b.isShareOrPrice() {
		l = r.lang // Flat 40-60% off, iPhone ₹49,900 mein: no name goes on with a share or a price
	}
	if ok && r.isFallingPair(i, a, &b) {
		r.begin(i, speech.SpanRange)
		r.sayAmount(a, r.lang, false)
		r.pause()
		r.sayAmount(&b, r.lang, false)
		return r.end(b.next)
	}
	if ok {
		r.begin(i, speech.SpanRange)
		// What is written once is said once, at the end; what is written twice is said twice.
		once := !(a.cur > 0 && b.cur > 0)
		r.sayAmount(a, l, once && a.unit == nil && !a.percent)
		simple := a.n.whole() && b.n.whole() && !a.n.grouped
		if even := simple && a.n.value == b.n.value && a.scales == b.scales; !even { // 50-50
			r.say(l.words[wordTo])
		} else if r.reads(b.next-1, "h") && r.at(b.next-1).gap {
			b.unit, b.next = nil, b.next-1 // 50-50 h: hai
		}
		if b.cur == 0 && b.unit == nil && !b.percent {
			b.cur = a.cur
		}
		r.sayAmount(&b, l, false)
		return r.end(b.next)
	}
	r.begin(i, a.kind())
	r.sayAmount(a, l, false)
	if j := a.next; r.numberBehind(j, '/') && (a.cur > 0 || !a.n.whole()) {
		// ₹71,200/10 g and 4.5/5: what is behind the stroke is read by itself.
		if a.cur > 0 {
			r.say(l.words[wordPer])
		} else {
			r.say(l.words[wordOver])
		}
		return r.end(j + 1)
	}
	return r.end(a.next)
}

// isFallingPair reports whether a, at token i, and the smaller b number a part of a book, and are no range: Chapter 12-3.
func (r *reader) isFallingPair(i int, a, b *amount) bool {
	if a.marked() || b.marked() || b.n.value >= a.n.value {
		return false
	}
	return r.isWord(i-1, englishHead) && r.at(a.next).isOneOf(hyphens)
}

// kind names the class of a for its span.
func (a *amount) kind() speech.SpanKind {
	switch {
	case a.cur > 0:
		return speech.SpanAmount
	case a.percent:
		return speech.SpanPercent
	case a.unit != nil:
		return speech.SpanUnit
	case !a.n.whole():
		return speech.SpanDecimal
	}
	return speech.SpanNumber
}

// rangeEnd reads the second end of a range behind a: 2-3, 10–15, ₹500-₹700.
func (r *reader) rangeEnd(a *amount) (b amount, ok bool) {
	j := a.next
	t := r.at(j)
	if !t.isOneOf(dashes + "~") {
		return b, false
	}
	if t.ch == '-' && t.gap != r.at(j+1).gap || r.isMinus(j) {
		return b, false
	}
	if r.at(j + 1).isOneOf("+-") {
		return b, false
	}
	b, ok = r.amount(j + 1)
	if !ok || !r.looseEnd(b.next) || b.n.size > 7 || r.numberBehind(b.next, '-') {
		return b, false
	}
	return b, true
}

// plural reads 1000s of people, which are thousands, and 1s and 0s, which are no seconds.
func (r *reader) plural(i int) int {
	s := r.str(i)
	if !r.tight(i+1) || !r.reads(i+1, "s") || !r.looseEnd(i+2) || r.joined(i) {
		return i
	}
	many := manyOf[s]
	switch {
	case many != "" && r.reads(i+2, "of"):
	case s == "0" && r.hasFigures(i, "1"):
		many = "zeros"
	case s == "1" && r.hasFigures(i, "0"):
		many = "ones"
	default:
		return i
	}
	r.begin(i, speech.SpanNumber)
	r.say(many)
	return r.end(i + 2)
}

// manyOf are round numbers in the plural.
var manyOf = map[string]string{
	"10": "tens", "100": "hundreds", "1000": "thousands", "10000": "tens of thousands", "100000": "lakhs", "1000000": "millions",
}

// hasFigures reports whether the figure is in the plural near token i: 0s.
func (r *reader) hasFigures(i int, figure string) bool {
	for j := max(r.start, i-16); j < min(r.stop, i+16); j++ {
		if r.at(j).kind == digits && r.str(j) == figure && r.tight(j+1) && r.reads(j+1, "s") {
			return true
		}
	}
	return false
}

// longNumber reads what is too long for a quantity digit by digit.
func (r *reader) longNumber(i int) int {
	r.begin(i, speech.SpanCode)
	r.grouped(r.str(i))
	return r.end(i + 1)
}

// dimensions reads 10x12 and 10 x 12 x 8.
func (r *reader) dimensions(i int) int {
	if symbol := r.plotUnit(i); symbol != "" {
		r.begin(i, speech.SpanUnit)
		r.sayPlain(i, r.lang)
		r.say(r.lang.words[wordAcross])
		r.sayPlain(i+3, r.lang)
		r.say(r.lang.measure(units[symbol]).many)
		return r.end(i + 5)
	}
	if !r.times(i) {
		return i
	}
	l := r.lang
	n, ok := r.number(i + 2)
	priced := n.value >= 20 && r.small(i, 1) > 0 && r.isNear(i, roundTimes, 3)
	if ok && (n.grouped || priced) { // 2x2,350, toll 2x110
		r.begin(i, speech.SpanUnit)
		r.sayPlain(i, l)
		r.say(l.words[wordTimes])
		r.sayNumber(&n, l, false)
		return r.end(n.next)
	}
	r.begin(i, speech.SpanUnit)
	j := i
	for ; ; j += 2 {
		r.sayPlain(j, l)
		if !r.times(j) || j-i > 8 {
			break
		}
		if r.isReckoned(j + 3) {
			r.say(l.words[wordTimes])
		} else {
			r.say(l.words[wordAcross])
		}
	}
	if u, next := r.unit(j + 1); u != nil && !u.tightOnly && r.looseEnd(next) {
		r.say(l.measure(u).many) // 10x10x5 cm
		return r.end(next)
	}
	return r.end(j + 1)
}

// isReckoned reports whether what stands behind a product, at token j, goes on with it or says what it is: 240 × 15 ÷ 100, 8 x 5 = 40.
func (r *reader) isReckoned(j int) bool {
	for k := j; k < j+lookahead; k += 2 { // 15 × 6 - 20 ÷ 4
		if r.at(k).isOneOf("=" + string(rune(divide))) {
			return true
		}
		if !r.at(k).isOneOf("+*/"+hyphens+string(rune(multiply))) || r.at(k+1).kind != digits {
			break
		}
	}
	return r.in(j, reckoned)
}

// unitAlone reads km/h and mg/dl where no number stands before them.
func (r *reader) unitAlone(i int) int {
	if r.joined(i) {
		return i
	}
	u, next := r.unitOver(i)
	if u == nil {
		u, next = r.bracketedUnit(i)
	}
	if raised := r.at(i + 1).isOneOf(string(rune(squared)) + string(rune(cubed))); raised && u == nil && len(r.str(i)) > 1 {
		u, next = r.square(i) // km² alone
	}
	if u == nil {
		return i
	}
	r.begin(i, speech.SpanUnit)
	r.say(r.lang.measure(u).many)
	return r.end(next)
}

// bracketedUnit returns the unit that stands alone in brackets at token i, as in the head of a table: खपत (kWh), weight (kg).
func (r *reader) bracketedUnit(i int) (*unit, int) {
	t := r.at(i)
	if !r.isSign(i-1, '(') || !r.isSign(i+1, ')') || t.cas == upper || t.b-t.a < 2 {
		return nil, i
	}
	u := r.unitText(i, i+1)
	if u == nil || u.tightOnly || u.rare || !r.at(i-2).kind.lettered() {
		return nil, i
	}
	return u, i + 1
}

// plotUnit returns the unit of the size that begins at token i: feet for 30'x40', inches for 4"x2", "" for none.
func (r *reader) plotUnit(i int) string {
	mark := r.at(i + 1)
	if !mark.isOneOf("'\"") || !r.tight(i+1) || !r.tightSign(i+4, mark.ch) {
		return ""
	}
	if !r.tight(i+2) || !r.isTimes(i+2) || !r.tightDigits(i+3) || !r.looseEnd(i+5) {
		return ""
	}
	if mark.ch == '"' {
		return "in"
	}
	return "ft"
}

// times reports whether token j is a number, and x and another number follow.
func (r *reader) times(j int) bool {
	t := r.at(j + 1)
	if r.at(j).kind != digits || r.at(j+2).kind != digits || t.gap != r.at(j+2).gap {
		return false
	}
	return r.isTimes(j + 1)
}

// isTimes reports whether token i is an x or the sign of multiplication.
func (r *reader) isTimes(i int) bool { return r.reads(i, "x", "X") || r.isSign(i, multiply) }

// multiple reads 2x.
func (r *reader) multiple(i int) int {
	if len(r.str(i)) > 4 || !r.tight(i+1) || !r.reads(i+1, "x", "X") || !r.looseEnd(i+2) {
		return i
	}
	if r.tightSign(i+2, squared) || r.tightSign(i+2, cubed) {
		return i // 2x² is algebra
	}
	r.begin(i, speech.SpanUnit)
	r.sayPlain(i, r.lang)
	listed := (i == r.start || r.isSign(i-1, ',')) && !r.in(i+2, multiplied)
	named := r.at(i+2).cas == title || listed && r.at(i+2).kind == latin
	things := named && r.reads(i+1, "x") && len(r.str(i)) <= 2
	if !things { // 2x Masala Dosa
		r.say(r.lang.words[wordFold])
	}
	return r.end(i + 2)
}

// into reads the x of ₹2,500 x 12 and of 3 x ₹250.
func (r *reader) into(i int) int {
	if !r.cross(i) {
		return i
	}
	r.begin(i, speech.SpanSign)
	r.say(r.lang.words[wordTimes])
	return r.end(i + 1)
}

// cross reports whether token i is an x that stands apart between two factors.
func (r *reader) cross(i int) bool {
	return r.reads(i, "x", "X") && !r.tight(i) && !r.tight(i+1) && r.factors(i)
}

// factors reports whether token i stands between a number, with or without its unit, and a number or an amount of money.
func (r *reader) factors(i int) bool {
	if r.at(i-1).kind != digits && r.at(i-2).kind != digits {
		return false
	}
	if cur, next := r.currencyBefore(i + 1); cur > 0 {
		return r.at(next).kind == digits
	}
	return r.at(i+1).kind == digits
}

// ratio reads 50:50 and 3:1.
func (r *reader) ratio(i int) int {
	if next := r.mixture(i); next > i {
		return next
	}
	if !r.numberBehind(i+1, ':') || r.isSign(i-1, ':') || r.tightSign(i+3, ':') {
		return i // three numbers are something else
	}
	if len(r.str(i)) > 3 || len(r.str(i+2)) > 3 || !r.looseEnd(i+3) {
		return i
	}
	r.begin(i, speech.SpanRatio)
	r.sayPlain(i, r.lang)
	if r.str(i) != r.str(i+2) {
		r.say(r.lang.words[wordRatio])
	}
	r.sayPlain(i+2, r.lang)
	return r.end(i + 3)
}

// mixture reads 1:2:4, the parts of a mixture.
func (r *reader) mixture(i int) int {
	if !r.numberBehind(i+1, ':') || !r.numberBehind(i+3, ':') {
		return i
	}
	if !r.looseEnd(i+5) || r.tightSign(i+5, ':') || r.isSign(i-1, ':') {
		return i
	}
	for j := i; j < i+5; j += 2 {
		if n := r.small(j, 2); n < 0 || r.zeroLed(j) {
			return i
		}
	}
	r.begin(i, speech.SpanRatio)
	for j := i; j < i+5; j += 2 {
		if j > i && r.lang == english {
			r.say("to")
		}
		r.sayPlain(j, r.lang)
	}
	return r.end(i + 5)
}

// height reads 6'2" in feet and inches.
func (r *reader) height(i int) int {
	feet, inches := r.small(i, 2), r.small(i+2, 2)
	if feet < 0 || inches < 0 || !r.numberBehind(i+1, '\'') || !r.looseEnd(i+3) {
		return i
	}
	r.begin(i, speech.SpanUnit)
	r.sayUnit(feet, units["ft"])
	r.sayUnit(inches, units["in"])
	next := i + 3
	if r.tightSign(next, '"') {
		next++
	} else if r.tightSign(next, '\'') && r.tightSign(next+1, '\'') {
		next += 2
	}
	return r.end(next)
}

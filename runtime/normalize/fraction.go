package normalize

import "github.com/swar-tts/swar/runtime/speech"

// fraction reads 1/2, 2 1/2, 12/3 and 1/2/3, and versions: 2.0.1.
func (r *reader) fraction(i int) int {
	if next := r.version(i); next > i {
		return next
	}
	if r.at(i+1).kind == digits && r.at(i+1).gap {
		if f, next := r.simpleFraction(i + 1); f > 0 && !r.tightSign(next, '/') {
			r.begin(i, speech.SpanFraction)
			n, _ := r.number(i)
			n.fraction = f
			r.mixedNumber(&n, r.lang)
			return r.end(r.unitBehind(next, r.lang))
		}
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
	if f, next := r.simpleFraction(i); f > 0 && !r.tightSign(next, '/') && !r.inAddress(i) {
		r.begin(i, speech.SpanFraction)
		r.mixedNumber(&number{fraction: f}, l)
		return r.end(r.unitBehind(next, l))
	}
	if r.numberBehind(i+3, '/') && r.context(i).what != noContext {
		return r.strokedCode(i)
	}
	r.begin(i, speech.SpanFraction)
	silent := r.between(i, i+3) == "26/11" || r.between(i, i+3) == "9/11" // known by these names
	j := i
	for ; ; j += 2 {
		r.sayPlain(j, l)
		if !r.stroke(j) || j-i > 8 {
			break
		}
		if !silent {
			r.say(l.words[wordOver])
		}
	}
	return r.end(j + 1)
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

// fewOf reads 7/8 baje and 4/5 log, which are one or the other.
func (r *reader) fewOf(i int) int {
	a, b := r.small(i, 2), r.small(i+2, 2)
	few := r.isWord(i+3, oclock) || a >= 4 && r.countedAt(i+3)
	if !few || a < 1 || b != a+1 {
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
	return len(r.str(j)) <= maxSize && len(r.str(j+2)) <= maxSize
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
	if len(s) > maxSize || r.zeroLed(j) {
		r.digits(s, l)
		return
	}
	var n number
	n.add(s)
	r.cardinal(n.value, l)
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

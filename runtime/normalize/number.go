package normalize

// number is a number as it is written: with commas and a decimal point, but without sign, scale or unit.
type number struct {
	value    uint64
	size     int    // digits before the point
	frac     string // digits after the point
	grouped  bool   // it has thousands commas
	fraction byte   // half, quarter, threeQuarters
	next     int    // the token behind it
}

// maxSize is how many digits a quantity may have; more than ten thousand kharab nobody says.
const maxSize = 16

// number reads the number that begins at token i; ok is false when none does.
func (r *reader) number(i int) (n number, ok bool) {
	t := r.at(i)
	if r.isSign(i, '.') && r.tightDigits(i+1) && r.at(i-1).kind != digits {
		n.frac, n.next = r.str(i+1), i+2
		return n, true
	}
	if t.isVulgarFraction() {
		return number{fraction: t.ch, next: i + 1}, true
	}
	if t.kind != digits {
		return n, false
	}
	n.add(r.str(i))
	n.next = i + 1
	if n.size <= 3 {
		r.groups(&n)
	}
	switch p := r.at(n.next); {
	case p.kind != sign || p.gap && p.ch > threeQuarters:
	case p.ch == '.' && r.tightDigits(n.next+1) && !r.tightDotted(n.next+2):
		n.frac = r.str(n.next + 1)
		n.next += 2
	case p.isVulgarFraction():
		n.fraction = p.ch
		n.next++
	}
	return n, true
}

// tightDotted reports whether another dot and number follow: a version or a date, not a decimal.
func (r *reader) tightDotted(i int) bool {
	return r.numberBehind(i, '.')
}

// whole reports whether n has neither decimals nor a fraction.
func (n *number) whole() bool { return n.frac == "" && n.fraction == 0 }

// add appends digits to the whole part.
func (n *number) add(s string) {
	n.size += len(s)
	if n.size > maxSize {
		return
	}
	for i := range len(s) {
		n.value = n.value*10 + uint64(s[i]-'0')
	}
}

// groups reads thousands commas, Indian (12,07,450) or western (1,207,450), if all of them stand where they should. Otherwise the
// commas part the items of a list.
func (r *reader) groups(n *number) {
	var ends [8]int
	j, count, wide := n.next, 0, true
	for count < len(ends) && r.tightSign(j, ',') && r.at(j+1).kind == digits && r.tight(j+1) {
		size := len(r.str(j + 1))
		if size != 2 && size != 3 {
			break
		}
		ends[count] = j + 1
		count++
		if size == 2 {
			wide = false
		}
		j += 2
		if size == 3 && !wide {
			break // the last group of Indian writing
		}
	}
	if end := r.spacedGroups(j); count == 0 && end > j {
		for ; j < end; j++ {
			n.add(r.str(j))
		}
		n.grouped, n.next = true, end
		return
	}
	if count == 0 && r.isLooselyGrouped(n, j) {
		n.add(r.str(j + 1))
		n.grouped, n.next = true, j+2
		return
	}
	if count == 0 || len(r.str(ends[count-1])) != 3 {
		return
	}
	for _, e := range ends[:count-1] {
		if (len(r.str(e)) == 3) != wide {
			return
		}
	}
	if !wide && n.size > 2 {
		return
	}
	for _, e := range ends[:count] {
		n.add(r.str(e))
	}
	n.grouped = true
	n.next = j
}

// spacedGroups returns the token behind the groups of two or three digits that begin at token j, if only spaces part them and the last has
// three; j if there are none. Such spaces do not break, as in 1 25 000 where a program wrote it; in ₹5 000 it may be any.
func (r *reader) spacedGroups(j int) int {
	money := r.str(j) == "000" && (r.at(j-2).isCurrency() || r.currencyCode(j-2) > 0)
	for k := j; k < j+8; k++ {
		t, next := r.at(k), r.at(k+1)
		isSpaced := t.hard || k == j && money
		isGroup := isSpaced && t.kind == digits && t.gap
		switch size := len(r.str(k)); {
		case !isGroup || size != 2 && size != 3:
			return j
		case size == 3 && !(next.kind == digits && next.hard):
			return k + 1
		}
	}
	return j
}

// isLooselyGrouped reports whether the comma at token j, behind the number n of an amount, is the only one of its lakhs: rs1,20000.
func (r *reader) isLooselyGrouped(n *number, j int) bool {
	if !r.tightSign(j, ',') || !r.tightDigits(j+1) || len(r.str(j+1)) != 5 || n.size > 2 {
		return false
	}
	return r.currencyCode(j-2) > 0 || r.at(j-2).isCurrency()
}

// zeroLed reports whether the whole part is written with a zero in front.
func (r *reader) zeroLed(i int) bool {
	return r.at(i).kind == digits && r.toks[i].b-r.toks[i].a > 1 && r.text[r.toks[i].a] == '0'
}

// sayNumber says n with its decimals.
func (r *reader) sayNumber(n *number, l lang, western bool) {
	switch {
	case n.fraction > 0:
		r.mixedNumber(n, l)
		return
	case western:
		r.scaled(n.value, l, l.western)
	default:
		r.cardinal(n.value, l)
	}
	if n.frac != "" {
		r.say(l.words[wordPoint])
		r.digits(n.frac, l)
	}
}

// mixedNumber says 2½.
func (r *reader) mixedNumber(n *number, l lang) {
	if l.quarters != nil {
		if !r.sayQuarters(l, n.value, n.fraction) {
			r.cardinal(n.value, l)
		}
		return
	}
	if n.size > 0 {
		r.cardinal(n.value, l)
		r.say("and")
	}
	switch n.fraction {
	case half:
		if n.size > 0 {
			r.say("a half")
		} else {
			r.say("half")
		}
	case quarter:
		if n.size > 0 {
			r.say("a quarter")
		} else {
			r.say("one quarter")
		}
	case threeQuarters:
		r.say("three quarters")
	}
}

// sayQuarters says whole and a fraction with the words that l has for it: डेढ़, ढाई, साढ़े तीन, सवा चार, पौने पाँच.
func (r *reader) sayQuarters(l lang, whole uint64, fraction byte) bool {
	q := l.quarters
	switch {
	case fraction == half && whole == 0:
		r.say(q.half)
	case fraction == half && whole == 1:
		r.say(q.oneAndHalf)
	case fraction == half && whole == 2:
		r.say(q.twoAndHalf)
	case fraction == half:
		r.say(q.andHalf)
		r.cardinal(whole, l)
	case fraction == quarter && whole == 0:
		r.say(q.quarter)
	case fraction == quarter:
		r.say(q.andQuarter)
		if whole > 1 {
			r.cardinal(whole, l)
		}
	case fraction == threeQuarters && whole == 0:
		r.say(q.threeQuarters)
	case fraction == threeQuarters:
		r.say(q.lessQuarter)
		r.cardinal(whole+1, l)
	default:
		return false
	}
	return true
}

// quarterOf returns the fraction that decimals spell, if Hindi has a word for it.
func quarterOf(frac string) byte {
	switch frac {
	case "5", "50":
		return half
	case "25":
		return quarter
	case "75":
		return threeQuarters
	}
	return 0
}

package normalize

// nearness is what the words before a number say about it.
type nearness uint8

const (
	noContext nearness = iota
	idNear             // an order, an account, a number
	codeNear           // an OTP, a PIN, a code
)

// finding is what stands before a number and says something about it, and where.
type finding struct {
	what nearness
	at   int // its token; 0 for nothing
}

// reach is how many words may stand between a context word and its number.
const reach = 3

// contextRule is one reason why a number is read digit by digit.
type contextRule struct {
	reason string
	near   nearness
	least  int // digits; a shorter number is a quantity all the same
	fits   func(r *reader, i int, before finding) bool
}

// contextRules decide, from the top, what a number without a shape of its own is. One that fits none is a quantity.
var contextRules = [...]contextRule{
	{"a count of last digits before it", codeNear, 3, func(r *reader, i int, _ finding) bool { return r.isTail(i) }},
	{"a word of codes before it", codeNear, 1, func(_ *reader, _ int, before finding) bool { return before.what == codeNear }},
	{"the verb that it is the object of", codeNear, 4, func(r *reader, i int, _ finding) bool { return r.mayBeCode(i) && r.isCodeObject(i) }},
	{"what the words behind it call it", codeNear, 4, func(r *reader, i int, _ finding) bool { return r.mayBeCode(i) && r.isCodeSubject(i) }},
	{"what the words behind its two halves call them", codeNear, 3, func(r *reader, i int, _ finding) bool { return r.isHalved(i) }},
	{"a code earlier in the sentence, and its other half behind it", codeNear, 3, func(r *reader, i int, _ finding) bool {
		return r.inTwoThrees(i) && r.looseEnd(i+2) && r.spokeOfCode(i)
	}},
	{"a code earlier in the sentence", codeNear, 4, func(r *reader, i int, _ finding) bool { return r.mayBeCode(i) && r.followsCode(i) }},
	{"being where messages are sent to", codeNear, 5, func(r *reader, i int, _ finding) bool { return r.mayBeCode(i) && r.isShortNumber(i) }},
	{"letters before its hyphen", codeNear, 3, func(r *reader, i int, _ finding) bool { return r.isLetteredCode(i) }},
	{"a word of accounts, orders or numbers before it", idNear, 3, func(r *reader, i int, before finding) bool { return before.what == idNear && !r.isPrice(i) }},
	{"what a bank is asked to block", idNear, 3, func(r *reader, i int, _ finding) bool { return r.isBlocked(i) }},
	{"the short form of number before it", idNear, 5, func(r *reader, i int, _ finding) bool { return r.isBehindNo(i) }},
	{"a bank before it", idNear, 4, func(r *reader, i int, _ finding) bool { return r.isBankTail(i) }},
	{"another of its kind before it", idNear, 3, func(r *reader, i int, _ finding) bool { return r.isAnother(i) }},
	{"a word of codes behind it", codeNear, 3, func(r *reader, i int, before finding) bool {
		return before.what == noContext && r.contextAfter(i+1) == codeNear
	}},
	{"a train behind it", idNear, 5, func(r *reader, i int, _ finding) bool { return r.isTrain(i) }},
	{"an airline before it", idNear, 3, func(r *reader, i int, _ finding) bool { return r.isFlightNumber(i) && r.isTravelling(i) }},
	{"a word of calls behind it", idNear, 3, func(r *reader, i int, before finding) bool {
		return before.what == noContext && r.contextAfter(i+1) == idNear && !r.isPrice(i)
	}},
	{"its length", noContext, 7, func(r *reader, i int, before finding) bool { return before.what != idNear || !r.isPrice(i) }},
}

// judge finds the first of contextRules that the number at token i fits, nil for a quantity.
func (r *reader) judge(i int) *contextRule {
	if r.reads(i+1, "of") && r.at(i+2).kind == digits {
		return nil // code 1 of 2
	}
	before := r.context(i)
	n := len(r.str(i))
	for k := range contextRules {
		if rule := &contextRules[k]; n >= rule.least && rule.fits(r, i, before) {
			return rule
		}
	}
	return nil
}

// context looks at the words before token i: the last three, or the whole sentence when they end in "is".
func (r *reader) context(i int) finding {
	if at := r.codeThatIs(i); at > 0 {
		return finding{codeNear, at}
	}
	words, id := 0, true
	for j := i - 1; j >= r.start && words <= reach && i-j < 12; j-- {
		t := r.at(j)
		if t.kind == digits {
			return finding{}
		}
		if !t.kind.lettered() {
			continue
		}
		if r.isDottedOTP(j) {
			return finding{codeNear, j}
		}
		if r.single(j) && r.isSign(j-1, '.') {
			e, first := r.dottedBefore(j)
			switch {
			case e.is(codeWord):
				return finding{codeNear, first}
			case e.is(idWord) && id:
				return finding{idNear, first}
			}
			j = first
			words++
			continue
		}
		f, stop := r.wordBefore(j, id)
		if f.what != noContext || stop {
			return f
		}
		// The address was the id; and "in" ends what an account or an order says.
		id = id && t.blob&hasAt == 0 && (!t.word.is(apart) || r.isWord(j-1, holds))
		words++
	}
	return finding{}
}

// isDottedOTP reports whether ओ.टी.पी ends with token j.
func (r *reader) isDottedOTP(j int) bool {
	if !r.isSign(j-1, '.') || !r.isSign(j-3, '.') {
		return false
	}
	return r.reads(j, "पी") && r.reads(j-2, "टी") && r.reads(j-4, "ओ")
}

// isBehindNo reports whether a short form of number stands before token i: गाड़ी सं. 14055, No. 14055.
func (r *reader) isBehindNo(i int) bool {
	j := i - 1
	if r.tightSign(j, '.') {
		j--
	}
	return r.reads(j, "सं", "नं") || j < i-1 && r.isNo(j)
}

// wordBefore judges the word at token j, in front of a number. stop means that no word before it counts; id that words of accounts
// still do.
func (r *reader) wordBefore(j int, id bool) (f finding, stop bool) {
	t := r.at(j)
	switch {
	case t.blob&hasAt != 0:
		return finding{}, false
	case t.word.is(codeWord):
		return finding{codeNear, j}, true
	case t.word.is(amountOf):
		return finding{}, true
	case !id:
		return finding{}, false
	case r.stroked(j-2) == "account":
		return finding{idNear, j - 2}, true
	case t.word.is(idWord) && (r.isCount(j) || r.numbersPlace(j)):
		return finding{}, true
	case t.word.is(idWord):
		return finding{idNear, j}, true
	}
	return finding{}, false
}

// codeThatIs returns the token of the code whose verb or colon stands before token i, however far: the OTP for your order is 4071.
func (r *reader) codeThatIs(i int) int {
	verb := i - 1
	for t := r.at(verb); t.kind == tag || t.isOneOf("*_`\"("); t = r.at(verb) { // is **482913**
		if verb--; i-verb > 8 {
			break
		}
	}
	if !r.isSign(verb, ':') && !r.isIs(verb) {
		return 0
	}
	for j := verb - 1; j >= r.start && i-j < 3*lookahead/4; j-- {
		if r.isWord(j, codeWord) && !r.countedAt(j+1) {
			return j
		}
	}
	return 0
}

// numbersPlace reports whether the word at token j numbers a flat, a gate or a coach, which is read as a quantity even
// behind "number": flat number 302, H.No. 12.
func (r *reader) numbersPlace(j int) bool {
	if r.isSign(j-1, '.') {
		return r.reads(j-2, "H", "h", "R", "D")
	}
	if r.in(j-1, blocking) && !r.in(j, numberWord) {
		return false // BLOCK CARD 1233
	}
	return r.isWord(j-1, place|englishHead|coach) && !r.isWord(j-1, idWord)
}

// isCount reports whether the word at token j counts instead of naming: छात्रों की संख्या, number of users.
func (r *reader) isCount(j int) bool {
	if r.reads(j, "nos", "Nos") && r.at(j-1).kind == digits {
		return true // 2 nos.
	}
	if r.reads(j, "नंबर", "number", "numbers") && r.small(j-1, 3) > 0 {
		return true // a test of 50 नंबर
	}
	return r.reads(j, "संख्या", "sankhya") && r.reads(j-1, "की", "ki", "कुल", "kul") || r.reads(j, "number", "Number", "no") && r.reads(j+1, "of", "Of")
}

// isPrice reports whether the words behind the number at token i make it an amount, although an order, a phone or a card stands
// before it: phone 15000 का है, card से 2000 कटे.
func (r *reader) isPrice(i int) bool {
	if len(r.str(i)) > 6 || r.isTailWord(i-1) || r.reads(i-1, "in", "with") && r.isTailWord(i-2) {
		return false
	}
	isPaid := r.isWord(i+1, paid) || r.reads(i+1, "ka", "ki", "का", "की") && r.isWord(i+2, paid) // 2000 का भुगतान
	if r.reads(i+1, "ka", "का") && r.at(i+2).kind == nothing {
		return true // order kar diya 487 ka
	}
	isExceeded := r.reads(i+1, "se", "से") && r.isWord(i+2, more) // 2000 से ज़्यादा
	isEach := r.reads(i+1, "each")                                // 2 ticket, 850 each
	if isPaid || isExceeded || isEach {
		return true
	}
	s := r.str(i)
	if tail := s[len(s)-2:]; tail != "00" && tail != "50" && tail != "99" && tail != "49" {
		return false // prices are round, or just below it
	}
	if r.reads(i+1, "mein", "me", "में") {
		return true
	}
	return r.in(i+1, possessive) && r.in(i+2, priced)
}

// isTailWord reports whether token i says that the tail of a number follows: ending 2299, अंतिम 4410.
func (r *reader) isTailWord(i int) bool { return r.isWord(i, lastWord) || r.reads(i, "ends", "Ends") }

// dottedBefore joins the initials that end with token j, as in O.T.P., and looks them up. first is the token of the first one.
func (r *reader) dottedBefore(j int) (e *entry, first int) {
	var buf [5]byte
	n := len(buf)
	for {
		n--
		buf[n] = r.text[r.toks[j].a]
		if n == 0 || !r.isSign(j-1, '.') || !r.single(j-2) {
			return lookUp(string(buf[n:])), j
		}
		j -= 2
	}
}

// isIs reports whether token i is the verb between a code word and its code.
func (r *reader) isIs(i int) bool {
	return r.reads(i, "is", "hai", "है", "are", "was", "h", "tha", "था")
}

// contextAfter looks at the words behind token i: 482913 is your OTP, 9087 पर समाप्त.
func (r *reader) contextAfter(i int) nearness {
	if next := r.at(i); next.word.is(dialled) && !next.word.is(afterPar) || r.isPar(i) && r.isWord(i+1, dialled) {
		return idNear
	}
	if r.reads(i, "number", "no", "नंबर") && r.isWord(i+1, dialled) {
		return idNear
	}
	words := 0
	for j := i; j < r.stop && words < reach && j-i < 8; j++ {
		t := r.at(j)
		switch t.kind {
		case digits:
			return noContext
		case sign:
			if t.ch != ':' && t.ch != '(' && t.ch != '"' {
				return noContext
			}
		case latin, deva:
			if t.word.is(codeWord) && !r.countedAt(j+1) {
				return codeNear
			}
			words++
		}
	}
	return noContext
}

// isPar reports whether token i is the postposition "on".
func (r *reader) isPar(i int) bool {
	return r.reads(i, "पर", "par", "pe", "pr", "पे")
}

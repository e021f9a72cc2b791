package normalize

// The wordings that make a number a code although no word before it says so.

// mayBeCode reports whether the number at token i is as long as codes are, and neither a price nor a year of ours with its noun.
func (r *reader) mayBeCode(i int) bool {
	if y := r.small(i, 4); 1950 <= y && y < 2050 && r.at(i+1).inSmallLetters() {
		return false
	}
	return len(r.str(i)) <= 8 && !r.isPaidOrRound(i)
}

// isTail reports whether a count of last digits stands before the number at token i, which has so many.
func (r *reader) isTail(i int) bool {
	for j := i - 1; j > i-6 && j > r.start; j-- {
		if r.at(j).kind == digits {
			if r.small(j, 1) != len(r.str(i)) {
				return false
			}
			return r.isWord(j-1, lastWord) || r.isWord(j-2, lastWord) && r.isWord(j-1, idWord)
		}
	}
	return false
}

// isAnother reports whether the number at token i is one more of those that a word of accounts or numbers names, and as long: bus
// number 543 ya 544.
func (r *reader) isAnother(i int) bool {
	if !r.in(i-1, another) && !r.isSign(i-1, '&') {
		return false
	}
	if r.at(i-2).kind != digits || len(r.str(i-2)) != len(r.str(i)) || r.isPaidOrRound(i) {
		return false
	}
	first := i - 2
	for r.at(first-1).kind == digits {
		first-- // acc no 2051 0040 3398 या 3389
	}
	return r.context(first).what == idNear
}

// isBankTail reports whether the number at token i is the tail of an account, which people name by its bank: sbi wale 8834 me.
func (r *reader) isBankTail(i int) bool {
	named := r.in(i-1, bank) || r.in(i-2, bank) && (r.in(i-1, possessive) || r.in(i-1, ownedBy))
	into := r.in(i+1, intoAccount)
	return len(r.str(i)) == 4 && named && into && !r.isPaidOrRound(i)
}

// isTrain reports whether the five digits at token i are the number of a train whose name follows: 12301 Howrah Rajdhani.
func (r *reader) isTrain(i int) bool {
	if len(r.str(i)) != 5 {
		return false
	}
	for j := i + 1; j < min(r.stop, i+5); j++ {
		if r.in(j, trainName) {
			return true
		}
		if r.at(j).kind != latin && r.at(j).kind != deva && !r.at(j).isOneOf("-(/") {
			return false
		}
	}
	return false
}

// isTravelling reports whether the sentence speaks of journeys near token i, by a word or by the codes of stations.
func (r *reader) isTravelling(i int) bool {
	for j := max(r.start, i-10); j < min(r.stop, i+10); j++ {
		if r.isWord(j, travel) || r.isStation(j) {
			return true
		}
	}
	return false
}

// isPaidOrRound reports whether the number at token i may be a price: it is round, or words around it pay or count it.
func (r *reader) isPaidOrRound(i int) bool {
	s := r.str(i)
	if s[len(s)-2:] == "00" && !r.zeroLed(i) || r.countedAt(i+1) {
		return true
	}
	return r.isPrice(i) || r.isWord(i-1, amountOf) || r.currencyCode(i-1) > 0
}

// isCodeObject reports whether the number at token i is what a verb of codes has for its object.
func (r *reader) isCodeObject(i int) bool {
	if r.isWord(i-1, codeVerb) || r.isWord(i-2, codeVerb) && r.in(i-1, beforeUsedCode) {
		return r.at(i-1).kind == latin
	}
	if r.isWord(i+1, codeVerb) {
		return true
	}
	signs := r.in(i+2, loginVerb)
	if r.reads(i+1, "se", "से", "to") && signs {
		return true
	}
	between := r.in(i+1, beforeCodeVerb)
	return between && (r.isWord(i+2, codeVerb) || r.isWord(i+3, codeVerb))
}

// isCodeSubject reports whether the words behind the number at token i say that it is a code: 402917 is your login code.
func (r *reader) isCodeSubject(i int) bool {
	t := r.at(i + 1)
	if !t.kind.lettered() {
		return false
	}
	if !r.isIs(i+1) && !r.in(i+1, beforeCodeName) {
		return false
	}
	for j := i + 1; j < r.stop && j < i+9; j++ {
		switch t := r.at(j); {
		case t.kind == digits, t.isOneOf(".,;" + string(rune(danda))):
			return false
		case t.word.is(codeWord) && !r.countedAt(j+1):
			return true
		case r.reads(j, "टाइम", "time") && r.reads(j-1, "वन", "one", "One"):
			return true
		}
	}
	return false
}

// isHalved reports whether the number at token i is half of a code in two groups of three: 550 172 is your code.
func (r *reader) isHalved(i int) bool {
	return r.inTwoThrees(i) && r.isCodeSubject(i+1)
}

// inTwoThrees reports whether the number at token i has three digits, and another of three follows: 550 172.
func (r *reader) inTwoThrees(i int) bool {
	second := r.at(i + 1)
	return len(r.str(i)) == 3 && second.kind == digits && second.gap && len(r.str(i+1)) == 3
}

// followsCode reports whether the sentence spoke of a code before the number at token i, which is a new or an old one, has a zero in
// front or as many digits as a code.
func (r *reader) followsCode(i int) bool {
	n := len(r.str(i))
	renews := r.isWord(i-1, renewed) || r.isWord(i-2, renewed)
	if !renews && !r.zeroLed(i) && n != 6 {
		return false
	}
	return r.spokeOfCode(i)
}

// spokeOfCode reports whether a word of codes stands in front of token i in its sentence.
func (r *reader) spokeOfCode(i int) bool {
	for j := i - 1; j >= r.start && i-j < lookahead; j-- {
		if r.isWord(j, codeWord) {
			return true
		}
	}
	return false
}

// isBlocked reports whether the number at token i is the tail of what a message to a bank blocks: BLOCK ACT 1233 to 7189.
func (r *reader) isBlocked(i int) bool {
	shouted := r.in(i-2, blocking) && r.at(i-2).cas == upper && r.at(i-1).cas == upper
	return shouted && (r.reads(i+1, "to", "TO") && r.at(i+2).kind == digits || r.reads(i-1, "ACT"))
}

// isShortNumber reports whether the number at token i is one that messages are sent to: Text HELP to 56767, STOP bhejo 56161 par.
func (r *reader) isShortNumber(i int) bool {
	if n := len(r.str(i)); n < 5 || n > 6 {
		return false
	}
	to := r.reads(i-1, "to", "on") || r.isPar(i+1) || r.reads(i+1, "ko", "को")
	if !to {
		return false
	}
	for j := max(r.start, i-10); j < min(r.stop, i+6); j++ {
		if r.isWord(j, messages) {
			return true
		}
	}
	return false
}

// isAddressEnd reports whether the six digits at token i are the postal code that ends an Indian address: a name stands before them,
// and what stands before that looks like an address.
func (r *reader) isAddressEnd(i int) bool {
	before := i - 1
	for r.at(before).isOneOf(hyphens + ",(:") {
		before--
	}
	t, next := r.at(before), r.at(i+1)
	name := t.kind == deva || t.kind == latin && t.cas != lower
	ends := next.kind == nothing || next.isOneOf(".,;)?!"+string(rune(danda))) || next.kind == emoji
	notName := amountOf | idWord | paid | hindiFunction | englishWord | codeWord | month
	if !name || !ends || t.word.is(notName) || r.in(before, notPlace) {
		return false
	}
	commas := 0
	for j := before - 1; j >= r.start && before-j < 24; j-- {
		switch {
		case r.isWord(j, place|addressWord|city|coach) || r.isWord(before, addressWord|city):
			return true
		case r.isSign(j, ','):
			commas++
		}
	}
	return commas >= 2
}

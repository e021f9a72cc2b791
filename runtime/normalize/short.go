package normalize

import "github.com/swar-tts/swar/runtime/speech"

// shortForm says in full what is written short: Dr. Rao, No. 5, A/c, approx.
func (r *reader) shortForm(i int) int {
	if next := r.strokedForm(i); next > i {
		return next
	}
	t := r.at(i)
	e := t.word
	if !e.is(shortened) || r.joined(i) {
		return i
	}
	next := i + 1
	if t.cas == upper && (!r.looseEnd(next) || r.numberBehind(next, '-')) {
		return i // TXN9087 is a code, and TKT-000123
	}
	if quoted := r.at(i-1).isOneOf("\"'") && r.at(next).isOneOf("\"'"); quoted && t.cas == upper {
		return i // SMS 'BAL' to 9223766666
	}
	dot := r.isSign(next, '.') && !r.tightSign(next+1, '.')
	if dot && !r.last(next) {
		next++
	}
	dot = dot || r.stopsBehind(next)
	if !r.isShort(i, next, dot) {
		return i
	}
	full := e.en
	if e.is(dotOrTitle) && r.str(i) == "Dr" && r.currencyCode(next) > 0 {
		full = "debit"
	}
	if t.kind == deva {
		full = e.hi
	}
	if full == "" {
		full = r.str(i)
	}
	r.begin(i, speech.SpanAbbreviation)
	r.say(full)
	return r.end(next)
}

// chatForm says in full what chats spell short: krna, tk.
func (r *reader) chatForm(i int) int {
	t := r.at(i)
	c := t.word.chat
	if c == nil || r.joined(i) {
		return i
	}
	if t.cas == upper {
		isCode := !r.looseEnd(i+1) || r.numberBehind(i+1, '-')
		shouted := r.isShouted(i-1) || r.isShouted(i+1) // KYA KR RHA
		if isCode || c.letters && !shouted {
			return i
		}
	}
	r.begin(i, speech.SpanAbbreviation)
	r.say(c.full)
	return r.end(i + 1)
}

// isShouted reports whether token i is a word of Roman Hindi in capitals.
func (r *reader) isShouted(i int) bool {
	return r.at(i).cas == upper && !r.single(i) && r.at(i).word.is(anyHindi)
}

// stopsBehind reports whether marks of which only a full stop will be left begin at token i: fri,.
func (r *reader) stopsBehind(i int) bool {
	j := i
	for j < i+lookahead && r.at(j).isOneOf(",;:") {
		j++
	}
	return j > i && r.isSign(j, '.') && !r.tightSign(j+1, '.')
}

// strokedForm reads A/c, w/ and the cr of money that came.
func (r *reader) strokedForm(i int) int {
	full, next := r.stroked(i), i+3
	switch {
	case full != "":
	case r.reads(i, "w", "W") && r.reads(i+2, "in") && r.beginsStroked(i):
		full = "within"
	case r.reads(i, "a", "A") && r.reads(i+2, "cs", "Cs", "CS", "c's") && r.beginsStroked(i):
		full = "accounts"
	case r.reads(i, "w") && r.isWith(i):
		full, next = "with", i+2 // no Hindi word fits in front of its noun
	default:
		a, ok := r.amountBefore(i)
		if !ok || !r.isCredited(i, &a) {
			return i
		}
		full, next = "credited", i+1
		if r.tightSign(next, '.') {
			next++
		}
	}
	r.begin(i, speech.SpanAbbreviation)
	r.say(full)
	return r.end(next)
}

// beginsStroked reports whether token i is the first of two words that a stroke joins.
func (r *reader) beginsStroked(i int) bool {
	return !r.joined(i) && r.tightSign(i+1, '/') && r.tight(i+2)
}

// isShort reports whether the word at token i is short for another where it stands; next is the token behind it and its dot.
func (r *reader) isShort(i, next int, dot bool) bool {
	t := r.at(i)
	switch e := t.word; {
	case e.is(beforeID):
		long := r.at(next).kind == digits && len(r.str(next)) >= 4
		if r.crosses(next) || r.loneCross(next) {
			return true // AC X1583
		}
		return t.cas != upper && (long || r.isSign(next, '#') || r.reads(next, "no", "No", "number", "नंबर", "नं")) // the AC is a cooler
	case e.is(beforeNumber):
		// Account no. ending, 4 nos, 2 no. ka kaam, card no batao
		withoutNumber := dot && r.named(i) || r.countsPieces(i, next) || r.endsName(i, next)
		return withoutNumber || r.isNumbering(i, next, dot)
	case e.is(dotOrTitle) && (t.kind != latin || t.cas == title):
		return true
	case e.is(needsDot | dotOrTitle):
		return dot && !(r.in(i, alsoWord) && r.isWordBeforeStop(i, next))
	}
	return true
}

// isWordBeforeStop reports whether a word that is a short form, too, stands at token i in full, and the dot before next ends its sentence:
// piece of art. A short form goes on with a number, a small letter or, with a capital of its own, a name: fig. 3, max. weight, Col. Rao.
func (r *reader) isWordBeforeStop(i, next int) bool {
	switch n := r.at(next); {
	case n.kind == nothing, r.isSign(next, '.'):
		return true
	case r.isWord(i, romanHead) && romanValue(r.atWord(next)) > 0:
		return false // vol. I
	case n.kind == latin && n.cas != lower:
		return r.at(i).cas == lower
	case n.kind == deva:
		return r.at(i).cas == lower && r.at(i).kind == latin
	}
	return false
}

// isNumbering reports whether the no, page or phone at token i, with or without its dot, is short before the number that follows.
func (r *reader) isNumbering(i, next int, dot bool) bool {
	t := r.at(i)
	named := r.isNo(next) || r.reads(next, "number") || r.isSign(next, '#')
	if named && t.cas != mixed && !r.in(i, ownWord) {
		return true // pg no 12, pg #12
	}
	if t.cas == mixed || !r.numberFollows(next) {
		return false // pH 7 is no phone
	}
	if u, _ := r.unit(next + 1); u != nil && r.reads(i, "tel") {
		return false // tel 1ltr is oil
	}
	marked := dot || r.isSign(next, ':')
	two := t.cas == upper && t.b-t.a == 2
	answer := !marked && r.in(i, ownWord) && (t.cas == lower || two) // no 5, NO 5
	return !answer || r.named(i) || r.isLongCode(next)
}

// isNo reports whether token i is the short form of number.
func (r *reader) isNo(i int) bool { return r.reads(i, "no", "No", "NO") }

// endsName reports whether the no at token i, without a number behind it, is the number of what stands before it: card no batao.
func (r *reader) endsName(i, next int) bool {
	if !r.isNo(i) {
		return false
	}
	owned := next > i+1 && r.in(i-1, owner) // mera no. save kar lo
	stroked := r.beginsStroked(i-3) && r.stroked(i-3) != ""
	if !owned && !stroked && !r.isWord(i-1, idWord|numbersThings|beforeID) {
		return false
	}
	t := r.at(next)
	switch {
	case r.lang == english:
		return r.in(next, behindNumber) || t.isOneOf("&>)")
	case t.kind == nothing, t.isOneOf("?,"):
		return true
	}
	return owned || t.word.is(hindiWord|codeVerb)
}

// countsPieces reports whether the no or nos at token i, whose dot ends before next, has its number before it.
func (r *reader) countsPieces(i, next int) bool {
	if r.at(i-1).kind != digits || len(r.str(i-1)) > 4 {
		return false
	}
	if r.reads(i, "nos", "Nos", "NOS") {
		return true
	}
	return r.reads(i, "no", "No") && next > i+1 && (r.at(next).kind.lettered() || r.at(next).kind == nothing)
}

// isLongCode reports whether what begins at token i is so long, or so mixed, that the no before it can be no answer.
func (r *reader) isLongCode(i int) bool {
	t := r.at(i)
	if t.kind == digits {
		if r.joined(i+1) && r.currencyCode(i+1) == 0 {
			return true
		}
		n := len(r.str(i))
		return n >= 5 || n >= 3 && r.at(i+1).kind == digits
	}
	return t.cas == upper && (r.codeLetters(i) || r.at(i+1).kind == digits && len(r.str(i+1)) >= 3)
}

// amountBefore is the money in front of the cr at token i, as far as [reader.isCredited] needs it.
func (r *reader) amountBefore(i int) (a amount, ok bool) {
	if !r.reads(i, "cr", "Cr", "CR") || r.at(i-1).kind != digits {
		return a, false
	}
	for j := i - 1; j > i-8 && j >= r.start; j-- {
		if r.at(j).isCurrency() || r.currencyCode(j) > 0 {
			a.cur = rupees
			return a, true
		}
	}
	return a, false
}

// isWith reports whether the w at token i is that of w/ in front of a word.
func (r *reader) isWith(i int) bool {
	if r.joined(i) || !r.tightSign(i+1, '/') {
		return false
	}
	noun := r.at(i + 2)
	return noun.gap && noun.kind.wordLike()
}

// named reports whether the word before token i says whose number it is.
func (r *reader) named(i int) bool {
	switch {
	case r.isWord(i-1, idWord|dotOrNone|numbersThings|beforeID), r.isAcronym(i - 1), r.stroked(i-3) == "account":
		return true
	case r.isSign(i-1, '.'):
		return r.isWord(i-2, idWord|dotOrNone)
	}
	if r.isSign(i+1, '.') && r.isIs(i+2) && r.in(i-1, owner) {
		return true // mera no. hai 98
	}
	next := i + 1
	if r.tightSign(next, '.') {
		next++
	}
	if r.in(i-1, owner) && (r.reads(next+1, "double", "triple") || r.singles(next) > next+4) {
		return true // uska no 9 triple 4
	}
	return r.in(i-1, possessive) && r.isLongCode(next)
}

// codeLetters reports whether the letters at token i go on with digits: A-12, SAVE50, XX3345.
func (r *reader) codeLetters(i int) bool {
	j := i + 1
	if r.tightSign(j, '-') || r.tightSign(j, '/') {
		j++
	}
	return r.tightDigits(j) || r.crosses(i)
}

// numberFollows reports whether a number or a code begins at token i.
func (r *reader) numberFollows(i int) bool {
	t := r.at(i)
	if next, wide := r.mask(i); wide > 1 && r.isSign(i, '*') && r.at(next).kind == digits {
		return true // No **9242
	}
	if t.isOneOf("#:-+") {
		t = r.at(i + 1)
	}
	if t.kind == deva {
		return r.tightDigits(i+1) || r.tightSign(i+1, '-') && r.tightDigits(i+2) // एमपी4471, एमपी-4471
	}
	if !t.inCapitals() {
		return t.kind == digits
	}
	if j := i + 1; (r.tightSign(j, '/') || r.tightSign(j, '-')) && r.tight(j+1) && r.at(j+1).inCapitals() {
		return true // DL/CPM/0041177
	}
	vehicle := isIn(states, r.str(i)) && r.at(i+1).kind == digits // MH 12
	return vehicle || r.codeLetters(i)
}

// stroked returns what A/c, C/o and their like say, "" for anything else at token i.
func (r *reader) stroked(i int) string {
	if !r.single(i) || !r.tightSign(i+1, '/') || !r.tightLetter(i+2) || !r.looseEnd(i+3) {
		return ""
	}
	if r.reads(i, "w") && r.reads(i+2, "o") && !(r.at(i-1).cas == title && r.at(i+3).cas == title) {
		return r.lang.words[wordWithout] // between two names it is wife of
	}
	return strokedForms[string([]byte{r.text[r.toks[i].a] | 0x20, r.text[r.toks[i+2].a] | 0x20})]
}

// dottedForm reads e.g., w.r.t., H.No. and कि.मी.
func (r *reader) dottedForm(i int) int {
	if !r.tightSign(i+1, '.') || !r.tight(i+2) || r.at(i+2).kind != r.at(i).kind || r.joined(i) {
		return i
	}
	var buf [24]byte
	key := buf[:0]
	j := i
	for {
		s := r.str(j)
		if len(key)+len(s) > cap(key) {
			return i
		}
		low, _ := fold(key[len(key):], s)
		key = key[:len(key)+len(low)]
		if !r.tightSign(j+1, '.') || !r.tight(j+2) || r.at(j+2).kind != r.at(i).kind {
			break
		}
		j += 2
	}
	full := dottedForms[string(key)]
	if string(key) == "pm" && (r.isSign(i-1, '%') || r.isMoneyBehind(i-1)) {
		full = r.lang.words[wordPerMonth] // interest, never the afternoon
	}
	if full == "" {
		return i
	}
	next := j + 1
	if r.tightSign(next, '.') && (!r.last(next) || r.isSign(next+1, ')')) {
		next++
	}
	r.begin(i, speech.SpanAbbreviation)
	r.say(full)
	return r.end(next)
}

// isAcronym reports whether token i is two to five capitals that are spelled: the GST of GST no.
func (r *reader) isAcronym(i int) bool {
	t := r.at(i)
	n := t.b - t.a
	return t.inCapitals() && 2 <= n && n <= 5 && !saidAsWord(t.word)
}

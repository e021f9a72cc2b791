package normalize

// sentence finds the end of the sentence that begins at token i, and its language. What is read never depends on anything outside
// its sentence, so a text may be cut at sentence ends before or after normalising.
func (r *reader) sentence(i int) {
	before := r.lang
	r.start, r.stop = i, r.line(i)
	r.said, r.opened = false, 0
	r.toks[i].gap = true
	var t tally
	end := r.weighSentence(i, &t)
	// Digit names alone do not make a sentence Hindi: an English one has them too once its codes have been read.
	r.lang = english
	if isHome(&t.found, &languageWeights, t.unknown) {
		r.lang = r.home
	}
	r.several = r.several || i > 1 && r.lang != before
	if r.only != nil {
		r.lang = r.only
	}
	wordless := t.unknown == 0
	for _, n := range t.found[functionWord:] {
		wordless = wordless && n == 0
	}
	r.danda = t.found[devanagariWord] > 0 || r.lang == r.home && wordless && t.found[devanagariDigits] == 0
	r.stop = end
	r.explainSentence(i)
}

// weighSentence adds the words of the sentence that begins at token i to t, and returns where it ends.
func (r *reader) weighSentence(i int, t *tally) (end int) {
	for j := i; j < r.stop; j++ {
		if !r.toks[j].put {
			r.weigh(j, t)
		}
		if r.endsSentence(j) {
			for j++; r.closes(j); j++ {
			}
			return j
		}
	}
	return r.stop
}

// saidByLetters reports whether t is short and in capitals, and not known as a word.
func (t *token) saidByLetters() bool {
	if t.cas != upper {
		return false
	}
	n := t.b - t.a
	return n <= 2 && !t.word.is(englishWord) || n <= 6 && !saidAsWord(t.word)
}

// endsClause reports whether a clause ends before token j. An English article never stands there, so the is थे.
func (r *reader) endsClause(j int) bool {
	t := r.at(j)
	return t.kind == nothing || t.isOneOf(".,?!"+string(rune(danda)))
}

// line returns the end of the line that token i is in.
func (r *reader) line(i int) int {
	if i >= r.lineStop {
		r.lineStop = i + 1
		for r.lineStop < len(r.toks)-1 && !r.toks[r.lineStop].line {
			r.lineStop++
		}
	}
	return r.lineStop
}

// inAddressBlob reports whether the word at token j is part of an e-mail or a web address, which has no language.
func (r *reader) inAddressBlob(j int) bool {
	b := r.toks[j].blob
	if b&(hasAt|hasSlashes) != 0 {
		return true
	}
	if b&hasDot == 0 {
		return false
	}
	before := r.tightSign(j+1, '.') && r.tight(j+2) && r.at(j+2).kind == latin
	behind := r.tight(j) && r.isSign(j-1, '.')
	return before || behind
}

// symbol reports whether the Latin word at token j is a symbol beside a number: kg, Rs, PM, Aug.
func (r *reader) symbol(j int) bool {
	t := r.at(j)
	ofLanguage := t.word.is(hindiWord | hindiMaybe | englishWord) // 5hai
	if r.at(j-1).kind == digits && (r.tight(j) && !ofLanguage || t.word.is(meridiem|scaleWord)) {
		return true
	}
	if r.isMeasure(j) {
		return true
	}
	if t.word.is(month) && t.b-t.a <= 4 && (r.at(j+1).kind == digits || r.at(j-1).kind == digits) {
		return true
	}
	over := r.isSign(j-1, '/') && r.tight(j) && r.isMeasure(j-2) && r.unitText(j, j+1) != nil // km/hr
	micro := r.at(j-1).kind == foreign && r.tight(j) && r.at(j-2).kind == digits              // 35 µm
	return over || micro || r.currencyCode(j) > 0 || r.cross(j)
}

// endsSentence reports whether a sentence ends with token j.
func (r *reader) endsSentence(j int) bool {
	t := &r.toks[j]
	if t.kind != sign {
		return false
	}
	switch t.ch {
	case danda:
		return true
	case '?', '!':
		next := r.at(j + 1)
		if r.at(j-1).kind == digits && next.isOneOf("=+*/") {
			return false // 5! = 120
		}
		unsaid := next.kind == nothing || next.kind == emoji || next.kind == tag
		another := next.kind.lettered() && next.blob == 0 // Kya?Haan
		return unsaid || another || next.gap || r.closes(j+1)
	case '|':
		return r.isDanda(j)
	case '.':
		return r.fullStop(j)
	}
	return false
}

// isDanda reports whether the bar at j stands for a danda: behind a Devanagari word, and nothing but a gap after it.
func (r *reader) isDanda(j int) bool {
	p := r.at(j - 1)
	if p.kind == sign && p.ch == '|' { // || is a double danda
		p = r.at(j - 2)
	}
	next := r.at(j + 1)
	return p.kind == deva && (next.gap || next.kind == nothing || r.isSign(j+1, '|'))
}

// fullStop reports whether the dot at j ends a sentence, and not an abbreviation, an initial or a list number.
func (r *reader) fullStop(j int) bool {
	next := r.at(j + 1)
	if next.kind == nothing {
		return true
	}
	if next.kind != tag && !next.gap && !r.closes(j+1) {
		return r.isMisplacedStop(j) // else inside a word, a number or an ellipsis
	}
	p := r.at(j - 1)
	switch {
	case p.kind == sign && p.ch == '.':
		return next.cas == title || next.cas == upper // an ellipsis
	case !r.tight(j):
		return true
	case p.kind == digits && j-1 == r.start, r.isPointedTrain(j - 1):
		return false // 1. first item
	case p.word.is(needsDot|dotOrTitle|dotOrNone) && !(p.kind == latin && r.isMeasure(j-1)):
		// Min. order, but not: in 15 min. Delivery; pens etc. Call us
		ends := r.in(j-1, endsPhrase) && (next.cas == title || next.kind == deva && p.kind == latin)
		return ends || r.stopBehindShort(j) || r.in(j-1, alsoWord) && r.isWordBeforeStop(j-1, j+1)
	case r.currencyCode(j-1) > 0:
		return r.stopBehindCurrency(j)
	case p.word.is(beforeNumber):
		return r.stopBehindNumber(j)
	case p.kind == latin:
		return r.stopBehindLatin(j)
	case p.kind == deva:
		return r.stopBehindDevanagari(j)
	}
	return true
}

// stopBehindDevanagari is fullStop for the dot at j behind a word of Devanagari: none behind से. 3, ई. पू. में, 28 नवं. and कि.मी.
func (r *reader) stopBehindDevanagari(j int) bool {
	p, next := r.at(j-1), r.at(j+1)
	if r.isSpacedInitial(j - 1) {
		return false
	}
	if len(p.word.beside) > 0 {
		goesOn := next.kind == digits || next.word.is(shortened) || len(next.word.beside) > 0
		if goesOn || r.reads(j-3, "ई", "प्रा") {
			return false
		}
	}
	if (hindiShortMonths[r.str(j-1)] > 0 || r.reads(j-1, "ई")) && r.at(j-2).kind == digits {
		return false
	}
	return p.b-p.a > 12 || !(r.tightSign(j-2, '.') && r.tight(j-1))
}

// isMisplacedStop reports whether the dot at j has its gap before it and not behind it: ok .Haan.
func (r *reader) isMisplacedStop(j int) bool {
	next := r.at(j + 1)
	return r.at(j).gap && next.kind.lettered() && next.blob&hasDot == 0 && !r.isDotOfName(j)
}

// stopBehindNumber is fullStop for the dot at j behind No. and its like.
func (r *reader) stopBehindNumber(j int) bool {
	p, next := r.at(j-1), r.at(j+1)
	switch {
	case p.kind == deva && r.named(j-1), r.countsPieces(j-1, j+1):
		return false // ऑर्डर सं. ओडी-22014, 2 no. ka kaam
	case p.kind == deva && r.numberFollows(j+1):
		return false // मीटर सं. एमपी4471
	case p.kind == deva && r.tightSign(j-2, '.') && r.tight(j-1):
		return false // म.प्र.
	case next.inSmallLetters() && r.named(j-1):
		return false // Account no. ending
	}
	return next.kind != digits && !next.isOneOf("#+(") && next.cas != upper
}

// stopBehindLatin is fullStop for the dot at j behind a Latin word.
func (r *reader) stopBehindLatin(j int) bool {
	p, next := r.at(j-1), r.at(j+1)
	switch {
	case next.inSmallLetters() && r.hasShortDot(j-1):
		return false // 5 kg. rice, 1200 sq. ft. in all
	case next.inSmallLetters() && r.reads(j-1, "CR", "DR") && r.isMoneyBehind(j-2):
		return false // Rs 640.00 CR. to your wallet
	case p.word.is(month) && next.kind == digits:
		return !r.isDateBehindMonth(j)
	case p.cas != upper && len(p.word.beside) > 0 && (next.inSmallLetters() || next.kind == digits):
		return false // dep. 21:05, ref. 5214, pl. clear your dues
	case p.word.chat != nil && p.cas != lower && len(p.word.beside) > 0:
		return false // Kr. Vivek
	case p.b-p.a == 1:
		return r.stopBehindLetter(j)
	case r.degree(j - 1):
		return next.kind != deva && next.kind != digits && next.cas != lower // M.Sc. hai
	}
	return true
}

// opensSentence reports whether token i is a word with a capital that hardly any name is or has inside.
func (r *reader) opensSentence(i int) bool {
	t := r.at(i)
	return t.cas == title && t.word.is(englishWord|hindiFunction|hindiVerb) && !r.in(i, joiner)
}

// stopBehindShort reports whether the dot at j, behind a short form that is no title, ends the sentence, too: 500 approx. Please; but Opp. The
// Grand Hotel.
func (r *reader) stopBehindShort(j int) bool {
	title := r.isWord(j-1, dotOrTitle) && !r.isWord(j-1, weekday)
	if title || r.at(j-1).cas == upper || r.reads(j+1, "The", "A", "An") {
		return false
	}
	return r.opensSentence(j+1) && !r.reads(j-1, "vs", "Vs")
}

// stopBehindLetter is fullStop for the dot at j behind a letter: of initials and U.S.A. it ends none, but one before a word that hardly any
// name is, and that of 7 p.m. before a capital.
func (r *reader) stopBehindLetter(j int) bool {
	next := r.at(j + 1)
	opens := r.opensSentence(j + 1)
	switch {
	case r.isSpacedInitial(j - 1):
		return false
	case r.at(j-4).kind == digits && r.isDottedMeridiem(j-3):
		return r.opensBehindTime(j)
	case r.tightSign(j-2, '.') && r.tight(j-1):
		return opens && r.at(j-1).cas == upper
	}
	return opens || r.at(j-1).cas != upper || next.cas != title || r.isLettered(j-2)
}

// opensBehindTime reports whether what stands behind the dot of 7 p.m. at token j begins a sentence: a capital that is no day and no title, or
// Devanagari where there was none.
func (r *reader) opensBehindTime(j int) bool {
	next := r.at(j + 1)
	if next.kind == latin {
		return next.cas == title && !next.word.is(weekday|month|dotOrTitle) && !r.in(j+1, joiner)
	}
	if next.kind != deva || r.in(j+1, tiesTime) || next.word.is(weekday|month|dayPart|oclock) {
		return false
	}
	for k := max(r.start, j-16); k < j; k++ {
		if r.at(k).kind == deva {
			return false
		}
	}
	return true
}

// isDateBehindMonth reports whether the number behind the dot at token j goes on with the short month before it: Jan. 5, 9 Feb. 2027; but
// not till 20 Dec. 100 Mbps.
func (r *reader) isDateBehindMonth(j int) bool {
	if m, _ := r.monthAt(j - 1); m == 0 || len(r.str(j-1)) > 4 || r.countedAt(j+2) {
		return false
	}
	n := r.small(j+1, 4)
	if r.at(j-2).kind == digits {
		return 1900 <= n && n < 2100
	}
	return 1 <= n && n <= 31 || 1900 <= n && n < 2100
}

// isMeasure reports whether token i is a unit and a number stands before it.
func (r *reader) isMeasure(i int) bool { return r.at(i-1).kind == digits && r.unitText(i, i+1) != nil }

// stopBehindCurrency is fullStop for the dot at j behind a short form of a currency: it ends 60 rs. Cash, but neither
// Rs. 500 nor 500 रु. जमा करें.
func (r *reader) stopBehindCurrency(j int) bool {
	before, next := r.at(j-2), r.at(j+1)
	switch {
	case next.kind == digits, before.kind == sign, r.currencyCode(j+1) > 0, next.isOneOf(".") && r.tightDigits(j+2):
		return false
	case before.kind == digits, before.word.is(scaleWord):
		return next.kind != deva && !next.inSmallLetters()
	}
	return true
}

// hasShortDot reports whether the word at token i may have a dot because it is short: a unit, a month, square.
func (r *reader) hasShortDot(i int) bool {
	return r.unitText(i, i+1) != nil || r.isWord(i, month) || squareWord(r.str(i)) || r.reads(i, "Cr")
}

// closes reports whether token j is a closing quote or bracket directly behind the token before.
func (r *reader) closes(j int) bool {
	t := r.at(j)
	return !t.gap && t.isOneOf("\"')]")
}

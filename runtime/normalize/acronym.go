package normalize

import (
	"strings"

	"github.com/swar-tts/swar/runtime/speech"
)

// acronym spells a word in capitals, unless it is known to be said as a word.
func (r *reader) acronym(i int) int {
	t := r.at(i)
	n := int(t.b - t.a)
	if n < 2 {
		return i
	}
	s, tail := r.str(i), ""
	switch {
	case t.cas == upper && !strings.Contains(s, "'"):
	case t.cas == mixed && strings.HasSuffix(s, "'s") && allUpper(s[:n-2]):
		s, tail = s[:n-2], "'s"
	case isPlural(s):
		s, tail = s[:n-1], "s"
	default:
		return i
	}
	brand := n == 2 && r.tightSign(i+1, '&') && r.tight(i+2) && r.single(i+2) // AT&T
	if len(s) > 6 || len(s) < 2 || !ascii(s) {
		return i
	}
	if saidAsWord(lookUp(s)) && !brand || tail == "" && isLongWord(s) {
		return i
	}
	r.begin(i, speech.SpanAcronym)
	r.letters(s, r.lang)
	switch {
	case r.lang != english:
	case tail == "s":
		r.say("s")
	case tail != "":
		r.out = append(r.out, tail...)
	}
	return r.end(i + 1)
}

// isLongWord reports whether capitals that the lexicon does not know are a word: the plural of one that it knows, or six letters that can
// be said: STORES, MARUTI.
func isLongWord(s string) bool {
	n := len(s)
	if n >= 5 && s[n-1] == 'S' && lookUp(s[:n-1]).is(plain) {
		return true
	}
	vowels, run := 0, 0
	for i := range n {
		if strings.IndexByte("AEIOU", s[i]) >= 0 {
			vowels++
			run = 0
			continue
		}
		if run++; run > 2 {
			return false
		}
	}
	return n == 6 && vowels >= 2
}

// saidAsWord reports whether capitals are a word: NASA, PIN, SALE.
func saidAsWord(e *entry) bool {
	return e.is(spoken|plain|hindiWord|englishWord|city) && !e.is(initialism) && (e.chat == nil || !e.chat.letters)
}

// isPlural reports whether s is an acronym with an s: EMIs.
func isPlural(s string) bool { return len(s) > 2 && s[len(s)-1] == 's' && allUpper(s[:len(s)-1]) }

func allUpper(s string) bool {
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return len(s) > 0
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// spacedInitials reads the initials of A. R. Rahman, U. S. A. and ए. के. शर्मा without their dots.
func (r *reader) spacedInitials(i int) int {
	if !r.isSpacedInitial(i) {
		return i
	}
	next := i
	for ; r.isSpacedInitial(next) && next < i+lookahead; next += 2 {
	}
	r.begin(i, speech.SpanAcronym)
	for k := i; k < next; k += 2 {
		if r.at(k).kind == deva {
			r.say(r.str(k))
		} else {
			r.letters(r.str(k), r.lang)
		}
	}
	return r.end(next)
}

// isSpacedInitial reports whether token i is a letter with its dot, apart from another or from the name that follows: R. Ashwin, U. S. A. in.
// Behind a word that letters number, and at the beginning of a line, a letter alone is a mark: Vitamin C. Please, A. Delhi.
func (r *reader) isSpacedInitial(i int) bool {
	kind, name := r.at(i).kind, r.at(i+2)
	if !r.isDottedLetter(i) || r.joined(i) || kind == latin && !name.gap {
		return false
	}
	if spelled := r.single(i-1) || r.isWord(i-1, digitName|expansion); spelled && !r.in(i-1, salutation) {
		return false // the last letter of a code: A M. A. Singh
	}
	if r.isDottedLetter(i+2) && name.kind == kind {
		return true
	}
	switch {
	case r.opensSentence(i + 2), name.kind == nothing, name.isOneOf(".?!" + string(rune(danda))):
		return false
	case r.isSign(i-1, '.') && r.isDottedLetter(i-2) && r.at(i-2).kind == kind:
		return true // the last of several
	case kind == deva:
		return name.kind == deva && r.isSign(i-1, '.') && r.isWord(i-2, dotOrTitle) // डॉ. एस. राधाकृष्णन
	case name.kind != latin || name.cas != title:
		return false
	}
	first := r.text[r.toks[i].a]
	listed := i == r.start && (first < 'F' || first == 'I')
	return !listed && !r.isLettered(i-1)
}

// isDottedLetter reports whether token i is a capital, or the name of a letter in Devanagari, and its dot follows.
func (r *reader) isDottedLetter(i int) bool {
	return r.tightSign(i+1, '.') && (r.capital(i) || r.at(i).kind == deva && r.in(i, letterName))
}

// isLettered reports whether token i is a word that a letter follows, as of Plan B, or the letter or the number of a code.
func (r *reader) isLettered(i int) bool {
	return r.single(i) || r.in(i, planned) || r.isWord(i, lettered|englishHead|place|romanHead|digitName|expansion)
}

// initials reads U.S.A., A.R.Rahman and B.Tech without their dots.
func (r *reader) initials(i int) int {
	if next := r.spacedInitials(i); next > i {
		return next
	}
	if !r.initial(i) || r.tight(i) && r.at(i-1).kind != sign {
		return i
	}
	j := i
	for r.initial(j) {
		j += 2
	}
	if !r.looseEnd(j+1) || !r.single(j) && r.at(j).cas == lower {
		return i
	}
	next := j + 1
	if r.degree(j) && r.tightSign(next, '.') && !r.last(next) {
		r.begin(i, speech.SpanAcronym)
		for k := i; k < j; k += 2 {
			r.letters(r.str(k), r.lang)
		}
		if r.isShortDegree(j) {
			r.letters(r.str(j), r.lang)
		} else {
			r.say(r.str(j))
		}
		return r.end(next + 1)
	}
	if !r.single(j) && !r.isShortDegree(j) {
		next = j // the name behind the initials speaks for itself
	} else if r.tightSign(next, '.') && !r.last(next) {
		next++
	}
	r.begin(i, speech.SpanAcronym)
	for k := i; k < next; k += 2 {
		r.letters(r.str(k), r.lang)
	}
	return r.end(next)
}

// initial reports whether token i is a letter whose dot a letter or a word touches: the U of U.S.A., the B of B.Tech.
func (r *reader) initial(i int) bool {
	return r.single(i) && r.tightSign(i+1, '.') && r.tight(i+2) && r.at(i+2).kind == latin
}

// degree reports whether token j is the word of a degree behind its initial: M.Sc, B.Tech. The dot behind it ends no
// sentence by itself.
func (r *reader) degree(j int) bool {
	return r.at(j).cas == title && r.initial(j-2) && isIn(degrees, r.str(j))
}

// isShortDegree reports whether the word of a degree at token j is itself said by letters: B.Sc., B.Ed. is not.
func (r *reader) isShortDegree(j int) bool { return r.reads(j, "Sc") }

// single reports whether token i is one Latin letter.
func (r *reader) single(i int) bool {
	t := r.at(i)
	return t.kind == latin && t.b-t.a == 1
}

// roman reads a Roman numeral: World War II, Class XII, अग्नि-IV, XIIवीं.
func (r *reader) roman(i int) int {
	if next := r.schoolClass(i); next > i {
		return next
	}
	if next := r.smallRoman(i); next > i {
		return next
	}
	if !r.at(i).inCapitals() {
		return i
	}
	n := romanValue(r.str(i))
	if n == 0 {
		return i
	}
	if r.endsOrdinal(i+1) && r.tight(i+1) {
		return r.hindiOrdinal(i, n)
	}
	if next := r.classRange(i, n); next > i {
		return next
	}
	head := r.romanHead(i)
	if !r.looseEnd(i+1) || !r.isRoman(i, head) {
		return i
	}
	inRow := r.single(i) && (r.isWord(i+1, digitName) || r.capital(i-1))
	if spelled := r.single(i+1) && r.at(i+1).inCapitals(); spelled || inRow {
		return i // letters and digits in a row have been read already
	}
	pronoun := n == 1 && head == i-1 && !r.isSign(head, '.') && r.at(i+1).inSmallLetters() // the part I like
	if pronoun {
		return i
	}
	r.begin(i, speech.SpanNumber)
	r.cardinal(n, r.quantityLang(head+1))
	return r.end(i + 1)
}

// smallRoman reads the numeral of sem vi, which is typed in small letters. An i alone is the pronoun.
func (r *reader) smallRoman(i int) int {
	s := r.str(i)
	if r.at(i).cas != lower || s == "i" || strings.Trim(s, "ivx") != "" {
		return i
	}
	if r.joined(i) || !r.looseEnd(i+1) {
		return i
	}
	n := romanValue(strings.ToUpper(s))
	if n == 0 || n > 12 || !r.in(i-1, smallRomanHead) {
		return i
	}
	if len(s) == 1 && !r.reads(i-1, "sem", "semester") {
		return i
	}
	r.begin(i, speech.SpanNumber)
	r.cardinal(n, r.lang)
	return r.end(i + 1)
}

// classRange reads the classes VI-XII, and IX & X behind their word: n and another numeral that is greater.
func (r *reader) classRange(i int, n uint64) int {
	sep := r.at(i + 1)
	ranged := sep.isOneOf(dashes) && sep.gap == r.at(i+2).gap
	pair := sep.isOneOf("&,") && r.isClass(i-1)
	if !ranged && !pair || r.joined(i) || r.isSign(i-1, '-') {
		return i
	}
	if !r.at(i+2).inCapitals() || !r.looseEnd(i+3) {
		return i
	}
	to := romanValue(r.atWord(i + 2))
	if to <= n || to > 12 || r.tightSign(i+3, '-') {
		return i
	}
	r.begin(i, speech.SpanRange)
	r.cardinal(n, r.lang)
	if ranged {
		r.say(r.lang.words[wordTo])
	} else {
		r.say(r.lang.words[wordAnd])
	}
	r.cardinal(to, r.lang)
	return r.end(i + 3)
}

// isClass reports whether token i, or the one before its dot, is a word that Roman numerals follow.
func (r *reader) isClass(i int) bool {
	if r.isSign(i, '.') {
		i--
	}
	return r.isWord(i, romanHead) || r.reads(i, "Cl", "cl", "Std", "std", "Classes", "classes", "Ph", "ph")
}

// romanHead returns the token before a Roman numeral, or before its hyphen: Phase-II.
func (r *reader) romanHead(i int) int {
	if r.tightSign(i-1, '-') && r.tight(i) {
		return i - 2
	}
	return i - 1
}

// isRoman reports whether the capitals at token i, which may be a Roman numeral, are one beside what stands at head.
func (r *reader) isRoman(i, head int) bool {
	s := r.str(i)
	small := strings.Trim(s, "IVX") == "" // up to 39
	switch {
	case head >= r.start && r.isClass(head):
		return small || len(s) > 2
	case r.isWord(i+1, romanTail):
		lone := r.at(i-1).kind.lettered() && !r.isWord(i-1, digitName) && !r.isWord(i+1, englishHead) // Mercedes V Class
		return small && (len(s) > 1 || lone)
	case head == i-1:
		return r.isPlainlyRoman(i) || len(s) > 1 && r.endsOrdinal(i+1)
	case r.at(head).kind == deva: // योजना-I, भाग-XCIX; दिल्ली-MCD is none
		return !r.isWord(head, digitName) && (small && s != "X" || len(s) > 3)
	}
	if r.isPlainlyRoman(i) {
		return true
	}
	name := r.at(head).cas == title && len(r.str(head)) > 3 && s != "X"                // Agni-V
	ward := r.at(head).inCapitals() && len(r.str(head)) > 2 && len(s) > 1 && s != "XX" // OPD-IV
	return small && (name || ward)
}

// isPlainlyRoman reports whether the capitals at token i are a Roman numeral and hardly anything else: II, VIII, MMXXIV. IV, VI
// and XL are short forms, too.
func (r *reader) isPlainlyRoman(i int) bool {
	s := r.str(i)
	if s == "II" || len(s) > 4 {
		return true
	}
	return len(s) > 2 && s != "XXX" && strings.Trim(s, "IVX") == ""
}

// endsOrdinal reports whether token i is the ending of a Hindi ordinal: वीं, था.
func (r *reader) endsOrdinal(i int) bool {
	return r.at(i).kind == deva && r.looseEnd(i+1) &&
		r.in(i, hindiOrdinalEnding)
}

// schoolClass reads XII-B.
func (r *reader) schoolClass(i int) int {
	n := romanValue(r.str(i))
	if n == 0 || n > 12 || !r.at(i).inCapitals() {
		return i
	}
	another := r.at(i-1).isOneOf("&,/") && r.isSign(i-3, '-') && romanValue(r.atWord(i-4)) > 0 // IX-B & X-A
	if r.single(i) && !r.isWord(i-1, romanHead) && !another {
		return i
	}
	if !r.tightSign(i+1, '-') || !r.tight(i+2) || !r.capital(i+2) || r.text[r.toks[i+2].a] > 'F' {
		return i
	}
	if r.joined(i) || !r.looseEnd(i+3) {
		return i
	}
	r.begin(i, speech.SpanNumber)
	r.cardinal(n, r.lang)
	r.letters(r.str(i+2), r.lang)
	return r.end(i + 3)
}

// romanDigits are the parts of Roman numerals, the largest first.
var romanDigits = [...]struct {
	letters string
	value   uint64
}{
	{"M", 1000}, {"CM", 900}, {"D", 500}, {"CD", 400}, {"C", 100}, {"XC", 90}, {"L", 50}, {"XL", 40}, {"X", 10}, {"IX", 9}, {"V", 5}, {"IV", 4}, {"I", 1},
}

// romanValue returns the value of a Roman numeral as it is written today, 1 to 3999; 0 for anything else, such as IIII and IC.
func romanValue(s string) uint64 {
	sum, rest := uint64(0), s
	for _, d := range romanDigits {
		for strings.HasPrefix(rest, d.letters) {
			rest = rest[len(d.letters):]
			sum += d.value
		}
	}
	if rest != "" || sum > 3999 {
		return 0
	}
	left := sum
	for _, d := range romanDigits { // one numeral has each value
		for ; left >= d.value; left -= d.value {
			if !strings.HasPrefix(s, d.letters) {
				return 0
			}
			s = s[len(d.letters):]
		}
	}
	return sum
}

// letter names a capital that a sign joins to something in a Hindi sentence: O+, R&D.
func (r *reader) letter(i int) int {
	if r.lang == english || !r.single(i) || r.at(i).cas != upper || r.joined(i) {
		return i
	}
	before := i - 1
	for r.isSign(before, '-') && i-before < lookahead {
		before--
	}
	hyphened := before < i-1 && r.at(before).inCapitals() // USB-C
	paired := r.at(i-1).isOneOf("+&") || r.at(i+1).isOneOf("+&") || r.isBloodGroup(i+1)
	if !hyphened && !paired && !r.tightSign(i+1, '#') {
		return i
	}
	r.begin(i, speech.SpanAcronym)
	r.letters(r.str(i), r.lang)
	return r.end(i + 1)
}

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
	if saidAsWord(lookUp(s)) && !brand {
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

// saidAsWord reports whether capitals are a word: NASA, PIN, SALE.
func saidAsWord(e *entry) bool {
	return e.is(spoken|plain|hindiWord|englishWord|city) && !e.is(initialism)
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

// initials reads U.S.A., A. R. Rahman's A.R.Rahman and B.Tech without their dots.
func (r *reader) initials(i int) int {
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

// roman reads the Roman numeral behind a head word: World War II, Class XII.
func (r *reader) roman(i int) int {
	head := i - 1
	if r.tightSign(head, '-') && r.tight(i) {
		head-- // Phase-II
	}
	if next := r.schoolClass(i); next > i {
		return next
	}
	if i <= r.start || r.at(i).cas != upper || !r.looseEnd(i+1) {
		return i
	}
	if !r.isWord(head, romanHead) && !(r.isWord(i+1, romanTail) && r.at(i-1).kind.lettered()) {
		return i
	}
	n := romanValue(r.str(i))
	if r.single(i+1) && r.at(i+1).cas == upper {
		return i // single letters in a row are spelled already
	}
	pronoun := n == 1 && r.at(i+1).inSmallLetters() // the part I like
	if n == 0 || pronoun {
		return i
	}
	r.begin(i, speech.SpanNumber)
	r.cardinal(n, r.quantityLang(head+1))
	return r.end(i + 1)
}

// schoolClass reads XII-B.
func (r *reader) schoolClass(i int) int {
	n := romanValue(r.str(i))
	if n == 0 || n > 12 || r.single(i) || !r.at(i).inCapitals() {
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

// romanValue returns the value of a Roman numeral up to 39, 0 for anything else.
func romanValue(s string) uint64 {
	tens := 0
	for tens < len(s) && s[tens] == 'X' {
		tens++
	}
	if tens > 3 {
		return 0
	}
	for n, ones := range [...]string{"", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"} {
		if s[tens:] == ones && len(s) > 0 {
			return uint64(10*tens + n)
		}
	}
	return 0
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
	paired := r.at(i-1).isOneOf("+&") || r.at(i+1).isOneOf("+&")
	if !hyphened && !paired && !r.tightSign(i+1, '#') {
		return i
	}
	r.begin(i, speech.SpanAcronym)
	r.letters(r.str(i), r.lang)
	return r.end(i + 1)
}

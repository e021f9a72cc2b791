package normalize

import (
	"bytes"

	"github.com/swar-tts/swar/runtime/speech"
)

// picture passes over an emoji.
func (r *reader) picture(i int) int { return r.hush(i, i+1, speech.SpanEmoji) }

// tag passes over a tag.
func (r *reader) tag(i int) int { return r.hush(i, i+1, speech.SpanMarkup) }

// emoticon passes over :), ;-), :D and <3.
func (r *reader) emoticon(i int) int {
	t := r.at(i)
	if t.ch == '<' && r.heart(i) {
		return r.hush(i, i+2, speech.SpanEmoji)
	}
	if r.isAppMark(i) {
		return r.hush(i, i+3, speech.SpanMarkup)
	}
	if t.ch != ':' && t.ch != ';' {
		return i
	}
	j := i + 1
	if r.tightSign(j, '-') || r.tightSign(j, '\'') {
		j++
	}
	mouth := r.at(j)
	switch {
	case !r.tight(j):
		return i
	case mouth.kind == latin:
		if !t.gap || !r.reads(j, "D", "P", "p") || r.tightSign(j+1, '+') || r.tightSign(j+1, '-') {
			return i
		}
		j++
	case mouth.isOneOf("@") && t.gap:
		j++
	case mouth.isOneOf("()"):
		if !t.gap && mouth.ch == '(' || mouth.ch == ')' && r.inBrackets(i) {
			return i // the bracket is a bracket
		}
		for n := 0; n < lookahead && r.tightSign(j, mouth.ch); n++ {
			j++
		}
	default:
		return i
	}
	if !r.looseEnd(j) {
		return i
	}
	return r.hush(i, j, speech.SpanEmoji)
}

// isAppMark reports whether <#> stands at token i, by which an app finds its code in a message.
func (r *reader) isAppMark(i int) bool {
	return r.isSign(i, '<') && r.tightSign(i+1, '#') && r.tightSign(i+2, '>')
}

// inBrackets reports whether a bracket is open at token i.
func (r *reader) inBrackets(i int) bool {
	closed := 0
	for j := i - 1; j > i-lookahead && j >= r.start; j-- {
		switch {
		case r.isSign(j, ')'):
			closed++
		case r.isSign(j, '(') && closed == 0:
			return !r.at(j + 1).isOneOf(",;:.!?") // a mark behind it has it dropped
		case r.isSign(j, '('):
			closed--
		}
	}
	return false
}

// heart reports whether the <3 at token i is a heart. Only beside warm words: a rating may well be less than three.
func (r *reader) heart(i int) bool {
	if !r.tight(i+1) || r.small(i+1, 1) != 3 || !r.looseEnd(i+2) {
		return false
	}
	decimal := r.tightSign(i+2, '.') && r.tight(i+3)
	if decimal || r.isSign(i+2, '%') || r.countedAt(i+2) {
		return false
	}
	for j := i - 1; j >= max(r.start, i-5); j-- {
		if r.isWord(j, warm) {
			return true
		}
	}
	return i == r.start && r.at(i+2).kind == nothing
}

// laugh passes over XD.
func (r *reader) laugh(i int) int {
	if !r.reads(i, "XD", "xD") || r.joined(i) || !r.looseEnd(i+1) {
		return i
	}
	read := r.isWord(i+1, digitName) || isIn(" zero one two three four five six seven eight nine ", r.atWord(i+1))
	if r.at(i+1).kind == digits || r.tightSign(i+1, '-') || read {
		return i // XD 42 and XD-42 are codes
	}
	return r.hush(i, i+1, speech.SpanEmoji)
}

// punctuation keeps what parts and ends sentences.
func (r *reader) punctuation(i int) int {
	t := r.at(i)
	switch t.ch {
	case danda:
		r.mark("।")
	case '|':
		return r.bar(i)
	case ',', ';', ':', '?', '!':
		r.mark(r.str(i))
	case '.', ellipsis:
		return r.dots(i)
	case '(':
		r.open(i)
	case ')':
		switch {
		case !r.isMarker(i):
			if n := len(r.out) - 1; n >= 0 && (r.out[n] == ':' || r.out[n] == ';') && !r.inBrackets(i) {
				r.unsay(n) // together they would be an emoticon
			}
			r.close(')')
		case r.at(i+1).kind != nothing:
			r.pause()
		}
	case '"', '\'':
		begins := t.gap || r.opened > 0 || r.join == glued || r.opens(i-1)
		if begins && r.tight(i+1) && !r.at(i+1).isOneOf(".,;:?!)") {
			r.open(i)
		} else {
			r.close(t.ch)
		}
	case '-', enDash, emDash:
		return r.dash(i)
	default:
		return i
	}
	return i + 1
}

// isMarker reports whether the bracket at i belongs to a list number, 1), which has no opening one.
func (r *reader) isMarker(i int) bool {
	p, before := r.at(i-1), r.at(i-2)
	if p.kind != digits || p.b-p.a > 2 || r.inBrackets(i-1) {
		return false
	}
	return before.kind == nothing || p.gap && before.isOneOf(",;:")
}

// dots reads a full stop or an ellipsis.
func (r *reader) dots(i int) int {
	if r.isDotOfName(i) {
		r.begin(i, speech.SpanSign)
		r.say(r.lang.words[wordDot])
		return r.end(i + 1)
	}
	j := i
	for r.isSign(j, r.at(i).ch) && (j == i || r.tight(j)) {
		j++
	}
	if j-i > 1 || r.at(i).ch == ellipsis {
		r.mark("...")
	} else {
		r.mark(".")
	}
	return j
}

// isDotOfName reports whether the dot at token i is the first character of a name: .NET, .pdf files.
func (r *reader) isDotOfName(i int) bool {
	next := r.at(i + 1)
	if !r.isSign(i, '.') || !r.tight(i+1) {
		return false
	}
	if r.tight(i) {
		return r.at(i-1).kind == deva && r.reads(i+1, "भारत") // जनसेवा.भारत
	}
	return next.kind == latin && next.b-next.a > 2 && (next.cas == upper || topLevel[r.str(i+1)])
}

// bar reads |: a danda behind Devanagari, else the border between two cells.
func (r *reader) bar(i int) int {
	j := i
	for r.isSign(j, '|') {
		j++
	}
	if r.isDanda(i) && j <= i+2 {
		r.mark("।")
	} else if i > r.start && j < r.stop {
		r.pause()
	}
	return r.hush(i, j, speech.SpanSign)
}

// dash keeps a hyphen or a dash between words; before a number it is a pause.
func (r *reader) dash(i int) int {
	j := i
	for t := r.at(j); t.isOneOf(dashes) && (j == i || !t.gap); t = r.at(j) {
		j++
	}
	if r.tightSign(j, '>') {
		r.pause() // ->
		return r.hush(i, j+1, speech.SpanSign)
	}
	t, next := r.at(i), r.at(j)
	number := next.kind == digits && (t.gap || next.gap || next.b-next.a > 4)
	unsaid := r.at(i-1).isOneOf("#*_`~^\\[]{}"+string(rune(silent))) && r.tight(i) // else what it parts would join when it is read again
	if number || unsaid || next.isCurrency() {
		r.pause()
		return r.hush(i, j, speech.SpanSign)
	}
	if !r.behindWord() || !next.kind.wordLike() || r.isMaskAlone(j) {
		return r.hush(i, j, speech.SpanSign)
	}
	if t.gap {
		r.out = append(r.out, ' ')
	}
	switch several := j > i+1; {
	case t.ch == enDash && !several:
		r.out = append(r.out, "–"...)
	case t.ch == emDash, several: // -- is how typewriters wrote a dash
		r.out = append(r.out, "—"...)
	default:
		r.out = append(r.out, '-')
	}
	r.join = glued
	if next.gap {
		r.join = spaced
	}
	return j
}

// isMaskAlone reports whether a mask of crosses begins at token i and no digits are left behind it: ई-XXXX.
func (r *reader) isMaskAlone(i int) bool {
	if !r.crosses(i) {
		return false
	}
	next, wide := r.mask(i)
	return wide >= 4 && r.at(r.hyphen(next)).kind != digits
}

// behindWord reports whether the last thing that was written is a word.
func (r *reader) behindWord() bool {
	return r.said && r.opened == 0 && r.join != glued && !parts(bytes.TrimRight(r.out, "\"')"))
}

// spokenSign reads signs that are words, and drops those that are none.
func (r *reader) spokenSign(i int) int {
	if next := r.bareRate(i); next > i {
		return next
	}
	t := r.at(i)
	if t.ch == '%' && r.tight(i+1) && r.reads(i+1, "ile", "iles") && r.looseEnd(i+2) {
		r.begin(i, speech.SpanAbbreviation)
		r.say("percentile")
		return r.end(i + 2)
	}
	if r.isKey(i) {
		r.begin(i, speech.SpanSign)
		if t.ch == '#' {
			r.say(r.lang.words[wordHash])
		} else {
			r.say(r.lang.words[wordStar])
		}
		return r.end(i + 1)
	}
	if r.isPrompt(i) {
		return r.hush(i, i+1, speech.SpanMarkup)
	}
	if cur := signCurrency(t.ch); cur > 0 {
		r.begin(i, speech.SpanSign)
		r.say(r.lang.money[cur].many)
		return r.end(i + 1)
	}
	if u := signUnits[t.ch]; u != nil {
		r.begin(i, speech.SpanSign)
		r.say(r.lang.measure(u).many)
		return r.end(i + 1)
	}
	w := r.signWord(i)
	if w == noWord {
		parting := "<>" + string(rune(arrow))
		if (r.at(i-1).kind == digits || r.isWord(i-1, scaleWord)) && !r.isLetterBehind(i+1) {
			parting = "<>/" + string(rune(arrow))
		}
		if inside := i > r.start && i+1 < r.stop; inside && t.isOneOf(parting) && !r.isAngled(i) {
			r.pause()
		}
		return r.hush(i, i+1, speech.SpanSign)
	}
	r.begin(i, speech.SpanSign)
	r.say(r.lang.words[w])
	return r.end(i + 1)
}

// isPrompt reports whether the dollar at token i is the prompt of a shell, before a command in small letters: $ npm install.
func (r *reader) isPrompt(i int) bool {
	next := r.at(i + 1)
	if r.at(i).ch != '$' || !next.gap || !next.inSmallLetters() {
		return false
	}
	return i == r.start || r.isSign(i-1, '`') || r.in(i+1, command)
}

// isAngled reports whether the sign at token i is a bracket around words, which has its other half near it: <Ramesh Kumar>, List<int>.
func (r *reader) isAngled(i int) bool {
	step, other := 1, byte('>')
	inside := i + 1
	if r.isSign(i, '>') {
		step, other, inside = -1, '<', i-1
	} else if !r.isSign(i, '<') {
		return false
	}
	touches := r.toks[max(i, inside)].src == r.toks[min(i, inside)].end
	if !touches || !r.at(inside).kind.wordLike() {
		return false
	}
	for k := i + step; k != i+12*step; k += step {
		if r.isSign(k, other) {
			return true
		}
	}
	return false
}

// change reads the arrow that leads from one number to another: 60L->75L.
func (r *reader) change(i int) int {
	next := i + 1
	if r.isSign(i, '-') && r.tightSign(next, '>') {
		next++
	} else if !r.isSign(i, arrow) {
		return i
	}
	before := i - 1
	number := r.at(before).kind == digits || r.isSign(before, '%') || r.isWord(before, scaleWord) && r.at(before-1).kind == digits
	if r.at(before).kind == digits && (r.zeroLed(before) || r.context(before).what != noContext) {
		return i // order 0093 → 1 thali
	}
	if !number || !r.at(next).opensNumber() && !r.at(next).isCurrency() {
		return i
	}
	r.begin(i, speech.SpanSign)
	r.say(r.lang.words[wordTo])
	return r.end(next)
}

// polarity reads +ve and -ve, as of Rh -ve, which are English words in Hindi sentences, too, and the minus of a blood group: O-. Its plus
// is a plus, as people say it.
func (r *reader) polarity(i int) int {
	t := r.at(i)
	said, next := "positive", i+2
	switch {
	case r.isBloodGroup(i) && t.ch != '+':
		said, next = r.lang.words[wordNegative], i+1
	case !t.isOneOf("+-") || !r.tight(i+1) || !r.reads(i+1, "ve") || !r.looseEnd(i+2):
		return i
	case t.ch == '-':
		said = "negative"
	}
	r.begin(i, speech.SpanSign)
	r.say(said)
	return r.end(next)
}

// isBloodGroup reports whether the sign at token i is that of a blood group. A and B with a sign are marks in school, too, so they ask for
// a word of blood near them.
func (r *reader) isBloodGroup(i int) bool {
	if !r.at(i).isOneOf("+"+hyphens) || !r.tight(i) || !r.looseEnd(i+1) || r.joined(i-1) {
		return false
	}
	if next := r.at(i + 1); next.isOneOf("+-*") || r.tightSign(i+1, '(') || r.isSign(i-2, '-') {
		return false
	}
	if r.reads(i-1, "O", "AB", "ओ", "एबी") {
		return r.at(i+1).kind != digits
	}
	if !r.reads(i-1, "A", "B", "ए", "बी") {
		return false
	}
	for j := max(r.start, i-8); j < min(r.stop, i+9); j++ {
		if r.in(j, bloodWord) {
			return true
		}
	}
	return false
}

// signWord returns the word that the sign at i is, noWord for nothing.
func (r *reader) signWord(i int) connector {
	numberBefore, numberBehind := r.at(i-1).kind == digits, r.at(i+1).kind == digits
	ch := r.at(i).ch
	switch ch {
	case '#':
		if r.tight(i) && r.single(i-1) {
			return wordSharp // C#
		}
	case star:
		if numberBefore {
			return wordStar
		}
	case '/':
		return r.strokeWord(i)
	case '*', multiply:
		if ch == '*' && r.isStarred(i) {
			return wordStar
		}
		if numberBefore && numberBehind {
			return wordTimes
		}
		if ch == multiply && (r.factors(i) || r.hasEquals(i)) {
			return wordTimes
		}
	case '~':
		if (numberBehind || r.at(i+1).isCurrency()) && r.tight(i+1) && r.at(i).gap {
			return wordAbout // ~9hrs
		}
	case '<', '>':
		if numberBehind {
			return signWords[ch]
		}
	default:
		return signWords[ch]
	}
	return noWord
}

// strokeWord returns the word that the stroke at i is.
func (r *reader) strokeWord(i int) connector {
	bold := r.at(i-2).kind == digits || r.at(i-3).kind == digits
	switch {
	case r.isChoice(i):
		return wordOr
	case bold && r.isSign(i-1, '*') && r.tightDigits(i+1):
		return wordOver // **92**/100
	}
	return noWord
}

// signWords has the signs that are one thing wherever they are said.
var signWords = [256]connector{
	'&':          wordAnd,
	'%':          wordPercent,
	'@':          wordAt,
	'+':          wordPlus,
	plusMinus:    wordPlusMinus,
	'=':          wordEquals,
	approx:       wordAbout,
	notEqual:     wordUnequal,
	'<':          wordLess,
	'>':          wordMore,
	lessEqual:    wordAtMost,
	greaterEqual: wordAtLeast,
	divide:       wordDivided,
	degree:       wordDegree,
	half:         wordHalf,
}

// bareRate reads the stroke of 1500/month and 96.72/L, where no currency says that a price stands before it.
func (r *reader) bareRate(i int) int {
	if !r.isSign(i, '/') || !r.tight(i+1) || !r.looseEnd(i+2) {
		return i
	}
	if !r.tight(i) && rates[r.atWord(i+1)] == "" {
		return i // 7,800 /cumm
	}
	if next := r.frequency(i); next > i {
		return next
	}
	j, counts := r.ratedNumber(i)
	switch {
	case j < 0:
		return i
	case r.isMonthlyRate(i, j):
		r.begin(i, speech.SpanAmount)
		r.say(r.lang.words[wordPerMonth])
		return r.end(i + 2)
	case !r.isRate(i, j, counts):
		return i
	}
	r.begin(i, speech.SpanAmount)
	r.sayRate(i+1, r.lang)
	return r.end(i + 2)
}

// ratedNumber returns the number in front of the stroke at token i, -1 for none. counts means that a word between them says what it
// counts: 8 units/day, 100 SMS/day.
func (r *reader) ratedNumber(i int) (number int, counts bool) {
	j := i - 1
	if r.at(j-1).kind == digits {
		sms := r.at(j).kind == latin && r.in(i+1, period)
		sacks := r.at(j).kind == deva && r.at(i+1).kind == deva // 2 बोरी/बीघा
		counts = r.isWord(j, counted) || sms || sacks
	}
	if counts || r.joined(j) && r.isWord(j, scaleWord) {
		j-- // 25k/month
	}
	if r.at(j).kind != digits {
		return -1, false
	}
	return j, counts
}

// isRate reports whether the word behind the stroke at token i is what the number at token j is for each of.
func (r *reader) isRate(i, j int, counts bool) bool {
	var buf [16]byte
	low, _ := fold(buf[:0], r.atWord(i+1))
	rated, scaled := rates[string(low)] != "", j < i-1 && !counts
	switch {
	case rated && len(low) > 1:
		return true
	case counts:
		return rated
	case scaled && r.listsOn(i+2):
		return false // EMI 21k/school fee 6k
	case scaled && len(low) >= 3 && r.at(i+1).inSmallLetters():
		return true // 8k/bed
	case r.reads(i+1, "q") && len(r.str(j)) >= 4:
		return true // 7450/q: a quintal of cotton
	case len(low) == 1 && !scaled && !r.tightSign(j-1, '.'):
		return false // 12/C is a house
	}
	return rated || units[string(low)] != nil
}

// isMonthlyRate reports whether the m behind the stroke at token i is a month: pension 1500/m.
func (r *reader) isMonthlyRate(i, j int) bool {
	return r.reads(i+1, "m") && j == i-1 && len(r.str(j)) >= 3 && r.countsMoney(j)
}

// countsMoney reports whether a word of wages or dues stands in front of the number at token j.
func (r *reader) countsMoney(j int) bool {
	return r.isNear(j, monthly, 4) || r.near(j, amountOf, 3)
}

// frequency reads the stroke of once/wk and of trip/head.
func (r *reader) frequency(i int) int {
	often := r.in(i-1, frequency) && r.in(i+1, period)
	heads := r.in(i+1, headWord) && r.at(i-1).kind == latin && !r.in(i-1, headWord) // trip/head
	if !often && !heads {
		return i
	}
	r.begin(i, speech.SpanSign)
	r.sayRate(i+1, r.lang)
	return r.end(i + 2)
}

// letterNamesInDevanagari are the letters that houses and flats have behind their number.
const letterNamesInDevanagari = " ए बी सी डी ई एफ एफ़ जी एच जे के "

// isChoice reports whether the stroke at i parts two things of which one is chosen, haan/na or 5%/₹500, and no "or"
// beside it says so already.
func (r *reader) isChoice(i int) bool {
	before, after := r.at(i-1), r.at(i+1)
	choice := (before.kind.wordLike() || before.isOneOf("%.")) && !(r.at(i).gap && r.tight(i+1)) // yt pe /RiyaVlogs
	another := after.kind.wordLike() || after.isCurrency()
	lettered := before.kind == digits && r.isLetterBehind(i+1)                                     // 23/बी, 4/b
	pair := r.currencyCode(i-1) > 0 && r.currencyCode(i+1) > 0                                     // USD/INR
	amount := r.isWord(i-1, scaleWord) && r.at(i-2).kind == digits                                 // EMI 21k/school fee 6k
	file := before.kind.lettered() && r.stroke(i+1) || r.tightDigits(i+1) && r.isLetterBehind(i+3) // यूपी/2026/00318, sw/2231/b
	ranged := before.kind == digits && r.at(i-2).isOneOf(hyphens) && r.at(i-3).kind == digits      // 18-25/26-40
	payee := before.kind == digits && len(r.str(i-1)) >= 9 && after.kind == latin                  // UPI/633180127745/Manju Sweets
	if lettered || amount || file || ranged {
		return false
	}
	if payee {
		return false
	}
	said := r.isOr(i-1) || r.isOr(i+1)
	return choice && another && !pair && !said
}

// isLetterBehind reports whether token i, behind a stroke, is the letter of a house or a file: बी, ब, b.
func (r *reader) isLetterBehind(i int) bool {
	t := r.at(i)
	if !r.tight(i) || !r.looseEnd(i+1) {
		return false
	}
	if t.kind == deva {
		return t.b-t.a == 3 || isIn(letterNamesInDevanagari, r.str(i))
	}
	return r.single(i) && t.cas == lower
}

// isStarred reports whether the star at token i is one of quality: a 5* hotel, fridge 3*.
func (r *reader) isStarred(i int) bool {
	if n := r.small(i-1, 1); n < 1 || n > 7 || !r.tight(i) || !r.looseEnd(i+1) {
		return false
	}
	return r.isNear(i, starred, 6) || r.in(i+1, starred)
}

// isOr reports whether token i says "or" already.
func (r *reader) isOr(i int) bool {
	return r.in(i, orWord)
}

// isKey reports whether the sign at i is a key of a telephone: a lone # or * where keys are pressed.
func (r *reader) isKey(i int) bool {
	t, next := r.at(i), r.at(i+1)
	ends := next.gap || next.kind == nothing || next.kind == sign && next.ch != t.ch
	if t.ch != '#' && t.ch != '*' || !t.gap || !ends {
		return false
	}
	for j := max(r.start, i-8); j <= i+3; j++ {
		if r.isWord(j, pressed) {
			return true
		}
	}
	return false
}

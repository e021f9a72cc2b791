package normalize

import (
	"strings"

	"github.com/swar-tts/swar/runtime/speech"
)

// Short forms that are one word beside one thing and another beside something else.

// neighbourForm says a short form in full where what stands beside it fits.
type neighbourForm struct {
	word string // in lower case
	full string
	fits func(r *reader, i, next int) bool // next is the token behind the word, its dot and its colon
}

// neighbourForms are in the order in which they are tried: of those of one word the first that fits. The vocabulary learns of them in init,
// because their functions look into it.
var neighbourForms = [...]neighbourForm{
	{"प्रा", "प्राथमिक", func(r *reader, _, next int) bool { return r.reads(next, "वि", "स्वा", "शाला") }},
	{"प्रा", "प्राध्यापक", func(r *reader, _, next int) bool { return r.reads(next, "डॉ", "डा") }},
	{"वि", "विद्यालय", func(r *reader, i, _ int) bool { return r.isSign(i-1, '.') && r.reads(i-2, "प्रा") }},
	{"स्वा", "स्वास्थ्य", func(r *reader, i, _ int) bool { return r.isSign(i-1, '.') && r.reads(i-2, "प्रा") }},
	{"ई", "ईसा", func(r *reader, _, next int) bool { return r.reads(next, "पू") && r.isSign(next+1, '.') }},
	{"पू", "पूर्व", func(r *reader, i, _ int) bool { return r.isSign(i-1, '.') && r.reads(i-2, "ई") }},
	{"ई", "ईस्वी", func(r *reader, i, _ int) bool { return r.isSign(i+1, '.') && r.at(i-1).kind == digits }},
	{"से", "सेक्टर", func(r *reader, i, next int) bool {
		return r.isSign(i+1, '.') && r.small(next, 3) > 0 && (r.isSign(i-1, ',') || r.isSign(next-1, '-'))
	}},
	{"exp", "expiry", func(r *reader, _, next int) bool { return r.isDay(next) }},
	{"exp", "experience", func(r *reader, i, next int) bool { return r.isYears(next) || r.in(i-1, yearly) }},
	{"dt", "date", func(r *reader, i, next int) bool {
		return (r.isWord(i-1, expiry|dateWord) || r.in(i-1, dated)) && r.isDay(next)
	}},
	{"dt", "dated", func(r *reader, _, next int) bool { return r.isDay(next) }},
	{"dep", "departure", (*reader).isTimetable},
	{"arr", "arrival", (*reader).isTimetable},
	{"ref", "reference", func(r *reader, i, next int) bool {
		n := r.at(next)
		named := n.word.is(idWord) || n.kind == digits || n.cas == upper
		marked := r.colonBehind(i) || r.isSign(next-1, '#')
		return marked || named && !r.isSign(next-1, '-') // REF-991 is a code
	}},
	{"pt", "point", func(r *reader, i, _ int) bool { return r.in(i-1, stopping) }},
	{"veh", "vehicle", func(r *reader, _, next int) bool { return r.isNo(next) || r.reads(next, "number") }},
	{"pp", "per person", func(r *reader, i, _ int) bool {
		return r.at(i).cas == lower && r.looseEnd(i+1) && (r.at(i-1).kind == digits || r.reads(i-1, "k", "K"))
	}},
	{"stn", "station", func(r *reader, i, _ int) bool { return r.at(i).cas != upper }},
	{"pl", "please", func(r *reader, i, next int) bool { return r.isSign(i+1, '.') && r.at(next).inSmallLetters() }},
	{"e", "East", (*reader).isSideOfTown},
	{"w", "West", (*reader).isSideOfTown},
	{"yr", "year", func(r *reader, i, _ int) bool {
		return r.at(i-2).kind == digits && r.tight(i-1) && englishEnding(r.atWord(i-1))
	}},
	{"pf", "platform", func(r *reader, i, next int) bool { return r.isPlatform(i, next) }},
	{"sec", "section", func(r *reader, _, next int) bool { return r.isSection(next) }},
	{"vit", "vitamin", func(r *reader, _, next int) bool { return r.single(next) && r.at(next).cas == upper }},
	{"blk", "block", func(r *reader, i, next int) bool {
		behindLetter := r.single(i-1) || r.isSign(i-1, '-') && r.single(i-2)
		return behindLetter || r.small(next, 3) > 0 || r.single(next) || r.reads(next, "no", "No")
	}},
	{"adv", "advance", func(r *reader, i, next int) bool {
		return r.at(i).cas != title && (r.isMoneyBehind(i-1) || r.isSign(i-1, '-') || r.in(next, givenMoney))
	}},
	{"sch", "schedule", func(r *reader, _, next int) bool { return romanValue(r.atWord(next)) > 0 }},
	{"re", "regarding", func(r *reader, i, _ int) bool { return r.at(i).cas != upper && r.colonBehind(i) }},
	{"dt", "date", func(r *reader, i, _ int) bool { return r.reads(i-1, "due", "Due", "last", "Last") }},
	{"aft", "after", func(r *reader, _, next int) bool { return r.isClock(next) || r.isDay(next) }},
	{"rm", "room", func(r *reader, _, next int) bool { return r.reads(next, "no", "No", "number") }},
	{"sqrt", "square root", func(r *reader, i, _ int) bool { return r.isSign(i+1, '(') }},
	{"ofc", "office", func(r *reader, _, next int) bool {
		return r.in(next, caseEnding) || r.in(next, behindOffice)
	}},
	{"pr", "per", func(r *reader, i, next int) bool {
		return r.at(i-1).kind == digits && (rates[r.atWord(next)] != "" || units[r.atWord(next)] != nil)
	}},
	{"ea", "each", func(r *reader, i, _ int) bool { return r.isMoneyBehind(i-1) || r.isSign(i-1, '-') }},
	{"yr", "year", func(r *reader, _, next int) bool { return r.small(next, 1) > 0 && r.looseEnd(next+1) }},
	{"rd", "road", func(r *reader, i, next int) bool { return r.at(i).cas != upper && r.isNo(next) }},
	{"cr", "credit", func(r *reader, _, next int) bool { return r.reads(next, "card", "Card") }},
	{"kr", "Kumar", func(r *reader, i, _ int) bool { return r.at(i).cas != lower && r.isSign(i+1, '.') }},
	{"min", "minimum", func(r *reader, i, next int) bool {
		return r.at(i-1).kind != digits && (r.at(next).isCurrency() || r.currencyCode(next) > 0 || r.in(next, leastOf))
	}},
	{"min", "minimum", func(r *reader, _, next int) bool { return r.lang == english && r.reads(next, "due", "Due") }},
	{"yr", "yaar", func(r *reader, i, _ int) bool {
		ends := r.at(i+1).kind == nothing || r.isSign(i+1, ',')
		counted := r.at(i-1).kind == digits || r.isWord(i-1, digitName)
		return ends && r.lang != english && r.at(i).cas == lower && !counted
	}},
	{"std", "standard", func(r *reader, i, next int) bool {
		return r.at(i).cas != upper && (r.small(next, 2) > 0 || romanValue(r.atWord(next)) > 0)
	}},
	{"sat", "Saturday", (*reader).isWeekend},
	{"sun", "Sunday", (*reader).isWeekend},
	{"pol", "policy", func(r *reader, _, next int) bool { return r.isNo(next) }},
	{"dist", "distance", func(r *reader, _, next int) bool { return r.isLength(next) }},
	{"dr", "debited", (*reader).isDebited},
	{"dr", "doctor", func(r *reader, i, next int) bool {
		return r.at(i-1).kind != digits && (r.in(next, caseEnding) || r.in(next, behindDoctor))
	}},
	{"dr", "doctor", func(r *reader, _, next int) bool { return r.reads(next, "ne", "ने") }},
	{"ac", "account", func(r *reader, i, _ int) bool { return r.at(i).cas != upper && r.in(i-1, ofAccount) }},
	{"hm", "hum", func(r *reader, i, next int) bool {
		return r.isTyped(i) && (r.at(next).kind == digits || r.at(next).word.is(anyHindi))
	}},
	{"dr", "debited", func(r *reader, i, next int) bool {
		return r.reads(i-1, "is", "been") && r.reads(next, "for", "by", "with")
	}},
	{"dr", "debit", func(r *reader, i, next int) bool {
		return r.at(i-1).kind == digits && r.reads(next, "ho", "hua", "hui", "hue", "kiya")
	}},
	{"dr", "debit", func(r *reader, i, next int) bool { return r.isSign(i-1, '-') && r.at(next).kind == digits }},
	{"dr", "debit", func(r *reader, i, _ int) bool { return r.reads(i, "DR", "Dr") && r.isBalanceBehind(i-1) }},
	{"dr", "debited", func(r *reader, i, next int) bool {
		return r.isMoneyBehind(i-1) && (r.at(next).kind == nothing || r.at(next).kind == sign)
	}},
	{"cr", "credit", func(r *reader, i, next int) bool { return r.isSign(i-1, '-') && r.at(next).kind == digits }},
	{"cr", "credited", func(r *reader, i, next int) bool { return r.at(i-1).kind != digits && r.hasPaise(next) }},
	{"cr", "credited", func(r *reader, i, next int) bool { return r.isCreditedTo(i, next) }},
	{"cr", "credit", func(r *reader, i, _ int) bool { return r.reads(i, "CR", "Cr") && r.isBalanceBehind(i-1) }},
	{"cr", "credit", func(r *reader, i, _ int) bool { return r.isCreditBehind(i) }},
	{"avail", "available", func(r *reader, _, next int) bool { return r.in(next, availed) }},
	{"bal", "balance", (*reader).isBalance},
	{"pm", "per month", func(r *reader, i, _ int) bool {
		return r.isSign(i-1, '%') || r.isMoneyBehind(i-1) || r.isWord(i-1, scaleWord) && r.isMoneyBehind(i-2)
	}},
	{"pa", "per annum", func(r *reader, i, _ int) bool { return r.isSign(i-1, '%') }},
	{"nr", "near", func(r *reader, i, next int) bool {
		return r.at(i).cas == lower && (r.at(next).inCapitals() && !r.single(next) || r.in(next, landmarks))
	}},
	{"ph", "phase", func(r *reader, i, next int) bool { return r.isSign(i+1, '-') && romanValue(r.atWord(next)) > 0 }},
	{"wk", "week", func(r *reader, i, next int) bool {
		return r.in(i-1, weekendBefore) || r.in(i-1, fewOf) || r.reads(next, "of", "starting", "ending")
	}},
	{"opp", "opposite", func(r *reader, i, next int) bool { return r.at(i).cas != upper && r.at(next).cas == title }},
	{"ht", "half time", func(r *reader, _, next int) bool { return r.small(next, 2) >= 0 && r.numberBehind(next+1, '-') }},
	{"ct", "court", func(r *reader, _, next int) bool { return r.isNo(next) }},
	{"st", "street", func(r *reader, _, next int) bool { return r.isNo(next) }},
	{"st", "street", (*reader).isStreet},
	{"clr", "clear", (*reader).isBeforeBalance},
	{"tot", "total", (*reader).isBeforeBalance},
	{"led", "ledger", (*reader).isBeforeBalance},
	{"cur", "current", (*reader).isBeforeBalance},
	{"curr", "current", (*reader).isBeforeBalance},
	{"cr", "credit", func(r *reader, i, next int) bool { return r.at(i-1).kind != digits && r.isBeforeBalance(i, next) }},
	{"avbl", "available balance", func(r *reader, i, next int) bool {
		return r.colonBehind(i) || r.at(next).isCurrency() || r.currencyCode(next) > 0
	}},
	{"clg", "clearing", func(r *reader, i, _ int) bool { return r.at(i).cas == upper && r.in(i-1, paidBy) }},
	{"trn", "train", func(r *reader, i, next int) bool { return r.at(i).cas != upper && len(r.atDigits(next)) == 5 }},
	{"cr", "credit", func(r *reader, i, next int) bool { return r.at(i).cas != lower && r.isMovedMoney(i, next) }},
	{"dr", "debit", func(r *reader, i, next int) bool { return r.at(i).cas == upper && r.isMovedMoney(i, next) }},
	{"act", "account", func(r *reader, i, next int) bool {
		return r.at(i).cas == upper && r.in(i-1, blocking) && r.at(next).kind == digits
	}},
	{"rt", "route", func(r *reader, _, next int) bool { return r.isNo(next) }},
	{"jr", "junior", func(r *reader, i, next int) bool {
		return r.at(i).cas != upper && (r.isNoun(next) || r.in(next, seniors))
	}},
	{"sr", "serial", func(r *reader, i, next int) bool {
		return r.at(i).cas != upper && r.reads(next, "no", "No") // SR No.: a service request
	}},
	{"sr", "senior", func(r *reader, i, next int) bool { return r.at(i).cas != upper && r.in(next, seniors) }},
	{"gm", "good morning", (*reader).isGreeting},
	{"gn", "good night", (*reader).isGreeting},
	{"k", "ke", func(r *reader, i, next int) bool { return r.isTyped(i) && r.in(next, behindKe) }},
	{"kb", "kab", (*reader).isTypedWhen},
	{"jb", "jab", (*reader).isTypedWhen},
	{"mt", "mat", func(r *reader, i, next int) bool {
		return r.isTyped(i) && !r.isCounted(i) && r.at(next).word.is(hindiVerb)
	}},
	{"kia", "kiya", (*reader).isTypedVerb},
	{"dia", "diya", (*reader).isTypedVerb},
	{"lia", "liya", (*reader).isTypedVerb},
	{"exp", "express", func(r *reader, i, _ int) bool { return r.at(i).cas == title && r.isNear(i, trains, 6) }},
	{"acc", "account", func(r *reader, i, next int) bool {
		return r.at(i).cas != upper && (r.in(next, caseEnding) || r.reads(next, "me", "mein", "में"))
	}},
	{"acc", "according", func(r *reader, _, next int) bool { return r.reads(next, "to") }},
	{"adv", "advocate", func(r *reader, i, next int) bool {
		return r.at(i).cas != upper && r.single(next) && r.isSign(next+1, '.')
	}},
	{"mr", "mister", func(r *reader, _, next int) bool { return r.isSign(next, '&') && r.reads(next+1, "mrs", "Mrs") }},
	{"mrs", "missus", func(r *reader, i, _ int) bool { return r.isSign(i-1, '&') && r.reads(i-2, "mr", "Mr") }},
	{"ans", "answer", func(r *reader, i, _ int) bool { return r.at(i).cas != upper && r.colonBehind(i) }},
	{"min", "minimum", func(r *reader, i, next int) bool {
		return r.at(i-1).kind != digits && !r.in(i-1, fewOf) && r.at(next).kind == digits && !r.tightDigits(i+1)
	}},
	{"jan", "January", func(r *reader, i, next int) bool { return r.at(i).cas == title && r.isMonthAlone(i, next) }},
	{"feb", "February", (*reader).isMonthAlone},
	{"apr", "April", (*reader).isMonthAlone},
	{"jul", "July", (*reader).isMonthAlone},
	{"aug", "August", (*reader).isMonthAlone},
	{"sep", "September", (*reader).isMonthAlone},
	{"sept", "September", (*reader).isMonthAlone},
	{"oct", "October", (*reader).isMonthAlone},
	{"nov", "November", (*reader).isMonthAlone},
	{"dec", "December", (*reader).isMonthAlone},
	{"cl", "class", func(r *reader, i, next int) bool {
		v := romanValue(r.atWord(next))
		return r.at(i).cas != upper && r.small(next, 2) > 0 || 0 < v && v <= 12 // CL 4: casual leave
	}},
}

func init() {
	learn := func(word string) *entry {
		e := vocabulary[word]
		if e == nil {
			e = new(entry)
			vocabulary[word] = e
		}
		return e
	}
	for i := range neighbourForms {
		f := &neighbourForms[i]
		e := learn(f.word)
		e.beside = append(e.beside, f)
		for w := range strings.FieldsSeq(strings.ToLower(f.full)) {
			learn(w).traits |= expansion
		}
	}
}

// besideForm reads the short forms of [neighbourForms], and a unit behind per or plus.
func (r *reader) besideForm(i int) int {
	numbered := r.tightDigits(i+1) && r.at(i).cas != upper // exp12/26; capitals with digits are a code
	if r.joined(i) || !r.looseEnd(i+1) && !numbered {
		return i
	}
	if full := r.unitApart(i); full != "" {
		r.begin(i, speech.SpanUnit)
		r.say(full)
		return r.end(i + 1)
	}
	full, next := r.besideWord(i)
	if full == "" {
		return i
	}
	r.begin(i, speech.SpanAbbreviation)
	r.say(full)
	return r.end(next)
}

// isUnheard reports whether token i is a picture or a mark between words that leaves nothing behind.
func (r *reader) isUnheard(i int) bool { return r.at(i).kind == emoji || r.at(i).isOneOf(markupSigns) }

// markupSigns are not heard between words.
const markupSigns = "#*_`~^\\[]{}" + string(rune(silent))

// besideWord returns what the word at token i says in full because of what stands beside it, and the token behind it and its dot; "" for
// a word that stays.
func (r *reader) besideWord(i int) (full string, after int) {
	forms := r.at(i).word.beside
	if len(forms) == 0 {
		return "", i
	}
	after = i + 1
	if r.tightSign(after, '.') && !r.last(after) {
		after++
	}
	next := after
	if r.isSign(next, ':') || r.isSign(next, '-') {
		next++
	}
	for markup := after; next-markup < lookahead && r.isUnheard(next); {
		next++ // PF#5, opp **Shiv mandir**
	}
	for _, f := range forms {
		if f.fits(r, i, next) {
			return f.full, after
		}
	}
	return "", i
}

// unitApart returns what the unit at token i is called behind per or plus: ten rupees per km, 8+ yrs. "" for none.
func (r *reader) unitApart(i int) string {
	if plus := r.isSign(i-1, '+') && r.tight(i-1) && r.at(i-2).kind == digits; plus {
		if u := r.unitText(i, i+1); u != nil && !u.tightOnly && !u.rare && !r.single(i) {
			return r.lang.measure(u).many
		}
		return ""
	}
	if !r.reads(i-1, "per", "Per", "pr", "प्रति") || r.single(i) {
		return ""
	}
	var buf [24]byte
	low, _ := fold(buf[:0], r.str(i))
	switch u := r.unitText(i, i+1); {
	case longRates[string(low)] != "":
		return r.lang.rates[string(low)]
	case u != nil && !u.tightOnly && !u.rare:
		return r.lang.measure(u).one
	}
	return ""
}

// lastSaid is the word of Latin letters at the end of what has been said, "" behind anything else.
func (r *reader) lastSaid() string {
	from := len(r.out)
	for from > 0 && len(r.out)-from < lookahead && ('a' <= r.out[from-1]|0x20 && r.out[from-1]|0x20 <= 'z') {
		from--
	}
	if from > 0 && r.out[from-1] != ' ' {
		return ""
	}
	return string(r.out[from:])
}

// hai reads the h that people type for hai: theek h, kharab h, 500 h. One that is joined to something behind it is a letter. It asks for
// a Hindi word that was said right before it, or a number, and not for the language of the sentence, which may end elsewhere when it is read again.
func (r *reader) hai(i int) int {
	if !r.reads(i, "h") || r.in(i+1, addressSign) {
		return i
	}
	worded := !r.tight(i) && r.join != glued && lookUp(r.lastSaid()).is(hindiWord|hindiMaybe)
	counted := r.at(i-1).kind == digits && r.lang != english
	if !worded && !counted && !r.isTypedHai(i) {
		return i
	}
	r.begin(i, speech.SpanAbbreviation)
	if r.looseEnd(i + 1) {
		r.say("hai")
	} else {
		r.letters("h", r.lang)
	}
	return r.end(i + 1)
}

// isGreeting reports whether the gm or gn at token i greets: it begins a clause, and no number, unit or name is meant.
func (r *reader) isGreeting(i, next int) bool {
	t := r.at(next)
	goesOn := r.isNoun(next) || r.reads(next, "all")
	if t.kind != latin { // no number, nor what it becomes
		goesOn = t.kind != digits && t.kind != deva
	}
	goesOn = goesOn || r.at(i+1).kind == emoji // gm 🙏 5 log aaye
	first := i
	for r.at(first-1).kind == sign && !r.endsClause(first-1) || r.isUnheard(first-1) {
		first--
	}
	begins := r.at(i).cas != upper && r.endsClause(first-1)
	return begins && goesOn && !r.isSign(i+1, '.')
}

// isTyped reports whether token i is written as people type in a hurry: in small letters, and a dot behind it would end the sentence.
func (r *reader) isTyped(i int) bool { return r.at(i).cas == lower && !r.isSign(i+1, '.') }

// colonBehind reports whether a colon stands behind token i, but for signs that are not heard.
func (r *reader) colonBehind(i int) bool {
	j := i + 1
	for j < i+lookahead && r.isUnheard(j) {
		j++
	}
	return r.isSign(j, ':')
}

// isNoun reports whether token i is a word with a meaning of its own, and none that a number, a sign or a short form becomes.
func (r *reader) isNoun(i int) bool {
	return r.at(i).kind == latin && !r.single(i) && !r.at(i).word.is(expansion|englishWord)
}

// futureEndings are those of verbs of what will be: aaoge, jaenge.
var futureEndings = [...]string{"oge", "ogi", "ega", "egi", "enge", "engi", "unga", "ungi"}

// endingsBeforeHai are those of verbs before है: देना, लेनी, करते, गया. What signs are called ends otherwise.
var endingsBeforeHai = [...]string{"ना", "नी", "ने", "ता", "ती", "ते", "रहा", "रही", "रहे", "गया", "गई", "गए"}

func endsIn(word string, endings []string) bool {
	for _, ending := range endings {
		if strings.HasSuffix(word, ending) {
			return true
		}
	}
	return false
}

// isTypedWhen reports whether the kb or jb at token i is kab or jab, and not the size of a file: kb tak, kb aaoge.
func (r *reader) isTypedWhen(i, next int) bool {
	if !r.isTyped(i) || r.isCounted(i) {
		return false
	}
	t := r.at(next)
	if r.reads(next, "me", "mein", "ka", "ki", "ke") {
		return false
	}
	return t.kind == latin && (t.word.is(anyHindi) || t.word.chat != nil || endsIn(r.str(next), futureEndings[:]))
}

// isTypedVerb reports whether the kia, dia or lia at token i is kiya, diya or liya, and no car, lamp or name.
func (r *reader) isTypedVerb(i, next int) bool {
	before := r.at(i - 1).word
	behindVerb := before.is(hindiVerb) || before.chat != nil
	return r.isTyped(i) && (behindVerb || r.reads(next, "h", "hai", "tha", "thi", "kya"))
}

// isTypedHai reports whether the h at token i is the verb of a Hindi sentence, and not the name of what stands before it: khada h,
// देना h, 18-20k h; but option h.
func (r *reader) isTypedHai(i int) bool {
	j, apart := i-1, r.at(i).gap
	for ; i-j < lookahead && r.isUnheard(j); j-- {
		apart = true // khada *h*
	}
	if r.tightSign(j, '.') && r.isWord(j-1, shortened) {
		j--
	}
	before := r.at(j)
	if !apart && j == i-1 || r.isWord(j, numbersThings|idWord) {
		return false
	}
	if before.kind == deva {
		return endsIn(r.str(j), endingsBeforeHai[:])
	}
	measured := r.tight(j) && r.at(j-1).kind == digits // 18-20k h
	long := before.cas == lower && before.b-before.a > 2
	short := before.word.is(shortened) || len(before.word.beside) > 0 || r.tightSign(j-1, '/') // which are long when they are read again
	typed := before.kind == latin && !before.word.is(expansion) && (long || short)
	return (typed || measured) && r.amongHindi(i)
}

// amongHindi reports whether a Roman Hindi word stands near token i in its sentence, and none that a rule may have put there, nor the hai
// that another h becomes.
func (r *reader) amongHindi(i int) bool {
	for j := max(r.start, i-16); j < min(r.stop, i+16); j++ {
		t := r.at(j)
		hindi := t.kind == latin && t.cas == lower && t.word.is(anyHindi)
		if hindi && !t.word.is(expansion) && !r.reads(j, "hai") {
			return true
		}
	}
	return false
}

// isCounted reports whether a number stands before token i, or a word that one may have become.
func (r *reader) isCounted(i int) bool {
	before := r.at(i - 1)
	return before.kind == digits || before.kind == deva || before.word.is(expansion)
}

// isMonthAlone reports whether the short month at token i stands without a day: nov ka bill, since Oct.
func (r *reader) isMonthAlone(i, next int) bool {
	behind := r.in(next, caseEnding) || r.in(next, behindMonth)
	return r.at(i).cas != upper && (behind && !r.isCounted(i) || r.in(i-1, beforeMonth))
}

// isWeekend reports whether the Sat or Sun at token i is a day of the week.
func (r *reader) isWeekend(i, next int) bool {
	if r.at(i).cas == lower {
		return false
	}
	beside := i - 1
	if r.at(beside).isOneOf("/&,") {
		beside--
	}
	ordinal := r.at(i-2).kind == digits && r.tight(i-1) && englishEnding(r.atWord(i-1))                              // 2nd Sat
	hours := r.at(i).cas == title && r.at(i-1).kind != digits && r.small(next, 2) > 0 && r.numberBehind(next+1, '-') // Sat 11-12.30
	if r.at(i).cas == title && r.isClock(next) {
		return true // Sat 3 pm
	}
	if ordinal || hours || r.isDay(next) {
		return true
	}
	if r.in(i-1, weekendBefore) || r.isSign(i-1, '&') || r.weekdayAt(beside) > 0 {
		return true
	}
	return r.in(next, weekendBehind) || r.at(next).isOneOf("/&") && r.weekdayAt(next+1) > 0
}

// isDay reports whether a date in numbers, or one with the name of its month, begins at token i.
func (r *reader) isDay(i int) bool {
	if m, next := r.monthAt(i); m > 0 {
		return r.at(next).kind == digits || r.isSign(next, '-')
	}
	if r.at(i).kind != digits {
		return false
	}
	if _, ok := r.numericDate(i); ok {
		return true
	}
	if _, ok := r.monthSecond(i); ok {
		return true
	}
	a, b := r.small(i, 2), r.small(i+2, 4)
	withMonth := a > 0 && b > 0 && (a <= 12 || b <= 12)
	return withMonth && r.stroke(i) && len(r.str(i+2))%2 == 0 && r.looseEnd(i+3)
}

// isYears reports whether a number of years begins at token i: 5 yrs, 10+ years.
func (r *reader) isYears(i int) bool {
	if r.at(i).kind != digits {
		return false
	}
	for j := i + 1; j < i+5; j++ {
		if r.in(j, yearly) {
			return true
		}
		if !r.at(j).isOneOf("+-.") && r.at(j).kind != digits {
			return false
		}
	}
	return false
}

// isLength reports whether a number of metres or kilometres begins at token i.
func (r *reader) isLength(i int) bool {
	n, ok := r.number(i)
	if !ok {
		return false
	}
	u, _ := r.unit(n.next)
	return u != nil && (u.symbol == "km" || u.symbol == "m" || u.symbol == "mi")
}

// isClock reports whether a time of the day begins at token i.
func (r *reader) isClock(i int) bool {
	if r.at(i).kind != digits {
		return false
	}
	m, ok := r.moment(i)
	return ok && m.clear()
}

// isTimetable reports whether the dep or arr at token i stands beside a time: dep. 21:05, 21:05 dep, arr Pune 6 am.
func (r *reader) isTimetable(i, next int) bool {
	if r.isStation(next) {
		next++
	}
	return r.isClock(next) || r.at(next).kind == digits && r.numberBehind(next+1, ':') || r.isBehindClock(i)
}

// isSideOfTown reports whether the letter at token i is the part of a suburb that lies on one side of its railway, as in Mumbai: Andheri (E), Mumbai.
func (r *reader) isSideOfTown(i, _ int) bool {
	if r.at(i).cas != upper || !r.isSign(i-1, '(') || !r.tightSign(i+1, ')') || r.at(i-2).cas != title {
		return false
	}
	next := i + 2
	for next < i+lookahead && r.at(next).isOneOf(",-") {
		next++
	}
	return r.isWord(next, city) || r.at(next).kind == digits && len(r.str(next)) == 6
}

// isBehindClock reports whether a time with a colon stands before token i: 21:00 dep.
func (r *reader) isBehindClock(i int) bool {
	return r.at(i-1).kind == digits && r.isSign(i-2, ':') && r.at(i-3).kind == digits
}

// isMovedMoney reports whether the DR or CR at token i stands between the tail of an account and the money that moved: A/c XX8830 DR Rs.2,450.
func (r *reader) isMovedMoney(i, next int) bool {
	tail := r.at(i-1).kind == digits && len(r.str(i-1)) >= 3 && !r.isMoneyBehind(i-1)
	return tail && (r.currencyCode(next) > 0 || r.at(next).isCurrency())
}

// isBeforeBalance reports whether what stands behind the short form at token i is a balance: Clr Bal, Tot avl Bal.
func (r *reader) isBeforeBalance(i, next int) bool { return r.looseEnd(i+1) && r.in(next, balances) }

// isStreet reports whether the St. at token i is a street, by the name or the number before it: 42 Church St., 5th St.; but St. Xavier's.
func (r *reader) isStreet(i, next int) bool {
	before := r.at(i - 1)
	if r.at(i).cas != title || !r.isSign(i+1, '.') || before.kind != latin || !r.at(i).gap {
		return false
	}
	if r.at(i-2).kind == digits && (before.cas == title || r.tight(i-1) && englishEnding(r.str(i-1))) {
		return true
	}
	saint := r.at(next).kind == latin && r.at(next).cas == title
	return before.cas == title && !before.word.is(englishWord) && !saint
}

// isPlatform reports whether the PF at token i is that of a station, not the fund of a salary: PF 3, PF no. 4.
func (r *reader) isPlatform(i, next int) bool {
	if r.isNo(next) {
		next++
		if r.isSign(next, '.') {
			next++
		}
	}
	n := r.small(next, 2)
	if n < 1 || n > 30 || r.at(i).cas != upper {
		return false
	}
	next++
	if !r.looseEnd(next) || r.isSign(next, '%') || r.countedAt(next) {
		return false
	}
	return !r.numberBehind(next, '.') && !r.numberBehind(next, ',') && !r.tightSign(next, '/')
}

// isSection reports whether the number at token i is that of a law: Sec 80C, Sec. 138 NI Act.
func (r *reader) isSection(i int) bool {
	if r.at(i).kind != digits {
		return false
	}
	if r.tight(i+1) && r.at(i+1).kind == latin && r.at(i+1).inCapitals() {
		return true
	}
	if r.tightSign(i+1, '(') && r.small(i+2, 2) > 0 && r.isSign(i+3, ')') {
		return true // Sec 12(3)
	}
	for j := i + 1; j < min(r.stop, i+6); j++ {
		if r.in(j, lawBook) {
			return true
		}
	}
	return false
}

// isDebited reports whether the Dr at token i tells where money came from, and is no doctor: Rs 350 Dr from A/c.
func (r *reader) isDebited(i, next int) bool {
	return r.reads(i, "Dr", "DR", "dr") && r.isMoneyBehind(i-1) && r.in(next, paidBy)
}

// isCreditedTo reports whether the Cr at token i tells where money went to, and is no crore: & Cr. to chai@upi.
func (r *reader) isCreditedTo(i, next int) bool {
	return r.reads(i, "Cr", "CR") && r.at(i-1).kind != digits && r.reads(next, "to", "in", "into", "by")
}

// isMoneyBehind reports whether an amount in a currency ends with token i.
func (r *reader) isMoneyBehind(i int) bool {
	if r.at(i).kind != digits {
		return false
	}
	for j := i - 1; j > i-8 && j >= r.start; j-- {
		switch t := r.at(j); {
		case t.isCurrency() || r.currencyCode(j) > 0:
			return true
		case t.kind != digits && !t.isOneOf(",."):
			return false
		}
	}
	return false
}

// hasPaise reports whether an amount with commas and paise begins at token i.
func (r *reader) hasPaise(i int) bool {
	n, ok := r.number(i)
	return ok && n.grouped && len(n.frac) == 2
}

// isBalanceBehind reports whether money with paise, as banks print a balance, ends with token i, and nothing goes on behind it.
func (r *reader) isBalanceBehind(i int) bool {
	paise := r.isSign(i-1, '.') && r.tight(i) && r.at(i).kind == digits && len(r.str(i)) == 2
	next := r.at(i + 2)
	ends := next.kind == nothing || next.kind == sign || next.cas == title
	return paise && ends && r.isMoneyBehind(i)
}

// isBalance reports whether the bal at token i is short for balance, and no hair: Clr Bal, bal: Rs 500.
func (r *reader) isBalance(i, next int) bool {
	money := r.at(next).isCurrency() || r.currencyCode(next) > 0
	if money || r.at(next).kind == digits || r.colonBehind(i) {
		return true
	}
	if r.at(i).cas == title && r.isSign(next, '(') {
		return true // Bal (subject to clearing)
	}
	if r.in(i-1, beforeBalance) || r.isSign(i-1, '.') && r.in(i-2, beforeBalance) {
		return true
	}
	return r.at(i).cas == upper && !r.at(i-1).isOneOf("\"'")
}

// isCreditBehind reports whether an amount that is a balance ends before the CR at token i.
func (r *reader) isCreditBehind(i int) bool {
	if r.at(i-1).kind != digits || !r.isSign(i-2, '.') || len(r.str(i-1)) != 2 {
		return false
	}
	j := i - 3
	for j > max(r.start, i-12) && (r.at(j-1).kind == digits || r.isSign(j-1, ',')) {
		j--
	}
	a, ok := r.amount(j)
	return ok && a.next == i && r.isCreditBalance(i, &a)
}

// course reads the x of 1-0-1 x 5 days as for.
func (r *reader) course(i int) int {
	if !r.reads(i, "x", "X") || r.tight(i) || r.tight(i+1) || r.at(i+1).kind != digits {
		return i
	}
	if !r.in(i+2, courseUnit) {
		return i
	}
	dose := r.at(i-1).kind == digits && r.isSign(i-2, '-') && r.at(i-3).kind == digits
	word := r.at(i-1).kind == latin && !r.countedAt(i-1) && (r.at(i-2).kind != digits || r.reads(i-1, "mg", "ml", "mcg"))
	rated := r.isSign(i-2, '/') && r.at(i-1).kind == latin // 2hrs/day x 6 days
	if !dose && !word && !rated {
		return i
	}
	r.begin(i, speech.SpanSign)
	if r.lang == english {
		r.say(r.lang.words[wordFor])
	} else {
		r.pause()
	}
	return r.end(i + 1)
}

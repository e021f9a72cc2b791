package normalize

import "github.com/swar-tts/swar/runtime/speech"

// code reads what is a code by its shape: letters and digits that touch (HDFC0001234, 6E-2045), groups of digits with hyphens
// (405-1234567-7654321), cards and Aadhaar in groups of four, zero-led numbers, eleven digits and more.
func (r *reader) code(i int) int {
	if r.joined(i) {
		return i
	}
	if r.at(i).kind == digits {
		if next := r.fours(i); next > i {
			return next
		}
	}
	if next := r.mixedCode(i); next > i {
		return next
	}
	next, letters, numbers, hyphens := r.codeRun(i)
	switch {
	case letters && r.isFiscal(i, next):
		return r.sayFiscal(i)
	case letters && numbers:
		return r.lettersAndNumbers(i, next)
	case numbers && hyphens > 0 && r.hyphenCode(i, next):
		return r.sayCode(i, next)
	case r.at(i).kind != digits || !r.looseEnd(i+1):
		return i
	}
	if r.zeroLed(i) && r.stroke(i) && r.looseEnd(i+3) && r.context(i).what == idNear {
		return r.strokedCode(i) // FIR संख्या 0142/2025
	}
	if n := len(r.str(i)); n >= 3 && r.zeroLed(i) || n > 10 {
		r.begin(i, speech.SpanCode)
		r.grouped(r.str(i))
		return r.end(i + 1)
	}
	return i
}

// isFiscal reports whether tokens i to next are a financial year of two: FY26-27.
func (r *reader) isFiscal(i, next int) bool {
	if next != i+4 || !r.reads(i, "FY", "AY") || !r.tightDigits(i+1) || !r.numberBehind(i+2, '-') {
		return false
	}
	return len(r.str(i+1)) == 2 && len(r.str(i+3)) == 2
}

// sayFiscal says FY26-27.
func (r *reader) sayFiscal(i int) int {
	r.begin(i, speech.SpanYear)
	r.letters(r.str(i), r.lang)
	r.sayPlain(i+1, r.lang)
	r.sayPlain(i+3, r.lang)
	return r.end(i + 4)
}

// lettersAndNumbers reads tokens i to next, capitals and digits that touch: a name with its number, or else a code.
func (r *reader) lettersAndNumbers(i, next int) int {
	switch {
	case r.namedNumber(i, next):
		r.begin(i, speech.SpanNumber)
		r.letters(r.str(i), r.lang)
		a, _ := r.amount(r.hyphen(i + 1))
		if name := r.englishName(i); name != "" && r.lang != english {
			r.say(name)
		} else {
			r.sayAmount(&a, r.lang, false)
		}
		return r.end(a.next)
	case next == i+2 && r.isWord(i, spoken) && r.numbersName(i, i+1):
		r.begin(i, speech.SpanNumber) // COVID19
		r.say(r.str(i))
		r.sayPlain(i+1, r.lang)
		return r.end(next)
	case r.nameAndNumber(i, next):
		return r.keep(i)
	}
	for _, try := range [...]func(*reader, int, int) int{(*reader).berth, (*reader).questions, (*reader).labelRange, (*reader).quarterOfYear, (*reader).seriesName, (*reader).sectionNumber} {
		if end := try(r, i, next); end > i {
			return end
		}
	}
	return r.sayCode(i, next)
}

// coaches are the letters of coaches of Indian trains, which stand before their number.
const coaches = " S B A H C D E M HA GS "

// berth reads S4/32 beside words of journeys: a coach, and a place in it.
func (r *reader) berth(i, next int) int {
	if next != i+4 || !isIn(coaches, r.str(i)) || !r.stroke(i+1) || !r.isTravelling(i) {
		return i
	}
	if len(r.str(i+1)) > 2 || len(r.str(i+3)) > 2 {
		return i
	}
	r.begin(i, speech.SpanCode)
	r.letters(r.str(i), r.lang)
	r.sayPlain(i+1, r.lang)
	r.pause()
	r.sayPlain(i+3, r.lang)
	return r.end(next)
}

// codeRun measures the run of capitals, digits and single hyphens at token i.
func (r *reader) codeRun(i int) (next int, letters, numbers bool, hyphens int) {
	j := i
	for {
		t := r.at(j)
		if j > i && t.gap {
			break
		}
		switch {
		case t.kind == digits:
			numbers = true
		case t.inCapitals():
			letters = true
		case j > i && t.isOneOf("-/") && r.codeGoesOn(j+1):
			hyphens++
		case t.kind == latin, t.kind == deva:
			return j, false, false, 0
		default:
			return j, letters, numbers, hyphens
		}
		j++
		if j-i > 12 {
			return j, letters, numbers, hyphens
		}
	}
	return j, letters, numbers, hyphens
}

// codeGoesOn reports whether token i, behind a hyphen or a stroke, is the next part of a code.
func (r *reader) codeGoesOn(i int) bool {
	t := r.at(i)
	return r.tight(i) && (t.kind == digits || t.inCapitals())
}

// numbered are letters whose number is a quantity: FY26, Q1, NH-44, PM2.5.
const numbered = " AY BS CO F FY G ITR MP NH PM PS Q SH T U UT PT FA SA "

// namedNumber reports whether tokens i to next are such letters, or a name of englishNames, and their number.
func (r *reader) namedNumber(i, next int) bool {
	j := r.hyphen(i + 1)
	if next != j+1 || r.at(i).kind != latin || !isIn(numbered, r.str(i)) && r.englishName(i) == "" {
		return false
	}
	a, ok := r.amount(j)
	if !ok || a.unit != nil || !r.looseEnd(a.next) {
		return false
	}
	return a.n.size <= 3 && !a.n.grouped && !r.zeroLed(j)
}

// englishNames are names of a letter and a number that everyone says in English; here are their numbers in Hindi writing.
var englishNames = map[string]string{"T20": "ट्वेंटी", "G20": "ट्वेंटी", "G7": "सेवन", "G8": "एट", "B12": "ट्वेल्व", "F1": "वन", "H1": "वन", "A1": "वन", "A4": "फ़ोर"}

// englishName returns the number of the name at token i, "" for none. The coach B12 of a train is none.
func (r *reader) englishName(i int) string {
	j := r.hyphen(i + 1)
	if r.isWord(i-1, coach) || r.at(j).kind != digits || len(r.str(i)) > 1 || len(r.str(j)) > 2 {
		return ""
	}
	var buf [4]byte
	return englishNames[string(append(append(buf[:0], r.str(i)...), r.str(j)...))]
}

// mixedCode reads letters of both cases with digits between them, where a code is named: 7F3kQ2.
func (r *reader) mixedCode(i int) int {
	j, turns, low := i, 0, false
	for ; j < i+12 && (j == i || r.tight(j)); j++ {
		t := r.at(j)
		if t.kind != digits && t.kind != latin {
			break
		}
		turns++
		low = low || t.kind == latin && t.cas != upper
	}
	if turns < 3 || !low || r.context(i).what != codeNear {
		return i
	}
	return r.sayCode(i, j)
}

// nameAndNumber reports whether tokens i to next are a name that is said as a word, a hyphen and a small number: COVID-19.
func (r *reader) nameAndNumber(i, next int) bool {
	if next != i+3 || !r.tightSign(i+1, '-') {
		return false
	}
	return r.at(i).kind == latin && saidAsWord(r.at(i).word) && r.numbersName(i, i+2)
}

// numbersName reports whether the word at token i is long enough for a name, and token j short enough for its number.
func (r *reader) numbersName(i, j int) bool { return len(r.str(i)) > 3 && len(r.str(j)) <= 2 }

// hyphenCode reports whether groups of digits with hyphens are an identifier: three groups or more, or one too long for a range.
func (r *reader) hyphenCode(i, next int) bool {
	parts, long := 0, false
	for j := i; j < next; j++ {
		t := r.at(j)
		if t.kind == sign && t.ch == '/' && parts < 3 {
			return false // house 7-1-44/2 has parts enough
		}
		if t.kind == digits {
			parts++
			long = long || len(r.str(j)) >= 5 || r.zeroLed(j) && len(r.str(j)) > 2
		}
	}
	if parts >= 3 || long {
		return true
	}
	near := r.context(i).what
	if near == codeNear {
		return true
	}
	if near != idNear || r.isLabelRange(i) {
		halves := parts == 2 && len(r.str(i)) == 3 && len(r.str(i+2)) == 3
		return halves && r.isCodeSubject(i+2) // 618-204 is your code
	}
	return len(r.str(i)) >= 3 || parts == 2 && len(r.str(i+2)) == 4 // order 60-4471
}

// isLabelRange reports whether the two numbers with a hyphen at token i are the first and the last of many: tokens 101-150.
func (r *reader) isLabelRange(i int) bool {
	a, b := r.small(i, 3), r.small(i+2, 3)
	return len(r.str(i)) == len(r.str(i+2)) && 0 <= a && a < b
}

// sayCode says tokens i to next as a code.
func (r *reader) sayCode(i, next int) int {
	r.begin(i, speech.SpanCode)
	for j := i; j < next; j++ {
		switch t := r.at(j); t.kind {
		case digits:
			r.grouped(r.str(j))
		case latin:
			r.letters(r.str(j), r.lang)
		case sign:
			r.pause()
		}
	}
	return r.end(next)
}

// isOnScreen reports whether the 4K at token i is how sharp a picture is: 4K TV, TV 55 inch 4K.
func (r *reader) isOnScreen(i int) bool {
	if r.isWord(i+2, screen) {
		return true
	}
	before := r.isWord(i-1, screen) || r.isWord(i-2, screen) || r.isWord(i-3, screen)
	return before && !r.isWord(i-1, amountOf) && !r.in(i-1, pricing)
}

// generation reads 5G and 4K TV.
func (r *reader) generation(i int) int {
	t := r.at(i + 1)
	if len(r.str(i)) != 1 || r.joined(i) || t.gap || !r.looseEnd(i+2) {
		return i
	}
	sharpness := r.reads(i+1, "K") && r.isOnScreen(i)
	if !sharpness && !r.reads(i+1, "G", "D", "जी", "डी") {
		return i
	}
	d := r.text[r.toks[i].a] - '0'
	if d < 2 || d > 8 {
		return i
	}
	r.begin(i, speech.SpanAcronym)
	if r.lang != english || t.kind == deva {
		r.say(r.home.inRows[d-2])
	} else {
		r.say(english.below100[d])
	}
	if t.kind == deva {
		r.say(r.str(i + 1))
	} else {
		r.letters(r.str(i+1), r.lang)
	}
	return r.end(i + 2)
}

// fours reads a card or an Aadhaar number in groups of four.
func (r *reader) fours(i int) int {
	if len(r.str(i)) != 4 {
		return i
	}
	var at [maxParts]int
	n := r.digitParts(i, &at)
	k := 0
	for k < n && len(r.str(at[k])) == 4 {
		k++
	}
	if k < 3 || !r.looseEnd(at[k-1]+1) {
		return i
	}
	next := at[k-1] + 1
	tail := k >= 3 && k < n && r.at(next).kind == digits && len(r.str(next)) <= 3 // as a card of 19 digits has
	if tail && r.context(i).what != noContext {
		k++
		next = at[k-1] + 1
	}
	r.begin(i, speech.SpanCode)
	r.sayParts(at[:k])
	return r.end(next)
}

// singles returns the end of the row of single digits that begins at token i: 1 2 3 4.
func (r *reader) singles(i int) int {
	j := i
	for r.at(j).kind == digits && len(r.str(j)) == 1 && j-i < 2*maxParts {
		j++
	}
	decimal := r.tightSign(j, '.') && r.tight(j+1)
	if !r.looseEnd(j) || r.countedAt(j) || decimal || r.tightSign(j, ':') {
		return i
	}
	return j
}

// codeRunsOn reads the code of OTP:381940.2min, behind whose full stop no space was typed.
func (r *reader) codeRunsOn(i int) int {
	n := len(r.str(i))
	if n < 4 || n > 8 || !r.numberBehind(i+1, '.') {
		return i
	}
	if len(r.str(i+2)) > 2 || r.looseEnd(i+3) || r.context(i).what != codeNear {
		return i
	}
	r.begin(i, speech.SpanCode)
	r.grouped(r.str(i))
	next := r.end(i + 1)
	r.mark(".")
	return next + 1
}

// contextCode reads a number that the words around it make an identifier.
func (r *reader) contextCode(i int) int {
	if !r.looseEnd(i+1) || r.numberBehind(i+1, '-') && r.isLabelRange(i) && r.looseEnd(i+3) {
		return i
	}
	rule := r.judge(i)
	if rule == nil {
		return i
	}
	r.reason = rule.reason
	if rule.near != noContext && len(r.str(i)) <= 4 {
		if next := r.spacedCode(i); next > i {
			return next
		}
	}
	r.begin(i, speech.SpanCode)
	r.grouped(r.str(i))
	return r.end(i + 1)
}

// isLetteredCode reports whether the number at token i goes on letter names of Devanagari: आर-४४१०, ओडी-२२०१४.
func (r *reader) isLetteredCode(i int) bool {
	if len(r.str(i)) < 3 || !r.tight(i) || !r.tightSign(i-1, '-') {
		return false
	}
	name := r.at(i - 2)
	return name.kind == deva && name.b-name.a <= 15 && !name.word.is(city)
}

// spacedCode reads a code that is written in groups: 12 34 56, 845 2291 0034. Up to six digits need no pause.
func (r *reader) spacedCode(i int) int {
	if next := r.singles(i); next > i+2 {
		r.begin(i, speech.SpanCode)
		for j := i; j < next; j++ {
			r.digits(r.str(j), r.digitLang())
		}
		return r.end(next)
	}
	var at [maxParts]int
	n := r.digitParts(i, &at)
	total, k := 0, 0
	for ; k < n; k++ {
		if k > 0 && !r.at(at[k]).gap {
			break
		}
		size := len(r.str(at[k]))
		landline := k == 1 && n == 2 && size <= 7 && total+size == 10 // 1374 309988
		if size < 2 || size > 4 && !landline {
			break
		}
		total += size
	}
	next := at[max(k-1, 0)] + 1
	if k < 2 || !r.looseEnd(next) || r.tightSign(next, ':') {
		return i
	}
	if u, _ := r.unit(next); u != nil || r.countedAt(next) || r.isSign(next, '%') {
		return i // the last group is a quantity of its own
	}
	r.begin(i, speech.SpanCode)
	if total > 6 {
		r.sayParts(at[:k])
	} else {
		for _, j := range at[:k] {
			r.digits(r.str(j), r.digitLang())
		}
	}
	return r.end(next)
}

// postalCode reads six digits behind a city, or behind a word and a hyphen, also as three and three.
func (r *reader) postalCode(i int) int {
	n := len(r.str(i))
	if n != 6 && n != 3 || r.text[r.toks[i].a] == '0' {
		return i
	}
	next := i + 1
	if n == 3 {
		if r.at(next).kind != digits || len(r.str(next)) != 3 {
			return i
		}
		next++
	}
	if !r.looseEnd(next) || r.countedAt(next) || r.tightSign(next, '.') && r.at(next+1).kind == digits {
		return i
	}
	hyphen := r.isSign(i-1, '-') || r.isSign(i-1, enDash)
	before := i - 1
	if hyphen || r.isSign(i-1, ',') {
		before--
	}
	before = r.frontOfBracket(before, hyphen)
	t := r.at(before)
	name := t.kind == deva || t.kind == latin && t.cas == title // of a place that we need not know: Rampur-244901
	byPlace := (hyphen || before < i-3) && name || r.isAddressEnd(i)
	if !t.word.is(city) && !(n == 6 && byPlace) {
		return i
	}
	r.begin(i, speech.SpanPincode)
	for j := i; j < next; j++ {
		r.digits(r.str(j), r.digitLang())
	}
	return r.end(next)
}

// frontOfBracket returns the token before the brackets that end with token j, if they stand in an address: Thane (W) 400601,
// सीहोर (म.प्र.) ४६६००१ and, with a hyphen behind them, SAS Nagar (Mohali)-140301. Else j.
func (r *reader) frontOfBracket(j int, hyphen bool) int {
	if !r.isSign(j, ')') {
		return j
	}
	for k := j - 1; k > j-6 && k >= r.start; k-- {
		if r.isSign(k, '(') {
			dotted := r.isSign(k+2, '.')
			letter := k == j-2 && r.single(k+1)
			state := k == j-2 && r.at(k+1).cas == upper && isIn(states, r.str(k+1)) // Mainpuri(UP)205264
			if letter || hyphen || dotted || state {
				return k - 1
			}
			return j
		}
	}
	return j
}

// states are the codes that Indian vehicle numbers begin with.
const states = " AN AP AR AS BH BR CG CH DD DL DN GA GJ HP HR JH JK KA KL LA LD MH ML MN MP MZ NL OD OR PB PY RJ SK TG TN TR TS UK UP WB "

// vehicle reads MH 12 DE 1433: the parts of a vehicle number with spaces between them.
func (r *reader) vehicle(i int) int {
	if r.at(i).cas != upper || len(r.str(i)) != 2 || !isIn(states, r.str(i)) || r.joined(i) {
		return i
	}
	j := i + 1
	j = r.hyphen(j)
	if r.at(j).kind != digits || len(r.str(j)) > 2 {
		return i
	}
	if r.tightLetter(j+1) && r.at(j+2).gap {
		j++ // DL 1C AB 1234
	}
	j = r.hyphen(j + 1)
	if t := r.at(j); t.kind != latin || t.cas != upper || t.b-t.a > 3 {
		return i
	}
	j = r.hyphen(j + 1)
	if r.at(j).kind != digits || len(r.str(j)) > 4 || len(r.str(j)) < 3 || !r.looseEnd(j+1) {
		return i
	}
	return r.sayCode(i, j+1)
}

// hyphen steps over a hyphen at token j.
func (r *reader) hyphen(j int) int {
	if r.tightSign(j, '-') && r.tight(j+1) {
		return j + 1
	}
	return j
}

// airlines are the codes of flights that are written with a space: 6E 2045.
const airlines = " 6E AI UK SG G8 QP IX I5 EK QR EY SQ BA LH TG "

// flight reads 6E 2045. Codes in letters only are acronyms anyway, and their number follows the word flight.
func (r *reader) flight(i int) int {
	if len(r.str(i)) != 1 || !r.tightLetter(i+1) || r.at(i+2).kind != digits || !isIn(airlines, r.between(i, i+2)) {
		return i
	}
	if n := len(r.str(i + 2)); n < 2 || n > 4 || !r.looseEnd(i+3) || r.context(i).what == noContext {
		return i
	}
	return r.sayCode(i, i+3)
}

// isIn reports whether s is one of the words of list, which has a space around each. No word is none of them.
func isIn(list, s string) bool {
	for j := 0; s != "" && j+len(s)+1 < len(list); j++ {
		if list[j] == ' ' && list[j+1:j+1+len(s)] == s && list[j+1+len(s)] == ' ' {
			return true
		}
	}
	return false
}

package normalize

import "strings"

// amount is a quantity with everything that belongs to it.
type amount struct {
	minus, plus bool
	n           number
	scales      [2]int // places in scaleWords: lakh, or lakh crore
	cur         int    // place in currencies
	curWord     int    // the token of a currency word, which is kept
	unit        *unit
	percent     bool
	per         int  // the token behind the stroke of ₹40/kg
	hyphened    bool // the unit is an adjective: 10-min
	paise       bool // it is written with two decimals, as banks print money
	next        int
}

// marked reports whether something beside the digits says that this is a quantity.
func (a *amount) marked() bool {
	measured := a.cur > 0 || a.scales[0] > 0 || a.unit != nil || a.percent
	return measured || a.n.grouped || !a.n.whole()
}

// isShareOrPrice reports whether a is a percentage or money.
func (a *amount) isShareOrPrice() bool { return a.percent || a.cur > 0 }

// amount reads the quantity that begins at token i: a currency or a sign, the number, its scale and its unit.
func (r *reader) amount(i int) (a amount, ok bool) {
	j := i
	a.cur, j = r.currencyBefore(j)
	if t := r.at(j); t.isOneOf(hyphens+"+") && r.tight(j+1) {
		a.minus, a.plus = t.ch != '+', t.ch == '+'
		j++
		if a.cur == 0 {
			a.cur, j = r.currencyBefore(j)
		}
	}
	a.n, ok = r.number(j)
	if !ok || a.n.size > maxSize {
		return a, false
	}
	a.paise = len(a.n.frac) == 2
	if a.n.grouped && a.n.frac == "00" {
		a.n.frac = "" // 1,00,000.00 is money, whatever it says
	}
	a.next = a.n.next + r.starsBehind(j, a.n.next)
	behind := a.next
	r.scale(&a)
	r.suffix(&a)
	if a.next == behind {
		a.next = a.n.next
	}
	return a, true
}

// starsBehind returns how many stars from token next on close the emphasis that begins before the number at token i: **250** km.
func (r *reader) starsBehind(i, next int) int {
	wide := 0
	for ; wide < 3 && r.tightSign(next+wide, '*') && r.isSign(i-1-wide, '*'); wide++ {
		if r.toks[i-wide].src != r.toks[i-wide-1].end {
			return 0
		}
	}
	if unit := r.at(next + wide); wide == 0 || !unit.gap || !unit.kind.lettered() {
		return 0
	}
	return wide
}

// currencyBefore reads the currency at token i, in front of a number, and returns the token behind it.
func (r *reader) currencyBefore(i int) (cur, next int) {
	t := r.at(i)
	switch t.kind {
	case sign:
		if cur = signCurrency(t.ch); cur > 0 {
			next = i + 1
		}
	case latin, deva:
		if cur = r.currencyCode(i); r.reads(i, "re", "Re") && r.isSign(i+1, ':') {
			return 0, i // regarding
		} else if cur > 0 {
			next = i + 1
			if r.tightSign(next, '.') || r.tightSign(next, ':') {
				next++
			}
			next = r.currencyTwice(next)
			if r.isStrayDot(next) {
				next++
			}
		}
	}
	if cur == 0 {
		return 0, i
	}
	if r.at(next).opensNumber() {
		return cur, next
	}
	return 0, i
}

// currencyTwice passes over the currency at token i, which stands behind another: Rs ₹500, Rs. INR 500.
func (r *reader) currencyTwice(i int) int {
	switch code := r.currencyCode(i); {
	case r.at(i).isCurrency():
		return i + 1
	case code > 0 && r.tightSign(i+1, '.'):
		return i + 2
	case code > 0:
		return i + 1
	}
	return i
}

// isStrayDot reports whether the dot at token i belongs to the Rs before it, and not to the number behind it, which is too long for paise:
// Rs .150.
func (r *reader) isStrayDot(i int) bool {
	if !r.isSign(i, '.') || r.tight(i) || !r.tightDigits(i+1) {
		return false
	}
	return len(r.str(i+1)) > 2 || r.numberBehind(i+2, ',')
}

// opensNumber reports whether the number of a currency can begin with t: ₹500, ₹.50, ₹-500, ₹½.
func (t *token) opensNumber() bool {
	return t.kind == digits || t.isVulgarFraction() || t.isOneOf(hyphens+".")
}

// currencyCode returns the currency that token i abbreviates.
func (r *reader) currencyCode(i int) int {
	t := r.at(i)
	if n := t.b - t.a; n > 6 || !t.kind.lettered() {
		return 0
	}
	var buf [8]byte
	low, _ := fold(buf[:0], r.str(i))
	return currencyCodes[string(low)]
}

// isCarat reports whether the k at token j is a carat: 22K gold.
func (r *reader) isCarat(j int, a *amount) bool {
	if !r.reads(j, "K", "k", "KT", "kt", "Kt") || a.n.value > 24 || a.cur > 0 {
		return false
	}
	before := 5
	if priced := r.at(j+1).isCurrency() || r.currencyCode(j+1) > 0; priced && a.n.value >= 14 {
		before = 24 // Gold: 22K Rs 11,465/gm, 24K Rs 12,508/gm
	}
	for k := max(r.start, j-before); k < j+4; k++ {
		if r.isWord(k, gold) {
			return true
		}
	}
	return false
}

// scale reads lakh, crore, k and their like behind the number.
func (r *reader) scale(a *amount) {
	for range 2 {
		j := a.next
		if a.cur > 0 && r.tightSign(j, '-') && r.tight(j+1) && r.looseEnd(j+2) {
			j++ // Rs 4,200-cr
		}
		t := r.at(j)
		if !t.kind.lettered() || !t.word.is(scaleWord) {
			return
		}
		n := t.b - t.a
		if n == 2 && t.cas == upper && t.word.n >= 7 {
			return // MN, BN and TN are letters
		}
		if r.isCreditBalance(j, a) {
			if a.cur == 0 {
				a.cur = rupees // banks leave it away: Bal 3120.75CR
			}
			return
		}
		if t.kind == latin && n == 1 && !r.isScaleLetter(j, a) || r.isCredited(j, a) {
			return
		}
		switch {
		case a.scales[0] == 0:
			a.scales[0] = t.word.n
		case scaleWords[t.word.n].power > scaleWords[a.scales[0]].power:
			a.scales[1] = t.word.n
		default:
			return
		}
		a.next = j + 1
		if t.kind == latin && n == 2 && r.tightSign(a.next, '.') && !r.last(a.next) {
			a.next++ // cr.
		}
	}
}

// isCreditBalance reports whether the CR at token j says that a is a balance in credit: 45,210.10CR, Bal 27000.00 CR. Crores have no
// paise, and whoever writes them with two decimals writes ₹12.34 Cr.
func (r *reader) isCreditBalance(j int, a *amount) bool {
	if !a.paise || !r.reads(j, "CR", "Cr") {
		return false
	}
	isRound := a.n.frac == "" || a.n.frac == "00"
	isLarge := a.n.value >= 10_000 || r.at(j).cas == upper
	return isRound || isLarge || r.isNear(j, banked, 8)
}

// isCredited reports whether the cr at token j is no crore, but says where the money a went: Rs 300 cr to a/c XX118.
func (r *reader) isCredited(j int, a *amount) bool {
	if !r.reads(j, "cr", "Cr", "CR") || a.cur == 0 || !r.at(j).gap {
		return false
	}
	k := j + 1
	if r.isSign(k, '.') {
		k++
	}
	if !r.in(k, towards) {
		return false
	}
	for ; k < min(r.stop, j+6); k++ {
		if r.crosses(k) || r.stroked(k) == "account" || r.in(k, transferred) || r.isSign(k, '*') {
			return true
		}
	}
	return false
}

// isScaleLetter reports whether the letter at token j is a scale word. It is one directly behind the number (10k, 2.3M);
// L and k are also apart from an amount of money, ₹5 L, and k from what is counted: 5 K followers.
func (r *reader) isScaleLetter(j int, a *amount) bool {
	if !r.looseEnd(j + 1) {
		return false
	}
	apart, money := r.at(j).gap, a.cur > 0
	switch r.str(j) {
	case "m":
		return !apart && (money || r.isWord(j+1, counted)) // $20m, 2m users
	case "l", "b":
		return false // a litre, a bit
	case "L":
		return money || !apart && !r.isNear(j, capacious, 5)
	case "K", "k":
		return (money || !apart || r.isWord(j+1, counted)) && !r.isCarat(j, a)
	case "B":
		return money && !apart // Flat 2B
	}
	return !apart
}

// isNear reports whether one of so many tokens before token j is a word of the group.
func (r *reader) isNear(j int, g group, tokens int) bool {
	for k := j - 1; k >= max(r.start, j-tokens); k-- {
		if r.in(k, g) {
			return true
		}
	}
	return false
}

// suffix reads what stands behind the number and its scale: percent, currency, unit.
func (r *reader) suffix(a *amount) {
	j := a.next
	t := r.at(j)
	switch {
	case t.kind == sign && t.ch == '%':
		a.percent = true
		a.next = j + 1
		return
	case t.kind == sign && t.ch == '/' && r.tightSign(j+1, '-') && r.free(j+2):
		a.next = j + 2
		if a.cur == 0 {
			a.cur = rupees
			r.currencyAgain(a)
		}
		return
	case a.cur > 0:
		r.rate(a)
		return
	case t.isCurrency() && r.at(j+1).kind != digits:
		a.cur = signCurrency(t.ch)
		a.next = j + 1
		r.rate(a)
		return
	case t.kind.lettered() && r.wordSuffix(a):
		return
	}
	if r.isHyphenedUnit(j) {
		a.unit, a.hyphened, a.next = r.unitText(j+1, j+2), true, j+2
		return
	}
	if u, next := r.unit(j); u != nil {
		if r.at(j).kind == latin && r.tightSign(next, '.') && !r.last(next) && r.at(next+1).kind != digits {
			next++ // kg.
		}
		a.unit, a.next = u, next
		r.rate(a)
	}
}

// isHyphenedUnit reports whether a hyphen and a unit of several letters stand at token j: a 10-min break.
func (r *reader) isHyphenedUnit(j int) bool {
	if !r.tightSign(j, '-') || !r.tight(j+1) || !r.looseEnd(j+2) {
		return false
	}
	if t := r.at(j + 1); t.kind != latin || t.cas == upper || t.b-t.a < 2 {
		return false
	}
	u := r.unitText(j+1, j+2)
	return u != nil && !u.tightOnly && !u.rare
}

// currencyAgain passes over the Rs that says once more what /- has said: 1,20,000/- रु.
func (r *reader) currencyAgain(a *amount) {
	if r.currencyCode(a.next) != rupees || !r.looseEnd(a.next+1) || r.at(a.next+1).kind == digits {
		return
	}
	a.next++
	if r.tightSign(a.next, '.') && !r.last(a.next) && r.at(a.next+1).kind != digits {
		a.next++
	}
}

// wordSuffix reads the word behind the number and its scale, if it is a currency, a carat or a year's salary.
func (r *reader) wordSuffix(a *amount) bool {
	j := a.next
	if cur := r.currencyCode(j); cur > 0 && r.looseEnd(j+1) && r.at(j).word.traits&scaleWord == 0 {
		a.cur = cur
		a.next = j + 1
		if r.tightSign(a.next, '.') && !r.last(a.next) {
			a.next++
		}
		if r.tightSign(a.next, '/') && r.tightSign(a.next+1, '-') {
			a.next += 2
		}
		r.rate(a)
		return true
	}
	if n := len(a.n.frac); (n == 1 || n == 2) && a.scales[0] == 0 {
		if cur := currencyWords[r.str(j)]; cur > 0 {
			a.cur, a.curWord, a.next = cur, j, j+1
			return true
		}
	}
	if r.isCarat(j, a) {
		a.unit, a.next = &carat, j+1
		return true
	}
	if u := perYear(r.str(j)); u != nil {
		a.unit, a.next = u, j+1
		if a.scales[0] == 0 {
			a.scales[0] = lakhs
		}
		return true
	}
	return false
}

// rate reads the stroke of ₹40/kg.
func (r *reader) rate(a *amount) {
	j := a.next
	if !r.isSign(j, '/') || r.at(j).gap && rates[r.atWord(j+1)] == "" {
		return // ₹8,500 /month has its stroke apart
	}
	word := r.tight(j+1) && r.at(j+1).kind.lettered() && r.looseEnd(j+2)
	if word && rates[r.atWord(j+1)] == "" && r.listsOn(j+2) {
		return // EMI 21k/school fee 6k
	}
	switch u, next := r.square(j + 1); {
	case u != nil && r.tight(j+1): // ₹3.25/sq ft
		a.per, a.next = j+1, next
	case r.tightSign(j+1, '-'):
		a.next = j + 2 // ₹500/-
	case word && r.currencyCode(j+1) == 0:
		a.per = j + 1
		a.next = j + 2
		if r.at(j+1).kind == deva && r.tightSign(j+2, '.') && r.unitText(j+1, j+3) != nil {
			a.next++ // ₹66/ली.
		}
	}
}

// listsOn reports whether the next amount of a list stands close behind token j.
func (r *reader) listsOn(j int) bool {
	for k := j; k < j+3; k++ {
		if t := r.at(k); t.kind == digits || t.isCurrency() {
			return r.at(j).kind.lettered() || k == j
		} else if !t.kind.lettered() {
			return false
		}
	}
	return false
}

// unit reads the unit at token j.
func (r *reader) unit(j int) (*unit, int) {
	t := r.at(j)
	if t.kind == sign && signUnits[t.ch] != nil {
		return signUnits[t.ch], j + 1
	}
	if t.kind == sign && t.ch == degree {
		if c := r.at(j + 1); c.kind == latin && c.b-c.a == 1 {
			var buf [8]byte
			b := append(buf[:0], "°"...)
			b = append(b, r.text[c.a]|0x20)
			if u := units[string(b)]; u != nil && r.looseEnd(j+2) {
				return u, j + 2
			}
		}
		if r.tight(j+1) && r.reads(j+1, "से", "सें") {
			next := j + 2
			if r.tightSign(next, '.') {
				next++
			}
			return units["°c"], next // 31°से.
		}
		return &plainDegree, j + 1
	}
	if u, next := r.unitOver(j); u != nil {
		return u, next
	}
	if !t.kind.lettered() {
		return r.microUnit(j)
	}
	if t.kind == deva && r.tightSign(j+1, '.') && !(r.tight(j+2) && r.at(j+2).kind == deva) { // मि.मी. is one unit
		if u := r.unitText(j, j+2); u != nil { // ली.
			return u, j + 2
		}
	}
	if r.reads(j, "F", "C") && r.isFever(j) {
		return units["°"+strings.ToLower(r.str(j))], j + 1
	}
	if u, next := r.square(j); u != nil {
		return u, next
	}
	u := r.unitText(j, j+1)
	if u == nil || !r.looseEnd(j+1) || !r.isUnit(j, u) {
		return nil, j
	}
	return u, j + 1
}

// isUnit reports whether the word at token j, which may stand for u, is u where it stands.
func (r *reader) isUnit(j int, u *unit) bool {
	t := r.at(j)
	if u.tightOnly && t.gap && !r.standsApart(j) {
		return false
	}
	if u.rare && !r.isRareUnit(j) {
		return false
	}
	switch n := t.b - t.a; {
	case n == 2 && t.cas == upper:
		return !isIn(" AC LB LBS MT HA MI PC OZ MO YD ", r.str(j)) // berths and states
	case n > 1:
		return true
	}
	// One letter is a unit in the case that people write it in: g, m, l, L, h, W, V.
	switch c := r.text[t.a]; c {
	case 'T':
		return r.isNear(j, cooled, 5) || r.in(j+1, cooled)
	case 'G', 'M', 'H', 'D', 'S', 'Q', 'w', 'v', 'k':
		return false
	case 'q':
		return r.at(j+1).kind != digits // q 1 to 8
	case 'L':
		return !r.reads(j+1, "size", "Size") && !(t.gap && r.near(j, coach, 4)) // 2 L size, seat 23-24 L
	case 'U':
		return r.isNear(j, dosed, 4)
	case 'h':
		return !t.gap || r.lang == english || r.at(j+1).kind == digits // 190 h: hai
	}
	return true
}

// unitOver reads a unit over another at token j: km/h, μg/m3, kg/m².
func (r *reader) unitOver(j int) (*unit, int) {
	k := j + 1
	if r.at(j).kind == foreign && r.tight(k) && r.at(k).kind == latin {
		k++ // μ is Greek
	}
	if !r.tightSign(k, '/') || !r.tight(k+1) || !r.at(k+1).kind.lettered() {
		return nil, j
	}
	var buf [48]byte
	next := k + 2
	low, _ := fold(buf[:0], r.between(j, next))
	switch n := r.small(next, 1); {
	case !r.tight(next):
	case n == 2 || r.isSign(next, squared):
		low, next = append(low, '2'), next+1
	case n == 3 || r.isSign(next, cubed):
		low, next = append(low, '3'), next+1
	}
	if u := units[string(low)]; u != nil && r.looseEnd(next) {
		return u, next
	}
	return nil, j
}

// isFever reports whether the letter at token j is that of a temperature without its ring: temp 101.4 F.
func (r *reader) isFever(j int) bool {
	if !r.looseEnd(j + 1) {
		return false
	}
	return r.isNear(j, feverish, 8)
}

// isRareUnit reports whether token j stands apart from a number in Devanagari, or beside a word of temperatures: २ st, 273 K.
func (r *reader) isRareUnit(j int) bool {
	if !r.at(j).gap {
		return false
	}
	alone := r.at(j-2).kind == nothing && r.at(j+1).kind == nothing
	return alone || r.at(j-1).hindi || r.near(j, signed, 4) || r.isWord(j+1, signed)
}

// microUnit reads µm, µg and µs, whose first letter is Greek, at token j.
func (r *reader) microUnit(j int) (*unit, int) {
	if r.at(j).kind != foreign || !r.tight(j+1) || r.at(j+1).kind != latin || !r.looseEnd(j+2) {
		return nil, j
	}
	if u := r.unitText(j, j+2); u != nil {
		return u, j + 2
	}
	return nil, j
}

// standsApart reports whether token j is a unit although it is one that touches its number elsewhere: 6 ft 2 in, 230 V, 43.2 s,
// २ ha, and whatever stands alone with its number.
func (r *reader) standsApart(j int) bool {
	if r.at(j-1).hindi || r.isOnlyMeasure(j) {
		return true
	}
	decimal := r.isSign(j-2, '.') && r.at(j-3).kind == digits
	switch r.str(j) {
	case "in": // not 5 in all
		return r.reads(j-2, "ft", "feet") || r.tightSign(j+1, '.') && !r.last(j+1) && r.at(j+2).inSmallLetters()
	case "V", "W":
		return decimal || !r.isWord(j-2, place|englishHead|idWord|coach|codeWord)
	case "s", "ha", "mi", "ac", "gal", "qt", "q", "t":
		return decimal
	}
	return false
}

// isOnlyMeasure reports whether a sentence is a number and the word at token j, and nothing else.
func (r *reader) isOnlyMeasure(j int) bool {
	i := j - 1
	for i >= r.start && (r.at(i).kind == digits || r.tightSign(i, '.') || r.tightSign(i, ',')) {
		i--
	}
	return i < r.start && i < j-1 && r.last(j)
}

// square reads an area or a volume: sq ft, sq. m, cu ft, m², km2 and cm³.
func (r *reader) square(j int) (*unit, int) {
	if table := powerWords[r.str(j)]; table != nil {
		k := j + 1
		if r.tightSign(k, '.') && !r.last(k) {
			k++
		}
		if r.at(k).kind != latin || !r.looseEnd(k+1) {
			return nil, j
		}
		u := table[r.str(k)]
		if u == nil {
			return nil, j
		}
		k++
		if r.tightSign(k, '.') && !r.last(k) {
			k++
		}
		return u, k
	}
	at := j + 1
	if r.tightSign(at, '^') {
		at++ // m^2
	}
	figure := r.at(at)
	if figure.gap || figure.kind != sign && figure.kind != digits || !r.looseEnd(at+1) {
		return nil, j
	}
	var u *unit
	switch r.str(at) {
	case string(rune(squared)), "2":
		u = squares[r.str(j)]
	case string(rune(cubed)), "3":
		u = cubes[r.str(j)]
	}
	if u == nil {
		return nil, j
	}
	return u, at + 1
}

// powerWords are what stands before a length to make it an area or a volume.
var powerWords = map[string]map[string]*unit{"sq": squares, "Sq": squares, "SQ": squares, "cu": cubes, "Cu": cubes}

func squareWord(s string) bool { return powerWords[s] != nil }

// squares are the areas of the units of length.
var squares = measuresOf("sq")

// cubes are their volumes.
var cubes = measuresOf("cu")

// measuresOf are the units of length, and what each is with a prefix, as an area or a volume.
func measuresOf(prefix string) map[string]*unit {
	of := make(map[string]*unit)
	for symbol, names := range map[string]string{
		"ft": "ft feet Ft", "m": "m mt mtr", "yd": "yd yds yard", "km": "km", "mm": "mm", "cm": "cm", "in": "in inch",
	} {
		u := units[prefix+symbol]
		if u == nil {
			u = units["~"+prefix+symbol]
		}
		for name := range strings.FieldsSeq(names) {
			of[name] = u
		}
	}
	return of
}

var plainDegree = unit{symbol: "~degree"}

// unitText looks tokens i to j up in the table of units.
func (r *reader) unitText(i, j int) *unit {
	s := r.between(i, j)
	var buf [24]byte
	if len(s) > len(buf) {
		return nil
	}
	low, _ := fold(buf[:0], s)
	return units[string(low)]
}

// sayAmount says a in l. With elide it leaves away what the second end of a range will say.
func (r *reader) sayAmount(a *amount, l lang, elide bool) {
	if a.minus {
		r.say(l.words[wordMinus])
	}
	if a.plus {
		r.say(l.words[wordPlus])
	}
	if a.cur > 0 && a.scales[0] == 0 && !elide {
		r.sayMoney(a, l)
	} else {
		r.sayScaled(a, l)
		if elide {
			return
		}
		one := a.n.value == 1 && a.n.whole() && a.scales[0] == 0
		switch {
		case a.cur > 0:
			r.sayCurrency(a, l, false)
		case a.percent:
			r.say(l.words[wordPercent])
		case a.unit != nil && (one || a.hyphened && l == english): // a ten minute break
			r.say(l.measure(a.unit).one)
		case a.unit != nil:
			r.say(l.measure(a.unit).many)
		}
	}
	if a.per > 0 {
		r.sayRate(a.per, l)
	}
}

// sayRate says the unit behind a stroke.
func (r *reader) sayRate(i int, l lang) {
	if r.reads(i, "m", "M") && r.isWord(i-2, scaleWord) { // nothing costs thousands a metre
		r.say(l.words[wordPerMonth])
		return
	}
	r.say(l.words[wordPer])
	s := r.str(i)
	var buf [16]byte
	low, _ := fold(buf[:0], s)
	u := r.unitText(i, i+1)
	if area, _ := r.square(i); area != nil {
		u = area
	} else if r.tightSign(i+1, '.') && r.at(i).kind == deva {
		if dotted := r.unitText(i, i+2); dotted != nil {
			u = dotted
		}
	}
	switch {
	case l.rates[string(low)] != "":
		r.say(l.rates[string(low)])
	case u != nil:
		r.say(l.measure(u).one)
	default:
		r.say(s)
		r.doubtful = true // alone it may be an acronym
	}
}

// sayScaled says the number and its scale words.
func (r *reader) sayScaled(a *amount, l lang) {
	n := a.n
	if l.quarters != nil && !a.n.grouped && r.hasQuarters(a) {
		if f := quarterOf(n.frac); f > 0 && !(n.value == 0 && f == quarter) {
			n.frac, n.fraction = "", f
		}
	}
	r.sayNumber(&n, l, a.cur > 0 && currencies[a.cur].western)
	for _, p := range a.scales {
		r.say(l.scaleNames[p])
	}
}

// hasQuarters reports whether people count with डेढ़ and ढाई what a is an amount of: lakhs, kilos, hours.
func (r *reader) hasQuarters(a *amount) bool {
	return scaleWords[a.scales[0]].quarter || a.unit != nil && a.unit.quarter || r.quarterNoun(a.next)
}

// quarterNoun reports whether token i is a written word that is counted with डेढ़ and ढाई.
func (r *reader) quarterNoun(i int) bool {
	return r.in(i, halved)
}

// sayMoney says an amount without a scale word: rupees and paise.
func (r *reader) sayMoney(a *amount, l lang) {
	c := &currencies[a.cur]
	whole, frac := a.n.value, a.n.frac
	if a.n.fraction > 0 || len(frac) > 2 || c.decimal {
		n := a.n
		r.sayNumber(&n, l, c.western)
		r.sayCurrency(a, l, false)
		return
	}
	cents := uint64(0)
	switch len(frac) {
	case 1:
		cents = uint64(frac[0]-'0') * 10
	case 2:
		cents = uint64(frac[0]-'0')*10 + uint64(frac[1]-'0')
	}
	if whole > 0 || cents == 0 {
		n := number{value: whole}
		r.sayNumber(&n, l, c.western)
		r.sayCurrency(a, l, whole == 1)
	}
	if cents > 0 {
		r.cardinal(cents, l)
		if cents == 1 {
			r.say(l.money[a.cur].cent)
		} else {
			r.say(l.money[a.cur].cents)
		}
	}
}

// sayCurrency says the name of the currency, or the word that is written for it.
func (r *reader) sayCurrency(a *amount, l lang, one bool) {
	switch {
	case a.curWord > 0:
		r.say(r.str(a.curWord))
	case one:
		r.say(l.money[a.cur].one)
	default:
		r.say(l.money[a.cur].many)
	}
}

// perYear is the unit of a salary in lakhs.
func perYear(s string) *unit {
	if s == "LPA" || s == "lpa" || s == "Lpa" {
		return &annual
	}
	return nil
}

var carat = unit{symbol: "~carat"}

var annual = unit{symbol: "~annual"}

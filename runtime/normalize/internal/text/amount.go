package text

import (
	"strings"

	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// Amount is a quantity with everything that belongs to it.
type Amount struct {
	Minus, Plus bool
	N           Number
	Scales      [2]int // places in scaleWords: lakh, or lakh crore
	Cur         int    // place in currencies
	CurWord     int    // the token of a currency word, which is kept
	Unit        *words.Unit
	Percent     bool
	Per         int  // the token behind the stroke of ₹40/kg
	Hyphened    bool // the unit is an adjective: 10-min
	paise       bool // it is written with two decimals, as banks print money
	Next        int
}

// Marked reports whether something beside the digits says that this is a quantity.
func (a *Amount) Marked() bool {
	measured := a.Cur > 0 || a.Scales[0] > 0 || a.Unit != nil || a.Percent
	return measured || a.N.Grouped || !a.N.Whole()
}

// IsShareOrPrice reports whether a is a percentage or money.
func (a *Amount) IsShareOrPrice() bool { return a.Percent || a.Cur > 0 }

// AmountAt reads the quantity that begins at token i: a currency or a sign, the number, its scale and its unit.
func AmountAt(v *View, i int) (a Amount, ok bool) {
	j := i
	a.Cur, j = CurrencyBefore(v, j)
	if t := v.At(j); t.IsOneOf(Hyphens+"+") && v.Tight(j+1) {
		a.Minus, a.Plus = t.Ch != '+', t.Ch == '+'
		j++
		if a.Cur == 0 {
			a.Cur, j = CurrencyBefore(v, j)
		}
	}
	a.N, ok = NumberAt(v, j)
	if !ok || a.N.Size > maxSize {
		return a, false
	}
	a.paise = len(a.N.Frac) == 2
	if a.Cur == 0 && isBankMoney(v, j, &a.N) {
		a.Cur = words.Rupees
	}
	if a.N.Grouped && a.N.Frac == "00" {
		a.N.Frac = "" // 1,00,000.00 is money, whatever it says
	}
	a.Next = a.N.Next + starsBehind(v, j, a.N.Next)
	behind := a.Next
	scaleBehind(v, &a)
	suffixBehind(v, &a)
	if a.Next == behind {
		a.Next = a.N.Next
	}
	return a, true
}

// starsBehind returns how many stars from token next on close the emphasis that begins before the number at token i: **250** km.
func starsBehind(v *View, i, next int) int {
	wide := 0
	for ; wide < 3 && v.TightSign(next+wide, '*') && v.IsSign(i-1-wide, '*'); wide++ {
		if v.Toks[i-wide].Src != v.Toks[i-wide-1].End {
			return 0
		}
	}
	if unit := v.At(next + wide); wide == 0 || !unit.Gap || !unit.Kind.Lettered() {
		return 0
	}
	return wide
}

// CurrencyBefore reads the currency at token i, in front of a number, and returns the token behind it.
func CurrencyBefore(v *View, i int) (cur, next int) {
	t := v.At(i)
	switch t.Kind {
	case Sign:
		if cur = SignCurrency(t.Ch); cur > 0 {
			next = i + 1
		}
	case Latin, Deva:
		if cur = CurrencyCode(v, i); v.Reads(i, "re", "Re") && v.IsSign(i+1, ':') {
			return 0, i // regarding
		} else if cur > 0 {
			next = i + 1
			if v.TightSign(next, '.') || v.TightSign(next, ':') {
				next++
			}
			next = currencyTwice(v, next)
			if isStrayDot(v, next) {
				next++
			}
		}
	}
	if cur == 0 {
		return 0, i
	}
	if v.At(next).OpensNumber() {
		return cur, next
	}
	return 0, i
}

// currencyTwice passes over the currency at token i, which stands behind another: Rs ₹500, Rs. INR 500.
func currencyTwice(v *View, i int) int {
	switch code := CurrencyCode(v, i); {
	case v.At(i).IsCurrency():
		return i + 1
	case code > 0 && v.TightSign(i+1, '.'):
		return i + 2
	case code > 0:
		return i + 1
	}
	return i
}

// isStrayDot reports whether the dot at token i belongs to the Rs before it, and not to the number behind it, which is too long for paise:
// Rs .150.
func isStrayDot(v *View, i int) bool {
	if !v.IsSign(i, '.') || v.Tight(i) || !v.TightDigits(i+1) {
		return false
	}
	return len(v.Str(i+1)) > 2 || v.NumberBehind(i+2, ',')
}

// OpensNumber reports whether the number of a currency can begin with t: ₹500, ₹.50, ₹-500, ₹½.
func (t *Token) OpensNumber() bool {
	return t.Kind == Digits || t.IsVulgarFraction() || t.IsOneOf(Hyphens+".")
}

// CurrencyCode returns the currency that token i abbreviates.
func CurrencyCode(v *View, i int) int {
	t := v.At(i)
	if n := t.B - t.A; n > 6 || !t.Kind.Lettered() {
		return 0
	}
	var buf [8]byte
	low, _ := words.Fold(buf[:0], v.Str(i))
	return words.CurrencyCodes[string(low)]
}

// isCarat reports whether the k at token j is a carat: 22K gold.
func isCarat(v *View, j int, a *Amount) bool {
	if !v.Reads(j, "K", "k", "KT", "kt", "Kt") || a.N.Value > 24 || a.Cur > 0 {
		return false
	}
	before := 5
	if priced := v.At(j+1).IsCurrency() || CurrencyCode(v, j+1) > 0; priced && a.N.Value >= 14 {
		before = 24 // Gold: 22K Rs 11,465/gm, 24K Rs 12,508/gm
	}
	for k := max(v.Start, j-before); k < j+4; k++ {
		if v.IsWord(k, words.Gold) {
			return true
		}
	}
	return false
}

// scaleBehind reads lakh, crore, k and their like behind the number.
func scaleBehind(v *View, a *Amount) {
	for range 2 {
		j := a.Next
		if a.Cur > 0 && v.TightSign(j, '-') && v.Tight(j+1) && v.LooseEnd(j+2) {
			j++ // Rs 4,200-cr
		}
		t := v.At(j)
		if !t.Kind.Lettered() || !t.Word.Is(words.ScaleWord) {
			return
		}
		n := t.B - t.A
		if n == 2 && t.Cas == words.Upper && t.Word.N >= 7 {
			return // MN, BN and TN are letters
		}
		if IsCreditBalance(v, j, a) {
			if a.Cur == 0 {
				a.Cur = words.Rupees // banks leave it away: Bal 3120.75CR
			}
			return
		}
		if t.Kind == Latin && n == 1 && !isScaleLetter(v, j, a) || IsCredited(v, j, a) {
			return
		}
		switch {
		case a.Scales[0] == 0:
			a.Scales[0] = t.Word.N
		case words.ScaleWords[t.Word.N].Power > words.ScaleWords[a.Scales[0]].Power:
			a.Scales[1] = t.Word.N
		default:
			return
		}
		a.Next = j + 1
		if t.Kind == Latin && n == 2 && v.TightSign(a.Next, '.') && !v.Last(a.Next) {
			a.Next++ // cr.
		}
	}
}

// IsCreditBalance reports whether the CR at token j says that a is a balance in credit: 45,210.10CR, Bal 27000.00 CR. Crores have no
// paise, and whoever writes them with two decimals writes ₹12.34 Cr.
func IsCreditBalance(v *View, j int, a *Amount) bool {
	if !a.paise || !v.Reads(j, "CR", "Cr") {
		return false
	}
	isRound := a.N.Frac == "" || a.N.Frac == "00"
	isLarge := a.N.Value >= 10_000 || v.At(j).Cas == words.Upper
	return isRound || isLarge || v.IsNear(j, words.Banked, 8)
}

// IsCredited reports whether the cr at token j is no crore, but says where the money a went: Rs 300 cr to a/c XX118.
func IsCredited(v *View, j int, a *Amount) bool {
	if !v.Reads(j, "cr", "Cr", "CR") || a.Cur == 0 || !v.At(j).Gap {
		return false
	}
	k := j + 1
	if v.IsSign(k, '.') {
		k++
	}
	if !v.In(k, words.Towards) {
		return false
	}
	for ; k < min(v.Stop, j+6); k++ {
		if Crosses(v, k) || Stroked(v, k) == "account" || v.In(k, words.Transferred) || v.IsSign(k, '*') {
			return true
		}
	}
	return false
}

// isScaleLetter reports whether the letter at token j is a scale word. It is one directly behind the number (10k, 2.3M);
// L and k are also apart from an amount of money, ₹5 L, and k from what is counted: 5 K followers.
func isScaleLetter(v *View, j int, a *Amount) bool {
	if !v.LooseEnd(j + 1) {
		return false
	}
	apart, money := v.At(j).Gap, a.Cur > 0
	switch v.Str(j) {
	case "m":
		return !apart && (money || v.IsWord(j+1, words.Counted)) // $20m, 2m users
	case "l", "b":
		return false // a litre, a bit
	case "L":
		return money || !apart && !v.IsNear(j, words.Capacious, 5)
	case "K", "k":
		return (money || !apart || v.IsWord(j+1, words.Counted)) && !isCarat(v, j, a)
	case "B":
		return money && !apart // Flat 2B
	}
	return !apart
}

// IsNear reports whether one of so many tokens before token j is a word of the group.
func (v *View) IsNear(j int, c words.Class, tokens int) bool {
	for k := j - 1; k >= max(v.Start, j-tokens); k-- {
		if v.In(k, c) {
			return true
		}
	}
	return false
}

// suffixBehind reads what stands behind the number and its scale: percent, currency, unit.
func suffixBehind(v *View, a *Amount) {
	j := a.Next
	t := v.At(j)
	switch {
	case t.Kind == Sign && t.Ch == '%':
		a.Percent = true
		a.Next = j + 1
		return
	case t.Kind == Sign && t.Ch == '/' && v.TightSign(j+1, '-') && v.free(j+2):
		a.Next = j + 2
		if a.Cur == 0 {
			a.Cur = words.Rupees
			currencyAgain(v, a)
		}
		return
	case a.Cur > 0:
		rateBehind(v, a)
		return
	case t.IsCurrency() && v.At(j+1).Kind != Digits:
		a.Cur = SignCurrency(t.Ch)
		a.Next = j + 1
		rateBehind(v, a)
		return
	case t.Kind.Lettered() && wordSuffix(v, a):
		return
	}
	if isHyphenedUnit(v, j) {
		a.Unit, a.Hyphened, a.Next = UnitText(v, j+1, j+2), true, j+2
		return
	}
	if u, next := UnitAt(v, j); u != nil {
		if v.At(j).Kind == Latin && v.TightSign(next, '.') && !v.Last(next) && v.At(next+1).Kind != Digits {
			next++ // kg.
		}
		a.Unit, a.Next = u, next
		rateBehind(v, a)
	}
}

// isHyphenedUnit reports whether a hyphen and a unit of several letters stand at token j: a 10-min break.
func isHyphenedUnit(v *View, j int) bool {
	if !v.TightSign(j, '-') || !v.Tight(j+1) || !v.LooseEnd(j+2) {
		return false
	}
	if t := v.At(j + 1); t.Kind != Latin || t.Cas == words.Upper || t.B-t.A < 2 {
		return false
	}
	u := UnitText(v, j+1, j+2)
	return u != nil && !u.TightOnly && !u.Rare
}

// currencyAgain passes over the Rs that says once more what /- has said: 1,20,000/- रु.
func currencyAgain(v *View, a *Amount) {
	if CurrencyCode(v, a.Next) != words.Rupees || !v.LooseEnd(a.Next+1) || v.At(a.Next+1).Kind == Digits {
		return
	}
	a.Next++
	if v.TightSign(a.Next, '.') && !v.Last(a.Next) && v.At(a.Next+1).Kind != Digits {
		a.Next++
	}
}

// wordSuffix reads the word behind the number and its scale, if it is a currency, a carat or a year's salary.
func wordSuffix(v *View, a *Amount) bool {
	j := a.Next
	if cur := CurrencyCode(v, j); cur > 0 && v.LooseEnd(j+1) && !v.IsWord(j, words.ScaleWord) {
		a.Cur = cur
		a.Next = j + 1
		if v.TightSign(a.Next, '.') && !v.Last(a.Next) {
			a.Next++
		}
		if v.TightSign(a.Next, '/') && v.TightSign(a.Next+1, '-') {
			a.Next += 2
		}
		rateBehind(v, a)
		return true
	}
	if n := len(a.N.Frac); (n == 1 || n == 2) && a.Scales[0] == 0 {
		if cur := words.CurrencyWords[v.Str(j)]; cur > 0 {
			a.Cur, a.CurWord, a.Next = cur, j, j+1
			return true
		}
	}
	if isCarat(v, j, a) {
		a.Unit, a.Next = &carat, j+1
		return true
	}
	if u := perYear(v.Str(j)); u != nil {
		a.Unit, a.Next = u, j+1
		if a.Scales[0] == 0 {
			a.Scales[0] = words.Lakhs
		}
		return true
	}
	return false
}

// rateBehind reads the stroke of ₹40/kg.
func rateBehind(v *View, a *Amount) {
	j := a.Next
	if !v.IsSign(j, '/') || v.At(j).Gap && words.Rates[v.AtWord(j+1)] == "" {
		return // ₹8,500 /month has its stroke apart
	}
	word := v.Tight(j+1) && v.At(j+1).Kind.Lettered() && v.LooseEnd(j+2)
	if word && words.Rates[v.AtWord(j+1)] == "" && ListsOn(v, j+2) {
		return // EMI 21k/school fee 6k
	}
	switch u, next := SquareAt(v, j+1); {
	case u != nil && v.Tight(j+1): // ₹3.25/sq ft
		a.Per, a.Next = j+1, next
	case v.TightSign(j+1, '-'):
		a.Next = j + 2 // ₹500/-
	case word && CurrencyCode(v, j+1) == 0:
		a.Per = j + 1
		a.Next = j + 2
		if v.At(j+1).Kind == Deva && v.TightSign(j+2, '.') && UnitText(v, j+1, j+3) != nil {
			a.Next++ // ₹66/ली.
		}
	}
}

// ListsOn reports whether the next amount of a list stands close behind token j.
func ListsOn(v *View, j int) bool {
	for k := j; k < j+3; k++ {
		if t := v.At(k); t.Kind == Digits || t.IsCurrency() {
			return v.At(j).Kind.Lettered() || k == j
		} else if !t.Kind.Lettered() {
			return false
		}
	}
	return false
}

// UnitAt reads the unit at token j.
func UnitAt(v *View, j int) (*words.Unit, int) {
	t := v.At(j)
	if t.Kind == Sign && SignUnits[t.Ch] != nil {
		return SignUnits[t.Ch], j + 1
	}
	if t.Kind == Sign && t.Ch == Degree {
		if c := v.At(j + 1); c.Kind == Latin && c.B-c.A == 1 {
			var buf [8]byte
			b := append(buf[:0], "°"...)
			b = append(b, v.Text[c.A]|0x20)
			if u := words.Units[string(b)]; u != nil && v.LooseEnd(j+2) {
				return u, j + 2
			}
		}
		if v.Tight(j+1) && v.Reads(j+1, "से", "सें") {
			next := j + 2
			if v.TightSign(next, '.') {
				next++
			}
			return words.Units["°c"], next // 31°से.
		}
		return &plainDegree, j + 1
	}
	if u, next := UnitOver(v, j); u != nil {
		return u, next
	}
	if !t.Kind.Lettered() {
		return microUnit(v, j)
	}
	if t.Kind == Deva && v.TightSign(j+1, '.') && !(v.Tight(j+2) && v.At(j+2).Kind == Deva) { // मि.मी. is one unit
		if u := UnitText(v, j, j+2); u != nil { // ली.
			return u, j + 2
		}
	}
	if v.Reads(j, "F", "C") && isFever(v, j) {
		return words.Units["°"+strings.ToLower(v.Str(j))], j + 1
	}
	if u, next := SquareAt(v, j); u != nil {
		return u, next
	}
	u := UnitText(v, j, j+1)
	if u == nil || !v.LooseEnd(j+1) || !isUnit(v, j, u) {
		return nil, j
	}
	return u, j + 1
}

// isUnit reports whether the word at token j, which may stand for u, is u where it stands.
func isUnit(v *View, j int, u *words.Unit) bool {
	t := v.At(j)
	if u.TightOnly && t.Gap && !standsApart(v, j) {
		return false
	}
	if u.Rare && !isRareUnit(v, j) {
		return false
	}
	switch n := t.B - t.A; {
	case n == 2 && t.Cas == words.Upper:
		return !IsIn(" AC LB LBS MT HA MI PC OZ MO YD ", v.Str(j)) // berths and states
	case n > 1:
		return true
	}
	// One letter is a unit in the case that people write it in: g, m, l, L, h, W, V.
	switch c := v.Text[t.A]; c {
	case 'T':
		return v.IsNear(j, words.Cooled, 5) || v.In(j+1, words.Cooled)
	case 'G', 'M', 'H', 'D', 'S', 'Q', 'w', 'v', 'k':
		return false
	case 'q':
		return v.At(j+1).Kind != Digits // q 1 to 8
	case 'L':
		return !v.Reads(j+1, "size", "Size") && !(t.Gap && v.Near(j, 4, words.Coach)) // 2 L size, seat 23-24 L
	case 'U':
		return v.IsNear(j, words.Dosed, 4)
	case 'h':
		return !t.Gap || v.English || v.At(j+1).Kind == Digits // 190 h: hai
	}
	return true
}

// UnitOver reads a unit over another at token j: km/h, μg/m3, kg/m².
func UnitOver(v *View, j int) (*words.Unit, int) {
	k := j + 1
	if v.At(j).Kind == Foreign && v.Tight(k) && v.At(k).Kind == Latin {
		k++ // μ is Greek
	}
	if !v.TightSign(k, '/') || !v.Tight(k+1) || !v.At(k+1).Kind.Lettered() {
		return nil, j
	}
	var buf [48]byte
	next := k + 2
	low, _ := words.Fold(buf[:0], v.Between(j, next))
	switch n := v.Small(next, 1); {
	case !v.Tight(next):
	case n == 2 || v.IsSign(next, Squared):
		low, next = append(low, '2'), next+1
	case n == 3 || v.IsSign(next, Cubed):
		low, next = append(low, '3'), next+1
	}
	if u := words.Units[string(low)]; u != nil && v.LooseEnd(next) {
		return u, next
	}
	return nil, j
}

// isFever reports whether the letter at token j is that of a temperature without its ring: temp 101.4 F.
func isFever(v *View, j int) bool {
	if !v.LooseEnd(j + 1) {
		return false
	}
	return v.IsNear(j, words.Feverish, 8)
}

// isRareUnit reports whether token j stands apart from a number in Devanagari, or beside a word of temperatures: २ st, 273 K.
func isRareUnit(v *View, j int) bool {
	if !v.At(j).Gap {
		return false
	}
	alone := v.At(j-2).Kind == Nothing && v.At(j+1).Kind == Nothing
	return alone || v.At(j-1).hindi || v.Near(j, 4, words.Signed) || v.IsWord(j+1, words.Signed)
}

// microUnit reads µm, µg and µs, whose first letter is Greek, at token j.
func microUnit(v *View, j int) (*words.Unit, int) {
	if v.At(j).Kind != Foreign || !v.Tight(j+1) || v.At(j+1).Kind != Latin || !v.LooseEnd(j+2) {
		return nil, j
	}
	if u := UnitText(v, j, j+2); u != nil {
		return u, j + 2
	}
	return nil, j
}

// standsApart reports whether token j is a unit although it is one that touches its number elsewhere: 6 ft 2 in, 230 V, 43.2 s,
// २ ha, and whatever stands alone with its number.
func standsApart(v *View, j int) bool {
	if v.At(j-1).hindi || isOnlyMeasure(v, j) {
		return true
	}
	decimal := v.IsSign(j-2, '.') && v.At(j-3).Kind == Digits
	switch v.Str(j) {
	case "in": // not 5 in all
		return v.Reads(j-2, "ft", "feet") || v.TightSign(j+1, '.') && !v.Last(j+1) && v.At(j+2).InSmallLetters()
	case "V", "W":
		return decimal || !v.IsAnyWord(j-2, words.Place, words.EnglishHead, words.IdWord, words.Coach, words.CodeWord)
	case "s", "ha", "mi", "ac", "gal", "qt", "q", "t":
		return decimal
	}
	return false
}

// isOnlyMeasure reports whether a sentence is a number and the word at token j, and nothing else.
func isOnlyMeasure(v *View, j int) bool {
	i := j - 1
	for i >= v.Start && (v.At(i).Kind == Digits || v.TightSign(i, '.') || v.TightSign(i, ',')) {
		i--
	}
	return i < v.Start && i < j-1 && v.Last(j)
}

// SquareAt reads an area or a volume: sq ft, sq. m, cu ft, m², km2 and cm³.
func SquareAt(v *View, j int) (*words.Unit, int) {
	if table := powerWords[v.Str(j)]; table != nil {
		k := j + 1
		if v.TightSign(k, '.') && !v.Last(k) {
			k++
		}
		if v.At(k).Kind != Latin || !v.LooseEnd(k+1) {
			return nil, j
		}
		u := table[v.Str(k)]
		if u == nil {
			return nil, j
		}
		k++
		if v.TightSign(k, '.') && !v.Last(k) {
			k++
		}
		return u, k
	}
	at := j + 1
	if v.TightSign(at, '^') {
		at++ // m^2
	}
	figure := v.At(at)
	if figure.Gap || figure.Kind != Sign && figure.Kind != Digits || !v.LooseEnd(at+1) {
		return nil, j
	}
	var u *words.Unit
	switch v.Str(at) {
	case string(rune(Squared)), "2":
		u = squares[v.Str(j)]
	case string(rune(Cubed)), "3":
		u = cubes[v.Str(j)]
	}
	if u == nil {
		return nil, j
	}
	return u, at + 1
}

// powerWords are what stands before a length to make it an area or a volume.
var powerWords = map[string]map[string]*words.Unit{"sq": squares, "Sq": squares, "SQ": squares, "cu": cubes, "Cu": cubes}

func squareWord(s string) bool { return powerWords[s] != nil }

// squares are the areas of the units of length.
var squares = measuresOf("sq")

// cubes are their volumes.
var cubes = measuresOf("cu")

// measuresOf are the units of length, and what each is with a prefix, as an area or a volume.
func measuresOf(prefix string) map[string]*words.Unit {
	of := make(map[string]*words.Unit)
	for symbol, names := range map[string]string{
		"ft": "ft feet Ft", "m": "m mt mtr", "yd": "yd yds yard", "km": "km", "mm": "mm", "cm": "cm", "in": "in inch",
	} {
		u := words.Units[prefix+symbol]
		if u == nil {
			u = words.Units["~"+prefix+symbol]
		}
		for name := range strings.FieldsSeq(names) {
			of[name] = u
		}
	}
	return of
}

var plainDegree = words.Unit{Symbol: "~degree"}

// UnitText looks tokens i to j up in the table of units.
func UnitText(v *View, i, j int) *words.Unit {
	s := v.Between(i, j)
	var buf [24]byte
	if len(s) > len(buf) {
		return nil
	}
	low, _ := words.Fold(buf[:0], s)
	return words.Units[string(low)]
}

// QuarterNoun reports whether token i is a written word that is counted with डेढ़ and ढाई.
func QuarterNoun(v *View, i int) bool {
	return v.In(i, words.Halved)
}

// perYear is the unit of a salary in lakhs.
func perYear(s string) *words.Unit {
	if s == "LPA" || s == "lpa" || s == "Lpa" {
		return &annual
	}
	return nil
}

var carat = words.Unit{Symbol: "~carat"}

var annual = words.Unit{Symbol: "~annual"}

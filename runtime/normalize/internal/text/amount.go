package text

import (
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

// starsBehind returns how many stars from token next on close the emphasis that begins before the number at token i:
// **250** km.
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

// isCarat reports whether the k at token j is a carat: 22K gold.
func isCarat(v *View, j int, a *Amount) bool {
	if !v.Reads(j, "K", "k", "KT", "kt", "Kt") || a.N.Value > 24 || a.Cur > 0 {
		return false
	}
	before, next := 5, j+1
	if v.IsSign(next, ':') {
		next++
	}
	if priced := v.At(next).IsCurrency() || CurrencyCode(v, next) > 0; priced && a.N.Value >= 14 {
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
		n := t.B - t.A
		if !isScaleWord(t) {
			trillionsBehind(v, a)
			return
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

// trillionsBehind reads the letter of $3.2T.
func trillionsBehind(v *View, a *Amount) {
	if a.Cur == 0 || a.Scales[0] > 0 {
		return
	}
	if j := a.Next; v.TightLetter(j) && v.Reads(j, "T") && v.LooseEnd(j+1) {
		a.Scales[0], a.Next = words.Trillions, j+1
	}
}

// isScaleWord reports whether t is lakh, crore, k and their like. MN, BN and TN are letters.
func isScaleWord(t *Token) bool {
	if !t.Kind.Lettered() || !t.Word.Is(words.ScaleWord) {
		return false
	}
	return t.B-t.A != 2 || t.Cas != words.Upper || t.Word.N < 7
}

// IsCreditBalance reports whether the CR at token j says that a is a balance in credit: 45,210.10CR, Bal 27000.00 CR.
// Crores have no paise: with two decimals they are written ₹12.34 Cr.
func IsCreditBalance(v *View, j int, a *Amount) bool {
	if typed := v.Reads(j, "cr") && a.N.Grouped && a.Cur == 0; a.paise && typed && v.IsNear(j, words.Banked, 18) {
		return true // bal: a/c xx3301 - 2,204.50 cr
	}
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

// isScaleLetter reports whether the letter at token j is a scale word. It is one directly behind the number (10k,
// 2.3M); L and k are also apart from an amount of money, ₹5 L, and k from what is counted: 5 K followers.
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
		if !annualBehind(v, a) {
			rateBehind(v, a)
		}
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
	if cur := CurrencyCode(v, j); cur > 0 && v.LooseEnd(j+1) && !v.IsWord(j, words.ScaleWord) && !pricesNext(v, j) {
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
	return annualBehind(v, a)
}

// annualBehind reads the LPA of a salary: 8 LPA, ₹25 LPA.
func annualBehind(v *View, a *Amount) bool {
	u := perYear(v.AtWord(a.Next))
	if u == nil {
		return false
	}
	a.Unit, a.Cur, a.Next = u, 0, a.Next+1 // without rupees, as ₹6–8 LPA is read
	if a.Scales[0] == 0 {
		a.Scales[0] = words.Lakhs
	}
	return true
}

// rateBehind reads the stroke of ₹40/kg.
func rateBehind(v *View, a *Amount) {
	j := a.Next
	if !v.IsSign(j, '/') || v.At(j).Gap && words.Rates[v.AtWord(j+1)] == "" {
		return // ₹8,500 /month has its stroke apart
	}
	word := (v.Tight(j+1) && v.At(j+1).Kind.Lettered() || IsPeriodApart(v, j)) && v.LooseEnd(j+2)
	perTime := a.Unit != nil && v.Reads(j+1, "s", "h", "D") // 550 MB/s vs 120 MB/s, 3GB/D for 28D
	if word && !perTime && words.Rates[v.AtWord(j+1)] == "" && ListsOn(v, j+2) {
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

// IsPeriodApart reports whether the stroke at token j stands between spaces and in front of a period: Rs 500 / month.
func IsPeriodApart(v *View, j int) bool {
	return v.IsSign(j, '/') && v.At(j).Gap && v.At(j+1).Gap && v.In(j+1, words.Period)
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

package text

import "github.com/swar-tts/swar/runtime/normalize/internal/words"

// What banks, cards and telephone firms write in a way of their own.

// isBankMoney reports whether the number n at token i is an amount for which a bank leaves its currency away: debited
// by 1500.0, Avl Bal 4583.96. One or two decimals say so.
func isBankMoney(v *View, i int, n *Number) bool {
	if len(n.Frac) == 0 || len(n.Frac) > 2 {
		return false
	}
	if u, _ := UnitAt(v, n.Next); u != nil || v.IsSign(n.Next, '%') || v.CountedAt(n.Next) {
		return false
	}
	if v.Reads(i-1, "by", "for", "with") && v.In(i-2, words.Moved) {
		return true
	}
	if v.At(i - 1).IsOneOf(":-") {
		i--
	}
	if v.Reads(i-1, "DR", "CR") && len(n.Frac) == 2 {
		return true // 01/08 DR 450.00
	}
	return len(n.Frac) == 2 && (v.In(i-1, words.Balances) || v.Reads(i-1, "Amt", "amt", "AMT", "amount", "Amount"))
}

// pricesNext reports whether the currency at token j belongs to the number behind it, which has commas: fee Q3 Rs
// 18,500.
func pricesNext(v *View, j int) bool {
	if v.At(j).Cas == words.Lower || v.At(j+1).Kind != Digits {
		return false
	}
	n, ok := NumberAt(v, j+1)
	return ok && n.Grouped && CurrencyCode(v, n.Next) == 0
}

// opensBalance reports whether what a bank says of a balance begins at token i: Current Bal, Avl Lmt.
func opensBalance(v *View, i int) bool {
	opens := v.At(i).Cas == words.Title && v.In(i, words.BeforeBalance)
	return opens && (v.In(i+1, words.Balances) || v.In(i+1, words.Availed))
}

// isPaidMonth reports whether two figures each at token i, the second of them b, are the month that something is paid
// for: premium for 04/27.
func isPaidMonth(v *View, i, b int) bool {
	two := len(v.Str(i)) == 2 && len(v.Str(i+2)) == 2
	counts := v.At(i+3).InSmallLetters() && !v.In(i+3, words.Settled)
	recent := 20 <= b && b < 50 && !counts
	return two && recent && v.Reads(i-1, "for", "due", "Due", "till", "upto")
}

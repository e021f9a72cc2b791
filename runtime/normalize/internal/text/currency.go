package text

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// CurrencyBefore reads the currency at token i, in front of a number, and returns the token behind it.
func CurrencyBefore(v *View, i int) (cur, next int) {
	t := v.At(i)
	switch t.Kind {
	case Sign:
		if cur = SignCurrency(t.Ch); cur > 0 {
			next = i + 1
		}
	case Latin, Deva:
		if cur = dollarOf(v, i); cur > 0 {
			next = i + 2
			break
		}
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

// dollarCodes are the currencies that write a letter or two of their country in front of the dollar.
var dollarCodes = map[string]string{
	"A": "aud", "AU": "aud", "C": "cad", "CA": "cad", "S": "sgd", "SG": "sgd", "NZ": "nzd", "HK": "hkd", "US": "usd",
}

// dollarOf returns the currency of A$, S$ and their like at token i, 0 for none.
func dollarOf(v *View, i int) int {
	if !v.TightSign(i+1, '$') || !v.Tight(i+2) || v.Joined(i) {
		return 0
	}
	return words.CurrencyCodes[dollarCodes[v.Str(i)]]
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

// isStrayDot reports whether the dot at token i belongs to the Rs before it, and not to the number behind it, which is
// too long for paise: Rs .150.
func isStrayDot(v *View, i int) bool {
	if !v.IsSign(i, '.') || v.Tight(i) || !v.TightDigits(i+1) {
		return false
	}
	return len(v.Str(i+1)) > 2 || v.NumberBehind(i+2, ',')
}

// CurrencyCode returns the currency that token i abbreviates.
func CurrencyCode(v *View, i int) int {
	return v.At(i).Word.Currency
}

// IsMoneyBehind reports whether an amount in a currency ends with token i.
func IsMoneyBehind(v *View, i int) bool {
	if v.TightSign(i, '-') && v.TightSign(i-1, '/') {
		i -= 2 // Rs 5000/-
	}
	if v.At(i).Kind != Digits {
		return false
	}
	for j := i - 1; j > i-8 && j >= v.Start; j-- {
		switch t := v.At(j); {
		case t.IsCurrency() || CurrencyCode(v, j) > 0:
			return true
		case t.Kind != Digits && !t.IsOneOf(",."):
			return false
		}
	}
	return false
}

package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// The wordings that make a number a code although no word before it says so.

// mayBeCode reports whether the number at token i is as long as codes are, and neither a price nor a year of ours with
// its noun.
func mayBeCode(v *text.View, i int) bool {
	if y := v.Small(i, 4); 1950 <= y && y < 2050 && v.At(i+1).InSmallLetters() {
		return false
	}
	return len(v.Str(i)) <= 8 && !isPaidOrRound(v, i)
}

// isTail reports whether a count of last digits stands before the number at token i, which has so many.
func isTail(v *text.View, i int) bool {
	for j := i - 1; j > i-6 && j > v.Start; j-- {
		if v.At(j).Kind == text.Digits {
			if v.Small(j, 1) != len(v.Str(i)) {
				return false
			}
			if v.Reads(i-1, "अंक", "ank", "digits") && j == i-2 {
				return true // आधार 4 अंक 4471
			}
			return v.IsWord(j-1, words.LastWord) || v.IsWord(j-2, words.LastWord) && v.IsWord(j-1, words.IdentifierWord)
		}
	}
	return false
}

// isAnother reports whether the number at token i is one more of those that a word of accounts or numbers names, and as
// long: bus number 543 ya 544.
func isAnother(v *text.View, i int) bool {
	if !v.In(i-1, words.Another) && !v.IsSign(i-1, '&') {
		return false
	}
	if v.At(i-2).Kind != text.Digits || len(v.Str(i-2)) != len(v.Str(i)) || isPaidOrRound(v, i) {
		return false
	}
	first := i - 2
	for v.At(first-1).Kind == text.Digits {
		first-- // acc no 2051 0040 3398 या 3389
	}
	return text.ContextOf(v, first).What == text.IDNear
}

// isBankTail reports whether the number at token i is the tail of an account, which people name by its bank: sbi wale
// 8834 me.
func isBankTail(v *text.View, i int) bool {
	named := v.In(i-1, words.Bank) || v.In(i-2, words.Bank) && (v.In(i-1, words.Possessive) || v.In(i-1, words.OwnedBy))
	into := v.In(i+1, words.IntoAccount)
	return len(v.Str(i)) == 4 && named && into && !isPaidOrRound(v, i)
}

// isTrain reports whether the five digits at token i are the number of a train whose name follows: 12301 Howrah
// Rajdhani.
func isTrain(v *text.View, i int) bool {
	if len(v.Str(i)) != 5 {
		return false
	}
	for j := i + 1; j < min(v.Stop, i+5); j++ {
		if v.In(j, words.TrainName) {
			return true
		}
		if v.At(j).Kind != text.Latin && v.At(j).Kind != text.Deva && !v.At(j).IsOneOf("-(/") {
			return false
		}
	}
	return false
}

// isTravelling reports whether the sentence speaks of journeys near token i, by a word or by the codes of stations.
func isTravelling(v *text.View, i int) bool {
	for j := max(v.Start, i-10); j < min(v.Stop, i+10); j++ {
		if v.IsWord(j, words.Travel) || isStation(v, j) {
			return true
		}
	}
	return false
}

// isPaidOrRound reports whether the number at token i may be a price: it is round, or words around it pay or count it.
func isPaidOrRound(v *text.View, i int) bool {
	s := v.Str(i)
	if s[len(s)-2:] == "00" && !v.ZeroLed(i) || v.CountedAt(i+1) {
		return true
	}
	return text.IsPrice(v, i) || v.IsWord(i-1, words.AmountOf) || text.CurrencyCode(v, i-1) > 0
}

// isCodeObject reports whether the number at token i is what a verb of codes has for its object.
func isCodeObject(v *text.View, i int) bool {
	if v.IsWord(i-1, words.CodeVerb) || v.IsWord(i-2, words.CodeVerb) && v.In(i-1, words.BeforeUsedCode) {
		return v.At(i-1).Kind == text.Latin
	}
	if v.IsWord(i+1, words.CodeVerb) {
		return true
	}
	signs := v.In(i+2, words.LoginVerb)
	if v.Reads(i+1, "se", "से", "to") && signs {
		return true
	}
	between := v.In(i+1, words.BeforeCodeVerb)
	return between && (v.IsWord(i+2, words.CodeVerb) || v.IsWord(i+3, words.CodeVerb))
}

// isCodeSubject reports whether the words behind the number at token i say that it is a code: 402917 is your login
// code.
func isCodeSubject(v *text.View, i int) bool {
	t := v.At(i + 1)
	if !t.Kind.Lettered() {
		return false
	}
	if !text.IsIs(v, i+1) && !v.In(i+1, words.BeforeCodeName) {
		return false
	}
	for j := i + 1; j < v.Stop && j < i+9; j++ {
		switch t := v.At(j); {
		case t.Kind == text.Digits, t.IsOneOf(".,;" + string(rune(text.Danda))):
			return false
		case t.Word.Is(words.CodeWord) && !v.CountedAt(j+1):
			return true
		case v.Reads(j, "टाइम", "time") && v.Reads(j-1, "वन", "one", "One"):
			return true
		}
	}
	return false
}

// isHalved reports whether the number at token i is half of a code in two groups of three: 550 172 is your code.
func isHalved(v *text.View, i int) bool {
	return inTwoThrees(v, i) && isCodeSubject(v, i+1)
}

// inTwoThrees reports whether the number at token i has three digits, and another of three follows: 550 172.
func inTwoThrees(v *text.View, i int) bool {
	second := v.At(i + 1)
	return len(v.Str(i)) == 3 && second.Kind == text.Digits && second.Gap && len(v.Str(i+1)) == 3
}

// followsCode reports whether the sentence spoke of a code before the number at token i, which is a new or an old one,
// has a zero in front or as many digits as a code.
func followsCode(v *text.View, i int) bool {
	n := len(v.Str(i))
	renews := v.IsWord(i-1, words.Renewed) || v.IsWord(i-2, words.Renewed)
	if !renews && !v.ZeroLed(i) && n != 6 {
		return false
	}
	return spokeOfCode(v, i)
}

// spokeOfCode reports whether a word of codes stands in front of token i in its sentence.
func spokeOfCode(v *text.View, i int) bool {
	for j := i - 1; j >= v.Start && i-j < text.Lookahead; j-- {
		if v.IsWord(j, words.CodeWord) {
			return true
		}
	}
	return false
}

// isBlocked reports whether the number at token i is the tail of what a message to a bank blocks: BLOCK ACT 1233 to
// 7189.
func isBlocked(v *text.View, i int) bool {
	keyword := v.IsAnyWord(i-2, words.Messages, words.Blocking) && v.At(i-1).InCapitals()
	if keyword && v.Reads(i+1, "to") && v.At(i+2).Kind == text.Digits {
		return true // Reply UPG 8244 to 139
	}
	inCapitals := v.In(i-2, words.Blocking) && v.At(i-2).Cas == words.Upper && v.At(i-1).Cas == words.Upper
	return inCapitals && (v.Reads(i+1, "to", "TO") && v.At(i+2).Kind == text.Digits || v.Reads(i-1, "ACT"))
}

// isShortNumber reports whether the number at token i is one that messages are sent to: Text HELP to 56767, STOP bhejo
// 56161 par.
func isShortNumber(v *text.View, i int) bool {
	n, next := len(v.Str(i)), v.At(i+1)
	to := v.Reads(i-1, "to", "on", "from") || text.IsPar(v, i+1) || v.Reads(i+1, "ko", "को")
	switch {
	case n == 4: // SMS PORT to 1900, but: sent SMS to 1900 users
		to = v.Reads(i-1, "to") && (next.Kind == text.Nothing || next.Kind == text.Sign)
	case n > 6, !mayBeCode(v, i):
		return false
	}
	if !to {
		return false
	}
	for j := max(v.Start, i-10); j < min(v.Stop, i+6); j++ {
		if v.IsWord(j, words.Messages) {
			return true
		}
	}
	return false
}

// takesKeyword reports whether a message of a keyword is sent to the three digits at token i: SMS START to 121.
func takesKeyword(v *text.View, i int) bool {
	sent := v.At(i-2).InCapitals() || v.At(i-2).Kind == text.Digits && v.At(i-3).InCapitals()
	ends := v.At(i+1).Kind == text.Nothing || v.At(i+1).Kind == text.Sign
	to := len(v.Str(i)) == 3 && v.Reads(i-1, "to")
	return to && sent && ends && v.IsNear(i, words.Messages, 5)
}

// isDeliveryPIN reports whether the six digits at token i are the postal code that something was brought to: delivered
// at 600042.
func isDeliveryPIN(v *text.View, i int) bool {
	return len(v.Str(i)) == 6 && !v.ZeroLed(i) && v.Reads(i-1, "at", "to") && v.In(i-2, words.Delivering)
}

// isAddressEnd reports whether the six digits at token i are the postal code that ends an Indian address: a name stands
// before them, and what stands before that looks like an address.
func isAddressEnd(v *text.View, i int) bool {
	before := i - 1
	for v.At(before).IsOneOf(text.Hyphens + ",(:") {
		before--
	}
	t, next := v.At(before), v.At(i+1)
	name := t.Kind == text.Deva || t.Kind == text.Latin && t.Cas != words.Lower
	ends := next.Kind == text.Nothing || next.IsOneOf(".,;)?!"+string(rune(text.Danda))) || next.Kind == text.Emoji
	notName := words.AmountOf | words.IdentifierWord | words.Paid | words.HindiFunction | words.EnglishWord |
		words.CodeWord | words.Month
	if !name || !ends || t.Word.Is(notName) || v.In(before, words.NotPlace) {
		return false
	}
	commas := 0
	for j := before - 1; j >= v.Start && before-j < 24; j-- {
		switch {
		case v.IsAnyWord(j, words.Place, words.AddressWord, words.City, words.Coach) ||
			v.IsAnyWord(before, words.AddressWord, words.City):
			return true
		case v.IsSign(j, ','):
			commas++
		}
	}
	return commas >= 2
}

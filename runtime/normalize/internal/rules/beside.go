package rules

import (
	"slices"

	"github.com/swar-tts/swar/runtime/normalize/internal/text"
	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// fits reports whether the word at token i says f; next is the token behind it, its dot and its colon.
func fits(v *text.View, f *words.Form, i, next int) bool {
	if !f.Before.Any() && !isNeighbour(v, &f.Before, i-1) || !f.After.Any() && !isNeighbour(v, &f.After, next) {
		return false
	}
	for _, name := range f.When {
		if !conditions[name](v, i, next) {
			return false
		}
	}
	return true
}

// isNeighbour reports whether token i is one of n.
func isNeighbour(v *text.View, n *words.Neighbours, i int) bool {
	return v.IsAnyWord(i, n.Classes...) || slices.Contains(n.Words, v.AtWord(i))
}

// condition is something that a row of short.tsv asks of the word at token i; next is the token behind it, its dot and
// its colon.
type condition func(v *text.View, i, next int) bool

// conditions are those of the column "when" of short.tsv, by their names.
var conditions = map[string]condition{
	// How the word is written.
	"lower":    func(v *text.View, i, _ int) bool { return v.At(i).Cas == words.Lower },
	"title":    func(v *text.View, i, _ int) bool { return v.At(i).Cas == words.Title },
	"upper":    func(v *text.View, i, _ int) bool { return v.At(i).Cas == words.Upper },
	"capital":  func(v *text.View, i, _ int) bool { return v.At(i).Cas == words.Title || v.At(i).Cas == words.Upper },
	"notLower": func(v *text.View, i, _ int) bool { return v.At(i).Cas != words.Lower },
	"notTitle": func(v *text.View, i, _ int) bool { return v.At(i).Cas != words.Title },
	"notUpper": func(v *text.View, i, _ int) bool { return v.At(i).Cas != words.Upper },
	"notMixed": func(v *text.View, i, _ int) bool { return v.At(i).Cas != words.Mixed },
	"typed":    func(v *text.View, i, _ int) bool { return isTyped(v, i) },
	"english":  func(v *text.View, _, _ int) bool { return v.English },

	// The sign behind it.
	"dotted":  func(v *text.View, i, _ int) bool { return v.IsSign(i+1, '.') },
	"hyphen":  func(v *text.View, i, _ int) bool { return v.IsSign(i+1, '-') },
	"bracket": func(v *text.View, i, _ int) bool { return v.IsSign(i+1, '(') },
	"colon":   func(v *text.View, i, _ int) bool { return colonBehind(v, i) },
	"loose":   func(v *text.View, i, _ int) bool { return v.LooseEnd(i + 1) },

	// What stands before it.
	"digitsBefore":     func(v *text.View, i, _ int) bool { return v.At(i-1).Kind == text.Digits },
	"noDigitsBefore":   func(v *text.View, i, _ int) bool { return v.At(i-1).Kind != text.Digits },
	"notCounted":       func(v *text.View, i, _ int) bool { return !isCounted(v, i) },
	"hyphenBefore":     func(v *text.View, i, _ int) bool { return v.IsSign(i-1, '-') },
	"percentBefore":    func(v *text.View, i, _ int) bool { return v.IsSign(i-1, '%') },
	"moneyBefore":      func(v *text.View, i, _ int) bool { return text.IsMoneyBehind(v, i-1) },
	"moneyBeforeScale": func(v *text.View, i, _ int) bool { return text.IsMoneyBehind(v, i-2) },
	"balanceBefore":    func(v *text.View, i, _ int) bool { return isBalanceBehind(v, i-1) },
	"creditBefore":     func(v *text.View, i, _ int) bool { return isCreditBehind(v, i) },
	// MODEL TOWN BR
	"capitalsBefore": func(v *text.View, i, _ int) bool { return v.At(i-1).InCapitals() && !v.Single(i-1) },
	// chq in clg
	"nearDeposit":   func(v *text.View, i, _ int) bool { return v.IsNear(i, words.Deposited, 4) },
	"nearTrains":    func(v *text.View, i, _ int) bool { return v.IsNear(i, words.Trains, 6) },
	"behindPrimary": func(v *text.View, i, _ int) bool { return v.IsSign(i-1, '.') && v.Reads(i-2, "प्रा") },
	"behindEra":     func(v *text.View, i, _ int) bool { return v.IsSign(i-1, '.') && v.Reads(i-2, "ई") },
	"behindMr":      func(v *text.View, i, _ int) bool { return v.IsSign(i-1, '&') && v.Reads(i-2, "mr", "Mr") },
	"behindOrdinal": func(v *text.View, i, _ int) bool {
		return v.At(i-2).Kind == text.Digits && v.Tight(i-1) && text.EnglishEnding(v.AtWord(i-1))
	},
	"letterBefore": func(v *text.View, i, _ int) bool { return v.Single(i-1) || v.IsSign(i-1, '-') && v.Single(i-2) },

	// What stands behind it, its dot and its colon.
	"digitsAfter":      func(v *text.View, _, next int) bool { return v.At(next).Kind == text.Digits },
	"oneDigitAfter":    func(v *text.View, _, next int) bool { return v.Small(next, 1) > 0 && v.LooseEnd(next+1) },
	"twoDigitsAfter":   func(v *text.View, _, next int) bool { return v.Small(next, 2) > 0 },
	"threeDigitsAfter": func(v *text.View, _, next int) bool { return v.Small(next, 3) > 0 },
	"phoneAfter": func(v *text.View, _, next int) bool { // tel 1L is oil
		return len(v.AtDigits(next)) > 3 || v.IsSign(next, '+') || v.NumberBehind(next+1, '-')
	},
	"fiveDigitsAfter": func(v *text.View, _, next int) bool { return len(v.AtDigits(next)) == 5 },
	"romanAfter":      func(v *text.View, _, next int) bool { return text.RomanValue(v.AtWord(next)) > 0 },
	// CL 4: casual leave
	"schoolClassAfter":  func(v *text.View, _, next int) bool { n := text.RomanValue(v.AtWord(next)); return 0 < n && n <= 12 },
	"letterAfter":       func(v *text.View, _, next int) bool { return v.Single(next) },
	"capitalAfter":      func(v *text.View, _, next int) bool { return v.Single(next) && v.At(next).Cas == words.Upper },
	"capitalsAfter":     func(v *text.View, _, next int) bool { return v.At(next).InCapitals() && !v.Single(next) },
	"titleAfter":        func(v *text.View, _, next int) bool { return v.At(next).Cas == words.Title },
	"smallLettersAfter": func(v *text.View, _, next int) bool { return v.At(next).InSmallLetters() },
	"initialAfter":      func(v *text.View, _, next int) bool { return v.Single(next) && v.IsSign(next+1, '.') },
	"nounAfter":         func(v *text.View, _, next int) bool { return isNoun(v, next) },
	"currencyAfter":     func(v *text.View, _, next int) bool { return v.At(next).IsCurrency() || text.CurrencyCode(v, next) > 0 },
	"paiseAfter":        func(v *text.View, _, next int) bool { return hasPaise(v, next) },
	"decimalsAfter":     func(v *text.View, _, next int) bool { n, ok := text.NumberAt(v, next); return ok && len(n.Frac) == 2 },
	"dayAfter":          func(v *text.View, _, next int) bool { return isDay(v, next) },
	"yearsAfter":        func(v *text.View, _, next int) bool { return isYears(v, next) },
	"clockAfter":        func(v *text.View, _, next int) bool { return isClock(v, next) },
	"lengthAfter":       func(v *text.View, _, next int) bool { return isLength(v, next) },
	"sectionAfter":      func(v *text.View, _, next int) bool { return isSection(v, next) },
	"scoreAfter":        func(v *text.View, _, next int) bool { return v.Small(next, 2) >= 0 && v.NumberBehind(next+1, '-') },
	"rateAfter": func(v *text.View, _, next int) bool {
		return words.Rates[v.AtWord(next)] != "" || words.Units[v.AtWord(next)] != nil
	},
	"courseAfter": func(v *text.View, _, next int) bool { // Val 84 days
		return v.At(next).Kind == text.Digits && v.In(next+1, words.CourseUnit)
	},
	"dotAfterNext":   func(v *text.View, _, next int) bool { return v.IsSign(next+1, '.') },
	"withAfterNext":  func(v *text.View, _, next int) bool { return v.Reads(next+1, "paas", "pas") }, // dr ke paas
	"hashBeforeNext": func(v *text.View, _, next int) bool { return v.IsSign(next-1, '#') },
	"beforeMrs":      func(v *text.View, _, next int) bool { return v.IsSign(next, '&') && v.Reads(next+1, "mrs", "Mrs") },
	"ends": func(v *text.View, _, next int) bool {
		return v.At(next).Kind == text.Nothing || v.At(next).Kind == text.Sign
	},
	"identifierAfter": func(v *text.View, _, next int) bool {
		n := v.At(next)
		named := n.Word.Is(words.IdentifierWord) || n.Kind == text.Digits || n.Cas == words.Upper
		return named && !v.IsSign(next-1, '-') // REF-991 is a code
	},

	// The word itself.
	"sectorNumber": func(v *text.View, i, next int) bool { // से. 12
		return v.IsSign(i+1, '.') && v.Small(next, 3) > 0 && (v.IsSign(i-1, ',') || v.IsSign(next-1, '-'))
	},
	"friend": func(v *text.View, i, _ int) bool { // kya yr
		ends := v.At(i+1).Kind == text.Nothing || v.IsSign(i+1, ',')
		counted := v.At(i-1).Kind == text.Digits || v.IsWord(i-1, words.DigitName)
		return ends && !v.English && v.At(i).Cas == words.Lower && !counted
	},
	"leastNumber": func(v *text.View, i, next int) bool { // min 500
		return v.At(i-1).Kind != text.Digits && !v.In(i-1, words.FewOf) && v.At(next).Kind == text.Digits &&
			!v.TightDigits(i+1)
	},
	"balance":    isBalance,
	"greeting":   isGreeting,
	"monthAlone": isMonthAlone,
	"movedMoney": isMovedMoney,
	"movedVerb":  isMovedVerb,
	"platform":   isPlatform,
	"sideOfTown": isSideOfTown,
	"street":     isStreet,
	"timetable":  isTimetable,
	"typedVerb":  isTypedVerb,
	"typedWhen":  isTypedWhen,
	"weekend":    isWeekend,
}

// Package rules decides what is said for what is written: one file for each class of writing, whose functions look at the text
// through [text.View] and say what they find.
package rules

import (
	"github.com/swar-tts/swar/runtime/normalize/internal/text"
)

// rule reads one class of writing.
type rule struct {
	Name       string
	Try        Try
	Identifier bool // what follows must be kept apart from it
}

// The rules by the kind of token they begin with, in order of priority: the first that fits wins, and what one covers no other sees.
var (
	latinRules = []rule{
		{"web address", webAddress, false},
		{"masked number", maskedWord, true},
		{"amount of money", moneyPrefix, false},
		{"date", monthThenDay, false},
		{"chat word", chatWord, false},
		{"weekdays", weekdayRange, false},
		{"letters", letterRange, false},
		{"dotted short form", dottedForm, false},
		{"short form by its neighbour", besideForm, false},
		{"short form", shortForm, false},
		{"chat spelling", chatForm, false},
		{"emoticon", laugh, false},
		{"vehicle", vehicle, true},
		{"route", route, false},
		{"code", code, true},
		{"Roman numeral", roman, false},
		{"initials", initials, false},
		{"course", course, false},
		{"multiplication", into, false},
		{"unit over another", unitAlone, false},
		{"acronym", acronym, false},
		{"hai", hai, false},
		{"letter", letter, false},
		{"word", keep, false},
	}
	devaRules = []rule{
		{"amount of money", moneyPrefix, false},
		{"initials", spacedInitials, false},
		{"weekdays", weekdayRange, false},
		{"date", monthThenDay, false},
		{"dotted short form", dottedForm, false},
		{"short form by its neighbour", besideForm, false},
		{"short form", shortForm, false},
		{"word", keep, false},
	}
	digitRules = []rule{
		{"web address", webAddress, false},
		{"masked number", maskedDigits, true},
		{"chat word", chatWord, false},
		{"list number", listNumber, false},
		{"postal code", postalCode, true},
		{"fraction", roundFraction, true},
		{"flight", flight, true},
		{"phone", phone, true},
		{"score", score, false},
		{"goals", goals, false},
		{"boundaries", boundaries, false},
		{"balls faced", ballsFaced, false},
		{"age and sex", ageAndSex, false},
		{"numbers in a row", listOfCounts, false},
		{"many", plural, false},
		{"date", date, false},
		{"time", clock, false},
		{"term", termLetters, false},
		{"lakh and thousand", lakhAndThousand, false},
		{"always open", alwaysOpen, false},
		{"ratio", ratio, false},
		{"inches", inches, false},
		{"minute of a game", gameMinute, false},
		{"height", height, false},
		{"relay", relay, false},
		{"power of ten", scientific, false},
		{"algebra", algebra, false},
		{"size", dimensions, false},
		{"multiple", multiple, false},
		{"generation", generation, false},
		{"decade", decades, false},
		{"ordinal", ordinalNumber, false},
		{"code that runs on", codeRunsOn, true},
		{"marked quantity", markedQuantity, false},
		{"two numbers of one unit", overQuantity, false},
		{"code", code, true},
		{"fraction", fraction, true},
		{"code by context", contextCode, true},
		{"year", bareYear, false},
		{"quantity", quantity, false},
		{"long number", longNumber, true},
	}
	signRules = []rule{
		{"service code", serviceCode, true},
		{"masked number", maskedSign, true},
		{"emoticon", emoticon, false},
		{"arrow", change, false},
		{"formula", formula, false},
		{"markup", markup, false},
		{"phone", phoneSign, true},
		{"blood group", polarity, false},
		{"amount", signedAmount, false},
		{"handle", handle, false},
		{"punctuation", punctuation, false},
		{"sign", spokenSign, false},
	}
	foreignRules = []rule{{"Greek letter", greek, false}, {"word", keep, false}}
	emojiRules   = []rule{{"emoji", picture, false}}
	tagRules     = []rule{{"tag", tag, false}}
)

func RulesFor(k text.Kind) []rule {
	switch k {
	case text.Latin:
		return latinRules
	case text.Deva:
		return devaRules
	case text.Digits:
		return digitRules
	case text.Sign:
		return signRules
	case text.Foreign:
		return foreignRules
	case text.Emoji:
		return emojiRules
	case text.Tag:
		return tagRules
	}
	return nil
}

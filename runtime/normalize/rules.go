package normalize

// rule reads one class of writing. try looks at token i and either says what begins there and returns the token behind it, or
// leaves everything untouched and returns i.
type rule struct {
	name       string
	try        func(r *reader, i int) int
	identifier bool // what follows must be kept apart from it
}

// The rules by the kind of token they begin with, in order of priority: the first that fits wins, and what one covers no other sees.
var (
	latinRules = []rule{
		{"web address", (*reader).webAddress, false},
		{"masked number", (*reader).maskedWord, true},
		{"amount of money", (*reader).moneyPrefix, false},
		{"date", (*reader).monthFirst, false},
		{"chat word", (*reader).chatWord, false},
		{"weekdays", (*reader).weekdayRange, false},
		{"letters", (*reader).letterRange, false},
		{"dotted short form", (*reader).dottedForm, false},
		{"short form by its neighbour", (*reader).besideForm, false},
		{"short form", (*reader).shortForm, false},
		{"chat spelling", (*reader).chatForm, false},
		{"emoticon", (*reader).laugh, false},
		{"vehicle", (*reader).vehicle, true},
		{"route", (*reader).route, false},
		{"code", (*reader).code, true},
		{"Roman numeral", (*reader).roman, false},
		{"initials", (*reader).initials, false},
		{"course", (*reader).course, false},
		{"multiplication", (*reader).into, false},
		{"unit over another", (*reader).unitAlone, false},
		{"acronym", (*reader).acronym, false},
		{"hai", (*reader).hai, false},
		{"letter", (*reader).letter, false},
		{"word", (*reader).keep, false},
	}
	devaRules = []rule{
		{"amount of money", (*reader).moneyPrefix, false},
		{"initials", (*reader).spacedInitials, false},
		{"weekdays", (*reader).weekdayRange, false},
		{"date", (*reader).monthFirst, false},
		{"dotted short form", (*reader).dottedForm, false},
		{"short form by its neighbour", (*reader).besideForm, false},
		{"short form", (*reader).shortForm, false},
		{"word", (*reader).keep, false},
	}
	digitRules = []rule{
		{"web address", (*reader).webAddress, false},
		{"masked number", (*reader).maskedDigits, true},
		{"chat word", (*reader).chatWord, false},
		{"list number", (*reader).listNumber, false},
		{"postal code", (*reader).postalCode, true},
		{"fraction", (*reader).roundFraction, true},
		{"flight", (*reader).flight, true},
		{"phone", (*reader).phone, true},
		{"score", (*reader).score, false},
		{"goals", (*reader).goals, false},
		{"boundaries", (*reader).boundaries, false},
		{"balls faced", (*reader).ballsFaced, false},
		{"age and sex", (*reader).ageAndSex, false},
		{"numbers in a row", (*reader).listOfCounts, false},
		{"many", (*reader).plural, false},
		{"date", (*reader).date, false},
		{"time", (*reader).clock, false},
		{"term", (*reader).termLetters, false},
		{"lakh and thousand", (*reader).lakhAndThousand, false},
		{"always open", (*reader).alwaysOpen, false},
		{"ratio", (*reader).ratio, false},
		{"inches", (*reader).inches, false},
		{"minute of a game", (*reader).gameMinute, false},
		{"height", (*reader).height, false},
		{"relay", (*reader).relay, false},
		{"power of ten", (*reader).scientific, false},
		{"algebra", (*reader).algebra, false},
		{"size", (*reader).dimensions, false},
		{"multiple", (*reader).multiple, false},
		{"generation", (*reader).generation, false},
		{"decade", (*reader).decades, false},
		{"ordinal", (*reader).ordinalNumber, false},
		{"code that runs on", (*reader).codeRunsOn, true},
		{"marked quantity", (*reader).markedQuantity, false},
		{"two numbers of one unit", (*reader).overQuantity, false},
		{"code", (*reader).code, true},
		{"fraction", (*reader).fraction, true},
		{"code by context", (*reader).contextCode, true},
		{"year", (*reader).bareYear, false},
		{"quantity", (*reader).quantity, false},
		{"long number", (*reader).longNumber, true},
	}
	signRules = []rule{
		{"service code", (*reader).serviceCode, true},
		{"masked number", (*reader).maskedSign, true},
		{"emoticon", (*reader).emoticon, false},
		{"arrow", (*reader).change, false},
		{"formula", (*reader).formula, false},
		{"markup", (*reader).markup, false},
		{"phone", (*reader).phoneSign, true},
		{"blood group", (*reader).polarity, false},
		{"amount", (*reader).signedAmount, false},
		{"handle", (*reader).handle, false},
		{"punctuation", (*reader).punctuation, false},
		{"sign", (*reader).spokenSign, false},
	}
	foreignRules = []rule{{"Greek letter", (*reader).greek, false}, {"word", (*reader).keep, false}}
	emojiRules   = []rule{{"emoji", (*reader).picture, false}}
	tagRules     = []rule{{"tag", (*reader).tag, false}}
)

func rulesFor(k kind) []rule {
	switch k {
	case latin:
		return latinRules
	case deva:
		return devaRules
	case digits:
		return digitRules
	case sign:
		return signRules
	case foreign:
		return foreignRules
	case emoji:
		return emojiRules
	case tag:
		return tagRules
	}
	return nil
}

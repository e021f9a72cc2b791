package normalize

// rule reads one class of writing. try looks at token i and either says what begins there and returns the token behind it, or
// leaves everything untouched and returns i.
type rule struct {
	name string
	try  func(r *reader, i int) int
}

// The rules by the kind of token they begin with, in order of priority: the first that fits wins, and what one covers no other sees.
var (
	latinRules = []rule{
		{"web address", (*reader).webAddress},
		{"masked number", (*reader).maskedWord},
		{"amount of money", (*reader).moneyPrefix},
		{"date", (*reader).monthFirst},
		{"short form", (*reader).shortForm},
		{"code", (*reader).code},
		{"Roman numeral", (*reader).roman},
		{"initials", (*reader).initials},
		{"acronym", (*reader).acronym},
		{"word", (*reader).keep},
	}
	devaRules = []rule{
		{"amount of money", (*reader).moneyPrefix},
		{"date", (*reader).monthFirst},
		{"short form", (*reader).shortForm},
		{"word", (*reader).keep},
	}
	digitRules = []rule{
		{"web address", (*reader).webAddress},
		{"masked number", (*reader).maskedDigits},
		{"list number", (*reader).listNumber},
		{"phone", (*reader).phone},
		{"date", (*reader).date},
		{"time", (*reader).clock},
		{"always open", (*reader).alwaysOpen},
		{"ordinal", (*reader).ordinalNumber},
		{"marked quantity", (*reader).markedQuantity},
		{"code", (*reader).code},
		{"fraction", (*reader).fraction},
		{"code by context", (*reader).contextCode},
		{"year", (*reader).bareYear},
		{"quantity", (*reader).quantity},
		{"long number", (*reader).longNumber},
	}
	signRules = []rule{
		{"markup", (*reader).markup},
		{"masked number", (*reader).maskedSign},
		{"phone", (*reader).phoneSign},
		{"amount", (*reader).signedAmount},
		{"handle", (*reader).handle},
		{"sign", (*reader).plainSign},
	}
	foreignRules = []rule{{"word", (*reader).keep}}
	emojiRules   = []rule{{"emoji", (*reader).picture}}
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
	}
	return nil
}

package words

// DayPart24 returns the word for the part of the day of an hour on the clock of 24.
func (c *ClockWords) DayPart24(h int) string {
	switch {
	case h < 4 || h >= 20:
		return c.Night
	case h < 12:
		return c.Morning
	case h < 16:
		return c.Noon
	}
	return c.Evening
}

// Connector is a word that the rules say between numbers, or for a sign.
type Connector uint8

// The words that rules say.
const (
	NoWord         Connector = iota
	WordAbout                // approximately
	WordAcross               // by
	WordAlwaysOpen           // twenty four seven
	WordAnd                  // and
	WordAt                   // at
	WordAtLeast              // greater than or equal to
	WordAtMost               // less than or equal to
	WordCubed                // cubed
	WordDegree               // degree
	WordDivided              // divided by
	WordDot                  // dot
	WordEquals               // equals
	WordFactorial            // factorial
	WordFor                  // for, between runs and wickets
	WordFemale               // female
	WordFold                 // times
	WordHalf                 // half
	WordHash                 // hash
	WordHyphen               // hyphen
	WordLess                 // less than
	WordMale                 // male
	WordMinus                // minus
	WordMore                 // more than
	WordNegative             // negative
	WordNumber               // number
	WordOr                   // or
	WordOutOf                // of, as in one of three
	WordOver                 // by
	WordPer                  // per
	WordPerMonth             // per month
	WordPercent              // percent
	WordPlus                 // plus
	WordPlusMinus            // plus minus
	WordPoint                // point
	WordPower                // to the power
	WordRatio                // to
	WordRoot                 // square root of
	WordRupees               // rupees
	WordSharp                // sharp
	WordSlash                // slash
	WordSquared              // squared
	WordStar                 // star
	WordTimes                // times
	WordTo                   // to
	WordUnderscore           // underscore
	WordUnequal              // not equal to
	WordWithout              // without

	// Of formulas.
	WordDone
	WordCubeRoot
	WordNthRoot
	WordPrime
	WordAbsolute
	WordChoose
	WordFormulaUnequal
	WordIdentical
	WordSimilar
	WordProportional
	WordIn
	WordNotIn
	WordSubset
	WordSubsetOrEqual
	WordSuperset
	WordParallel
	WordPerpendicular
	WordTends
	WordImplies
	WordEquivalent
	WordUnion
	WordIntersection
	WordEmptySet
	WordInfinity
	WordSum
	WordProduct
	WordIntegral
	WordLimit
	WordOf
	WordBase
	WordPartial
	WordNabla
	WordAngle
	WordTriangle
	WordTherefore
	WordBecause
	WordForAll
	WordExists
	WordSuchThat
	WordNot
	WordVector
	WordBar
	WordHat
	WordSine
	WordCosine
	WordTangent
	WordCotangent
	WordSecant
	WordCosecant
	WordLog
	WordNaturalLog
	WordReals
	WordNaturals
	WordIntegers
	WordRationals

	// Of programs and keyboards.
	WordDash
	WordPipe
	WordSemicolon
	WordColon
	WordComma
	WordBrackets
	WordBraces
	WordParentheses
	WordTilde
	WordCaret
	WordQuestion
	WordBang
	WordQuote
	WordBackslash
	WordDollar
	WordArrow
	WordModulo
	WordShiftLeft
	WordShiftRight
	WordYes
	WordGiven // between two events, one of which is known
	WordNo
	WordCommandKey
	WordOptionKey
	WordShiftKey

	connectors // how many there are
)

// connectorNames are what the table calls the connectors.
var connectorNames = [connectors]string{
	WordAbout:      "about",
	WordAcross:     "across",
	WordAlwaysOpen: "alwaysOpen",
	WordAnd:        "and",
	WordAt:         "at",
	WordAtLeast:    "atLeast",
	WordAtMost:     "atMost",
	WordCubed:      "cubed",
	WordDegree:     "degree",
	WordDivided:    "divided",
	WordDot:        "dot",
	WordEquals:     "equals",
	WordFactorial:  "factorial",
	WordFor:        "for",
	WordFemale:     "female",
	WordFold:       "fold",
	WordHalf:       "half",
	WordHash:       "hash",
	WordHyphen:     "hyphen",
	WordLess:       "less",
	WordMale:       "male",
	WordMinus:      "minus",
	WordMore:       "more",
	WordNegative:   "negative",
	WordNumber:     "number",
	WordOr:         "or",
	WordOutOf:      "outOf",
	WordOver:       "over",
	WordPer:        "per",
	WordPerMonth:   "perMonth",
	WordPercent:    "percent",
	WordPlus:       "plus",
	WordPlusMinus:  "plusMinus",
	WordPoint:      "point",
	WordPower:      "power",
	WordRatio:      "ratio",
	WordRoot:       "root",
	WordRupees:     "rupees",
	WordSharp:      "sharp",
	WordSlash:      "slash",
	WordSquared:    "squared",
	WordStar:       "star",
	WordTimes:      "times",
	WordTo:         "to",
	WordUnderscore: "underscore",
	WordUnequal:    "unequal",
	WordWithout:    "without",

	WordDone:           "done",
	WordCubeRoot:       "cubeRoot",
	WordNthRoot:        "nthRoot",
	WordPrime:          "prime",
	WordAbsolute:       "absolute",
	WordChoose:         "choose",
	WordFormulaUnequal: "formulaUnequal",
	WordIdentical:      "identical",
	WordSimilar:        "similar",
	WordProportional:   "proportional",
	WordIn:             "in",
	WordNotIn:          "notIn",
	WordSubset:         "subset",
	WordSubsetOrEqual:  "subsetOrEqual",
	WordSuperset:       "superset",
	WordParallel:       "parallel",
	WordPerpendicular:  "perpendicular",
	WordTends:          "tends",
	WordImplies:        "implies",
	WordEquivalent:     "equivalent",
	WordUnion:          "union",
	WordIntersection:   "intersection",
	WordEmptySet:       "emptySet",
	WordInfinity:       "infinity",
	WordSum:            "sum",
	WordProduct:        "product",
	WordIntegral:       "integral",
	WordLimit:          "limit",
	WordOf:             "of",
	WordBase:           "base",
	WordPartial:        "partial",
	WordNabla:          "nabla",
	WordAngle:          "angle",
	WordTriangle:       "triangle",
	WordTherefore:      "therefore",
	WordBecause:        "because",
	WordForAll:         "forAll",
	WordExists:         "exists",
	WordSuchThat:       "suchThat",
	WordNot:            "not",
	WordVector:         "vector",
	WordBar:            "bar",
	WordHat:            "hat",
	WordSine:           "sine",
	WordCosine:         "cosine",
	WordTangent:        "tangent",
	WordCotangent:      "cotangent",
	WordSecant:         "secant",
	WordCosecant:       "cosecant",
	WordLog:            "log",
	WordNaturalLog:     "naturalLog",
	WordReals:          "reals",
	WordNaturals:       "naturals",
	WordIntegers:       "integers",
	WordRationals:      "rationals",

	WordDash:        "dash",
	WordPipe:        "pipe",
	WordSemicolon:   "semicolon",
	WordColon:       "colon",
	WordComma:       "comma",
	WordBrackets:    "brackets",
	WordBraces:      "braces",
	WordParentheses: "parentheses",
	WordTilde:       "tilde",
	WordCaret:       "caret",
	WordQuestion:    "question",
	WordBang:        "bang",
	WordQuote:       "quote",
	WordBackslash:   "backslash",
	WordDollar:      "dollar",
	WordArrow:       "arrow",
	WordModulo:      "modulo",
	WordShiftLeft:   "shiftLeft",
	WordShiftRight:  "shiftRight",
	WordGiven:       "given",
	WordYes:         "yes",
	WordNo:          "no",
	WordCommandKey:  "commandKey",
	WordOptionKey:   "optionKey",
	WordShiftKey:    "shiftKey",
}

// Language is everything that the rules say in one language. A text is read in English and in one other; a third is
// added by adding an entry such as [Hindi].
type Language struct {
	Name string
	Said
	Scales   []Scale           // from the largest down; what is above is counted in the largest
	Western  []Scale           // for dollars and their like
	Ordinals bool              // days are first and second, not one and two
	Money    []MoneyWords      // by the place of the currency
	Rates    map[string]string // of a unit behind a stroke, where it is another word
	Quarters *QuarterWords     // nil where people say one and a half
	Clock    *ClockWords       // nil where people say five thirty
	Hundreds bool              // years from 1100 to 1999 go by hundreds
	Decade   string            // behind a year; English changes its ending
}

// Said are the words of a language that a table lists (said.tsv).
type Said struct {
	Below100   [100]string
	ScaleNames [10]string // of ScaleWords
	Letters    [26]string
	Words      [connectors]string
	Greek      [greekNames + 1]string
	Months     [13]string
	Weekdays   [8]string
	InRows     [9]string // two to eight, in 5G
}

// QuarterWords are the words for parts: a half, one and a half, two and a half, and those in front of other numbers.
type QuarterWords struct {
	Half, OneAndHalf, TwoAndHalf, AndHalf, Quarter, AndQuarter, ThreeQuarters,
	LessQuarter string
}

// ClockWords are what is said around an hour.
type ClockWords struct {
	Oclock, Past, Minutes, Seconds, At string
	Night, Morning, Noon, Evening      string
}

// Measure returns what u is called in l.
func (l *Language) Measure(u *Unit) Names {
	u = Units[u.Symbol]
	if l == English {
		return u.english
	}
	return u.hindi
}

const greekNames = 19

// Hindi and english are the languages that every text may be in.
var (
	Hindi   = &hindiWords
	English = &englishWords
)

var hindiWords = Language{
	Name: "Hindi",
	Scales: []Scale{{1e17, "शंख"}, {1e15, "पद्म"}, {1e13, "नील"}, {1e11, "खरब"}, {1e9, "अरब"}, {1e7, "करोड़"},
		{1e5, "लाख"}, {1e3, "हज़ार"}, {100, "सौ"}},
	Western: []Scale{{1e17, "शंख"}, {1e15, "पद्म"}, {1e13, "नील"}, {1e11, "खरब"}, {1e9, "अरब"}, {1e7, "करोड़"},
		{1e5, "लाख"}, {1e3, "हज़ार"}, {100, "सौ"}},
	Quarters: &QuarterWords{"आधा", "डेढ़", "ढाई", "साढ़े", "एक चौथाई", "सवा", "पौन", "पौने"},
	Clock:    &ClockWords{"बजे", "बजकर", "मिनट", "सेकंड", "पर", "रात", "सुबह", "दोपहर", "शाम"},
	Hundreds: true,
	Decade:   "के दशक",
}

var englishWords = Language{
	Name:     "English",
	Scales:   []Scale{{1e7, "crore"}, {1e5, "lakh"}, {1e3, "thousand"}, {100, "hundred"}},
	Western:  []Scale{{1e12, "trillion"}, {1e9, "billion"}, {1e6, "million"}, {1e3, "thousand"}, {100, "hundred"}},
	Ordinals: true,
}

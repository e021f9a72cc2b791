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
	connectors               // how many there are
)

// Language is everything that the rules say in one language. A text is read in English and in one other; a third is added by
// adding an entry such as [Hindi].
type Language struct {
	Name       string
	Below100   [100]string
	Scales     []Scale    // from the largest down; what is above is counted in the largest
	Western    []Scale    // for dollars and their like
	ScaleNames [10]string // of scaleWords
	Ordinals   bool       // days are first and second, not one and two
	Letters    [26]string
	Words      [connectors]string
	Greek      [greekNames + 1]string
	Months     [13]string
	Weekdays   [8]string
	Money      []MoneyWords      // by the place of the currency
	Rates      map[string]string // of a unit behind a stroke, where it is another word
	InRows     [7]string         // two to eight, in 5G
	Quarters   *QuarterWords     // nil where people say one and a half
	Clock      *ClockWords       // nil where people say five thirty
	Hundreds   bool              // years from 1100 to 1999 go by hundreds
	Decade     string            // behind a year; English changes its ending
}

// QuarterWords are the words for parts: a half, one and a half, two and a half, and those in front of other numbers.
type QuarterWords struct{ Half, OneAndHalf, TwoAndHalf, AndHalf, Quarter, AndQuarter, ThreeQuarters, LessQuarter string }

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
	Name:       "Hindi",
	Below100:   hindiBelow100,
	Scales:     []Scale{{1e17, "शंख"}, {1e15, "पद्म"}, {1e13, "नील"}, {1e11, "खरब"}, {1e9, "अरब"}, {1e7, "करोड़"}, {1e5, "लाख"}, {1e3, "हज़ार"}, {100, "सौ"}},
	Western:    []Scale{{1e17, "शंख"}, {1e15, "पद्म"}, {1e13, "नील"}, {1e11, "खरब"}, {1e9, "अरब"}, {1e7, "करोड़"}, {1e5, "लाख"}, {1e3, "हज़ार"}, {100, "सौ"}},
	ScaleNames: [10]string{"", "सौ", "हज़ार", "लाख", "करोड़", "अरब", "खरब", "मिलियन", "बिलियन", "ट्रिलियन"},
	Letters:    letterNames,
	Words: [connectors]string{
		WordAbout:      "लगभग",
		WordAcross:     "बाई",
		WordAlwaysOpen: "चौबीस घंटे सातों दिन",
		WordAnd:        "और",
		WordAt:         "ऐट",
		WordAtLeast:    "से ज़्यादा या बराबर",
		WordAtMost:     "से कम या बराबर",
		WordCubed:      "का घन",
		WordDegree:     "डिग्री",
		WordDivided:    "भाग",
		WordDot:        "डॉट",
		WordEquals:     "बराबर",
		WordFactorial:  "फ़ैक्टोरियल",
		WordFor:        "पर",
		WordFemale:     "महिला",
		WordFold:       "गुना",
		WordHalf:       "आधा",
		WordHash:       "हैश",
		WordHyphen:     "हाइफ़न",
		WordLess:       "से कम",
		WordMale:       "पुरुष",
		WordMinus:      "माइनस",
		WordMore:       "से ज़्यादा",
		WordNegative:   "नेगेटिव",
		WordNumber:     "नंबर",
		WordOr:         "या",
		WordOutOf:      "में से",
		WordOver:       "बटा",
		WordPer:        "प्रति",
		WordPerMonth:   "प्रति महीना",
		WordPercent:    "प्रतिशत",
		WordPlus:       "प्लस",
		WordPlusMinus:  "प्लस माइनस",
		WordPoint:      "दशमलव",
		WordPower:      "की घात",
		WordRatio:      "अनुपात",
		WordRoot:       "वर्गमूल",
		WordRupees:     "रुपये",
		WordSharp:      "शार्प",
		WordSlash:      "स्लैश",
		WordSquared:    "का वर्ग",
		WordStar:       "स्टार",
		WordTimes:      "गुणा",
		WordTo:         "से",
		WordUnderscore: "अंडरस्कोर",
		WordUnequal:    "बराबर नहीं",
		WordWithout:    "बिना",
	},
	Greek:    [greekNames + 1]string{"", "अल्फ़ा", "बीटा", "गामा", "डेल्टा", "एप्सिलॉन", "ईटा", "थीटा", "लैम्डा", "म्यू", "न्यू", "पाई", "रो", "सिग्मा", "टाऊ", "फ़ाई", "काई", "साई", "ओमेगा", "कप्पा"},
	Months:   [13]string{"", "जनवरी", "फ़रवरी", "मार्च", "अप्रैल", "मई", "जून", "जुलाई", "अगस्त", "सितंबर", "अक्टूबर", "नवंबर", "दिसंबर"},
	Weekdays: [8]string{"", "सोमवार", "मंगलवार", "बुधवार", "गुरुवार", "शुक्रवार", "शनिवार", "रविवार"},
	InRows:   [7]string{"टू", "थ्री", "फ़ोर", "फ़ाइव", "सिक्स", "सेवन", "एट"},
	Quarters: &QuarterWords{"आधा", "डेढ़", "ढाई", "साढ़े", "एक चौथाई", "सवा", "पौन", "पौने"},
	Clock:    &ClockWords{"बजे", "बजकर", "मिनट", "सेकंड", "पर", "रात", "सुबह", "दोपहर", "शाम"},
	Hundreds: true,
	Decade:   "के दशक",
}

var englishWords = Language{
	Name:       "English",
	Below100:   englishBelow100(),
	Scales:     []Scale{{1e7, "crore"}, {1e5, "lakh"}, {1e3, "thousand"}, {100, "hundred"}},
	Western:    []Scale{{1e12, "trillion"}, {1e9, "billion"}, {1e6, "million"}, {1e3, "thousand"}, {100, "hundred"}},
	ScaleNames: [10]string{"", "hundred", "thousand", "lakh", "crore", "hundred crore", "thousand crore", "million", "billion", "trillion"},
	Ordinals:   true,
	Letters:    [26]string{"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z"},
	Words: [connectors]string{
		WordAbout:      "approximately",
		WordAcross:     "by",
		WordAlwaysOpen: "twenty four seven",
		WordAnd:        "and",
		WordAt:         "at",
		WordAtLeast:    "greater than or equal to",
		WordAtMost:     "less than or equal to",
		WordCubed:      "cubed",
		WordDegree:     "degree",
		WordDivided:    "divided by",
		WordDot:        "dot",
		WordEquals:     "equals",
		WordFactorial:  "factorial",
		WordFor:        "for",
		WordFemale:     "female",
		WordFold:       "times",
		WordHalf:       "half",
		WordHash:       "hash",
		WordHyphen:     "hyphen",
		WordLess:       "less than",
		WordMale:       "male",
		WordMinus:      "minus",
		WordMore:       "more than",
		WordNegative:   "negative",
		WordNumber:     "number",
		WordOr:         "or",
		WordOutOf:      "of",
		WordOver:       "by",
		WordPer:        "per",
		WordPerMonth:   "per month",
		WordPercent:    "percent",
		WordPlus:       "plus",
		WordPlusMinus:  "plus minus",
		WordPoint:      "point",
		WordPower:      "to the power",
		WordRatio:      "to",
		WordRoot:       "square root of",
		WordRupees:     "rupees",
		WordSharp:      "sharp",
		WordSlash:      "slash",
		WordSquared:    "squared",
		WordStar:       "star",
		WordTimes:      "times",
		WordTo:         "to",
		WordUnderscore: "underscore",
		WordUnequal:    "not equal to",
		WordWithout:    "without",
	},
	Greek:    [greekNames + 1]string{"", "alpha", "beta", "gamma", "delta", "epsilon", "eta", "theta", "lambda", "mu", "nu", "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega", "kappa"},
	Months:   [13]string{"", "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
	Weekdays: [8]string{"", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"},
	InRows:   [7]string{"two", "three", "four", "five", "six", "seven", "eight"},
}

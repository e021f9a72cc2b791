package normalize

// connector is a word that the rules say between numbers, or for a sign.
type connector uint8

const (
	noWord         connector = iota
	wordAbout                // approximately
	wordAcross               // by
	wordAlwaysOpen           // twenty four seven
	wordAnd                  // and
	wordAt                   // at
	wordAtLeast              // greater than or equal to
	wordAtMost               // less than or equal to
	wordCubed                // cubed
	wordDegree               // degree
	wordDivided              // divided by
	wordDot                  // dot
	wordEquals               // equals
	wordFactorial            // factorial
	wordFor                  // for, between runs and wickets
	wordFemale               // female
	wordFold                 // times
	wordHalf                 // half
	wordHash                 // hash
	wordHyphen               // hyphen
	wordLess                 // less than
	wordMale                 // male
	wordMinus                // minus
	wordMore                 // more than
	wordNegative             // negative
	wordNumber               // number
	wordOr                   // or
	wordOutOf                // of, as in one of three
	wordOver                 // by
	wordPer                  // per
	wordPerMonth             // per month
	wordPercent              // percent
	wordPlus                 // plus
	wordPlusMinus            // plus minus
	wordPoint                // point
	wordPower                // to the power
	wordRatio                // to
	wordRoot                 // square root of
	wordRupees               // rupees
	wordSharp                // sharp
	wordSlash                // slash
	wordSquared              // squared
	wordStar                 // star
	wordTimes                // times
	wordTo                   // to
	wordUnderscore           // underscore
	wordUnequal              // not equal to
	wordWithout              // without
	connectors               // how many there are
)

// moneyWords are what a currency and its hundredth are called.
type moneyWords struct{ one, many, cent, cents string }

// measure is what a unit is called: one of it, and several.
type measure struct{ one, many string }

// language is everything that the rules say in one language. A text is read in English and in one other; a third is added by
// adding an entry such as [hindi].
type language struct {
	name       string
	below100   [100]string
	scales     []scale    // from the largest down; what is above is counted in the largest
	western    []scale    // for dollars and their like
	scaleNames [10]string // of scaleWords
	ordinals   bool       // days are first and second, not one and two
	letters    [26]string
	words      [connectors]string
	greek      [greekNames + 1]string
	months     [13]string
	weekdays   [8]string
	money      [len(currencies)]moneyWords
	units      map[string]measure // by the first symbol of the unit
	rates      map[string]string  // of a unit behind a stroke, where it is another word
	inRows     [7]string          // two to eight, in 5G
	quarters   *quarterWords      // nil where people say one and a half
	clock      *clockWords        // nil where people say five thirty
	hundreds   bool               // years from 1100 to 1999 go by hundreds
	decade     string             // behind a year; English changes its ending
}

// quarterWords are the words for parts: a half, one and a half, two and a half, and those in front of other numbers.
type quarterWords struct{ half, oneAndHalf, twoAndHalf, andHalf, quarter, andQuarter, threeQuarters, lessQuarter string }

// clockWords are what is said around an hour.
type clockWords struct {
	oclock, past, minutes, seconds, at string
	night, morning, noon, evening      string
}

// measure returns what u is called in l.
func (l *language) measure(u *unit) measure { return l.units[u.symbol] }

const greekNames = 19

// hindi and english are the languages that every text may be in.
var (
	hindi   = &hindiWords
	english = &englishWords
)

var hindiWords = language{
	name:       "Hindi",
	below100:   hindiBelow100,
	scales:     []scale{{1e17, "शंख"}, {1e15, "पद्म"}, {1e13, "नील"}, {1e11, "खरब"}, {1e9, "अरब"}, {1e7, "करोड़"}, {1e5, "लाख"}, {1e3, "हज़ार"}, {100, "सौ"}},
	western:    []scale{{1e17, "शंख"}, {1e15, "पद्म"}, {1e13, "नील"}, {1e11, "खरब"}, {1e9, "अरब"}, {1e7, "करोड़"}, {1e5, "लाख"}, {1e3, "हज़ार"}, {100, "सौ"}},
	scaleNames: [10]string{"", "सौ", "हज़ार", "लाख", "करोड़", "अरब", "खरब", "मिलियन", "बिलियन", "ट्रिलियन"},
	letters:    letterNames,
	words: [connectors]string{
		wordAbout:      "लगभग",
		wordAcross:     "बाई",
		wordAlwaysOpen: "चौबीस घंटे सातों दिन",
		wordAnd:        "और",
		wordAt:         "ऐट",
		wordAtLeast:    "से ज़्यादा या बराबर",
		wordAtMost:     "से कम या बराबर",
		wordCubed:      "का घन",
		wordDegree:     "डिग्री",
		wordDivided:    "भाग",
		wordDot:        "डॉट",
		wordEquals:     "बराबर",
		wordFactorial:  "फ़ैक्टोरियल",
		wordFor:        "पर",
		wordFemale:     "महिला",
		wordFold:       "गुना",
		wordHalf:       "आधा",
		wordHash:       "हैश",
		wordHyphen:     "हाइफ़न",
		wordLess:       "से कम",
		wordMale:       "पुरुष",
		wordMinus:      "माइनस",
		wordMore:       "से ज़्यादा",
		wordNegative:   "नेगेटिव",
		wordNumber:     "नंबर",
		wordOr:         "या",
		wordOutOf:      "में से",
		wordOver:       "बटा",
		wordPer:        "प्रति",
		wordPerMonth:   "प्रति महीना",
		wordPercent:    "प्रतिशत",
		wordPlus:       "प्लस",
		wordPlusMinus:  "प्लस माइनस",
		wordPoint:      "दशमलव",
		wordPower:      "की घात",
		wordRatio:      "अनुपात",
		wordRoot:       "वर्गमूल",
		wordRupees:     "रुपये",
		wordSharp:      "शार्प",
		wordSlash:      "स्लैश",
		wordSquared:    "का वर्ग",
		wordStar:       "स्टार",
		wordTimes:      "गुणा",
		wordTo:         "से",
		wordUnderscore: "अंडरस्कोर",
		wordUnequal:    "बराबर नहीं",
		wordWithout:    "बिना",
	},
	greek:    [greekNames + 1]string{"", "अल्फ़ा", "बीटा", "गामा", "डेल्टा", "एप्सिलॉन", "ईटा", "थीटा", "लैम्डा", "म्यू", "न्यू", "पाई", "रो", "सिग्मा", "टाऊ", "फ़ाई", "काई", "साई", "ओमेगा", "कप्पा"},
	months:   [13]string{"", "जनवरी", "फ़रवरी", "मार्च", "अप्रैल", "मई", "जून", "जुलाई", "अगस्त", "सितंबर", "अक्टूबर", "नवंबर", "दिसंबर"},
	weekdays: [8]string{"", "सोमवार", "मंगलवार", "बुधवार", "गुरुवार", "शुक्रवार", "शनिवार", "रविवार"},
	money: [len(currencies)]moneyWords{
		rupees:            {"रुपया", "रुपये", "पैसा", "पैसे"},
		dollars:           {"डॉलर", "डॉलर", "सेंट", "सेंट"},
		euros:             {"यूरो", "यूरो", "सेंट", "सेंट"},
		pounds:            {"पाउंड", "पाउंड", "पेंस", "पेंस"},
		yens:              {"येन", "येन", "सेन", "सेन"},
		dirhams:           {"दिरहम", "दिरहम", "फ़िल्स", "फ़िल्स"},
		singaporeDollars:  {"सिंगापुर डॉलर", "सिंगापुर डॉलर", "सेंट", "सेंट"},
		riyals:            {"रियाल", "रियाल", "हलाला", "हलाला"},
		canadianDollars:   {"कनाडाई डॉलर", "कनाडाई डॉलर", "सेंट", "सेंट"},
		australianDollars: {"ऑस्ट्रेलियाई डॉलर", "ऑस्ट्रेलियाई डॉलर", "सेंट", "सेंट"},
		bahts:             {"बाट", "बाट", "सतांग", "सतांग"},
		francs:            {"फ़्रैंक", "फ़्रैंक", "सेंट", "सेंट"},
		wons:              {"वॉन", "वॉन", "जिओन", "जिओन"},
		liras:             {"लीरा", "लीरा", "कुरुश", "कुरुश"},
		takas:             {"टका", "टका", "पैसा", "पैसे"},
		nairas:            {"नाइरा", "नाइरा", "कोबो", "कोबो"},
		pesos:             {"पेसो", "पेसो", "सेंटावो", "सेंटावो"},
		dongs:             {"डोंग", "डोंग", "हाओ", "हाओ"},
		rubles:            {"रूबल", "रूबल", "कोपेक", "कोपेक"},
		shekels:           {"शेकेल", "शेकेल", "अगोरा", "अगोरा"},
		hryvnias:          {"रिव्निया", "रिव्निया", "कोपियका", "कोपियका"},
		tenges:            {"टेंगे", "टेंगे", "टियिन", "टियिन"},
		cedis:             {"सेडी", "सेडी", "पेसेवा", "पेसेवा"},
		kips:              {"किप", "किप", "आट", "आट"},
		tugriks:           {"तुगरिक", "तुगरिक", "मोंगो", "मोंगो"},
		manats:            {"मानात", "मानात", "केपिक", "केपिक"},
		laris:             {"लारी", "लारी", "टेट्री", "टेट्री"},
		guaranis:          {"गुआरानी", "गुआरानी", "सेंटिमो", "सेंटिमो"},
		colones:           {"कोलोन", "कोलोन", "सेंटिमो", "सेंटिमो"},
		afghanis:          {"अफ़ग़ानी", "अफ़ग़ानी", "पुल", "पुल"},
		riels:             {"रियेल", "रियेल", "सेन", "सेन"},
		drams:             {"द्राम", "द्राम", "लूमा", "लूमा"},
		bitcoins:          {"बिटकॉइन", "बिटकॉइन", "सातोशी", "सातोशी"},
	},
	units:    unitWords(true),
	rates:    rates,
	inRows:   [7]string{"टू", "थ्री", "फ़ोर", "फ़ाइव", "सिक्स", "सेवन", "एट"},
	quarters: &quarterWords{"आधा", "डेढ़", "ढाई", "साढ़े", "एक चौथाई", "सवा", "पौन", "पौने"},
	clock:    &clockWords{"बजे", "बजकर", "मिनट", "सेकंड", "पर", "रात", "सुबह", "दोपहर", "शाम"},
	hundreds: true,
	decade:   "के दशक",
}

var englishWords = language{
	name:       "English",
	below100:   englishBelow100(),
	scales:     []scale{{1e7, "crore"}, {1e5, "lakh"}, {1e3, "thousand"}, {100, "hundred"}},
	western:    []scale{{1e12, "trillion"}, {1e9, "billion"}, {1e6, "million"}, {1e3, "thousand"}, {100, "hundred"}},
	scaleNames: [10]string{"", "hundred", "thousand", "lakh", "crore", "hundred crore", "thousand crore", "million", "billion", "trillion"},
	ordinals:   true,
	letters:    [26]string{"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z"},
	words: [connectors]string{
		wordAbout:      "approximately",
		wordAcross:     "by",
		wordAlwaysOpen: "twenty four seven",
		wordAnd:        "and",
		wordAt:         "at",
		wordAtLeast:    "greater than or equal to",
		wordAtMost:     "less than or equal to",
		wordCubed:      "cubed",
		wordDegree:     "degree",
		wordDivided:    "divided by",
		wordDot:        "dot",
		wordEquals:     "equals",
		wordFactorial:  "factorial",
		wordFor:        "for",
		wordFemale:     "female",
		wordFold:       "times",
		wordHalf:       "half",
		wordHash:       "hash",
		wordHyphen:     "hyphen",
		wordLess:       "less than",
		wordMale:       "male",
		wordMinus:      "minus",
		wordMore:       "more than",
		wordNegative:   "negative",
		wordNumber:     "number",
		wordOr:         "or",
		wordOutOf:      "of",
		wordOver:       "by",
		wordPer:        "per",
		wordPerMonth:   "per month",
		wordPercent:    "percent",
		wordPlus:       "plus",
		wordPlusMinus:  "plus minus",
		wordPoint:      "point",
		wordPower:      "to the power",
		wordRatio:      "to",
		wordRoot:       "square root of",
		wordRupees:     "rupees",
		wordSharp:      "sharp",
		wordSlash:      "slash",
		wordSquared:    "squared",
		wordStar:       "star",
		wordTimes:      "times",
		wordTo:         "to",
		wordUnderscore: "underscore",
		wordUnequal:    "not equal to",
		wordWithout:    "without",
	},
	greek:    [greekNames + 1]string{"", "alpha", "beta", "gamma", "delta", "epsilon", "eta", "theta", "lambda", "mu", "nu", "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega", "kappa"},
	months:   [13]string{"", "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
	weekdays: [8]string{"", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"},
	money: [len(currencies)]moneyWords{
		rupees:            {"rupee", "rupees", "paisa", "paise"},
		dollars:           {"dollar", "dollars", "cent", "cents"},
		euros:             {"euro", "euros", "cent", "cents"},
		pounds:            {"pound", "pounds", "penny", "pence"},
		yens:              {"yen", "yen", "sen", "sen"},
		dirhams:           {"dirham", "dirhams", "fils", "fils"},
		singaporeDollars:  {"Singapore dollar", "Singapore dollars", "cent", "cents"},
		riyals:            {"riyal", "riyals", "halala", "halalas"},
		canadianDollars:   {"Canadian dollar", "Canadian dollars", "cent", "cents"},
		australianDollars: {"Australian dollar", "Australian dollars", "cent", "cents"},
		bahts:             {"baht", "baht", "satang", "satang"},
		francs:            {"franc", "francs", "centime", "centimes"},
		wons:              {"won", "won", "jeon", "jeon"},
		liras:             {"lira", "lira", "kurush", "kurush"},
		takas:             {"taka", "taka", "paisa", "paise"},
		nairas:            {"naira", "naira", "kobo", "kobo"},
		pesos:             {"peso", "pesos", "centavo", "centavos"},
		dongs:             {"dong", "dong", "hao", "hao"},
		rubles:            {"ruble", "rubles", "kopek", "kopeks"},
		shekels:           {"shekel", "shekels", "agora", "agorot"},
		hryvnias:          {"hryvnia", "hryvnias", "kopiyka", "kopiykas"},
		tenges:            {"tenge", "tenge", "tiyn", "tiyn"},
		cedis:             {"cedi", "cedis", "pesewa", "pesewas"},
		kips:              {"kip", "kip", "att", "att"},
		tugriks:           {"tugrik", "tugriks", "mongo", "mongo"},
		manats:            {"manat", "manats", "qepik", "qepik"},
		laris:             {"lari", "lari", "tetri", "tetri"},
		guaranis:          {"guarani", "guaranis", "centimo", "centimos"},
		colones:           {"colon", "colones", "centimo", "centimos"},
		afghanis:          {"afghani", "afghanis", "pul", "pul"},
		riels:             {"riel", "riels", "sen", "sen"},
		drams:             {"dram", "drams", "luma", "luma"},
		bitcoins:          {"bitcoin", "bitcoins", "satoshi", "satoshis"},
	},
	units:  unitWords(false),
	rates:  longRates,
	inRows: [7]string{"two", "three", "four", "five", "six", "seven", "eight"},
}

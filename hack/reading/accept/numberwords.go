package accept

// englishSmall are the numbers up to nineteen; English digits are also written in Devanagari.
var englishSmall = [20][]string{
	{"zero", "ज़ीरो", "oh", "nought"},
	{"one", "वन"}, {"two", "टू"}, {"three", "थ्री"}, {"four", "फ़ोर"}, {"five", "फ़ाइव"}, {"six", "सिक्स"}, {"seven", "सेवन", "सेवेन"}, {"eight", "एट"}, {"nine", "नाइन"},
	{"ten", "टेन"}, {"eleven"}, {"twelve"}, {"thirteen"}, {"fourteen"}, {"fifteen"}, {"sixteen"}, {"seventeen"}, {"eighteen"}, {"nineteen"},
}

var englishTens = [10][]string{2: {"twenty"}, {"thirty"}, {"forty", "fourty"}, {"fifty"}, {"sixty"}, {"seventy"},
	{"eighty"}, {"ninety"}}

var englishOrdinals = [20]string{
	1: "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
	"eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
}

// hindiBelow100 are the Hindi numbers in the spellings that are in use, and as they are typed in Latin letters.
var hindiBelow100 = [100][]string{
	{"शून्य", "ज़ीरो", "shunya", "zero", "सिफ़र"},
	{"एक", "ek"}, {"दो", "do"}, {"तीन", "teen"}, {"चार", "char"}, {"पाँच", "panch", "paanch"}, {"छह", "छे", "छै", "chhah", "chhe", "che", "chah"}, {"सात", "saat"}, {"आठ", "aath"}, {"नौ", "nau"},
	{"दस", "das"}, {"ग्यारह", "gyarah"}, {"बारह", "barah"}, {"तेरह", "terah"}, {"चौदह", "chaudah"}, {"पंद्रह", "pandrah"}, {"सोलह", "solah"}, {"सत्रह", "सतरह", "satrah", "sattrah"}, {"अठारह", "अट्ठारह", "atharah", "athara"}, {"उन्नीस", "unnees"},
	{"बीस", "bees"}, {"इक्कीस", "ikkees"}, {"बाईस", "बाइस", "bais"}, {"तेईस", "तेइस", "teis"}, {"चौबीस", "chaubees"}, {"पच्चीस", "pachchees", "pachees"}, {"छब्बीस", "chhabbees"}, {"सत्ताईस", "सत्ताइस", "sattais"}, {"अट्ठाईस", "अट्ठाइस", "अठाईस", "अठाइस", "atthais", "athais"}, {"उनतीस", "उन्तीस", "unatees", "untees"},
	{"तीस", "tees"}, {"इकतीस", "इकत्तीस", "ikatees", "iktees", "ikattis"}, {"बत्तीस", "battees"}, {"तैंतीस", "तेंतीस", "taintees", "tentees"}, {"चौंतीस", "chauntees"}, {"पैंतीस", "paintees"}, {"छत्तीस", "chhattees"}, {"सैंतीस", "saintees"}, {"अड़तीस", "adtees", "artees"}, {"उनतालीस", "उन्तालीस", "untalees", "unatalees"},
	{"चालीस", "chalees"}, {"इकतालीस", "ikatalees", "iktalees"}, {"बयालीस", "bayalees"}, {"तैंतालीस", "तेंतालीस", "taintalees"}, {"चौवालीस", "चवालीस", "चौंवालीस", "chauvalees", "chavalees"}, {"पैंतालीस", "paintalees"}, {"छियालीस", "chhiyalees"}, {"सैंतालीस", "saintalees"}, {"अड़तालीस", "adtalees", "artalees"}, {"उनचास", "उन्चास", "unchas"},
	{"पचास", "pachas"}, {"इक्यावन", "ikyavan", "ikyawan"}, {"बावन", "bavan"}, {"तिरेपन", "तिरपन", "tirepan", "tirpan"}, {"चौवन", "chauvan"}, {"पचपन", "pachpan"}, {"छप्पन", "chhappan"}, {"सत्तावन", "sattavan"}, {"अट्ठावन", "अठावन", "atthavan", "athavan"}, {"उनसठ", "unsath"},
	{"साठ", "saath"}, {"इकसठ", "iksath"}, {"बासठ", "basath"}, {"तिरेसठ", "तिरसठ", "tirsath", "tiresath"}, {"चौंसठ", "चौसठ", "chaunsath"}, {"पैंसठ", "painsath"}, {"छियासठ", "chhiyasath"}, {"सड़सठ", "सरसठ", "sadsath", "sarsath"}, {"अड़सठ", "adsath", "arsath"}, {"उनहत्तर", "unhattar"},
	{"सत्तर", "sattar"}, {"इकहत्तर", "ikhattar"}, {"बहत्तर", "bahattar"}, {"तिहत्तर", "tihattar"}, {"चौहत्तर", "chauhattar"}, {"पचहत्तर", "pachhattar", "pachahattar"}, {"छिहत्तर", "chhihattar"}, {"सतहत्तर", "sathattar"}, {"अठहत्तर", "athhattar", "athahattar"}, {"उनासी", "उन्यासी", "unasi", "unyasi"},
	{"अस्सी", "assi"}, {"इक्यासी", "ikyasi"}, {"बयासी", "bayasi"}, {"तिरासी", "tirasi"}, {"चौरासी", "chaurasi"}, {"पचासी", "pachasi"}, {"छियासी", "chhiyasi"}, {"सत्तासी", "सतासी", "sattasi"}, {"अट्ठासी", "अठासी", "atthasi", "athasi"}, {"नवासी", "navasi"},
	{"नब्बे", "nabbe"}, {"इक्यानबे", "इक्यानवे", "ikyanve", "ikyanbe"}, {"बानबे", "बानवे", "banve", "banbe"}, {"तिरानबे", "तिरानवे", "tiranve", "tiranbe"}, {"चौरानबे", "चौरानवे", "chauranve", "chauranbe"}, {"पंचानबे", "पंचानवे", "पचानवे", "panchanve", "panchanbe"}, {"छियानबे", "छियानवे", "chhiyanve", "chhiyanbe"}, {"सत्तानबे", "सत्तानवे", "सतानवे", "sattanve", "sattanbe"}, {"अट्ठानबे", "अट्ठानवे", "अठानवे", "atthanve", "athanve"}, {"निन्यानबे", "निन्यानवे", "ninyanve", "ninyanbe"},
}

var hindiScale = map[int64][]string{
	100:             {"सौ", "sau"},
	1000:            {"हज़ार", "hazaar", "hajar"},
	100_000:         {"लाख", "lakh"},
	10_000_000:      {"करोड़", "crore", "karod"},
	1_000_000_000:   {"अरब", "arab"},
	100_000_000_000: {"खरब", "kharab"},
}

var hindiOrdinals = map[int64][]string{
	1: {"पहला", "पहली", "पहले", "pehla", "pehli", "pehle", "pahla", "pahli", "pahle"},
	2: {"दूसरा", "दूसरी", "दूसरे", "dusra", "dusri", "dusre"},
	3: {"तीसरा", "तीसरी", "तीसरे", "teesra", "teesri", "teesre"},
	4: {"चौथा", "चौथी", "चौथे", "chautha", "chauthi", "chauthe"},
	6: {"छठा", "छठी", "छठे", "छठवाँ", "छठवीं", "छठवें", "chhatha", "chhathi", "chhathe", "chhathvin"},
}

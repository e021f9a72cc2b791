package accept

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestAccepts(t *testing.T) {
	for _, c := range []struct {
		name, reading string
		language      Language
		accepted      []string
		refused       []string
	}{
		{
			"a code digit by digit, in one of the languages", "OTP <digits 4407>", Hindi,
			[]string{"ओटीपी चार चार शून्य सात", "OTP चार चार ज़ीरो सात", "OTP double four zero seven",
				"OTP four four oh seven"},
			[]string{"OTP चार चार शून्य आठ", "OTP चार शून्य सात", "OTP चार हज़ार चार सौ सात", "OTP four चार zero seven",
				"OTP 4407", "OTP चार चार शून्य सात सात"},
		},
		{
			"a country before its number", "<digits +91-22-6789>", English,
			[]string{"plus ninety one two two six seven eight nine", "plus nine one two two six seven eight nine",
				"प्लस इक्यानबे दो दो छह सात आठ नौ"},
			[]string{"plus ninety two two two six seven eight nine", "plus ninety one twenty two six seven eight nine",
				"plus ninety one दो दो छह सात आठ नौ"},
		},
		{
			"letters by name, together or apart", "<letters OTP> aaya", Hinglish,
			[]string{"O T P aaya", "OTP aaya", "ओ टी पी आया", "ओटीपी aaya", "O.T.P. aaya"},
			[]string{"O T B aaya", "ओ टी aaya", "one time password aaya"},
		},
		{
			"several letters that are several ones", "<letters NRIs>", English,
			[]string{"N R Is", "NRIs", "N R I s", "एन आर आईज़"},
			[]string{"N R E s", "N Is"},
		},
		{
			"words that are typed short", "kaam ho gya, log jaenge tk", Hinglish,
			[]string{"kaam ho gya log jaenge tk", "kaam ho gaya, log jaayenge tak", "काम हो गया log jaenge तक"},
			[]string{"kaam ho gaye log jaenge tk", "kaam ho gya log jaega tk"},
		},
		{"a whole word is not typed short", "kaam ho gaya", Hinglish, []string{"kaam ho gaya", "काम हो गया"}, []string{"kaam ho gya", "kaam ho"}},
		{
			"a cardinal in Hindi", "<number 12750>", Hindi,
			[]string{"बारह हज़ार सात सौ पचास", "बारह हजार सात सौ पचास"},
			[]string{"twelve thousand seven hundred fifty", "बारह हज़ार सात सौ पचपन", "बारह सौ सात सौ पचास",
				"एक दो सात पाँच शून्य"},
		},
		{
			"a cardinal in Roman Hindi", "<number 65>", Hinglish,
			[]string{"पैंसठ", "painsath", "sixty-five", "sixty five"},
			[]string{"paintees", "पैंतीस", "fifty six", "चौंसठ"},
		},
		{"sixty is not seven", "<number 7>", Hinglish, []string{"saat", "sat", "सात"}, []string{"saath", "साठ"}},
		{
			"Indian groups in English", "<number 4350000>", English,
			[]string{"forty three lakh fifty thousand", "forty-three lakhs and fifty thousand"},
			[]string{"four million three hundred fifty thousand", "forty three lakh five thousand",
				"तैंतालीस लाख पचास हज़ार"},
		},
		{
			"hundreds above ten", "<number 1500>", Hinglish,
			[]string{"एक हज़ार पाँच सौ", "पंद्रह सौ", "डेढ़ हज़ार", "one thousand five hundred", "fifteen hundred",
				"hazaar paanch sau"},
			[]string{"पंद्रह हज़ार", "डेढ़ सौ", "fifteen thousand", "ढाई हज़ार"},
		},
		{
			"digits after the point", "<number 8.75>", Hinglish,
			[]string{"आठ दशमलव सात पाँच", "eight point seven five", "पौने नौ", "aath point saat paanch"},
			[]string{"आठ सौ पचहत्तर", "पौने आठ", "eight point seventy five", "आठ दशमलव सात", "साढ़े आठ"},
		},
		{"zeros at the end", "<number 7.10>", English, []string{"seven point one", "seven point one zero"}, []string{"seven point zero one", "seven"}},
		{
			"an amount with paise", "<rupees 499.50>", Hinglish,
			[]string{"चार सौ निन्यानवे रुपये पचास पैसे", "चार सौ निन्यानबे रुपए और पचास पैसे",
				"four hundred ninety nine rupees and fifty paise", "four hundred ninety nine point five zero rupees"},
			[]string{"चार सौ निन्यानवे रुपये", "चार सौ निन्यानवे रुपये पाँच पैसे", "चार सौ निन्यानवे",
				"four hundred ninety nine dollars fifty cents"},
		},
		{
			"lakhs in words or in full", "<rupees 2.5 lakh>", Hindi,
			[]string{"ढाई लाख रुपये", "दो दशमलव पाँच लाख रुपये", "दो लाख पचास हज़ार रुपए", "रुपये दो लाख पचास हज़ार"},
			[]string{"रुपये ढाई हज़ार", "रुपये ढाई लाख रुपये", "ढाई हज़ार रुपये", "दो लाख पाँच हज़ार रुपये",
				"दो दशमलव पाँच रुपये लाख"},
		},
		{
			"a day before its month", "<date 2026-08-15 numeric>", Hinglish,
			[]string{"पंद्रह अगस्त दो हज़ार छब्बीस", "fifteenth August twenty twenty six",
				"fifteen august two thousand and twenty six", "August fifteenth twenty twenty-six",
				"pandrah aath do hazaar chhabbees"},
			[]string{"पंद्रह सितंबर दो हज़ार छब्बीस", "सोलह अगस्त दो हज़ार छब्बीस", "पंद्रह अगस्त दो हज़ार पच्चीस",
				"पंद्रह अगस्त", "fifteen slash eight slash"},
		},
		{"an English day in Hinglish", "<date 11-08>", Hinglish, []string{"the eighth of November", "eight November", "आठ नवंबर"}, []string{"the eighteenth of November", "the आठ November"}},
		{"a month that is written stays a word", "<date 08-15>", English, []string{"fifteenth of August", "August fifteen"}, []string{"fifteen eight", "eighth fifteenth"}},
		{"a year of two digits", "<date 2027-02-07 short>", Hindi, []string{"सात फ़रवरी सत्ताईस", "सात फरवरी दो हज़ार सत्ताइस"}, []string{"सात फ़रवरी", "सात फ़रवरी उन्नीस सौ सत्ताईस"}},
		{"a year", "<year 1947>", Hinglish, []string{"उन्नीस सौ सैंतालीस", "nineteen forty seven"}, []string{"उन्नीस सैंतालीस सौ", "nineteen forty eight", "एक नौ चार सात"}},
		{
			"a time with its half of the day", "<time 5:45pm>", Hinglish,
			[]string{"शाम पाँच बजकर पैंतालीस मिनट", "शाम के पौने छह बजे", "five forty five P M", "paanch paintalees PM",
				"पाँच पैंतालीस पी एम", "quarter to six in the evening"},
			[]string{"पाँच बजकर पैंतालीस मिनट", "सुबह पौने छह बजे", "five forty five", "five forty five A M",
				"पौने पाँच बजे शाम", "साढ़े पाँच बजे शाम"},
		},
		{"a clock of 24 hours", "<time 18:00>", Hinglish, []string{"अठारह बजे", "शाम छह बजे", "six P M", "eighteen hundred hours", "eighteen hours"}, []string{"छह बजे", "six A M", "six", "अठारह"}},
		{"an English hour before baje", "<time 6:15>", Hinglish, []string{"six fifteen बजे", "सवा छह बजे", "six fifteen"}, []string{"six fifty baje", "six baje", "six fifteen baje baje"}},
		{"noon", "<time 12:00> {noon|}", English, []string{"twelve o'clock noon", "twelve o clock", "twelve noon"}, []string{"one o'clock noon"}},
		{"half past", "<time 9:30>", Hindi, []string{"साढ़े नौ बजे", "नौ बजकर तीस मिनट", "नौ तीस"}, []string{"साढ़े दस बजे", "साढ़े नौ", "नौ बजे", "साढ़े नौ बजे शाम"}},
		{"half past one and two", "<time 1:30> <time 2:30>", Hindi, []string{"डेढ़ बजे ढाई बजे"}, []string{"ढाई बजे डेढ़ बजे"}},
		{"a quarter before one", "<time 12:45>", Hindi, []string{"पौने एक बजे", "बारह बजकर पैंतालीस मिनट"}, []string{"पौने बारह बजे"}},
		{"a zero in the minutes", "<time 8:05>", Hinglish, []string{"आठ बजकर पाँच मिनट", "eight oh five", "आठ शून्य पाँच बजे"}, []string{"eight fifty", "eight"}},
		{
			"a quantity in the language of its sentence", "<quantity 2.5 kg>", Hindi,
			[]string{"ढाई किलो", "दो दशमलव पाँच किलोग्राम"},
			[]string{"ढाई ग्राम", "दो किलो", "two point five kilograms", "ढाई"},
		},
		{"percent", "<quantity 18 percent>", Hinglish, []string{"अठारह प्रतिशत", "eighteen per cent", "अट्ठारह फ़ीसदी"}, []string{"अठारह", "eighty percent"}},
		{"an ordinal", "<ordinal 21> <ordinal 3>", Hinglish, []string{"इक्कीसवीं तीसरी", "twenty first third", "इक्कीसवाँ तीसरा"}, []string{"इक्कीस तीन", "इक्कीसवीं तीन", "twenty one third"}},
		{"a range", "<range 2 3> din", Hinglish, []string{"do se teen din", "दो तीन दिन", "two to three din"}, []string{"do minus teen din", "दो से चार दिन", "teen se do din"}},
		{"a range in English", "Pages <range 114 120>", English, []string{"pages one hundred and fourteen to one hundred twenty"}, []string{"pages one hundred fourteen one hundred twenty", "pages one hundred fourteen se one hundred twenty"}},
		{
			"the number of a thing", "gate <label 304>", English,
			[]string{"gate three zero four", "gate three hundred four", "gate three oh four", "gate तीन शून्य चार"},
			[]string{"gate thirty four", "gate three hundred forty", "gate three four zero"},
		},
		{"a train", "<label 12417>", Hinglish, []string{"one two four one seven", "twelve four seventeen", "one twenty four seventeen", "बारह हज़ार चार सौ सत्रह"}, []string{"twelve four seventy one", "one two four one"}},
		{"a door with its stroke", "<label 8-2-601/A>", Hindi, []string{"आठ दो छह सौ एक ए", "आठ dash दो डैश छह शून्य एक बटा ए"}, []string{"आठ दो छह सौ एक", "आठ दो छह सौ दो ए"}},
		{"a masked number", "<tail XXXX4590>", Hinglish, []string{"चार पाँच नौ शून्य", "ending four five nine zero", "अंतिम चार पाँच नौ शून्य"}, []string{"x x x x चार पाँच नौ शून्य", "चार पाँच नौ", "चार हज़ार पाँच सौ नब्बे"}},
		{"a short mask", "<tail XX92>", Hinglish, []string{"X X nine two", "एक्स एक्स नौ दो", "नौ दो"}, []string{"बानवे", "X nine two two"}},
		{"a toll-free number", "<tollfree 18002094411>", Hinglish, []string{"एक आठ शून्य शून्य दो शून्य नौ चार चार एक एक", "eighteen hundred two zero nine double four double one"}, []string{"eighteen hundred two zero nine double four one", "अठारह दो शून्य नौ चार चार एक एक"}},
		{"an address of mail", "<web ritu.k22@okpay>", Hinglish, []string{"ritu dot k two two at okpay", "r i t u dot k twenty two at okpay", "रितु डॉट के दो दो ऐट okpay"}, []string{"ritu k two two at okpay", "ritu dot k two three at okpay", "ritu.k22@okpay"}},
		{"an address of the web", "<web https://nagarseva.org/forms>", English, []string{"nagarseva dot org slash forms", "h t t p s colon slash slash nagarseva dot o r g forms"}, []string{"nagarseva org slash forms", "https://nagarseva.org/forms"}},
		{"money of others", "<money USD 19.99>", English, []string{"nineteen dollars and ninety nine cents", "nineteen dollars ninety nine cents"}, []string{"nineteen rupees ninety nine paise", "nineteen dollars"}},
		{"alternatives and what may be missing", "{kal|kal subah} aana {ji|}", Hinglish, []string{"kal aana", "Kal subah aana, ji!"}, []string{"subah aana", "kal aana ji ji"}},
		{
			"words in other spellings and in the other script", "Mera naam Kavita hai, zyada nahi", Hinglish,
			[]string{"mera nam kavita hai zyada nahi", "मेरा नाम कविता है, ज़्यादा नहीं।"},
			[]string{"mera naam savita hai zyada nahi", "tera naam kavita hai zyada nahi", "mera naam kavita hai",
				"mera naam kavita hai zyada nahi nahi"},
		},
		{"nukta, nasal and glide", "चाहिए हज़ार लंबा पाँच गए", Hindi, []string{"चाहिये हजार लम्बा पांच गये"}, []string{"चाहिए हज़ार लंबा पचास गए"}},
		{"signs are not words", "A <plus> B <equals> C", Hinglish, []string{"A plus B equals C", "ए प्लस बी बराबर सी"}, []string{"A + B = C", "A plus B C", "A minus B equals C"}},
		{"an emoticon that is left is not a reading", "ok kal", Hinglish, []string{"ok, kal"}, []string{"ok 👍 kal", "ok :D kal"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Compile(c.reading, c.language)
			if err != nil {
				t.Fatal(err)
			}
			if e := r.Example(); !r.Accepts(e) {
				t.Errorf("its own example %q is refused", e)
			}
			for _, s := range c.accepted {
				if !r.Accepts(s) {
					t.Errorf("%q is refused at %q", s, r.Stop(s))
				}
			}
			for _, s := range c.refused {
				if r.Accepts(s) {
					t.Errorf("%q is accepted", s)
				}
			}
		})
	}
}

// TestNoTwoNumbersSoundAlike: a spelling that is taken for two numbers would accept a wrong one.
func TestNoTwoNumbersSoundAlike(t *testing.T) {
	for _, table := range [][][]string{hindiBelow100[:], englishSmall[:], englishTens[2:]} {
		for i, words := range table {
			for j, others := range table[:i] {
				for _, a := range words {
					for _, b := range others {
						if sameSpelling(a, b) {
							t.Errorf("%q of row %d sounds like %q of row %d", a, i, b, j)
						}
					}
				}
			}
		}
	}
}

// TestCardinalsAreToldApart: below a thousand and around every scale, the reading of one number is not accepted for
// another.
func TestCardinalsAreToldApart(t *testing.T) {
	var numbers []int64
	for n := range int64(130) {
		numbers = append(numbers, n)
	}
	for _, scale := range []int64{100, 1000, 100_000, 10_000_000} {
		for _, d := range []int64{-1, 0, 1, 25, 50, 75} {
			numbers = append(numbers, 2*scale+d, 15*scale+d, 5*scale/2+d, 11*scale/4+d)
		}
	}
	for _, l := range []Language{English, Hindi} {
		for _, a := range numbers {
			spoken := number(figure{whole: a}, l).example()
			for _, b := range numbers {
				r := Reading{number(figure{whole: b}, l)}
				if got := r.Accepts(spoken); got != (a == b) {
					t.Errorf("%s: %q, of %d, accepted for %d: %v", l, strings.TrimSpace(spoken), a, b, got)
				}
			}
		}
	}
}

func TestTimesAreToldApart(t *testing.T) {
	var values []string
	for h := range 24 {
		for _, m := range []int{0, 5, 15, 30, 45, 50} {
			values = append(values, fmt.Sprintf("%d:%02d", h, m))
		}
	}
	for _, a := range values {
		r, err := Compile("<time "+a+">", Hindi)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range values {
			other, _ := Compile("<time "+b+">", Hindi)
			if got := r.Accepts(other.Example()); got != (a == b) {
				t.Errorf("%q, of %s, accepted for %s: %v", other.Example(), b, a, got)
			}
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, c := range []struct{ reading, want string }{
		{"{a|b", "not closed"},
		{"a}", "nothing is open"},
		{"<digits 12", "not closed"},
		{"<digit 12>", "<digit> is not known"},
		{"<digits >", "no digits"},
		{"<digits 4 407>", "' ' is no digit, letter"},
		{"<label 15:30>", "':' is no digit, letter"},
		{"<letters ओटीपी>", "not A to Z"},
		{"<letters .>", "no letters"},
		{"<number twelve>", "not a number"},
		{"<number 1.>", "not a number"},
		{"<number 2 dozen>", "not a scale"},
		{"<quantity 2 parsec>", "not a unit"},
		{"<money GBX 2>", "not a currency"},
		{"<date 2026-13-01>", "not a date"},
		{"<date 08-32>", "no such day"},
		{"<date 08-15 fast>", "neither numeric nor short"},
		{"<time 24:00>", "not a time"},
		{"<time 23:60>", "not a time"},
		{"<time 13:00pm>", "not a time"},
		{"<year 999>", "not a year"},
		{"<ordinal 0>", "not an ordinal"},
		{"<ordinal 100>", "not an ordinal"},
		{"<tail 1234>", "not a mask"},
		{"<tollfree 1900123>", "does not begin with 1800"},
		{"<web a?b>", "no part of an address"},
	} {
		if _, err := Compile(c.reading, Hinglish); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.reading, err, c.want)
		}
	}
	if _, err := Compile("a", "fr"); err == nil {
		t.Error("a language that is none of ours is taken")
	}
}

func TestStopNamesTheFirstWrongWord(t *testing.T) {
	r, err := Compile("kal <number 12> log aayenge", Hinglish)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ spoken, want string }{
		{"kal terah log aayenge", "terah"},
		{"kal barah log", ""},
		{"kal barah log aayenge na", "na"},
	} {
		if got := r.Stop(c.spoken); got != c.want {
			t.Errorf("Stop(%q) = %q, want %q", c.spoken, got, c.want)
		}
	}
}

// TestGrammarIsDescribed: whoever writes messages finds every macro in the README beside them.
func TestGrammarIsDescribed(t *testing.T) {
	text, err := os.ReadFile("../../../testdata/hinglish-reading/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for kind := range kinds {
		if !strings.Contains(string(text), "`<"+kind+" ") {
			t.Errorf("<%s …> is missing", kind)
		}
	}
	for kind := range connectors {
		if !strings.Contains(string(text), "`<"+kind+">`") {
			t.Errorf("<%s> is missing", kind)
		}
	}
}

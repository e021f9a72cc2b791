package normalize

import (
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// marathi is a third language, to show that one is added by an entry: what it does not name is as in Hindi.
var marathi = func() *words.Language {
	l := *words.Hindi
	l.Name = "Marathi"
	copy(l.Below100[:], strings.Fields(`
		शून्य एक दोन तीन चार पाच सहा सात आठ नऊ दहा अकरा बारा तेरा चौदा पंधरा सोळा सतरा अठरा एकोणीस
		वीस एकवीस बावीस तेवीस चोवीस पंचवीस सव्वीस सत्तावीस अठ्ठावीस एकोणतीस तीस एकतीस बत्तीस तेहेतीस चौतीस पस्तीस छत्तीस सदतीस अडतीस एकोणचाळीस
		चाळीस एक्केचाळीस बेचाळीस त्रेचाळीस चव्वेचाळीस पंचेचाळीस सेहेचाळीस सत्तेचाळीस अठ्ठेचाळीस एकोणपन्नास पन्नास एक्कावन्न बावन्न त्रेपन्न चोपन्न पंचावन्न छप्पन्न सत्तावन्न अठ्ठावन्न एकोणसाठ
		साठ एकसष्ट बासष्ट त्रेसष्ट चौसष्ट पासष्ट सहासष्ट सदुसष्ट अडुसष्ट एकोणसत्तर सत्तर एकाहत्तर बाहत्तर त्र्याहत्तर चौऱ्याहत्तर पंच्याहत्तर शहात्तर सत्याहत्तर अठ्ठ्याहत्तर एकोणऐंशी
		ऐंशी एक्याऐंशी ब्याऐंशी त्र्याऐंशी चौऱ्याऐंशी पंच्याऐंशी शहाऐंशी सत्त्याऐंशी अठ्ठ्याऐंशी एकोणनव्वद नव्वद एक्याण्णव ब्याण्णव त्र्याण्णव चौऱ्याण्णव पंच्याण्णव शहाण्णव सत्त्याण्णव अठ्ठ्याण्णव नव्व्याण्णव`))
	l.Scales = []words.Scale{{Value: 1e9, Name: "अब्ज"}, {Value: 1e7, Name: "कोटी"}, {Value: 1e5, Name: "लाख"},
		{Value: 1e3, Name: "हजार"}, {Value: 100, Name: "शे"}}
	l.Western = l.Scales
	l.ScaleNames[3], l.ScaleNames[4] = "लाख", "कोटी"
	l.Months = [13]string{"", "जानेवारी", "फेब्रुवारी", "मार्च", "एप्रिल", "मे", "जून", "जुलै", "ऑगस्ट", "सप्टेंबर",
		"ऑक्टोबर", "नोव्हेंबर", "डिसेंबर"}
	l.Money = slices.Clone(l.Money)
	l.Money[words.Rupees] = words.MoneyWords{One: "रुपया", Many: "रुपये", Cent: "पैसा", Cents: "पैसे"}
	l.Words[words.WordPercent], l.Words[words.WordTo], l.Words[words.WordPer], l.Words[words.WordAnd] = "टक्के", "ते",
		"प्रति", "आणि"
	l.Quarters = &words.QuarterWords{
		Half: "अर्धा", OneAndHalf: "दीड", TwoAndHalf: "अडीच", AndHalf: "साडे", Quarter: "पाव", AndQuarter: "सव्वा",
		ThreeQuarters: "पाऊण", LessQuarter: "पावणे",
	}
	l.Clock = &words.ClockWords{
		Oclock: "वाजता", Past: "वाजून", Minutes: "मिनिटांनी", Seconds: "सेकंदांनी", Night: "रात्री", Morning: "सकाळी",
		Noon: "दुपारी", Evening: "संध्याकाळी",
	}
	l.Hundreds = false
	return &l
}()

func TestAThirdLanguageIsAnEntry(t *testing.T) {
	for _, test := range []struct{ name, written, want string }{
		{"a number", "49", "एकोणपन्नास"},
		{"thousands", "12,750", "बारा हजार सात शे पन्नास"},
		{"crores", "3,00,00,000", "तीन कोटी"},
		{"an amount with paise", "₹1,250.50", "एक हजार दोन शे पन्नास रुपये पन्नास पैसे"},
		{"lakhs in quarters", "₹2.5 lakh", "अडीच लाख रुपये"},
		{"a range", "₹500-700", "पाच शे ते सात शे रुपये"},
		{"a share", "18%", "अठरा टक्के"},
		{"a date", "15/08/2026", "पंधरा ऑगस्ट दोन हजार सव्वीस"},
		{"a date of words", "5 Nov 2027", "पाच नोव्हेंबर दोन हजार सत्तावीस"},
		{"half past", "9:30", "साडे नऊ वाजता"},
		{"a quarter to", "5:45 PM", "संध्याकाळी पावणे सहा वाजता"},
		{"minutes", "7:20 AM", "सकाळी सात वाजून वीस मिनिटांनी"},
		{"a code", "OTP 482913", "ओ टी पी चार आठ दोन नऊ एक तीन"},
		{"in a sentence", "आपला 2 kg", "आपला दोन किलो"},
		{"English beside it", "Your bill of ₹49 is due.", "Your bill of forty nine rupees is due."},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := readIn(marathi, test.written, Options{}, false).writer.Spoken(); got != test.want {
				t.Errorf("%q\n got %s\nwant %s", test.written, got, test.want)
			}
		})
	}
}

package translit

import (
	"testing"
)

func TestNamesThatAreWrittenLikeWords(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"Khan by a capital", "Kal Khan aaye the", "कल ख़ान आए थे"},
		{"Khan by a first name", "Salman khan aaye the", "सलमान ख़ान आए थे"},
		{"Khan by saab", "khan saab aaye the", "ख़ान साब आए थे"},
		{"Khan by ne", "khan ne kaha tha", "ख़ान ने कहा था"},
		{"kahan in a hurry", "tum khan ho", "तुम कहाँ हो"},
		{"kahan in a hurry, where a sentence begins", "Khan ho tum", "कहाँ हो तुम"},
		{"Puri by a capital", "Wo Puri mein rehta hai", "वो पुरी में रहता है"},
		{"Puri by Mr", "mr puri aaye the", "मिस्टर पुरी आए थे"},
		{"Puri by ji, where a sentence begins", "Puri ji aaye the", "पुरी जी आए थे"},
		{"Puri between a name and a postposition", "Amrish puri ki film", "अमरीश पुरी की फ़िल्म"},
		{"poori behind a name", "Rahul puri raat jaga", "राहुल पूरी रात जगा"},
		{"poori", "puri baat batao", "पूरी बात बताओ"},
		{"poori where a sentence begins", "Puri baat batao", "पूरी बात बताओ"},
		{"Mala is a garland as well", "Mala ne mala pehni", "माला ने माला पहनी"},
		{"Sona is gold as well", "Sona ji ne sona kharida", "सोना जी ने सोना ख़रीदा"},
		{"Roti is only eaten", "Roti khao", "रोटी खाओ"},
		{"Karan by kumar", "karan kumar aaya", "करण कुमार आया"},
		{"Karan by his deed", "karan ne roka", "करण ने रोका"},
		{"the reason", "is karan se roka", "इस कारण से रोका"},
		{"Jha by ji", "jha ji aaye", "झा जी आए"},
		{"Das by a first name", "Ram Das ko bulao", "राम दास को बुलाओ"},
		{"ten", "das log aaye", "दस लोग आए"},
		{"Umar by a capital", "Mera bhai Umar aaya", "मेरा भाई उमर आया"},
		{"an age", "meri umar kya hai", "मेरी उम्र क्या है"},
		{"Shahid by a capital", "Phir Shahid bola", "फिर शाहिद बोला"},
		{"a martyr", "wo shahid ho gaya", "वो शहीद हो गया"},
		{"Malik by his capital, not by his deed", "malik ne Malik ko bulaya", "मालिक ने मलिक को बुलाया"},
		{"Bharat by kumar", "Bharat Kumar aaye", "भरत कुमार आए"},
		{"the country has a capital too", "Hum Bharat mein rehte hain", "हम भारत में रहते हैं"},
		{"Jaya by a capital", "Meri behan Jaya aayi", "मेरी बहन जया आई"},
		{"a habit", "jaldi so jaya karo", "जल्दी सो जाया करो"},
		{"naam tells who", "mera naam karan hai", "मेरा नाम करण है"},
		{"naam with a word", "naam puri tarah bhool gaya", "नाम पूरी तरह भूल गया"},
		{"Dr before a capital", "Dr Pant se milo", "डॉक्टर पंत से मिलो"},
		{"pants", "pant dhona hai", "पैंट धोना है"},
		{"a heading has capitals everywhere", "Apni Raat Ki Umar", "अपनी रात की उम्र"},
		{"a capital beside Devanagari", "मेरा दोस्त Karan आया", "मेरा दोस्त करण आया"},
		{"no capital beside Devanagari", "इस karan से रोका", "इस कारण से रोका"},
		{"a comma parts them", "Rahul, puri ki baat", "राहुल, पूरी की बात"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Devanagari(tt.text, Options{}); got != tt.want {
				t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.want)
			}
		})
	}
}

// A surname of an English sentence does not make a Hindi one of it.
func TestPeopleOfEnglishSentences(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"Your meeting with Mr Puri has been moved.", "Your meeting with Mr पुरी has been moved."},
		{"Please call Karan about the payment.", "Please call करण about the payment."},
	} {
		got := Devanagari(tt.text, Options{KeepEnglish: true})
		if got != tt.want {
			t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.want)
		}
		if again := Devanagari(got, Options{KeepEnglish: true}); again != got {
			t.Errorf("%q became %q", got, again)
		}
	}
}

// Every row has the cue of the name, and the name is read otherwise without it.
func TestHomographs(t *testing.T) {
	for roman, rest := range rows(t, "homographs") {
		hindi := rest[0]
		if got := Devanagari("mr "+roman+" aaye", Options{}); got != "मिस्टर "+hindi+" आए" {
			t.Errorf("mr %s: got %q, want the name %s", roman, got, hindi)
		}
		if got := Devanagari("wo "+roman+" bhi", Options{}); got == "वो "+hindi+" भी" {
			t.Errorf("%s is read %s without a sign of the name: put it into names.tsv", roman, hindi)
		}
	}
}

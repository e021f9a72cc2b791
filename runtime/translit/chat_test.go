package translit

import "testing"

func TestSpellingsInAHurry(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"please and thanks", "plz jldi aao, thx", "प्लीज़ जल्दी आओ, थैंक्स"},
		{"no", "mjhe nhi pta", "मुझे नहीं पता"},
		{"doing", "kya kr rhe ho yr", "क्या कर रहे हो यार"},
		{"h and hn", "hn bht acha h", "हाँ बहुत अच्छा है"},
		{"why", "kyu, tmhe nhi mla kya", "क्यों, तुम्हें नहीं मिला क्या"},
		{"but not in capitals", "MLA aaye the", "एम एल ए आए थे"},
		{"fine", "thik h yr, kl milna h", "ठीक है यार, कल मिलना है"},
		{"two words in one", "aplog kbtk aaoge", "आप लोग कब तक आओगे"},
		{"a verb with its helper", "ab sojao, kl hjayega", "अब सो जाओ, कल हो जाएगा"},
		{"an adjective", "khana bdia h, pani thnda h", "खाना बढ़िया है, पानी ठंडा है"},
		{"the voice of a clerk", "srji bilkl shi h, mtlab pkka", "सर जी बिल्कुल सही है, मतलब पक्का"},
		{"English in a hurry", "nmbr bhjo, prblm h", "नंबर भेजो, प्रॉब्लम है"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Devanagari(tt.text, Options{}); got != tt.want {
				t.Errorf("%q\n got %q\nwant %q", tt.text, got, tt.want)
			}
		})
	}
}

// No spelling of Hindi may reach into an English sentence: only its short forms are written in full.
func TestEnglishWordsStayInEnglishSentences(t *testing.T) {
	for roman := range rows(t, "english") {
		if _, isShort := tables().chat[roman]; isShort {
			continue
		}
		text := "we have the " + roman + " which was with them"
		if got := Devanagari(text, Options{KeepEnglish: true}); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for roman := range rows(t, "either") {
		text := "which was the " + roman + " that they have"
		if tables().entries[roman].english == "" {
			continue
		}
		if got := Devanagari(text, Options{KeepEnglish: true}); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

package translit

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

func TestSpellHindi(t *testing.T) {
	for _, tt := range []struct{ name, roman, want string }{
		{"long vowels are doubled letters", "doolaareesaa", "दूलारीसा"},
		{"a final a is long", "jhamka", "झमका"},
		{"an a elsewhere is short", "kaman", "कमन"},
		{"a first a is short", "anjuman", "अंजुमन"},
		{"a final i and u are long", "bhanu", "भनू"},
		{"aspirates", "khaghachajhathadhaphabhasha", "खघचझथधफभशा"},
		{"chh is one sound", "chhamiya", "छमिया"},
		{"doubled consonants", "pakkam", "पक्कम"},
		{"a doubled t before i is retroflex", "pattil", "पट्टिल"},
		{"a nasal before a stop is a dot", "kumbhanda", "कुंभंदा"},
		{"a first cluster", "pragun", "प्रगुन"},
		{"a chat spelling is no cluster", "mnk", "मनक"},
		{"consonants part silently", "kulmat", "कुलमत"},
		{"the future", "dhadkega", "धदकेगा"},
		{"the polite request", "dhadkiye", "धदकिए"},
		{"a verbal noun", "tamtamana", "तमतमाना"},
		{"a place", "karimabad", "करीमाबाद"},
		{"an abstract noun", "jhilmilahat", "झिलमिलाहट"},
		{"z and f take the dot below", "zafrin", "ज़फ़्रिन"},
		{"an apostrophe is silent", "d'silva", "दसिलवा"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			spellHindi(&out, tt.roman, false)
			if got := out.String(); got != norm.NFC.String(tt.want) {
				t.Errorf("%s: got %q, want %q", tt.roman, got, tt.want)
			}
		})
	}
}

func TestSpellEnglish(t *testing.T) {
	for _, tt := range []struct{ name, roman, want string }{
		{"t and d are retroflex", "tidbit", "टिड्बिट"},
		{"a silent e makes the vowel long", "plate", "प्लेट"},
		{"a silent e after i", "grime", "ग्राइम"},
		{"a silent e after o", "slope", "स्लोप"},
		{"-tion", "lotion", "लोशन"},
		{"-ment", "garment", "गार्मेंट"},
		{"-ing", "blinking", "ब्लिंकिंग"},
		{"-ly", "gladly", "ग्लैड्ली"},
		{"-able", "drinkable", "ड्रिंकेबल"},
		{"soft c and g", "cigar", "सिगार"},
		{"hard c", "crisp", "क्रिस्प"},
		{"a silent k", "knob", "नॉब"},
		{"qu", "squid", "स्क्विड"},
		{"x", "matrix", "मैट्रिक्स"},
		{"ph", "graph", "ग्रैफ़"},
		{"igh", "plight", "प्लाइट"},
		{"doubled consonants are one", "puppet", "पपेट"},
		{"a final y", "dolly", "डॉली"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			spellEnglish(&out, tt.roman)
			if got := out.String(); got != norm.NFC.String(tt.want) {
				t.Errorf("%s: got %q, want %q", tt.roman, got, tt.want)
			}
		})
	}
}

func TestInflectedEnglish(t *testing.T) {
	for _, tt := range []struct{ roman, want string }{
		{"dispatches", "डिस्पैचेस"}, {"coupons", "कूपन्स"}, {"trophies", "ट्रॉफ़ीज़"}, {"dispatching", "डिस्पैचिंग"}, {"emailed", "ईमेल्ड"},
		{"trusting", "ट्रस्टिंग"}, {"reuploaded", "रीअपलोडेड"}, {"snackbox", "स्नैकबॉक्स"}, {"weekly's", "वीकलीज़"}, {"doubtless", "डाउटलेस"}, {"synchronously", "synchronously"},
	} {
		if got := Devanagari(tt.roman+" hai", Options{KeepEnglish: true}); got != norm.NFC.String(tt.want)+" है" {
			t.Errorf("%s: got %q, want %q", tt.roman, got, tt.want)
		}
	}
}

func TestLeanOf(t *testing.T) {
	for _, tt := range []struct {
		word string
		want int // its sign
	}{
		{"samjhaunga", 1}, {"thukrayenge", 1}, {"khatkhatana", 1}, {"dhoomdhaam", 1}, {"refurbished", -1}, {"microscope", -1}, {"synchronization", -1},
		{"quixotic", -1}, {"strawberry", -1}, {"volcanoes", -1},
	} {
		if got := leanOf([]byte(tt.word), false); int(got)*tt.want <= 0 {
			t.Errorf("%s: got %d, want the sign of %d", tt.word, got, tt.want)
		}
	}
}

// The rows of the rules must be sounds: a vowel sign or virama in one would be written as it is, on top of what the
// speller adds.
func TestRowsAreSounds(t *testing.T) {
	var rowsOfAll []string
	for _, list := range [][]spelling{wordStarts, wordEnds, anywhere} {
		for _, s := range list {
			rowsOfAll = append(rowsOfAll, s.sounds)
		}
	}
	for roman, e := range hindiEnds {
		rowsOfAll = append(rowsOfAll, e.row)
		if len(roman) > longestEnd {
			t.Errorf("%q is longer than longestEnd", roman)
		}
	}
	for _, c := range consonants {
		rowsOfAll = append(rowsOfAll, c)
	}
	for _, row := range rowsOfAll {
		if i := strings.IndexFunc(row, func(r rune) bool {
			return !unicode.IsLetter(r) &&
				!strings.ContainsRune("़ंँ", r)
		}); i >= 0 {
			t.Errorf("%q is no row of sounds", row)
		}
	}
}

package text

import "testing"

// weightSentences stand close to the border between the languages: each turns when a weight that it counts changes by
// half.
var weightSentences = []struct {
	written string
	home    bool
}{
	{"Naya Savera Foundation planted 300 trees.", false},
	{"Mera Medicare card covers 5 visits.", false},
	{"mera medicare card 5", true},
	{"Aaj Tak reported 12.", true},
	{"Meri Dukan and Apna Ghar 5", false},
	{"The bill of the shop is with जी.", true},
	{"She said that we will go to the fair with दोस्त.", false},
	{"The bill is ५०", true},
	{"He is at the shop with ५ kids", false},
	{"status ka update is 5", true},
	{"The letter ka status is with 5 friends", false},
	{"Send karo 5", true},
	{"Please check and karo 5", false},
	{"The ghar 5", true},
	{"A doodh packet covers 5 cups", false},
	{"bas card 5", true},
	{"bas card covers 5", false},
}

func TestEveryWeightCounts(t *testing.T) {
	for _, s := range weightSentences {
		if got := isHomeWith(s.written, &LanguageWeights); got != s.home {
			t.Errorf("%q is Hindi: %v", s.written, got)
		}
	}
	for e := range LanguageWeights {
		for _, change := range []struct {
			name     string
			mul, div int
		}{{"halved", 1, 2}, {"raised by half", 3, 2}} {
			weights := LanguageWeights
			weights[e].Weight = weights[e].Weight * change.mul / change.div
			if weights[e].Weight == LanguageWeights[e].Weight {
				t.Fatalf("%s is too light to be changed by half", weights[e].Name)
			}
			turned := false
			for _, s := range weightSentences {
				turned = turned || isHomeWith(s.written, &weights) != s.home
			}
			if !turned {
				t.Errorf("%s may be %s, %d: no sentence turns", weights[e].Name, change.name, weights[e].Weight)
			}
		}
	}
}

// isHomeWith decides the language of a text of one sentence by other weights.
func isHomeWith(written string, weights *[evidences]weigh) bool {
	var v View
	v.Text, v.Toks, _ = Scan(written)
	LookUpTokens(v.Text, v.Toks)
	v.Start, v.Stop = 1, len(v.Toks)-1
	var t Tally
	WeighSentence(&v, 1, &t)
	return IsHome(&t.Found, weights, t.Unknown)
}

package phoneme

import (
	"slices"
	"testing"
)

func TestTheVocabulary(t *testing.T) {
	if len(vocabulary) != 114 {
		t.Errorf("%d symbols, want 114", len(vocabulary))
	}
	seen := map[int64]rune{}
	for symbol, id := range vocabulary {
		if other, ok := seen[id]; ok || id <= 0 || id >= 178 {
			t.Errorf("%q has id %d, as %q; want one of its own from 1 to 177", symbol, id, other)
		}
		seen[id] = symbol
	}
	for symbols, want := range map[string][]int64{
		"IWAOQY":              {25, 39, 24, 31, 33, 41},
		"cɟ":                  {47 - 2, 90},
		"r.":                  {60, 4},
		",;: .!?…—":           {3, 1, 2, 16, 4, 5, 6, 10, 9},
		"ʰɖʈɳɲŋʂɾrʋː\u0303ˈˌ": {162, 80, 132, 113, 114, 112, 130, 125, 60, 136, 158, 17, 156, 157},
		"ɡqxχɣ":               {92, 59, 66, 142, 139},
		"g7ळ":                 {},
	} {
		got := appendIDs(nil, symbols)
		if len(got) != len(want) {
			t.Errorf("%q: ids %v, want %v", symbols, got, want)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%q: ids %v, want %v", symbols, got, want)
				break
			}
		}
	}
}

func TestSoundsInKokorosSymbols(t *testing.T) {
	for _, tt := range []struct{ name, said, want string }{
		{"a switch of language and back", "(^e^n)jɔːɹ ˈɔːdə(^h^i)", "jɔːɹ ˈɔːdə"},
		{"a switch without ties", "(en)ˈɒtp(hi) hɛː", "ˈɒtp hɛː"},
		{"a bracket that is not closed", "a (en", "a en"},
		{"a bracket that is closed only", "a) b", "a) b"},
		{"the i of time", "ta^ɪm", "tIm"},
		{"the ow of house", "ha^ʊs", "hWs"},
		{"the a of day", "de^ɪ", "dA"},
		{"the American o of go", "ɡo^ʊ", "ɡO"},
		{"the British o of go", "ɡə^ʊ", "ɡQ"},
		{"the oy of boy", "bɔ^ɪ", "bY"},
		{"the ch of church", "t^ʃɜːt^ʃ", "ʧɜːʧ"},
		{"the j of jam", "d^ʒam", "ʤam"},
		{"ts and dz", "t^s d^z", "ʦ ʣ"},
		{"a double s", "s^s", "S"},
		{"the Hindi letters for ch and j stay", "cˈaːɾ ɟˈi", "cˈaːɾ ɟˈi"},
		{"other ties", "bˈɒtə^l i^ə ʊ^ə e^ə ʰ^χ", "bˈɒtəl iə ʊə eə ʰχ"},
		{"hyphens", "a-b", "ab"},
		{"flaps keep their full stop", "pˈʌr.hnˌaː ˈʊr.aː", "pˈʌr.hnˌaː ˈʊr.aː"},
		{"the retroflex l", "mˈʌɾaːʈʰi ɭˈə", "mˈʌɾaːʈʰi lˈə"},
		{"a syllable of r", "kr\u0329ʂɳ", "kɾɪʂɳ"},
		{"a syllable of n", "bˈʌtn\u0329", "bˈʌtən"},
		{"a syllable of another consonant", "bˈatl\u0329", "bˈatl"},
		{"a nasal vowel before each stop", "bˈɛ\u0303k ˈi\u0303ɡ pˈa\u0303c ˈi\u0303ɟ ˈi\u0303ʈ hˈɛ\u0303ɖ dˈa\u0303t cˈa\u0303d sˈa\u0303p bˈa\u0303b", "bˈɛ\u0303ŋk ˈi\u0303ŋɡ pˈa\u0303ɲc ˈi\u0303ɲɟ ˈi\u0303ɳʈ hˈɛ\u0303ɳɖ dˈa\u0303nt cˈa\u0303nd sˈa\u0303mp bˈa\u0303mb"},
		{"a long one", "sˈe\u0303ːʈəɾ", "sˈe\u0303ːɳʈəɾ"},
		{"a nasal vowel before other sounds", "kˈʌɾe\u0303ː fɾˈa\u0303s sˈi\u0303h hˈu\u0303 a\u0303ˈaː", "kˈʌɾe\u0303ː fɾˈa\u0303s sˈi\u0303h hˈu\u0303 a\u0303ˈaː"},
		{"a nasal consonant that is there", "mˈa\u0303nɡ", "mˈa\u0303nɡ"},
		{"a nasal vowel behind a stop", "kˈa\u0303", "kˈa\u0303"},
		{"the d of guard", "ɡˈaːɾɖ", "ɡˈaːɾdɖː"},
		{"the d of hold", "hˈoːlɖ", "hˈoːldɖː"},
		{"the d of road", "ɾˈoːɖ", "ɾˈoːdɖː"},
		{"the d of blood", "blˈʌɖ", "blˈʌdɖː"},
		{"the d of feedback", "fˌiːɖbˈɛːk", "fˌiːdɖːbˈɛːk"},
		{"the d of brand, behind a nasal", "bɾˈãɖ", "bɾˈãɳɖ"},
		{"the d of ready, between vowels", "ɾˈeːɖi", "ɾˈeːdi"},
		{"the d of validity, before a stress", "ʋˈɛːlɪɖˌɪʈi", "ʋˈɛːlɪdˌɪʈi"},
		{"the d of update, behind a stop", "ˌʌpɖˈeːʈ", "ˌʌpdˈeːʈ"},
		{"the d of order, behind r", "ˈɔɾɖəɾ", "ˈɔɾɖəɾ"},
		{"the d of holder, behind l", "hˈoːlɖəɾ", "hˈoːlɖəɾ"},
		{"a breathed d between vowels", "bˈuːɖʰa", "bˈuːɖʰa"},
		{"a d behind a stress alone", "ˈɖa", "ˈɖa"},
		{"the d of address, before a flap", "ˈɛɖɾeːs", "ˈɛɖɾeːs"},
		{"the d of delivery, at the beginning", "ɖˌɪlˈɪʋəɾi", "ɖˌɪlˈɪʋəɾi"},
		{"the d of laddoo, double already", "lˈʌɖɖuː", "lˈʌɖɖuː"},
		{"the d of cards", "kˈaːɾɖs", "kˈaːɾdɖːs"},
		{"the d of English", "ɡˈɑːd", "ɡˈɑːd"},
		{"a breathed d", "ɡˈʌɖʰ", "ɡˈʌɖʰ"},
		{"the w of quick", "kʋˈɪk", "kwˈɪk"},
		{"the w of Twitter", "ʈʋˈɪʈəɾ", "ʈwˈɪʈəɾ"},
		{"a v behind other sounds", "sʋˈaːɡət sˈʌrʋɪs", "sʋˈaːɡət sˈʌrʋɪs"},
		{"the l of atlas", "ˈatɬəs", "ˈatləs"},
	} {
		if got := symbols(withoutFlags(tt.said)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestEveryMappedSymbolIsKnown: nothing is written as a symbol that the model lacks.
func TestEveryMappedSymbolIsKnown(t *testing.T) {
	for _, r := range respelled {
		for _, s := range r.to {
			if vocabulary[s] == 0 {
				t.Errorf("%q is written as %q, which has no id", r.from, r.to)
			}
		}
	}
	for from, to := range markSymbols {
		if vocabulary[to] == 0 {
			t.Errorf("%q is written as %q, which has no id", from, to)
		}
	}
	for _, m := range marks {
		if vocabulary[m] == 0 && markSymbols[m] == 0 {
			t.Errorf("%q has no id", m)
		}
	}
}

func TestFed(t *testing.T) {
	longest := make([]int64, MaxIDs)
	for i := range longest {
		longest[i] = 43
	}
	shorter := longest[1:]
	for name, tt := range map[string]struct{ ids, want []int64 }{
		"no mark":         {[]int64{43}, []int64{0, 43, 4, 0}},
		"a mark":          {[]int64{43, 6}, []int64{0, 43, 6, 0}},
		"a space":         {[]int64{43, 16}, []int64{0, 43, 16, 4, 0}},
		"room for a stop": {shorter, slices.Concat([]int64{0}, shorter, []int64{4, 0})},
		"no room for one": {longest, slices.Concat([]int64{0}, longest, []int64{0})},
	} {
		if got := Fed(tt.ids); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

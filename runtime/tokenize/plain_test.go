package tokenize

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPlain(t *testing.T) {
	tests := map[string]struct {
		text string
		want int
	}{
		"nothing":                                   {"", 0},
		"white space of all kinds":                  {" \t\n\u00a0\u3000", 0},
		"one letter":                                {"a", 1},
		"four letters are one token":                {"abcd", 1},
		"the fifth begins a second":                 {"abcde", 2},
		"eight letters are two":                     {"abcdefgh", 2},
		"the ninth begins a third":                  {"abcdefghi", 3},
		"letters of two words do not share a token": {"ab cd", 2},
		"more space costs no more":                  {"  ab   cd ", 2},
		"digits count as letters":                   {"12345", 2},
		"Devanagari digits too":                     {"१२३४५", 2},
		"letters and digits share a token":          {"ab12", 1},
		"matras, nuktas and viramas are free":       {"हिन्दी", 1},          // ह न द
		"a nukta letter written as two":             {"ज़्यादा", 1},         // ज य द
		"five consonants":                           {"समझदारी में", 2 + 1}, // स म झ द र, म
		"a mark alone is a word":                    {"ि", 1},
		"marks alone are one word":                  {"ििििििि", 1},
		"a mark costs a token":                      {"haan.", 2},
		"each mark costs one":                       {"haan?!", 3},
		"a mark inside a word does not split it":    {"ab-cd", 2},
		"nor do many":                               {"a-b-c-d", 4},
		"an apostrophe":                             {"don't", 1 + 1},
		"danda":                                     {"ठीक है।", 3},
		"double danda alone":                        {"॥", 1},
		"marks alone":                               {"... !", 4},
		"symbols cost as marks":                     {"₹ + 🎉", 3},
		"joiners are invisible":                     {"क\u200d्ष", 1},
		"an invisible word":                         {"\u200b", 1},
		"invalid bytes cost as symbols":             {"\xff\xfe", 2},
		"conjuncts":                                 {"क्षत्रिय", 2}, // क ष त र य
		"a hyphen counts":                           {"day-care", 3},
		"a comma and a mark":                        {"हाँ, ठीक!", 4},
		"zero width inside a word":                  {"a\u200bb", 1},
		"spelled letters":                           {"O T P", 3},
		"a sentence in two scripts":                 {"Aapka OTP है, एक दो।", 2 + 1 + 2 + 1 + 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Plain(tt.text); got != tt.want {
				t.Errorf("Plain(%q) = %d, want %d", tt.text, got, tt.want)
			}
		})
	}
}

func TestPlainAllocatesNothing(t *testing.T) {
	if got := testing.AllocsPerRun(100, func() { Plain(sentence) }); got != 0 {
		t.Errorf("%v allocations, want none", got)
	}
}

// FuzzPlain holds Plain to what its users build on: it is monotonic and additive at white space, and white space is
// free.
func FuzzPlain(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, uint(len(seed)/2))
	}
	f.Fuzz(func(t *testing.T, text string, at uint) {
		whole := Plain(text)
		if (whole == 0) != (strings.TrimSpace(text) == "") {
			t.Errorf("Plain(%q) = %d", text, whole)
		}
		if n := utf8.RuneCountInString(text); whole > n {
			t.Errorf("Plain(%q) = %d tokens of %d characters", text, whole, n)
		}
		i := int(at % uint(len(text)+1))
		for i < len(text) && !utf8.RuneStart(text[i]) {
			i++
		}
		left, right := text[:i], text[i:]
		if !utf8.ValidString(text) {
			return // a cut inside invalid bytes makes others of them
		}
		if l, r := Plain(left), Plain(right); l > whole || r > whole || l+r < whole {
			t.Errorf("Plain(%q) = %d, but its parts have %d and %d", text, whole, l, r)
		}
		if got, want := Plain(left+" "+right), Plain(left)+Plain(right); got != want {
			t.Errorf("Plain(%q + space + %q) = %d, want the sum %d", left, right, got, want)
		}
		if got := Plain(strings.Join(strings.FieldsFunc(text, unicode.IsSpace), "  ")); got != whole {
			t.Errorf("Plain(%q) = %d with other white space, want %d", text, got, whole)
		}
	})
}

func TestSeedsAreThere(t *testing.T) {
	if len(seeds) == 0 {
		t.Fatal("the fuzz target has no seeds")
	}
}

const sentence = "Aapka order डिलीवर हो गया है, कृपया ओ टी पी चार शून्य सात एक डिलीवरी पार्टनर को बताएं। Dhanyavaad!"

var seeds = []string{"", " ", sentence, "don't", "ि ॥ ₹", "क\u200d्ष", "a\xffb", strings.Repeat("x", 17),
	"\u0300\u0301", "१२३४५ 12"}

func BenchmarkPlain(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(sentence)))
	for b.Loop() {
		Plain(sentence)
	}
}

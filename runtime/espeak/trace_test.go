package espeak

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestPreparedWords(t *testing.T) {
	for chunk, want := range map[string][]string{ // the part of the chunk that each word comes from
		"":  nil,
		"—": nil,
		"नमस्ते,  आपका सामान!": {"नमस्ते,", "आपका", "सामान!"},
		"Aapka HDFC card":           {"Aapka", "HDFC", "HDFC", "HDFC", "HDFC", "card"},
		"(haan) — theek\thai / 3.5": {"(haan)", "theek", "hai", "3.5"},
		"गुड-मॉर्निंग MP3फाइल a/b don't": {"गुड-मॉर्निंग", "MP3फाइल", "MP3फाइल", "a/b", "a/b", "don't"},
		"cafe\u0301 ऽ नया 你好 k\u093cya":  {"cafe\u0301", "नया", "k\u093cya"},
	} {
		prepared, words := PreparedWords(chunk)
		if plain := Prepared(chunk); prepared != plain {
			t.Errorf("%q: %q, prepared %q", chunk, prepared, plain)
		}
		var got []string
		for _, w := range words {
			got = append(got, chunk[w.From:w.To])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", chunk, got, want)
		}
	}
}

// TestPreparedWordsOfSentences: every part of a text with a letter has words, in its order, and they begin where words
// of prepared text do.
func TestPreparedWordsOfSentences(t *testing.T) {
	table, err := os.ReadFile("../translit/testdata/sentences.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.FieldsFuncSeq(string(table), func(r rune) bool { return r == '\t' || r == '\n' }) {
		prepared, words := PreparedWords(text)
		var parts []string
		at := 0
		for _, w := range words {
			if w.At > 0 && prepared[w.At-1] != ' ' || w.At > 0 && w.At < at || w.From >= w.To {
				t.Fatalf("%q: %+v of %q", text, w, prepared)
			}
			at = w.At + 1
			if part := text[w.From:w.To]; len(parts) == 0 || parts[len(parts)-1] != part {
				parts = append(parts, part)
			}
		}
		var want []string
		for part := range strings.FieldsSeq(text) {
			isRead := strings.ContainsFunc(part,
				func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
			if isRead && (len(want) == 0 || want[len(want)-1] != part) {
				want = append(want, part)
			}
		}
		if !slices.Equal(parts, want) {
			t.Errorf("%q: words of %q, want %q", text, parts, want)
		}
	}
}

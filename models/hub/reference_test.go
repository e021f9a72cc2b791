package hub

import (
	"strings"
	"testing"
)

func TestParseReference(t *testing.T) {
	for text, want := range map[string]Reference{
		"hf://o/r":                               {"o/r", "", ""},
		"hf://o/r@v1":                            {"o/r", "v1", ""},
		"hf://o/r@v1/a/b.wav":                    {"o/r", "v1", "a/b.wav"},
		"hf://o/r/a/b.wav@v1":                    {"o/r", "v1", "a/b.wav"},
		"hf://models/o/r/a/b.wav":                {"o/r", "", "a/b.wav"},
		"hf://o/r@refs%2Fpr%2F1/a":               {"o/r", "refs/pr/1", "a"},
		"hf://o/r/a%40b.wav@v1":                  {"o/r", "v1", "a@b.wav"},
		"hf://o/r.x_y-z":                         {"o/r.x_y-z", "", ""},
		"hf://" + strings.Repeat("o", 96) + "/r": {strings.Repeat("o", 96) + "/r", "", ""},
	} {
		if got, err := ParseReference(text); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "o/r", "hf://", "hf://o", "hf://o/", "hf:///r", "hf://o/r/../x", "hf://o/r/%2e%2e/x", "hf://o/r/a//b", "hf://o/r@", "hf://o/r@a b",
		"hf://../r", "hf://o/..", "hf://datasets/o/r", "hf://o/r/a%zz", `hf://o/r/a\b`, "hf://o/r@v..1", "hf://o/r/a@v1@v2/../x",
		"hf://" + strings.Repeat("o", 97) + "/r", "https://o/r",
	} {
		if got, err := ParseReference(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

func FuzzParseReference(f *testing.F) {
	for _, text := range []string{"hf://o/r", "hf://o/r@v1/a/b.wav", "hf://o/r/a%40b@refs%2Fpr%2F1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseReference(text)
		if err != nil {
			return
		}
		again, err := ParseReference(r.String())
		if err != nil || again != r {
			t.Errorf("%q is %+v, written %s, which is %+v, %v", text, r, r, again, err)
		}
	})
}

package tokenize

import (
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	tests := map[string]struct {
		text string
		want int
	}{
		"nothing":                           {"", 0},
		"white space":                       {" \t\n", 0},
		"one letter":                        {"a", 1},
		"four letters":                      {"abcd", 1},
		"five letters":                      {"abcde", 2},
		"eight letters":                     {"abcdefgh", 2},
		"combining marks are free":          {"क्षत्रिय", 2},
		"a mark alone is fed":               {"\u093e", 1},
		"punctuation counts":                {"हाँ, ठीक!", 4},
		"a hyphen counts":                   {"day-care", 3},
		"zero-width characters are nothing": {"a\u200bb", 1},
		"digits count as letters":           {"482913", 2},
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
	text := strings.Repeat("Aapka order कल तक, ", 20)
	if n := testing.AllocsPerRun(100, func() { Plain(text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPlain(b *testing.B) {
	text := strings.Repeat("Aapka order कल तक, ", 8)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Plain(text)
	}
}

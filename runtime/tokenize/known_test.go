package tokenize

import "testing"

func TestKnows(t *testing.T) {
	ab := []piece{{"▁", -1, normalPiece}, {"▁a", -1, normalPiece}, {"a", -1, normalPiece}, {"b.", -1, normalPiece},
		{"c", -1, controlPiece}}
	plain := load(t, crafted("unigram", nil, ab...))
	bytes := load(t, crafted("bpe", nil, append(allBytes(), ab...)...))
	unmarked := load(t, crafted("unigram", nil, piece{"a", -1, normalPiece}))
	tests := []struct {
		name string
		of   *SentencePiece
		text string
		want bool
	}{
		{"a piece", plain, "a", true},
		{"several pieces", plain, "ab.a", true},
		{"nothing", plain, "", true},
		{"a letter of no piece", plain, "d", false},
		{"half a piece", plain, ".", false},
		{"a letter of no piece among others", plain, "ada", false},
		{"what is only a name", plain, "c", false},
		{"bytes", bytes, "d", false},
		{"a piece beside bytes", bytes, "a", true},
		{"a piece where words have no mark", unmarked, "a", true},
	}
	for _, tt := range tests {
		if got := tt.of.Knows(tt.text); got != tt.want {
			t.Errorf("%s: Knows(%q) = %v, want %v", tt.name, tt.text, got, tt.want)
		}
	}
	if plain.ByteFallback() || !bytes.ByteFallback() {
		t.Errorf("ByteFallback is %v and %v, want false and true", plain.ByteFallback(), bytes.ByteFallback())
	}
}

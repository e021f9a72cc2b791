package text

import (
	"testing"

	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// TestWordsAreOneToken: a word that is several tokens would never be found.
func TestWordsAreOneToken(t *testing.T) {
	for word := range words.Current().All {
		if _, toks, _ := Scan(word); len(toks) != 3 {
			t.Errorf("%q is %d tokens, so no rule will ever find it", word, len(toks)-2)
		}
	}
}

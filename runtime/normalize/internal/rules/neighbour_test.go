package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// A word that is written otherwise than the lexicon looks it up, in capitals or too long, would never be found.
func TestLexiconKnowsNeighbourForms(t *testing.T) {
	for i := range neighbourForms {
		f := &neighbourForms[i]
		if !slices.Contains(words.LookUp(f.word).Beside, i) {
			t.Errorf("%q does not lead to %q, so nobody looks it up", f.word, f.full)
		}
		for w := range strings.FieldsSeq(f.full) {
			if !words.LookUp(w).Is(words.Expansion) {
				t.Errorf("%q is no expansion, so a text may have another language when it is read again", w)
			}
		}
	}
}

package normalize

import (
	"slices"
	"strings"
	"testing"
)

// A word that is written otherwise than the lexicon looks it up, in capitals or too long, would never be found.
func TestLexiconKnowsNeighbourForms(t *testing.T) {
	for i := range neighbourForms {
		f := &neighbourForms[i]
		if !slices.Contains(lookUp(f.word).beside, f) {
			t.Errorf("%q does not lead to %q, so nobody looks it up", f.word, f.full)
		}
		for w := range strings.FieldsSeq(f.full) {
			if !lookUp(w).is(expansion) {
				t.Errorf("%q is no expansion, so a text may have another language when it is read again", w)
			}
		}
	}
}

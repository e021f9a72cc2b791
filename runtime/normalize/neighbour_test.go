package normalize

import (
	"strings"
	"testing"
)

// The lexicon cannot be made of neighbourForms, whose functions look into it; so it lists their words itself.
func TestLexiconKnowsNeighbourForms(t *testing.T) {
	for _, f := range neighbourForms {
		if !lookUp(f.word).groups.has(shortBeside) {
			t.Errorf("%q is not in the group shortBeside, so nobody looks it up", f.word)
		}
		for w := range strings.FieldsSeq(f.full) {
			if !lookUp(w).is(expansion) {
				t.Errorf("%q is no expansion, so a text may have another language when it is read again", w)
			}
		}
	}
}

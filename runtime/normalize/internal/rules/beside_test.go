package rules

import (
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/normalize/internal/words"
)

// TestConditionsAreKnown holds the column "when" of short.tsv and the conditions together, both ways.
func TestConditionsAreKnown(t *testing.T) {
	asked := map[string]bool{}
	for word, e := range words.Current().All {
		for _, f := range e.Beside {
			for _, name := range f.When {
				if asked[name] = true; conditions[name] == nil {
					t.Errorf("short.tsv: %q asks for %s, which is no condition", word, name)
				}
			}
			for w := range strings.FieldsSeq(f.Full) {
				if !words.LookUp(w).Is(words.Expansion) && w[0] < 0x80 {
					t.Errorf("%q is no expansion, so a text may have another language when it is read again", w)
				}
			}
		}
	}
	for name := range conditions {
		if !asked[name] {
			t.Errorf("no row asks for the condition %s", name)
		}
	}
}

package normalize

import (
	"strings"
	"testing"
)

func TestEveryNeighbourFormIsMarked(t *testing.T) {
	for _, f := range neighbourForms {
		for w := range strings.FieldsSeq(f.words) {
			if !lookUp(w).groups.has(shortBeside) {
				t.Errorf("%q is not in the group shortBeside, so nobody looks it up", w)
			}
		}
	}
}

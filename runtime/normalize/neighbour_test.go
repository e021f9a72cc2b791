package normalize

import (
	"strings"
	"testing"
)

func TestEveryNeighbourFormIsMarked(t *testing.T) {
	for _, f := range neighbourForms {
		for w := range strings.FieldsSeq(f.words) {
			if !lookUp(w).beside {
				t.Errorf("%q is not in neighbourWords, so nobody looks it up", w)
			}
		}
	}
}

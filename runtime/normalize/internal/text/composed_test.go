package text

import (
	"testing"

	"golang.org/x/text/unicode/norm"
)

// TestComposedAgreesWithNFC: each character alone, and before a mark, is judged as by the general check.
// does.
func TestComposedAgreesWithNFC(t *testing.T) {
	for r := rune(1); r < 0x20000; r++ {
		if 0xd800 <= r && r < 0xe000 {
			continue
		}
		for _, s := range []string{string(r), string(r) + "\u0338", string(r) + "\u093c", "e" + string(r)} {
			if got, want := Composed(s), norm.NFC.IsNormalString(s); got != want {
				t.Errorf("%q (%U): composed is %v, want %v", s, r, got, want)
			}
		}
	}
}

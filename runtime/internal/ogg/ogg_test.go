package ogg

import "testing"

// TestChecksum compares with the published check value of this CRC (CRC-32/CKSUM without its last inversion).
func TestChecksum(t *testing.T) {
	for _, c := range []struct {
		page string
		want uint32
	}{
		{"", 0},
		{"123456789", 0x89a1897f},
	} {
		if got := Checksum([]byte(c.page)); got != c.want {
			t.Errorf("%q: %08x, want %08x", c.page, got, c.want)
		}
	}
}

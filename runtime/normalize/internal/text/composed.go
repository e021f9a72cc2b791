package text

import "golang.org/x/text/unicode/norm"

// Composed reports whether s is in NFC. It knows Devanagari, which the general check finds doubtful at every nukta.
func Composed(s string) bool {
	before := rune(0)
	for _, r := range s {
		switch {
		case r < 0x300, 0x1f300 <= r && r <= 0x1faff, 0x200b <= r && r <= 0x2027, isComposedSign(r):
		case r == '\u093c':
			switch before {
			case 'न', 'र', 'ळ', '\u094d', '\u093c', '\u0951', '\u0952', '\u0953', '\u0954':
				return norm.NFC.IsNormalString(s)
			}
		case 0x900 <= r && r <= 0x957 && !(0x951 <= r && r <= 0x954), 0x960 <= r && r <= 0x97f:
		default:
			return norm.NFC.IsNormalString(s)
		}
		before = r
	}
	return true
}

// isComposedSign reports whether r is a sign, a raised or lowered figure or a Greek letter that NFC leaves as it is.
func isComposedSign(r rune) bool {
	switch {
	case 0x391 <= r && r <= 0x3c9, 0x2030 <= r && r <= 0x205e, 0x2070 <= r && r <= 0x20cf:
		return true
	}
	return 0x2190 <= r && r <= 0x2328 || 0x232b <= r && r <= 0x2adb
}

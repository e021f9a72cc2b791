package voiceout

import "math/bits"

// Silence of the two laws, with which players fill up a last packet.
const (
	MuLawSilence = 0xFF
	ALawSilence  = 0xD5
)

// muLaw is µ-law of G.711: the sample as 14 bits in sign and magnitude, of which a segment of eight and four bits in
// it are kept. Where the 16 bits of a sample end between two values of 14, it decides as the widespread encoder of
// Sun does.
func muLaw(s int16) byte {
	const bias, most = 33, 8191 // the first segment then begins where the others do, and the last one ends with the law
	v, mask := int(s)>>2, byte(0xFF)
	if v < 0 {
		v, mask = -v, 0x7F
	}
	v = min(v+bias, most)
	segment := bits.Len(uint(v)) - 6
	return byte(segment<<4|v>>(segment+1)&15) ^ mask
}

// aLaw is A-law of G.711: the sample as 13 bits, of which a segment of eight and four bits in it are kept. Every
// other bit is inverted.
func aLaw(s int16) byte {
	v, mask := int(s)>>3, byte(0xD5)
	if v < 0 {
		v, mask = ^v, 0x55
	}
	segment := max(0, bits.Len(uint(v))-5)
	return byte(segment<<4|v>>max(1, segment)&15) ^ mask
}

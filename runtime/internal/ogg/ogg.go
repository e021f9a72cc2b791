// Package ogg has what readers and writers of Ogg pages (RFC 3533) share. It imports nothing of ours.
package ogg

// The flags of a page.
const (
	Continued = 1 // the page begins within a packet
	First     = 2 // of its stream
	Last      = 4 // of its stream
)

// The layout of a page.
const (
	HeaderSize  = 27 // bytes before the lacing values
	MaxSegments = 255
	ChecksumAt  = 22 // offset of the four bytes of the checksum, which are 0 while it is computed
)

// table is that of the CRC-32 with polynomial 0x04c11db7, most significant bit first, which hash/crc32 does not offer.
var table = func() (table [256]uint32) {
	for i := range table {
		r := uint32(i) << 24
		for range 8 {
			carry := r >> 31
			r = r<<1 ^ carry*0x04c11db7
		}
		table[i] = r
	}
	return table
}()

// Checksum is the CRC-32 of a whole page whose own checksum is 0.
func Checksum(page []byte) uint32 {
	var crc uint32
	for _, b := range page {
		crc = crc<<8 ^ table[byte(crc>>24)^b]
	}
	return crc
}

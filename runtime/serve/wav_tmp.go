package serve

import "encoding/binary"

// wavHeader stands in until package encode is there.
func wavHeader(n int) [44]byte {
	var h [44]byte
	copy(h[:], "RIFF....WAVEfmt ")
	binary.LittleEndian.PutUint32(h[4:], uint32(n+36))
	binary.LittleEndian.PutUint32(h[16:], 16)
	binary.LittleEndian.PutUint16(h[20:], 1)
	binary.LittleEndian.PutUint16(h[22:], 1)
	binary.LittleEndian.PutUint32(h[24:], 24000)
	binary.LittleEndian.PutUint32(h[28:], 48000)
	binary.LittleEndian.PutUint16(h[32:], 2)
	binary.LittleEndian.PutUint16(h[34:], 16)
	copy(h[36:], "data")
	binary.LittleEndian.PutUint32(h[40:], uint32(n))
	return h
}

package encode

import "encoding/binary"

// oggStream makes the pages of one logical Ogg stream (RFC 3533). The zero value with a serial number is ready.
type oggStream struct {
	serial   uint32
	sequence uint32
	segments []byte // lacing values of the page that is being filled
	body     []byte
}

// The flags of a page.
const (
	oggBOS = 2
	oggEOS = 4
)

const maxSegments = 255

// fits reports whether a packet of size bytes still fits on the page.
func (o *oggStream) fits(size int) bool { return len(o.segments)+size/255+1 <= maxSegments }

// add puts a packet, which must fit, on the page.
func (o *oggStream) add(packet []byte) {
	n := len(packet)
	for ; n >= 255; n -= 255 {
		o.segments = append(o.segments, 255)
	}
	o.segments = append(o.segments, byte(n))
	o.body = append(o.body, packet...)
}

// pending reports whether the page holds a packet.
func (o *oggStream) pending() bool { return len(o.segments) > 0 }

// flush appends the page to dst. granule is the position at its end.
func (o *oggStream) flush(dst []byte, granule int64, last bool) []byte {
	var flags byte
	if o.sequence == 0 {
		flags |= oggBOS
	}
	if last {
		flags |= oggEOS
	}
	start := len(dst)
	dst = append(dst, "OggS"...)
	dst = append(dst, 0, flags) // version
	dst = binary.LittleEndian.AppendUint64(dst, uint64(granule))
	dst = binary.LittleEndian.AppendUint32(dst, o.serial)
	dst = binary.LittleEndian.AppendUint32(dst, o.sequence)
	dst = append(dst, 0, 0, 0, 0) // checksum
	dst = append(dst, byte(len(o.segments)))
	dst = append(dst, o.segments...)
	dst = append(dst, o.body...)
	binary.LittleEndian.PutUint32(dst[start+22:], oggChecksum(dst[start:]))
	o.sequence++
	o.segments, o.body = o.segments[:0], o.body[:0]
	return dst
}

// oggTable is that of the CRC-32 with polynomial 0x04c11db7, most significant bit first, which hash/crc32 does not offer.
var oggTable = func() (table [256]uint32) {
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

func oggChecksum(page []byte) uint32 {
	var crc uint32
	for _, b := range page {
		crc = crc<<8 ^ oggTable[byte(crc>>24)^b]
	}
	return crc
}

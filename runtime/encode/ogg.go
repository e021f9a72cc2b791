package encode

import (
	"encoding/binary"

	"github.com/swar-tts/swar/runtime/internal/ogg"
)

// oggStream makes the pages of one logical Ogg stream (RFC 3533). The zero value with a serial number is ready.
type oggStream struct {
	serial   uint32
	sequence uint32
	segments []byte // lacing values of the page that is being filled
	body     []byte
}

// fits reports whether a packet of size bytes still fits on the page.
func (o *oggStream) fits(size int) bool { return len(o.segments)+size/255+1 <= ogg.MaxSegments }

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
		flags |= ogg.First
	}
	if last {
		flags |= ogg.Last
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
	binary.LittleEndian.PutUint32(dst[start+ogg.ChecksumAt:], ogg.Checksum(dst[start:]))
	o.sequence++
	o.segments, o.body = o.segments[:0], o.body[:0]
	return dst
}

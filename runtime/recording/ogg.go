package recording

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/swar-tts/swar/runtime/internal/ogg"
)

// oggPage is a page of an Ogg file (RFC 3533).
type oggPage struct {
	flags            byte
	granule          int64 // position at its end
	serial, sequence uint32
	lacing, body     []byte // valid until the next page
}

var errOggDamaged = errors.New("a damaged page")

// oggReader reads page by page.
type oggReader struct {
	in  *bufio.Reader
	buf [ogg.HeaderSize + ogg.MaxSegments + 255*ogg.MaxSegments]byte
}

// page returns the next page, and io.EOF where the file ends between two.
func (r *oggReader) page() (p oggPage, err error) {
	b := r.buf[:]
	if n, err := io.ReadFull(r.in, b[:ogg.HeaderSize]); err != nil {
		if n == 0 && err == io.EOF {
			return p, io.EOF
		}
		return p, errOggDamaged
	}
	segments := int(b[26])
	if string(b[:4]) != "OggS" || b[4] != 0 {
		return p, errOggDamaged
	}
	at := ogg.HeaderSize + segments
	if _, err := io.ReadFull(r.in, b[ogg.HeaderSize:at]); err != nil {
		return p, errOggDamaged
	}
	size := 0
	for _, v := range b[ogg.HeaderSize:at] {
		size += int(v)
	}
	if _, err := io.ReadFull(r.in, b[at:at+size]); err != nil {
		return p, errOggDamaged
	}
	want := binary.LittleEndian.Uint32(b[ogg.ChecksumAt:])
	clear(b[ogg.ChecksumAt : ogg.ChecksumAt+4])
	if ogg.Checksum(b[:at+size]) != want {
		return p, errOggDamaged
	}
	return oggPage{
		flags: b[5], granule: int64(binary.LittleEndian.Uint64(b[6:])), serial: binary.LittleEndian.Uint32(b[14:]),
		sequence: binary.LittleEndian.Uint32(b[18:]), lacing: b[ogg.HeaderSize:at], body: b[at : at+size],
	}, nil
}

// oggStream is the one stream of a file, packet by packet.
type oggStream struct {
	pages   oggReader
	serial  uint32
	next    uint32 // number of the next page
	partial []byte // of a packet that the next page goes on with
	open    bool   // whether there is such a packet
	ended   bool   // by a page that says so
}

// maxPacket is what is kept of a packet. Those with sound are smaller; comments may carry a picture, which nobody
// asks for.
const maxPacket = 1 << 16

// first begins a stream and returns its first packet.
func (o *oggStream) first() ([]byte, error) {
	p, err := o.pages.page()
	if err != nil || p.flags&ogg.First == 0 {
		return nil, errors.New("it is damaged: it does not begin with a whole page")
	}
	o.serial, o.next = p.serial, p.sequence
	packets, err := o.packets(p)
	if err != nil || len(packets) != 1 {
		return nil, errors.New("it is damaged: its first page holds no packet")
	}
	return packets[0], nil
}

var errChained = fmt.Errorf("it has several streams one after the other (chained Ogg): join them first, such as with %s",
	command("recording"))

// more returns the packets that end on the next page of the stream, and that page's position. It returns io.EOF at
// the end.
func (o *oggStream) more() (packets [][]byte, granule int64, err error) {
	for {
		p, err := o.pages.page()
		switch {
		case o.ended && (err != nil || p.flags&ogg.First == 0):
			return nil, 0, io.EOF // what follows the end is not asked for
		case err != nil:
			return nil, 0, err
		case p.flags&ogg.First != 0:
			return nil, 0, errChained
		case p.serial != o.serial:
			continue
		}
		packets, err := o.packets(p)
		return packets, p.granule, err
	}
}

// packets returns the packets that end on p.
func (o *oggStream) packets(p oggPage) (packets [][]byte, err error) {
	if p.sequence != o.next || o.open != (p.flags&ogg.Continued != 0) {
		return nil, fmt.Errorf("page %d is missing", o.next)
	}
	o.next++
	o.ended = p.flags&ogg.Last != 0
	body := p.body
	for _, n := range p.lacing {
		room := max(0, maxPacket-len(o.partial))
		o.partial = append(o.partial, body[:min(int(n), room)]...)
		body = body[n:]
		if o.open = n == 255; !o.open {
			packets = append(packets, o.partial)
			o.partial = nil
		}
	}
	return packets, nil
}

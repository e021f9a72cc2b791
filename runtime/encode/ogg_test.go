package encode

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
)

// page is a page of Ogg as a reader sees it.
type page struct {
	flags    byte
	granule  int64
	serial   uint32
	sequence uint32
	packets  [][]byte
}

// stream is a whole Ogg/Opus stream.
type stream struct {
	pages   []page
	packets [][]byte // of audio
	preSkip int64
}

// parse reads an Ogg stream as RFC 3533 has it. Its checksum is worked out bit by bit, so that it shares nothing with
// the writer's.
func parse(t testing.TB, b []byte) stream {
	t.Helper()
	var s stream
	for len(b) > 0 {
		if len(b) < 27 || string(b[:4]) != "OggS" || b[4] != 0 {
			t.Fatalf("page %d: no page begins with %x", len(s.pages), b[:min(len(b), 27)])
		}
		p := page{
			flags:    b[5],
			granule:  int64(binary.LittleEndian.Uint64(b[6:])),
			serial:   binary.LittleEndian.Uint32(b[14:]),
			sequence: binary.LittleEndian.Uint32(b[18:]),
		}
		lacing := b[27 : 27+int(b[26])]
		body := b[27+len(lacing):]
		end := 27 + len(lacing)
		var packet []byte
		for _, n := range lacing {
			packet = append(packet, body[:n]...)
			body = body[n:]
			end += int(n)
			if n < 255 {
				p.packets = append(p.packets, packet)
				packet = nil
			}
		}
		if packet != nil {
			t.Fatalf("page %d ends inside a packet", len(s.pages))
		}
		raw := bytes.Clone(b[:end])
		copy(raw[22:26], []byte{0, 0, 0, 0})
		if got, want := binary.LittleEndian.Uint32(b[22:]), bitwiseCRC(raw); got != want {
			t.Fatalf("page %d has checksum %08x, want %08x", len(s.pages), got, want)
		}
		s.pages = append(s.pages, p)
		b = b[end:]
	}
	if len(s.pages) < 3 {
		t.Fatalf("%d pages, want two of headers and at least one of audio", len(s.pages))
	}
	for _, p := range s.pages[2:] {
		s.packets = append(s.packets, p.packets...)
	}
	if head := s.pages[0].packets[0]; len(head) == 19 {
		s.preSkip = int64(binary.LittleEndian.Uint16(head[10:]))
	}
	return s
}

func bitwiseCRC(b []byte) uint32 {
	var crc uint32
	for _, v := range b {
		for i := 7; i >= 0; i-- {
			bit := uint32(v>>i)&1 ^ crc>>31
			crc = crc<<1 ^ bit*0x04c11db7
		}
	}
	return crc
}

// check holds the stream of so many samples to RFC 7845.
func (s stream) check(t testing.TB, samples int) {
	t.Helper()
	const flagBOS, flagEOS = 2, 4
	last := len(s.pages) - 1
	decoded := int64(0) // granules that the packets so far decode to
	for i, p := range s.pages {
		var flags byte
		switch i {
		case 0:
			flags = flagBOS
		case last:
			flags = flagEOS
		}
		if p.flags != flags || p.sequence != uint32(i) || p.serial != s.pages[0].serial {
			t.Errorf("page %d: flags %d, number %d, serial %d; want %d, %d, %d", i, p.flags, p.sequence, p.serial,
				flags, i, s.pages[0].serial)
		}
		if len(p.packets) == 0 || i < 2 && (len(p.packets) != 1 || p.granule != 0) {
			t.Errorf("page %d: %d packets at %d", i, len(p.packets), p.granule)
		}
		if i < 2 {
			continue
		}
		for j, packet := range p.packets {
			if d := granules(packet); d != 960 {
				t.Fatalf("page %d: packet %d decodes to %d granules, want 960", i, j, d)
			}
			decoded += 960
		}
		want := decoded
		if i == last {
			want = 2*int64(samples) + s.preSkip
			if want > decoded || want <= decoded-960 {
				t.Errorf("the stream ends at granule %d, which is not in its last packet, %d to %d", want,
					decoded-960, decoded)
			}
		}
		if p.granule != want {
			t.Errorf("page %d of %d ends at granule %d, want %d", i, len(s.pages), p.granule, want)
		}
	}
	head, tags := s.pages[0].packets[0], s.pages[1].packets[0]
	wantHead := []byte("OpusHead\x01\x01\x38\x01\xc0\x5d\x00\x00\x00\x00\x00") // pre-skip 312, rate 24000
	if !bytes.Equal(head, wantHead) {
		t.Errorf("OpusHead = %x, want %x", head, wantHead)
	}
	vendor := OpusVersion()
	wantTags := append([]byte("OpusTags"), byte(len(vendor)), 0, 0, 0)
	wantTags = append(append(wantTags, vendor...), "\x03\x00\x00\x00\x0c\x00\x00\x00ENCODER=swar"...)
	wantTags = append(wantTags, "\x0b\x00\x00\x00SYNTHETIC=1\x09\x00\x00\x00MODEL=क"...)
	if !bytes.Equal(tags, wantTags) {
		t.Errorf("OpusTags = %q, want %q", tags, wantTags)
	}
}

// granules returns how many samples at 48 kHz a packet of one mono frame decodes to (RFC 6716, section 3.1), or -1.
func granules(packet []byte) int {
	if len(packet) == 0 || packet[0]&7 != 0 { // stereo, or more than one frame
		return -1
	}
	switch config := packet[0] >> 3; {
	case config < 12:
		return []int{480, 960, 1920, 2880}[config&3]
	case config < 16:
		return []int{480, 960}[config&1]
	default:
		return []int{120, 240, 480, 960}[config&3]
	}
}

func TestPagesHoldPacketsOfAnySize(t *testing.T) {
	tests := map[string]struct {
		packets []int // sizes
		want    int   // pages
	}{
		"an empty packet":                   {[]int{0}, 1},
		"one below a full segment":          {[]int{254}, 1},
		"a full segment":                    {[]int{255}, 1},
		"one above":                         {[]int{256}, 1},
		"two full segments":                 {[]int{510}, 1},
		"as many as a page takes":           {make([]int, 255), 1},
		"one more":                          {make([]int, 256), 2},
		"a large one that no longer fits":   {append(make([]int, 254), 255), 2},
		"a large one that just fits":        {append(make([]int, 253), 255), 1},
		"the largest packets of Opus, many": {slices.Repeat([]int{maxPacket}, 100), 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := oggStream{serial: 9}
			var out []byte
			var packets [][]byte
			pages := 1
			for i, n := range tt.packets {
				packet := bytes.Repeat([]byte{byte(i)}, n)
				packets = append(packets, packet)
				if !o.fits(n) {
					out = o.flush(out, int64(i), false)
					pages++
				}
				o.add(packet)
			}
			out = o.flush(out, int64(len(packets)), true)
			if pages != tt.want {
				t.Errorf("%d pages, want %d", pages, tt.want)
			}
			// The parser wants header pages first.
			lead := oggStream{serial: 9}
			lead.add([]byte("one"))
			front := lead.flush(nil, 0, false)
			lead.add([]byte("two"))
			front = lead.flush(front, 0, false)
			got := parse(t, append(front, out...)).packets
			if len(got) != len(packets) {
				t.Fatalf("%d packets, want %d", len(got), len(packets))
			}
			for i := range got {
				if !bytes.Equal(got[i], packets[i]) {
					t.Errorf("packet %d came back as %d bytes, want %d", i, len(got[i]), len(packets[i]))
				}
			}
		})
	}
}

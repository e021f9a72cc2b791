package recording

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// opusRate is what Opus counts in and what is decoded, whatever was recorded.
const opusRate = 48000

// opusLongest is the longest sound of a packet, 120 ms.
const opusLongest = opusRate * 120 / 1000

// opusHead is the header of Opus in Ogg (RFC 7845, section 5.1).
type opusHead struct {
	channels, preSkip int
	recorded          int // Hz; 0 is unknown
	gain              float32
}

func readOpusHead(b []byte) (h opusHead, err error) {
	const size = 19
	if len(b) < size || string(b[:8]) != "OpusHead" || b[8]&0xf0 != 0 {
		return h, errors.New("it is damaged: its header is not of Opus")
	}
	h.channels, h.preSkip = int(b[9]), int(binary.LittleEndian.Uint16(b[10:]))
	h.recorded = int(binary.LittleEndian.Uint32(b[12:]))
	h.gain = float32(math.Pow(10, float64(int16(binary.LittleEndian.Uint16(b[16:])))/256/20))
	if family := b[18]; family != 0 {
		return h, otherKind(fmt.Sprintf("%d channels in family %d", h.channels, family))
	}
	if h.channels != 1 && h.channels != 2 {
		return h, fmt.Errorf("it is damaged: it has %d channels, want 1 or 2", h.channels)
	}
	return h, nil
}

// opusSound is a stream of Opus on its way into a sound.
type opusSound struct {
	to      *sound
	head    opusHead
	decoder *libopus
	skip    int   // frames before the sound begins
	decoded int64 // frames
	start   int64 // position of the first frame; known once placed
	placed  bool
	page    []float32 // sound of a page
}

// decodeOpus decodes a file of one stream of Opus, as voice notes of messengers are.
func decodeOpus(s *sound, r io.Reader) error {
	stream := &oggStream{pages: oggReader{in: bufio.NewReaderSize(r, 1<<16)}}
	first, err := stream.first()
	if err != nil {
		return err
	}
	head, err := readOpusHead(first)
	if err != nil {
		return err
	}
	if err := s.begin(opusRate, head.channels, 16); err != nil {
		return err
	}
	s.recordedRate = head.recorded
	decoder, err := newLibopus(head.channels)
	if err != nil {
		return err
	}
	defer decoder.free()
	o := &opusSound{to: s, head: head, decoder: decoder, skip: head.preSkip}
	comments := true // the second packet
	for {
		packets, granule, err := stream.more()
		if comments && len(packets) > 0 {
			packets, comments = packets[1:], false
		}
		switch {
		case err == io.EOF && stream.ended:
			return nil
		case err == io.EOF:
			s.broken = "its last page is missing"
			return nil
		case errors.Is(err, errChained) && comments:
			return otherKind("several streams side by side")
		case errors.Is(err, errChained), err != nil && s.frames == 0:
			return err
		case err != nil:
			s.broken = err.Error()
			return nil
		}
		if err := o.add(packets, granule, stream.ended); err != nil || s.broken != "" {
			return err
		}
	}
}

// add decodes the packets of a page. The position at the end of the last page says where the sound ends within its
// last packet.
func (o *opusSound) add(packets [][]byte, granule int64, last bool) error {
	before, channels := o.decoded, o.head.channels
	o.page = o.page[:0]
	for _, p := range packets {
		at := len(o.page)
		o.page = append(o.page, make([]float32, opusLongest*channels)...)
		n, err := o.decoder.decode(o.page[at:], p)
		if err != nil {
			o.to.broken = err.Error()
		}
		o.page = o.page[:at+n*channels]
		o.decoded += int64(n)
		if err != nil {
			break
		}
	}
	if !o.placed && len(packets) > 0 && granule >= 0 {
		o.placed = true
		o.start = max(0, granule-o.decoded) // the beginning of a stream may have been cut off; its positions were not
	}
	if last && granule >= 0 {
		o.page = o.page[:channels*int(max(0, min(o.decoded, granule-o.start)-before))]
	}
	skipped := min(o.skip, len(o.page)/channels)
	o.skip -= skipped
	for i := range o.page {
		o.page[i] *= o.head.gain
	}
	return o.to.add(o.page[skipped*channels:])
}

package encode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/swar-tts/swar/runtime/speech"
)

const (
	packetSamples = speech.SampleRate / 50 // 20 ms
	// of one packet: granule positions count samples at 48 kHz (RFC 7845, section 4)
	granulesEach = 960
	granuleRate  = 48000 / speech.SampleRate
)

// maxPacket is the largest packet that one frame of Opus can become: its header and 1275 bytes (RFC 6716, section 3.4).
const maxPacket = 1276

// opus writes an Ogg/Opus stream as RFC 7845 describes it. Each block becomes pages of its own, so that a reader can
// play what it has; the first block leaves together with the header pages.
type opus struct {
	w   io.Writer
	lib *libopus
	ogg oggStream
	err error

	samples int64 // put in, at 24 kHz
	packets int64 // put out
	preSkip int64 // granules that a decoder drops at the start
	fill    int   // samples in block
	block   [packetSamples]int16
	packet  []byte
	out     []byte // pages of the current Write
}

func newOpus(w io.Writer, o Options) (*opus, error) {
	if o.OpusBitrate == 0 {
		o.OpusBitrate = 48_000
	}
	if o.OpusComplexity == 0 {
		o.OpusComplexity = 5
	}
	if o.OpusBitrate < 6_000 || o.OpusBitrate > 510_000 { // which libopus would not refuse but bend
		return nil, fmt.Errorf("opus: bit rate %d is not in 6,000 to 510,000", o.OpusBitrate)
	}
	lib, err := newLibopus(o.OpusBitrate, o.OpusComplexity)
	if err != nil {
		return nil, err
	}
	lookahead, err := lib.lookahead()
	if err != nil {
		lib.free()
		return nil, err
	}
	e := &opus{w: w, lib: lib, preSkip: int64(lookahead * granuleRate)}
	// Streams that a client stores one behind the other form a chain, whose links must have different serial numbers
	// (RFC 3533).
	e.ogg.serial = rand.Uint32()
	e.putHeaders(append([]string{"ENCODER=swar"}, o.Tags...))
	return e, nil
}

func (e *opus) Write(samples []int16) error {
	if e.err != nil {
		return e.err
	}
	e.samples += int64(len(samples))
	for len(samples) > 0 {
		n := copy(e.block[e.fill:], samples)
		samples, e.fill = samples[n:], e.fill+n
		if e.fill == packetSamples {
			if e.err = e.encode(); e.err != nil {
				return e.err
			}
		}
	}
	if e.ogg.pending() {
		e.out = e.ogg.flush(e.out, e.packets*granulesEach, false)
		e.err = e.flush()
	}
	return e.err
}

// Close flushes the encoder with silence and ends the stream at exactly the last sample.
func (e *opus) Close() error {
	defer e.lib.free()
	if e.err != nil {
		if errors.Is(e.err, errClosed) {
			return nil
		}
		return e.err
	}
	end := e.samples*granuleRate + e.preSkip
	for e.packets*granulesEach < end {
		clear(e.block[e.fill:])
		if e.err = e.encode(); e.err != nil {
			return e.err
		}
	}
	e.out = e.ogg.flush(e.out, end, true)
	if e.err = e.flush(); e.err != nil {
		return e.err
	}
	e.err = errClosed
	return nil
}

// encode turns the full block into a packet of the page that is being filled.
func (e *opus) encode() error {
	packet, err := e.lib.encode(e.packet[:0], &e.block)
	if err != nil {
		return err
	}
	e.packet, e.fill = packet, 0
	if !e.ogg.fits(len(packet)) {
		e.out = e.ogg.flush(e.out, e.packets*granulesEach, false)
	}
	e.ogg.add(packet)
	e.packets++
	return nil
}

func (e *opus) flush() error {
	err := write(e.w, e.out)
	e.out = e.out[:0]
	return err
}

// putHeaders prepares the two header pages: each stands alone (RFC 7845, section 3).
func (e *opus) putHeaders(comments []string) {
	head := append([]byte("OpusHead"), 1, 1) // version, channels
	head = binary.LittleEndian.AppendUint16(head, uint16(e.preSkip))
	head = binary.LittleEndian.AppendUint32(head, speech.SampleRate)
	head = append(head, 0, 0, 0) // output gain, channel mapping family
	e.ogg.add(head)
	e.out = e.ogg.flush(e.out, 0, false)

	tags := []byte("OpusTags")
	text := func(s string) {
		tags = binary.LittleEndian.AppendUint32(tags, uint32(len(s)))
		tags = append(tags, s...)
	}
	text(OpusVersion())
	tags = binary.LittleEndian.AppendUint32(tags, uint32(len(comments)))
	for _, c := range comments {
		text(c)
	}
	e.ogg.add(tags)
	e.out = e.ogg.flush(e.out, 0, false)
}

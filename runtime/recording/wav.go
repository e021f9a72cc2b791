package recording

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// wavFormat is the format chunk of a RIFF file.
type wavFormat struct {
	kind           uint16
	rate, channels int
	width          int // bytes of a sample
	bits           int
}

// The kinds of samples that are read.
const (
	wavPCM        = 1
	wavFloat      = 3
	wavALaw       = 6
	wavMuLaw      = 7
	wavExtensible = 0xfffe
)

var errWAV = errors.New("it is damaged: it ends before its sound begins")

// decodeWAV reads a RIFF file chunk by chunk. Sizes in it may lie: what counts is what is there.
func decodeWAV(s *sound, r io.Reader) error {
	in := bufio.NewReaderSize(r, 1<<16)
	if _, err := in.Discard(12); err != nil {
		return errWAV
	}
	var f *wavFormat
	for {
		var h [8]byte
		if _, err := io.ReadFull(in, h[:]); err != nil {
			return errWAV
		}
		id, size := string(h[:4]), int64(binary.LittleEndian.Uint32(h[4:]))
		switch id {
		case "fmt ":
			body := make([]byte, min(size, 40))
			if _, err := io.ReadFull(in, body); err != nil {
				return errWAV
			}
			var err error
			if f, err = readWAVFormat(body); err != nil {
				return err
			}
			size -= int64(len(body))
			size += size & 1
		case "data":
			if f == nil {
				return errors.New("it is damaged: its sound comes before its format")
			}
			return f.decode(s, in, size)
		default:
			size += size & 1 // chunks begin at even places
		}
		if n, err := io.CopyN(io.Discard, in, size); n < size && err != nil {
			return errWAV
		}
	}
}

func readWAVFormat(b []byte) (*wavFormat, error) {
	const (
		plain       = 16 // bytes
		subformatAt = 24
	)
	if len(b) < plain {
		return nil, fmt.Errorf("it is damaged: its format takes %d bytes, want %d", len(b), plain)
	}
	f := &wavFormat{
		kind: binary.LittleEndian.Uint16(b), channels: int(binary.LittleEndian.Uint16(b[2:])),
		rate: int(binary.LittleEndian.Uint32(b[4:])), bits: int(binary.LittleEndian.Uint16(b[14:])),
	}
	if f.kind == wavExtensible && len(b) >= subformatAt+2 {
		f.kind = binary.LittleEndian.Uint16(b[subformatAt:])
	}
	if f.channels == 0 {
		return nil, errors.New("it is damaged: it has 0 channels")
	}
	align := int(binary.LittleEndian.Uint16(b[12:]))
	f.width = align / f.channels
	isInteger := f.kind == wavPCM && f.width >= 1 && f.width <= 4
	isFloat := f.kind == wavFloat && (f.width == 4 || f.width == 8)
	isLaw := (f.kind == wavALaw || f.kind == wavMuLaw) && f.width == 1
	fits := align == f.width*f.channels && f.width == (f.bits+7)/8
	switch {
	case !isInteger && !isFloat && !isLaw:
		return nil, otherKind(fmt.Sprintf("samples of %d bits and kind %d", f.bits, f.kind))
	case !fits:
		return nil, fmt.Errorf("it is damaged: %d channels of %d bits in %d bytes", f.channels, f.bits, align)
	}
	return f, nil
}

func (f *wavFormat) name() string {
	switch f.kind {
	case wavFloat:
		return fmt.Sprintf("WAV, %d bits floating point", f.bits)
	case wavALaw:
		return "WAV, A-law"
	case wavMuLaw:
		return "WAV, µ-law"
	}
	return fmt.Sprintf("WAV, %d bits", f.bits)
}

// decode reads samples up to the announced size or the end of the file. Who writes to a pipe announces nothing or
// the most there is.
func (f *wavFormat) decode(s *sound, in *bufio.Reader, size int64) error {
	if err := s.begin(f.rate, f.channels, f.bits); err != nil {
		return err
	}
	if s.format == "WAV" {
		s.format = f.name()
	}
	unknown := size == 0 || size >= math.MaxUint32-1
	if unknown {
		size = math.MaxInt64
	}
	frame := f.width * f.channels
	raw, samples := make([]byte, 4096*frame), make([]float32, 4096*f.channels)
	left := size
	for left >= int64(frame) {
		n, err := io.ReadFull(in, raw[:min(left/int64(frame)*int64(frame), int64(len(raw)))])
		whole := n / frame * frame
		f.samples(samples, raw[:whole])
		if err := s.add(samples[:whole/f.width]); err != nil {
			return err
		}
		left -= int64(n)
		switch {
		case err == nil:
		case err != io.EOF && err != io.ErrUnexpectedEOF:
			return err
		case !unknown:
			s.broken = fmt.Sprintf("%d bytes of sound of %d", size-left, size)
			return nil
		default:
			return nil
		}
	}
	return nil
}

// samples writes the samples in raw, where full scale is 1.
func (f *wavFormat) samples(dst []float32, raw []byte) {
	n := len(raw) / f.width
	le := binary.LittleEndian
	for i := range n {
		b := raw[i*f.width:]
		switch {
		case f.kind == wavALaw:
			dst[i] = float32(aLaw(b[0])) / (1 << 15)
		case f.kind == wavMuLaw:
			dst[i] = float32(muLaw(b[0])) / (1 << 15)
		case f.kind == wavFloat && f.width == 4:
			dst[i] = math.Float32frombits(le.Uint32(b))
		case f.kind == wavFloat:
			dst[i] = float32(math.Float64frombits(le.Uint64(b)))
		case f.width == 1:
			dst[i] = (float32(b[0]) - 128) / 128
		case f.width == 2:
			dst[i] = float32(int16(le.Uint16(b))) / (1 << 15)
		case f.width == 3:
			dst[i] = float32(int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24)) / (1 << 31)
		default:
			dst[i] = float32(int32(le.Uint32(b))) / (1 << 31)
		}
	}
}

// aLaw and muLaw return 16 bits of a sample of a telephone (ITU-T G.711).
func aLaw(b byte) int {
	b ^= 0x55
	v, segment := int(b&0x0f)<<4+8, int(b>>4&7)
	if segment > 0 {
		v = (v + 0x100) << (segment - 1)
	}
	if b&0x80 == 0 {
		return -v
	}
	return v
}

func muLaw(b byte) int {
	const bias = 0x84
	b = ^b
	v := (int(b&0x0f)<<3+bias)<<(b>>4&7) - bias
	if b&0x80 != 0 {
		return -v
	}
	return v
}

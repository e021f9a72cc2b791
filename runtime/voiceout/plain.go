package voiceout

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/swar-tts/swar/runtime/wav"
)

// plain writes samples one by one, behind a header if there is one.
type plain struct {
	header []byte // nil once written
	encode func(dst []byte, samples []int16) []byte
}

func (p *plain) write(dst []byte, samples []int16) ([]byte, error) {
	return p.encode(p.putHeader(dst), samples), nil
}

func (p *plain) close(dst []byte) ([]byte, error) { return p.putHeader(dst), nil }

func (p *plain) putHeader(dst []byte) []byte {
	dst = append(dst, p.header...)
	p.header = nil
	return dst
}

var encoders = map[Encoding]func(dst []byte, samples []int16) []byte{
	S16: func(dst []byte, samples []int16) []byte {
		dst, room := grow(dst, 2*len(samples))
		for i, s := range samples {
			binary.LittleEndian.PutUint16(room[2*i:], uint16(s))
		}
		return dst
	},
	F32: func(dst []byte, samples []int16) []byte {
		dst, room := grow(dst, 4*len(samples))
		for i, s := range samples {
			binary.LittleEndian.PutUint32(room[4*i:], math.Float32bits(float32(s)/32768))
		}
		return dst
	},
	MuLaw: func(dst []byte, samples []int16) []byte {
		dst, room := grow(dst, len(samples))
		for i, s := range samples {
			room[i] = muLaw(s)
		}
		return dst
	},
	ALaw: func(dst []byte, samples []int16) []byte {
		dst, room := grow(dst, len(samples))
		for i, s := range samples {
			room[i] = aLaw(s)
		}
		return dst
	},
}

// grow returns dst with n bytes more, and these.
func grow(dst []byte, n int) (grown, room []byte) {
	grown = slices.Grow(dst, n)[:len(dst)+n]
	return grown, grown[len(dst):]
}

// sound is what the header of a WAV says.
func (f Format) sound() wav.Sound {
	s := wav.Sound{Tag: wav.PCM, Bits: 16, Rate: uint32(f.Rate)}
	switch f.Encoding {
	case F32:
		s.Tag, s.Bits = wav.Float, 32
	case MuLaw:
		s.Tag, s.Bits = wav.MuLaw, 8
	case ALaw:
		s.Tag, s.Bits = wav.ALaw, 8
	}
	return s
}

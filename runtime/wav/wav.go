// Package wav writes the header of WAV files. It stands apart from the encoders, so that programs which only pass audio
// on need no codec library.
package wav

import (
	"encoding/binary"
	"strings"
)

// Streaming stands for an unknown length: players read on until the stream ends.
const Streaming = 0xFFFFFFFF

// HeaderBytes is the length of the header of samples in linear PCM, without tags.
const HeaderBytes = 44

// The format tags of a [Sound].
const (
	PCM   = 1
	Float = 3
	ALaw  = 6
	MuLaw = 7
)

// A Sound says what the mono samples behind a header are.
type Sound struct {
	Tag  uint16 // PCM, Float, ALaw or MuLaw
	Bits uint16 // of one sample
	Rate uint32 // samples per second
}

// native is what the service speaks.
var native = Sound{Tag: PCM, Bits: 16, Rate: 24_000}

// Header returns the RIFF header of dataBytes bytes of 24 kHz mono s16le samples. With [Streaming] both sizes in it are
// 0xFFFFFFFF.
func Header(dataBytes uint32) [HeaderBytes]byte {
	var h [HeaderBytes]byte
	native.AppendHeader(h[:0], dataBytes)
	return h
}

// HeaderWithTags is Header with a LIST chunk of the type INFO before the samples. It has the software as ISFT, and
// tags as the comment ICMT. It is longer than readers expect that skip 44 bytes.
func HeaderWithTags(dataBytes uint32, tags []string) []byte {
	info := []byte("INFO")
	for _, field := range []struct{ id, text string }{{"ISFT", "swar"}, {"ICMT", strings.Join(tags, "; ")}} {
		info = append(info, field.id...)
		info = binary.LittleEndian.AppendUint32(info, uint32(len(field.text)+1))
		info = append(info, field.text...)
		info = append(info, 0)
		if len(info)%2 != 0 {
			info = append(info, 0) // chunks begin at even places
		}
	}
	return native.append(nil, dataBytes, info)
}

// AppendHeader appends the header for dataBytes bytes of samples. It has 44 bytes for PCM and 58 for others, whose
// format has an empty extension and whose samples a chunk "fact" counts. With [Streaming] all lengths in it are
// 0xFFFFFFFF.
func (s Sound) AppendHeader(b []byte, dataBytes uint32) []byte { return s.append(b, dataBytes, nil) }

// SetLengths writes the real lengths into the header of a file that was written as a stream. The file has size bytes.
// It reports whether there was a header. It needs no more of the file than its header.
func SetLengths(file []byte, size int) bool {
	if len(file) < HeaderBytes || string(file[:4]) != "RIFF" || string(file[8:12]) != "WAVE" {
		return false
	}
	bytesEach, fact := uint32(1), -1
	for at := 12; at+8 <= len(file); {
		length := binary.LittleEndian.Uint32(file[at+4:])
		switch id := string(file[at : at+4]); {
		case id == "data":
			data := uint32(size - at - 8)
			binary.LittleEndian.PutUint32(file[4:], uint32(size-8))
			binary.LittleEndian.PutUint32(file[at+4:], data)
			if fact >= 0 {
				binary.LittleEndian.PutUint32(file[fact:], data/bytesEach)
			}
			return true
		case uint64(length) > uint64(len(file)-at-8):
			return false
		case id == "fmt " && length >= 16:
			bytesEach = max(1, uint32(binary.LittleEndian.Uint16(file[at+20:])))
		case id == "fact" && length >= 4:
			fact = at + 8
		}
		at += 8 + int(length+length%2)
	}
	return false
}

func (s Sound) append(b []byte, dataBytes uint32, info []byte) []byte {
	start := len(b)
	b = append(b, "RIFF\xff\xff\xff\xffWAVEfmt "...)
	extended := s.Tag != PCM
	if extended {
		b = binary.LittleEndian.AppendUint32(b, 18)
	} else {
		b = binary.LittleEndian.AppendUint32(b, 16)
	}
	bytesEach := uint32(s.Bits / 8)
	b = binary.LittleEndian.AppendUint16(b, s.Tag)
	b = binary.LittleEndian.AppendUint16(b, 1) // channels
	b = binary.LittleEndian.AppendUint32(b, s.Rate)
	b = binary.LittleEndian.AppendUint32(b, bytesEach*s.Rate)
	b = binary.LittleEndian.AppendUint16(b, uint16(bytesEach))
	b = binary.LittleEndian.AppendUint16(b, s.Bits)
	if extended {
		b = binary.LittleEndian.AppendUint16(b, 0) // bytes of extension
		b = append(b, "fact"...)
		b = binary.LittleEndian.AppendUint32(b, 4)
		samples := dataBytes / bytesEach
		if dataBytes == Streaming {
			samples = Streaming
		}
		b = binary.LittleEndian.AppendUint32(b, samples)
	}
	if len(info) > 0 {
		b = append(b, "LIST"...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(info)))
		b = append(b, info...)
	}
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, dataBytes)
	if dataBytes != Streaming {
		binary.LittleEndian.PutUint32(b[start+4:], dataBytes+uint32(len(b)-start)-8)
	}
	return b
}

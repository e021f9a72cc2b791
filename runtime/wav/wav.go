// Package wav writes the header of WAV files. It stands apart from the encoders, so that programs which only pass audio
// on need no codec library.
package wav

import (
	"encoding/binary"
	"strings"

	"github.com/swar-tts/swar/runtime/speech"
)

// Streaming stands for an unknown length: players read on until the stream ends.
const Streaming = 0xFFFFFFFF

// HeaderBytes is the length of a header.
const HeaderBytes = 44

// Header returns the RIFF header of so many bytes of 24 kHz mono s16le samples. With [Streaming] both sizes in it are
// 0xFFFFFFFF.
func Header(dataBytes uint32) [HeaderBytes]byte {
	riff := dataBytes + HeaderBytes - 8
	if dataBytes == Streaming {
		riff = Streaming
	}
	var h [HeaderBytes]byte
	putData(putFormat(h[:0], riff), dataBytes)
	return h
}

// HeaderWithTags is Header with a LIST chunk of the type INFO before the samples: software ISFT, and tags as the comment
// ICMT. It is longer than readers expect that skip 44 bytes.
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
	riff := dataBytes + uint32(HeaderBytes+len("LIST")+4+len(info)) - 8
	if dataBytes == Streaming {
		riff = Streaming
	}
	b := putFormat(nil, riff)
	b = append(b, "LIST"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(info)))
	return putData(append(b, info...), dataBytes)
}

func putFormat(b []byte, riff uint32) []byte {
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, riff)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16) // size of the format chunk
	b = binary.LittleEndian.AppendUint16(b, 1)  // PCM
	b = binary.LittleEndian.AppendUint16(b, 1)  // channels
	b = binary.LittleEndian.AppendUint32(b, speech.SampleRate)
	b = binary.LittleEndian.AppendUint32(b, 2*speech.SampleRate) // bytes per second
	b = binary.LittleEndian.AppendUint16(b, 2)                   // bytes per sample
	return binary.LittleEndian.AppendUint16(b, 16)               // bits per sample
}

func putData(b []byte, dataBytes uint32) []byte {
	return binary.LittleEndian.AppendUint32(append(b, "data"...), dataBytes)
}

// Package wav writes the header of WAV files. It stands apart from the encoders, so that programs which only pass audio
// on need no codec library.
package wav

import (
	"encoding/binary"

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
	b := h[:0]
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, riff)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16) // size of the format chunk
	b = binary.LittleEndian.AppendUint16(b, 1)  // PCM
	b = binary.LittleEndian.AppendUint16(b, 1)  // channels
	b = binary.LittleEndian.AppendUint32(b, speech.SampleRate)
	b = binary.LittleEndian.AppendUint32(b, 2*speech.SampleRate) // bytes per second
	b = binary.LittleEndian.AppendUint16(b, 2)                   // bytes per sample
	b = binary.LittleEndian.AppendUint16(b, 16)                  // bits per sample
	b = append(b, "data"...)
	binary.LittleEndian.AppendUint32(b, dataBytes)
	return h
}

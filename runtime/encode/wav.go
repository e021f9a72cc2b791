package encode

import (
	"encoding/binary"

	"github.com/swar-tts/swar/runtime/speech"
)

// WAVStreaming stands for an unknown length: players read on until the stream ends.
const WAVStreaming = 0xFFFFFFFF

// WAVHeaderBytes is the length of a header.
const WAVHeaderBytes = 44

// WAVHeader returns the RIFF header of dataBytes bytes of 24 kHz mono s16le samples. With [WAVStreaming] both sizes in it are
// 0xFFFFFFFF.
func WAVHeader(dataBytes uint32) [WAVHeaderBytes]byte {
	riff := dataBytes + WAVHeaderBytes - 8
	if dataBytes == WAVStreaming {
		riff = WAVStreaming
	}
	var h [WAVHeaderBytes]byte
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

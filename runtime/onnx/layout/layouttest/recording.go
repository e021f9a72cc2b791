package layouttest

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/speech"
)

// writeRecordings writes a recording of noise for each voice, of as many frames as its prompt has positions.
func writeRecordings(dir string, source *convert.Source) error {
	if err := os.MkdirAll(filepath.Join(dir, "test_wavs"), 0o755); err != nil {
		return err
	}
	for i, v := range source.Voices {
		prompt, err := bundle.ReadPrompt(v.Prompt, source.Checkpoint.Dims())
		if err != nil {
			return err
		}
		wav := recording(prompt.Positions, uint64(i))
		if err := os.WriteFile(filepath.Join(dir, "test_wavs", v.Name+".wav"), wav, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// recording is a WAV file of quiet noise, one channel of 16 bits.
func recording(frames int, seed uint64) []byte {
	const (
		pcm, channels, bits = 1, 1, 16
		loudness            = 3000
	)
	size := uint32(frames * speech.FrameSamples * bits / 8)
	order := binary.LittleEndian
	wav := order.AppendUint32([]byte("RIFF"), 36+size)
	wav = order.AppendUint32(append(wav, "WAVEfmt "...), 16)
	wav = order.AppendUint16(order.AppendUint16(wav, pcm), channels)
	wav = order.AppendUint32(order.AppendUint32(wav, speech.SampleRate), speech.SampleRate*bits/8)
	wav = order.AppendUint16(order.AppendUint16(wav, bits/8), bits)
	wav = order.AppendUint32(append(wav, "data"...), size)
	draw := rand.New(rand.NewPCG(seed, 0))
	for range frames * speech.FrameSamples {
		wav = order.AppendUint16(wav, uint16(int16(loudness*draw.NormFloat64()/4)))
	}
	return wav
}

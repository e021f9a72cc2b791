package convert

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// What a recording to clone a voice from may be.
const (
	maxRecording  = 64 << 20 // bytes
	promptSeconds = 30       // longer ones are cut, as upstream does
)

// ReadRecording returns the samples of a recording to make a voice of: mono at 24 kHz, cut to whole frames that end as [endOnPause] says.
func ReadRecording(path string) ([]float64, error) {
	samples, err := readWAV(path)
	if err != nil {
		return nil, err
	}
	if samples, err = endOnPause(samples); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return samples, nil
}

// readWAV returns the samples of a mono recording of 24 kHz, in 16 bit or 32 bit floating point.
func readWAV(path string) ([]float64, error) {
	data, err := bundle.ReadSmall(path, maxRecording)
	if err != nil {
		return nil, err
	}
	samples, err := decodeWAV(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return samples, nil
}

var errWAV = errors.New("not a wav file of 24000 Hz, one channel, 16 bits or 32 bits floating point; this makes one: " +
	"ffmpeg -i recording -ac 1 -ar 24000 -c:a pcm_s16le voice.wav")

// decodeWAV reads a RIFF file chunk by chunk.
func decodeWAV(data []byte) ([]float64, error) {
	if len(data) < 12 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WAVE" {
		return nil, errWAV
	}
	var decode func([]byte) []float64
	for rest := data[12:]; len(rest) >= 8; {
		id, size := string(rest[:4]), int64(binary.LittleEndian.Uint32(rest[4:]))
		body := rest[8:]
		if id == "data" && size == math.MaxUint32 {
			size = int64(len(body)) // written to a pipe: the writer did not know the length
		}
		if size > int64(len(body)) {
			return nil, fmt.Errorf("truncated: %s has %d bytes of %d", id, len(body), size)
		}
		body = body[:size]
		switch id {
		case "fmt ":
			if decode = wavFormat(body); decode == nil {
				return nil, errWAV
			}
		case "data":
			if decode == nil {
				return nil, errWAV
			}
			return finite(decode(body))
		}
		rest = rest[min(8+size+size&1, int64(len(rest))):] // chunks begin at even places
	}
	return nil, errWAV
}

// wavFormat returns what decodes samples of the described format, or nil where it is not one of ours.
func wavFormat(f []byte) func([]byte) []float64 {
	const (
		pcm, float, extensible = 1, 3, 0xfffe
		formatSize             = 16
		subformatAt            = 24
	)
	if len(f) < formatSize {
		return nil
	}
	kind, channels := binary.LittleEndian.Uint16(f), binary.LittleEndian.Uint16(f[2:])
	rate, bits := binary.LittleEndian.Uint32(f[4:]), binary.LittleEndian.Uint16(f[14:])
	if kind == extensible && len(f) >= subformatAt+2 {
		kind = binary.LittleEndian.Uint16(f[subformatAt:])
	}
	switch {
	case channels != 1 || rate != sampleRate:
		return nil
	case kind == pcm && bits == 16:
		return func(b []byte) []float64 {
			samples := make([]float64, len(b)/2)
			for i := range samples {
				samples[i] = float64(int16(binary.LittleEndian.Uint16(b[2*i:]))) / (math.MaxInt16 + 1)
			}
			return samples
		}
	case kind == float && bits == 32:
		return func(b []byte) []float64 {
			samples := make([]float64, len(b)/4)
			for i := range samples {
				samples[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
			}
			return samples
		}
	}
	return nil
}

func finite(samples []float64) ([]float64, error) {
	for i, v := range samples {
		if v-v != 0 {
			return nil, fmt.Errorf("sample %d is not a finite number", i)
		}
	}
	return samples, nil
}

// endOnPause prepares a recording as the recordings were that models were trained on: at most 30 s, which end on 80 ms of silence. One
// that stops within speech makes the model go on with it, and one that ends on a long silence delays the first word. Silence at the
// end, 35 dB below the loudest 20 ms, is cut; the last 20 ms are faded out. The rule is upstream's. The result is whole frames.
func endOnPause(samples []float64) ([]float64, error) {
	const (
		block = sampleRate / 50
		pause = frameSamples
		floor = 35 // dB
	)
	samples = samples[:min(len(samples), promptSeconds*sampleRate)]
	if len(samples) < frameSamples {
		return nil, fmt.Errorf("a recording of %d samples is shorter than a frame: take ten seconds of speech", len(samples))
	}
	power := make([]float64, len(samples)/block)
	loudest := 0.0
	for i := range power {
		for _, v := range samples[i*block : (i+1)*block] {
			power[i] += v * v
		}
		loudest = max(loudest, power[i])
	}
	if loudest == 0 {
		return nil, errors.New("the recording is silent")
	}
	end := 0
	for i, p := range power {
		if p > loudest*math.Pow(10, -floor/10.) {
			end = (i + 1) * block
		}
	}
	whole := (end + pause + frameSamples - 1) / frameSamples * frameSamples
	ended := make([]float64, whole)
	copy(ended, samples[:end])
	for i := range block {
		ended[end-block+i] *= 1 - float64(i)/(block-1)
	}
	return ended, nil
}

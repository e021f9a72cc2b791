package layout

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/swar-tts/swar/runtime/speech"
)

// The forms of samples in a WAV file that are read.
const (
	wavPCM        = 1
	wavFloat      = 3
	wavExtensible = 0xfffe
)

var errNotWAV = errors.New("the file is truncated or not a WAV file")

// readWAV reads mono audio of 24 kHz, 16 bit integers or 32 bit floats.
func readWAV(file []byte) ([]float32, error) {
	if len(file) < 12 || string(file[:4]) != "RIFF" || string(file[8:12]) != "WAVE" {
		return nil, errNotWAV
	}
	var form, channels, depth, rate int
	for at := 12; at+8 <= len(file); {
		id, n := string(file[at:at+4]), int64(binary.LittleEndian.Uint32(file[at+4:]))
		at += 8
		body := file[at:]
		if n < int64(len(body)) {
			body = body[:n]
		}
		switch {
		case id == "fmt " && len(body) >= 16:
			form, channels = int(binary.LittleEndian.Uint16(body)), int(binary.LittleEndian.Uint16(body[2:]))
			rate, depth = int(binary.LittleEndian.Uint32(body[4:])), int(binary.LittleEndian.Uint16(body[14:]))
			if form == wavExtensible && len(body) >= 26 {
				form = int(binary.LittleEndian.Uint16(body[24:]))
			}
		case id == "data":
			if rate != speech.SampleRate || channels != 1 || !(form == wavPCM && depth == 16 || form == wavFloat && depth == 32) {
				return nil, fmt.Errorf("%d Hz, %d channels, %d bits are not 24 kHz mono of 16 bits: "+
					"convert it with ffmpeg -i IN.wav -ac 1 -ar 24000 -c:a pcm_s16le OUT.wav", rate, channels, depth)
			}
			return wavSamples(body, form)
		}
		if n += n & 1; n > int64(len(file)-at) { // chunks begin at even places
			break
		}
		at += int(n)
	}
	return nil, errNotWAV
}

func wavSamples(body []byte, form int) ([]float32, error) {
	var samples []float32
	if form == wavPCM {
		for ; len(body) >= 2; body = body[2:] {
			samples = append(samples, float32(int16(binary.LittleEndian.Uint16(body)))/32768)
		}
	} else {
		for ; len(body) >= 4; body = body[4:] {
			samples = append(samples, math.Float32frombits(binary.LittleEndian.Uint32(body)))
		}
	}
	for i, v := range samples {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, fmt.Errorf("sample %d is not a number", i)
		}
	}
	if len(samples) < speech.FrameSamples {
		return nil, fmt.Errorf("%d samples are less than one frame of speech", len(samples))
	}
	return samples, nil
}

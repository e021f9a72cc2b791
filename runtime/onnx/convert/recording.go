package convert

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/swar-tts/swar/runtime/recording"
)

// ReadRecording reads a recording for making a voice. It returns mono samples at 24 kHz, at most 30 s in whole frames
// that end as endOnPause says, and a description of the file.
func ReadRecording(ctx context.Context, path string) ([]float64, *recording.Recording, error) {
	return readRecording(ctx, path, maxPrompt)
}

// readRecording is ReadRecording for at most so many frames.
func readRecording(ctx context.Context, path string, frames int) ([]float64, *recording.Recording, error) {
	r, err := recording.Read(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	r.Trim((frames - 1) * frameSamples) // one for the pause at the end
	samples, err := endOnPause(doubles(r.Samples))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return samples, r, nil
}

// framesOf is the most positions of a voice that is made of so many seconds: the last frame is filled up, a pause
// follows, and a row may stand before all.
func framesOf(seconds int) int { return (seconds*sampleRate+frameSamples-1)/frameSamples + 2 }

func finite(samples []float64) ([]float64, error) {
	for i, v := range samples {
		if v-v != 0 {
			return nil, fmt.Errorf("sample %d is not a finite number", i)
		}
	}
	return samples, nil
}

// endOnPause prepares a recording as the recordings were that models were trained on: they end on 80 ms of
// silence. One that stops within speech makes the model go on with it, and one that ends on a long silence delays
// the first word. Silence at the end, 35 dB below the loudest 20 ms, is cut; the last 20 ms are faded out. The
// rule is upstream's. The result is whole frames.
func endOnPause(samples []float64) ([]float64, error) {
	const (
		block = sampleRate / 50
		pause = frameSamples
		floor = 35 // dB
	)
	if len(samples) < frameSamples {
		return nil, fmt.Errorf("a recording of %d samples is shorter than a frame: take ten seconds of speech",
			len(samples))
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

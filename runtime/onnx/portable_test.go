package onnx

import (
	"math"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// TestATinyBundleSpeaksAlikeEverywhere has figures that depend neither on the processor, nor on its kernel, nor on the
// build of ONNX Runtime for it: how many frames there are, and, up to rounding, how loud.
func TestATinyBundleSpeaksAlikeEverywhere(t *testing.T) {
	for name, tt := range map[string]struct {
		ends     bool
		text     string
		frames   int
		loudness float64 // root mean square of the samples
	}{
		"few words that end by themselves":     {true, "Haan, theek hai.", 11, 1573.22},
		"more words that end by themselves":    {true, "Namaste, aap kaise hain aaj?", 9, 1617.68},
		"words that are spoken to their limit": {false, "Haan, theek hai.", 92, 1600.58},
	} {
		t.Run(name, func(t *testing.T) {
			r := convert.Tiny()
			r.Precision, r.Ends = bundle.Int8, tt.ends
			dir, m := random(t, r)
			pcm, eos, _ := speak(t, newTestWorker(t, open(t, dir, m)),
				synth.Options{Voice: m.Voices[0].Name, Text: tt.text, Seed: 1})
			if got := len(pcm) / speech.FrameSamples; got != tt.frames || eos != tt.ends {
				t.Errorf("%d frames, eos %v; want %d, %v", got, eos, tt.frames, tt.ends)
			}
			squares := 0.
			for _, sample := range pcm {
				squares += float64(sample) * float64(sample)
			}
			if got := math.Sqrt(squares / float64(len(pcm))); math.Abs(got/tt.loudness-1) > 1e-3 {
				t.Errorf("loudness %.2f, want %.2f", got, tt.loudness)
			}
		})
	}
}

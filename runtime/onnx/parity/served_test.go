package parity

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
)

func TestCheckServed(t *testing.T) {
	library := orttest.Need(t)
	dirs := map[string]string{}
	for _, precision := range []string{bundle.FP32, bundle.Int8} {
		r := convert.Tiny()
		r.Precision = precision
		dirs[precision] = filepath.Join(t.TempDir(), precision)
		if _, err := convert.SynthRandom(dirs[precision], r); err != nil {
			t.Fatal(err)
		}
	}
	c := ServedConfig{Bundle: dirs[bundle.Int8], Library: library, Voice: "raj", Text: "नमस्ते, welcome.", Seed: 1}
	results, err := CheckServed(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range results {
		names = append(names, r.Quantity)
		t.Logf("%s: %.4f of %.4f", r.Quantity, r.Difference, r.Tolerance)
		if !r.OK || r.Measure == RelativeRMS && r.Difference == 0 {
			t.Errorf("%s: %+v", r.Quantity, r)
		}
	}
	if want := []string{"frames", "eos", "h", "latent", "audio"}; !slices.Equal(names, want) {
		t.Errorf("compared %v, want %v", names, want)
	}
	for name, change := range map[string]func(*ServedConfig){
		"a bundle in floats":        func(c *ServedConfig) { c.Bundle = dirs[bundle.FP32] },
		"a voice that is not there": func(c *ServedConfig) { c.Voice = "nobody" },
		"no words":                  func(c *ServedConfig) { c.Text = "" },
	} {
		other := c
		change(&other)
		if _, err := CheckServed(t.Context(), other); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestServedResultsNotice(t *testing.T) {
	want := &utterance{h: []float32{1, 2}, latents: []float32{3, 4}, audio: []float32{5, 6}, frames: 2, eos: true}
	for name, got := range map[string]*utterance{
		"frames": {h: []float32{1}, latents: []float32{3}, audio: []float32{5}, frames: 1, eos: true},
		"eos":    {h: want.h, latents: want.latents, audio: want.audio, frames: 2},
		"h":      {h: []float32{1, 2.2}, latents: want.latents, audio: want.audio, frames: 2, eos: true},
		"latent": {h: want.h, latents: []float32{3, 4.5}, audio: want.audio, frames: 2, eos: true},
		"audio":  {h: want.h, latents: want.latents, audio: []float32{5, -6}, frames: 2, eos: true},
	} {
		for _, r := range got.compare(want) {
			if r.OK == (r.Quantity == name) {
				t.Errorf("another %s: %+v", name, r)
			}
		}
	}
}

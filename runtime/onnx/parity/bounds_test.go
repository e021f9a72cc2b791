package parity

import (
	"math"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

func TestBounds(t *testing.T) {
	nan := float32(math.NaN())
	for sentence, tt := range map[string]struct {
		precision, quantity string
		got, want           []float32
		ok                  bool
		measure             Measure
	}{
		"just below the bound of integers":   {bundle.Int8, "latent", []float32{102.99999}, []float32{100}, true, RelativeRMS},
		"at the bound of integers":           {bundle.Int8, "latent", []float32{103}, []float32{100}, true, RelativeRMS},
		"just above the bound of integers":   {bundle.Int8, "latent", []float32{103.00001}, []float32{100}, false, RelativeRMS},
		"one value of many may be far off":   {bundle.Int8, "latent", []float32{100, 0.5, 0, 0}, []float32{100, 0, 0, 0}, true, RelativeRMS},
		"a reference of zeros that is met":   {bundle.Int8, "latent", []float32{0}, []float32{0}, true, RelativeRMS},
		"a reference of zeros that is not":   {bundle.Int8, "latent", []float32{1e-9}, []float32{0}, false, RelativeRMS},
		"a value that is not a number":       {bundle.Int8, "latent", []float32{nan}, []float32{1}, false, RelativeRMS},
		"what integers do not change":        {bundle.Int8, "noise", []float32{103}, []float32{100}, false, Largest},
		"floats are compared value by value": {bundle.FP32, "latent", []float32{100, 0.5}, []float32{100, 0}, false, Largest},
		"floats at their tolerance":          {bundle.FP32, "latent", []float32{.25}, []float32{.125}, true, Largest},
	} {
		k := &goldenCase{precision: tt.precision}
		k.near("", tt.quantity, tt.got, tt.want, .125)
		if r := k.results[0]; r.OK != tt.ok || r.Measure != tt.measure {
			t.Errorf("%s: %+v, want ok %v by measure %d", sentence, r, tt.ok, tt.measure)
		}
	}
}

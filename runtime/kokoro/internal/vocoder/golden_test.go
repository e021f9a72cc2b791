package vocoder_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/rowproduct"
	"github.com/swar-tts/swar/runtime/kokoro/internal/vocoder"
	"github.com/swar-tts/swar/runtime/kokoro/kokorotest"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// TestAWindowOfTheReference compares the generator with the published model, which ONNX Runtime ran with the same
// constants: see testdata. Weights in floats give the same to rounding. Rows in integers are near it, and the same for
// every cut.
func TestAWindowOfTheReference(t *testing.T) {
	dir, m := kokorotest.Bundle(t, nil, "hf_beta")
	weights, file, err := safetensors.Open(filepath.Join(dir, m.Vocoder.File))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	window := vocoder.ReadWindow(t)
	for name, tt := range map[string]struct {
		exact bool
		off   float64 // of all values, by root mean square
	}{
		"floats":   {true, 2e-4},
		"integers": {false, .02},
	} {
		v, err := vocoder.New(weights, vocoder.Options{Kernel: rowproduct.Kernels()[0], Exact: tt.exact})
		if err != nil {
			t.Fatal(err)
		}
		got, want := window.Decode(t, v), window.Post
		var squares, worst float64
		for i := range want {
			d := math.Abs(float64(got[i] - want[i]))
			squares, worst = squares+d*d, max(worst, d)
		}
		off := math.Sqrt(squares / float64(len(want)))
		t.Logf("%s: off by %.2g, at most %.2g", name, off, worst)
		if off > tt.off || tt.exact && worst > 2e-4 {
			t.Errorf("%s: off by %v, at most %v; want %v", name, off, worst, tt.off)
		}
	}
}

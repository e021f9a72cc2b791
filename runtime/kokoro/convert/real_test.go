package convert_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/swar-tts/swar/runtime/kokoro/convert"
	"github.com/swar-tts/swar/runtime/kokoro/internal/vocoder"
	"github.com/swar-tts/swar/runtime/kokoro/kokorotest"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// TestRealWeights: the vocoder loads what is made of the published model, and its weights are in the range of the
// export.
func TestRealWeights(t *testing.T) {
	dir, m := kokorotest.Bundle(t, nil, "hf_beta")
	if _, ok := convert.Constants(m.Vocoder.SHA256, "hf_beta"); !ok {
		t.Errorf("the vocoder, SHA-256 %s, has no constants", m.Vocoder.SHA256)
	}
	f, file, err := safetensors.Open(filepath.Join(dir, m.Vocoder.File))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	v, err := vocoder.New(f, vocoder.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	norms := v.Norms()
	for _, n := range convert.Norms() {
		if norms[n.Name] != n.Channels {
			t.Errorf("the vocoder has a norm %s of %d channels, want %d", n.Name, norms[n.Name], n.Channels)
		}
	}
	if len(norms) != len(convert.Norms()) {
		t.Errorf("the vocoder has %d norms, want %d", len(norms), len(convert.Norms()))
	}
	weights, err := f.Int8s("decode.0.conv1.weight", 1024, 3, 1090)
	if err != nil {
		t.Fatal(err)
	}
	low, high, sum := int8(0), int8(0), 0
	for _, w := range weights {
		low, high, sum = min(low, w), max(high, w), sum+int(w)
	}
	// The export has 7 bits without a sign; counted from the zero point they lie around zero.
	if mean := float64(sum) / float64(len(weights)); low >= 0 || high <= 0 || int(high)-int(low) != 127 ||
		math.Abs(mean) > 1 {
		t.Errorf("weights go from %d to %d and are %g in the mean", low, high, mean)
	}
}

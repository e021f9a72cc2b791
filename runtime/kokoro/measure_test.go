package kokoro_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/kokoro"
	"github.com/swar-tts/swar/runtime/kokoro/bundle"
	"github.com/swar-tts/swar/runtime/kokoro/convert"
	"github.com/swar-tts/swar/runtime/kokoro/kokorotest"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// TestMeasureConstants measures the voices of which package convert has constants, and writes those into the folder
// that SWAR_KOKORO_CONSTANTS names. It takes some minutes of processor time.
func TestMeasureConstants(t *testing.T) {
	to := os.Getenv("SWAR_KOKORO_CONSTANTS")
	if to == "" {
		t.Skip("SWAR_KOKORO_CONSTANTS names no folder to write to")
	}
	from := kokorotest.Folder(t)
	measure := kokoro.Measuring(orttest.Need(t))
	c := convert.Conversion{
		Model: filepath.Join(from, kokorotest.ModelFile), ID: "kokoro-82m", Licence: "Apache-2.0",
		Languages: []string{"hi", "en"},
		Measure: func(ctx context.Context, dir string, m bundle.Manifest, v convert.Voice, styles []float32,
			report func(done, total int)) (map[string]bundle.Norm, error) {
			norms, err := measure(ctx, dir, m, v, styles, report)
			if err == nil {
				err = writeConstants(filepath.Join(to, v.Source+".safetensors"), norms)
			}
			return norms, err
		},
	}
	for _, name := range []string{"hf_beta", "hm_omega"} {
		c.Voices = append(c.Voices, convert.Voice{
			Name: name, Source: name, Language: "hi-IN+en-IN", File: filepath.Join(from, "voices", name+".bin"),
		})
	}
	if _, err := convert.Convert(t.Context(), filepath.Join(t.TempDir(), "kokoro"), c); err != nil {
		t.Fatal(err)
	}
}

func writeConstants(path string, norms map[string]bundle.Norm) error {
	var tensors []safetensors.Tensor
	for _, n := range convert.Norms() {
		shape := []int{n.Channels}
		tensors = append(tensors, safetensors.Tensor{Name: n.Name + ".mean", Shape: shape, Floats: norms[n.Name].Mean},
			safetensors.Tensor{Name: n.Name + ".variance", Shape: shape, Floats: norms[n.Name].Variance})
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := safetensors.Write(f, tensors...); err != nil {
		_ = f.Close() // the error before says more
		return err
	}
	return f.Close()
}

package convert

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/npy"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/safetensors"
)

const cases = "../testdata"

// caseWeights opens the weights of a case, with those of its encoder where it has some.
func caseWeights(t testing.TB, name string) *fileWeights {
	t.Helper()
	w := &fileWeights{entries: map[string]stored{}}
	t.Cleanup(func() { w.Close() })
	for _, file := range []string{"model.safetensors", "encoder.safetensors"} {
		path := filepath.Join(cases, name, file)
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			continue
		}
		tensors, err := w.open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.addWhole(tensors); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func caseConfig(t testing.TB, name string) Config {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(cases, name, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := ReadConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func caseDims(t testing.TB, name string) bundle.Dims {
	t.Helper()
	c := caseConfig(t, name)
	return c.dims()
}

func array(t testing.TB, name, file string) []float64 {
	t.Helper()
	a, err := npy.Read(filepath.Join(cases, name, file))
	if err != nil {
		t.Fatal(err)
	}
	return doubles(a.Floats)
}

func apart(t testing.TB, got, want []float64) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	worst := 0.0
	for i := range got {
		if d := math.Abs(got[i] - want[i]); d > worst || d != d {
			worst = d
		}
	}
	return worst
}

// gelus are those of the cases.
var gelus = map[string]string{"01-v2-tanh": "tanh", "02-v1-erf": "erf", "03-noise-and-steps": "tanh",
	"04-codec": "tanh"}

func TestEncoderEqualsTheReference(t *testing.T) {
	for _, name := range []string{"01-v2-tanh", "02-v1-erf", "04-codec"} {
		// in 04 the window of attention is shorter than the recording
		c := caseConfig(t, name)
		e, err := newEncoder(&c, caseWeights(t, name), gelus[name], func(int64) {})
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.encode(t.Context(), wholeFrames(array(t, name, "voice_audio.npy")))
		if err != nil {
			t.Fatal(err)
		}
		d := apart(t, got, array(t, name, "voice_latents.npy"))
		t.Logf("%s: %d values are off by %.1e at most", name, len(got), d)
		if !(d < 5e-5) {
			t.Errorf("%s: off by %g", name, d)
		}
	}
}

func wholeFrames(samples []float64) []float64 {
	for len(samples)%frameSamples != 0 {
		samples = append(samples, 0)
	}
	return samples
}

func TestPromptOfLatentsEqualsTheReference(t *testing.T) {
	for _, name := range []string{"01-v2-tanh", "02-v1-erf", "03-noise-and-steps"} {
		c := caseConfig(t, name)
		p := prompter{config: &c, weights: caseWeights(t, name), gelu: gelus[name], worked: func(int64) {}}
		got, err := p.fromLatents(t.Context(), array(t, name, "voice_latents.npy"))
		if err != nil {
			t.Fatal(err)
		}
		want := storedPrompt(t, filepath.Join(cases, name, "voice.safetensors"), c.dims())
		if got.Positions != want.Positions {
			t.Fatalf("%s: %d positions, want %d", name, got.Positions, want.Positions)
		}
		d := promptsApart(t, got, want)
		t.Logf("%s: %d positions, off by %.1e at most", name, got.Positions, d)
		if !(d < 1e-4) {
			t.Errorf("%s: off by %g", name, d)
		}
	}
}

func storedPrompt(t testing.TB, path string, d bundle.Dims) bundle.Prompt {
	t.Helper()
	file, closer, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	p, err := bundle.ReadPrompt(file, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func promptsApart(t testing.TB, got, want bundle.Prompt) float64 {
	t.Helper()
	if len(got.K) != len(want.K) {
		t.Fatalf("%d layers, want %d", len(got.K), len(want.K))
	}
	worst := 0.0
	for i := range got.K {
		worst = max(worst, apart(t, doubles(got.K[i]), doubles(want.K[i])),
			apart(t, doubles(got.V[i]), doubles(want.V[i])))
	}
	return worst
}

func TestEncodingInPiecesChangesNothing(t *testing.T) {
	const name = "04-codec"
	c := caseConfig(t, name)
	e, err := newEncoder(&c, caseWeights(t, name), "tanh", func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	recording := wholeFrames(array(t, name, "voice_audio.npy"))
	for _, frames := range []int{25, 26, 51} { // pieces have 25 frames
		samples := make([]float64, 0, frames*frameSamples)
		for len(samples) < cap(samples) {
			samples = append(samples, recording[:min(len(recording), cap(samples)-len(samples))]...)
		}
		got, err := e.convolve(t.Context(), samples)
		if err != nil {
			t.Fatal(err)
		}
		want, err := e.piece(t.Context(), samples)
		if err != nil {
			t.Fatal(err)
		}
		if d := apart(t, got, want); d != 0 {
			t.Errorf("%d frames: pieces are off by %g", frames, d)
		}
	}
}

func TestEncodingStops(t *testing.T) {
	const name = "04-codec"
	c := caseConfig(t, name)
	e, err := newEncoder(&c, caseWeights(t, name), "tanh", func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := e.encode(ctx, make([]float64, frameSamples)); !errors.Is(err, why) {
		t.Errorf("error %v, want the cause", err)
	}
}

// zeroes is weights of which some are zeros.
type zeroes struct {
	Weights
	name string
}

func (z zeroes) Floats(name string, shape ...int) ([]float32, error) {
	values, err := z.Weights.Floats(name, shape...)
	if name == z.name {
		clear(values)
	}
	return values, err
}

func TestZeroedEncodersAreRefused(t *testing.T) {
	c, w := caseConfig(t, "01-v2-tanh"), caseWeights(t, "01-v2-tanh")
	for _, name := range []string{"mimi.encoder.model.0.conv.weight", "mimi.downsample.conv.conv.weight"} {
		if _, err := newEncoder(&c, zeroes{w, name}, "tanh", func(int64) {}); !errors.Is(err, errZeroed) {
			t.Errorf("%s: error %v, want that the encoder is zeroed", name, err)
		}
	}
	p := prompter{config: &c, weights: zeroes{w, speakerProjection}, gelu: "tanh", worked: func(int64) {}}
	if _, err := p.fromLatents(t.Context(), make([]float64, 32)); !errors.Is(err, errZeroed) {
		t.Errorf("projection: error %v, want that the encoder is zeroed", err)
	}
}

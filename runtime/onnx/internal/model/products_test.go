package model_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/internal/model"
)

// randomBundle writes a tiny bundle.
func randomBundle(t *testing.T, precision string) (dir string, m bundle.Manifest) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "bundle")
	r := convert.Tiny()
	r.Precision = precision
	m, err := convert.SynthRandom(dir, r)
	if err != nil {
		t.Fatal(err)
	}
	return dir, m
}

// TestEveryProductIsOurOwn counts: four products in each layer; in the flow the modulations and two in each block, in
// its own graph and in that of the language model.
func TestEveryProductIsOurOwn(t *testing.T) {
	orttest.Need(t)
	dir, m := randomBundle(t, bundle.Int8)
	r := convert.Tiny()
	flow := 1 + 2*r.FlowBlocks
	for name, tt := range map[string]struct {
		graph bundle.Graph
		want  int
	}{"language model": {m.LM, 4*r.Layers + flow}, "flow": {m.FlowHead, flow}, "codec": {m.Codec, 4 * 2}} {
		file, err := os.ReadFile(filepath.Join(dir, tt.graph.File.File))
		if err != nil {
			t.Fatal(err)
		}
		s, err := ort.Open(file, valueNames(tt.graph.Inputs), valueNames(tt.graph.Outputs))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := s.Products(), (ort.Products{Own: tt.want}); got != want {
			t.Errorf("%s: products are %+v, want %+v", name, got, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func valueNames(values []bundle.Value) []string {
	var names []string
	for _, v := range values {
		names = append(names, v.Name)
	}
	return names
}

// TestOpenRefusesProductsThatAreNotOurs changes how one product, or all of them, are written.
func TestOpenRefusesProductsThatAreNotOurs(t *testing.T) {
	orttest.Need(t)
	for name, tt := range map[string]struct {
		change func(file []byte) []byte
		want   string
	}{
		"all of the language model": {func(file []byte) []byte {
			return []byte(strings.ReplaceAll(string(file), "QuantizeLinear", "QuantizeLineaR"))
		}, ""},
		"a model in floats that calls itself int8": {nil, "none of its products"},
	} {
		precision := bundle.Int8
		if tt.change == nil {
			precision = bundle.FP32
		}
		dir, m := randomBundle(t, precision)
		m.Precision = bundle.Int8
		if tt.change != nil {
			path := filepath.Join(dir, m.LM.File.File)
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, tt.change(file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		opened, err := model.Open(dir, m, 1)
		if err == nil {
			err = errors.Join(errors.New("it was opened"), opened.Close())
			t.Errorf("%s: %v", name, err)
		} else if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// TestFloatsOfABundleInIntegers compares the states after a text: the same but for the rounding of rows.
func TestFloatsOfABundleInIntegers(t *testing.T) {
	orttest.Need(t)
	dir, m := randomBundle(t, bundle.Int8)
	integers, err := model.Open(dir, m, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer integers.Close()
	floats, err := model.OpenInFloats(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	defer floats.Close()
	var states [2][]float32
	for i, opened := range []*model.Model{integers, floats} {
		s, err := opened.NewLoneStream(200)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Begin("raj"), s.Prefill(t.Context(), []int32{5, 6, 7})); err != nil {
			t.Fatal(err)
		}
		h, _ := s.State()
		states[i] = slices.Clone(h)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	difference, size := 0.0, 0.0
	for i, want := range states[1] {
		d := float64(states[0][i]) - float64(want)
		difference, size = difference+d*d, size+float64(want)*float64(want)
	}
	if part := difference / size; part == 0 || part > .05*.05 {
		t.Errorf("the squares of the differences are %g of those of the values, want more than none and at most %g",
			part, .05*.05)
	}
}

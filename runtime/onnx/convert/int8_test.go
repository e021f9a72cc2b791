package convert

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

func TestQuantiseRoundsEachOutputByItsOwnScale(t *testing.T) {
	// Two inputs, three outputs: small, large, all zeros.
	integers, scales := quantise([]float32{1.27, -127, 0, -.635, 20.4, 0}, 2, 3)
	if want := []int8{127, -127, 0, -64, 20, 0}; !slices.Equal(integers, want) &&
		!slices.Equal(integers, []int8{127, -127, 0, -63, 20, 0}) {
		t.Errorf("integers %v, want %v", integers, want)
	}
	for i, want := range []float64{.01, 1, 0} {
		if math.Abs(float64(scales[i])-want) > 1e-6 {
			t.Errorf("scale %d is %v, want %v", i, scales[i], want)
		}
	}
}

func TestQuantiseIsOffByHalfAStepAtMost(t *testing.T) {
	w := &randomWeights{seed: 3}
	const in, out = 64, 48
	matrix, err := w.Floats("any.weight", in, out)
	if err != nil {
		t.Fatal(err)
	}
	integers, scales := quantise(matrix, in, out)
	for i, v := range matrix {
		s := scales[i%out]
		if n := integers[i]; n < -weightRange || n > weightRange {
			t.Fatalf("value %d became %d, beyond a byte without its lowest value", i, n)
		}
		if d := math.Abs(float64(v - float32(integers[i])*s)); d > float64(s)*.5001 {
			t.Fatalf("value %d is off by %g, more than half of %g", i, d, s)
		}
	}
}

// TestRowsOfIntegersStandForThemselves multiplies three rows of very different size, one of them zeros, by a matrix
// that integers hold without loss.
func TestRowsOfIntegersStandForThemselves(t *testing.T) {
	orttest.Need(t)
	const in, out = 16, 4
	matrix := make([]float32, in*out)
	for i := range out {
		matrix[i*out+i] = weightRange
	}
	b := (&Checkpoint{Precision: bundle.Int8}).builder("rows")
	x := b.Input("x", graph.F32, "rows", in)
	b.countRows(x)
	b.Output("y", b.multiply(x, "matrix", matrix, in, out), graph.F32, "rows", out)
	s, err := ort.Open(b.Bytes(), []string{"x"}, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows, got := make([]float32, 3*in), make([]float32, 3*out)
	copy(rows, []float32{graph.RowRange, -1, 64, 0})
	copy(rows[2*in:], []float32{-1e-6, 1e-6, 0, 0})
	tx, err := ort.Floats(rows, 3, in)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	ty, err := ort.Floats(got, 3, out)
	if err != nil {
		t.Fatal(err)
	}
	defer ty.Close()
	if err := s.Run(t.Context(), []*ort.Tensor{tx}, []*ort.Tensor{ty}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float32{graph.RowRange, -1, 64, 0, 0, 0, 0, 0, -1e-6, 1e-6, 0, 0} {
		if want *= weightRange; !(math.Abs(float64(got[i]-want)) <= 1e-6*math.Abs(float64(want))) {
			t.Errorf("value %d is %g, want %g", i, got[i], want)
		}
	}
}

// TestEveryProductOfIntegersCanBeFused would notice if the chain were written in another way than FuseRows knows it.
func TestEveryProductOfIntegersCanBeFused(t *testing.T) {
	r := Tiny()
	r.Precision = bundle.Int8
	source, err := r.Source()
	if err != nil {
		t.Fatal(err)
	}
	c := source.Checkpoint
	for name, build := range map[string]func() (Built, error){"language model": c.LM, "flow head": c.FlowHead,
		"codec": c.Codec} {
		built, err := build()
		if err != nil {
			t.Fatal(err)
		}
		_, got, err := graph.FuseRows(built.Model)
		if want := bytes.Count(built.Model, []byte("MatMulInteger_")); err != nil || got != want || want == 0 {
			t.Errorf("%s: %d products are fused, want %d (%v)", name, got, want, err)
		}
	}
}

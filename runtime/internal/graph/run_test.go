package graph_test // the adapter that runs a graph rewrites it first, with this package

import (
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/internal/orttest"
)

func TestGraphRuns(t *testing.T) {
	orttest.Need(t)
	s, err := ort.Open(graph.Affine().Bytes(), []string{"x"}, []string{"y", "sum", "scaled"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	y, sum, scaled := make([]float32, 6), make([]float32, 2), make([]float32, 6)
	in := []*ort.Tensor{tensor(t, []float32{1, 0, -10, -1}, 2, 2)}
	out := []*ort.Tensor{tensor(t, y, 2, 3), tensor(t, sum, 2), tensor(t, scaled, 2, 3)}
	if err := s.Run(t.Context(), in, out); err != nil {
		t.Fatal(err)
	}
	if want := []float32{11, 22, 33, -4, -5, -6}; !slices.Equal(y, want) {
		t.Errorf("y = %v, want %v", y, want)
	}
	if want := []float32{66, -15}; !slices.Equal(sum, want) {
		t.Errorf("sum = %v, want %v", sum, want)
	}
	if want := []float32{11, 22, 33, -2, -2.5, -3}; !slices.Equal(scaled, want) {
		t.Errorf("scaled = %v, want %v", scaled, want)
	}
}

func tensor(t *testing.T, values []float32, shape ...int) *ort.Tensor {
	t.Helper()
	x, err := ort.Floats(values, shape...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

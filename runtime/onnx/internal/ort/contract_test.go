package ort_test

import (
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/internal/graph"
	"github.com/swar-tts/swar/runtime/onnx/internal/ort"
)

func model(t testing.TB) []byte {
	t.Helper()
	b := graph.New("g")
	x := b.Input("x", graph.F32, "rows", 3)
	n := b.Input("n", graph.I32, 1)
	y := b.Op("Add", []graph.Value{x, b.Op("Cast", []graph.Value{n}, graph.Attr{Name: "to", Value: int(graph.F32)})})
	b.Output("y", y, graph.F32, "rows", 3)
	return b.Bytes()
}

func TestContract(t *testing.T) {
	data := model(t)
	inputs, outputs, err := ort.Contract(data)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"x float [-1 3]", "n int32 [1]"}; !slices.Equal(inputs, want) {
		t.Errorf("inputs %q, want %q", inputs, want)
	}
	if want := []string{"y float [-1 3]"}; !slices.Equal(outputs, want) {
		t.Errorf("outputs %q, want %q", outputs, want)
	}
	for n := range data {
		in, out, err := ort.Contract(data[:n])
		if err == nil && !(slices.Equal(in, inputs) && slices.Equal(out, outputs)) {
			t.Errorf("the first %d bytes of %d pass as another graph: %q, %q", n, len(data), in, out)
		}
	}
	if _, _, err := ort.Contract(nil); err == nil {
		t.Error("nothing passes as a graph")
	}
}

func FuzzContract(f *testing.F) {
	f.Add([]byte("not a graph"))
	f.Add(model(f))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _, _ = ort.Contract(data) })
}

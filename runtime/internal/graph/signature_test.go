package graph

import (
	"fmt"
	"slices"
	"testing"
)

func small(t testing.TB) []byte {
	t.Helper()
	b := New("g")
	x := b.Input("x", F32, "rows", 3)
	n := b.Input("n", I32, 1)
	b.Output("y", b.Op("Add", []Value{x, b.Op("Cast", []Value{n}, Attr{Name: "to", Value: int(F32)})}), F32, "rows", 3)
	b.Output("n_out", b.Op("Identity", []Value{b.Op("Identity", []Value{n})}), I32, 1)
	return b.Bytes()
}

func TestSignatureIsReadFromTheFile(t *testing.T) {
	data := small(t)
	s, err := ReadSignature(data)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(s.Inputs), "[x f32 [-1 3] n i32 [1]]"; got != want {
		t.Errorf("inputs %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(s.Outputs), "[y f32 [-1 3] n_out i32 [1]]"; got != want {
		t.Errorf("outputs %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(s.Same), "map[n_out:n]"; got != want {
		t.Errorf("what comes out unchanged: %s, want %s", got, want)
	}
	if p, ok := s.Output("n_out"); !ok || p.Type != I32 || !slices.Equal(p.Shape, []int{1}) {
		t.Errorf("output n_out is %v, %v", p, ok)
	}
	if _, ok := s.Input("y"); ok {
		t.Error("y is an input")
	}
	for n := range data {
		part, err := ReadSignature(data[:n])
		if err == nil && fmt.Sprint(part) != fmt.Sprint(s) {
			t.Errorf("the first %d bytes of %d pass as another graph: %v", n, len(data), part)
		}
	}
}

func FuzzSignature(f *testing.F) {
	f.Add([]byte("not a graph"))
	f.Add(small(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ReadSignature(data)
		if err == nil && (len(s.Inputs) == 0 || len(s.Outputs) == 0) {
			t.Errorf("a graph of %d inputs and %d outputs", len(s.Inputs), len(s.Outputs))
		}
	})
}

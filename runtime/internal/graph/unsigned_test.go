package graph_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/graph"
)

// product is a graph with one MatMulInteger of the given weights and zero point.
func product(inputs func(b *graph.Builder, x graph.Value) []graph.Value) []byte {
	b := graph.New("product")
	x := b.Input("x", graph.U8, "rows", 2)
	b.Output("y", b.Op("MatMulInteger", inputs(b, x)), graph.I32, "rows", 3)
	return b.Bytes()
}

func TestUnsignProducts(t *testing.T) {
	signed := []int8{1, -1, 127, -128, 0, 5}
	unsigned := []byte{129, 127, 255, 0, 128, 133}
	for name, inputs := range map[string]func(b *graph.Builder, x graph.Value) []graph.Value{
		"without zero points": func(b *graph.Builder, x graph.Value) []graph.Value {
			return []graph.Value{x, b.Int8s("w", signed, 2, 3)}
		},
		"a zero point of the rows": func(b *graph.Builder, x graph.Value) []graph.Value {
			return []graph.Value{x, b.Int8s("w", signed, 2, 3), b.Uint8(7)}
		},
		"a zero point of the weights alone": func(b *graph.Builder, x graph.Value) []graph.Value {
			return []graph.Value{x, b.Int8s("w", signed, 2, 3), "", b.Int8(0)}
		},
		"two zero points": func(b *graph.Builder, x graph.Value) []graph.Value {
			return []graph.Value{x, b.Int8s("w", signed, 2, 3), b.Uint8(7), b.Int8s("zeros", []int8{0, 0, 0}, 3)}
		},
	} {
		file := product(inputs)
		if n, err := graph.SignedProducts(file); n != 1 || err != nil {
			t.Errorf("%s: %d products with signed weights, want 1 (%v)", name, n, err)
		}
		rewritten, err := graph.UnsignProducts(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n, err := graph.SignedProducts(rewritten); n != 0 || err != nil {
			t.Errorf("%s: %d products with signed weights are left (%v)", name, n, err)
		}
		if !bytes.Contains(rewritten, unsigned) || bytes.Contains(rewritten, []byte{1, 255, 127, 128, 0, 5}) {
			t.Errorf("%s: the weights are not the unsigned ones alone", name)
		}
		if again, err := graph.UnsignProducts(rewritten); err != nil || !bytes.Equal(again, rewritten) {
			t.Errorf("%s: a second time changes it again (%v)", name, err)
		}
	}
}

func TestUnsignProductsSharesWeights(t *testing.T) {
	b := graph.New("products")
	x := b.Input("x", graph.U8, "rows", 2)
	w := b.Int8s("w", []int8{1, -1, 127, -128, 0, 5}, 2, 3)
	for _, name := range []string{"y", "z"} {
		b.Output(name, b.Op("MatMulInteger", []graph.Value{x, w, b.Uint8(7), b.Int8(0)}), graph.I32, "rows", 3)
	}
	rewritten, err := graph.UnsignProducts(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(rewritten, []byte{129, 127, 255, 0, 128, 133}); n != 1 {
		t.Errorf("the weights are written %d times", n)
	}
}

func TestUnsignProductsRefusesWhatItCannotMakeExact(t *testing.T) {
	other := graph.New("convolution")
	x := other.Input("x", graph.U8, 1, 1, 4)
	other.Output("y", other.Op("ConvInteger", []graph.Value{x, other.Int8s("w", []int8{1, 2}, 1, 1, 2)}), graph.I32,
		1, 1, 3)
	varying := graph.New("zero point")
	v := varying.Input("x", graph.U8, "rows", 2)
	zero := varying.Input("zero", graph.I8)
	varying.Output("y", varying.Op("MatMulInteger",
		[]graph.Value{v, varying.Int8s("w", make([]int8, 6), 2, 3), varying.Uint8(7), zero}), graph.I32, "rows", 3)
	for name, tt := range map[string]struct {
		file []byte
		want string
	}{
		"another operator":             {other.Bytes(), "ConvInteger"},
		"a zero point of the caller's": {varying.Bytes(), "zero point"},
	} {
		if n, err := graph.SignedProducts(tt.file); n != 1 || err != nil {
			t.Errorf("%s: %d products with signed weights, want 1 (%v)", name, n, err)
		}
		if _, err := graph.UnsignProducts(tt.file); err == nil || !strings.Contains(err.Error(), tt.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", name, err, tt.want)
		}
	}
}

func TestUnsignProductsLeavesFloatsAlone(t *testing.T) {
	b := graph.New("floats")
	x := b.Input("x", graph.F32, "rows", 2)
	b.Output("y", b.Op("MatMul", []graph.Value{x, b.Floats("w", make([]float32, 6), 2, 3)}), graph.F32, "rows", 3)
	file := b.Bytes()
	if rewritten, err := graph.UnsignProducts(file); err != nil || !bytes.Equal(rewritten, file) {
		t.Errorf("a graph of floats was changed (%v)", err)
	}
	for cut := range 3 {
		if _, err := graph.UnsignProducts(file[:len(file)-1-cut]); err == nil {
			t.Errorf("a file that lacks its last %d bytes is taken", cut+1)
		}
	}
}

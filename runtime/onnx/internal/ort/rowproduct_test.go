package ort_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/internal/graph"
	"github.com/swar-tts/swar/runtime/onnx/internal/ort"
	"github.com/swar-tts/swar/runtime/onnx/internal/orttest"
)

// product is a graph that multiplies rows of in values by a matrix of integers.
func product(in, out int, matrix []int8, scales []float32) []byte {
	b := graph.New("product")
	x := b.Input("x", graph.F32, "rows", in)
	b.Output("y", b.MultiplyRows(x, b.RowZeros(x), "matrix", matrix, scales, in, out), graph.F32, "rows", out)
	return b.Bytes()
}

// plainly opens a graph without the operator RowProduct.
func plainly(t testing.TB, file []byte) *ort.Session {
	t.Helper()
	had := ort.OwnProducts()
	ort.Fuse(false)
	defer ort.Fuse(had)
	return opened(t, file)
}

func opened(t testing.TB, file []byte) *ort.Session {
	t.Helper()
	s, err := ort.Open(file, []string{"x"}, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func multiplied(t testing.TB, s *ort.Session, x []float32, rows, in, out int) []float32 {
	t.Helper()
	y := make([]float32, rows*out)
	tx, err := ort.Floats(x, rows, in)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	ty, err := ort.Floats(y, rows, out)
	if err != nil {
		t.Fatal(err)
	}
	defer ty.Close()
	if err := s.Run(t.Context(), []*ort.Tensor{tx}, []*ort.Tensor{ty}); err != nil {
		t.Fatal(err)
	}
	return y
}

// TestRowProductGivesTheSameBits compares the operator with the chain of operators that it stands for: for every number of rows that is
// computed in another way, and for matrices that fill the last panel or do not.
func TestRowProductGivesTheSameBits(t *testing.T) {
	needRowProduct(t)
	draw := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{4, 1}, {16, 16}, {20, 17}, {64, 15}, {60, 33}, {512, 48}, {1024, 100}} {
		in, out := size[0], size[1]
		matrix, scales := make([]int8, in*out), make([]float32, out)
		for i := range matrix {
			matrix[i] = int8(draw.IntN(255) - 127)
		}
		for i := range scales {
			scales[i] = draw.Float32()
		}
		file := product(in, out, matrix, scales)
		if fused, products, err := graph.FuseRows(file); err != nil || products != 1 || len(fused) == len(file) {
			t.Fatalf("%d products were fused, want 1 (%v)", products, err)
		}
		own, plain := opened(t, file), plainly(t, file)
		for _, rows := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 130} {
			x := make([]float32, rows*in)
			for i := range x {
				x[i] = float32(draw.NormFloat64() * math.Pow(10, float64(i/in%5)-2)) // rows of different size
			}
			if rows > 2 {
				clear(x[in : 2*in])
				x[2*in] = -1e30
			}
			got, want := multiplied(t, own, x, rows, in, out), multiplied(t, plain, x, rows, in, out)
			for i, v := range want {
				if got[i] != v {
					t.Fatalf("[%d, %d] x [%d, %d]: value %d of row %d is %g, want %g", rows, in, in, out, i%out, i/out, got[i], v)
				}
			}
		}
	}
}

func TestRowProductShowsWhatIsNoNumber(t *testing.T) {
	needRowProduct(t)
	const in, out = 40, 20
	matrix, scales := make([]int8, in*out), make([]float32, out)
	for i := range matrix {
		matrix[i] = int8(i%255 - 127)
	}
	for i := range scales {
		scales[i] = 1
	}
	s := opened(t, product(in, out, matrix, scales))
	for name, strange := range map[string]float64{"not a number": math.NaN(), "infinite": math.Inf(1), "infinitely small": math.Inf(-1)} {
		for at := range in {
			x := make([]float32, 2*in)
			for i := range x {
				x[i] = 1
			}
			x[at] = float32(strange)
			y := multiplied(t, s, x, 2, in, out)
			for i, v := range y {
				if finite := !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0); finite != (i >= out) {
					t.Fatalf("value %d is %s: output %d is %v", at, name, i, v)
				}
			}
		}
	}
}

func needRowProduct(t *testing.T) {
	t.Helper()
	orttest.Need(t)
	if !ort.OwnProducts() {
		t.Skip("this processor has no AVX-512 with VNNI, so that graphs run as they are")
	}
}

// BenchmarkRowProduct runs twenty products one after another, with more weights than caches hold, as a step does.
func BenchmarkRowProduct(b *testing.B) {
	orttest.Need(b)
	const products, in, out = 20, 2048, 2048
	c := graph.New("products")
	x := c.Input("x", graph.F32, "rows", in)
	zeros := c.RowZeros(x)
	scales := make([]float32, out)
	for i := range scales {
		scales[i] = 1e-3
	}
	for i := range products {
		matrix := make([]int8, in*out)
		for j := range matrix {
			matrix[j] = int8((j*7+i)%255 - 127)
		}
		x = c.MultiplyRows(x, zeros, fmt.Sprint("matrix", i), matrix, scales, in, out)
	}
	c.Output("y", x, graph.F32, "rows", out)
	file := c.Bytes()
	for _, rows := range []int{1, 2, 4, 8, 31} {
		for _, own := range []bool{false, true} {
			if own && !ort.OwnProducts() {
				continue
			}
			b.Run(fmt.Sprintf("rows=%d/own=%v", rows, own), func(b *testing.B) {
				open := opened
				if !own {
					open = plainly
				}
				s := open(b, file)
				values := make([]float32, rows*in)
				for i := range values {
					values[i] = float32(i%17) - 8
				}
				b.SetBytes(products * in * out)
				for b.Loop() {
					multiplied(b, s, values, rows, in, out)
				}
			})
		}
	}
}

package ort_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/internal/orttest"
)

// product is a graph that multiplies rows of in values by a matrix of integers.
func product(in, out int, matrix []int8, scales []float32) []byte {
	b := graph.New("product")
	x := b.Input("x", graph.F32, "rows", in)
	b.Output("y", b.MultiplyRows(x, b.RowZeros(x), "matrix", matrix, scales, in, out), graph.F32, "rows", out)
	return b.Bytes()
}

// plainly opens a graph without the operator RowProduct. Its products of integers are those of ONNX Runtime, from
// unsigned weights, which are exact everywhere.
func plainly(t testing.TB, file []byte) *ort.Session {
	t.Helper()
	s, err := ort.OpenUnsigned(file, []string{"x"}, []string{"y"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
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

// eachKernel runs a test with every kernel that this processor has.
func eachKernel(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	orttest.Need(t)
	t.Cleanup(func() { useKernel(t, "") })
	for _, name := range ort.Kernels() {
		useKernel(t, name)
		t.Run(name, test)
	}
}

func useKernel(t testing.TB, name string) {
	t.Helper()
	if err := ort.UseKernel(name); err != nil {
		t.Fatal(err)
	}
}

// TestExpectedKernels fails where sessions get another kernel than somebody counts on.
func TestExpectedKernels(t *testing.T) {
	want := strings.Fields(os.Getenv("SWAR_EXPECT_KERNELS"))
	if len(want) == 0 {
		t.Skip("SWAR_EXPECT_KERNELS names no kernels")
	}
	if got := ort.Kernels(); !slices.Equal(got, want) || ort.Kernel() != want[0] {
		t.Errorf("sessions get %s of %q, SWAR_EXPECT_KERNELS wants the first of %q", ort.Kernel(), got, want)
	}
}

// TestRowProductGivesTheBitsOfOnnxRuntime compares the operator with the chain of operators that it stands for.
func TestRowProductGivesTheBitsOfOnnxRuntime(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		draw := rand.New(rand.NewPCG(1, 2))
		for _, size := range [][2]int{{4, 1}, {16, 16}, {20, 17}, {60, 33}, {512, 48}, {1024, 100}} {
			in, out := size[0], size[1]
			matrix, scales := make([]int8, in*out), make([]float32, out)
			for i := range matrix {
				matrix[i] = int8(draw.IntN(255) - 127)
			}
			for i := range scales {
				scales[i] = draw.Float32()
			}
			file := product(in, out, matrix, scales)
			own, plain := opened(t, file), plainly(t, file)
			if got, want := own.Products(), (ort.Products{Own: 1}); got != want {
				t.Fatalf("products are %+v, want %+v", got, want)
			}
			for _, rows := range []int{1, 2, 3, 4, 5, 8, 9, 16, 31, 65} {
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
						t.Fatalf("[%d, %d] x [%d, %d]: value %d of row %d is %g, want %g", rows, in, in, out, i%out,
							i/out, got[i], v)
					}
				}
			}
		}
	})
}

func TestRowProductRefusesRowsOfAnotherWidth(t *testing.T) {
	orttest.Need(t)
	b := graph.New("product")
	x := b.Input("x", graph.F32, "rows", "width")
	b.Output("y", b.MultiplyRows(x, b.RowZeros(x), "matrix", make([]int8, 8*3), make([]float32, 3), 8, 3),
		graph.F32, "rows", 3)
	s := opened(t, b.Bytes())
	for _, width := range []int{4, 8, 12} {
		tx, err := ort.Floats(make([]float32, 2*width), 2, width)
		if err != nil {
			t.Fatal(err)
		}
		ty, err := ort.Floats(make([]float32, 6), 2, 3)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Run(t.Context(), []*ort.Tensor{tx}, []*ort.Tensor{ty})
		if ok := width == 8; (err == nil) != ok || !ok && !strings.Contains(err.Error(), "another width") {
			t.Errorf("rows of %d values by a matrix of 8: %v", width, err)
		}
		tx.Close()
		ty.Close()
	}
}

func TestRowProductRefusesAMatrixThatIsTooDeep(t *testing.T) {
	orttest.Need(t)
	for in, want := range map[int]string{65532: "", 65536: "", 65540: "more than 65536 rows"} {
		s, err := ort.Open(product(in, 1, make([]int8, in), []float32{1}), []string{"x"}, []string{"y"})
		if err == nil {
			s.Close()
		}
		if refused := err != nil; refused != (want != "") || refused && !strings.Contains(err.Error(), want) {
			t.Errorf("a matrix of %d rows: %v, want an error with %q", in, err, want)
		}
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
		for _, kernel := range append(ort.Kernels(), "onnxruntime") {
			b.Run(fmt.Sprintf("rows=%d/%s", rows, kernel), func(b *testing.B) {
				open := plainly
				if kernel != "onnxruntime" {
					useKernel(b, kernel)
					defer useKernel(b, "")
					open = opened
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

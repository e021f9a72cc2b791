package ort

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	runtime "github.com/yalue/onnxruntime_go"

	"github.com/swar-tts/swar/runtime/internal/graph"
)

// CheckIntegers checks the kernel of this processor with the largest integers. It multiplies them in a session like
// those that serve, and compares the results with integer arithmetic. An error says that they differ, and what to do.
// It tests each kernel once; the library must be loaded.
func CheckIntegers() error {
	name := Kernel()
	tested, _ := checked.LoadOrStore(name, sync.OnceValue(func() error {
		return checkProducts(serve)
	}))
	err := tested.(func() error)()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errInexact):
		return fmt.Errorf("products of integers are wrong with the kernel %s on this processor (%w): "+
			"choose another with SWAR_KERNEL, or a bundle in fp32, and report this", name, err)
	}
	return fmt.Errorf("checking products of integers: %w", err)
}

var checked sync.Map // by name of the kernel, func() error

// errInexact says what is wrong with a product.
var errInexact = errors.New("inexact")

// serve is how the graphs that serve are rewritten: our own products first, then what is left of others.
func serve(file []byte, options *runtime.SessionOptions) (rewritten []byte, p Products, err error) {
	if rewritten, p.Own, err = fuse(file, options); err != nil {
		return nil, p, err
	}
	rewritten, p.Others, err = exact(rewritten)
	return rewritten, p, err
}

// floats rewrites products of rows by integers to products of floats.
func floats(file []byte, _ *runtime.SessionOptions) (rewritten []byte, p Products, err error) {
	rewritten, _, err = graph.FloatRows(file)
	return rewritten, p, err
}

// unsigned leaves all products of integers to ONNX Runtime.
func unsigned(file []byte, _ *runtime.SessionOptions) (rewritten []byte, p Products, err error) {
	if p.Others, err = graph.SignedProducts(file); err != nil {
		return nil, p, err
	}
	rewritten, err = graph.UnsignProducts(file)
	return rewritten, p, err
}

// exact returns a graph whose products of integers this processor computes exactly. ONNX Runtime adds products of
// unsigned by signed bytes in pairs in 16 bits on x86 processors without VNNI, which cuts large sums off; unsigned by
// unsigned bytes it widens first.
func exact(file []byte) (_ []byte, products int, err error) {
	products, err = graph.SignedProducts(file)
	if err != nil || products == 0 {
		return file, products, err
	}
	if ok, err := signedProductsExact(); ok || err != nil {
		return file, products, err
	}
	if err := unsignedProductsExact(); err != nil {
		return nil, products, fmt.Errorf(
			"ONNX Runtime multiplies integers wrongly on this processor (%w): use a model in floats", err)
	}
	file, err = graph.UnsignProducts(file)
	return file, products, err
}

// signedProductsExact reports whether ONNX Runtime's own products of integers with signed weights are exact on this
// processor.
var signedProductsExact = sync.OnceValues(func() (bool, error) {
	err := errorOfProducts(func(file []byte) ([]byte, error) { return file, nil })
	if errors.Is(err, errInexact) {
		return false, nil
	}
	return err == nil, err
})

// unsignedProductsExact is the same for unsigned weights.
var unsignedProductsExact = sync.OnceValue(func() error { return errorOfProducts(graph.UnsignProducts) })

// The extremes that are multiplied: depths and widths with every rest that a kernel may leave over, and numbers of
// rows that are computed in different ways.
var (
	extremeDepths = []int{4, 8, 60, 516}
	extremeRows   = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 31}
)

const extremeWidths = 33 // all from 1 on

// extremeWeights is a matrix [in, out] of the largest integers: columns of one sign, of both, and of all values.
func extremeWeights(in, out int) []int8 {
	m := make([]int8, in*out)
	for i := range m {
		switch row, column := i/out, i%out; column % 4 {
		case 0:
			m[i] = 127
		case 1:
			m[i] = -128
		case 2:
			m[i] = int8(127 - row%2*255)
		default:
			m[i] = int8(row*151 + column*31)
		}
	}
	return m
}

const extremeKinds = 3 // of rows

// extremeValue is the integer at a place of a row: rows of one sign, of the other, and of both.
func extremeValue(row, i int) int {
	switch row % extremeKinds {
	case 0:
		return 127
	case 1:
		return -127
	}
	return 127 - i/2%2*254
}

// extremeSums is what each kind of row and each column of the extremes add up to, times scale.
func extremeSums(in, out int, scale float32) (sums [extremeKinds][]float32) {
	weights, column := extremeWeights(in, out), make([]int, out)
	for row := range sums {
		clear(column)
		for i := range in {
			value := extremeValue(row, i)
			for c, w := range weights[i*out : (i+1)*out] {
				column[c] += value * int(w)
			}
		}
		for _, sum := range column {
			sums[row] = append(sums[row], float32(sum)*scale)
		}
	}
	return sums
}

// checkProducts computes products of rows as [graph.Builder.MultiplyRows] writes them, after rewrite. It returns
// errInexact where one is wrong.
func checkProducts(rewrite rewriter) error {
	product := func(b *graph.Builder, x graph.Value, in, out int) graph.Value {
		ones := make([]float32, out)
		for i := range ones {
			ones[i] = 1
		}
		return b.MultiplyRows(x, b.RowZeros(x), "matrix"+strconv.Itoa(out), extremeWeights(in, out), ones, in, out)
	}
	one := float32(1)
	scale := one * float32(1./graph.RowRange) // of a row whose largest value is one
	return checkExtremes(product, rewrite, func(value int) float32 { return float32(value) / graph.RowRange }, scale)
}

// errorOfProducts computes products of unsigned rows by signed weights, as others write them, after rewrite. It
// returns errInexact where one is wrong.
func errorOfProducts(rewrite func([]byte) ([]byte, error)) error {
	product := func(b *graph.Builder, x graph.Value, in, out int) graph.Value {
		bytes := b.Op("Cast", []graph.Value{x}, graph.Attr{Name: "to", Value: int(graph.U8)})
		weights := b.Int8s("matrix"+strconv.Itoa(out), extremeWeights(in, out), in, out)
		sums := b.Op("MatMulInteger", []graph.Value{bytes, weights, b.Uint8(graph.RowZero)})
		return b.Op("Cast", []graph.Value{sums}, graph.Attr{Name: "to", Value: int(graph.F32)})
	}
	rewriteOnly := func(file []byte, _ *runtime.SessionOptions) ([]byte, Products, error) {
		file, err := rewrite(file)
		return file, Products{}, err
	}
	return checkExtremes(product, rewriteOnly, func(value int) float32 { return float32(value + graph.RowZero) }, 1)
}

// checkExtremes multiplies rows of extremes, written as value says, by all matrices of them. A result is its sum
// times scale.
func checkExtremes(product func(b *graph.Builder, x graph.Value, in, out int) graph.Value, rewrite rewriter,
	value func(int) float32, scale float32,
) error {
	for _, in := range extremeDepths {
		b := graph.New("products of extremes")
		x := b.Input("x", graph.F32, "rows", in)
		var outputs []string
		for out := 1; out <= extremeWidths; out++ {
			outputs = append(outputs, "y"+strconv.Itoa(out))
			b.Output(outputs[out-1], product(b, x, in, out), graph.F32, "rows", out)
		}
		s, err := open(b.Bytes(), []string{"x"}, outputs, rewrite)
		if err != nil {
			return err
		}
		var sums [][extremeKinds][]float32 // by width
		for out := 1; out <= extremeWidths; out++ {
			sums = append(sums, extremeSums(in, out, scale))
		}
		for _, rows := range extremeRows {
			if err = checkRows(s, in, rows, value, sums); err != nil {
				break
			}
		}
		if err = errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	return nil
}

func checkRows(s *Session, in, rows int, value func(int) float32, sums [][extremeKinds][]float32) (err error) {
	var tensors []*Tensor
	defer func() {
		for _, t := range tensors {
			err = errors.Join(err, t.Close())
		}
	}()
	add := func(values []float32, width int) error {
		t, err := Floats(values, rows, width)
		tensors = append(tensors, t)
		return err
	}
	x := make([]float32, rows*in)
	for i := range x {
		x[i] = value(extremeValue(i/in, i%in))
	}
	if err := add(x, in); err != nil {
		return err
	}
	for out := 1; out <= extremeWidths; out++ {
		if err := add(make([]float32, rows*out), out); err != nil {
			return err
		}
	}
	if err := s.Run(context.Background(), tensors[:1], tensors[1:]); err != nil {
		return err
	}
	for out := 1; out <= extremeWidths; out++ {
		for at, got := range tensors[out].Floats() {
			row, column := at/out, at%out
			if want := sums[out-1][row%extremeKinds][column]; got != want {
				return fmt.Errorf("%w: [%d, %d] x [%d, %d] is %g at [%d, %d], want %g",
					errInexact, rows, in, in, out, got, row, column, want)
			}
		}
	}
	return nil
}

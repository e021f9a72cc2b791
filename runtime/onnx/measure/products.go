package measure

import (
	"errors"
	"fmt"
	"time"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/ort"
)

// Products are twenty products of rows by integers, of 2048 by 2048 each. Like a step, they need more weights than
// caches hold. They are not safe for concurrent use.
type Products struct {
	own, exact *ort.Session
	open       []*ort.Tensor
}

const (
	products = 20
	width    = 2048
)

// OpenProducts opens them with the present kernel and with ONNX Runtime's own operators. Those run on unsigned
// weights, which are exact on every processor. The library must be loaded.
func OpenProducts() (*Products, error) {
	b := graph.New("products")
	x := b.Input("x", graph.F32, "rows", width)
	zeros := b.RowZeros(x)
	scales := make([]float32, width)
	for i := range scales {
		scales[i] = 1e-3
	}
	for i := range products {
		matrix := make([]int8, width*width)
		for j := range matrix {
			matrix[j] = int8((j*7+i)%255 - 127)
		}
		x = b.MultiplyRows(x, zeros, fmt.Sprint("matrix", i), matrix, scales, width, width)
	}
	b.Output("y", x, graph.F32, "rows", width)
	file := b.Bytes()
	p := &Products{}
	var err error
	if p.own, err = ort.Open(file, []string{"x"}, []string{"y"}); err != nil {
		return nil, err
	}
	if p.exact, err = ort.OpenUnsigned(file, []string{"x"}, []string{"y"}); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Rows returns functions that multiply so many rows and return how long it took. One uses the native kernel, the
// other ONNX Runtime.
func (p *Products) Rows(rows int) (own, exact func() (time.Duration, error), err error) {
	var tensors [2]*ort.Tensor
	for i := range tensors {
		t, e := ort.Floats(random(rows*width), rows, width)
		tensors[i], p.open, err = t, append(p.open, t), errors.Join(err, e)
	}
	if err != nil {
		return nil, nil, err
	}
	return timed(p.own, tensors[:1], tensors[1:]), timed(p.exact, tensors[:1], tensors[1:]), nil
}

// Close releases them.
func (p *Products) Close() error {
	var err error
	for _, t := range p.open {
		err = errors.Join(err, t.Close())
	}
	for _, s := range []*ort.Session{p.own, p.exact} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

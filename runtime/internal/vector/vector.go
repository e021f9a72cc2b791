// Package vector has what vocoders and codecs compute beside products of integers: activations, sums, and small
// products of floats. Signals are rows, one for a moment, of a value for each channel.
//
// Which instructions run is decided when the program starts. All give the same bits.
package vector

/*
#cgo CFLAGS: -O3 -std=c11
#cgo LDFLAGS: -lm
#include "vector.h"

static const vector_functions *vector_at(size_t i) { return vector_all[i]; }
static int runs(const vector_functions *f) { return f->runs_here(); }
static void snake(const vector_functions *f, float *y, const float *x, size_t rows, size_t columns, const float *a,
                  const float *b, const float *frequency, const float *height) {
	f->snake(y, x, rows, columns, a, b, frequency, height);
}
static void leaky(const vector_functions *f, float *y, const float *x, size_t rows, size_t columns, const float *a,
                  const float *b, float slope) {
	f->leaky(y, x, rows, columns, a, b, slope);
}
static void sum(const vector_functions *f, float *y, const float *x, const float *z, size_t rows, size_t columns,
                const float *bias, float scale) {
	f->sum(y, x, z, rows, columns, bias, scale);
}
static void dense(const vector_functions *f, float *y, const float *x, size_t rows, size_t in, size_t step, size_t out,
                  const float *weights, const float *bias) {
	f->dense(y, x, rows, in, step, out, weights, bias);
}
static void round_bytes(const vector_functions *f, uint8_t *q, float *scale, const float *x, size_t rows,
                        size_t columns, size_t stride) {
	f->round_bytes(q, scale, x, rows, columns, stride);
}
static void snake_bytes(const vector_functions *f, uint8_t *q, float *scale, const float *x, size_t rows,
                        size_t columns, size_t stride, const float *a, const float *b, const float *frequency,
                        const float *height) {
	f->snake_bytes(q, scale, x, rows, columns, stride, a, b, frequency, height);
}
static void leaky_bytes(const vector_functions *f, uint8_t *q, float *scale, const float *x, size_t rows,
                        size_t columns, size_t stride, const float *a, const float *b, float slope) {
	f->leaky_bytes(q, scale, x, rows, columns, stride, a, b, slope);
}
static void linear(const vector_functions *f, float *y, const float *x, size_t in, size_t out, const int8_t *weights,
                   const float *scales, const float *bias) {
	f->linear(y, x, in, out, weights, scales, bias);
}
*/
import "C"

import "slices"

// Functions are those of one set of instructions. They are safe for concurrent use.
type Functions struct{ c *C.vector_functions }

// Best is the fastest set that this processor has.
var Best = All()[0]

// All returns the sets that this processor has, the fastest first and plain C last.
func All() []Functions {
	var all []Functions
	for i := C.size_t(0); ; i++ {
		c := C.vector_at(i)
		if c == nil {
			break
		}
		all = append(all, Functions{c})
	}
	return slices.DeleteFunc(all, func(f Functions) bool { return C.runs(f.c) == 0 })
}

// Name is that of the set of instructions, such as avx2.
func (f Functions) Name() string { return C.GoString(f.c.name) }

// Affine is a factor and a summand for each channel.
type Affine struct{ Factor, Summand []float32 }

// Snake is the activation v + height sin²(frequency v) (Ziyin and others, 2020). v is x after an affine. Height is
// one over the frequency, for each channel.
type Snake struct{ Frequency, Height []float32 }

// Snake writes y, which must not be x.
func (f Functions) Snake(y, x []float32, of Affine, s Snake) {
	columns := len(of.Factor)
	if len(y) != len(x) || len(of.Summand) != columns || len(s.Frequency) != columns || len(s.Height) != columns ||
		len(x)%columns != 0 {
		panic("vector: sizes do not fit each other")
	}
	if len(x) > 0 {
		C.snake(f.c, ptr(y), ptr(x), C.size_t(len(x)/columns), C.size_t(columns), ptr(of.Factor), ptr(of.Summand),
			ptr(s.Frequency), ptr(s.Height))
	}
}

// Leaky writes y: x after an affine, and times slope where that is negative. It must not be x.
func (f Functions) Leaky(y, x []float32, of Affine, slope float32) {
	columns := len(of.Factor)
	if len(y) != len(x) || len(of.Summand) != columns || len(x)%columns != 0 {
		panic("vector: sizes do not fit each other")
	}
	if len(x) > 0 {
		C.leaky(f.c, ptr(y), ptr(x), C.size_t(len(x)/columns), C.size_t(columns), ptr(of.Factor), ptr(of.Summand),
			C.float(slope))
	}
}

// Sum writes y, (x + z + bias) times scale, with a bias for each channel. It must be neither x nor z.
func (f Functions) Sum(y, x, z, bias []float32, scale float32) {
	if len(y) != len(x) || len(z) != len(x) || len(x)%len(bias) != 0 {
		panic("vector: sizes do not fit each other")
	}
	if len(x) > 0 {
		C.sum(f.c, ptr(y), ptr(x), ptr(z), C.size_t(len(x)/len(bias)), C.size_t(len(bias)), ptr(bias), C.float(scale))
	}
}

// denseColumns is how many columns of a [Matrix] lie side by side.
const denseColumns = 32

// Matrix is a matrix of floats [In, Out] with a bias for each column.
type Matrix struct {
	In, Out int
	panels  []float32 // [panels][In][denseColumns]
	bias    []float32
}

// NewMatrix makes a matrix of weights [out][in]. A nil bias is zero.
func NewMatrix(weights []float32, in, out int, bias []float32) *Matrix {
	if len(weights) != in*out || bias != nil && len(bias) != out {
		panic("vector: sizes do not fit each other")
	}
	if bias == nil {
		bias = make([]float32, out)
	}
	m := &Matrix{in, out, make([]float32, (out+denseColumns-1)/denseColumns*denseColumns*in), bias}
	for o := range out {
		for i := range in {
			m.panels[(o/denseColumns*in+i)*denseColumns+o%denseColumns] = weights[o*in+i]
		}
	}
	return m
}

// Multiply writes y [rows, m.Out]. Row r of x begins at r times step, so that rows may overlap.
func (f Functions) Multiply(m *Matrix, y, x []float32, rows, step int) {
	if len(y) != rows*m.Out || rows > 0 && len(x) < (rows-1)*step+m.In {
		panic("vector: sizes do not fit each other")
	}
	if rows > 0 {
		C.dense(f.c, ptr(y), ptr(x), C.size_t(rows), C.size_t(m.In), C.size_t(step), C.size_t(m.Out), ptr(m.panels),
			ptr(m.bias))
	}
}

func ptr(v []float32) *C.float { return (*C.float)(&v[0]) }

// Integers are rows of bytes. A value is its byte less 128, times the scale of its row.
type Integers struct {
	Bytes  []byte    // [rows][stride], whose last bytes of a row stand for 0
	Scales []float32 // of each row
}

// stride returns how long a row is, of so many values.
func (q Integers) stride(values, columns int) int {
	rows := len(q.Scales)
	if rows*columns != values || rows > 0 && (len(q.Bytes)%rows != 0 || len(q.Bytes)/rows < columns) ||
		columns > C.max_byte_columns {
		panic("vector: sizes do not fit each other")
	}
	return len(q.Bytes) / max(rows, 1)
}

// Round writes x as integers from -127 to 127, with a scale for each row of so many columns.
func (f Functions) Round(q Integers, x []float32, columns int) {
	stride := q.stride(len(x), columns)
	if len(x) > 0 {
		C.round_bytes(f.c, bytesOf(q), ptr(q.Scales), ptr(x), C.size_t(len(q.Scales)), C.size_t(columns),
			C.size_t(stride))
	}
}

// SnakeRound is [Functions.Snake] and then [Functions.Round].
func (f Functions) SnakeRound(q Integers, x []float32, of Affine, s Snake) {
	columns := len(of.Factor)
	stride := q.stride(len(x), columns)
	if len(of.Summand) != columns || len(s.Frequency) != columns || len(s.Height) != columns {
		panic("vector: sizes do not fit each other")
	}
	if len(x) > 0 {
		C.snake_bytes(f.c, bytesOf(q), ptr(q.Scales), ptr(x), C.size_t(len(q.Scales)), C.size_t(columns),
			C.size_t(stride),
			ptr(of.Factor), ptr(of.Summand), ptr(s.Frequency), ptr(s.Height))
	}
}

// LeakyRound is [Functions.Leaky] and then [Functions.Round].
func (f Functions) LeakyRound(q Integers, x []float32, of Affine, slope float32) {
	columns := len(of.Factor)
	stride := q.stride(len(x), columns)
	if len(of.Summand) != columns {
		panic("vector: sizes do not fit each other")
	}
	if len(x) > 0 {
		C.leaky_bytes(f.c, bytesOf(q), ptr(q.Scales), ptr(x), C.size_t(len(q.Scales)), C.size_t(columns),
			C.size_t(stride),
			ptr(of.Factor), ptr(of.Summand), C.float(slope))
	}
}

// Linear writes y: each row of weights times x, times its scale, plus its bias.
func (f Functions) Linear(y, x []float32, weights []int8, scales, bias []float32) {
	if len(weights) != len(x)*len(y) || len(scales) != len(y) || len(bias) != len(y) {
		panic("vector: sizes do not fit each other")
	}
	if len(weights) > 0 {
		C.linear(f.c, ptr(y), ptr(x), C.size_t(len(x)), C.size_t(len(y)), (*C.int8_t)(&weights[0]), ptr(scales),
			ptr(bias))
	}
}

func bytesOf(q Integers) *C.uint8_t { return (*C.uint8_t)(&q.Bytes[0]) }

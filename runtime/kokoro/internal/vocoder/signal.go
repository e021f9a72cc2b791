package vocoder

import (
	"slices"

	"github.com/swar-tts/swar/runtime/internal/convolve"
	"github.com/swar-tts/swar/runtime/internal/vector"
)

// queue holds rows of a signal that are not used yet. What is taken is valid until the next call.
type queue = lines[float32]

// lines is a queue of any values.
type lines[T float32 | byte] struct {
	width int // values of a row
	v     []T
	used  int // rows at the front that were taken
}

// rows is how many the queue holds.
func (q *lines[T]) rows() int { return len(q.v)/q.width - q.used }

// push appends whole rows.
func (q *lines[T]) push(x []T) { q.v = append(q.makeRoom(len(x)), x...) }

// pushZeros appends silent rows.
func (q *lines[T]) pushZeros(rows int) { clear(q.extend(rows)) }

// extend appends rows and returns them, to be written.
func (q *lines[T]) extend(rows int) []T {
	q.v = q.makeRoom(rows * q.width)
	n := len(q.v)
	q.v = q.v[:n+rows*q.width]
	return q.v[n:]
}

// makeRoom drops what was taken, so that the memory is as large as what is held at once.
func (q *lines[T]) makeRoom(values int) []T {
	if q.used > 0 {
		n := copy(q.v, q.v[q.used*q.width:])
		q.v, q.used = q.v[:n], 0
	}
	return slices.Grow(q.v, values)
}

// peek returns all rows.
func (q *lines[T]) peek() []T { return q.v[q.used*q.width:] }

// take removes rows from the front and returns them.
func (q *lines[T]) take(rows int) []T {
	from := q.used * q.width
	q.used += rows
	return q.v[from : q.used*q.width]
}

// integers is a queue of rows that became integers.
type integers struct {
	bytes  lines[byte]
	scales queue
}

func newIntegers(channels int) integers {
	return integers{lines[byte]{width: convolve.Stride(channels)}, queue{width: 1}}
}

func (q *integers) rows() int { return q.scales.rows() }

func (q *integers) pushZeros(rows int) {
	for to := q.bytes.extend(rows); len(to) > 0; to = to[1:] {
		to[0] = convolve.Zero
	}
	q.scales.pushZeros(rows)
}

// extend appends rows and returns them, to be written.
func (q *integers) extend(rows int) vector.Integers {
	return vector.Integers{Bytes: q.bytes.extend(rows), Scales: q.scales.extend(rows)}
}

func (q *integers) take(rows int) {
	q.bytes.take(rows)
	q.scales.take(rows)
}

// workspace is memory for one computation after the other. It belongs to one stream.
type workspace struct {
	gathered []float32 // rows as products of floats take them
	y        []float32 // what a convolution gave last, for whoever called it
	sum      []float32 // what a block gave last
}

// sized returns v with room for n values, whatever they are.
func sized(v []float32, n int) []float32 {
	if cap(v) < n {
		return make([]float32, n)
	}
	return v[:n]
}

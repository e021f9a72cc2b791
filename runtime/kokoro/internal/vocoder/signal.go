package vocoder

import "slices"

// queue holds rows of a signal that are not used yet. What is taken is valid until the next call.
type queue struct {
	width int // values of a row
	v     []float32
	used  int // rows at the front that were taken
}

// rows is how many the queue holds.
func (q *queue) rows() int { return len(q.v)/q.width - q.used }

// push appends whole rows.
func (q *queue) push(x []float32) { q.v = append(q.makeRoom(len(x)), x...) }

// pushZeros appends silent rows.
func (q *queue) pushZeros(rows int) {
	q.v = q.makeRoom(rows * q.width)
	n := len(q.v)
	q.v = q.v[:n+rows*q.width]
	clear(q.v[n:])
}

// extend appends rows and returns them, to be written.
func (q *queue) extend(rows int) []float32 {
	q.v = q.makeRoom(rows * q.width)
	n := len(q.v)
	q.v = q.v[:n+rows*q.width]
	return q.v[n:]
}

// makeRoom drops what was taken, so that the memory is as large as what is held at once.
func (q *queue) makeRoom(values int) []float32 {
	if q.used > 0 {
		n := copy(q.v, q.v[q.used*q.width:])
		q.v, q.used = q.v[:n], 0
	}
	return slices.Grow(q.v, values)
}

// peek returns all rows.
func (q *queue) peek() []float32 { return q.v[q.used*q.width:] }

// take removes rows from the front and returns them.
func (q *queue) take(rows int) []float32 {
	from := q.used * q.width
	q.used += rows
	return q.v[from : q.used*q.width]
}

// workspace is memory for one computation after the other. It belongs to one stream.
type workspace struct {
	gathered []float32 // rows as products take them
	scratch  []byte
}

// sized returns v with room for n values, whatever they are.
func sized(v []float32, n int) []float32 {
	if cap(v) < n {
		return make([]float32, n)
	}
	return v[:n]
}

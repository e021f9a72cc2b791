package vocoder

import "github.com/swar-tts/swar/runtime/internal/vector"

// convolution is one over time, without its bias, which is added where its result is used next.
type convolution struct {
	product             product
	bias                []float32 // nil for none
	in                  int       // channels
	taps, dilation, pad int
}

// convolving is a convolution of a signal that comes piece by piece. It keeps the rows that are still needed, so that each
// is computed once and the result does not depend on the pieces.
type convolving struct {
	*convolution
	begun bool
	input queue
	y     []float32
}

func (c *convolution) start() convolving {
	return convolving{convolution: c, input: queue{width: c.in}}
}

// push takes the rows that were written into next, and returns those that follow from them. end says that there will be
// no more. The result is valid until the next call.
func (c *convolving) push(w *workspace, end bool) []float32 {
	if end {
		c.input.pushZeros(c.pad)
	}
	rows := max(0, c.input.rows()-(c.taps-1)*c.dilation)
	out := c.product.columns()
	c.y = sized(c.y, rows*out)
	const together = 64 // rows that stay in the cache while they are multiplied
	for from := 0; from < rows; from += together {
		n := min(together, rows-from)
		c.product.multiply(w, c.y[from*out:(from+n)*out], c.gather(w, from, n), n)
	}
	c.input.take(rows)
	return c.y
}

// next returns the place for so many rows of input.
func (c *convolving) next(rows int) []float32 {
	if !c.begun {
		c.begun = true
		c.input.pushZeros(c.pad)
	}
	return c.input.extend(rows)
}

// gather writes what each row of the result is made of into one row.
func (c *convolving) gather(w *workspace, from, rows int) []float32 {
	x, width := c.input.peek(), c.product.width()
	if c.taps == 1 && width == c.in {
		return x[from*c.in : (from+rows)*c.in]
	}
	w.gathered = sized(w.gathered, rows*width)
	for r := range rows {
		to := w.gathered[r*width : (r+1)*width]
		if c.dilation == 1 {
			to = to[copy(to, x[(from+r)*c.in:(from+r+c.taps)*c.in]):]
		} else {
			for t := range c.taps {
				at := (from + r + t*c.dilation) * c.in
				to = to[copy(to, x[at:at+c.in]):]
			}
		}
		clear(to)
	}
	return w.gathered
}

// transposed is a transposed convolution with twice as many taps as its stride: each pair of neighbours in the input makes
// stride rows. Half a stride is cut at either end.
type transposed struct {
	product         product
	bias            []float32
	in, out, stride int
}

// transposing is one of a signal that comes piece by piece.
type transposing struct {
	*transposed
	padded, begun bool
	input         queue
	y             []float32
}

func (t *transposed) start() transposing {
	return transposing{transposed: t, input: queue{width: t.in}}
}

func (t *transposing) next(rows int) []float32 {
	if !t.padded {
		t.padded = true
		t.input.pushZeros(1)
	}
	return t.input.extend(rows)
}

// push is as that of [convolving].
func (t *transposing) push(w *workspace, end bool) []float32 {
	if end {
		t.input.pushZeros(1)
	}
	pairs := max(0, t.input.rows()-1)
	columns := t.product.columns()
	t.y = sized(t.y, pairs*columns)
	x, width := t.input.peek(), t.product.width()
	const together = 64
	for from := 0; from < pairs; from += together {
		n := min(together, pairs-from)
		w.gathered = sized(w.gathered, n*width)
		for p := range n {
			copy(w.gathered[p*width:(p+1)*width], x[(from+p)*t.in:(from+p+2)*t.in])
		}
		t.product.multiply(w, t.y[from*columns:(from+n)*columns], w.gathered, n)
	}
	t.input.take(pairs)
	y := t.y
	if half := t.stride / 2 * t.out; pairs > 0 {
		if !t.begun {
			t.begun = true
			y = y[half:]
		}
		if end {
			y = y[:len(y)-half]
		}
	}
	return y
}

// strided is a convolution of floats whose result has fewer rows than its input.
type strided struct {
	m                      *vector.Matrix
	in, taps, stride, left int // left: rows of zeros before the signal
	input                  queue
	y                      []float32
}

// push takes rows. A signal that ends needs nothing more here, because its last row is past what is needed.
func (s *strided) push(x []float32) []float32 {
	if s.left > 0 {
		s.input.pushZeros(s.left)
		s.left = 0
	}
	s.input.push(x)
	rows := 0
	if n := s.input.rows() - s.taps; n >= 0 {
		rows = n/s.stride + 1
	}
	s.y = sized(s.y, rows*s.m.Out)
	vector.Best.Multiply(s.m, s.y, s.input.peek(), rows, s.stride*s.in)
	s.input.take(rows * s.stride)
	return s.y
}

// finish returns what follows y once the signal has ended: rows of zeros come after it, as many as came before.
func (s *strided) finish(y []float32) []float32 {
	first := append([]float32(nil), y...)
	s.input.pushZeros(s.taps/2 - s.stride/2)
	return append(first, s.push(nil)...)
}

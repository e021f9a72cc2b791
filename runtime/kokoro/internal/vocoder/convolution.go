package vocoder

import (
	"github.com/swar-tts/swar/runtime/internal/convolve"
	"github.com/swar-tts/swar/runtime/internal/vector"
)

// convolution is one over time, without its bias, which is added where its result is used next.
type convolution struct {
	kernel              convolve.Kernel
	weights             *convolve.Weights
	exact               *vector.Matrix // in place of integer weights, where exactness is wanted and not speed
	bias                []float32      // nil for none
	in, out             int            // channels
	taps, dilation, pad int            // pad: rows of zeros at either end
}

// convolving is a convolution of a signal that comes piece by piece. It keeps the rows that are still needed, as
// integers, so that each is rounded and computed once and the result does not depend on the pieces.
type convolving struct {
	*convolution
	begun  bool
	input  integers
	floats queue // in place of integers for exact weights
}

func (c *convolution) start() convolving {
	return convolving{convolution: c, input: newIntegers(c.in), floats: queue{width: c.in}}
}

// begin puts zeros before the signal.
func (c *convolving) begin() {
	if !c.begun {
		c.begun = true
		c.silence()
	}
}

func (c *convolving) silence() {
	if c.exact != nil {
		c.floats.pushZeros(c.pad)
	} else {
		c.input.pushZeros(c.pad)
	}
}

// put takes rows as they are.
func (c *convolving) put(x []float32) {
	if c.begin(); c.exact != nil {
		c.floats.push(x)
	} else {
		vector.Best.Round(c.input.extend(len(x)/c.in), x, c.in)
	}
}

// leaky is as put, through an affine and an activation.
func (c *convolving) leaky(x []float32, of vector.Affine, slope float32) {
	if c.begin(); c.exact != nil {
		vector.Best.Leaky(c.floats.extend(len(x)/c.in), x, of, slope)
	} else {
		vector.Best.LeakyRound(c.input.extend(len(x)/c.in), x, of, slope)
	}
}

// snake is as leaky, with the activation of the generator.
func (c *convolving) snake(x []float32, of vector.Affine, s vector.Snake) {
	if c.begin(); c.exact != nil {
		vector.Best.Snake(c.floats.extend(len(x)/c.in), x, of, s)
	} else {
		vector.Best.SnakeRound(c.input.extend(len(x)/c.in), x, of, s)
	}
}

// push returns the rows that follow from those that came. end says that there will be no more. The result is valid
// until the next convolution with w.
func (c *convolving) push(w *workspace, end bool) []float32 {
	if end {
		c.silence()
	}
	reach := (c.taps - 1) * c.dilation
	if c.exact != nil {
		return c.pushExact(w, max(0, c.floats.rows()-reach))
	}
	rows := max(0, c.input.rows()-reach)
	w.y = sized(w.y, rows*c.out)
	c.kernel.Multiply(c.weights, w.y, c.input.bytes.peek(), c.input.scales.peek(), rows, c.dilation)
	c.input.take(rows)
	return w.y
}

// pushExact multiplies what rows of the result are made of, gathered into one row each.
func (c *convolving) pushExact(w *workspace, rows int) []float32 {
	const together = 64
	w.y = sized(w.y, rows*c.out)
	x, width := c.floats.peek(), c.taps*c.in
	for from := 0; from < rows; from += together {
		n := min(together, rows-from)
		w.gathered = sized(w.gathered, n*width)
		for i := range n * c.taps {
			at := (from + i/c.taps + i%c.taps*c.dilation) * c.in
			copy(w.gathered[i*c.in:], x[at:at+c.in])
		}
		vector.Best.Multiply(c.exact, w.y[from*c.out:(from+n)*c.out], w.gathered, n, width)
	}
	c.floats.take(rows)
	return w.y
}

// transposed is a transposed convolution with twice as many taps as its stride: each pair of neighbours in the input
// makes stride rows, as a row of a convolution of two taps. Half a stride is cut at either end.
type transposed struct {
	convolution
	channels, stride int // of the result
}

// transposing is one of a signal that comes piece by piece.
type transposing struct {
	*transposed
	convolving
	cut bool
}

func (t *transposed) start() transposing {
	return transposing{transposed: t, convolving: t.convolution.start()}
}

// push is as that of [convolving].
func (t *transposing) push(w *workspace, end bool) []float32 {
	y := t.convolving.push(w, end)
	if half := t.stride / 2 * t.channels; len(y) > 0 {
		if !t.cut {
			t.cut = true
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

// push takes rows. Behind a signal that ends come half as many zeros as the taps reach beyond a stride.
func (s *strided) push(x []float32, end bool) []float32 {
	if s.left > 0 {
		s.input.pushZeros(s.left)
		s.left = 0
	}
	s.input.push(x)
	if end {
		s.input.pushZeros((s.taps - s.stride) / 2)
	}
	rows := 0
	if n := s.input.rows() - s.taps; n >= 0 {
		rows = n/s.stride + 1
	}
	s.y = sized(s.y, rows*s.m.Out)
	vector.Best.Multiply(s.m, s.y, s.input.peek(), rows, s.stride*s.in)
	s.input.take(rows * s.stride)
	return s.y
}

package vocoder

import (
	"fmt"
	"math"

	"github.com/swar-tts/swar/runtime/internal/convolve"
	"github.com/swar-tts/swar/runtime/internal/vector"
)

// Tensors are the weights of a model by their names, such as those of a safetensors file.
type Tensors interface {
	Shape(name string) ([]int, bool)
	Floats(name string, shape ...int) ([]float32, error) // -1 stands for any size
	Int8s(name string, shape ...int) ([]int8, error)
}

// loader reads weights and keeps the first error, so that a network is written down without one in each line.
type loader struct {
	from   Tensors
	kernel convolve.Kernel
	exact  bool // no integers
	norms  []*norm
	err    error
}

func (l *loader) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

func (l *loader) floats(name string, shape ...int) []float32 {
	size := 1
	for _, n := range shape {
		size *= n
	}
	if l.err != nil {
		return make([]float32, size)
	}
	v, err := l.from.Floats(name, shape...)
	if err != nil {
		l.fail(err)
		return make([]float32, size)
	}
	return v
}

// optional reads floats that may be missing; then it returns nil.
func (l *loader) optional(name string, n int) []float32 {
	if _, ok := l.from.Shape(name); !ok {
		return nil
	}
	return l.floats(name, n)
}

// quantised reads weights [out][width] that are integers times a scale for each row.
func (l *loader) quantised(name string, shape ...int) ([]int8, []float32) {
	if l.err == nil {
		w, err := l.from.Int8s(name+".weight", shape...)
		if err == nil {
			return w, l.floats(name+".scale", shape[0])
		}
		l.fail(err)
	}
	size := 1
	for _, n := range shape {
		size *= n
	}
	return make([]int8, size), make([]float32, shape[0])
}

// convolutionOf makes one of integers [out][taps][in] with a scale for each of out, and no bias.
func (l *loader) convolutionOf(weights []int8, scales []float32, in, taps, dilation, pad int) convolution {
	c := convolution{kernel: l.kernel, in: in, out: len(scales), taps: taps, dilation: dilation, pad: pad}
	if l.err != nil {
		return c
	}
	if !l.exact {
		c.weights = convolve.Pack(weights, scales, in, taps)
		return c
	}
	width := taps * in
	f := make([]float32, len(weights))
	for i, w := range weights {
		f[i] = float32(w) * scales[i/width]
	}
	c.exact = vector.NewMatrix(f, width, c.out, nil)
	return c
}

// quantise makes integers of floats [out][width], from -127 to 127, by a scale for each of out.
func quantise(weights []float32, out int) ([]int8, []float32) {
	width := len(weights) / out
	integers, scales := make([]int8, len(weights)), make([]float32, out)
	for o := range out {
		row := weights[o*width : (o+1)*width]
		var peak float32
		for _, w := range row {
			peak = max(peak, float32(math.Abs(float64(w))))
		}
		if scales[o] = peak / 127; peak == 0 {
			continue
		}
		for i, w := range row {
			integers[o*width+i] = int8(math.RoundToEven(float64(w / scales[o])))
		}
	}
	return integers, scales
}

// convolution reads one over time: channels in and out, and how many taps it has, each so many rows from the next.
func (l *loader) convolution(name string, in, out, taps, dilation int) convolution {
	w, scales := l.quantised(name, out, taps, in)
	c := l.convolutionOf(w, scales, in, taps, dilation, (taps-1)/2*dilation)
	c.bias = l.optional(name+".bias", out)
	return c
}

// floatConvolution reads one whose weights are floats.
func (l *loader) floatConvolution(name string, in, out, taps int) *vector.Matrix {
	return vector.NewMatrix(l.floats(name+".weight", out, taps, in), taps*in, out, l.floats(name+".bias", out))
}

// transposed reads a transposed convolution that makes stride rows of each, from weights [in][out][2 stride]: each row
// of the result comes from two of the input.
func (l *loader) transposed(name string, in, out, stride int) transposed {
	w := l.floats(name+".weight", in, out, 2*stride)
	rows := make([]float32, stride*out*2*in) // [stride][out], of [before, now][in]
	for s := range stride {
		for o := range out {
			to := rows[(s*out+o)*2*in:]
			for i := range in {
				to[i], to[in+i] = w[(i*out+o)*2*stride+stride+s], w[(i*out+o)*2*stride+s]
			}
		}
	}
	t := transposed{channels: out, stride: stride}
	if l.exact {
		t.convolution = convolution{in: in, out: stride * out, taps: 2, dilation: 1, pad: 1,
			exact: vector.NewMatrix(rows, 2*in, stride*out, nil)}
	} else {
		integers, scales := quantise(rows, stride*out)
		t.convolution = l.convolutionOf(integers, scales, in, 2, 1, 1)
	}
	t.bias = l.floats(name+".bias", out)
	return t
}

// norm reads an adaptive norm: from a style, a factor and a summand for each channel.
func (l *loader) norm(name string, channels int, lacks []float32) *norm {
	w, scales := l.quantised(name+".fc", 2*channels, StyleSize)
	n := &norm{name: name, channels: channels, weights: w, scales: scales, bias: l.floats(name+".fc.bias", 2*channels),
		lacks: lacks}
	l.norms = append(l.norms, n)
	return n
}

// snake reads the frequencies of an activation.
func (l *loader) snake(name string, channels int) vector.Snake {
	s := vector.Snake{Frequency: l.floats(name, channels), Height: make([]float32, channels)}
	for i, f := range s.Frequency {
		if f == 0 && l.err == nil {
			l.fail(fmt.Errorf("tensor %s: value %d is zero", name, i))
		}
		s.Height[i] = 1 / f
	}
	return s
}

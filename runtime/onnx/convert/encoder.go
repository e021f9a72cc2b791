package convert

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// encoder turns a recording into one latent for each frame, in plain Go. It is the mirror image of the codec's decoder.
type encoder struct {
	first       convolution
	stages      []stage
	last        convolution
	transformer transformer
	down        convolution
	worked      func(products int64)
}

// stage is a residual block and the convolution behind it, which leaves one position of several.
type stage struct{ hidden, back, down convolution }

// convolution looks back only.
type convolution struct {
	// [out, kernel, in]: as positions follow one another, what a row reads is one piece
	weights                 []float32
	bias                    []float32 // nil is none
	out, in, kernel, stride int
	repeats                 bool // whether the first position stands before the beginning, instead of zeros
}

var errZeroed = errors.New("the encoder of these weights is zeroed, as it is in weights without voice cloning: use stored voices or the full weights")

// newEncoder reads the weights of the encoder. It refuses those that were published without it.
func newEncoder(c *Config, weights Weights, gelu string, worked func(products int64)) (*encoder, error) {
	m, s := &c.Mimi, &c.Mimi.SEANet
	bend, err := activation(gelu)
	if err != nil {
		return nil, err
	}
	e := &encoder{worked: worked}
	e.transformer = transformer{
		weights: weights, prefix: "mimi.encoder_transformer.transformer.layers.", layers: m.Transformer.NumLayers,
		width: m.Transformer.DModel, heads: m.Transformer.NumHeads, hidden: m.Transformer.DimFeedforward,
		period: m.Transformer.MaxPeriod, window: m.Transformer.Context, scaled: true, gelu: bend, worked: worked,
	}
	read := func(name string, out, in, kernel, stride int, biased bool) convolution {
		k := convolution{out: out, in: in, kernel: kernel, stride: stride}
		if err != nil {
			return k
		}
		var w []float32
		if w, err = weights.Floats(name+".weight", out, in, kernel); err != nil {
			return k
		}
		k.weights = byPosition(w, out, in, kernel)
		if biased {
			k.bias, err = weights.Floats(name+".bias", out)
		}
		return k
	}
	const p = "mimi.encoder.model."
	channels := s.NFilters
	e.first = read(p+"0.conv", channels, 1, s.KernelSize, 1, true)
	for i, ratio := range slices.Backward(s.Ratios) {
		at := 3 * (len(s.Ratios) - 1 - i)
		block := p + strconv.Itoa(at+1) + ".block."
		e.stages = append(e.stages, stage{
			hidden: read(block+"1.conv", channels/2, channels, s.ResidualKernelSize, 1, true),
			back:   read(block+"3.conv", channels, channels/2, 1, 1, true),
			down:   read(p+strconv.Itoa(at+3)+".conv", 2*channels, channels, 2*ratio, ratio, true),
		})
		channels *= 2
	}
	e.last = read(p+strconv.Itoa(3*len(s.Ratios)+2)+".conv", m.Transformer.DModel, channels, s.LastKernelSize, 1, true)
	n := c.resample()
	e.down = read("mimi.downsample.conv.conv", c.promptWidth(), m.Transformer.DModel, 2*n, n, false)
	e.down.repeats = true
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: without a whole encoder these weights clone no voices", err)
	case zeroed(e.first.weights) || zeroed(e.last.weights) || zeroed(e.down.weights):
		return nil, errZeroed
	}
	return e, nil
}

// byPosition turns [out, in, kernel] into [out, kernel, in].
func byPosition(w []float32, out, in, kernel int) []float32 {
	t := make([]float32, len(w))
	for o := range out {
		for i := range in {
			for k := range kernel {
				t[(o*kernel+k)*in+i] = w[(o*in+i)*kernel+k]
			}
		}
	}
	return t
}

func zeroed(w []float32) bool {
	return !slices.ContainsFunc(w, func(v float32) bool { return v != 0 })
}

// encode returns [frames, width of the prompt] for samples in [-1, 1], which are whole frames.
func (e *encoder) encode(ctx context.Context, samples []float64) ([]float64, error) {
	x, err := e.convolve(ctx, samples)
	if err != nil {
		return nil, err
	}
	if err := e.transformer.read(ctx, x, nil); err != nil {
		return nil, err
	}
	return e.run(ctx, &e.down, x)
}

// convolve runs the convolutions over two seconds at a time, because at the rate of samples all of them take a lot of
// memory. A piece begins as much earlier as the convolutions look back, so that pieces fit together exactly.
func (e *encoder) convolve(ctx context.Context, samples []float64) ([]float64, error) {
	const piece = 25 * frameSamples
	back, hop := e.lookback()
	back = (back + frameSamples - 1) / frameSamples * frameSamples
	all := make([]float64, 0, len(samples)/hop*e.last.out)
	for from := 0; from < len(samples); from += piece {
		early := min(back, from)
		x, err := e.piece(ctx, samples[from-early:min(from+piece, len(samples))])
		if err != nil {
			return nil, err
		}
		all = append(all, x[early/hop*e.last.out:]...)
	}
	return all, nil
}

// lookback returns how many samples the convolutions look back, and how many they make one position of.
func (e *encoder) lookback() (back, hop int) {
	hop = 1
	add := func(c *convolution) {
		back += (c.kernel - c.stride) * hop
		hop *= c.stride
	}
	add(&e.first)
	for i := range e.stages {
		add(&e.stages[i].hidden)
		add(&e.stages[i].down)
	}
	add(&e.last)
	return back, hop
}

func (e *encoder) piece(ctx context.Context, samples []float64) ([]float64, error) {
	x, err := e.run(ctx, &e.first, samples)
	for i := range e.stages {
		s := &e.stages[i]
		if err != nil {
			return nil, err
		}
		var y []float64
		if y, err = e.run(ctx, &s.hidden, bent(x)); err != nil {
			return nil, err
		}
		if y, err = e.run(ctx, &s.back, bent(y)); err != nil {
			return nil, err
		}
		for j, v := range y {
			x[j] += v
		}
		x, err = e.run(ctx, &s.down, bent(x))
	}
	if err != nil {
		return nil, err
	}
	return e.run(ctx, &e.last, bent(x))
}

func (e *encoder) run(ctx context.Context, c *convolution, x []float64) ([]float64, error) {
	before := (c.kernel - c.stride) * c.in
	padded := make([]float64, before, before+len(x))
	if c.repeats {
		for i := range padded {
			padded[i] = x[i%c.in]
		}
	}
	padded = append(padded, x...)
	y := make([]float64, len(x)/c.in/c.stride*c.out)
	e.worked(int64(len(y)) * int64(c.kernel*c.in))
	return y, multiplyRows(ctx, y, padded, c.stride*c.in, c.weights, c.bias, c.kernel*c.in)
}

// bent returns the ELU of x.
func bent(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		if y[i] = v; v < 0 {
			y[i] = math.Expm1(v)
		}
	}
	return y
}

// products returns about how many products encoding so many frames takes.
func (e *encoder) products(frames int) int64 {
	n, hop := int64(0), 1
	add := func(c *convolution) {
		hop *= c.stride
		n += int64(len(c.weights)) * int64(frames*frameSamples/hop)
	}
	add(&e.first)
	for i := range e.stages {
		add(&e.stages[i].hidden)
		add(&e.stages[i].back)
		add(&e.stages[i].down)
	}
	add(&e.last)
	n += e.transformer.products(frames*frameSamples/hop, false)
	add(&e.down)
	return n
}

package codec

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/swar-tts/swar/runtime/internal/convolve"
	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/rowproduct"
	"github.com/swar-tts/swar/runtime/internal/vector"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/speech"
)

// mostChannels is how many a row that becomes integers may have.
const mostChannels = 2048

// weights are what a graph holds, as it is computed here.
type weights struct {
	mean, deviation []float32 // of latents
	project         *vector.Matrix
	zeros           []float32 // a bias for as many channels as there are anywhere
	before, at      []float32 // [Upsample][CodecWidth], of the position before and of the present one
	layers          []layer
	first           convolution
	stages          []stage
	last            convolution // a row for each tap, which are added up shifted against each other
}

// layer is one of the transformer.
type layer struct {
	norms    [2]norm
	in, out  *rowproduct.Matrix
	up, down *rowproduct.Matrix
}

type norm struct{ weight, bias []float32 }

// stage makes each row stride many rows, of fewer channels, and adds what two more convolutions make of those.
type stage struct {
	stride     int
	transposed convolution // of two taps, whose outputs are the rows, one behind the other
	bias       []float32   // of a row
	block      [2]convolution
	sum        []float32 // of the biases of what is added up
}

// convolution is one that looks back only.
type convolution struct {
	weights               *convolve.Weights
	bias                  []float32
	in, out, taps, stride int
	words, scales         int // where the rows that it still needs begin in a state
}

// reader reads the constants of a graph. The first error stays.
type reader struct {
	parts *graph.Parts
	dims  bundle.Dims
	err   error

	words, scales int    // of a state, for convolutions so far
	most          int    // channels of any of them
	pages         *pages // for matrices
}

func (r *reader) fail(name, what string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("the codec's %s %s: convert the model again", name, fmt.Sprintf(what, args...))
	}
}

// shape returns the sizes of a constant, of which there are so many.
func (r *reader) shape(name string, rank int) []int {
	t := r.parts.Tensor(name)
	switch {
	case t == nil:
		r.fail(name, "is missing")
	case len(t.Dims) != rank || t.Size() == 0:
		r.fail(name, "has the shape %v, want %d sizes", t.Dims, rank)
	default:
		return t.Dims
	}
	return slices.Repeat([]int{1}, rank)
}

// floats returns a constant of the given shape.
func (r *reader) floats(name string, shape ...int) []float32 {
	n := 1
	for _, size := range shape {
		n *= size
	}
	if got := r.shape(name, len(shape)); r.err == nil && !slices.Equal(got, shape) {
		r.fail(name, "has the shape %v, want %v", got, shape)
	}
	if r.err != nil {
		return make([]float32, n)
	}
	values, err := r.parts.Tensor(name).Floats()
	if err != nil || len(values) != n {
		r.err = errors.Join(err, fmt.Errorf("the codec's %s has %d values, want %d", name, len(values), n))
		return make([]float32, n)
	}
	return values
}

// matrix reads integers of [in, out].
func (r *reader) matrix(name string, in, out int) *rowproduct.Matrix {
	got := r.shape(name, 2)
	scales := r.floats(name+".scales", out)
	if r.err == nil && (!slices.Equal(got, []int{in, out}) || in%rowproduct.PanelDepth != 0 || in > rowproduct.MaxIn) {
		r.fail(name, "has the shape %v, want [%d %d]", got, in, out)
	}
	if r.err != nil {
		return nil
	}
	values, err := r.parts.Tensor(name).Bytes()
	if err != nil || len(values) != in*out {
		r.err = errors.Join(err, fmt.Errorf("the codec's %s has %d values, want %d", name, len(values), in*out))
		return nil
	}
	integers := make([]int8, len(values))
	for i, v := range values {
		integers[i] = int8(v)
	}
	return rowproduct.Pack(take[int8](r.pages, rowproduct.PanelBytes(in, out)), integers, scales, in, out)
}

func (r *reader) read() *weights {
	d := r.dims
	w := &weights{mean: r.floats("flow_lm.emb_mean", d.Latent), deviation: r.floats("flow_lm.emb_std", d.Latent)}
	w.project = vector.NewMatrix(r.floats("mimi.quantizer.output_proj.weight", d.CodecWidth, d.Latent, 1), d.Latent,
		d.CodecWidth, nil)
	w.before, w.at = make([]float32, d.Upsample*d.CodecWidth), make([]float32, d.Upsample*d.CodecWidth)
	for i, v := range r.floats("mimi.upsample.convtr.convtr.weight", d.CodecWidth*d.Upsample, 1, 2) {
		channel, phase := i/2/d.Upsample, i/2%d.Upsample
		to := [][]float32{w.before, w.at}[i%2]
		to[phase*d.CodecWidth+channel] = v
	}
	for i := 0; r.err == nil; i++ {
		p := "mimi.decoder_transformer.transformer.layers." + strconv.Itoa(i) + "."
		if r.parts.Tensor(p+"norm1.weight") == nil {
			break
		}
		w.layers = append(w.layers, r.layer(p))
	}
	const p = "mimi.decoder.model."
	w.first = r.convolution(p + "0.conv")
	channels, samples, number := w.first.out, d.Upsample, 2
	if w.first.in != d.CodecWidth {
		r.fail(p+"0.conv", "has %d channels, want %d", w.first.in, d.CodecWidth)
	}
	for ; r.err == nil && r.parts.Tensor(p+strconv.Itoa(number+1)+".block.1.conv.weight") != nil; number += 3 {
		s := r.stage(p+strconv.Itoa(number)+".convtr", p+strconv.Itoa(number+1)+".block.", channels)
		w.stages = append(w.stages, s)
		channels, samples = s.block[0].in, samples*s.stride
	}
	if samples != speech.FrameSamples {
		r.fail("stages", "make %d samples of a frame, want %d", samples, speech.FrameSamples)
	}
	w.last = r.tail(p+strconv.Itoa(number)+".conv", channels)
	w.zeros = make([]float32, max(r.most, d.CodecWidth))
	return w
}

func (r *reader) layer(p string) layer {
	width := r.dims.CodecWidth
	hidden := r.shape(p+"linear1.weight", 2)[1]
	l := layer{
		in:  r.matrix(p+"self_attn.in_proj.weight", width, 3*width),
		out: r.matrix(p+"self_attn.out_proj.weight", width, width),
		up:  r.matrix(p+"linear1.weight", width, hidden), down: r.matrix(p+"linear2.weight", hidden, width),
	}
	for i := range l.norms {
		name := p + "norm" + strconv.Itoa(i+1)
		l.norms[i] = norm{r.floats(name+".weight", width), r.floats(name+".bias", width)}
	}
	return l
}

// convolution reads weights of [out, in, taps].
func (r *reader) convolution(name string) convolution {
	s := r.shape(name+".weight", 3)
	out, in, taps := s[0], s[1], s[2]
	w := r.floats(name+".weight", s...)
	t := make([]float32, len(w))
	for i, v := range w {
		t[(i/taps/in*taps+i%taps)*in+i/taps%in] = v
	}
	return r.keep(name, t, r.floats(name+".bias", out), in, out, taps)
}

// keep packs weights [out][taps][in] and finds a place for what the convolution keeps.
func (r *reader) keep(name string, w, bias []float32, in, out, taps int) convolution {
	if r.most = max(r.most, in, out); in > mostChannels {
		r.fail(name, "has %d channels, want at most %d", in, mostChannels)
	}
	if r.err != nil {
		return convolution{in: 1, out: 1, taps: 1}
	}
	c := convolution{convolve.PackWords(w, in, out, taps), bias, in, out, taps, convolve.WordStride(in), r.words,
		r.scales}
	r.words, r.scales = r.words+(taps-1)*c.stride, r.scales+taps-1
	return c
}

// stage reads a transposed convolution of so many channels, written as a plain one of two taps, or as three products,
// with the outputs of a channel side by side, and the block behind it.
func (r *reader) stage(name, block string, in int) stage {
	s := stage{block: [2]convolution{r.convolution(block + "1.conv"), r.convolution(block + "3.conv")}}
	out, hidden := s.block[0].in, s.block[0].out
	if b := s.block[1]; b.in != hidden || b.out != out || b.taps != 1 {
		r.fail(block, "has %d and %d channels, want %d and %d", b.in, b.out, hidden, out)
	}
	s.stride = r.shape(name+".bias", 1)[0] / out
	if s.stride < 1 {
		r.fail(name, "has no outputs")
	}
	if r.err != nil {
		return s
	}
	rows := s.stride * out
	var parts [2][]float32
	if r.parts.Tensor(name+".weight") != nil {
		w := r.floats(name+".weight", rows, in, 2)
		for i := range parts {
			parts[i] = make([]float32, rows*in)
			for j := range parts[i] {
				parts[i][j] = w[2*j+i]
			}
		}
	} else {
		parts[0], parts[1] = r.floats(name+".before", rows, in, 1), r.floats(name+".at", rows, in, 1)
	}
	spread := r.floats(name+".bias", rows)
	if r.err != nil {
		return s
	}
	w, bias := make([]float32, 0, 2*rows*in), make([]float32, out)
	for phase := range s.stride {
		for o := range out {
			row := o*s.stride + phase
			w = append(append(w, parts[0][row*in:(row+1)*in]...), parts[1][row*in:(row+1)*in]...)
			bias[o] = spread[row]
		}
	}
	s.transposed, s.bias = r.keep(name, w, nil, in, rows, 2), bias
	s.sum = make([]float32, out)
	for o := range s.sum {
		s.sum[o] = bias[o] + s.block[1].bias[o]
	}
	return s
}

// tail reads the last convolution, whose taps are outputs of [taps, in, 1].
func (r *reader) tail(name string, in int) convolution {
	taps := r.shape(name+".weight", 3)[0]
	return r.keep(name, r.floats(name+".weight", taps, in, 1), r.floats(name+".bias", taps), in, taps, 1)
}

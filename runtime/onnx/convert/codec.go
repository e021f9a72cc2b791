package convert

import (
	"math"
	"strconv"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// Codec builds the decoder from latents to samples. Any number of frames can be decoded at once; what one call leaves
// for the next is in the states, which start as zeros. A state may be written in place: it is only written after it
// was read.
//
// The host gives the rotations of the new positions, and a mask that is added to attention scores: one row for each
// new position, one column for each of the window-1 positions before and for each new one, 0 where a row may look and
// minus infinity elsewhere.
func (c *Checkpoint) Codec() (Built, error) {
	d, err := c.codec()
	return d.built(err)
}

func (c *Checkpoint) codec() (*drawn, error) {
	d, m := c.Dims(), &c.Config.Mimi
	b := &codecBuilder{builder: c.builder("codec")}
	width := d.CodecWidth
	latents := b.Input("latents", graph.F32, 1, "frames", d.Latent)
	half := width / d.CodecHeads / 2
	cos, sin := b.Input("cos", graph.F32, "positions", half), b.Input("sin", graph.F32, "positions", half)
	mask := b.Input("mask", graph.F32, "positions", "keys")

	x := b.Op("Mul", []graph.Value{latents, b.weight("flow_lm.emb_std", d.Latent)})
	x = b.Op("Add", []graph.Value{x, b.weight("flow_lm.emb_mean", d.Latent)})
	x = b.transpose(x)
	x = b.Op("Conv", []graph.Value{x, b.weight("mimi.quantizer.output_proj.weight", width, d.Latent, 1)})
	x = b.upsample(x, "mimi.upsample.convtr.convtr", width, d.Upsample)
	x = b.Op("Reshape", []graph.Value{b.transpose(x), b.Ints(-1, int64(width))})
	b.countRows(x)
	for i := range m.Transformer.NumLayers {
		x = b.layer(x, i, cos, sin, mask)
	}
	x = b.transpose(b.Op("Reshape", []graph.Value{x, b.Ints(1, -1, int64(width))}))

	channels, positions := m.SEANet.NFilters<<len(m.SEANet.Ratios), d.Upsample // of a frame
	const p = "mimi.decoder.model."
	x = b.conv(x, p+"0.conv", channels, width, m.SEANet.KernelSize)
	for i, ratio := range m.SEANet.Ratios {
		x = b.elu(x)
		// the widest, whose long sums would lose too much of what plans of decoding may differ by
		upsample := b.transposed
		if i > 0 && positions%2 == 0 {
			upsample = b.transposedPairs
		}
		x = upsample(x, p+strconv.Itoa(3*i+2)+".convtr", channels, channels/2, ratio)
		positions *= ratio
		channels /= 2
		block := p + strconv.Itoa(3*i+3) + ".block."
		y := b.conv(b.elu(x), block+"1.conv", channels/2, channels, m.SEANet.ResidualKernelSize)
		y = b.conv(b.elu(y), block+"3.conv", channels, channels/2, 1)
		x = b.Op("Add", []graph.Value{x, y})
	}
	x = b.last(b.elu(x), p+strconv.Itoa(3*len(m.SEANet.Ratios)+2)+".conv", channels, m.SEANet.LastKernelSize)
	b.Output("audio", x, graph.F32, 1, 1, "samples")
	return b.drawn(b.states...)
}

type codecBuilder struct {
	*builder
	states []bundle.State
}

// carry puts the last n positions of the call before in front of x. Positions are the third dimension.
func (b *codecBuilder) carry(x graph.Value, name string, n int, shape ...int) graph.Value {
	const axis = 2
	b.states = append(b.states, bundle.State{Name: name, Shape: shape})
	dims := make([]any, len(shape))
	for i, s := range shape {
		dims[i] = s
	}
	all := b.Op("Concat", []graph.Value{b.Input(name, graph.F32, dims...), x}, graph.Attr{Name: "axis", Value: axis})
	rest := b.Op("Slice", []graph.Value{all, b.Ints(int64(-n)), b.Ints(math.MaxInt64), b.Ints(axis)})
	b.Output(name+"_out", rest, graph.F32, dims...)
	return all
}

// transpose exchanges channels and positions.
func (b *codecBuilder) transpose(x graph.Value) graph.Value {
	return b.Op("Transpose", []graph.Value{x}, graph.Attr{Name: "perm", Value: []int64{0, 2, 1}})
}

// elu is x above zero and e^x-1 below, put together of operators that ONNX Runtime has for wide registers. Its own
// Elu is not among them: it took an eighth of the time of decoding.
func (b *codecBuilder) elu(x graph.Value) graph.Value {
	below := b.Op("Exp", []graph.Value{b.Op("Min", []graph.Value{x, b.Float(0)})})
	return b.Op("Max", []graph.Value{x, b.Op("Sub", []graph.Value{below, b.Float(1)})})
}

// conv is a convolution that looks back only.
func (b *codecBuilder) conv(x graph.Value, name string, out, in, kernel int) graph.Value {
	if kernel > 1 {
		x = b.carry(x, name, kernel-1, 1, in, kernel-1)
	}
	return b.Op("Conv", []graph.Value{x, b.weight(name+".weight", out, in, kernel), b.weight(name+".bias", out)})
}

// last is a convolution to a single channel that looks back only. The taps are applied before they are shifted
// against each other and added: what has to be copied is then a row for each tap, not all channels.
func (b *codecBuilder) last(x graph.Value, name string, in, kernel int) graph.Value {
	w := b.read(name+".weight", 1, in, kernel)
	taps, bias := make([]float32, kernel*in), make([]float32, kernel)
	for i, v := range w {
		taps[i%kernel*in+i/kernel] = v
	}
	// the tap of the newest position, of which nothing is carried into another call
	bias[kernel-1] = b.read(name+".bias", 1)[0]
	y := b.Op("Conv",
		[]graph.Value{x, b.Floats(name+".weight", taps, kernel, in, 1), b.Floats(name+".bias", bias, kernel)})
	if kernel == 1 {
		return y
	}
	y = b.carry(y, name, kernel-1, 1, kernel, kernel-1)
	shifted := func(tap int) graph.Value {
		end := int64(math.MaxInt64)
		if tap < kernel-1 {
			end = int64(tap - (kernel - 1))
		}
		return b.Op("Slice", []graph.Value{y, b.Ints(int64(tap), int64(tap)), b.Ints(int64(tap+1), end), b.Ints(1, 2)})
	}
	sum := shifted(0)
	for tap := 1; tap < kernel; tap++ {
		sum = b.Op("Add", []graph.Value{sum, shifted(tap)})
	}
	return sum
}

// A transposed convolution of twice its stride gives, for each position, stride many outputs, which depend on it and
// on the position before. So it is a plain convolution with a kernel of two and stride times the channels, which runs
// faster, and what it carries from call to call is one input instead of a half-finished output.

// upsample is such a convolution of each channel for itself, without bias.
func (b *codecBuilder) upsample(x graph.Value, name string, width, stride int) graph.Value {
	before, at := phases(b.read(name+".weight", width, 1, 2*stride), 1, width, stride)
	return b.ofTwo(x, name, before, at, width, width, stride, nil, graph.Attr{Name: "group", Value: width})
}

// transposed is such a convolution of all channels.
func (b *codecBuilder) transposed(x graph.Value, name string, in, out, stride int) graph.Value {
	before, at := phases(b.read(name+".weight", in, out, 2*stride), in, out, stride)
	return b.ofTwo(x, name, before, at, in, out, stride, []graph.Value{b.spreadBias(name, out, stride)})
}

// transposedPairs is transposed for an even number of positions. Two neighbours come out as
//
//	y[2i]   = before·x[2i-1] + at·x[2i]
//	y[2i+1] = before·x[2i]   + at·x[2i+1]
//
// in three products instead of four (F(2,2) in S. Winograd, Arithmetic Complexity of Computations, 1980):
//
//	a = before·(x[2i-1] - x[2i])    b = (before + at)·x[2i]    c = at·(x[2i+1] - x[2i])
//	y[2i] = a + b                   y[2i+1] = b + c
func (b *codecBuilder) transposedPairs(x graph.Value, name string, in, out, stride int) graph.Value {
	before, at := phases(b.read(name+".weight", in, out, 2*stride), in, out, stride)
	both := make([]float32, len(at))
	for i := range both {
		both[i] = before[i] + at[i]
	}
	pairs := b.transpose(b.Op("Reshape", []graph.Value{x, b.Ints(int64(in), -1, 2)}))
	row := func(i int64) graph.Value {
		half := b.Op("Slice", []graph.Value{pairs, b.Ints(i), b.Ints(i + 1), b.Ints(1)})
		return b.Op("Reshape", []graph.Value{half, b.Ints(1, int64(in), -1)})
	}
	even, odd := row(0), row(1)
	left := b.Op("Slice", []graph.Value{b.carry(odd, name, 1, 1, in, 1), b.Ints(0), b.Ints(-1), b.Ints(2)})

	product := func(x graph.Value, part string, w []float32, bias ...graph.Value) graph.Value {
		return b.Op("Conv", append([]graph.Value{x, b.Floats(name+part, w, out*stride, in, 1)}, bias...))
	}
	difference := func(x, y graph.Value) graph.Value { return b.Op("Sub", []graph.Value{x, y}) }
	ya := product(difference(left, even), ".before", before)
	yb := product(even, ".both", both, b.spreadBias(name, out, stride))
	yc := product(difference(odd, even), ".at", at)
	sum := func(x, y graph.Value) graph.Value {
		return b.Op("Reshape", []graph.Value{b.Op("Add", []graph.Value{x, y}), b.Ints(int64(out), int64(stride), -1)})
	}
	// What neighbours give are two groups of outputs of the pair.
	y := b.Op("Concat", []graph.Value{sum(ya, yb), sum(yb, yc)}, graph.Attr{Name: "axis", Value: 1})
	return b.spread(y, out, 2*stride)
}

// phases takes the weight of a transposed convolution apart, [in, out, 2*stride], into the parts of a position and of
// the one before, both [out*stride, in].
func phases(w []float32, in, out, stride int) (before, at []float32) {
	before, at = make([]float32, out*stride*in), make([]float32, out*stride*in)
	for i := range in {
		for o := range out {
			for phase := range stride {
				from, to := (i*out+o)*2*stride+phase, (o*stride+phase)*in+i
				at[to], before[to] = w[from], w[from+stride]
			}
		}
	}
	return before, at
}

// ofTwo is the plain convolution with a kernel of two.
func (b *codecBuilder) ofTwo(x graph.Value, name string, before, at []float32, in, out, stride int,
	bias []graph.Value, attrs ...graph.Attr) graph.Value {
	w := make([]float32, 0, 2*len(at))
	for i := range at {
		w = append(w, before[i], at[i])
	}
	inputs := []graph.Value{b.carry(x, name, 1, 1, in, 1),
		b.Floats(name+".weight", w, out*stride, len(at)/(out*stride), 2)}
	return b.spread(b.Op("Conv", append(inputs, bias...), attrs...), out, stride)
}

// spread turns [1, out*stride, positions] into [1, out, positions*stride].
func (b *codecBuilder) spread(x graph.Value, out, stride int) graph.Value {
	x = b.transpose(b.Op("Reshape", []graph.Value{x, b.Ints(int64(out), int64(stride), -1)}))
	return b.Op("Reshape", []graph.Value{x, b.Ints(1, int64(out), -1)})
}

// spreadBias repeats each channel's bias for its outputs.
func (b *codecBuilder) spreadBias(name string, out, stride int) graph.Value {
	bias := make([]float32, 0, out*stride)
	for _, v := range b.read(name+".bias", out) {
		for range stride {
			bias = append(bias, v)
		}
	}
	return b.Floats(name+".bias", bias, out*stride)
}

// layer is one layer of the transformer, on [positions, width].
func (b *codecBuilder) layer(x graph.Value, i int, cos, sin, mask graph.Value) graph.Value {
	d, m := b.c.Dims(), &b.c.Config.Mimi.Transformer
	width, heads := d.CodecWidth, d.CodecHeads
	head := width / heads
	p := layer("mimi.decoder_transformer.transformer.layers.", i)

	in := p + "self_attn.in_proj.weight"
	qkv := b.multiply(b.norm(x, p+"norm1", width, 1e-5), in, b.attentionWeight(in), width, 3*width)
	qkv = b.Op("Reshape", []graph.Value{qkv, b.Ints(-1, 3, int64(heads), int64(head))})
	// [3, heads, positions, head]
	qkv = b.Op("Transpose", []graph.Value{qkv}, graph.Attr{Name: "perm", Value: []int64{1, 2, 0, 3}})
	parts := b.Ops("", "Split", 2, []graph.Value{qkv, b.Ints(2, 1)}, graph.Attr{Name: "axis", Value: 0})
	qk := b.Ops("", "Split", 2, []graph.Value{b.rotate(parts[0], cos, sin, head/2), b.Ints(1, 1)},
		graph.Attr{Name: "axis", Value: 0})

	before := d.CodecWindow - 1
	k := b.carry(qk[1], p+"K", before, 1, heads, before, head)
	v := b.carry(parts[1], p+"V", before, 1, heads, before, head)
	scores := b.Op("MatMul",
		[]graph.Value{qk[0], b.Op("Transpose", []graph.Value{k}, graph.Attr{Name: "perm", Value: []int64{0, 1, 3, 2}})})
	seen := b.Op("Softmax", []graph.Value{b.Op("Add", []graph.Value{scores, mask})},
		graph.Attr{Name: "axis", Value: -1})
	y := b.Op("Transpose", []graph.Value{b.Op("MatMul", []graph.Value{seen, v})},
		graph.Attr{Name: "perm", Value: []int64{0, 2, 1, 3}})
	y = b.Op("Reshape", []graph.Value{y, b.Ints(-1, int64(width))})
	x = b.Op("Add", []graph.Value{x, b.linear(y, p+"self_attn.out_proj.weight", width, width, p+"layer_scale_1.scale")})

	f := b.gelu(b.linear(b.norm(x, p+"norm2", width, 1e-5), p+"linear1.weight", m.DimFeedforward, width, ""))
	return b.Op("Add",
		[]graph.Value{x, b.linear(f, p+"linear2.weight", width, m.DimFeedforward, p+"layer_scale_2.scale")})
}

// attentionWeight is the transposed weight of queries, keys and values. Queries are scaled already. The rotation
// turns neighbours in a head; here the first of all pairs come before the second, so that it turns one half against
// the other. As queries and keys are reordered alike, their products stay what they are.
func (b *codecBuilder) attentionWeight(name string) []float32 {
	d := b.c.Dims()
	width, head := d.CodecWidth, d.CodecWidth/d.CodecHeads
	w := b.read(name, 3*width, width)
	t := make([]float32, len(w))
	for row := range 3 * width {
		from, scale := row, float32(1)
		if row < 2*width {
			pair, second := row%head%(head/2), row%head/(head/2)
			from = row - row%head + 2*pair + second
		}
		if row < width {
			scale = float32(1 / math.Sqrt(float64(head)))
		}
		for i := range width {
			t[i*3*width+row] = w[from*width+i] * scale
		}
	}
	return t
}

func (b *codecBuilder) rotate(x, cos, sin graph.Value, half int) graph.Value {
	h := b.Ops("", "Split", 2, []graph.Value{x, b.Ints(int64(half), int64(half))}, graph.Attr{Name: "axis", Value: 3})
	mul := func(a, f graph.Value) graph.Value { return b.Op("Mul", []graph.Value{a, f}) }
	first := b.Op("Sub", []graph.Value{mul(h[0], cos), mul(h[1], sin)})
	second := b.Op("Add", []graph.Value{mul(h[0], sin), mul(h[1], cos)})
	return b.Op("Concat", []graph.Value{first, second}, graph.Attr{Name: "axis", Value: 3})
}

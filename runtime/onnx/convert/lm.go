package convert

import (
	"fmt"
	"math"
	"strconv"

	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// LM builds the graph of the language model. It reads many rows at once (prefill, one stream) or one row for each of
// several streams.
//
// The host makes the rows, so that text, the start row and latents look alike to the graph. Keys and values are
// written in place: the tensors KI and VI must also be given as the outputs KI_out and VI_out. lengths holds the
// number of positions before the last row of each stream, total the number of positions of the longest stream, with
// the new rows. The graph returns h, the state after the last row, and eos, its logit; with one flow step it returns
// latent too, which is noise moved by the flow.
func (c *Checkpoint) LM() (Built, error) {
	d, err := c.lm()
	return d.built(err)
}

func (c *Checkpoint) lm() (*drawn, error) {
	d := c.Dims()
	b := c.builder("lm")
	rows := b.Input("rows", graph.F32, "streams", "rows", d.Width)
	merged := c.Steps == 1
	var noise graph.Value
	if merged {
		noise = b.Input("noise", graph.F32, "streams", d.Latent)
	}
	lengths, total := b.Input("lengths", graph.I32, "streams"), b.Input("total", graph.I32, 1)

	cos, sin := make([]float32, c.Positions*d.HeadDim/2), make([]float32, c.Positions*d.HeadDim/2)
	bundle.Rotations(cos, sin, bundle.RotationFrequencies(d.RoPE, d.HeadDim), 0, c.Positions)
	cosines, sines := b.Floats("cos", cos, c.Positions, d.HeadDim/2), b.Floats("sin", sin, c.Positions, d.HeadDim/2)
	// Rows of all streams lie in one matrix; attention alone has to tell streams apart.
	shape := b.Op("Shape", []graph.Value{rows})
	packed := b.Op("Concat",
		[]graph.Value{b.Op("Slice", []graph.Value{shape, b.Ints(0), b.Ints(2)}), b.Ints(int64(3 * d.Width))},
		graph.Attr{Name: "axis", Value: 0})
	flat := b.Ints(-1, int64(d.Width))
	last := func(x graph.Value) graph.Value {
		return b.Op("Reshape",
			[]graph.Value{b.Op("Gather", []graph.Value{x, b.Ints(-1)}, graph.Attr{Name: "axis", Value: 1}), flat})
	}
	x := b.Op("Reshape", []graph.Value{rows, flat})
	b.countRows(x)
	for i := range d.Layers {
		n := strconv.Itoa(i)
		k := b.Input("K"+n, graph.F32, "streams", d.Heads, "capacity", d.HeadDim)
		v := b.Input("V"+n, graph.F32, "streams", d.Heads, "capacity", d.HeadDim)
		p := layer("flow_lm.transformer.layers.", i)
		qkv := b.linear(b.norm(x, p+"norm1", d.Width, 1e-5), p+"self_attn.in_proj.weight", 3*d.Width, d.Width, "")
		attention := b.Ops(graph.Contrib, "GroupQueryAttention", 3,
			[]graph.Value{b.Op("Reshape", []graph.Value{qkv, packed}), "", "", k, v, lengths, total, cosines, sines},
			graph.Attr{Name: "num_heads", Value: d.Heads}, graph.Attr{Name: "kv_num_heads", Value: d.Heads},
			graph.Attr{Name: "do_rotary", Value: 1}, graph.Attr{Name: "rotary_interleaved", Value: 1})
		b.Output("K"+n+"_out", attention[1], graph.F32, "streams", d.Heads, "capacity", d.HeadDim)
		b.Output("V"+n+"_out", attention[2], graph.F32, "streams", d.Heads, "capacity", d.HeadDim)
		seen := b.Op("Reshape", []graph.Value{attention[0], flat})
		if i == d.Layers-1 { // only the last row of each stream goes on; the others were here to be remembered
			x, seen = last(b.Op("Reshape", []graph.Value{x, shape})), last(attention[0])
			b.countRows(x)
		}
		x = b.Op("Add", []graph.Value{x, b.linear(seen, p+"self_attn.out_proj.weight", d.Width, d.Width, "")})
		f := b.gelu(b.linear(b.norm(x, p+"norm2", d.Width, 1e-5), p+"linear1.weight", d.FFN, d.Width, ""))
		x = b.Op("Add", []graph.Value{x, b.linear(f, p+"linear2.weight", d.Width, d.FFN, "")})
	}

	h := b.norm(x, "flow_lm.out_norm", d.Width, 1e-5)
	eos := b.affine(h, "flow_lm.out_eos", 1, d.Width)
	if merged {
		var time graph.Value
		if c.Config.FlowLM.Flow.Type == bundle.LSD {
			times, err := c.times()
			if err != nil {
				return nil, err
			}
			time = b.Floats("time", times, 1, d.FlowWidth)
		}
		b.Output("latent", b.flow(h, noise, time), graph.F32, "streams", d.Latent)
	}
	b.Output("h", h, graph.F32, "streams", d.Width)
	b.Output("eos", eos, graph.F32, "streams", 1)
	return b.drawn()
}

// FlowHead builds one step of the flow. It goes from the state h, the point x and the row of the time table for this
// step to the next point. The time table is part of [bundle.Host].
func (c *Checkpoint) FlowHead() (Built, error) {
	d, err := c.flowHead()
	return d.built(err)
}

func (c *Checkpoint) flowHead() (*drawn, error) {
	d := c.Dims()
	b := c.builder("flow")
	h, x := b.Input("h", graph.F32, "streams", d.Width), b.Input("x", graph.F32, "streams", d.Latent)
	time := b.Input("time", graph.F32, 1, d.FlowWidth)
	b.Output("x_out", b.flow(h, x, time), graph.F32, "streams", d.Latent)
	return b.drawn()
}

// flow moves x by the flow's direction, for one of the steps. The time is the empty value where the flow knows none.
// Drifting does not move x but replaces it.
func (b *builder) flow(h, x, time graph.Value) graph.Value {
	const p = "flow_lm.flow_net."
	d := b.c.Dims()
	f := d.FlowWidth
	b.countRows(h)
	condition := b.affine(h, p+"cond_embed", f, d.Width)
	if time != "" {
		condition = b.Op("Add", []graph.Value{condition, time})
	}
	m := b.modulations(b.silu(condition))
	modulated := func(norm, scale, shift graph.Value) graph.Value {
		return b.Op("Add", []graph.Value{b.Op("Mul", []graph.Value{norm, scale}), shift})
	}
	y := b.affine(x, p+"input_proj", f, d.Latent)
	for i := range b.c.Config.FlowLM.Flow.Depth {
		q := layer(p+"res_blocks.", i)
		z := modulated(b.norm(y, q+"in_ln", f, 1e-6), m[1], m[0])
		z = b.dense(b.silu(b.dense(z, q+"mlp.0", f, f)), q+"mlp.2", f, f)
		y = b.Op("Add", []graph.Value{y, b.Op("Mul", []graph.Value{m[2], z})})
		m = m[3:]
	}
	ones := make([]float32, f)
	for i := range ones {
		ones[i] = 1
	}
	plain := b.Op("LayerNormalization", []graph.Value{y, b.Floats(p+"ones", ones, f)},
		graph.Attr{Name: "epsilon", Value: float32(1e-6)})
	direction := b.affine(modulated(plain, m[1], m[0]), p+"final_layer.linear", d.Latent, f)
	if b.c.Config.FlowLM.Flow.Type == bundle.Drifting {
		return direction
	}
	if b.c.Steps > 1 {
		direction = b.Op("Mul", []graph.Value{direction, b.Floats(p+"step", []float32{1 / float32(b.c.Steps)}, 1)})
	}
	return b.Op("Add", []graph.Value{x, direction})
}

// modulations returns what the condition makes of every block, shift, scale and gate, and of the last layer, shift
// and scale. All of it comes out of one product, because more than half of the flow's weights are in here: as
// integers they are read in a quarter of the time, and the condition becomes integers only once. The one that is
// added to each scale is part of the bias.
func (b *builder) modulations(condition graph.Value) []graph.Value {
	const p = "flow_lm.flow_net."
	f, depth := b.c.Dims().FlowWidth, b.c.Config.FlowLM.Flow.Depth
	columns := f * (3*depth + 2)
	matrix, bias := make([]float32, f*columns), make([]float32, 0, columns)
	add := func(name string, parts int) {
		w := b.read(name+".weight", parts*f, f)
		for out := range parts * f {
			for in := range f {
				matrix[in*columns+len(bias)+out] = w[out*f+in]
			}
		}
		for i, v := range b.read(name+".bias", parts*f) {
			if i/f == 1 {
				v++
			}
			bias = append(bias, v)
		}
	}
	for i := range depth {
		add(layer(p+"res_blocks.", i)+"adaLN_modulation.1", 3)
	}
	add(p+"final_layer.adaLN_modulation.1", 2)
	all := b.multiply(condition, p+"modulations", matrix, f, columns)
	all = b.Op("Add", []graph.Value{all, b.Floats(p+"modulations.bias", bias, columns)})
	sizes := make([]int64, 3*depth+2)
	for i := range sizes {
		sizes[i] = int64(f)
	}
	return b.Ops("", "Split", len(sizes), []graph.Value{all, b.Ints(sizes...)}, graph.Attr{Name: "axis", Value: 1})
}

// times returns one row for each step: what the flow's net adds to its condition for a step from i/n to (i+1)/n. It
// depends on nothing else, so that it need not be computed for every frame. Drifting knows no time: its row is zeros,
// so that the host treats all models alike.
func (c *Checkpoint) times() ([]float32, error) {
	d := c.Dims()
	table := make([]float32, c.Steps*d.FlowWidth)
	if c.Config.FlowLM.Flow.Type == bundle.Drifting {
		return table, nil
	}
	for e := range 2 {
		p := fmt.Sprintf("flow_lm.flow_net.time_embed.%d.", e)
		// stored, because a checkpoint of 16 bits holds rounded ones
		frequencies, err := c.Weights.Floats(p+"freqs", -1)
		if err != nil {
			return nil, fmt.Errorf("the flow's time: %w", err)
		}
		n, b := len(frequencies), c.builder("")
		w0, b0 := b.read(p+"mlp.0.weight", d.FlowWidth, 2*n), b.read(p+"mlp.0.bias", d.FlowWidth)
		w2, b2 := b.read(p+"mlp.2.weight", d.FlowWidth, d.FlowWidth), b.read(p+"mlp.2.bias", d.FlowWidth)
		alpha := b.read(p+"mlp.3.alpha", d.FlowWidth)
		if b.err != nil {
			return nil, fmt.Errorf("the flow's time: %w", b.err)
		}
		for step := range c.Steps {
			// the first embedding reads where a step begins, the second where it ends
			at := float64(step+e) / float64(c.Steps)
			waves := make([]float64, 2*n)
			for i, f := range frequencies {
				waves[i], waves[n+i] = math.Cos(at*float64(f)), math.Sin(at*float64(f))
			}
			hidden := multiply(w0, b0, waves)
			for i, v := range hidden {
				hidden[i] = v / (1 + math.Exp(-v))
			}
			out := multiply(w2, b2, hidden)
			spread := math.Sqrt(1e-5 + variance(out))
			for i, v := range out {
				table[step*d.FlowWidth+i] += float32(v * float64(alpha[i]) / spread / 2)
			}
		}
	}
	return table, nil
}

func multiply(weight, bias []float32, x []float64) []float64 {
	y := make([]float64, len(bias))
	for i, b := range bias {
		y[i] = float64(b)
		for j, v := range x {
			y[i] += float64(weight[i*len(x)+j]) * v
		}
	}
	return y
}

// variance is the unbiased one. A single value has none.
func variance(x []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return sum / float64(max(len(x)-1, 1))
}

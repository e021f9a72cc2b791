package layouttest

import (
	"strconv"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/graph"
)

// capacity is the number of positions that exporters give the caches, of the language model and of the codec.
const capacity = 1000

func textConditioner(b *builder) {
	d := b.source.Checkpoint.Dims()
	table := b.weight("flow_lm.conditioner.embed.weight", d.Vocab+1, d.Width)
	b.Output("embeddings", b.op("Gather", table, b.Input("token_ids", graph.I64, 1, "seq_len")), graph.F32, 1, "seq_len", d.Width)
}

// languageModel is flow_lm_main: text rows, then latents, where NaN stands for the start.
func languageModel(b *builder) {
	d := b.source.Checkpoint.Dims()
	sequence := b.Input("sequence", graph.F32, 1, "seq_len", d.Latent)
	text := b.Input("text_embeddings", graph.F32, 1, "text_len", d.Width)
	var caches, steps []graph.Value
	for i := range d.Layers {
		module := "transformer.layers." + strconv.Itoa(i) + ".self_attn"
		caches = append(caches, b.state(module, "cache", "nan", graph.F32, 2, 1, capacity, d.Heads, d.HeadDim))
		b.state(module, "current_end", "empty", graph.F32, 0) // was the length once, as that of an array; nothing reads it
		steps = append(steps, b.state(module, "step", "zeros", graph.I64, 1))
	}

	sequence = b.op("Where", b.op("IsNaN", sequence), b.weight("flow_lm.bos_emb", d.Latent), sequence)
	x := b.concat(1, text, b.linear(sequence, "flow_lm.input_linear.weight", d.Width, d.Latent))
	rows := b.length(x, 1)
	changed := map[graph.Value]graph.Value{}
	for i := range d.Layers {
		p := "flow_lm.transformer.layers." + strconv.Itoa(i) + "."
		y, cache := b.causal(b.norm(x, p+"norm1", d.Width, 1e-5), p, rows, caches[i], steps[i])
		x = b.add(x, y)
		f := b.gelu(b.linear(b.norm(x, p+"norm2", d.Width, 1e-5), p+"linear1.weight", d.FFN, d.Width))
		x = b.add(x, b.linear(f, p+"linear2.weight", d.Width, d.FFN))
		changed[caches[i]], changed[steps[i]] = cache, b.add(steps[i], rows)
	}
	last := b.Op("Gather", []graph.Value{x, b.Int(-1)}, graph.Attr{Name: "axis", Value: 1})
	h := b.norm(last, "flow_lm.out_norm", d.Width, 1e-5)
	b.Output("conditioning", h, graph.F32, 1, d.Width)
	b.Output("eos_logit", b.affine(h, "flow_lm.out_eos", 1, d.Width), graph.F32, 1, 1)
	b.leave(changed)
}

// causal is attention to everything before, in a cache that it returns as a whole: assigning to a part of a tensor became a copy.
func (b *builder) causal(x graph.Value, p string, rows, cache, step graph.Value) (y, written graph.Value) {
	d := b.source.Checkpoint.Dims()
	qkv := b.reshape(b.linear(x, p+"self_attn.in_proj.weight", 3*d.Width, d.Width), 1, -1, 3, d.Heads, d.HeadDim)
	count := b.count(rows)
	positions := b.add(count, step)
	frequencies := bundle.RotationFrequencies(d.RoPE, d.HeadDim)
	q := b.rotate(b.pick(qkv, 2, 0), positions, d.Heads, d.HeadDim, frequencies)
	k := b.rotate(b.pick(qkv, 2, 1), positions, d.Heads, d.HeadDim, frequencies)

	column := b.unsqueeze(positions, 1)
	zeros := b.mul(column, b.Ints(0))
	write := func(into graph.Value, half int64, values graph.Value) graph.Value {
		at := b.concat(1, b.add(zeros, b.Ints(half)), zeros, column)
		return b.op("ScatterND", into, at, b.pick(values, 0, 0))
	}
	written = write(write(cache, 0, k), 1, b.pick(qkv, 2, 2))
	end := b.add(step, rows)
	valid := b.slice(written, b.Ints(0), end, 2)

	constant := make([]int64, 4096) // a range of unknown length could not be exported, a slice of a long one could
	for i := range constant {
		constant[i] = int64(i)
	}
	columns := b.unsqueeze(b.slice(b.Ints(constant...), b.Ints(0), end, 0), 0)
	seen := b.op("LessOrEqual", columns, b.add(b.unsqueeze(count, 1), step))
	heads := func(v graph.Value) graph.Value { return b.transpose(v, 0, 2, 1, 3) }
	y = b.attend(heads(q), heads(b.pick(valid, 0, 0)), heads(b.pick(valid, 0, 1)), seen, d.Width, d.HeadDim)
	return b.linear(y, p+"self_attn.out_proj.weight", d.Width, d.Width), written
}

// flow is flow_lm_flow: the direction at a point, for a step from time s to time t.
func flow(b *builder) {
	const p = "flow_lm.flow_net."
	d := b.source.Checkpoint.Dims()
	f := d.FlowWidth
	c := b.Input("c", graph.F32, "batch", d.Width)
	times := []graph.Value{b.Input("s", graph.F32, "batch", 1), b.Input("t", graph.F32, "batch", 1)}
	x := b.Input("x", graph.F32, "batch", d.Latent)

	time := b.mul(b.add(b.time(p+"time_embed.0.", times[0], f), b.time(p+"time_embed.1.", times[1], f)), b.number(.5))
	condition := b.silu(b.add(b.affine(c, p+"cond_embed", f, d.Width), time))
	parts := func(prefix string, n int) []graph.Value {
		sizes := make([]int64, n)
		for i := range sizes {
			sizes[i] = int64(f)
		}
		return b.Ops("", "Split", n, []graph.Value{b.affine(condition, prefix, n*f, f), b.Ints(sizes...)}, graph.Attr{Name: "axis", Value: 1})
	}
	modulated := func(v, scale, shift graph.Value) graph.Value {
		return b.add(b.mul(v, b.add(scale, b.number(1))), shift)
	}
	y := b.affine(x, p+"input_proj", f, d.Latent)
	for i := range b.source.Checkpoint.Config.FlowLM.Flow.Depth {
		q := p + "res_blocks." + strconv.Itoa(i) + "."
		m := parts(q+"adaLN_modulation.1", 3) // shift, scale, gate
		z := modulated(b.norm(y, q+"in_ln", f, 1e-6), m[1], m[0])
		z = b.affine(b.silu(b.affine(z, q+"mlp.0", f, f)), q+"mlp.2", f, f)
		y = b.add(y, b.mul(m[2], z))
	}
	m := parts(p+"final_layer.adaLN_modulation.1", 2) // shift, scale
	b.Output("flow_dir", b.affine(modulated(b.plainNorm(y, 1e-6), m[1], m[0]), p+"final_layer.linear", d.Latent, f), graph.F32, "batch", d.Latent)
}

// time embeds a time of [batch, 1].
func (b *builder) time(p string, t graph.Value, width int) graph.Value {
	const frequencies = 128
	angles := b.mul(t, b.weight(p+"freqs", frequencies))
	x := b.affine(b.concat(1, b.op("Cos", angles), b.op("Sin", angles)), p+"mlp.0", width, 2*frequencies)
	x = b.affine(b.silu(x), p+"mlp.2", width, width)
	d := b.op("Sub", x, b.mean(x))
	variance := b.mul(b.mean(b.mul(d, d)), b.number(float64(width)/float64(width-1)))
	return b.op("Div", b.mul(x, b.weight(p+"mlp.3.alpha", width)), b.op("Sqrt", b.add(variance, b.number(1e-5))))
}

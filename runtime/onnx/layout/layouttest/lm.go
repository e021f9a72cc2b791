package layouttest

import (
	"math"
	"strconv"

	"github.com/swar-tts/swar/runtime/internal/graph"
)

// capacity is the number of positions that exporters give the caches, of the language model and of the codec.
const capacity = 1000

func textConditioner(b *builder) {
	d := b.source.Checkpoint.Dims()
	table := b.weight("flow_lm.conditioner.embed.weight", d.Vocab+1, d.Width)
	b.Output("embeddings", b.op("Gather", table, b.Input("token_ids", graph.I64, 1, "seq_len")), graph.F32, 1,
		"seq_len", d.Width)
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
		// was the length once, as that of an array; nothing reads it
		b.state(module, "current_end", "empty", graph.F32, 0)
		steps = append(steps, b.state(module, "step", "zeros", graph.I64, 1))
	}

	sequence = b.op("Where", b.op("IsNaN", sequence), b.weight("flow_lm.bos_emb", d.Latent), sequence)
	x := b.concat(1, text, b.linear(sequence, "flow_lm.input_linear.weight", d.Width, d.Latent))
	changed := map[graph.Value]graph.Value{}
	for i := range d.Layers {
		p := "flow_lm.transformer.layers." + strconv.Itoa(i) + "."
		y, cache := b.causal(b.norm(x, p+"norm1", d.Width), p, caches[i], steps[i])
		x = b.add(x, y)
		f := b.gelu(b.linear(b.norm(x, p+"norm2", d.Width), p+"linear1.weight", d.FFN, d.Width))
		x = b.add(x, b.linear(f, p+"linear2.weight", d.Width, d.FFN))
		changed[caches[i]] = cache
	}
	x = b.norm(x, "flow_lm.out_norm", d.Width)

	// The last rows, as many as there are latents: one, or none, and the last none are all rows in Python. Then it is
	// the first row of the text that comes out, which nobody reads. The zeros keep the row that is picked from being
	// missing.
	latents := b.size(sequence, 1)
	x = b.slice(x, b.unsqueeze(b.op("Neg", latents), 0), b.Ints(math.MaxInt64), 1)
	zeros := b.op("ConstantOfShape", b.sizes(b.size(x, 0), 1, b.size(x, 2)))
	h := b.pick(b.concat(1, x, zeros), 1, 0)
	b.Output("conditioning", h, graph.F32, 1, d.Width)
	b.Output("eos_logit", b.affine(h, "flow_lm.out_eos", 1, d.Width), graph.F32, 1, 1)
	rows := b.add(latents, b.size(text, 1))
	for _, step := range steps {
		changed[step] = b.add(step, rows)
	}
	b.leave(changed)
}

// causal is attention to everything before, in a cache that it returns as a whole.
func (b *builder) causal(x graph.Value, p string, cache, step graph.Value) (y, written graph.Value) {
	d := b.source.Checkpoint.Dims()
	packed := b.linear(x, p+"self_attn.in_proj.weight", 3*d.Width, d.Width)
	batch, rows := b.size(packed, 0), b.size(packed, 1)
	qkv := b.unbind(b.view(packed, batch, rows, 3, d.Heads, d.HeadDim), 2)
	q, k := b.rotate(qkv[0], qkv[1], step, d.RoPE)
	v := qkv[2]
	end := b.add(step, b.size(k, 1))
	written = b.assignRows(b.assignRows(cache, 0, step, end, k), 1, step, b.add(step, b.size(v, 1)), v)
	valid := b.slice(written, b.Ints(0), end, 2)

	const columns = 4096 // a range of unknown length could not be exported, a slice of a long one could
	column := b.slice(b.unsqueeze(b.counted(columns), 0), b.Ints(0), b.add(rows, step), 1)
	seen := b.op("LessOrEqual", column, b.add(b.unsqueeze(b.arange(rows), 1), step))
	unseen := b.full(b.number(math.Inf(-1)), b.sizes(b.size(seen, 0), b.size(seen, 1)))
	mask := b.op("Where", seen, b.number(0), unseen)
	y = b.attend(b.transpose(q, 0, 2, 1, 3), b.transpose(b.pick(valid, 0, 0), 0, 2, 3, 1),
		b.transpose(b.pick(valid, 0, 1), 0, 2, 1, 3), mask)
	y = b.view(b.transpose(y, 0, 2, 1, 3), batch, rows, d.Width)
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

	y := b.affine(x, p+"input_proj", f, d.Latent)
	time := b.op("Div", b.add(b.time(p+"time_embed.0.", times[0], f), b.time(p+"time_embed.1.", times[1], f)),
		b.number(2))
	condition := b.silu(b.add(time, b.affine(c, p+"cond_embed", f, d.Width)))
	modulated := func(v, scale, shift graph.Value) graph.Value {
		return b.add(b.mul(v, b.add(scale, b.number(1))), shift)
	}
	// Upstream has a layer norm of its own here. Its variance is a product and no power, so that ONNX Runtime does
	// not recognise it.
	norm := func(v graph.Value) graph.Value {
		deviation := b.op("Sqrt", b.add(b.variance(v, false), b.number(1e-6)))
		return b.op("Div", b.op("Sub", v, b.mean(v)), deviation)
	}
	for i := range b.source.Checkpoint.Config.FlowLM.Flow.Depth {
		q := p + "res_blocks." + strconv.Itoa(i) + "."
		m := b.chunk(b.affine(condition, q+"adaLN_modulation.1", 3*f, f), 3) // shift, scale, gate
		z := b.add(b.mul(norm(y), b.weight(q+"in_ln.weight", f)), b.weight(q+"in_ln.bias", f))
		z = modulated(z, m[1], m[0])
		z = b.affine(b.silu(b.affine(z, q+"mlp.0", f, f)), q+"mlp.2", f, f)
		y = b.add(y, b.mul(m[2], z))
	}
	m := b.chunk(b.affine(condition, p+"final_layer.adaLN_modulation.1", 2*f, f), 2) // shift, scale
	b.Output("flow_dir", b.affine(modulated(norm(y), m[1], m[0]), p+"final_layer.linear", d.Latent, f), graph.F32,
		"batch", d.Latent)
}

// time embeds a time of [batch, 1].
func (b *builder) time(p string, t graph.Value, width int) graph.Value {
	const frequencies = 128
	angles := b.mul(t, b.weight(p+"freqs", frequencies))
	x := b.affine(b.concat(1, b.op("Cos", angles), b.op("Sin", angles)), p+"mlp.0", width, 2*frequencies)
	x = b.affine(b.silu(x), p+"mlp.2", width, width)
	root := b.op("Sqrt", b.add(b.variance(x, true), b.number(1e-5)))
	return b.mul(x, b.mul(b.weight(p+"mlp.3.alpha", width), b.op("Div", b.number(1), root)))
}

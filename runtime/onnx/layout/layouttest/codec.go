package layouttest

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/graph"
)

// codecStates holds the input of each state by its path.
type codecStates map[string]graph.Value

// codecStates declares the states of the whole codec, as exporters do: the encoder's are in the list though only the decoder is in
// the graph.
func (b *builder) codecStates() codecStates {
	c := &b.source.Checkpoint.Config.Mimi
	d := b.source.Checkpoint.Dims()
	type entry struct {
		module, key, fill string
		kind              graph.Type
		shape             []int
	}
	var entries []entry
	conv := func(module string, in, before int) {
		entries = append(entries, entry{module, "first", "ones", graph.Bool, []int{1}}, entry{module, "previous", "zeros", graph.F32, []int{1, in, before}})
	}
	transposed := func(module string, out, after int) {
		entries = append(entries, entry{module, "partial", "zeros", graph.F32, []int{1, out, after}})
	}
	ratios, n := c.SEANet.Ratios, len(c.SEANet.Ratios)
	model := func(side string, i int) string { return side + ".model." + strconv.Itoa(i) }
	widest := c.SEANet.NFilters << n
	conv(model("decoder", 0), d.CodecWidth, c.SEANet.KernelSize-1)
	conv(model("encoder", 0), 1, c.SEANet.KernelSize-1)
	for i, ratio := range ratios {
		out := widest >> (i + 1)
		transposed(model("decoder", 3*i+2), out, ratio)
		block := model("decoder", 3*i+3) + ".block."
		conv(block+"1", out, c.SEANet.ResidualKernelSize-1)
		conv(block+"3", out/2, 0)

		in := c.SEANet.NFilters << i // the encoder is the mirror image
		block = model("encoder", 3*i+1) + ".block."
		conv(block+"1", in, c.SEANet.ResidualKernelSize-1)
		conv(block+"3", in/2, 0)
		conv(model("encoder", 3*i+3), in, ratios[n-1-i])
	}
	conv(model("decoder", 3*n+2), c.SEANet.NFilters, c.SEANet.LastKernelSize-1)
	conv(model("encoder", 3*n+2), widest, c.SEANet.LastKernelSize-1)
	conv("downsample.conv", d.CodecWidth, d.Upsample)
	transposed("upsample.convtr", d.CodecWidth, d.Upsample)
	for _, side := range []string{"decoder", "encoder"} {
		for i := range c.Transformer.NumLayers {
			module := side + "_transformer.transformer.layers." + strconv.Itoa(i) + ".self_attn"
			entries = append(entries,
				entry{module, "cache", "zeros", graph.F32, []int{2, 1, d.CodecHeads, capacity, d.CodecWidth / d.CodecHeads}},
				entry{module, "end_offset", "zeros", graph.I64, []int{1}}, entry{module, "offset", "zeros", graph.I64, []int{1}})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.module, b.module), cmp.Compare(a.key, b.key))
	})
	inputs := codecStates{}
	for _, e := range entries {
		inputs[e.module+"/"+e.key] = b.state(e.module, e.key, e.fill, e.kind, e.shape...)
	}
	return inputs
}

// decoder is mimi_decoder: normalised latents to samples.
func decoder(b *builder) {
	d, c := b.source.Checkpoint.Dims(), &b.source.Checkpoint.Config.Mimi
	s := streaming{b, nil, map[graph.Value]graph.Value{}}
	x := b.Input("latent", graph.F32, 1, "seq_len", d.Latent)
	s.states = b.codecStates()

	x = b.add(b.mul(x, b.weight("flow_lm.emb_std", d.Latent)), b.weight("flow_lm.emb_mean", d.Latent))
	x = b.transpose(x, 0, 2, 1)
	x = b.Op("Conv", []graph.Value{x, b.weight("mimi.quantizer.output_proj.weight", d.CodecWidth, d.Latent, 1)})
	x = s.transposed(x, "upsample.convtr", "mimi.upsample.convtr.convtr", d.CodecWidth, d.CodecWidth, d.Upsample, true)
	x = b.transpose(x, 0, 2, 1)
	for i := range c.Transformer.NumLayers {
		x = b.codecLayer(x, "mimi.decoder_transformer.transformer.layers."+strconv.Itoa(i)+".", func(q, k, v graph.Value) graph.Value {
			return s.ring(q, k, v, "decoder_transformer.transformer.layers."+strconv.Itoa(i)+".self_attn/")
		})
	}
	x = b.transpose(x, 0, 2, 1)

	const p = "mimi.decoder.model."
	channels := c.SEANet.NFilters << len(c.SEANet.Ratios)
	x = s.conv(x, "decoder.model.0", channels, d.CodecWidth, c.SEANet.KernelSize)
	for i, ratio := range c.SEANet.Ratios {
		up := strconv.Itoa(3*i + 2)
		x = s.transposed(b.op("Elu", x), "decoder.model."+up, p+up+".convtr", channels, channels/2, ratio, false)
		channels /= 2
		block := "decoder.model." + strconv.Itoa(3*i+3) + ".block."
		y := s.conv(b.op("Elu", x), block+"1", channels/2, channels, c.SEANet.ResidualKernelSize)
		y = s.conv(b.op("Elu", y), block+"3", channels, channels/2, 1)
		x = b.add(x, y)
	}
	x = s.conv(b.op("Elu", x), "decoder.model."+strconv.Itoa(3*len(c.SEANet.Ratios)+2), 1, channels, c.SEANet.LastKernelSize)
	b.Output("audio_frame", x, graph.F32, 1, 1, "samples")
	b.leave(s.changed)
}

// streaming adds the modules that keep something from call to call.
type streaming struct {
	*builder
	states  codecStates
	changed map[graph.Value]graph.Value
}

func (s *streaming) conv(x graph.Value, module string, out, in, kernel int) graph.Value {
	if kernel > 1 {
		previous := s.states[module+"/previous"]
		x = s.concat(2, previous, x)
		s.changed[previous] = s.slice(x, s.Ints(int64(1-kernel)), s.Ints(1<<62), 2)
	}
	p := "mimi." + module + ".conv"
	return s.Op("Conv", []graph.Value{x, s.weight(p+".weight", out, in, kernel), s.weight(p+".bias", out)})
}

// transposed adds what the call before has left to the first outputs, and leaves the last ones, without the bias, which comes again.
func (s *streaming) transposed(x graph.Value, module, weight string, in, out, stride int, depthwise bool) graph.Value {
	attrs := []graph.Attr{{Name: "strides", Value: []int64{int64(stride)}}, {Name: "kernel_shape", Value: []int64{int64(2 * stride)}}}
	columns := out
	if depthwise {
		columns = 1
		attrs = append(attrs, graph.Attr{Name: "group", Value: in})
	}
	inputs := []graph.Value{x, s.weight(weight+".weight", in, columns, 2*stride)}
	var bias graph.Value
	if !depthwise { // the depthwise one has no bias
		values := s.read(weight+".bias", out)
		inputs = append(inputs, s.Floats(weight+".bias", values, out))
		bias = s.Floats(weight+".bias.column", values, out, 1)
	}
	y := s.Op("ConvTranspose", inputs, attrs...)
	partial, edge, end := s.states[module+"/partial"], s.Ints(int64(stride)), s.Ints(1<<62)
	y = s.concat(2, s.add(s.slice(y, s.Ints(0), edge, 2), partial), s.slice(y, edge, end, 2))
	left := s.slice(y, s.Ints(int64(-stride)), end, 2)
	if bias != "" {
		left = s.op("Sub", left, bias)
	}
	s.changed[partial] = left
	return s.slice(y, s.Ints(0), s.Ints(int64(-stride)), 2)
}

// ring is attention over a ring of positions, all of which take part, most of them behind the mask.
func (s *streaming) ring(q, k, v graph.Value, state string) graph.Value {
	d := s.source.Checkpoint.Dims()
	heads, head := d.CodecHeads, d.CodecWidth/d.CodecHeads
	cache, end, offset := s.states[state+"cache"], s.states[state+"end_offset"], s.states[state+"offset"]
	rows := s.length(q, 1)
	count := s.count(rows)
	positions := s.add(count, offset)
	frequencies := bundle.RotationFrequencies(d.CodecRoPE, head)
	q = s.transpose(s.rotate(q, positions, heads, head, frequencies), 0, 2, 1, 3)
	k = s.transpose(s.rotate(k, positions, heads, head, frequencies), 0, 2, 1, 3)
	v = s.transpose(v, 0, 2, 1, 3)

	slots := s.op("Mod", s.add(count, end), s.Ints(capacity))
	at := s.op("Expand", s.reshape(slots, 1, 1, -1, 1), s.op("Shape", k))
	write := func(half int64, values graph.Value) graph.Value {
		return s.Op("ScatterElements", []graph.Value{s.pick(cache, 0, half), at, values}, graph.Attr{Name: "axis", Value: 2})
	}
	k, v = write(0, k), write(1, v)
	s.changed[cache] = s.concat(0, s.unsqueeze(k, 0), s.unsqueeze(v, 0))
	s.changed[end], s.changed[offset] = s.add(end, rows), s.add(offset, rows)

	// Where the position of a slot is: slots up to the last one written are of this round, the others of the round before.
	constant := make([]int64, capacity)
	for i := range constant {
		constant[i] = int64(i)
	}
	slot := s.Ints(constant...)
	last := s.op("Sub", s.add(end, rows), s.Ints(1))
	delta := s.op("Sub", slot, s.op("Mod", last, s.Ints(capacity)))
	this := s.add(last, delta)
	position := s.op("Where", s.op("LessOrEqual", delta, s.Ints(0)), this, s.op("Sub", this, s.Ints(capacity)))
	position = s.op("Where", s.op("GreaterOrEqual", slot, s.add(end, rows)), s.Ints(-1), position)
	return s.attend(q, k, v, s.window(positions, position), d.CodecWidth, head)
}

// window says which keys a query sees: none before the first, none after itself, and no more than the window.
func (b *builder) window(queries, keys graph.Value) graph.Value {
	distance := b.op("Sub", b.unsqueeze(queries, 1), b.unsqueeze(keys, 0))
	seen := b.op("And", b.op("GreaterOrEqual", distance, b.Ints(0)), b.op("Less", distance, b.Ints(int64(b.source.Checkpoint.Dims().CodecWindow))))
	return b.op("And", seen, b.op("GreaterOrEqual", b.unsqueeze(keys, 0), b.Ints(0)))
}

// codecLayer is a layer of either transformer of the codec, around its attention on [1, positions, heads, head].
func (b *builder) codecLayer(x graph.Value, p string, attention func(q, k, v graph.Value) graph.Value) graph.Value {
	d, ffn := b.source.Checkpoint.Dims(), b.source.Checkpoint.Config.Mimi.Transformer.DimFeedforward
	width := d.CodecWidth
	qkv := b.linear(b.norm(x, p+"norm1", width, 1e-5), p+"self_attn.in_proj.weight", 3*width, width)
	qkv = b.reshape(qkv, 1, -1, 3, d.CodecHeads, width/d.CodecHeads)
	y := b.linear(attention(b.pick(qkv, 2, 0), b.pick(qkv, 2, 1), b.pick(qkv, 2, 2)), p+"self_attn.out_proj.weight", width, width)
	x = b.add(x, b.mul(y, b.weight(p+"layer_scale_1.scale", width)))
	f := b.gelu(b.linear(b.norm(x, p+"norm2", width, 1e-5), p+"linear1.weight", ffn, width))
	return b.add(x, b.mul(b.linear(f, p+"linear2.weight", width, ffn), b.weight(p+"layer_scale_2.scale", width)))
}

// encoder is mimi_encoder: samples, a multiple of a frame of them, to the rows of a voice prompt. It keeps nothing.
func encoder(b *builder) {
	d, c := b.source.Checkpoint.Dims(), &b.source.Checkpoint.Config.Mimi
	const p = "mimi.encoder.model."
	conv := func(x graph.Value, name string, out, in, kernel, stride int) graph.Value {
		inputs := []graph.Value{x, b.weight(p+name+".conv.weight", out, in, kernel), b.weight(p+name+".conv.bias", out)}
		return b.Op("Conv", inputs, graph.Attr{Name: "pads", Value: []int64{int64(kernel - stride), 0}},
			graph.Attr{Name: "strides", Value: []int64{int64(stride)}})
	}
	x := b.Input("audio", graph.F32, 1, 1, "audio_len")
	channels := c.SEANet.NFilters
	x = conv(x, "0", channels, 1, c.SEANet.KernelSize, 1)
	for i := range c.SEANet.Ratios {
		ratio := c.SEANet.Ratios[len(c.SEANet.Ratios)-1-i]
		block := strconv.Itoa(3*i+1) + ".block."
		y := conv(b.op("Elu", x), block+"1", channels/2, channels, c.SEANet.ResidualKernelSize, 1)
		x = b.add(x, conv(b.op("Elu", y), block+"3", channels, channels/2, 1, 1))
		x = conv(b.op("Elu", x), strconv.Itoa(3*i+3), 2*channels, channels, 2*ratio, ratio)
		channels *= 2
	}
	x = conv(b.op("Elu", x), strconv.Itoa(3*len(c.SEANet.Ratios)+2), d.CodecWidth, channels, c.SEANet.LastKernelSize, 1)

	x = b.transpose(x, 0, 2, 1)
	heads, head := d.CodecHeads, d.CodecWidth/d.CodecHeads
	frequencies := bundle.RotationFrequencies(d.CodecRoPE, head)
	positions := b.count(b.length(x, 1))
	seen := b.window(positions, positions)
	for i := range c.Transformer.NumLayers {
		x = b.codecLayer(x, "mimi.encoder_transformer.transformer.layers."+strconv.Itoa(i)+".", func(q, k, v graph.Value) graph.Value {
			turn := func(v graph.Value) graph.Value { return b.transpose(v, 0, 2, 1, 3) }
			q, k = b.rotate(q, positions, heads, head, frequencies), b.rotate(k, positions, heads, head, frequencies)
			return b.attend(turn(q), turn(k), turn(v), seen, d.CodecWidth, head)
		})
	}
	x = b.transpose(x, 0, 2, 1)
	first := make([]graph.Value, 0, d.Upsample+1) // this one convolution continues to the left with its first value
	for range d.Upsample {
		first = append(first, b.slice(x, b.Ints(0), b.Ints(1), 2))
	}
	x = b.Op("Conv", []graph.Value{b.concat(2, append(first, x)...), b.weight("mimi.downsample.conv.conv.weight", d.Latent, d.CodecWidth, 2*d.Upsample)},
		graph.Attr{Name: "strides", Value: []int64{int64(d.Upsample)}})
	rows := b.linear(b.transpose(x, 0, 2, 1), "flow_lm.speaker_proj_weight", d.Width, d.Latent)
	b.Output("latents", rows, graph.F32, 1, "frames", d.Width)
}

package layouttest

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/swar-tts/swar/runtime/internal/graph"
)

// codecStates holds the input of each state by its path.
type codecStates map[string]graph.Value

// codecStates declares the states of the whole codec, as exporters do: the encoder's are in the list though only the
// decoder is in the graph.
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
		entries = append(entries, entry{module, "first", "ones", graph.Bool, []int{1}},
			entry{module, "previous", "zeros", graph.F32, []int{1, in, before}})
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
				entry{module, "cache", "zeros", graph.F32,
					[]int{2, 1, d.CodecHeads, capacity, d.CodecWidth / d.CodecHeads}},
				entry{module, "end_offset", "zeros", graph.I64, []int{1}},
				entry{module, "offset", "zeros", graph.I64, []int{1}})
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
	latent := b.Input("latent", graph.F32, 1, "seq_len", d.Latent)
	s.states = b.codecStates()

	x := b.add(b.mul(latent, b.weight("flow_lm.emb_std", d.Latent)), b.weight("flow_lm.emb_mean", d.Latent))
	x = b.transpose(x, 0, 2, 1)
	x = b.Op("Conv", []graph.Value{x, b.weight("mimi.quantizer.output_proj.weight", d.CodecWidth, d.Latent, 1)})
	x = s.transposed(x, "upsample.convtr", "mimi.upsample.convtr.convtr", d.CodecWidth, d.CodecWidth, d.Upsample, true)
	x = b.transpose(x, 0, 2, 1)
	for i := range c.Transformer.NumLayers {
		x = b.codecLayer(x, "mimi.decoder_transformer.transformer.layers."+strconv.Itoa(i)+".",
			func(query, packed graph.Value) graph.Value {
				return s.ring(query, packed, "decoder_transformer.transformer.layers."+strconv.Itoa(i)+".self_attn/")
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
	x = s.conv(b.op("Elu", x), "decoder.model."+strconv.Itoa(3*len(c.SEANet.Ratios)+2), 1, channels,
		c.SEANet.LastKernelSize)
	b.Output("audio_frame", x, graph.F32, 1, 1, "samples")
	positions := b.mul(b.size(latent, 1), b.Int(int64(d.Upsample)))
	for _, e := range b.states {
		if e.Key == "offset" { // the encoder's too, though nothing of it is in the graph
			offset := graph.Value(e.Input)
			s.changed[offset] = b.add(offset, positions)
		}
	}
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

// transposed adds what the call before has left to the first outputs, and leaves the last ones, without the bias,
// which comes again.
func (s *streaming) transposed(x graph.Value, module, weight string, in, out, stride int, depthwise bool) graph.Value {
	attrs := []graph.Attr{{Name: "strides", Value: []int64{int64(stride)}},
		{Name: "kernel_shape", Value: []int64{int64(2 * stride)}}}
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
func (s *streaming) ring(query, packed graph.Value, state string) graph.Value {
	d := s.source.Checkpoint.Dims()
	offset := s.states[state+"offset"]
	head := s.op("Div", s.size(packed, 2), s.Int(int64(3*d.CodecHeads)))
	packed = s.view(packed, s.size(packed, 0), s.size(packed, 1), 3, d.CodecHeads, head)
	qkv := s.unbind(s.transpose(packed, 2, 0, 3, 1, 4), 0)
	transpose := func(x graph.Value) graph.Value { return s.transpose(x, 0, 2, 1, 3) }
	q, k := s.rotate(transpose(qkv[0]), transpose(qkv[1]), offset, d.CodecRoPE)
	q = transpose(q)
	keys, values, positions := s.remember(transpose(k), qkv[2], state)

	positions = s.unsqueeze(positions, 1)
	at := s.add(s.reshape(offset, -1, 1, 1), s.reshape(s.arange(s.size(query, 1)), -1, 1))
	seen := s.unsqueeze(s.window(at, positions), 1)
	y := s.attendSeen(q, s.transpose(keys, 0, 1, 3, 2), values, seen)
	return s.view(transpose(y), s.size(y, 0), s.size(y, 2), s.mul(s.size(y, 1), s.size(y, 3)))
}

// remember writes keys and values [1, heads, rows, head] into the ring and returns all of it, with the position of
// each slot: -1 where nothing was written yet.
func (s *streaming) remember(k, v graph.Value, state string) (keys, values, positions graph.Value) {
	cache, end := s.states[state+"cache"], s.states[state+"end_offset"]
	batch, heads, rows, head := s.size(k, 0), s.size(k, 1), s.size(k, 2), s.size(k, 3)
	ends, round := s.reshape(end, -1, 1), s.Int(capacity)
	slots := s.op("Mod", s.add(s.arange(rows), ends), round)
	at := s.expand(s.view(slots, batch, 1, rows, 1), s.sizes(-1, heads, rows, head))
	write := func(into graph.Value, half int64, values graph.Value) graph.Value {
		target := s.pick(into, 0, half)
		scattered := s.Op("ScatterElements", []graph.Value{target, at, values}, graph.Attr{Name: "axis", Value: 2})
		return s.assign(into, half, target, scattered)
	}
	written := write(write(cache, 0, k), 1, v)

	// Slots up to the last one written are of this round, the others of the round before.
	slot := s.counted(capacity)
	last := s.op("Sub", s.add(ends, rows), s.Int(1))
	delta := s.op("Sub", slot, s.op("Mod", last, round))
	this := s.add(last, delta)
	positions = s.op("Where", s.op("LessOrEqual", delta, s.Int(0)), this, s.op("Sub", this, round))
	moved := s.assign(end, 0, end, s.add(end, rows))
	never := s.op("GreaterOrEqual", slot, s.reshape(moved, -1, 1))
	positions = s.op("Where", never, s.full(s.Int(-1), s.Ints(1, capacity)), positions)
	s.changed[cache], s.changed[end] = written, moved
	return s.pick(written, 0, 0), s.pick(written, 0, 1), positions
}

// window says which keys a query sees: none before the first, none after itself, and no more than the window.
func (b *builder) window(queries, keys graph.Value) graph.Value {
	distance := b.op("Sub", queries, keys)
	seen := b.op("And", b.op("GreaterOrEqual", keys, b.Int(0)), b.op("GreaterOrEqual", distance, b.Int(0)))
	return b.op("And", seen, b.op("Less", distance, b.Int(int64(b.source.Checkpoint.Dims().CodecWindow))))
}

// codecLayer is a layer of either transformer of the codec, around its attention, which gets rows and what its
// projection makes of them.
func (b *builder) codecLayer(x graph.Value, p string,
	attention func(query, packed graph.Value) graph.Value) graph.Value {
	width, ffn := b.source.Checkpoint.Dims().CodecWidth, b.source.Checkpoint.Config.Mimi.Transformer.DimFeedforward
	query := b.norm(x, p+"norm1", width)
	packed := b.linear(query, p+"self_attn.in_proj.weight", 3*width, width)
	y := b.linear(attention(query, packed), p+"self_attn.out_proj.weight", width, width)
	x = b.add(x, b.mul(b.weight(p+"layer_scale_1.scale", width), y))
	f := b.gelu(b.linear(b.norm(x, p+"norm2", width), p+"linear1.weight", ffn, width))
	return b.add(x, b.mul(b.weight(p+"layer_scale_2.scale", width), b.linear(f, p+"linear2.weight", width, ffn)))
}

// encoder is mimi_encoder: samples, a multiple of a frame of them, to the rows of a voice prompt. It keeps nothing.
// Published ones come out of another exporter, whose nodes are not followed here: a voice is heard once, and no frame
// has a part in it.
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
	count := b.arange(b.size(x, 1))
	seen := b.window(b.unsqueeze(count, 1), b.unsqueeze(count, 0))
	mask := b.op("Where", seen, b.number(0), b.number(math.Inf(-1)))
	for i := range c.Transformer.NumLayers {
		x = b.codecLayer(x, "mimi.encoder_transformer.transformer.layers."+strconv.Itoa(i)+".",
			func(_, packed graph.Value) graph.Value {
				qkv := b.unbind(b.reshape(packed, 1, -1, 3, d.CodecHeads, d.CodecWidth/d.CodecHeads), 2)
				q, k := b.rotate(qkv[0], qkv[1], b.Ints(0), d.CodecRoPE)
				values := b.transpose(qkv[2], 0, 2, 1, 3)
				y := b.attend(b.transpose(q, 0, 2, 1, 3), b.transpose(k, 0, 2, 3, 1), values, mask)
				return b.reshape(b.transpose(y, 0, 2, 1, 3), 1, -1, d.CodecWidth)
			})
	}
	x = b.transpose(x, 0, 2, 1)
	first := make([]graph.Value, 0, d.Upsample+1) // this one convolution continues to the left with its first value
	for range d.Upsample {
		first = append(first, b.slice(x, b.Ints(0), b.Ints(1), 2))
	}
	x = b.Op("Conv",
		[]graph.Value{b.concat(2, append(first, x)...),
			b.weight("mimi.downsample.conv.conv.weight", d.Latent, d.CodecWidth, 2*d.Upsample)},
		graph.Attr{Name: "strides", Value: []int64{int64(d.Upsample)}})
	rows := b.linear(b.transpose(x, 0, 2, 1), "flow_lm.speaker_proj_weight", d.Width, d.Latent)
	b.Output("latents", rows, graph.F32, 1, "frames", d.Width)
}

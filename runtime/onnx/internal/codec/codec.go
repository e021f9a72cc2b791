// Package codec turns latents into samples with native kernels. The weights come from the int8 graph of a bundle.
// What it computes is that graph, but for what is rounded: rows of the transformer are bytes, as in the graph, and
// those of the convolutions are words, whose rounding is not heard, see package convolve.
//
// Each row is rounded by itself, and each sum has an order of its own, so that the samples do not depend on how many
// frames are decoded at once, on other streams, or on the kernel.
package codec

import (
	"errors"
	"fmt"
	"sync"

	"github.com/swar-tts/swar/runtime/internal/convolve"
	"github.com/swar-tts/swar/runtime/internal/graph"
	"github.com/swar-tts/swar/runtime/internal/rowproduct"
	"github.com/swar-tts/swar/runtime/internal/vector"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// Codec is what all streams share. It is safe for concurrent use.
type Codec struct {
	*weights
	dims          bundle.Dims
	tanh          bool
	products      rowproduct.Kernel
	convolutions  convolve.Kernel
	frequencies   []float32
	words, scales int // of what the convolutions of a stream keep
	sizes         sizes

	mu    sync.Mutex
	free  []*workspace
	pages pages
}

// Open reads the graph of a bundle in int8. Its integers are multiplied by the given kernel.
func Open(m *bundle.Manifest, file []byte, products rowproduct.Kernel) (_ *Codec, err error) {
	parts, err := graph.ReadParts(file)
	if err != nil {
		return nil, err
	}
	convolutions, err := convolve.Find(products.Name())
	if err != nil {
		return nil, err
	}
	d := m.Dims
	c := &Codec{
		dims: d, tanh: m.GELU == "tanh", products: products, convolutions: convolutions,
		frequencies: bundle.RotationFrequencies(d.CodecRoPE, d.CodecWidth/d.CodecHeads),
	}
	r := &reader{parts: parts, dims: d, pages: &c.pages}
	c.weights = r.read()
	if err := errors.Join(r.err, c.pages.err); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.words, c.scales = r.words, r.scales
	c.sizes = c.measure()
	return c, nil
}

// Close gives up the weights. Decoders must be closed before.
func (c *Codec) Close() error {
	err := c.pages.free()
	for _, w := range c.free {
		err = errors.Join(err, w.pages.free())
	}
	c.free = nil
	return err
}

// Bytes returns the memory of the weights, and of a decoder.
func (c *Codec) Bytes() (weights, stream int64) {
	weights = c.pages.size()
	all := []*convolve.Weights{c.first.weights, c.last.weights}
	for i := range c.stages {
		g := &c.stages[i]
		all = append(all, g.transposed.weights, g.block[0].weights, g.block[1].weights)
	}
	for _, w := range all {
		weights += w.Bytes()
	}
	const float, word = 4, 2
	stream = int64(float*(c.scales+c.dims.CodecWidth+synth.GroupFrames*speech.FrameSamples) + word*c.words)
	for range c.layers {
		stream += float * 2 * int64(c.dims.CodecWidth*capacity(&c.dims))
	}
	return weights, stream
}

// Decoder is the state of one stream. It is not safe for concurrent use.
type Decoder struct {
	codec    *Codec
	position int // of the next row of the transformer
	held     int // positions in keys and values
	past     []past
	latent   []float32 // the last one, projected
	words    []int16   // rows that convolutions still need
	scales   []float32
	taps     []float32 // rows of the last convolution that are not added up yet
	audio    []float32
	pages    pages
}

// NewDecoder returns a decoder with a state of its own.
func (c *Codec) NewDecoder() (*Decoder, error) {
	d := &Decoder{codec: c}
	p := &d.pages
	for range c.layers {
		d.past = append(d.past, newPast(p, &c.dims))
	}
	d.latent, d.scales, d.taps = take[float32](p, c.dims.CodecWidth), take[float32](p, c.scales),
		take[float32](p, (c.last.out-1)*c.last.out)
	d.words, d.audio = take[int16](p, c.words), take[float32](p, synth.GroupFrames*speech.FrameSamples)
	if p.err != nil {
		return nil, fmt.Errorf("the codec's states: %w", errors.Join(p.err, d.Close()))
	}
	return d, nil
}

// Close gives up its state.
func (d *Decoder) Close() error { return d.pages.free() }

// Begin forgets what was decoded: every chunk starts fresh.
func (d *Decoder) Begin() {
	d.position, d.held = 0, 0
	clear(d.latent)
	clear(d.words)
	clear(d.scales)
	clear(d.taps)
}

// Decode turns the next latents into samples. The samples are valid until the next call. They do not depend on how
// frames are grouped.
func (d *Decoder) Decode(latents []float32, frames int) ([]float32, error) {
	return InGroups(latents, d.codec.dims.Latent, frames, d.decode)
}

// InGroups decodes latents of width each, never more frames at once than a worker does. What it returns is valid
// until the next call.
func InGroups(
	latents []float32, width, frames int, decode func(latents []float32, frames int) ([]float32, error),
) ([]float32, error) {
	if frames <= synth.GroupFrames {
		return decode(latents, frames)
	}
	audio := make([]float32, 0, frames*speech.FrameSamples)
	for frames > 0 {
		n := min(frames, synth.GroupFrames)
		samples, err := decode(latents[:n*width], n)
		if err != nil {
			return nil, err
		}
		audio, latents, frames = append(audio, samples...), latents[n*width:], frames-n
	}
	return audio, nil
}

func (d *Decoder) decode(latents []float32, frames int) ([]float32, error) {
	w, err := d.codec.borrow()
	if err != nil {
		return nil, err
	}
	defer d.codec.giveBack(w)
	x := d.upsample(w, latents, frames)
	x = d.transform(w, x)
	d.position += len(x) / d.codec.dims.CodecWidth
	audio := d.audio[:0]
	d.generate(w, x, &audio)
	return audio, nil
}

// workspace is what decoding needs meanwhile, for one thread.
type workspace struct {
	latents, projected, x, y, rows, heads, hidden, gelu []float32 // of the transformer
	cosines, sines, scores                              []float32
	bytes                                               []byte
	first                                               []float32
	stages                                              []stageSpace
	taps                                                []float32
	words                                               []int16
	scales                                              []float32
	pages                                               pages
}

// stageSpace is what a stage makes of the rows that it takes at once.
type stageSpace struct{ up, hidden, block, sum []float32 }

// sizes are those of a workspace.
type sizes struct{ hidden, words, scales, bytes, taps int }

// measure finds what the largest parts need.
func (c *Codec) measure() sizes {
	positions := synth.GroupFrames * c.dims.Upsample
	s := sizes{hidden: c.dims.CodecWidth} // where keys lie for a while
	grow := func(v convolution, rows int) {
		s.words, s.scales = max(s.words, (rows+v.taps-1)*v.stride), max(s.scales, rows+v.taps-1)
	}
	grow(c.first, positions)
	rows := positions
	for i := range c.stages {
		g := &c.stages[i]
		rows = min(rows, c.together(i))
		grow(g.transposed, rows)
		rows *= g.stride
		grow(g.block[0], rows)
		grow(g.block[1], rows)
	}
	grow(c.last, rows)
	s.taps = (rows + c.last.out - 1) * c.last.out
	for _, l := range c.layers {
		s.hidden = max(s.hidden, l.up.Out)
		for _, m := range []*rowproduct.Matrix{l.in, l.out, l.up, l.down} {
			s.bytes = max(s.bytes, c.products.Scratch(m.In, positions))
		}
	}
	return s
}

// together is how many rows a stage takes at once: all where its weights come from memory, and after that so many
// that what becomes of them stays in a cache.
func (c *Codec) together(stage int) int {
	const values = 30 << 10
	if stage == 0 {
		return synth.GroupFrames * c.dims.Upsample
	}
	return max(1, values/c.stages[stage].transposed.out)
}

func (c *Codec) borrow() (*workspace, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last := len(c.free) - 1; last >= 0 {
		w := c.free[last]
		c.free = c.free[:last]
		return w, nil
	}
	return c.newWorkspace()
}

func (c *Codec) giveBack(w *workspace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free = append(c.free, w)
}

func (c *Codec) newWorkspace() (*workspace, error) {
	w, width := &workspace{}, c.dims.CodecWidth
	positions := synth.GroupFrames * c.dims.Upsample
	p := &w.pages
	floats := func(n int) []float32 { return take[float32](p, n) }
	w.latents, w.projected = floats(synth.GroupFrames*c.dims.Latent), floats(synth.GroupFrames*width)
	w.x, w.y, w.rows = floats(positions*width), floats(positions*width), floats(positions*width)
	w.heads, w.hidden, w.gelu = floats(positions*3*width), floats(positions*c.sizes.hidden),
		floats(positions*c.sizes.hidden)
	w.cosines, w.sines = floats(positions*len(c.frequencies)), floats(positions*len(c.frequencies))
	w.scores, w.bytes = floats(vector.AttendScratch(c.dims.CodecWindow)), take[byte](p, c.sizes.bytes)
	w.first = floats(positions * c.first.out)
	rows := positions
	for i := range c.stages {
		g := &c.stages[i]
		rows = min(rows, c.together(i)) * g.stride
		out := rows * g.block[0].in
		w.stages = append(w.stages, stageSpace{floats(out), floats(rows * g.block[0].out), floats(out), floats(out)})
	}
	w.taps, w.words, w.scales = floats(c.sizes.taps), take[int16](p, c.sizes.words), floats(c.sizes.scales)
	if p.err != nil {
		return nil, fmt.Errorf("decoding: %w", errors.Join(p.err, p.free()))
	}
	return w, nil
}

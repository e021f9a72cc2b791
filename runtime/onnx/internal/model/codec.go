package model

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/codec"
	"github.com/swar-tts/swar/runtime/speech"
)

// Decoder is the codec's state in one stream. It is not safe for concurrent use.
type Decoder interface {
	// Begin forgets what was decoded: every chunk starts fresh.
	Begin()

	// Decode turns the latents of so many frames, which follow the frames before, into samples, which are valid until
	// the next call.
	Decode(latents []float32, frames int) ([]float32, error)

	// Close gives up the state.
	Close() error
}

// sharedCodec turns latents into samples: what all streams share. It is safe for concurrent use.
type sharedCodec interface {
	newDecoder() (Decoder, error)

	// bytes returns the memory of the weights, and of a decoder.
	bytes() (weights, stream int64)

	close() error
}

// ownCodec computes by kernels of our own, from integers.
type ownCodec struct{ *codec.Codec }

func (c ownCodec) newDecoder() (Decoder, error)   { return c.NewDecoder() }
func (c ownCodec) bytes() (weights, stream int64) { return c.Bytes() }
func (c ownCodec) close() error                   { return c.Close() }

// graphCodec computes in floats, by ONNX Runtime. Bundles in fp32 speak by it, and those in int8 are compared with it.
type graphCodec struct {
	dims        bundle.Dims
	states      []bundle.State
	frequencies []float32
	session     *ort.Session
	size        int64 // of the file
}

func openCodec(m *bundle.Manifest, openGraph opener, graph []byte) (sharedCodec, error) {
	inputs, outputs := []string{"latents", "cos", "sin", "mask"}, []string{"audio"}
	for _, s := range m.Codec.States {
		inputs, outputs = append(inputs, s.Name), append(outputs, s.Name+"_out")
	}
	session, err := openGraph(graph, inputs, outputs)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", m.Codec.File.File, err)
	}
	head := m.Dims.CodecWidth / m.Dims.CodecHeads
	return &graphCodec{m.Dims, m.Codec.States, bundle.RotationFrequencies(m.Dims.CodecRoPE, head), session,
		int64(len(graph))}, nil
}

func (c *graphCodec) close() error { return c.session.Close() }

func (c *graphCodec) bytes() (weights, stream int64) {
	const float = 4
	for _, s := range c.states {
		size := int64(float)
		for _, dim := range s.Shape {
			size *= int64(dim)
		}
		stream += size
	}
	return c.size, stream
}

type graphDecoder struct {
	codec    *graphCodec
	position int // of the next frame, in positions of the transformer
	states   []float32
	free     func() error      // frees the states, which the collector does not see
	tensors  []*ort.Tensor     // of the states
	groups   map[int]*decoding // by number of frames
}

// decoding is what decoding a certain number of frames at once reads and writes.
type decoding struct {
	latents, cos, sin, mask, audio []float32
	masked                         int // position that the mask is for; -1 for none
	inputs, outputs                []*ort.Tensor
}

func (c *graphCodec) newDecoder() (Decoder, error) {
	d := &graphDecoder{codec: c, groups: map[int]*decoding{}}
	const line = 16 // values of a line of the processor's cache, on which each state begins
	sizes, total := make([]int, len(c.states)), 0
	for i, s := range c.states {
		sizes[i] = 1
		for _, size := range s.Shape {
			sizes[i] *= size
		}
		total += (sizes[i] + line - 1) / line * line
	}
	var err error
	if d.states, d.free, err = pages(total); err != nil {
		return nil, fmt.Errorf("the codec's states: %w", err)
	}
	rest := d.states
	for i, s := range c.states {
		t, err := ort.Floats(rest[:sizes[i]], s.Shape...)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("state %s: %w", s.Name, err), d.Close())
		}
		d.tensors, rest = append(d.tensors, t), rest[(sizes[i]+line-1)/line*line:]
	}
	return d, nil
}

func (d *graphDecoder) Close() error {
	var err error
	for _, t := range d.tensors {
		err = errors.Join(err, t.Close())
	}
	for _, g := range d.groups {
		err = errors.Join(err, g.close())
	}
	return errors.Join(err, d.free())
}

func (d *graphDecoder) Begin() {
	d.position = 0
	clear(d.states)
}

// Decode never runs more frames at once than a worker does. With five and more the library adds up in another order,
// which the last bits of the samples show (1.2e-6 instead of 9e-7 from one by one).
func (d *graphDecoder) Decode(latents []float32, frames int) ([]float32, error) {
	return codec.InGroups(latents, d.codec.dims.Latent, frames, d.decode)
}

func (d *graphDecoder) decode(latents []float32, frames int) ([]float32, error) {
	g, err := d.group(frames)
	if err != nil {
		return nil, err
	}
	positions := frames * d.codec.dims.Upsample
	copy(g.latents, latents)
	bundle.Rotations(g.cos, g.sin, d.codec.frequencies, d.position, positions)
	g.maskFrom(d.position, positions, d.codec.dims.CodecWindow)
	// No context: decoding a group is shorter than the time in which a cancel must take effect.
	if err := d.codec.session.Run(context.Background(), g.inputs, g.outputs); err != nil {
		return nil, fmt.Errorf("decoding %d frames: %w", frames, err)
	}
	d.position += positions
	return g.audio, nil
}

func (d *graphDecoder) group(frames int) (*decoding, error) {
	if g, ok := d.groups[frames]; ok {
		return g, nil
	}
	c := d.codec
	positions, half := frames*c.dims.Upsample, len(c.frequencies)
	keys := c.dims.CodecWindow - 1 + positions
	g := &decoding{
		latents: make([]float32, frames*c.dims.Latent), cos: make([]float32, positions*half),
		sin:  make([]float32, positions*half),
		mask: make([]float32, positions*keys), audio: make([]float32, frames*speech.FrameSamples), masked: -1,
	}
	var err error
	add := func(values []float32, shape ...int) *ort.Tensor {
		t, e := ort.Floats(values, shape...)
		err = errors.Join(err, e)
		return t
	}
	g.inputs = []*ort.Tensor{
		add(g.latents, 1, frames, c.dims.Latent), add(g.cos, positions, half), add(g.sin, positions, half),
		add(g.mask, positions, keys),
	}
	g.outputs = []*ort.Tensor{add(g.audio, 1, 1, len(g.audio))}
	if err != nil {
		return nil, errors.Join(err, g.close())
	}
	g.inputs, g.outputs = append(g.inputs, d.tensors...), append(g.outputs, d.tensors...)
	d.groups[frames] = g
	return g, nil
}

// close closes the tensors of the group; those of the states behind them are the decoder's.
func (g *decoding) close() error {
	var err error
	for _, t := range g.inputs[:4] {
		err = errors.Join(err, t.Close())
	}
	return errors.Join(err, g.outputs[0].Close())
}

// maskFrom lets every new position see itself and the window before it, but nothing before the start of the chunk.
func (g *decoding) maskFrom(position, positions, window int) {
	before := window - 1
	first := max(before-position, 0) // column of the first position that exists
	if g.masked == first {
		return
	}
	g.masked = first
	keys := before + positions
	for i := range positions {
		row := g.mask[i*keys : (i+1)*keys]
		for j := range row {
			if row[j] = 0; j < max(i, first) || j > i+before {
				row[j] = float32(math.Inf(-1))
			}
		}
	}
}

// FadeIn is a ramp from 0 to 1, both included. A fresh decoder begins with a small step, which would be a click.
func FadeIn(samples []float32) {
	for i := range samples {
		samples[i] *= float32(i) / float32(max(len(samples)-1, 1))
	}
}

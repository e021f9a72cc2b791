package layout

import (
	"context"
	"errors"
	"fmt"

	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/speech"
)

// Decoder is the codec's state in one stream. It is not safe for concurrent use.
type Decoder struct {
	memory *memory
	latent int
	groups map[int]*group // by number of frames
	fresh  bool
}

// group is what decoding a certain number of frames at once reads and writes.
type group struct {
	tensors
	latents, audio  []float32
	inputs, outputs []*ort.Tensor
}

// NewDecoder makes a decoder.
func (m *Model) NewDecoder() (*Decoder, error) {
	memory, err := m.codec.newMemory()
	if err != nil {
		return nil, fmt.Errorf("new decoder: %w", err)
	}
	return &Decoder{memory: memory, latent: m.Manifest.Dims.Latent, groups: map[int]*group{}, fresh: true}, nil
}

// Begin forgets what was decoded. Every chunk starts fresh.
func (d *Decoder) Begin() {
	if !d.fresh {
		d.memory.start()
		d.fresh = true
	}
}

// Decode turns normalised latents of so many frames into samples, which are valid until the next call.
func (d *Decoder) Decode(latents []float32, frames int) ([]float32, error) {
	if frames < 1 || len(latents) != frames*d.latent {
		return nil, fmt.Errorf("decoding: %d values are not %d latents of %d", len(latents), frames, d.latent)
	}
	g, err := d.group(frames)
	if err != nil {
		return nil, err
	}
	copy(g.latents, latents)
	d.fresh = false
	// No context: decoding a group is shorter than the time in which a cancel must take effect.
	if err := d.memory.run(context.Background(), g.inputs, g.outputs); err != nil {
		return nil, fmt.Errorf("decoding %d frames: %w", frames, err)
	}
	return g.audio, nil
}

func (d *Decoder) group(frames int) (*group, error) {
	if g, ok := d.groups[frames]; ok {
		return g, nil
	}
	g := &group{latents: make([]float32, frames*d.latent), audio: make([]float32, frames*speech.FrameSamples)}
	g.inputs = []*ort.Tensor{g.floats(g.latents, 1, frames, d.latent)}
	g.outputs = []*ort.Tensor{g.floats(g.audio, 1, 1, len(g.audio))}
	if g.err != nil {
		return nil, errors.Join(g.err, g.close())
	}
	d.groups[frames] = g
	return g, nil
}

// Close releases the states.
func (d *Decoder) Close() error {
	err := d.memory.close()
	for _, g := range d.groups {
		err = errors.Join(err, g.close())
	}
	clear(d.groups)
	return err
}

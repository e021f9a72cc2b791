package layout

import "errors"

// Decoder is the codec's state in one stream. It is not safe for concurrent use.
type Decoder struct{}

// Begin forgets what was decoded. Every chunk starts fresh.
func (d *Decoder) Begin() {}

// Decode turns normalised latents of so many frames into samples, which are valid until the next call.
func (d *Decoder) Decode(latents []float32, frames int) ([]float32, error) {
	return nil, errors.ErrUnsupported
}

// Close releases the states.
func (d *Decoder) Close() error { return nil }

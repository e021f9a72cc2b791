package layout

import (
	"context"
	"errors"
)

// Sequence is one voice, text and frames in the language model. It is not safe for concurrent use.
type Sequence struct{}

// Begin forgets everything and starts behind the prompt of a voice.
func (s *Sequence) Begin(voice string) error { return errors.ErrUnsupported }

// Prefill reads the text and then the start row, which leaves h and eos of frame 0. These graphs take text and latents in runs of
// their own, so that it is always the same two.
func (s *Sequence) Prefill(ctx context.Context, tokens []int32) error { return errors.ErrUnsupported }

// Save copies what Prefill left behind the voice prompt. It is never changed afterwards and fits every sequence of the model.
func (s *Sequence) Save() (snapshot any, bytes int64) { return nil, 0 }

// Restore takes the place of Prefill, for the same voice.
func (s *Sequence) Restore(snapshot any) error { return errors.ErrUnsupported }

// Draw moves noise along the flow from the present state to Latent.
func (s *Sequence) Draw(noise []float32) error { return errors.ErrUnsupported }

// Step reads Latent, then draws the next one from noise.
func (s *Sequence) Step(ctx context.Context, noise []float32) error { return errors.ErrUnsupported }

// State returns what the language model said last: its state and the logit of the end of speech. It is valid until the next call.
func (s *Sequence) State() (h []float32, eos float32) { return nil, 0 }

// Latent returns the normalised latent that was drawn last. It is valid until the next call.
func (s *Sequence) Latent() []float32 { return nil }

// Close releases the states.
func (s *Sequence) Close() error { return nil }

package onnx

import "context"

// sequence is one voice, text and frames in the language model. It is not safe for concurrent use.
//
// Begin, then Prefill or Restore, then Draw for the first latent and Step for each one after it.
type sequence interface {
	// Begin forgets everything and starts behind the voice's prompt.
	Begin(voice string) error

	// Prefill reads the text and the start row in one plan, whatever ran before. Afterwards State holds h and eos of
	// frame 0. An error, the cause of ctx included, leaves nothing: Begin again.
	Prefill(ctx context.Context, tokens []int32) error

	// Save returns what Prefill left behind the voice prompt and how many bytes that takes, nil where it cannot be
	// kept. It is never changed afterwards, so that other sequences of the same model may Restore it, until it is
	// freed if it is a [freer]. Call it before Step.
	Save() (snapshot any, bytes int64)

	// Restore takes the place of Prefill.
	Restore(snapshot any) error

	// Draw moves noise along the flow from the present state to Latent.
	Draw(noise []float32) error

	// Step reads Latent, then draws the next one from noise.
	Step(ctx context.Context, noise []float32) error

	// State returns the state after the last row and the logit of the end. They are valid until the next call.
	State() (h []float32, eos float32)

	// Latent returns the normalised latent, which is valid until the next call.
	Latent() []float32

	Close() error
}

// prefixed is a sequence that can take over a part of another text's snapshot. What it gives is bit for bit that of a
// whole prefill.
type prefixed interface {
	// RestorePrefix takes the place of reading the first tokens, which the text of the snapshot begins with, too.
	// Prefill reads the rest, at least one token.
	RestorePrefix(snapshot any, tokens int) error
}

// freer is a snapshot whose memory has to be given back.
type freer interface{ Free() }

// decoder is the codec's state in one stream. It is not safe for concurrent use.
type decoder interface {
	// Begin forgets what was decoded: every chunk starts fresh.
	Begin()

	// Decode turns the latents of so many frames, which follow the frames before, into samples, which are valid until
	// the next call. It is called with one or four frames; any number works.
	Decode(latents []float32, frames int) ([]float32, error)

	Close() error
}

// sharedModel is what the workers of an engine share: graphs, weights and voices. It is safe for concurrent use.
type sharedModel interface {
	// open makes what one worker needs.
	open() (sequence, decoder, error)

	// bytes returns the memory of weights and voice prompts, and of what open makes.
	bytes() (weights, prompts, stream int64)

	close() error
}

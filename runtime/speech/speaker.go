package speech

import "context"

// Speaker turns utterances into speech. The local one is a pipeline over a pool of workers; a remote one sends them to pods.
// It is safe for concurrent use.
type Speaker interface {
	// Speak speaks u and hands what it produces to sink, as fast as it can and sink takes it. Cancelling ctx stops it
	// within one frame. It has no limit of time of its own: who calls it gives ctx one.
	//
	// It returns a [Refusal] when u cannot be spoken (before anything reached sink), [ErrBusy], [ErrWarming] or
	// [ErrDraining] when there is no capacity, the cause of ctx, the error of sink, or an engine error.
	Speak(ctx context.Context, u Utterance, sink Sink) (Stats, error)

	// Normalize shows what Speak would speak: the same text and the same chunks. It needs no worker.
	Normalize(ctx context.Context, text string, enDigits bool) (Normalized, error)

	// Model returns what is spoken with. It does not change while the process lives.
	Model() Model

	// Capacity returns the present state. It is cheap.
	Capacity() Capacity
}

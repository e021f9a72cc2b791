package speech

import "context"

// Speaker turns utterances into speech. The local one is a pipeline over a pool of workers; a remote one sends them
// to pods. It is safe for concurrent use.
type Speaker interface {
	// Speak speaks u, whose turn it is, and hands what it produces to sink, as fast as it can and sink takes it.
	// Cancelling ctx stops it within one frame. It has no limit of time of its own: who calls it gives ctx one.
	//
	// It returns a [Refusal] when u cannot be spoken (before anything reached sink), [ErrBusy], [ErrWarming] or
	// [ErrDraining] when there is no capacity, the cause of ctx, the error of sink, or an engine error.
	Speak(ctx context.Context, u Utterance, turn Turn, sink Sink) (Stats, error)

	// Normalize shows what Speak would speak: the same text and the same chunks. Of u only Text, SSML, Lexicon,
	// EnDigits and Disclosure count. It needs no worker.
	Normalize(ctx context.Context, u Utterance) (Normalized, error)

	// Model returns what is spoken with now. A remote speaker knows none, whose zero value it returns, until it has
	// met somebody who speaks; and it may meet others later.
	Model() Model

	// Ready says why utterances should not be sent here: [ErrWarming], [ErrDraining], or nil if they should. What is
	// sent nevertheless may be spoken.
	Ready() error

	// Capacity returns the present state. It is cheap.
	Capacity() Capacity
}

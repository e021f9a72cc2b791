// Package synth is the port to an engine: what makes a chunk of text sound. Adapters (espeak, onnx) implement it, the
// pool owns its workers, and [github.com/swar-tts/swar/runtime/synth/synthtest] holds the suite that each of them
// passes.
package synth

import (
	"context"

	"github.com/swar-tts/swar/runtime/speech"
)

// Engine is a loaded model. It is safe for concurrent use.
type Engine interface {
	// Model returns the model's id and its voices.
	Model() speech.Model

	// Tokens counts text as the model is fed it, which may be longer than text itself (transliteration, added marks).
	Tokens(text string) int

	// Speaks reports whether the model reads all of text as it is meant: as sounds, as pauses, or rightly in silence,
	// like a joiner. It is asked about whole texts and about single characters with their marks, and should not change
	// its mind between the two.
	Speaks(text string) bool

	// NewWorker makes a worker. What all workers share (weights, prefill cache) belongs to the engine.
	NewWorker(ctx context.Context) (Worker, error)

	// Close releases the engine. Its workers must be closed before.
	Close() error
}

// Preparer is an engine that shows what becomes of a chunk before its model reads it: other letters, other marks.
type Preparer interface {
	Prepared(chunk string) string
}

// MarkReader is an engine that says whether its model pauses at marks inside a chunk. One that says nothing does. For
// a model that does not, sentences are chunks of their own.
type MarkReader interface {
	ReadsMarks() bool
}

// ChunkSizer is an engine that sets the length of chunks. The first sample of a long one may come late, or it may
// sound worse. For one that says nothing they are as long as they may be.
type ChunkSizer interface {
	// ChunkTokens is how many tokens the first chunk of an utterance should have at most, and how many the others. A
	// text that would have too many chunks then has longer ones behind its first.
	ChunkTokens() (first, others int)
}

// VoiceReader is an engine whose voices may change on the disk while it speaks. It is safe for concurrent use.
type VoiceReader interface {
	// ReadVoices loads the voices that have come since they were read last, for all workers, and returns all that are
	// on the disk now. One that has gone, or has another content than before, stays loaded under its id until it is
	// freed. An error leaves everything as it was.
	ReadVoices() ([]LoadedVoice, error)

	// FreeVoice gives back what a voice takes. Nobody may speak with it any more.
	FreeVoice(id string) error
}

// LoadedVoice is a voice that workers can speak with.
type LoadedVoice struct {
	speech.Voice
	ID string // for [Options]; the name, or something else for a voice that was not there when the engine was opened
}

// Worker speaks one chunk at a time. It is not safe for concurrent use.
type Worker interface {
	// Prefill prepares the worker to speak o.Text, dropping whatever it was speaking, and reports whether the
	// preparation came from the cache. Cancelling ctx stops it at once; the worker stays usable.
	Prefill(ctx context.Context, o Options) (cached bool, err error)

	// Next decodes up to n frames into dst, which has room for n*speech.FrameSamples samples. It returns fewer than n
	// frames only at the end of the chunk. done means that the chunk has ended; eos, which is only true with done,
	// that it ended by itself and not at a limit. Cancelling ctx stops it within one frame; the frames decoded until
	// then are returned beside the error.
	//
	// An error that wraps [speech.ErrWorkerGone] means that the worker must be replaced.
	Next(ctx context.Context, dst []int16, n int) (frames int, done, eos bool, err error)

	// Close ends the worker and everything it runs.
	Close() error
}

// WordTimer is a worker whose model knows when it says which word. Times of other workers' words are estimated.
type WordTimer interface {
	// WordTimes returns when words of the chunk are heard that Next has spoken to its end, in their order and without
	// overlaps. What is silent is left out. ok is false before that end, and where it is not known.
	WordTimes() (words []WordTime, ok bool)
}

// WordTime is the time of a part of a chunk's text. The part is a word, with or without its punctuation.
type WordTime struct {
	From, To   int // bytes of [Options].Text
	Start, End int // samples from the beginning of the chunk, none after its end
}

// WordTimes asks w for its words, or the worker that it wraps. A worker that wraps another one has the method
//
//	Unwrap() Worker
func WordTimes(w Worker) (words []WordTime, ok bool) {
	for {
		if t, ok := w.(WordTimer); ok {
			return t.WordTimes()
		}
		wrapper, ok := w.(interface{ Unwrap() Worker })
		if !ok {
			return nil, false
		}
		w = wrapper.Unwrap()
	}
}

// Options says what to speak and how. The same options give the same samples, on every worker, whatever was spoken
// before.
type Options struct {
	Voice       string  // its name, or the ID of a [LoadedVoice]
	Text        string  // a chunk of normalised text
	Chunk       int     // its index in the utterance, which goes into the noise with Seed
	Seed        int64   // fixes the noise
	Temperature float64 // 0 means no noise: Seed has no effect
	Speed       float64 // one of the model's [speech.Speeds]; 0 means 1
	WarmUp      bool    // nobody listens: what is spoken is neither cached nor counted
}

// The decode plan: one frame, so that audio leaves early, then groups, which cost less per frame.
const (
	FirstFrames = 1
	GroupFrames = 4
)

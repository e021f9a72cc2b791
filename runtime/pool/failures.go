package pool

import (
	"context"
	"errors"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// maxFailures is how many failures in a row make a worker a broken one. A single one may be the fault of its text.
const maxFailures = 3

// counted is a worker with its count of failures. The holder of the worker owns the count.
type counted struct {
	synth.Worker
	failures int // since a chunk was spoken to its end
}

// Unwrap returns the engine's worker, so that [synth.WordTimes] finds what it offers beside.
func (w *counted) Unwrap() synth.Worker { return w.Worker }

// broken reports whether w has failed too often to be lent again.
func broken(w synth.Worker) bool {
	c, ok := w.(*counted)
	return ok && c.failures >= maxFailures
}

// Prefill implements [synth.Worker].
func (w *counted) Prefill(ctx context.Context, o synth.Options) (cached bool, err error) {
	cached, err = w.Worker.Prefill(ctx, o)
	w.count(ctx, err)
	return cached, err
}

// Next implements [synth.Worker].
func (w *counted) Next(ctx context.Context, dst []int16, n int) (frames int, done, eos bool, err error) {
	frames, done, eos, err = w.Worker.Next(ctx, dst, n)
	if w.count(ctx, err); done && err == nil {
		w.failures = 0
	}
	return frames, done, eos, err
}

// count counts err if it is the worker's own: who cancels, or asks for a voice that is not there, breaks nothing.
func (w *counted) count(ctx context.Context, err error) {
	_, refused := errors.AsType[*speech.Refusal](err)
	if err != nil && !refused && ctx.Err() == nil {
		w.failures++
	}
}

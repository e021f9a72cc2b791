package espeak

import (
	"context"
	"errors"
	"io"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

var (
	errClosed       = errors.New("espeak: the worker is closed")
	errNotPrefilled = errors.New("espeak: Next without a successful Prefill")
)

// worker speaks one chunk at a time, each in a process of its own.
//
// Starting the program takes most of the time until it is heard: 6 ms of 6.5. So the worker keeps a spare process, which is started
// when a chunk ends and waits for the text of the next one. It sleeps until then and has 7 MB in memory, most of them shared.
type worker struct {
	engine  *Engine
	spawner *spawner
	spare   *launch // nil for none
	closed  bool

	speaking *process // nil when no process has samples to give
	ended    bool     // the chunk was spoken to its end
	voice    *voice   // of the chunk
	pending  []int16  // samples that the process gave and the resampler did not take yet
	resample resampler
}

func newWorker(e *Engine) *worker {
	w := &worker{engine: e, spawner: newSpawner()}
	w.prepare(voices[0])
	return w
}

// Prefill implements [synth.Worker]. The program has the text and speaks when it returns.
func (w *worker) Prefill(ctx context.Context, o synth.Options) (cached bool, err error) {
	w.drop()
	if w.closed {
		return false, errClosed
	}
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	v, ok := voiceNamed(o.Voice)
	if !ok {
		return false, speech.UnknownVoice(o.Voice)
	}
	s, cached := w.engine.prefill(o)
	w.resample.reset()
	w.voice, w.pending = v, nil
	if s.text == "" {
		w.ended = true
		return cached, nil
	}
	w.speaking, err = w.start(ctx, v, v.input(s, o))
	return cached, err
}

// Next implements [synth.Worker].
func (w *worker) Next(ctx context.Context, dst []int16, n int) (frames int, done, eos bool, err error) {
	switch {
	case w.ended:
		return 0, true, true, nil
	case w.speaking == nil:
		return 0, false, false, errNotPrefilled
	}
	samples, err := w.decode(ctx, dst[:n*speech.FrameSamples])
	if err == nil {
		return n, false, false, nil
	}
	w.drop()
	w.prepare(w.voice)
	if err != io.EOF {
		return samples / speech.FrameSamples, false, false, err
	}
	w.ended = true
	frames = (samples + speech.FrameSamples - 1) / speech.FrameSamples
	clear(dst[samples : frames*speech.FrameSamples])
	return frames, true, true, nil
}

// Close implements [synth.Worker].
func (w *worker) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	w.drop()
	w.dismiss()
	w.spawner.close()
	return nil
}

// decode is fill until ctx ends.
func (w *worker) decode(ctx context.Context, dst []int16) (samples int, err error) {
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	release := context.AfterFunc(ctx, w.speaking.interrupt)
	samples, err = w.fill(dst)
	if !release() {
		return samples, context.Cause(ctx)
	}
	return samples, err
}

// fill decodes until dst is full. It returns io.EOF when the chunk ended before that.
func (w *worker) fill(dst []int16) (samples int, err error) {
	for {
		samples += w.resample.pull(dst[samples:])
		switch {
		case samples == len(dst):
			return samples, nil
		case w.resample.ended:
			return samples, io.EOF
		case len(w.pending) == 0:
			w.pending, err = w.speaking.read()
			if err == io.EOF {
				w.resample.end()
				continue
			}
			if err != nil {
				return samples, err
			}
		}
		w.pending = w.pending[w.resample.push(w.pending):]
	}
}

// start returns a process that has the text.
func (w *worker) start(ctx context.Context, v *voice, text []byte) (*process, error) {
	if w.spare != nil && w.spare.voice == v {
		p, err := w.feed(ctx, text)
		if err == nil || context.Cause(ctx) != nil {
			return p, err
		}
		// There was no room for it, or somebody ended it while it was waiting. That must not cost a chunk.
	}
	w.prepare(v)
	return w.feed(ctx, text)
}

// feed gives the text to the spare process.
func (w *worker) feed(ctx context.Context, text []byte) (*process, error) {
	p, err := w.spare.wait()
	w.spare = nil
	if err != nil {
		return nil, err
	}
	release := context.AfterFunc(ctx, p.interrupt)
	err = p.feed(text)
	if !release() {
		err = context.Cause(ctx)
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// prepare makes the spare process one of voice v.
func (w *worker) prepare(v *voice) {
	w.dismiss()
	w.spare = w.spawner.launch(w.engine, v)
}

// dismiss ends the spare process.
func (w *worker) dismiss() {
	if w.spare == nil {
		return
	}
	if p, err := w.spare.wait(); err == nil {
		p.stop()
	}
	w.spare = nil
}

// drop ends the chunk that is being spoken.
func (w *worker) drop() {
	w.ended = false
	if w.speaking == nil {
		return
	}
	w.speaking.stop()
	w.speaking = nil
}

package espeak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/resample"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

var (
	errClosed       = errors.New("espeak: the worker is closed")
	errNotPrefilled = errors.New("espeak: Next without a successful Prefill")
)

// worker speaks one chunk at a time, each in a process of its own.
//
// Starting the program takes most of the time until it is heard: 6 ms of 6.5. So the worker keeps a spare process,
// which is started when a chunk ends and waits for the text of the next one. It sleeps until then and has 7 MB in
// memory, most of them shared.
type worker struct {
	engine  *Engine
	spawner *spawner
	spare   *launch // nil for none
	closed  bool

	speaking *process // nil when no process has samples to give
	wasSpare bool     // of speaking: what makes it fail may have happened before the chunk
	ended    bool     // the chunk was spoken to its end
	voice    *voice   // of the chunk
	fed      []byte   // the text as the process has it
	frames   int      // given to the caller so far
	limit    int      // of frames
	pending  []int16  // samples that the process gave and stream did not take yet
	stream   *resample.Stream
}

func newWorker(e *Engine) *worker {
	w := &worker{engine: e, spawner: newSpawner(), stream: toService.Stream()}
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
	w.stream.Reset()
	w.voice, w.fed, w.pending = v, v.input(s, o), nil
	w.frames, w.limit = 0, maxFrames(s.text)
	if s.text == "" {
		w.ended = true
		return cached, nil
	}
	w.speaking, err = w.start(ctx)
	return cached, err
}

// maxFrames is how long text may sound: three times as long as the slowest text that was found. Numbers of four digits
// take a third of a second for a character.
func maxFrames(text string) int {
	seconds := 10 + utf8.RuneCountInString(text)
	return int(time.Duration(seconds) * time.Second / speech.FrameDuration)
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
	frames = samples / speech.FrameSamples
	if err == io.EOF {
		frames = (samples + speech.FrameSamples - 1) / speech.FrameSamples
		clear(dst[samples : frames*speech.FrameSamples])
	}
	if left := w.limit - w.frames; frames > left && (err == nil || err == io.EOF) {
		frames = left
		cause := fmt.Errorf("more than %d frames for %d bytes of text", w.limit, len(w.fed))
		err = w.speaking.failure("speech program does not end", cause)
	}
	w.frames += frames
	if err == nil {
		return frames, false, false, nil
	}
	w.drop()
	w.prepare(w.voice)
	if err != io.EOF {
		return frames, false, false, err
	}
	w.ended = true
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

// decode is fill until ctx ends. A process that had been a spare and breaks before its first sample is replaced, once:
// why it broke may have nothing to do with the chunk. Somebody may have ended it, or the program may be another one
// since.
func (w *worker) decode(ctx context.Context, dst []int16) (samples int, err error) {
	samples, err = w.fillUntil(ctx, dst)
	_, broken := errors.AsType[*speech.EngineError](err)
	if !broken || !w.wasSpare || w.speaking.gotSamples {
		return samples, err
	}
	w.drop()
	if w.speaking, err = w.startFresh(ctx); err != nil {
		return 0, err
	}
	return w.fillUntil(ctx, dst)
}

// fillUntil is fill until ctx ends.
func (w *worker) fillUntil(ctx context.Context, dst []int16) (samples int, err error) {
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
		samples += w.stream.Pull(dst[samples:])
		switch {
		case samples == len(dst):
			return samples, nil
		case w.stream.Ended():
			return samples, io.EOF
		case len(w.pending) == 0:
			w.pending, err = w.speaking.read()
			if err == io.EOF {
				w.stream.End()
				continue
			}
			if err != nil {
				return samples, err
			}
			w.speaking.stall = w.engine.limits.stall
		}
		w.pending = w.pending[w.stream.Push(w.pending):]
	}
}

// start returns a process that has the text: the spare one, or else a fresh one.
func (w *worker) start(ctx context.Context) (*process, error) {
	if w.spare != nil && w.spare.voice == w.voice {
		p, err := w.feed(ctx, w.engine.limits.first)
		if err == nil || context.Cause(ctx) != nil {
			w.wasSpare = true
			return p, err
		}
		// There was no room for it, or somebody ended it while it was waiting. That must not cost a chunk.
	}
	return w.startFresh(ctx)
}

// startFresh returns a process that has the text and was started for it.
func (w *worker) startFresh(ctx context.Context) (*process, error) {
	w.wasSpare = false
	w.prepare(w.voice)
	return w.feed(ctx, w.engine.limits.stall)
}

// feed gives the text to the spare process, which must not keep us waiting for longer than stall.
func (w *worker) feed(ctx context.Context, stall time.Duration) (*process, error) {
	p, err := w.spare.wait()
	w.spare = nil
	if err != nil {
		return nil, err
	}
	p.stall = stall
	release := context.AfterFunc(ctx, p.interrupt)
	err = p.feed(w.fed)
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

package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/swar-tts/swar/runtime/internal/noise"
	"github.com/swar-tts/swar/runtime/onnx/internal/model"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

var (
	errClosed       = errors.New("onnx: the worker is closed")
	errNotPrefilled = errors.New("onnx: Next without a successful Prefill")
)

// worker speaks one chunk at a time. It only waits: the scheduler's threads run the model.
type worker struct {
	engine   *Engine
	sequence sequence
	decoder  decoder
	task     task
	closed   bool

	// The chunk. frame counts the frames that were drawn and will be decoded; the latent of the first is drawn with
	// the prefill already, because the start row is part of it.
	speaking bool
	options  synth.Options
	ending   model.Ending
	frame    int

	noise []float32
	group group
}

// group is the frames that Next draws and decodes together.
type group struct {
	want    int       // frames
	latents []float32 // of those that were drawn
	last    stage     // that was asked for
	samples []float32 // once decoded
}

// stage is a kind of run.
type stage int

const (
	started stage = iota
	stepped
	decoded
)

func newWorker(e *Engine) (*worker, error) {
	w := &worker{engine: e, noise: make([]float32, e.manifest.Dims.Latent)}
	s, d, err := e.model.open()
	if err != nil {
		return nil, err
	}
	w.sequence, w.decoder = s, d
	return w, nil
}

// Prefill implements [synth.Worker].
func (w *worker) Prefill(ctx context.Context, o synth.Options) (cached bool, err error) {
	w.speaking = false
	if w.closed {
		return false, errClosed
	}
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	if !w.engine.hasVoice(o.Voice) {
		return false, speech.UnknownVoice(o.Voice)
	}
	if o.Chunk == 0 {
		w.task.pace = pace{} // another utterance
	}
	m := &w.engine.manifest
	text, words := w.engine.text.Prepare(o.Text)
	if words == 0 {
		// over, by itself, before the first frame
		w.speaking, w.frame, w.ending = true, 0, model.Ending{Seen: true, MaxFrames: 1}
		return false, nil
	}
	tokens := w.engine.tokenizer.Encode(nil, text)
	if len(tokens) > m.Limits.MaxTokens {
		return false, fmt.Errorf("onnx: a chunk of %d tokens, more than %d", len(tokens), m.Limits.MaxTokens)
	}
	w.options, w.frame, w.ending = o, 0, model.NewEnding(m, len(tokens), words)
	err = w.engine.scheduler.do(ctx, &w.task, once(func(ctx context.Context) error {
		w.decoder.Begin()
		if cached, err = w.read(ctx, synth.CacheKey{Voice: o.Voice, Text: text}, tokens); err != nil {
			return err
		}
		return w.sequence.Draw(w.draw())
	}))
	if err != nil {
		w.abandon()
		return false, fmt.Errorf("onnx: frame 0: %w", err)
	}
	w.speaking = true
	return cached, nil
}

// read brings the sequence behind the text of the chunk, from the cache as far as it was read before.
func (w *worker) read(ctx context.Context, key synth.CacheKey, tokens []int32) (cached bool, err error) {
	if err := w.sequence.Begin(key.Voice); err != nil {
		return false, err
	}
	if w.options.WarmUp {
		return false, w.sequence.Prefill(ctx, tokens)
	}
	known := w.engine.prefills
	if cached, err := known.restore(w.sequence, key); cached || err != nil {
		return cached, err
	}
	first, err := known.restorePrefix(w.sequence, key.Voice, tokens)
	if err != nil {
		return false, err
	}
	if err := w.sequence.Prefill(ctx, tokens[first:]); err != nil {
		return false, err
	}
	if h, eos := w.sequence.State(); !finite(h) || !finite([]float32{eos}) {
		return false, w.broken() // and nothing to keep
	}
	known.save(w.sequence, key, tokens)
	return false, nil
}

// Next implements [synth.Worker]. It decodes by groups of at most [synth.GroupFrames]. After a cancel the chunk is
// lost: frames that were drawn but not decoded are dropped.
func (w *worker) Next(ctx context.Context, dst []int16, n int) (frames int, done, eos bool, err error) {
	if w.closed {
		return 0, false, false, errClosed
	}
	if !w.speaking {
		return 0, false, false, errNotPrefilled
	}
	for frames < n {
		got, err := w.nextGroup(ctx, dst[frames*speech.FrameSamples:], min(n-frames, synth.GroupFrames))
		if err != nil {
			w.abandon()
			return frames, false, false, err
		}
		if got == 0 {
			break
		}
		frames += got
	}
	if done, eos = w.ending.Over(w.frame); done {
		w.releaseSlot()
	}
	return frames, done, eos, nil
}

// nextGroup draws and decodes up to n frames, fewer only where the chunk ends.
func (w *worker) nextGroup(ctx context.Context, dst []int16, n int) (frames int, err error) {
	first := w.frame == 0
	w.group = group{want: n, latents: w.group.latents[:0]}
	if err := w.engine.scheduler.do(ctx, &w.task, w.next); err != nil {
		return 0, fmt.Errorf("onnx: frame %d: %w", w.frame, err)
	}
	if frames = w.drawn(); frames == 0 {
		return 0, nil
	}
	samples := w.group.samples
	if !finite(samples) {
		return 0, fmt.Errorf("onnx: frame %d: %w", w.frame-frames, w.broken())
	}
	if first {
		model.FadeIn(samples[:w.engine.manifest.Decode.FadeIn])
	}
	toPCM16(dst, samples)
	w.task.pace.count(frames, w.engine.scheduler.now())
	return frames, nil
}

// drawn returns how many frames of the group have their latents.
func (w *worker) drawn() int { return len(w.group.latents) / len(w.noise) }

// next says which run the group needs next: steps until the group is full or the chunk is over, then a decode. It
// follows up the run before.
func (w *worker) next() (p phase, err error) {
	g := &w.group
	if g.last == decoded {
		return phase{}, nil
	}
	done, _ := w.ending.Over(w.frame)
	if !done && (g.last == stepped || w.frame == 0) {
		if done, err = w.take(); err != nil {
			return phase{}, err
		}
	}
	switch {
	case !done && w.drawn() < g.want:
		g.last = stepped
		return w.step(w.draw())
	case w.drawn() > 0:
		g.last = decoded
		return phase{run: w.decode}, nil
	default:
		return phase{}, nil
	}
}

// take takes the latent that was drawn last into the group, unless the chunk is over before it: the frame that ends
// it may be one that is not heard.
func (w *worker) take() (done bool, err error) {
	h, eos := w.sequence.State()
	if !finite(h) || !finite([]float32{eos}) || !finite(w.sequence.Latent()) {
		return false, w.broken()
	}
	w.ending.Observe(w.frame, eos)
	if done, _ = w.ending.Over(w.frame); !done {
		w.group.latents = append(w.group.latents, w.sequence.Latent()...)
		w.frame++
		done, _ = w.ending.Over(w.frame)
	}
	return done, nil
}

// step is the phase of a step from noise, shared and counted where the model can and somebody listens.
func (w *worker) step(noise []float32) (phase, error) {
	if s, ok := w.sequence.(*model.Stream); ok && !w.options.WarmUp {
		return phase{stream: s}, s.SetNoise(noise)
	}
	return phase{run: func(ctx context.Context) error { return w.sequence.Step(ctx, noise) }}, nil
}

func (w *worker) decode(context.Context) (err error) {
	w.group.samples, err = w.decoder.Decode(w.group.latents, w.drawn())
	return err
}

// abandon gives the chunk up.
func (w *worker) abandon() {
	w.speaking = false
	w.releaseSlot()
}

// releaseSlot lets others have what the sequence kept for the chunk.
func (w *worker) releaseSlot() {
	if s, ok := w.sequence.(*model.Stream); ok {
		s.Release()
	}
}

// broken counts an output that is not a number.
func (w *worker) broken() error {
	w.engine.broken.Add(1)
	return fmt.Errorf("the model's output is not a number: its weights or its voice %q are damaged or do not belong together", w.options.Voice)
}

// finite reports whether all values are numbers. What is infinite or no number at all leaves no zero when multiplied
// by it.
func finite(values []float32) bool {
	sum := float32(0)
	for _, v := range values {
		sum += v * 0
	}
	return sum == 0
}

// draw returns the noise of the present frame.
func (w *worker) draw() []float32 {
	o := &w.options
	noise.Fill(w.noise, o.Seed, o.Chunk, w.frame, math.Sqrt(o.Temperature), w.engine.manifest.Sampling.NoiseClamp)
	return w.noise
}

// Close implements [synth.Worker].
func (w *worker) Close() error {
	if w.closed {
		return nil
	}
	w.closed, w.speaking = true, false
	return errors.Join(w.sequence.Close(), w.decoder.Close())
}

// toPCM16 rounds samples in [-1, 1] to 16 bits and cuts what lies outside.
func toPCM16(dst []int16, samples []float32) {
	for i, v := range samples {
		dst[i] = int16(math.RoundToEven(float64(min(max(v, -1), 1)) * math.MaxInt16))
	}
}

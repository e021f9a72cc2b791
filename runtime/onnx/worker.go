package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

var (
	errClosed       = errors.New("onnx: the worker is closed")
	errNotPrefilled = errors.New("onnx: Next without a successful Prefill")
)

// worker speaks one chunk at a time.
type worker struct {
	engine   *Engine
	sequence sequence
	decoder  decoder
	closed   bool

	// The chunk. frame counts the frames that were drawn and will be decoded; the latent of the next one is drawn already when it is
	// the first, because the start row is part of the prefill.
	speaking bool
	options  synth.Options
	ending   ending
	frame    int

	noise   []float32
	latents []float32 // of the group that is being drawn
}

func newWorker(e *Engine) (*worker, error) {
	w := &worker{engine: e, noise: make([]float32, e.manifest.Dims.Latent)}
	s, err := e.lm.newStream(e.capacity)
	if err != nil {
		return nil, err
	}
	d, err := e.codec.newStream()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	w.sequence, w.decoder = s, d
	return w, nil
}

// warmUp runs every graph in every shape but that of a prefill, which has the length of its text.
func (w *worker) warmUp(ctx context.Context) error {
	s := w.sequence
	if err := errors.Join(s.Begin(w.engine.manifest.Voices[0].Name), s.Prefill(ctx, []int32{0})); err != nil {
		return err
	}
	if err := errors.Join(s.Draw(w.noise), s.Step(ctx, w.noise)); err != nil {
		return err
	}
	for _, frames := range []int{synth.FirstFrames, synth.GroupFrames} {
		if _, err := w.decoder.Decode(make([]float32, frames*len(w.noise)), frames); err != nil {
			return err
		}
	}
	return nil
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
	m := &w.engine.manifest
	text, words := prepare(o.Text, &m.Text)
	if words == 0 {
		w.speaking, w.frame, w.ending = true, 0, ending{seen: true, maxFrames: 1} // over, by itself, before the first frame
		return false, nil
	}
	tokens := w.engine.tokenizer.Encode(nil, text)
	if len(tokens) > m.Limits.MaxTokens {
		return false, fmt.Errorf("onnx: a chunk of %d tokens, more than %d", len(tokens), m.Limits.MaxTokens)
	}
	if cached, err = w.read(ctx, synth.CacheKey{Voice: o.Voice, Text: text}, tokens); err != nil {
		return false, err
	}
	w.options, w.frame, w.ending = o, 0, newEnding(m, len(tokens), words)
	if err := w.sequence.Draw(w.draw()); err != nil {
		return false, err
	}
	_, eos := w.sequence.State()
	w.ending.observe(0, eos)
	w.decoder.Begin()
	w.speaking = true
	return cached, nil
}

// read brings the sequence behind the text of the chunk, from the cache if it was read before.
func (w *worker) read(ctx context.Context, key synth.CacheKey, tokens []int32) (cached bool, err error) {
	if err := w.sequence.Begin(key.Voice); err != nil {
		return false, err
	}
	if saved, ok := w.engine.cache.Get(key); ok {
		return true, w.sequence.Restore(saved)
	}
	if err := w.sequence.Prefill(ctx, tokens); err != nil {
		return false, err
	}
	saved, bytes := w.sequence.Save()
	w.engine.cache.Add(key, saved, bytes)
	return false, nil
}

// Next implements [synth.Worker]. It decodes by groups of at most [synth.GroupFrames]. After a cancel the chunk is lost: frames that
// were drawn but not decoded are dropped.
func (w *worker) Next(ctx context.Context, dst []int16, n int) (frames int, done, eos bool, err error) {
	if w.closed {
		return 0, false, false, errClosed
	}
	if !w.speaking {
		return 0, false, false, errNotPrefilled
	}
	for frames < n {
		first := w.frame == 0
		group, err := w.drawGroup(ctx, min(n-frames, synth.GroupFrames))
		if err != nil {
			w.speaking = false
			return frames, false, false, err
		}
		if group == 0 {
			break
		}
		samples, err := w.decoder.Decode(w.latents, group)
		if err != nil {
			w.speaking = false
			return frames, false, false, err
		}
		if first {
			fadeIn(samples[:w.engine.manifest.Decode.FadeIn])
		}
		quantise(dst[frames*speech.FrameSamples:], samples)
		frames += group
	}
	done, eos = w.ending.over(w.frame)
	return frames, done, eos, nil
}

// drawGroup draws the latents of up to n frames, fewer only where the chunk ends.
func (w *worker) drawGroup(ctx context.Context, n int) (frames int, err error) {
	w.latents = w.latents[:0]
	for ; frames < n; frames++ {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		if done, _ := w.ending.over(w.frame); done {
			return frames, nil
		}
		if w.frame > 0 {
			if err := w.sequence.Step(ctx, w.draw()); err != nil {
				return 0, fmt.Errorf("onnx: frame %d: %w", w.frame, err)
			}
			_, eos := w.sequence.State()
			w.ending.observe(w.frame, eos)
			if done, _ := w.ending.over(w.frame); done {
				return frames, nil // the frame that ended it may be one that is not heard
			}
		}
		w.latents = append(w.latents, w.sequence.Latent()...)
		w.frame++
	}
	return frames, nil
}

// draw returns the noise of the present frame.
func (w *worker) draw() []float32 {
	o := &w.options
	noise(w.noise, o.Seed, o.Chunk, w.frame, math.Sqrt(o.Temperature), w.engine.manifest.Sampling.NoiseClamp)
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

// fadeIn rises from 0 to 1, both included: a fresh decoder begins with a small step, which is heard as a click.
func fadeIn(samples []float32) {
	for i := range samples {
		samples[i] *= float32(i) / float32(max(len(samples)-1, 1))
	}
}

// quantise rounds samples in [-1, 1] to 16 bits and cuts what lies outside.
func quantise(dst []int16, samples []float32) {
	for i, v := range samples {
		dst[i] = int16(math.RoundToEven(float64(min(max(v, -1), 1)) * math.MaxInt16))
	}
}

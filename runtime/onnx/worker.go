package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

var (
	errClosed       = errors.New("onnx: the worker is closed")
	errNotPrefilled = errors.New("onnx: Next without a successful Prefill")
)

// worker speaks one chunk at a time.
type worker struct {
	engine  *Engine
	stream  *stream
	decoder *decoder
	closed  bool

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
	var err error
	if w.stream, err = e.lm.newStream(e.capacity); err != nil {
		return nil, err
	}
	if w.decoder, err = e.codec.newDecoder(); err != nil {
		return nil, errors.Join(err, w.stream.close())
	}
	return w, nil
}

// warmUp runs every graph in every shape but that of a prefill, which has the length of its text.
func (w *worker) warmUp(ctx context.Context) error {
	s, prompt := w.stream, w.engine.prompts[w.engine.manifest.Voices[0].Name]
	if err := errors.Join(s.begin(prompt), s.prefill(ctx, []int32{0})); err != nil {
		return err
	}
	if err := errors.Join(s.draw(w.noise), s.step(w.noise)); err != nil {
		return err
	}
	for _, frames := range []int{synth.FirstFrames, synth.GroupFrames} {
		if _, err := w.decoder.decode(make([]float32, frames*len(w.noise)), frames); err != nil {
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
	prompt, ok := w.engine.prompts[o.Voice]
	if !ok {
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
	if cached, err = w.read(ctx, prompt, synth.CacheKey{Voice: o.Voice, Text: text}, tokens); err != nil {
		return false, err
	}
	w.options, w.frame, w.ending = o, 0, newEnding(m, len(tokens), words)
	if err := w.stream.draw(w.draw()); err != nil {
		return false, err
	}
	w.ending.observe(0, w.stream.eos[0])
	w.decoder.begin()
	w.speaking = true
	return cached, nil
}

// read brings the stream behind the text of the chunk, from the cache if it was read before.
func (w *worker) read(ctx context.Context, prompt *bundle.Prompt, key synth.CacheKey, tokens []int32) (cached bool, err error) {
	s := w.stream
	if err := s.begin(prompt); err != nil {
		return false, err
	}
	if p, ok := w.engine.cache.Get(key); ok {
		for i, values := range p.kv {
			if err := s.write(i, values, s.length, p.positions); err != nil {
				return false, err
			}
		}
		s.length += p.positions
		copy(s.h, p.h)
		copy(s.eos, p.eos)
		return true, nil
	}
	if err := s.prefill(ctx, tokens); err != nil {
		return false, err
	}
	p := &prefill{positions: s.length - prompt.Positions, h: slices.Clone(s.h), eos: slices.Clone(s.eos)}
	bytes := 4 * (len(p.h) + len(p.eos))
	for i := range s.kv {
		p.kv = append(p.kv, s.read(i, prompt.Positions, p.positions))
		bytes += 4 * len(p.kv[i])
	}
	w.engine.cache.Add(key, p, int64(bytes))
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
		samples, err := w.decoder.decode(w.latents, group)
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
			if err := w.stream.step(w.draw()); err != nil {
				return 0, fmt.Errorf("onnx: frame %d: %w", w.frame, err)
			}
			w.ending.observe(w.frame, w.stream.eos[0])
			if done, _ := w.ending.over(w.frame); done {
				return frames, nil // the frame that ended it may be one that is not heard
			}
		}
		w.latents = append(w.latents, w.stream.latent...)
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
	return errors.Join(w.stream.close(), w.decoder.close())
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

package kokoro

import (
	"context"
	"errors"
	"math"

	"github.com/swar-tts/swar/runtime/internal/noise"
	"github.com/swar-tts/swar/runtime/kokoro/internal/prosody"
	"github.com/swar-tts/swar/runtime/kokoro/internal/vocoder"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

var (
	errClosed       = errors.New("kokoro: the worker is closed")
	errNotPrefilled = errors.New("kokoro: Next without a successful Prefill")
	errOutput       = errors.New("the model's output is not speech: its weights or its voice are damaged or do not belong together")
)

// What is cut of the silence that the model makes around a chunk, in samples.
const (
	beforePad  = 4200  // onsets come up to 140 ms before the pad in front ends, at any speed
	beforeRise = 900   // onsets come 2 to 60 ms after the predicted energy has risen
	lookAhead  = 9600  // in which the onset is looked for
	lead       = 480   // that stays before the onset: 20 ms
	tail       = 15000 // at the end, in which silence is looked for
	trail      = 1200  // that stays behind the last sound: 50 ms
)

// risen is an energy that speech has, and silence, which is at -9, has not.
const risen = -4

// beginning is the first sample that the vocoder is asked for: shortly before the predicted energy rises.
func beginning(p prosody.Prosody) int {
	const half = vocoder.FrameSamples / 2
	latest := p.Durations[0] * vocoder.FrameSamples
	at := latest - beforePad // where no energy rises
	for i, n := range p.N {
		if n > risen {
			at = min(i*half, latest) - beforeRise
			break
		}
	}
	return max(0, at)
}

// audible is the height from which a sample counts as sound: -46 dB.
const audible = 0.005

// mostOutput is far above any sample of a voice, which are hardly above 1.
const mostOutput = 8

// worker speaks one chunk at a time.
type worker struct {
	engine *Engine
	closed bool

	stream stream
	gain   float32
	read   int       // samples that the stream gave
	ready  []float32 // samples with their gain, those that are not spoken yet
	cut    int       // samples of the silence in front
	sound  int       // samples of the stream up to the last sound
	onset  bool      // the silence in front is cut
	whole  bool      // ready holds all that is left, without the silence at the end
	ended  bool

	prefilled *prefill         // of the chunk
	times     []synth.WordTime // of its words, once it has ended
}

// Prefill implements [synth.Worker].
func (w *worker) Prefill(ctx context.Context, o synth.Options) (cached bool, err error) {
	w.drop()
	if w.closed {
		return false, errClosed
	}
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	v, ok := w.engine.voices[o.Voice]
	if !ok {
		return false, speech.UnknownVoice(o.Voice)
	}
	if !speeds.Has(o.Speed) {
		return false, speech.BadSpeed(speeds)
	}
	p, cached, err := w.engine.prefill(ctx, v, o)
	if err != nil {
		return false, err
	}
	return cached, w.begin(p, o)
}

// begin starts to speak a chunk whose prefill is known.
func (w *worker) begin(p *prefill, o synth.Options) (err error) {
	if p.shape == nil {
		w.ended = true
		return nil
	}
	w.prefilled, w.gain = p, p.gain
	w.stream, err = w.engine.vocoder.Start(vocoder.Chunk{
		Durations: p.prosody.Durations, Text: p.prosody.Text, Pitch: p.prosody.F0, Energy: p.prosody.N, Shape: p.shape,
		From:  p.from,
		Noise: noiseOf(o),
	})
	return err
}

// trainedTemperature is that at which the source has as much noise as the model was trained with.
const trainedTemperature = 0.7

// noiseOf is the noise of the source: none at a temperature of 0. A deviate depends on seed, chunk and place alone.
func noiseOf(o synth.Options) func(sample int64, out []float32) {
	if o.Temperature == 0 {
		return nil
	}
	sigma := o.Temperature / trainedTemperature
	return func(sample int64, out []float32) { noise.Fill(out, o.Seed, o.Chunk, int(sample), sigma, 0) }
}

// Next implements [synth.Worker].
func (w *worker) Next(ctx context.Context, dst []int16, n int) (frames int, done, eos bool, err error) {
	switch {
	case w.ended:
		return 0, true, true, nil
	case w.stream == nil:
		return 0, false, false, errNotPrefilled
	}
	if err := w.fill(ctx, n*speech.FrameSamples); err != nil {
		return 0, false, false, err
	}
	dst = dst[:n*speech.FrameSamples]
	taken := min(len(w.ready), len(dst))
	for i, v := range w.ready[:taken] {
		dst[i] = pcm(v)
	}
	w.ready = w.ready[taken:]
	frames = (taken + speech.FrameSamples - 1) / speech.FrameSamples
	clear(dst[taken : frames*speech.FrameSamples])
	if !w.whole || len(w.ready) > 0 {
		return frames, false, false, nil
	}
	times := w.prefilled.times(w.cut, w.sound)
	w.drop()
	w.ended, w.times = true, times
	return frames, true, true, nil
}

// Close implements [synth.Worker].
func (w *worker) Close() error {
	w.drop()
	w.closed = true
	return nil
}

// drop forgets the chunk that was being spoken.
func (w *worker) drop() { *w = worker{engine: w.engine, closed: w.closed, ready: w.ready[:0]} }

// fill computes until there are so many samples, or all. An error leaves what was computed for another try.
func (w *worker) fill(ctx context.Context, samples int) error {
	for !w.whole && (!w.onset || len(w.ready) < samples) {
		left := w.stream.Samples() - w.read
		step := min(max(samples-len(w.ready), speech.FrameSamples), left-tail)
		if step <= 0 {
			step = left
		}
		if err := w.compute(ctx, step); err != nil {
			return err
		}
		if w.read >= w.stream.Samples() {
			w.cutEnd()
		}
		if !w.onset {
			w.cutFront()
		}
	}
	return nil
}

// compute brings n more samples, or none and an error.
func (w *worker) compute(ctx context.Context, n int) error {
	x, err := w.stream.Next(ctx, n)
	if err != nil {
		return err
	}
	w.read += n
	for _, v := range x {
		if !(-mostOutput < v && v < mostOutput) { // no number is, either
			w.engine.broken.Add(1)
			return errOutput
		}
		w.ready = append(w.ready, v*w.gain)
	}
	return nil
}

// cutFront cuts the silence in front, once the onset is known or too far away.
func (w *worker) cutFront() {
	at := 0
	for at < len(w.ready) && !isAudible(w.ready[at]) {
		at++
	}
	if w.onset = at < len(w.ready) || at >= lookAhead || w.whole; w.onset {
		w.cut = max(0, min(at, lookAhead)-lead)
		w.ready = w.ready[w.cut:]
	}
}

// cutEnd cuts the silence at the end.
func (w *worker) cutEnd() {
	w.whole = true
	n := len(w.ready)
	for n > 0 && !isAudible(w.ready[n-1]) {
		n--
	}
	w.sound = w.read - (len(w.ready) - n)
	w.ready = w.ready[:min(len(w.ready), n+trail)]
}

func isAudible(v float32) bool { return v > audible || v < -audible }

// pcm makes a sample, bent gently where it would leave the range.
func pcm(v float32) int16 {
	const knee = 0.9
	switch {
	case v > knee:
		v = knee + (1-knee)*float32(math.Tanh(float64(v-knee)/(1-knee)))
	case v < -knee:
		v = -knee - (1-knee)*float32(math.Tanh(float64(-v-knee)/(1-knee)))
	}
	return int16(math.RoundToEven(float64(v) * (math.MaxInt16 - 1)))
}

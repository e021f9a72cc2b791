package pipeline

import (
	"context"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/stretch"
	"github.com/swar-tts/swar/runtime/synth"
)

// atSpeed returns a worker that speaks a chunk at any speed: w at its nearest speed, and the samples are stretched by
// the rest.
func atSpeed(w synth.Worker, own speech.Speeds, speed float64) (at synth.Worker, ownSpeed float64) {
	if own.Has(speed) {
		return w, speed
	}
	ownSpeed = 1
	if own.Min > 0 {
		ownSpeed = min(max(speed, own.Min), own.Max)
	}
	return &rated{Worker: w, rate: speed / ownSpeed}, ownSpeed
}

// rated speaks one chunk at another speed than its worker does. The end of its last frame is silent.
type rated struct {
	synth.Worker
	rate    float64
	stretch *stretch.Stretcher
	frames  [synth.GroupFrames * speech.FrameSamples]int16
	fresh   []int16 // of frames, not stretched yet
	done    bool    // the worker has no more
	ended   bool    // and the stretcher knows
	eos     bool
}

// Prefill implements [synth.Worker].
func (r *rated) Prefill(ctx context.Context, o synth.Options) (cached bool, err error) {
	r.stretch, r.fresh, r.done, r.ended, r.eos = stretch.New(r.rate), nil, false, false, false
	return r.Worker.Prefill(ctx, o)
}

// Next implements [synth.Worker].
func (r *rated) Next(ctx context.Context, dst []int16, n int) (frames int, done, eos bool, err error) {
	filled, want := 0, n*speech.FrameSamples // filled is a multiple of a hop until the end
	for filled < want {
		if hop := r.stretch.Pull(); len(hop) > 0 {
			filled += copy(dst[filled:], hop)
			continue
		}
		if len(r.fresh) > 0 {
			r.fresh = r.fresh[r.stretch.Push(r.fresh):]
			continue
		}
		if r.done && r.ended {
			break
		}
		if r.done {
			r.stretch.End()
			r.ended = true
			continue
		}
		if err := r.more(ctx, n); err != nil {
			return filled / speech.FrameSamples, false, false, err
		}
	}
	frames = (filled + speech.FrameSamples - 1) / speech.FrameSamples
	clear(dst[filled : frames*speech.FrameSamples])
	done = filled < want
	return frames, done, done && r.eos, nil
}

// more takes up to n frames of the worker.
func (r *rated) more(ctx context.Context, n int) error {
	frames, done, eos, err := r.Worker.Next(ctx, r.frames[:n*speech.FrameSamples], n)
	if err != nil {
		return err
	}
	r.fresh, r.done, r.eos = r.frames[:frames*speech.FrameSamples], done, eos
	return nil
}

// WordTimes implements [synth.WordTimer].
func (r *rated) WordTimes() (words []synth.WordTime, ok bool) {
	words, ok = synth.WordTimes(r.Worker)
	for i := range words {
		words[i].Start, words[i].End = r.samples(words[i].Start), r.samples(words[i].End)
	}
	return words, ok
}

func (r *rated) samples(of int) int { return int(float64(of) / r.rate) }

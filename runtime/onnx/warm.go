package onnx

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swar-tts/swar/runtime/onnx/internal/model"
	"github.com/swar-tts/swar/runtime/synth"
)

// warmUp runs what w will run. What all workers share, the memory plans of the graphs for every shape and the voices,
// only the first worker of the engine warms. It also measures what runs take, which the scheduler reckons with.
func (w *worker) warmUp(ctx context.Context) error {
	e := w.engine
	e.warming.Lock()
	defer e.warming.Unlock()
	// The end of a chunk may leave any number of frames.
	voices, frames, sizes := e.loaded(), []int{1, 2, 3, 4}, w.batchSizes()
	if e.warm {
		voices, frames, sizes = voices[:1], []int{synth.FirstFrames, synth.GroupFrames}, nil
	}
	for _, v := range voices {
		if err := w.warm(ctx, func(ctx context.Context) error { return w.warmVoice(ctx, v.id) }); err != nil {
			return fmt.Errorf("voice %s: %w", v.Name, err)
		}
	}
	w.releaseSlot()
	for _, n := range sizes {
		if err := w.warm(ctx, w.steps(n)); err != nil {
			return fmt.Errorf("%d streams: %w", n, err)
		}
	}
	for _, n := range frames {
		if err := w.warm(ctx, w.silence(n)); err != nil {
			return fmt.Errorf("decoding %d frames: %w", n, err)
		}
	}
	if e.warm {
		return nil
	}
	times, err := w.measure(ctx)
	if err != nil {
		return fmt.Errorf("measuring: %w", err)
	}
	e.scheduler.reckon(times.limits(e.workers, e.threads))
	e.warm = true
	return nil
}

// warm lets a runner run.
func (w *worker) warm(ctx context.Context, run func(context.Context) error) error {
	return w.engine.scheduler.do(ctx, &w.task, once(run))
}

// batchSizes returns how many streams may be stepped together, if more than one.
func (w *worker) batchSizes() (sizes []int) {
	if s, ok := w.sequence.(*model.Stream); ok {
		for n := 2; n <= s.Cache().Slots(); n++ {
			sizes = append(sizes, n)
		}
	}
	return sizes
}

// steps is a step of n streams that nobody has.
func (w *worker) steps(n int) func(context.Context) error {
	return func(context.Context) error { return w.sequence.(*model.Stream).Cache().Warm(n) }
}

// silence is a decode of n frames of zeros.
func (w *worker) silence(n int) func(context.Context) error {
	return func(context.Context) error {
		_, err := w.decoder.Decode(make([]float32, n*len(w.noise)), n)
		return err
	}
}

// warmVoice reads one token in a voice and draws two frames.
func (w *worker) warmVoice(ctx context.Context, voice string) error {
	s := w.sequence
	if err := s.Begin(voice); err != nil {
		return err
	}
	if err := s.Prefill(ctx, []int32{0}); err != nil {
		return err
	}
	return errors.Join(s.Draw(w.noise), s.Step(ctx, w.noise))
}

// measure returns what runs take that have run before, behind the first voice: the least of a few times, because
// others may use the machine as well.
func (w *worker) measure(ctx context.Context) (t runTimes, err error) {
	voice := w.engine.loaded()[0].id
	if err := w.warm(ctx, func(ctx context.Context) error { return w.warmVoice(ctx, voice) }); err != nil {
		return t, err
	}
	step := func(ctx context.Context) error { return w.sequence.Step(ctx, w.noise) }
	if t.step, err = w.least(ctx, step); err != nil {
		return t, err
	}
	w.releaseSlot()
	// One after the other, unless they can share runs.
	t.steps = t.step * time.Duration(min(w.engine.workers, model.MaxBatch))
	if sizes := w.batchSizes(); len(sizes) > 0 {
		if t.steps, err = w.least(ctx, w.steps(sizes[len(sizes)-1])); err != nil {
			return t, err
		}
	}
	t.decode, err = w.least(ctx, w.silence(synth.GroupFrames))
	return t, err
}

// least returns the shortest of a few times that run takes.
func (w *worker) least(ctx context.Context, run func(context.Context) error) (least time.Duration, err error) {
	const times = 3
	now := w.engine.scheduler.now
	for i := range times {
		var took time.Duration
		err := w.warm(ctx, func(ctx context.Context) error {
			begin := now()
			err := run(ctx)
			took = now().Sub(begin)
			return err
		})
		if err != nil {
			return 0, err
		}
		if i == 0 || took < least {
			least = took
		}
	}
	return least, nil
}

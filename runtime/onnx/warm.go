package onnx

import (
	"context"
	"errors"
	"fmt"

	"github.com/swar-tts/swar/runtime/onnx/internal/model"
	"github.com/swar-tts/swar/runtime/synth"
)

// warmUp runs what w will run. What all workers share, the memory plans of the graphs for every shape and the voices, only the first
// worker of the engine warms.
func (w *worker) warmUp(ctx context.Context) error {
	e := w.engine
	e.warming.Lock()
	defer e.warming.Unlock()
	voices := e.manifest.Voices
	if e.warm {
		voices = voices[:1]
	}
	for _, v := range voices {
		if err := e.scheduler.do(ctx, &w.task, once(func(ctx context.Context) error { return w.warmVoice(ctx, v.Name) })); err != nil {
			return fmt.Errorf("voice %s: %w", v.Name, err)
		}
	}
	w.releaseSlot()
	if s, ok := w.sequence.(*model.Stream); ok && !e.warm {
		for n := 2; n <= s.Cache().Slots(); n++ {
			if err := e.scheduler.do(ctx, &w.task, once(func(context.Context) error { return s.Cache().Warm(n) })); err != nil {
				return fmt.Errorf("%d streams: %w", n, err)
			}
		}
	}
	frames := []int{synth.FirstFrames, synth.GroupFrames}
	if !e.warm {
		frames = []int{1, 2, 3, 4} // the end of a chunk may leave any number
	}
	for _, n := range frames {
		err := e.scheduler.do(ctx, &w.task, once(func(context.Context) error {
			_, err := w.decoder.Decode(make([]float32, n*len(w.noise)), n)
			return err
		}))
		if err != nil {
			return fmt.Errorf("decoding %d frames: %w", n, err)
		}
	}
	e.warm = true
	return nil
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

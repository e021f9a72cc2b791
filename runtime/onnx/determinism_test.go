package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// talkative is a small model whose chunks all reach their limit, so that there is much to get wrong.
func talkative(precision string) convert.Random {
	r := convert.Tiny()
	r.Precision, r.Ends = precision, false
	return r
}

// crowd is what eight streams say: texts of all lengths in both voices.
func crowd() []synth.Options {
	var all []synth.Options
	for i := range 8 {
		all = append(all, synth.Options{
			Voice: []string{"raj", "anjura"}[i%2], Text: strings.Repeat("kal aana ", i%4+1), Seed: int64(i),
			Temperature: .3 * float64(i%3), Chunk: i % 2,
		})
	}
	return all
}

func engineOf(t testing.TB, precision string, threads int) *Engine {
	t.Helper()
	return engineWith(t, talkative(precision), func(c *Config) { c.Threads = threads })
}

// engineWith loads a random model, with letters as its tokenizer and a configuration that is changed before.
func engineWith(t testing.TB, r convert.Random, change func(*Config)) *Engine {
	t.Helper()
	library := orttest.Need(t)
	dir, m := random(t, r)
	c := Config{
		Bundle: dir, Library: library,
		Tokenizer: func([]byte) (Tokenizer, error) { return letters(m.Dims.Vocab), nil },
	}
	change(&c)
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// everyEngine runs a test on one and two threads, in floats and integers.
func everyEngine(t *testing.T, test func(t *testing.T, e *Engine)) {
	for _, precision := range []string{bundle.FP32, bundle.Int8} {
		for _, threads := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s on %d", precision, threads),
				func(t *testing.T) { test(t, engineOf(t, precision, threads)) })
		}
	}
}

// alone returns what each of the crowd sounds like when nobody else speaks, and fails if two sound alike.
func alone(t *testing.T, e *Engine) [][]int16 {
	t.Helper()
	w := newTestWorker(t, e)
	var all [][]int16
	for i, o := range crowd() {
		pcm, _, _ := speak(t, w, o)
		if slices.ContainsFunc(all, func(other []int16) bool { return slices.Equal(other, pcm) }) ||
			len(pcm) < 60*speech.FrameSamples {
			t.Fatalf("stream %d: %d samples, which are too few or those of another", i, len(pcm))
		}
		all = append(all, pcm)
	}
	return all
}

func TestSamplesInACompanyAreThoseAlone(t *testing.T) {
	everyEngine(t, func(t *testing.T, e *Engine) {
		want := alone(t, e)
		workers := make([]synth.Worker, len(want))
		for i := range workers {
			workers[i] = newTestWorker(t, e)
		}
		for _, company := range []int{2, 4, 8} {
			before := e.Counters().Batches
			var wg sync.WaitGroup
			for i := range company {
				wg.Go(func() {
					for round := range 2 {
						which := (i + round*3) % len(want) // on another worker each time
						if got, err := trySpeak(t.Context(), workers[i], crowd()[which]); err != nil ||
							!slices.Equal(got, want[which]) {
							t.Errorf("%d streams: stream %d is not what it is alone (error %v)", company, which, err)
						}
					}
				})
			}
			wg.Wait()
			shared, runs := uint64(0), uint64(0)
			for size, n := range e.Counters().Batches {
				if n -= before[size]; size > 1 {
					shared += n
				}
				runs += n
			}
			if t.Logf("%d streams: %d of %d runs were shared: %v", company, shared, runs,
				e.Counters().Batches); e.Threads() == 1 && shared == 0 {
				t.Errorf("%d streams: none of %d runs was shared, which proves nothing", company, runs)
			}
		}
	})
}

// trySpeak is speak for other goroutines than the test's.
func trySpeak(ctx context.Context, w synth.Worker, o synth.Options) (pcm []int16, err error) {
	if _, err := w.Prefill(ctx, o); err != nil {
		return nil, err
	}
	dst := make([]int16, synth.GroupFrames*speech.FrameSamples)
	for n := synth.FirstFrames; ; n = synth.GroupFrames {
		frames, done, _, err := w.Next(ctx, dst, n)
		pcm = append(pcm, dst[:frames*speech.FrameSamples]...)
		if done || err != nil {
			return pcm, err
		}
	}
}

func TestSamplesAfterACancelAreThoseOfBefore(t *testing.T) {
	everyEngine(t, func(t *testing.T, e *Engine) {
		want := alone(t, e)
		var wg sync.WaitGroup
		for i := range 4 {
			w := newTestWorker(t, e)
			wg.Go(func() {
				for cut := range 5 {
					which := (i + cut) % len(want)
					ctx, cancel := context.WithCancel(t.Context())
					_, err := w.Prefill(ctx, crowd()[(which+1)%len(want)])
					if err != nil {
						t.Error(err)
					}
					dst := make([]int16, 4*speech.FrameSamples)
					for range cut {
						if _, _, _, err := w.Next(ctx, dst, 4); err != nil {
							t.Error(err)
						}
					}
					go cancel()
					if _, _, _, err := w.Next(ctx, dst, 4); err != nil && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
					if got, err := trySpeak(t.Context(), w, crowd()[which]); err != nil ||
						!slices.Equal(got, want[which]) {
						t.Errorf("after a cancel in group %d: stream %d is not what it was (error %v)", cut, which, err)
					}
					cancel()
				}
			})
		}
		wg.Wait()
	})
}

// TestStreamsComeAndGo has more workers than a cache has slots speak, stop and close at any time.
func TestStreamsComeAndGo(t *testing.T) {
	e := engineOf(t, bundle.Int8, 2)
	want := alone(t, e)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			for round := range 6 {
				w, err := e.NewWorker(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				which := (i*5 + round) % len(want)
				ctx, cancel := context.WithCancel(t.Context())
				switch (i + round) % 3 {
				case 0:
					if got, err := trySpeak(ctx, w, crowd()[which]); err != nil || !slices.Equal(got, want[which]) {
						t.Errorf("stream %d is not what it is alone (error %v)", which, err)
					}
				case 1: // closed in the middle of a chunk
					_, err := w.Prefill(ctx, crowd()[which])
					if err == nil {
						_, _, _, err = w.Next(ctx, make([]int16, speech.FrameSamples), 1)
					}
					if err != nil {
						t.Error(err)
					}
				case 2: // cancelled at some moment
					go cancel()
					if _, err := trySpeak(ctx, w, crowd()[which]); err != nil && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				}
				cancel()
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	// alone's worker is still there
	if streams, assigned, locked := e.model.(native).InUse(); streams != 1 || assigned != 0 || locked != 0 {
		t.Errorf("%d streams, %d slots assigned, %d locked after everybody has gone; want 1, 0, 0", streams,
			assigned, locked)
	}
}

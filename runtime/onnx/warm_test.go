package onnx

import (
	"context"
	"log/slog"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/model"
	"github.com/swar-tts/swar/runtime/pool"
)

func TestTheFirstWorkerWarmsEveryShape(t *testing.T) {
	e := engineOf(t, bundle.FP32, 1)
	first := newTestWorker(t, e).(*worker)
	cache := first.sequence.(*model.Stream).Cache()
	for n := 1; n <= model.MaxBatch; n++ {
		if !cache.Warmed(n) {
			t.Errorf("no run of %d streams was made", n)
		}
	}
	decodes := func(w *worker, want ...int) {
		t.Helper()
		for _, frames := range want {
			if !model.Warmed(w.decoder, frames) {
				t.Errorf("no decode of %d frames was made", frames)
			}
		}
	}
	decodes(first, 1, 2, 3, 4)
	decodes(newTestWorker(t, e).(*worker), 1, 4)
	if c := e.Counters(); len(c.Batches) != 0 || c.CacheMisses != 0 || c.CacheBytes != 0 {
		t.Errorf("warming up counts as speech: %+v", c)
	}
	if _, assigned, locked := e.model.(native).InUse(); assigned+locked > 0 {
		t.Errorf("%d slots are assigned and %d locked after warming up", assigned, locked)
	}
}

// counting is a model that counts the steps of its streams, which therefore run alone.
type counting struct {
	sharedModel
	steps int
}

func (c *counting) open() (sequence, decoder, error) {
	s, d, err := c.sharedModel.open()
	return &countedSteps{s, c}, d, err
}

type countedSteps struct {
	sequence
	of *counting
}

func (c *countedSteps) Step(ctx context.Context, noise []float32) error {
	c.of.steps++
	return c.sequence.Step(ctx, noise)
}

// ready returns when a pool of so many workers of e is warm, and ends the pool with the test.
func ready(t *testing.T, e *Engine, workers int) {
	t.Helper()
	p, err := pool.New(pool.Config{Workers: workers}, e, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if err := p.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestAModelThatNeverEndsIsWarmedInAFewSteps(t *testing.T) {
	const workers = 8
	e := engineOf(t, bundle.Int8, 1)
	counter := &counting{sharedModel: e.model}
	e.model = counter
	ready(t, e, workers)
	// Every voice draws five frames on every worker, the first of them with its prefill. Before that each worker
	// makes a step by itself, the first one with every voice and four more to measure them.
	voices := len(e.manifest.Voices)
	if want := workers*voices*4 + workers - 1 + voices + 4; counter.steps != want {
		t.Errorf("%d steps, want %d", counter.steps, want)
	}
}

func TestAnEngineThatIsReadyHasCountedNothing(t *testing.T) {
	e := engineOf(t, bundle.Int8, 2)
	ready(t, e, 3)
	if c := e.Counters(); c.CacheHits+c.CacheMisses+c.Broken != 0 || c.CacheBytes != 0 || len(c.Batches) != 0 {
		t.Errorf("counted while warming up: %+v", c)
	}
	if streams, assigned, locked := e.model.(native).InUse(); streams != 3 || assigned+locked > 0 {
		t.Errorf("%d streams, %d slots assigned, %d locked; want 3, 0, 0", streams, assigned, locked)
	}
}

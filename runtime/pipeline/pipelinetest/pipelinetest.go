// Package pipelinetest joins engines to workers, so that an engine passes the suites that every [speech.Speaker] does.
package pipelinetest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/pipeline"
	"github.com/swar-tts/swar/runtime/pool"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// Start returns a speaker whose workers are being made. It ends with the test, and does not close the engine.
func Start(t testing.TB, engine synth.Engine, c pool.Config) (*pipeline.Speaker, *pool.Pool) {
	t.Helper()
	p, err := pool.New(c, engine, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- p.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("pool: %v", err)
		}
	})
	return pipeline.New(pipeline.Config{}, engine, p), p
}

// Open is Start for [speechtest.RunLimits]: every worker is ready, and utterances may wait for a minute.
func Open(t testing.TB, engine synth.Engine, workers int) speech.Speaker {
	t.Helper()
	s, p := Start(t, engine, pool.Config{Workers: workers, QueueWait: time.Minute})
	if err := p.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

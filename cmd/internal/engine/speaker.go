package engine

import (
	"context"
	"errors"
	"log/slog"

	"github.com/swar-tts/swar/runtime/pipeline"
	"github.com/swar-tts/swar/runtime/pool"
	"github.com/swar-tts/swar/runtime/synth"
)

// Speaker speaks inside this process.
type Speaker struct {
	*pipeline.Speaker

	engine  synth.Engine
	pool    *pool.Pool
	release string // of the library of a neural engine
	memory  int64  // bytes that a neural engine needs, with all that its workers may; 0 for others, which need little
}

// NewSpeaker joins the engine to workers and starts none. The speaker owns the engine.
func NewSpeaker(engine synth.Engine, c pool.Config, log *slog.Logger) (*Speaker, error) {
	p, err := pool.New(c, engine, log)
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return &Speaker{Speaker: pipeline.New(pipeline.Config{}, engine, p), engine: engine, pool: p}, nil
}

// OpenSpeaker loads the engine and joins it to workers, but starts none. It refuses a model that needs more memory than
// limit, in bytes; 0 means no limit.
func (s *Flags) OpenSpeaker(ctx context.Context, c pool.Config, limit int64, log *slog.Logger) (*Speaker, error) {
	engine, err := s.Open(ctx, c.Workers)
	if err != nil {
		return nil, err
	}
	speaker, err := NewSpeaker(engine, c, log)
	if err != nil {
		return nil, err
	}
	speaker.release = s.Release
	if speaker.memory, err = weigh(engine, s.Runtime, c.Workers, limit, log); err != nil {
		return nil, errors.Join(err, speaker.Close())
	}
	return speaker, nil
}

// Run keeps the workers until ctx ends or one of them cannot be started, and closes the engine.
func (s *Speaker) Run(ctx context.Context) error {
	return errors.Join(s.pool.Run(ctx), s.engine.Close())
}

// Close closes the engine of a speaker that never ran.
func (s *Speaker) Close() error { return s.engine.Close() }

// Pool returns the workers.
func (s *Speaker) Pool() *pool.Pool { return s.pool }

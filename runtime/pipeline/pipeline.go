// Package pipeline is the local Speaker. It turns an utterance from text into audio events, and is the only package
// that knows every step: normalize, chunk, prefill, synth, encode.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/encode"
	"github.com/swar-tts/swar/runtime/pool"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// Config holds what is not fixed by the API. The zero value is what a server uses.
type Config struct {
	Encode encode.Options // Opus settings
}

// Speaker implements [speech.Speaker] on the workers of a pool. It is safe for concurrent use.
type Speaker struct {
	cfg     Config
	engine  synth.Engine
	voices  *voices
	pool    *pool.Pool
	buffers sync.Pool // of *[groupSamples]int16

	// preparing holds a place for each processor. A flood of requests that will be refused needs as much time for its
	// texts as for all else, and would keep audio, and the refusals themselves, waiting behind it.
	preparing chan struct{}
}

const groupSamples = synth.GroupFrames * speech.FrameSamples

// New returns a speaker that speaks with the workers that p lends, which must be engine's.
func New(cfg Config, engine synth.Engine, p *pool.Pool) *Speaker {
	s := &Speaker{
		cfg: cfg, engine: engine, voices: newVoices(engine.Model()), pool: p,
		preparing: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}
	s.buffers.New = func() any { return new([groupSamples]int16) }
	return s
}

// Ready implements [speech.Speaker].
func (s *Speaker) Ready() error { return s.pool.Capacity().Readiness() }

// Capacity implements [speech.Speaker].
func (s *Speaker) Capacity() speech.Capacity { return s.pool.Capacity() }

// Speak implements [speech.Speaker].
func (s *Speaker) Speak(ctx context.Context, u speech.Utterance, turn speech.Turn,
	sink speech.Sink) (st speech.Stats, err error) {
	begin := time.Now()
	defer func() { st.Wall = time.Since(begin) }()
	n, err := s.prepare(ctx, u)
	if err != nil {
		return st, err
	}
	st.Chars = utf8.RuneCountInString(n.Text)
	st.Normalize = time.Since(begin)

	speaking, err := s.takeVoice(u.Voice)
	if err != nil {
		return st, err
	}
	defer s.returnVoice(speaking)

	slot, err := s.acquire(ctx, turn, begin)
	if err != nil {
		return st, err
	}
	assigned := time.Now()
	st.Started, st.Queue = true, slot.Queued
	defer func() { release(slot, turn, err) }()

	model := s.Model()
	err = sink.Start(speech.Start{
		Model: model.ID, Voice: u.Voice, Format: u.Format, Seed: u.Seed, Chunks: len(n.Chunks), Normalized: n.Text,
		Disclosure: n.Disclosure, Unspoken: n.Unspoken, Normalize: st.Normalize, Queue: st.Queue,
		WordTimes: u.WordTimes,
	})
	if err != nil {
		return st, err
	}
	buffer := s.buffers.Get().(*[groupSamples]int16)
	defer s.buffers.Put(buffer)
	voice := &utterance{u: u, voice: speaking.id, worker: slot.Worker, speeds: model.Speeds, sink: sink,
		out: blocks{sink: sink}, stats: &st, assigned: assigned, pcm: buffer[:]}
	encoding := s.cfg.Encode
	encoding.Tags = speech.Metadata{Service: u.Service, Model: model.ID, RequestID: u.RequestID}.Tags()
	if voice.encoder, err = encode.New(u.Format, &voice.out, encoding); err != nil {
		return st, fmt.Errorf("opening the %s encoder: %w", u.Format, err)
	}
	for _, c := range n.Chunks {
		if err := voice.speak(ctx, c, c.Index == len(n.Chunks)-1); err != nil {
			voice.abandon()
			return st, err
		}
	}
	return st, nil
}

// acquire takes a slot for an utterance that Speak was called for at begin.
func (s *Speaker) acquire(ctx context.Context, turn speech.Turn, begin time.Time) (*pool.Slot, error) {
	switch {
	case !turn.StartedAt.IsZero():
		return s.pool.Continue(ctx, turn.Session, turn.StartedAt)
	case turn.QueuedSince.IsZero():
		return s.pool.Acquire(ctx, turn.Session, begin)
	default:
		return s.pool.Acquire(ctx, turn.Session, turn.QueuedSince)
	}
}

// beginPreparing waits until a text may be worked on. done must be called when that is over.
func (s *Speaker) beginPreparing(ctx context.Context) (done func(), err error) {
	select {
	case s.preparing <- struct{}{}:
		return func() { <-s.preparing }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func release(slot *pool.Slot, turn speech.Turn, err error) {
	switch {
	case errors.Is(err, speech.ErrWorkerGone):
		slot.Discard()
	case turn.More != nil && turn.More():
		slot.ReleaseTo(turn.Session)
	default:
		slot.Release()
	}
}

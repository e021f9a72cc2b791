// Package pool owns the workers of an engine: it warms them up, lends each to one utterance at a time, lets a few utterances wait
// and refuses the rest at once.
package pool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/queue"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// Config sizes a pool.
type Config struct {
	Workers   int           // model sessions, one utterance each; required
	QueueLen  int           // utterances allowed to wait; 0 means 8, negative none
	QueueWait time.Duration // longest wait for a slot; 0 means 1.95 s
	WarmText  string        // what every voice begins to speak before a worker is ready; "" means a short Hinglish line
}

// defaultQueueWait leaves a refusal time to get out of a busy server before 2 s have passed, which is what clients are
// promised.
const defaultQueueWait = 1950 * time.Millisecond

// holdFor is how long a slot is kept for the next utterance of a session. It only has to bridge the session's own code.
const holdFor = 50 * time.Millisecond

// Pool lends workers. It is safe for concurrent use.
type Pool struct {
	cfg    Config
	engine synth.Engine
	log    *slog.Logger

	mu       sync.Mutex
	idle     []synth.Worker
	held     map[string]*hold // by session
	waiting  *queue.Queue[waiter]
	ready    int // warm workers: idle, held or busy
	busy     int
	draining bool
	stopped  bool          // Run has returned: workers that come back are closed
	changed  chan struct{} // closed and replaced when ready grows, or busy or waiting shrinks
	broken   chan synth.Worker
}

// waiter gets a worker, once. It is buffered, so that who gives never blocks.
type waiter chan synth.Worker

type hold struct {
	worker synth.Worker
	timer  *time.Timer
}

// New checks cfg and returns a pool of engine's workers. It starts nothing: see [Pool.Run].
func New(cfg Config, engine synth.Engine, log *slog.Logger) (*Pool, error) {
	if cfg.Workers < 1 {
		return nil, fmt.Errorf("pool: %d workers; want at least 1", cfg.Workers)
	}
	if cfg.QueueLen == 0 {
		cfg.QueueLen = 8
	}
	cfg.QueueLen = max(cfg.QueueLen, 0)
	if cfg.QueueWait == 0 {
		cfg.QueueWait = defaultQueueWait
	}
	if cfg.WarmText == "" {
		cfg.WarmText = "नमस्ते, welcome."
	}
	return &Pool{
		cfg:     cfg,
		engine:  engine,
		log:     log,
		held:    make(map[string]*hold),
		waiting: queue.New[waiter](cfg.QueueLen),
		changed: make(chan struct{}),
		broken:  make(chan synth.Worker, cfg.Workers),
	}, nil
}

// Run makes and warms the workers, one after another so that they do not slow one another down, and replaces those that break. It
// returns when ctx has ended and every worker is closed; call [Pool.Drain] before ending ctx, or running utterances lose their
// workers. A worker that cannot be made or warmed at the start is an error; a replacement is tried again until it works.
func (p *Pool) Run(ctx context.Context) error {
	var made sync.WaitGroup
	defer func() {
		made.Wait()
		p.stop()
	}()
	for i := range p.cfg.Workers {
		w, err := p.newWarm(ctx)
		if err == nil {
			p.add(w)
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("worker %d of %d: %w", i+1, p.cfg.Workers, err)
	}
	for {
		select {
		case w := <-p.broken:
			made.Go(func() { p.replace(ctx, w) })
		case <-ctx.Done():
			return nil
		}
	}
}

// newWarm makes a worker that has spoken with every voice.
func (p *Pool) newWarm(ctx context.Context) (synth.Worker, error) {
	bare, err := p.engine.NewWorker(ctx)
	if err != nil {
		return nil, err
	}
	w := &counted{Worker: bare}
	for _, v := range p.engine.Model().Voices {
		if err := p.warm(ctx, w, v.Name); err != nil {
			return nil, errors.Join(fmt.Errorf("warming voice %s: %w", v.Name, err), w.Close())
		}
	}
	return w, nil
}

// warm speaks the start of a line with the decode plan of a real utterance, so that every shape has been computed once.
// Then it leaves as a client does, because a model need not end by itself. It may take as long as an utterance.
func (p *Pool) warm(ctx context.Context, w synth.Worker, voice string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, speech.UtteranceTimeout, speech.ErrTimeout)
	defer cancel()
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	o := synth.Options{Voice: voice, Text: p.cfg.WarmText, Temperature: speech.DefaultTemperature, WarmUp: true}
	if _, err := w.Prefill(ctx, o); err != nil {
		return err
	}
	dst := make([]int16, synth.GroupFrames*speech.FrameSamples)
	frames := 0
	for _, n := range []int{synth.FirstFrames, synth.GroupFrames} {
		got, done, _, err := w.Next(ctx, dst, n)
		if err != nil {
			return err
		}
		if frames += got; done {
			break
		}
	}
	if frames == 0 {
		return errors.New("no audio came out")
	}
	leave()
	if _, _, _, err := w.Next(ctx, dst, 1); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("leaving in the middle of a line: %w", err)
	}
	return nil
}

// replace closes a broken worker and makes a new one, waiting longer after each failure.
func (p *Pool) replace(ctx context.Context, broken synth.Worker) {
	p.log.Error("a worker is broken; warming up another")
	if err := broken.Close(); err != nil {
		p.log.Warn("closing a broken worker", "error", err)
	}
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 10*time.Second) {
		w, err := p.newWarm(ctx)
		if err == nil {
			p.log.Info("worker replaced")
			p.add(w)
			return
		}
		if ctx.Err() != nil {
			return
		}
		p.log.Error("replacing a worker", "error", err, "again_in_ms", wait.Milliseconds())
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

func (p *Pool) add(w synth.Worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ready++
	p.giveLocked(w)
	p.changedLocked()
}

// stop closes the workers that nobody uses; the others are closed when they come back.
func (p *Pool) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draining, p.stopped = true, true
	for session, h := range p.held {
		h.timer.Stop()
		delete(p.held, session)
		p.closeLocked(h.worker)
	}
	for _, w := range p.idle {
		p.closeLocked(w)
	}
	p.idle = nil
	for len(p.broken) > 0 {
		p.ready++ // Discard has counted it out already
		p.closeLocked(<-p.broken)
	}
}

func (p *Pool) closeLocked(w synth.Worker) {
	p.ready--
	if err := w.Close(); err != nil {
		p.log.Warn("closing a worker", "error", err)
	}
}

// Slot is the right to use one worker. It is not safe for concurrent use.
type Slot struct {
	Worker synth.Worker
	Queued time.Duration // how long the slot was waited for

	pool *Pool // nil once released
}

// Acquire takes a free slot, waiting for one at most until Config.QueueWait after asked, when the utterance was asked
// for. A slot that was held for session (see [Slot.ReleaseTo]) is taken first; nobody else overtakes the queue.
//
// It returns [speech.ErrWarming] when no worker is ready, at once or any more, [speech.ErrDraining] after Drain,
// [speech.ErrBusy] when the queue is full or the wait ran out, and the cause of ctx when ctx ended first. The caller
// must release the slot exactly once.
func (p *Pool) Acquire(ctx context.Context, session string, asked time.Time) (*Slot, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	start := time.Now()
	slot, wait, err := p.take(session, start)
	if err != nil || slot != nil {
		return slot, err
	}
	timer := time.NewTimer(asked.Add(p.cfg.QueueWait).Sub(start))
	defer timer.Stop()
	select {
	case w := <-wait.Value:
		return &Slot{Worker: w, Queued: time.Since(start), pool: p}, nil
	case <-timer.C:
		err = speech.ErrBusy
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if w := p.giveUp(wait); w != nil {
		// The grant and the end came together. The worker is there, so a mere time-out takes it.
		slot := &Slot{Worker: w, Queued: time.Since(start), pool: p}
		if errors.Is(err, speech.ErrBusy) {
			return slot, nil
		}
		slot.Release()
	}
	if errors.Is(err, speech.ErrBusy) && p.Capacity().Ready == 0 {
		return nil, speech.ErrWarming // the last worker broke meanwhile
	}
	return nil, err
}

// take returns a slot if one is free, and otherwise a place in the queue.
func (p *Pool) take(session string, now time.Time) (*Slot, *queue.Entry[waiter], error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.draining {
		return nil, nil, speech.ErrDraining
	}
	if h, ok := p.held[session]; ok {
		h.timer.Stop()
		delete(p.held, session)
		p.busy++
		return &Slot{Worker: h.worker, pool: p}, nil, nil
	}
	if p.ready == 0 {
		return nil, nil, speech.ErrWarming
	}
	if n := len(p.idle); n > 0 {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.busy++
		return &Slot{Worker: w, pool: p}, nil, nil
	}
	if wait := p.waiting.Push(make(waiter, 1), now); wait != nil {
		return nil, wait, nil
	}
	return nil, nil, speech.ErrBusy
}

// giveUp leaves the queue. It returns the worker that was granted in the same moment, or nil.
func (p *Pool) giveUp(wait *queue.Entry[waiter]) synth.Worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting.Remove(wait) {
		p.changedLocked()
		return nil
	}
	return <-wait.Value
}

// Release gives the worker back: to the utterance that has waited longest, if any. One that has failed three times in
// a row is discarded instead.
func (s *Slot) Release() {
	if broken(s.Worker) {
		s.Discard()
		return
	}
	p := s.leave()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	p.giveLocked(s.Worker)
	p.changedLocked()
}

// ReleaseTo is Release, except that when nobody is waiting the worker is kept for the next utterance of session for a moment.
func (s *Slot) ReleaseTo(session string) {
	if broken(s.Worker) {
		s.Discard()
		return
	}
	p := s.leave()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	if _, again := p.held[session]; session == "" || again || p.waiting.Len() > 0 || p.draining {
		p.giveLocked(s.Worker)
	} else {
		h := &hold{worker: s.Worker}
		h.timer = time.AfterFunc(holdFor, func() { p.endHold(session, h) })
		p.held[session] = h
	}
	p.changedLocked()
}

// Discard gives a broken worker back: it is closed and replaced.
func (s *Slot) Discard() {
	p := s.leave()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	if p.stopped {
		p.closeLocked(s.Worker)
	} else {
		p.ready--
		p.broken <- s.Worker // has room for every worker
	}
	p.changedLocked()
}

func (s *Slot) leave() *Pool {
	p := s.pool
	if p == nil {
		panic("pool: slot released twice")
	}
	s.pool = nil
	return p
}

func (p *Pool) endHold(session string, h *hold) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[session] == h {
		delete(p.held, session)
		p.giveLocked(h.worker)
	}
}

// giveLocked hands w to the first in the queue, or lays it down.
func (p *Pool) giveLocked(w synth.Worker) {
	if p.stopped {
		p.closeLocked(w)
		return
	}
	first := p.waiting.Pop()
	if first == nil {
		p.idle = append(p.idle, w)
		return
	}
	p.busy++
	first.Value <- w
}

func (p *Pool) changedLocked() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// Capacity returns the present counts.
func (p *Pool) Capacity() speech.Capacity {
	p.mu.Lock()
	defer p.mu.Unlock()
	return speech.Capacity{
		Workers:    p.cfg.Workers,
		Ready:      p.ready,
		Busy:       p.busy,
		Queued:     p.waiting.Len(),
		QueueLimit: p.waiting.Limit(),
		Draining:   p.draining,
	}
}

// WaitReady waits until every worker is warm. It returns the cause of ctx if that ended first.
func (p *Pool) WaitReady(ctx context.Context) error {
	for {
		p.mu.Lock()
		ready, changed := p.ready == p.cfg.Workers, p.changed
		p.mu.Unlock()
		if ready {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Drain refuses new utterances and waits until those that run or wait have ended. It returns the cause of ctx if that ended first.
func (p *Pool) Drain(ctx context.Context) error {
	for {
		p.mu.Lock()
		p.draining = true
		left, changed := p.busy+p.waiting.Len(), p.changed
		p.mu.Unlock()
		if left == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("draining: %d utterances left: %w", left, context.Cause(ctx))
		}
	}
}

// Package pool owns the workers of an engine. It warms them up, lends each to one utterance at a time, queues a few
// utterances and rejects the rest at once.
package pool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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
	// what every voice begins to speak before a worker is ready; "" means a Hinglish line, see [warmText]
	WarmText string
}

// defaultQueueWait leaves a refusal time to get out of a busy server before 2 s have passed, which is what clients are
// promised.
const defaultQueueWait = 1950 * time.Millisecond

// reservationTime is how long a slot is kept for the next utterance of a session. It only has to bridge the session's
// own code.
const reservationTime = 50 * time.Millisecond

// Pool lends workers. It is safe for concurrent use.
type Pool struct {
	cfg    Config
	engine synth.Engine
	log    *slog.Logger

	mu       sync.Mutex
	idle     []synth.Worker
	reserved map[string]*reservation // by the key of the reservation
	waiting  *queue.Queue[waiter]
	ready    int // warm workers: idle, reserved or busy
	busy     int
	draining bool
	voices   []string      // what a new worker speaks with before it is ready
	slowest  time.Duration // to a first frame, while warming
	stopped  bool          // Run has returned: returned workers are closed
	changed  chan struct{} // closed when anything of Capacity changes; nil while no call waits for that
	broken   chan synth.Worker
	started  chan struct{} // closed when Run has made its workers, or failed to
}

// waiter gets a worker, once. It is buffered, so that who gives never blocks.
type waiter chan synth.Worker

// reservation keeps a worker for a key for a moment.
type reservation struct {
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
		cfg.WarmText = warmText(engine)
	}
	p := &Pool{
		cfg:      cfg,
		engine:   engine,
		log:      log,
		reserved: make(map[string]*reservation),
		waiting:  queue.New[waiter](cfg.QueueLen),
		broken:   make(chan synth.Worker, cfg.Workers),
		started:  make(chan struct{}),
	}
	for _, v := range engine.Model().Voices {
		p.voices = append(p.voices, v.Name)
	}
	return p, nil
}

// warmText is a line in Hinglish. It is short, but as long as a first chunk may be if the engine has such a limit:
// there the first frame takes longer for longer chunks, and routers set their timeouts by the slowest one here.
func warmText(engine synth.Engine) string {
	const line = "नमस्ते, welcome."
	text := line
	if e, ok := engine.(synth.ChunkSizer); ok {
		first, _ := e.ChunkTokens()
		for next := text + " " + line; engine.Tokens(next) <= first &&
			len(next) <= speech.MaxChars; next += " " + line {
			text = next
		}
	}
	return text
}

// Run creates and warms the workers one after another, and replaces broken ones. It returns when ctx has ended and
// every worker is closed; call [Pool.Drain] before ending ctx, or running utterances lose their workers. A worker
// that cannot be made or warmed at the start is an error; a replacement is tried again until it works.
func (p *Pool) Run(ctx context.Context) error {
	var made sync.WaitGroup
	defer func() {
		made.Wait()
		p.stop()
	}()
	err := p.makeAll(ctx)
	close(p.started)
	if err != nil {
		return err
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

// makeAll makes the workers of the start, unless ctx ends.
func (p *Pool) makeAll(ctx context.Context) error {
	for i := range p.cfg.Workers {
		w, err := p.newWarm(ctx)
		switch {
		case err == nil:
			p.add(w)
		case ctx.Err() == nil:
			return fmt.Errorf("worker %d of %d: %w", i+1, p.cfg.Workers, err)
		}
	}
	return nil
}

// WaitStarted waits until Run has made its workers, or has failed to. Voices are not to change before: a worker that
// misses one then ends Run. It returns the cause of ctx if that ended first.
func (p *Pool) WaitStarted(ctx context.Context) error {
	select {
	case <-p.started:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// newWarm makes a worker that has spoken with every voice.
func (p *Pool) newWarm(ctx context.Context) (synth.Worker, error) {
	bare, err := p.engine.NewWorker(ctx)
	if err != nil {
		return nil, err
	}
	w := &counted{Worker: bare}
	for _, voice := range p.warmVoices() {
		first, err := p.warm(ctx, w, voice)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("warming voice %s: %w", voice, err), w.Close())
		}
		p.noteFirstFrame(first)
	}
	return w, nil
}

func (p *Pool) warmVoices() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.voices
}

// SetVoices sets the voices that new workers warm up with; default: the model's voices.
func (p *Pool) SetVoices(ids []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.voices = slices.Clone(ids)
}

// warmAgain is how long [Pool.WarmVoice] leaves others alone where they have taken its turn.
const warmAgain = 100 * time.Millisecond

// WarmVoice warms a worker with a voice that was loaded later, as soon as one is free. Waiting requests come first.
// What it warms is shared by all workers.
func (p *Pool) WarmVoice(ctx context.Context, id string) error {
	for {
		slot, err := p.Acquire(ctx, "", time.Now())
		if err == nil {
			if _, err = p.warm(ctx, slot.Worker, id); errors.Is(err, speech.ErrWorkerGone) {
				slot.Discard()
			} else {
				slot.Release()
			}
			return err
		}
		if !errors.Is(err, speech.ErrBusy) && !errors.Is(err, speech.ErrWarming) {
			return err
		}
		select {
		case <-time.After(warmAgain):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// warm speaks the start of a line with the decode plan of a real utterance, so that every shape is computed once. Then
// it cancels, because a model need not end. It may take as long as an utterance.
//
// first is how long the first frame took.
func (p *Pool) warm(ctx context.Context, w synth.Worker, voice string) (first time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, speech.UtteranceTimeout, speech.ErrTimeout)
	defer cancel()
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	begun := time.Now()
	o := synth.Options{Voice: voice, Text: p.cfg.WarmText, Temperature: speech.DefaultTemperature, WarmUp: true}
	if _, err := w.Prefill(ctx, o); err != nil {
		return 0, err
	}
	dst := make([]int16, synth.GroupFrames*speech.FrameSamples)
	frames := 0
	for _, n := range []int{synth.FirstFrames, synth.GroupFrames} {
		got, done, _, err := w.Next(ctx, dst, n)
		if err != nil {
			return 0, err
		}
		if frames == 0 {
			first = time.Since(begun)
		}
		if frames += got; done {
			break
		}
	}
	if frames == 0 {
		return 0, errors.New("no audio came out")
	}
	leave()
	if _, _, _, err := w.Next(ctx, dst, 1); err != nil && !errors.Is(err, context.Canceled) {
		return 0, fmt.Errorf("cancelling in the middle of a line: %w", err)
	}
	return first, nil
}

func (p *Pool) noteFirstFrame(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slowest = max(p.slowest, took)
}

// FirstFrame is how long the slowest first frame took while workers were warmed.
func (p *Pool) FirstFrame() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.slowest
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
	p.handOverLocked(w)
	p.changedLocked()
}

// stop closes idle workers; the others are closed when they are returned.
func (p *Pool) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draining, p.stopped = true, true
	for key, r := range p.reserved {
		r.timer.Stop()
		delete(p.reserved, key)
		p.closeLocked(r.worker)
	}
	for _, w := range p.idle {
		p.closeLocked(w)
	}
	p.idle = nil
	for len(p.broken) > 0 {
		p.ready++ // Discard has counted it out already
		p.closeLocked(<-p.broken)
	}
	p.changedLocked()
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

// Acquire takes a free slot, waiting for one at most until Config.QueueWait after asked, when the utterance was
// requested. It prefers a slot that is reserved for key (see [Slot.ReleaseTo] and [Pool.Reserve]); other requests do
// not overtake the queue. An empty key has no reservation.
//
// It returns [speech.ErrWarming] when no worker is ready, at once or any more, [speech.ErrDraining] after Drain,
// [speech.ErrBusy] when the queue is full or the wait ran out, and the cause of ctx when ctx ended first. The caller
// must release the slot exactly once.
func (p *Pool) Acquire(ctx context.Context, key string, asked time.Time) (*Slot, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	start := time.Now()
	slot, wait, err := p.take(key, start)
	if err != nil || slot != nil {
		return slot, err
	}
	timer := time.NewTimer(asked.Add(p.cfg.QueueWait).Sub(start))
	defer timer.Stop()
	slot, err = p.await(ctx, wait, start, timer.C)
	if errors.Is(err, speech.ErrBusy) && p.Capacity().Ready == 0 {
		return nil, speech.ErrWarming // the last worker broke meanwhile
	}
	return slot, err
}

// Continue is [Pool.Acquire] for a sentence of a turn that has had audio since begun. It waits in front of all new
// requests, as long as ctx lives: neither a full queue nor Drain nor broken workers end a turn in its middle.
func (p *Pool) Continue(ctx context.Context, key string, begun time.Time) (*Slot, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	start := time.Now()
	slot, wait, err := p.takeFirst(key, begun)
	if err != nil || slot != nil {
		return slot, err
	}
	return p.await(ctx, wait, start, nil)
}

// await waits for the worker of an entry, until it expires, which is [speech.ErrBusy], or ctx ends.
func (p *Pool) await(
	ctx context.Context, wait *queue.Entry[waiter], start time.Time, expired <-chan time.Time,
) (_ *Slot, err error) {
	select {
	case w := <-wait.Value:
		return &Slot{Worker: w, Queued: time.Since(start), pool: p}, nil
	case <-expired:
		err = speech.ErrBusy
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if w := p.leaveQueue(wait); w != nil {
		// The grant and the end came together. The worker is there, so a mere time-out takes it.
		slot := &Slot{Worker: w, Queued: time.Since(start), pool: p}
		if errors.Is(err, speech.ErrBusy) {
			return slot, nil
		}
		slot.Release()
	}
	return nil, err
}

// take returns a slot if one is free, and otherwise a place in the queue.
func (p *Pool) take(key string, now time.Time) (*Slot, *queue.Entry[waiter], error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.draining {
		return nil, nil, speech.ErrDraining
	}
	if slot := p.freeLocked(key); slot != nil {
		return slot, nil, nil
	}
	if p.ready == 0 {
		return nil, nil, speech.ErrWarming
	}
	if wait := p.waiting.Push(make(waiter, 1), now); wait != nil {
		p.changedLocked()
		return nil, wait, nil
	}
	return nil, nil, speech.ErrBusy
}

// takeFirst returns a slot if one is free, and otherwise a place in the queue in front of new requests.
func (p *Pool) takeFirst(key string, begun time.Time) (*Slot, *queue.Entry[waiter], error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil, nil, speech.ErrDraining
	}
	if slot := p.freeLocked(key); slot != nil {
		return slot, nil, nil
	}
	// no new request waits longer than that
	wait := p.waiting.Insert(make(waiter, 1), begun.Add(-p.cfg.QueueWait))
	p.changedLocked()
	return nil, wait, nil
}

// freeLocked lends the worker that is kept for key, or an idle one; nil where there is neither.
func (p *Pool) freeLocked(key string) *Slot {
	if r, ok := p.reserved[key]; ok {
		r.timer.Stop()
		delete(p.reserved, key)
		return p.lendLocked(r.worker)
	}
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	w := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return p.lendLocked(w)
}

func (p *Pool) lendLocked(w synth.Worker) *Slot {
	p.busy++
	p.changedLocked()
	return &Slot{Worker: w, pool: p}
}

// Reserve keeps an idle worker for key for this long: until then only [Pool.Acquire] with that key gets it. It returns
// false if no worker is idle, one is kept for key already, or key is empty.
func (p *Pool) Reserve(key string, d time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if _, again := p.reserved[key]; again || key == "" || n == 0 || p.draining {
		return false
	}
	w := p.idle[n-1]
	p.idle = p.idle[:n-1]
	p.reserveLocked(key, w, d)
	return true
}

// Unreserve ends what is reserved for key, before its time: the next in the queue gets the worker.
func (p *Pool) Unreserve(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, ok := p.reserved[key]; ok {
		r.timer.Stop()
		p.endReservationLocked(key, r)
	}
}

func (p *Pool) reserveLocked(key string, w synth.Worker, d time.Duration) {
	r := &reservation{worker: w}
	r.timer = time.AfterFunc(d, func() { p.endReservation(key, r) })
	p.reserved[key] = r
	p.changedLocked()
}

// leaveQueue leaves the queue. It returns the worker that was granted in the same moment, or nil.
func (p *Pool) leaveQueue(wait *queue.Entry[waiter]) synth.Worker {
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
	p := s.detach()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	p.handOverLocked(s.Worker)
	p.changedLocked()
}

// ReleaseTo is Release that reserves the worker for key for a moment when the queue is empty. So the next utterance
// of a session finds it.
func (s *Slot) ReleaseTo(key string) {
	if broken(s.Worker) {
		s.Discard()
		return
	}
	p := s.detach()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	_, again := p.reserved[key]
	if key == "" || again || p.waiting.Len() > 0 || p.draining {
		p.handOverLocked(s.Worker)
		p.changedLocked()
		return
	}
	p.reserveLocked(key, s.Worker, reservationTime)
}

// Discard gives a broken worker back: it is closed and replaced.
func (s *Slot) Discard() {
	p := s.detach()
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

func (s *Slot) detach() *Pool {
	p := s.pool
	if p == nil {
		panic("pool: slot released twice")
	}
	s.pool = nil
	return p
}

func (p *Pool) endReservation(key string, r *reservation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reserved[key] == r {
		p.endReservationLocked(key, r)
	}
}

func (p *Pool) endReservationLocked(key string, r *reservation) {
	delete(p.reserved, key)
	p.handOverLocked(r.worker)
	p.changedLocked()
}

// handOverLocked hands w to the first in the queue, or lays it down.
func (p *Pool) handOverLocked(w synth.Worker) {
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
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

func (p *Pool) watchLocked() <-chan struct{} {
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.changed
}

// Capacity returns the present counts.
func (p *Pool) Capacity() speech.Capacity {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.capacityLocked()
}

// Watch returns the present counts, and a channel that is closed as soon as they change.
func (p *Pool) Watch() (now speech.Capacity, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.capacityLocked(), p.watchLocked()
}

func (p *Pool) capacityLocked() speech.Capacity {
	return speech.Capacity{
		Workers:    p.cfg.Workers,
		Ready:      p.ready,
		Busy:       p.busy,
		Reserved:   len(p.reserved),
		Queued:     p.waiting.Len(),
		QueueLimit: p.waiting.Limit(),
		Draining:   p.draining,
	}
}

// WaitReady waits until every worker is warm. It returns the cause of ctx if that ended first.
func (p *Pool) WaitReady(ctx context.Context) error {
	for {
		p.mu.Lock()
		ready, changed := p.ready == p.cfg.Workers, p.watchLocked()
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

// Drain refuses new utterances and waits until all running and waiting ones have ended. It returns the cause of ctx if
// that ended first.
func (p *Pool) Drain(ctx context.Context) error {
	for {
		p.mu.Lock()
		if !p.draining {
			p.draining = true
			p.changedLocked()
		}
		left, changed := p.busy+p.waiting.Len(), p.watchLocked()
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

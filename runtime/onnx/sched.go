package onnx

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/onnx/internal/model"
)

var errEngineClosed = errors.New("onnx: the engine is closed")

// scheduler runs models for workers. Each of its runners runs one thing at a time, so that as many runs are under way
// as there are processors for them and none takes turns with another; workers only wait. Runners are locked to
// threads, so that what ONNX Runtime keeps for each thread that calls it exists once for each runner. That makes
// handing over a task take some 35 µs in place of 1, which does not matter: a task is all the steps and the decode of
// a group of frames.
//
// A runner that is free takes the most urgent task (see [urgency]). If that is a step, other steps that wait on the
// same cache come along, as long as no other runner is free to take them. A task stays with the scheduler from step
// to step, so that streams that are drawn together find each other again. Only a stream whose text was just read or
// whose audio was just decoded is away for a moment, until its worker asks for more. What is not pressing waits a
// little for it: steps, to run together with its own, and whatever is less urgent, not to keep it waiting for a whole
// run. A lone stream waits for nobody.
//
// It is safe for concurrent use.
type scheduler struct {
	now     func() time.Time
	runners sync.WaitGroup

	mu       sync.Mutex
	work     sync.Cond // something waits, or closed
	waiting  []*task
	idle     int // runners that wait for work
	arrivals uint64
	closed   bool
	limits   limits
	expected []*task                    // that have left a moment ago and are expected back
	batches  [model.MaxBatch + 1]uint64 // runs by number of streams stepped
}

// newScheduler starts runners. Call close when no task is left.
func newScheduler(runners int, now func() time.Time) *scheduler {
	s := &scheduler{now: now, limits: leastLimits}
	s.work.L = &s.mu
	for range runners {
		s.runners.Go(s.serve)
	}
	return s
}

// reckon orders runs by other limits from now on.
func (s *scheduler) reckon(l limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits = l
}

// close ends the runners once what waits has run, and returns when they are gone.
func (s *scheduler) close() {
	s.mu.Lock()
	s.closed = true
	s.work.Broadcast()
	s.mu.Unlock()
	s.runners.Wait()
}

// counts yields how many runs have stepped so many streams.
func (s *scheduler) counts() iter.Seq2[int, uint64] {
	s.mu.Lock()
	batches := s.batches
	s.mu.Unlock()
	return func(yield func(int, uint64) bool) {
		for size, runs := range batches {
			if runs > 0 && !yield(size, runs) {
				return
			}
		}
	}
}

// task is a sequence of runs for one stream. Its zero value is ready; a worker uses one for all it asks for, one
// after another.
type task struct {
	pace pace

	ctx     context.Context
	next    func() (phase, error)
	phase   phase
	urgency urgency
	done    chan error // room for one

	arrivedAt time.Time // when it came to the scheduler
	overtaken int       // by runs of new streams since then

	cache *model.KVCache // of its last step
	back  time.Time      // when it is no longer expected
}

// phase is one run of a model: a step of stream, perhaps together with others of its cache, or whatever run does. The
// zero value says that there is nothing more to run.
type phase struct {
	stream *model.Stream
	run    func(context.Context) error
}

func (p *phase) over() bool { return p.stream == nil && p.run == nil }

// do runs one phase after another until next returns the zero one or an error. next is called by one goroutine at a
// time, first by the caller and then by runners, after each run that went well; what it does itself should be short.
//
// When ctx ends, what waits is dropped at once and what runs is the last; do then returns the cause of ctx. A run
// gets ctx.
func (s *scheduler) do(ctx context.Context, t *task, next func() (phase, error)) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	first, err := next()
	if err != nil || first.over() {
		return err
	}
	if t.done == nil {
		t.done = make(chan error, 1)
	}
	t.ctx, t.next, t.phase = ctx, next, first
	t.arrivedAt, t.overtaken = s.now(), 0
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errEngineClosed
	}
	s.putLocked(t)
	s.mu.Unlock()
	select {
	case err := <-t.done:
		return err
	case <-ctx.Done():
	}
	if s.withdraw(t) {
		return context.Cause(ctx)
	}
	return <-t.done // after the run that is under way
}

// once is a task of one run.
func once(run func(context.Context) error) func() (phase, error) {
	return func() (p phase, err error) {
		p.run, run = run, nil
		return p, nil
	}
}

func (s *scheduler) putLocked(t *task) {
	s.expected = slices.DeleteFunc(s.expected, func(o *task) bool { return o == t })
	s.arrivals++
	t.urgency.arrival = s.arrivals
	s.waiting = append(s.waiting, t)
	s.work.Signal()
}

// withdraw takes t out of the queue, unless it has left it already.
func (s *scheduler) withdraw(t *task) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.waiting, t)
	if i < 0 {
		return false
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return true
}

// serve is a runner.
func (s *scheduler) serve() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var b batch
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if !s.takeLocked(&b) {
			if s.closed && len(s.waiting) == 0 {
				return
			}
			s.idle++
			s.work.Wait()
			s.idle--
			continue
		}
		s.mu.Unlock()
		b.run()
		s.mu.Lock()
		s.followLocked(&b)
		if len(s.waiting) > 0 {
			s.work.Broadcast() // also for what could not run because its slot was locked here
		}
	}
}

// followLocked puts the tasks of a batch that was run back into the queue, or gives them back to their workers.
func (s *scheduler) followLocked(b *batch) {
	for i, t := range b.tasks {
		err := b.errs[i]
		if err == nil {
			err = context.Cause(t.ctx) // a cancel in between has not found t in the queue
		}
		if err == nil && !t.phase.over() {
			s.putLocked(t)
			continue
		}
		if comesBack := t.cache != nil || t.urgency.class == silent; err == nil && comesBack && len(b.streams) == 0 {
			t.back = s.now().Add(s.limits.absence)
			s.expected = append(s.expected, t)
		}
		t.ctx, t.next, t.phase = nil, nil, phase{}
		t.done <- err
	}
}

// batch is what a runner runs at once. Its slices are used again.
type batch struct {
	tasks    []*task
	errs     []error // of the tasks
	streams  []*model.Stream
	first, n int // slots, where streams are stepped
}

// takeLocked moves the most urgent task that can run, and what comes along, from the queue to b.
func (s *scheduler) takeLocked(b *batch) bool {
	b.tasks, b.streams = b.tasks[:0], b.streams[:0]
	now := s.now()
	for _, t := range s.waiting {
		arrival := t.urgency.arrival
		late := t.overtaken >= mostOvertaken && now.Sub(t.arrivedAt) > s.limits.maxWait
		t.urgency = t.pace.urgency(now, t.phase.stream != nil, late, &s.limits)
		t.urgency.arrival = arrival
	}
	slices.SortFunc(s.waiting, func(t, u *task) int { return t.urgency.compare(u.urgency) })
	var until time.Time // when the first of those that wait for somebody who is away no longer does
	for _, t := range s.waiting {
		if back := s.awaitedLocked(t, now); !back.IsZero() {
			if until.IsZero() || back.Before(until) {
				until = back
			}
			continue
		}
		if t.phase.stream == nil {
			b.tasks = append(b.tasks, t)
			break
		}
		if s.gatherLocked(b, t) {
			s.batches[min(len(b.tasks), model.MaxBatch)]++
			break
		}
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(t *task) bool { return slices.Contains(b.tasks, t) })
	if len(b.tasks) > 0 && b.tasks[0].urgency.class == silent {
		for _, t := range s.waiting {
			t.overtaken++
		}
	}
	if len(b.tasks) == 0 && !until.IsZero() {
		time.AfterFunc(until.Sub(now), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.work.Signal()
		})
	}
	return len(b.tasks) > 0
}

// awaitedLocked returns until when t should wait for streams that are away, zero for not at all: it is pressing,
// nobody is away that it would run with or keep waiting, or there are runners enough for everybody.
func (s *scheduler) awaitedLocked(t *task, now time.Time) (until time.Time) {
	s.expected = slices.DeleteFunc(s.expected, func(o *task) bool { return !now.Before(o.back) })
	pressing := t.urgency.class <= silent || t.urgency.buffered < s.limits.pressing
	if pressing || s.idle >= len(s.waiting) {
		return until
	}
	for _, o := range s.expected {
		company := t.phase.stream != nil && o.cache == t.phase.stream.Cache()
		first := o.urgency.class == silent || o.urgency.class < ahead && t.urgency.class == ahead
		if (company || first) && o.back.After(until) {
			until = o.back
		}
	}
	return until
}

// gatherLocked takes the step of t and those that come along. It returns false where the slot of t is locked.
func (s *scheduler) gatherLocked(b *batch, t *task) bool {
	cache := t.phase.stream.Cache()
	b.streams = append(b.streams[:0], t.phase.stream)
	pressing := t.urgency.class <= silent || t.urgency.buffered < s.limits.pressing
	for _, other := range s.waiting {
		yields := pressing && other.urgency.class == ahead // every row makes the run longer
		if o := other.phase.stream; other != t && o != nil && o.Cache() == cache && !yields {
			b.streams = append(b.streams, o)
		}
	}
	// Runners that are free for these steps: this one, and the idle ones that nothing else waits for.
	free := max(1, s.idle+1-(len(s.waiting)-len(b.streams)))
	share := (len(b.streams) + free - 1) / free
	if b.first, b.n = cache.LockRange(b.streams, min(share, model.MaxBatch)); b.n == 0 {
		b.streams = b.streams[:0]
		return false
	}
	b.streams = slices.DeleteFunc(b.streams,
		func(o *model.Stream) bool { return o.Slot() < b.first || o.Slot() >= b.first+b.n })
	for _, other := range s.waiting {
		if o := other.phase.stream; o != nil && slices.Contains(b.streams, o) {
			other.cache = cache
			b.tasks = append(b.tasks, other)
		}
	}
	return true
}

// run runs the batch and asks every task what comes next.
func (b *batch) run() {
	var err error
	if len(b.streams) > 0 {
		cache := b.streams[0].Cache()
		err = cache.Step(b.first, b.n, b.streams)
		cache.UnlockRange(b.first, b.n)
	} else {
		t := b.tasks[0]
		err = t.phase.run(t.ctx)
	}
	b.errs = b.errs[:0]
	for _, t := range b.tasks {
		b.errs = append(b.errs, t.proceed(err))
	}
}

// proceed goes on to the phase after a run that returned err.
func (t *task) proceed(err error) error {
	if err == nil {
		err = context.Cause(t.ctx)
	}
	if err == nil {
		t.phase, err = t.next()
	}
	return err
}

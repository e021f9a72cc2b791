package onnx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/onnx/internal/model"
)

// at is a pace with so much audio left.
func at(buffered time.Duration) pace {
	return pace{first: time.Now(), frames: 1}.plus(buffered - 80*time.Millisecond)
}

func (p pace) plus(d time.Duration) pace {
	p.first = p.first.Add(d)
	return p
}

// trace collects what runs, in order.
type trace struct {
	mu  sync.Mutex
	ran []string
}

func (r *trace) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran = append(r.ran, fmt.Sprintf(format, args...))
}

func (r *trace) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.ran, " ")
}

// steps is a task of n steps.
func steps(s *model.Stream, n int) func() (phase, error) {
	return func() (phase, error) {
		if n--; n < 0 {
			return phase{}, nil
		}
		return phase{stream: s}, nil
	}
}

// occupied starts a scheduler of one runner that is busy until release is called.
func occupied(t *testing.T) (s *scheduler, release func()) {
	s = newScheduler(1, time.Now)
	held := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		err := s.do(t.Context(), &task{}, once(func(context.Context) error { <-held; return nil }))
		if err != nil {
			t.Error(err)
		}
	})
	synctest.Wait()
	return s, func() { close(held); wg.Wait() }
}

func TestWhatWaitsRunsInTheOrderOfItsUrgency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := occupied(t)
		var ran trace
		var wg sync.WaitGroup
		for _, tt := range []struct {
			name string
			pace pace
		}{
			{"ahead", at(2 * time.Second)}, {"playing", at(500 * time.Millisecond)}, {"new", pace{}},
			{"starving", at(time.Millisecond)}, {"newer", pace{}}, {"playing-longer", at(time.Second)},
		} {
			wg.Go(func() {
				task := task{pace: tt.pace}
				if err := s.do(t.Context(), &task,
					once(func(context.Context) error { ran.add("%s", tt.name); return nil })); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		release()
		wg.Wait()
		s.close()
		if got, want := ran.String(), "new newer starving playing playing-longer ahead"; got != want {
			t.Errorf("ran %s, want %s", got, want)
		}
	})
}

func TestNewStreamsOvertakeAStarvingOneOnlySoOften(t *testing.T) {
	maxWait := leastLimits.maxWait
	for _, tt := range []struct {
		name      string
		waited    time.Duration
		overtaken int
		want      string
	}{
		{"it has neither waited long nor been overtaken", 0, 0, "new"},
		{"it has waited, but was not overtaken often enough", time.Hour, mostOvertaken - 1, "new"},
		{"it was overtaken, but not for too long", maxWait, mostOvertaken + 1, "new"},
		{"it has waited too long", maxWait + 1, mostOvertaken, "starving"},
	} {
		synctest.Test(t, func(t *testing.T) {
			run := phase{run: func(context.Context) error { return nil }}
			starving := &task{arrivedAt: time.Now().Add(-tt.waited), overtaken: tt.overtaken, pace: at(0), phase: run}
			s := &scheduler{now: time.Now, limits: leastLimits}
			s.waiting = []*task{starving, {arrivedAt: time.Now(), phase: run}}
			var got batch
			s.takeLocked(&got)
			took, want := "new", tt.overtaken+1
			if got.tasks[0] == starving {
				took, want = "starving", tt.overtaken
			}
			if took != tt.want || starving.overtaken != want {
				t.Errorf("%s: the %s one runs, %d times overtaken; want %s, %d", tt.name, took, starving.overtaken,
					tt.want, want)
			}
		})
	}
}

func TestStepsThatWaitRunTogetherAndStayTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := occupied(t)
		var ran trace
		b := model.NewFakeCache(8, func(first, n int, members []*model.Stream) error {
			ran.add("%d+%d:%d", first, n, len(members))
			return nil
		})
		var wg sync.WaitGroup
		for i, count := range map[int]int{2: 3, 3: 2, 4: 3} {
			stream := b.Place(i)
			wg.Go(func() {
				if err := s.do(t.Context(), &task{}, steps(stream, count)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		release()
		wg.Wait()
		s.close()
		// The stream in the middle is through after two steps and runs along as a dummy.
		if got, want := ran.String(), "2+3:3 2+3:3 2+3:2"; got != want {
			t.Errorf("ran %s, want %s", got, want)
		}
		if got := fmt.Sprint(s.batches); got != "[0 0 1 2 0 0 0 0 0]" {
			t.Errorf("counted %s", got)
		}
	})
}

func TestIdleRunnersShareTheStepsThatWait(t *testing.T) {
	for _, tt := range []struct {
		name               string
		steps, other, idle int
		want               int
	}{
		{"nobody else is free", 5, 0, 0, 5},
		{"another runner is free", 5, 0, 1, 3},
		{"an even number", 4, 0, 1, 2},
		{"as many runners as steps", 3, 0, 2, 1},
		{"more runners than steps", 2, 0, 7, 1},
		{"the other runner has something else to do", 5, 1, 1, 5},
		{"more than one can take", 12, 0, 0, 8},
	} {
		b := model.NewFakeCache(16, nil)
		s := &scheduler{now: time.Now, limits: leastLimits, idle: tt.idle}
		for i := range tt.steps {
			s.waiting = append(s.waiting, &task{arrivedAt: time.Now(), phase: phase{stream: b.Place(i)}})
		}
		for range tt.other {
			s.waiting = append(s.waiting, &task{arrivedAt: time.Now(), pace: at(time.Hour),
				phase: phase{run: func(context.Context) error { return nil }}})
		}
		// The steps have to be the more urgent ones.
		var got batch
		if !s.takeLocked(&got) || len(got.tasks) != tt.want {
			t.Errorf("%s: %d of %d steps taken, want %d", tt.name, len(got.tasks), tt.steps, tt.want)
		}
		if left := tt.steps + tt.other - tt.want; len(s.waiting) != left {
			t.Errorf("%s: %d left, want %d", tt.name, len(s.waiting), left)
		}
	}
}

func TestAStepWaitsForItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(2, time.Now)
		held := make(chan struct{})
		var ran trace
		b := model.NewFakeCache(3, func(first, n int, members []*model.Stream) error {
			ran.add("%d+%d:%d", first, n, len(members))
			if n == 3 {
				<-held
			}
			return nil
		})
		left, middle, right := b.Place(0), b.Place(1), b.Place(2)
		// Both runners are kept busy until left and right wait together.
		start := make(chan struct{})
		var wg sync.WaitGroup
		do := func(next func() (phase, error)) {
			wg.Go(func() {
				if err := s.do(t.Context(), &task{}, next); err != nil {
					t.Error(err)
				}
			})
		}
		second := make(chan struct{})
		do(once(func(context.Context) error { <-start; return nil }))
		do(once(func(context.Context) error { <-second; return nil }))
		synctest.Wait()
		do(steps(left, 1))
		do(steps(right, 1))
		synctest.Wait()
		close(start) // one runner steps left and right, with middle as a dummy
		synctest.Wait()
		do(steps(middle, 1))
		do(once(func(context.Context) error { ran.add("alone"); return nil }))
		close(second) // the other one is free for middle, whose slot is in use, and then for what comes after it
		synctest.Wait()
		if got, want := ran.String(), "0+3:2 alone"; got != want {
			t.Errorf("ran %s, want %s", got, want)
		}
		close(held)
		wg.Wait()
		s.close()
		if got, want := ran.String(), "0+3:2 alone 1+1:1"; got != want {
			t.Errorf("ran %s, want %s", got, want)
		}
	})
}

func TestWhatWaitsForWhoIsAway(t *testing.T) {
	pressing, absence := leastLimits.pressing, leastLimits.absence
	for _, tt := range []struct {
		name     string
		buffered time.Duration
		back     time.Duration // of the one who is away
		class    class         // of the one who is away
		idle     int
		decode   time.Duration // that another stream has left, which waits for a decode; 0 for none
		want     string
	}{
		{"it is not pressing", pressing, absence, playing, 0, 0, "nothing"},
		{"it is pressing", pressing - 1, absence, playing, 0, 0, "step"},
		{"nobody is expected back any more", time.Second, 0, playing, 0, 0, "step"},
		{"somebody is expected for a moment yet", time.Second, 1, playing, 0, 0, "nothing"},
		{"another runner is free for who comes back", time.Second, absence, playing, 1, 0, "step"},
		{"something else can run in the meantime", time.Second, absence, playing, 0, time.Second, "decode"},
		{"the other runner has something else to do", time.Second, absence, playing, 1, time.Second, "decode"},
		{"who comes back is as far ahead", 2 * time.Second, absence, ahead, 0, 2 * time.Second, "decode"},
		{"what could run would keep a listener waiting", 2 * time.Second, absence, starving, 0, 2 * time.Second, "nothing"},
		{"what could run is itself pressing", time.Second, absence, silent, 0, pressing - 1, "decode"},
		{"a new stream is about to come back", time.Second, absence, silent, 0, time.Second, "nothing"},
		{"a new stream comes back to a runner that is free", time.Second, absence, silent, 1, 0, "step"},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := model.NewFakeCache(2, nil)
			away := &task{cache: b, back: time.Now().Add(tt.back), urgency: urgency{class: tt.class}}
			s := &scheduler{now: time.Now, limits: leastLimits, idle: tt.idle, expected: []*task{away}}
			s.work.L = &s.mu
			s.waiting = []*task{{arrivedAt: time.Now(), pace: at(tt.buffered), phase: phase{stream: b.Place(0)}}}
			if tt.decode != 0 {
				decode := phase{run: func(context.Context) error { return nil }}
				s.waiting = append(s.waiting, &task{arrivedAt: time.Now(), pace: at(tt.decode), phase: decode})
			}
			var got batch
			took := "nothing"
			if s.takeLocked(&got) {
				took = map[bool]string{true: "step", false: "decode"}[len(got.streams) > 0]
			}
			if took != tt.want {
				t.Errorf("%s: %s is taken, want %s", tt.name, took, tt.want)
			}
			time.Sleep(absence) // the timer that would wake a runner
		})
	}
}

// TestAStreamThatComesBackIsWaitedFor has two streams draw groups of frames. One is away for a while after each decode.
func TestAStreamThatComesBackIsWaitedFor(t *testing.T) {
	for _, tt := range []struct {
		away time.Duration
		want string
	}{
		{leastLimits.absence - 1, "2 2 2 2 2 2"},
		{leastLimits.absence + 1, "2 2 1 1 1 1 1 1 1 1"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, release := occupied(t)
			var ran trace
			b := model.NewFakeCache(2, func(_, _ int, members []*model.Stream) error {
				ran.add("%d", len(members))
				return nil
			})
			var wg sync.WaitGroup
			for i := range 2 {
				stream := b.Place(i)
				wg.Go(func() {
					task := task{pace: at(500 * time.Millisecond)}
					for range 3 {
						left := 3
						err := s.do(t.Context(), &task, func() (phase, error) {
							switch left--; {
							case left > 0:
								return phase{stream: stream}, nil
							case left == 0:
								return phase{run: func(context.Context) error { return nil }}, nil
							}
							return phase{}, nil
						})
						if err != nil {
							t.Error(err)
						}
						time.Sleep(time.Duration(i) * tt.away)
					}
				})
			}
			synctest.Wait()
			release()
			wg.Wait()
			s.close()
			if got := ran.String(); got != tt.want {
				t.Errorf("away for %s: runs of %s streams, want %s", tt.away, got, tt.want)
			}
		})
	}
}

func TestACancelledTaskLeavesTheQueueAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := occupied(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		time.AfterFunc(time.Second, func() { cancel(gone) })
		begin := time.Now()
		err := s.do(ctx, &task{}, once(func(context.Context) error { t.Error("it ran"); return nil }))
		if took := time.Since(begin); !errors.Is(err, gone) || took != time.Second {
			t.Errorf("%v after %s, want the cause after a second", err, took)
		}
		release()
		s.close()
	})
}

func TestACancelledTaskEndsWithTheRunThatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(1, time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		runs := 0
		err := s.do(ctx, &task{}, func() (phase, error) {
			return phase{run: func(context.Context) error {
				if runs++; runs == 3 {
					cancel()
				}
				return nil
			}}, nil
		})
		if !errors.Is(err, context.Canceled) || runs != 3 {
			t.Errorf("%v after %d runs, want a cancel after three", err, runs)
		}
		if err := s.do(ctx, &task{}, func() (phase, error) {
			t.Error("asked")
			return phase{},
				nil
		}); !errors.Is(err, context.Canceled) {
			t.Errorf("a task that is cancelled already: %v", err)
		}
		s.close()
	})
}

func TestARunHearsOfTheCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(1, time.Now)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := s.do(ctx, &task{}, once(func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the time-out", err)
		}
		s.close()
	})
}

func TestAnErrorEndsItsTaskAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := occupied(t)
		broken := errors.New("broken")
		b := model.NewFakeCache(2, func(int, int, []*model.Stream) error { return nil })
		var wg sync.WaitGroup
		bad, good := b.Place(0), b.Place(1)
		wg.Go(func() {
			calls := 0
			err := s.do(t.Context(), &task{}, func() (phase, error) {
				if calls++; calls == 3 {
					return phase{}, broken
				}
				return phase{stream: bad}, nil
			})
			if !errors.Is(err, broken) {
				t.Errorf("%v, want broken", err)
			}
		})
		wg.Go(func() {
			if err := s.do(t.Context(), &task{}, steps(good, 5)); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		release()
		wg.Wait()
		s.close()
	})
}

func TestCloseRunsWhatWaitsAndRefusesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, release := occupied(t)
		ran := false
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := s.do(t.Context(), &task{},
				once(func(context.Context) error { ran = true; return nil })); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		wg.Go(s.close)
		synctest.Wait()
		if err := s.do(t.Context(), &task{}, once(func(context.Context) error { return nil })); !errors.Is(err,
			errEngineClosed) {
			t.Errorf("after close: %v", err)
		}
		release()
		wg.Wait()
		if !ran {
			t.Error("what waited was dropped")
		}
	})
}

// TestEveryTaskEndsWhateverHappens has many streams step, run alone, fail and be cancelled on several runners.
func TestEveryTaskEndsWhateverHappens(t *testing.T) {
	const slots, rounds = 8, 200
	s := newScheduler(3, time.Now)
	var stepped [slots]int // guarded by the lock of the slot, which the race detector checks
	b := model.NewFakeCache(slots, func(_, _ int, members []*model.Stream) error {
		for _, m := range members {
			stepped[m.Slot()]++
		}
		return nil
	})
	var wg sync.WaitGroup
	var want [slots]int
	for i := range slots {
		stream := b.Place(i)
		wg.Go(func() {
			var task task
			for round := range rounds {
				ctx, cancel := context.WithCancel(t.Context())
				if round%5 == i%5 {
					go cancel()
				}
				did := 0
				err := s.do(ctx, &task, func() (phase, error) {
					if did++; did > 5 {
						return phase{}, nil
					}
					if did == 3 {
						return phase{run: func(context.Context) error { return nil }}, nil
					}
					want[i]++
					return phase{stream: stream}, nil
				})
				if err != nil {
					if !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
					want[i] = -1 // how far it came is open
				}
				cancel()
			}
		})
	}
	wg.Wait()
	s.close()
	if slices.Max(stepped[:]) == 0 || len(s.waiting) != 0 {
		t.Errorf("stepped %v, %d left", stepped, len(s.waiting))
	}
}

// BenchmarkScheduler measures what the scheduler adds to a run.
func BenchmarkScheduler(b *testing.B) {
	b.Run("one run", func(b *testing.B) {
		s := newScheduler(1, time.Now)
		defer s.close()
		var t task
		run := func(context.Context) error { return nil }
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		b.ReportAllocs()
		for b.Loop() {
			if err := s.do(ctx, &t, once(run)); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, streams := range []int{1, 8} {
		b.Run(fmt.Sprintf("steps of %d streams", streams), func(b *testing.B) {
			s := newScheduler(1, time.Now)
			defer s.close()
			cache := model.NewFakeCache(8, func(int, int, []*model.Stream) error { return nil })
			b.ReportAllocs()
			var wg sync.WaitGroup
			for i := range streams {
				stream := cache.Place(i)
				wg.Go(func() {
					var t task
					left := b.N
					err := s.do(b.Context(), &t, func() (phase, error) {
						if left--; left < 0 {
							return phase{}, nil
						}
						return phase{stream: stream}, nil
					})
					if err != nil {
						b.Error(err)
					}
				})
			}
			wg.Wait()
		})
	}
}

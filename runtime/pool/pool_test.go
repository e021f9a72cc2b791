package pool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// counting is an engine that knows how many of its workers are open.
type counting interface {
	synth.Engine
	Workers() int
}

// start runs a pool inside a bubble and stops it at the end of the test.
func start(t *testing.T, cfg Config, engine counting) *Pool {
	t.Helper()
	p, cancel, done := run(t, cfg, engine)
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
		if got := engine.Workers(); got != 0 {
			t.Errorf("%d workers are open after Run", got)
		}
	})
	return p
}

// run runs a pool until cancel, and waits in a bubble until nothing moves any more.
func run(t *testing.T, cfg Config, engine synth.Engine) (p *Pool, cancel func(), done <-chan error) {
	t.Helper()
	p, err := New(cfg, engine, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	synctest.Wait()
	return p, cancel, ended
}

func acquire(t *testing.T, p *Pool, session string) *Slot {
	t.Helper()
	s, err := p.Acquire(t.Context(), session, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryWorkerSpeaksEveryVoiceBeforeItIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var spoken []string
		heard := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(spoken)
		}
		engine := synthtest.NewEngine(synthtest.Config{Before: func(_ context.Context, o synth.Options,
			frame int) error {
			if frame == 0 {
				mu.Lock()
				spoken = append(spoken, o.Voice)
				mu.Unlock()
			}
			time.Sleep(time.Second)
			return nil
		}})
		p, cancel, done := run(t, Config{Workers: 2}, engine)
		if _, err := p.Acquire(t.Context(), "", time.Now()); !errors.Is(err, speech.ErrWarming) {
			t.Errorf("Acquire while warming = %v, want ErrWarming", err)
		}
		waited := make(chan error, 1)
		go func() { waited <- p.WaitReady(t.Context()) }()
		for !p.Capacity().AllReady() {
			if len(waited) > 0 {
				t.Fatal("WaitReady returned before every worker was ready")
			}
			if c := p.Capacity(); len(heard()) < 2*c.Ready {
				t.Fatalf("%d workers ready after speaking %v", c.Ready, heard())
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		if err := <-waited; err != nil {
			t.Errorf("WaitReady: %v", err)
		}
		if want := []string{"anjura", "raj", "anjura", "raj"}; !slices.Equal(heard(), want) {
			t.Errorf("warm-up spoke %v, want %v", heard(), want)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestAWarmUpIsBoundedAndIsLeft(t *testing.T) {
	const workers, voices = 3, 2
	for name, tt := range map[string]struct {
		text string // of one byte for a frame
		want int    // frames of one voice
	}{
		"a line that ends before the first group": {"1234", 4},
		"a line that ends with it":                {"12345", 5},
		"a line of one frame more":                {"123456", 5},
		"a line that hardly ends":                 {strings.Repeat("a", 10_000), 5},
	} {
		synctest.Test(t, func(t *testing.T) {
			engine := synthtest.NewEngine(synthtest.Config{BytesPerFrame: 1})
			p := start(t, Config{Workers: workers, WarmText: tt.text}, engine)
			if got, want := engine.Frames(), workers*voices*tt.want; got != want || !p.Capacity().AllReady() {
				t.Errorf("%s: %d frames, want %d; %+v", name, got, want, p.Capacity())
			}
			s := acquire(t, p, "")
			defer s.Release()
			o := synth.Options{Voice: "raj", Text: tt.text}
			if cached, err := s.Worker.Prefill(t.Context(), o); cached || err != nil {
				t.Errorf("%s: cached %v, error %v; want a text that nobody knows yet", name, cached, err)
			}
		})
	}
}

// sized is an engine that says how long chunks should be.
type sized struct {
	*synthtest.Engine
	first int
}

func (s sized) ChunkTokens() (first, others int) { return s.first, 2 * s.first }

// TestTheWarmUpIsAsLongAsAFirstChunk: what routers wait for a first frame by is no shorter chunk than those that they
// send.
func TestTheWarmUpIsAsLongAsAFirstChunk(t *testing.T) {
	const line = "नमस्ते, welcome." // 4 tokens of the fake
	for name, tt := range map[string]struct {
		first, lines int
	}{
		"one token less than two lines":   {8, 1},
		"two lines":                       {9, 2},
		"one token more":                  {10, 2},
		"less than a line":                {1, 1},
		"more than a text may have bytes": {1 << 30, 137},
	} {
		var warmed atomic.Value
		engine := synthtest.NewEngine(synthtest.Config{Before: func(_ context.Context, o synth.Options,
			frame int) error {
			if frame < 0 {
				warmed.Store(o.Text)
			}
			return nil
		}})
		synctest.Test(t, func(t *testing.T) { start(t, Config{Workers: 1}, sized{engine, tt.first}) })
		if got := strings.Count(warmed.Load().(string), line); got != tt.lines {
			t.Errorf("%s: %d lines are spoken, want %d", name, got, tt.lines)
		}
	}
}

func TestAWorkerThatCannotStartIsAnError(t *testing.T) {
	tests := map[string]struct {
		cfg  synthtest.Config
		want string
	}{
		"made": {synthtest.Config{OnNewWorker: func(context.Context) error { return errors.New("no model") }}, "worker 1 of 2: no model"},
		"warmed": {synthtest.Config{Before: func(_ context.Context, o synth.Options, _ int) error {
			if o.Voice == "raj" {
				return errors.New("no voice data")
			}
			return nil
		}}, "worker 1 of 2: warming voice raj: no voice data"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			engine := synthtest.NewEngine(tt.cfg)
			p, err := New(Config{Workers: 2}, engine, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Run(t.Context()); err == nil || err.Error() != tt.want {
				t.Errorf("Run = %v, want %q", err, tt.want)
			}
			if engine.Workers() != 0 {
				t.Errorf("%d workers left open", engine.Workers())
			}
		})
	}
}

func TestNewRefusesNoWorkers(t *testing.T) {
	if _, err := New(Config{}, synthtest.NewEngine(synthtest.Config{}), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a pool without workers was made")
	}
}

func TestQueueHoldsEight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, Config{Workers: 2}, synthtest.NewEngine(synthtest.Config{}))
		a, b := acquire(t, p, ""), acquire(t, p, "")
		begin := time.Now()
		var waited sync.WaitGroup
		for i := range 8 {
			waited.Go(func() {
				if _, err := p.Acquire(t.Context(), "", time.Now()); !errors.Is(err, speech.ErrBusy) {
					t.Errorf("waiter %d: %v, want ErrBusy", i, err)
				}
				if got, want := time.Since(begin), 1950*time.Millisecond; got != want {
					t.Errorf("waiter %d was refused after %v, want exactly %v", i, got, want)
				}
			})
		}
		synctest.Wait()
		if got, want := p.Capacity(), (speech.Capacity{Workers: 2, Ready: 2, Busy: 2, Queued: 8,
			QueueLimit: 8}); got != want {
			t.Errorf("Capacity = %+v, want %+v", got, want)
		}
		if _, err := p.Acquire(t.Context(), "", time.Now()); !errors.Is(err, speech.ErrBusy) {
			t.Errorf("the ninth: %v, want ErrBusy", err)
		}
		if got := time.Since(begin); got != 0 {
			t.Errorf("the ninth was refused after %v, want at once", got)
		}
		waited.Wait()
		if got := p.Capacity().Queued; got != 0 {
			t.Errorf("%d still in the queue", got)
		}
		a.Release()
		b.Release()
	})
}

func TestTheWaitCountsFromWhenItWasAskedFor(t *testing.T) {
	tests := map[string]struct{ ago, want time.Duration }{
		"now":                         {0, defaultQueueWait},
		"a while ago":                 {time.Second, defaultQueueWait - time.Second},
		"a nanosecond before the end": {defaultQueueWait - 1, 1},
		"at the end":                  {defaultQueueWait, 0},
		"after the end":               {time.Minute, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := start(t, Config{Workers: 1}, synthtest.NewEngine(synthtest.Config{}))
				asked, begin := time.Now().Add(-tt.ago), time.Now()
				s, err := p.Acquire(t.Context(), "", asked)
				if err != nil {
					t.Fatalf("a free worker: %v", err)
				}
				if _, err := p.Acquire(t.Context(), "", asked); !errors.Is(err, speech.ErrBusy) {
					t.Errorf("no free worker: %v, want ErrBusy", err)
				}
				if got := time.Since(begin); got != tt.want {
					t.Errorf("refused after %v, want %v", got, tt.want)
				}
				s.Release()
			})
		})
	}
}

func TestQueueIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, Config{Workers: 1}, synthtest.NewEngine(synthtest.Config{}))
		running := acquire(t, p, "")
		var mu sync.Mutex
		var order []int
		var all sync.WaitGroup
		for i := range 5 {
			all.Go(func() {
				s, err := p.Acquire(t.Context(), "", time.Now())
				if err != nil {
					t.Errorf("waiter %d: %v", i, err)
					return
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				if want := 100*time.Millisecond + time.Duration(i)*10*time.Millisecond; s.Queued != want {
					t.Errorf("waiter %d queued %v, want %v", i, s.Queued, want)
				}
				time.Sleep(10 * time.Millisecond)
				s.Release()
			})
			synctest.Wait()
		}
		time.Sleep(100 * time.Millisecond)
		running.Release()
		all.Wait()
		if want := []int{0, 1, 2, 3, 4}; !slices.Equal(order, want) {
			t.Errorf("served in the order %v, want %v", order, want)
		}
	})
}

func TestCancelledWaiterLeavesTheQueueAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, Config{Workers: 1}, synthtest.NewEngine(synthtest.Config{}))
		running := acquire(t, p, "")
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() {
			_, err := p.Acquire(ctx, "", time.Now())
			done <- err
		}()
		synctest.Wait()
		cancel(speech.ErrClientGone)
		if err := <-done; !errors.Is(err, speech.ErrClientGone) {
			t.Errorf("Acquire = %v, want the cause of the cancel", err)
		}
		if got := p.Capacity().Queued; got != 0 {
			t.Errorf("%d in the queue", got)
		}
		running.Release()
		if _, err := p.Acquire(ctx, "", time.Now()); !errors.Is(err, speech.ErrClientGone) {
			t.Errorf("Acquire with an ended context = %v", err)
		}
		acquire(t, p, "").Release()
	})
}

func TestSessionKeepsItsWorkerUnlessSomebodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, Config{Workers: 1}, synthtest.NewEngine(synthtest.Config{}))

		acquire(t, p, "a").ReleaseTo("a")
		stranger := make(chan *Slot)
		go func() { stranger <- acquire(t, p, "") }()
		synctest.Wait()
		again := acquire(t, p, "a")
		if again.Queued != 0 {
			t.Errorf("the session waited %v for its own worker", again.Queued)
		}
		again.ReleaseTo("a") // the stranger waits now, so nothing is kept
		s := <-stranger
		if c := p.Capacity(); c.Busy != 1 || c.Queued != 0 {
			t.Errorf("Capacity = %+v, want the stranger speaking", c)
		}
		s.ReleaseTo("b")
		begin := time.Now()
		s = acquire(t, p, "")
		if got := time.Since(begin); got != reservationTime || s.Queued != reservationTime {
			t.Errorf("waited %v (%v) for a worker that its session did not use, want %v", got, s.Queued,
				reservationTime)
		}
		s.Release()
	})
}

func TestAReservedWorkerIsForOneOnly(t *testing.T) {
	const moment = 50 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		p := start(t, Config{Workers: 2, QueueLen: -1}, synthtest.NewEngine(synthtest.Config{}))
		if !p.Reserve("a", moment) || p.Reserve("a", moment) || p.Reserve("", moment) {
			t.Error("a worker is reserved for a once, and for nobody never")
		}
		if c := p.Capacity(); c.Reserved != 1 || c.Busy != 0 || c.Ready != 2 {
			t.Errorf("Capacity = %+v, want one reserved", c)
		}
		stranger := acquire(t, p, "")
		if p.Reserve("b", moment) {
			t.Error("a worker that is not there is reserved for b")
		}
		if _, err := p.Acquire(t.Context(), "", time.Now()); !errors.Is(err, speech.ErrBusy) {
			t.Errorf("Acquire = %v while the other worker is reserved, want busy", err)
		}
		mine := acquire(t, p, "a")
		if c := p.Capacity(); c.Reserved != 0 || c.Busy != 2 {
			t.Errorf("Capacity = %+v, want both busy", c)
		}
		mine.Release()
		stranger.Release()

		for _, after := range []time.Duration{moment - 1, moment} {
			p.Reserve("a", moment)
			p.Reserve("b", moment)
			time.Sleep(after)
			synctest.Wait()
			want := 2
			if after == moment {
				want = 0
			}
			if c := p.Capacity(); c.Reserved != want {
				t.Errorf("%d are reserved after %v, want %d", c.Reserved, after, want)
			}
			time.Sleep(moment)
		}
		time.Sleep(moment)
		drained := make(chan error)
		go func() { drained <- p.Drain(t.Context()) }()
		synctest.Wait()
		if p.Reserve("a", moment) {
			t.Error("a worker is reserved while the pool drains")
		}
		if err := <-drained; err != nil {
			t.Error(err)
		}
	})
}

func TestWatchTellsOfEveryChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, Config{Workers: 1}, synthtest.NewEngine(synthtest.Config{}))
		var slot *Slot
		waiting, stop := context.WithCancel(t.Context())
		for _, step := range []struct {
			name   string
			change func()
			want   speech.Capacity
		}{
			{"a worker is reserved", func() { p.Reserve("a", time.Second) }, speech.Capacity{Reserved: 1}},
			{"who it is reserved for takes it", func() { slot = acquire(t, p, "a") }, speech.Capacity{Busy: 1}},
			{"a request is waiting", func() { go func() { _, _ = p.Acquire(waiting, "", time.Now()) }() }, speech.Capacity{Busy: 1, Queued: 1}},
			{"nobody waits any more", stop, speech.Capacity{Busy: 1}},
			{"it is kept for the session", func() { slot.ReleaseTo("a") }, speech.Capacity{Reserved: 1}},
			{"the session does not come", func() { time.Sleep(reservationTime) }, speech.Capacity{}},
			{"it speaks again", func() { slot = acquire(t, p, "") }, speech.Capacity{Busy: 1}},
			{"it is free", func() { slot.Release() }, speech.Capacity{}},
			{"the pool drains", func() { _ = p.Drain(t.Context()) }, speech.Capacity{Draining: true}},
		} {
			_, changed := p.Watch()
			select {
			case <-changed:
				t.Errorf("%s: it has changed before", step.name)
			default:
			}
			step.change()
			synctest.Wait()
			select {
			case <-changed:
			default:
				t.Errorf("%s: nobody is told", step.name)
			}
			step.want.Workers, step.want.Ready, step.want.QueueLimit = 1, 1, 8
			if got, _ := p.Watch(); got != step.want {
				t.Errorf("%s: %+v, want %+v", step.name, got, step.want)
			}
		}
	})
}

func TestBrokenWorkerIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fail atomic.Int32
		engine := synthtest.NewEngine(synthtest.Config{OnNewWorker: func(context.Context) error {
			if fail.Add(-1) >= 0 {
				return errors.New("not yet")
			}
			return nil
		}})
		p := start(t, Config{Workers: 1}, engine)
		fail.Store(2)
		acquire(t, p, "").Discard()
		synctest.Wait()
		if c := p.Capacity(); c.Ready != 0 || c.Busy != 0 {
			t.Errorf("Capacity = %+v, want nothing ready", c)
		}
		if _, err := p.Acquire(t.Context(), "", time.Now()); !errors.Is(err, speech.ErrWarming) {
			t.Errorf("Acquire = %v, want ErrWarming", err)
		}
		time.Sleep(300*time.Millisecond + 1) // 100 ms and 200 ms after the two failures
		synctest.Wait()
		if c := p.Capacity(); !c.AllReady() {
			t.Fatalf("Capacity = %+v, want the worker replaced", c)
		}
		acquire(t, p, "").Release()
		if engine.Workers() != 1 {
			t.Errorf("%d workers open, want 1", engine.Workers())
		}
	})
}

func TestDrainRefusesNewAndWaitsForTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, Config{Workers: 1}, synthtest.NewEngine(synthtest.Config{}))
		running := acquire(t, p, "")
		queued := make(chan *Slot)
		go func() { queued <- acquire(t, p, "") }()
		synctest.Wait()

		drained := make(chan error)
		go func() { drained <- p.Drain(t.Context()) }()
		synctest.Wait()
		if _, err := p.Acquire(t.Context(), "", time.Now()); !errors.Is(err, speech.ErrDraining) {
			t.Errorf("Acquire = %v, want ErrDraining", err)
		}
		if c := p.Capacity(); !c.Draining || c.AllReady() {
			t.Errorf("Capacity = %+v, want draining and not ready", c)
		}
		running.ReleaseTo("x")
		s := <-queued
		select {
		case err := <-drained:
			t.Fatalf("drained (%v) while an utterance was running", err)
		default:
		}
		s.Release()
		if err := <-drained; err != nil {
			t.Errorf("Drain: %v", err)
		}
	})
}

func TestDrainEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, Config{Workers: 1}, synthtest.NewEngine(synthtest.Config{}))
		running := acquire(t, p, "")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := p.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "1 utterances left") {
			t.Errorf("Drain = %v, want the deadline and the count", err)
		}
		running.Release()
	})
}

func TestWorkersThatComeBackAfterRunAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := synthtest.NewEngine(synthtest.Config{})
		p, cancel, done := run(t, Config{Workers: 4}, engine)
		a, b, c := acquire(t, p, ""), acquire(t, p, ""), acquire(t, p, "s")
		c.ReleaseTo("s")
		cancel()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		a.Release()
		b.Discard()
		if got := engine.Workers(); got != 0 {
			t.Errorf("%d workers left open", got)
		}
		if got := p.Capacity().Ready; got != 0 {
			t.Errorf("%d workers counted as ready", got)
		}
	})
}

func TestSlotReleasedTwicePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, Config{Workers: 1}, synthtest.NewEngine(synthtest.Config{}))
		s := acquire(t, p, "")
		s.Release()
		defer func() {
			if recover() == nil {
				t.Error("the second release did not panic")
			}
		}()
		s.Release()
	})
}

// TestPoolUnderRandomUse checks the one invariant that matters: a worker is never lent twice, and none is lost.
func TestPoolUnderRandomUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers = 3
		engine := synthtest.NewEngine(synthtest.Config{})
		p := start(t, Config{Workers: workers}, engine)
		var lent sync.Map
		var served, refused atomic.Int64
		var all sync.WaitGroup
		for g := range 24 {
			all.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(g)))
				session := fmt.Sprintf("s%d", g%5)
				for range 200 {
					ctx, cancel := context.WithTimeoutCause(t.Context(), time.Duration(r.IntN(3000))*time.Millisecond,
						speech.ErrClientGone)
					s, err := p.Acquire(ctx, session, time.Now())
					cancel()
					if err != nil {
						refused.Add(1)
						time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
						continue
					}
					served.Add(1)
					w := s.Worker
					if _, twice := lent.LoadOrStore(w, g); twice {
						t.Error("a worker was lent twice")
					}
					time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond)
					lent.Delete(w)
					switch r.IntN(10) {
					case 0:
						s.Discard()
					case 1, 2, 3, 4:
						s.ReleaseTo(session)
					default:
						s.Release()
					}
				}
			})
		}
		all.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		if got, want := p.Capacity(), (speech.Capacity{Workers: workers, Ready: workers, QueueLimit: 8}); got != want {
			t.Errorf("Capacity = %+v, want %+v", got, want)
		}
		if engine.Workers() != workers {
			t.Errorf("%d workers open, want %d", engine.Workers(), workers)
		}
		if served.Load() == 0 || refused.Load() == 0 {
			t.Errorf("served %d, refused %d: the test did not reach both", served.Load(), refused.Load())
		}
	})
}

func BenchmarkAcquireRelease(b *testing.B) {
	p, err := New(Config{Workers: 1}, synthtest.NewEngine(synthtest.Config{}), slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error)
	go func() { done <- p.Run(ctx) }()
	if err := p.WaitReady(ctx); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s, err := p.Acquire(ctx, "", time.Now())
		if err != nil {
			b.Fatal(err)
		}
		s.Release()
	}
	cancel()
	<-done
}

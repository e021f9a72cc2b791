package meter

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// books is a sink that works, and can be made not to.
type books struct {
	mu        sync.Mutex
	positions map[string]int64
	ids       []string // of the events that were stored, in order
	batches   []int    // sizes
	at        []time.Time
	fail      error // of the next calls
	stored    bool  // although it fails
	calls     int
}

func (b *books) Send(_ context.Context, batch Batch) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	b.at = append(b.at, time.Now())
	if b.fail != nil && !b.stored {
		return b.fail
	}
	if b.positions == nil {
		b.positions = map[string]int64{}
	}
	have := b.positions[batch.Source]
	first, last := batch.Events[0].Seq, batch.Events[len(batch.Events)-1].Seq
	if last-first+1 != int64(len(batch.Events)) {
		return errors.New("no run of numbers")
	}
	if first > have+1 || last < have {
		return &GapError{Want: have + 1}
	}
	for _, e := range batch.Events[have+1-first:] {
		b.ids = append(b.ids, e.ID)
	}
	b.positions[batch.Source] = last
	b.batches = append(b.batches, len(batch.Events))
	return b.fail
}

func (b *books) set(fail error, stored bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail, b.stored = fail, stored
}

func (b *books) want(t *testing.T, from, to int) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	var want []string
	for i := from; i <= to; i++ {
		want = append(want, someEvent(i).ID)
	}
	if !slices.Equal(b.ids, want) {
		t.Errorf("the sink has %d events, want %d to %d once and in order\n%s", len(b.ids), from, to,
			strings.Join(b.ids, " "))
	}
}

// shipping runs a log and a shipper in the bubble of a test until stop is called.
func shipping(t *testing.T, cfg LogConfig, to Sink) (l *Log, s *Shipper, stop func()) {
	t.Helper()
	l = openLog(t, cfg)
	s = NewShipper(ShipperConfig{}, l, to, testLogger(t))
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = l.Run(ctx) })
	wg.Go(func() { _ = s.Run(ctx) })
	return l, s, func() {
		cancel()
		wg.Wait()
	}
}

func TestBatchesGatherAndAreFull(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		sink := &books{}
		l, _, stop := shipping(t, LogConfig{Folder: folder}, sink)
		begin := time.Now()
		appendN(l, 1, 3)
		time.Sleep(100 * time.Millisecond)
		appendN(l, 4, 5)
		time.Sleep(time.Second)
		synctest.Wait()
		if len(sink.at) != 1 || sink.at[0].Sub(begin) != 220*time.Millisecond {
			t.Errorf("sent after %v, want one batch after 20 ms for the sync and 200 ms", sink.at)
		}
		appendN(l, 6, 1304)
		time.Sleep(time.Second)
		synctest.Wait()
		if want := []int{5, 500, 500, 299}; !slices.Equal(sink.batches, want) {
			t.Errorf("batches of %v, want %v", sink.batches, want)
		}
		if got := l.Backlog(); got != (Backlog{}) {
			t.Errorf("backlog = %+v, want none", got)
		}
		stop()
		sink.want(t, 1, 1304)
		l.Close()
	})
}

func TestASinkThatIsDownIsWaitedFor(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		sink := &books{fail: errors.New("portal unavailable")}
		l, s, stop := shipping(t, LogConfig{Folder: folder}, sink)
		for i := 1; i <= 10; i++ {
			e := someEvent(i)
			e.At = time.Now()
			l.Append(&e)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got := l.Backlog(); got.Queued != 10 {
			t.Errorf("backlog = %+v, want 10: nothing is acknowledged that was not taken", got)
		}
		if sink.calls < 20 || sink.calls > 60 {
			t.Errorf("%d tries in ten minutes, want about one every 15 to 30 s", sink.calls)
		}
		for i := 1; i < len(sink.at); i++ {
			if wait := sink.at[i].Sub(sink.at[i-1]); wait < 50*time.Millisecond ||
				wait > 30*time.Second+time.Millisecond {
				t.Errorf("try %d came after %v", i+1, wait)
			}
		}
		if got := s.Delay(); got < 9*time.Minute {
			t.Errorf("delay = %v, want that of the oldest event", got)
		}
		sink.set(nil, false)
		time.Sleep(time.Minute)
		sink.want(t, 1, 10)
		if l.Backlog().Queued != 0 || s.Delay() != 0 {
			t.Errorf("backlog %+v, delay %v, want none", l.Backlog(), s.Delay())
		}
		stop()
		l.Close()
	})
}

func TestAnAnswerThatIsLostCountsNothingTwice(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		sink := &books{fail: errors.New("connection reset"), stored: true}
		l, _, stop := shipping(t, LogConfig{Folder: folder}, sink)
		for i := range 50 {
			appendN(l, 10*i+1, 10*i+10)
			time.Sleep(time.Second)
		}
		sink.set(nil, false)
		time.Sleep(time.Minute)
		sink.want(t, 1, 500)
		stop()
		l.Close()
	})
}

// once opens the log, appends, ships everything and closes it again.
func once(t *testing.T, cfg LogConfig, to Sink, from, upTo int) {
	t.Helper()
	l := openLog(t, cfg)
	appendN(l, from, upTo)
	s := NewShipper(ShipperConfig{MaxBatch: 7}, l, to, testLogger(t))
	if err := s.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestLogAndSinkFindTogether(t *testing.T) {
	tests := map[string]func(t *testing.T, cfg LogConfig, sink *books){
		"the position file is lost": func(t *testing.T, cfg LogConfig, sink *books) {
			os.Remove(filepath.Join(cfg.Folder, positionName))
			once(t, cfg, sink, 31, 40)
			sink.want(t, 1, 40)
		},
		"the sink is put back, and the events are still there": func(t *testing.T, cfg LogConfig, sink *books) {
			for source := range sink.positions {
				sink.positions[source], sink.ids = 28, sink.ids[:28]
			}
			once(t, cfg, sink, 31, 40)
			sink.want(t, 1, 40)
			if len(sink.positions) != 1 {
				t.Errorf("%d sources, want the one", len(sink.positions))
			}
		},
		"the sink is put back to what was deleted here": func(t *testing.T, cfg LogConfig, sink *books) {
			for source := range sink.positions {
				sink.positions[source], sink.ids = 10, nil
			}
			once(t, cfg, sink, 31, 40)
			once(t, cfg, sink, 41, 50)
			if n := len(sink.ids); n < 20 || n > 24 || len(sink.positions) != 2 {
				t.Errorf("%d events from %d sources, want those that were left and the new ones, from a new source", n,
					len(sink.positions))
			}
			sink.ids = sink.ids[len(sink.ids)-20:]
			sink.want(t, 31, 50)
		},
		"the sink is empty": func(t *testing.T, cfg LogConfig, sink *books) {
			*sink = books{}
			once(t, cfg, sink, 31, 40)
			sink.ids = sink.ids[len(sink.ids)-10:]
			sink.want(t, 31, 40)
		},
		"the folder is put back": func(t *testing.T, cfg LogConfig, sink *books) {
			copied := t.TempDir()
			if err := os.CopyFS(filepath.Join(copied, "log"), os.DirFS(cfg.Folder)); err != nil {
				t.Fatal(err)
			}
			once(t, cfg, sink, 31, 60)
			cfg.Folder = filepath.Join(copied, "log")
			once(t, cfg, sink, 61, 65) // get numbers that the sink has seen
			once(t, cfg, sink, 66, 70)
			sink.want(t, 1, 70)
		},
		"the folder is put back, and much comes before the sink is asked": func(t *testing.T, cfg LogConfig, sink *books) {
			copied := t.TempDir()
			if err := os.CopyFS(filepath.Join(copied, "log"), os.DirFS(cfg.Folder)); err != nil {
				t.Fatal(err)
			}
			once(t, cfg, sink, 31, 40)
			cfg.Folder = filepath.Join(copied, "log")
			once(t, cfg, sink, 41, 90)
			sink.want(t, 1, 90)
		},
		"all segments are lost": func(t *testing.T, cfg LogConfig, sink *books) {
			for _, f := range glob(t, cfg.Folder, "*"+segmentEnd) {
				os.Remove(f)
			}
			once(t, cfg, sink, 31, 40)
			sink.want(t, 1, 40)
		},
		"a hole in the middle of what was not sent": func(t *testing.T, cfg LogConfig, sink *books) {
			l := openLog(t, cfg)
			appendN(l, 31, 40)
			sync1(t, l)
			path := l.segments[len(l.segments)-1].path
			l.Close()
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)-300] ^= 1 // within the last but one of its events
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			once(t, cfg, sink, 41, 50)
			if i := slices.Index(sink.ids, someEvent(39).ID); i >= 0 || len(sink.ids) != 49 {
				t.Errorf("%d events, want all but the 39th of 50", len(sink.ids))
			}
			sink.ids = slices.Insert(sink.ids, 38, someEvent(39).ID)
			sink.want(t, 1, 50)
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := LogConfig{Folder: t.TempDir(), SegmentBytes: 1000}
			sink := &books{}
			once(t, cfg, sink, 1, 20)
			once(t, cfg, sink, 21, 30)
			sink.want(t, 1, 30)
			test(t, cfg, sink)
		})
	}
}

func TestDrainIsBounded(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		sink := &books{fail: errors.New("portal unavailable")}
		l := openLog(t, LogConfig{Folder: folder})
		appendN(l, 1, 10)
		s := NewShipper(ShipperConfig{}, l, sink, testLogger(t))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		begin := time.Now()
		err := s.Drain(ctx)
		if !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "10 usage events are left in the log") ||
			time.Since(begin) != 5*time.Second {
			t.Errorf("Drain = %v after %v, want how many are left after 5 s", err, time.Since(begin))
		}
		l.Close()
		sink.set(nil, false)
		once(t, LogConfig{Folder: folder}, sink, 11, 11)
		sink.want(t, 1, 11)
	})
}

// sinkFunc is a sink that is a function.
type sinkFunc func(Batch) error

func (f sinkFunc) Send(_ context.Context, b Batch) error { return f(b) }

// TestAForkOutlivesTheProcess: what a sink must look up is still said after a restart, and no longer when the sink has
// it.
func TestAForkOutlivesTheProcess(t *testing.T) {
	cfg := LogConfig{Folder: t.TempDir()}
	var old string
	once(t, cfg, sinkFunc(func(b Batch) error { old = b.Source; return nil }), 1, 3)
	drain := func(l *Log, to sinkFunc) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		return NewShipper(ShipperConfig{MaxBatch: 2, MinRetry: time.Microsecond}, l, sinkFunc(func(b Batch) error {
			err := to(b)
			if err != nil && !errors.As(err, new(*ForkError)) {
				cancel()
			}
			return err
		}), testLogger(t)).Drain(ctx)
	}

	l := openLog(t, cfg)
	appendN(l, 4, 6)
	var renamed string
	err := drain(l, func(b Batch) error {
		if b.Source == old {
			return &ForkError{Seq: 3}
		}
		renamed = b.Source
		if b.Copied != 3 || b.Events[0].Seq != 1 || b.Events[0].ID != someEvent(4).ID {
			t.Errorf("of a copy %d, from %d (%s); want 3 from 1, the first that was not acknowledged", b.Copied,
				b.Events[0].Seq, b.Events[0].ID)
		}
		return errors.New("away")
	})
	if err == nil || l.Backlog() != (Backlog{Queued: 3, Forks: 1}) {
		t.Errorf("Drain = %v, backlog %+v; want three events and a fork", err, l.Backlog())
	}
	l.Close()

	l = openLog(t, cfg)
	defer l.Close()
	appendN(l, 7, 9)
	var copied []int64
	err = drain(l, func(b Batch) error {
		if b.Source != renamed {
			t.Errorf("the source is %s, want %s as before", b.Source, renamed)
		}
		copied = append(copied, max(0, b.Copied-b.Events[0].Seq+1))
		return nil
	})
	if want := []int64{3, 1, 0, 0}; err != nil || !slices.Equal(copied, want) {
		t.Errorf("%v: of the batches so many events may be known %v, want %v", err, copied, want)
	}
}

func TestASourceOfAnEarlierVersion(t *testing.T) {
	cfg := LogConfig{Folder: t.TempDir()}
	once(t, cfg, &books{}, 1, 3)
	if err := os.WriteFile(filepath.Join(cfg.Folder, sourceName), []byte("src_old 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := openLog(t, cfg)
	defer l.Close()
	if source, base, copied := l.origin(); source != "src_old" || base != 2 || copied != 0 {
		t.Errorf("it is read as %s %d %d", source, base, copied)
	}
}

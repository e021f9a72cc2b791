package pool

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

var errMood = errors.New("not today")

// moody is an engine that fails for texts that say so, and for all while it is out of order.
func moody() (engine *synthtest.Engine, outOfOrder *atomic.Bool) {
	outOfOrder = new(atomic.Bool)
	return synthtest.NewEngine(synthtest.Config{Before: func(_ context.Context, o synth.Options, frame int) error {
		late := strings.HasPrefix(o.Text, "fails late") && frame == 1
		if outOfOrder.Load() || late || strings.HasPrefix(o.Text, "fails at once") {
			return errMood
		}
		return nil
	}}), outOfOrder
}

// use lets the worker of s speak text by one voice, as far as it goes.
func use(ctx context.Context, s *Slot, voice, text string) error {
	if _, err := s.Worker.Prefill(ctx, synth.Options{Voice: voice, Text: text}); err != nil {
		return err
	}
	dst := make([]int16, speech.FrameSamples)
	for {
		if _, done, _, err := s.Worker.Next(ctx, dst, 1); done || err != nil {
			return err
		}
	}
}

// replaced is an engine whose workers after the first one take a moment to be made, so that the absence of a broken one
// can be seen.
type replaced struct {
	*synthtest.Engine
	made atomic.Int64
}

const replaceTime = time.Millisecond

func (r *replaced) NewWorker(ctx context.Context) (synth.Worker, error) {
	if r.made.Add(1) > 1 {
		time.Sleep(replaceTime)
	}
	return r.Engine.NewWorker(ctx)
}

func TestThreeFailuresInARowBreakAWorker(t *testing.T) {
	const (
		fine, late, atOnce = "a chunk of two frames", "fails late in the chunk", "fails at once"
		cancelled, nobody  = "cancelled", "nobody"
	)
	tests := map[string]struct {
		texts []string
		want  bool // the worker is replaced after the last of them, and not before
	}{
		"one failure":                          {[]string{atOnce}, false},
		"two":                                  {[]string{atOnce, late}, false},
		"three":                                {[]string{atOnce, late, atOnce}, true},
		"three after others":                   {[]string{late, fine, late, late, late}, true},
		"two, a chunk that is spoken, and two": {[]string{late, atOnce, fine, late, atOnce}, false},
		"a cancel in between breaks no row":    {[]string{late, cancelled, late, cancelled, late}, true},
		"cancels are no failures":              {[]string{cancelled, cancelled, cancelled, cancelled}, false},
		"nor are refusals":                     {[]string{nobody, nobody, nobody, nobody}, false},
	}
	for name, tt := range tests {
		for how, release := range map[string]func(*Slot){
			"Release": (*Slot).Release, "ReleaseTo": func(s *Slot) { s.ReleaseTo("a") },
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					engine, _ := moody()
					p := start(t, Config{Workers: 1}, &replaced{Engine: engine})
					first := acquire(t, p, "a")
					worker := first.Worker
					release(first)
					for i, text := range tt.texts {
						s := acquire(t, p, "a")
						if s.Worker != worker {
							t.Fatalf("replaced before utterance %d", i)
						}
						ctx, cancel := context.WithCancel(t.Context())
						voice := "raj"
						switch text {
						case cancelled:
							cancel()
						case nobody:
							voice = nobody
						}
						if err := use(ctx, s, voice, text); (err == nil) != (text == fine) {
							t.Fatalf("%q = %v", text, err)
						}
						cancel()
						release(s)
					}
					if c := p.Capacity(); (c.Ready == 0) != tt.want || c.Busy != 0 {
						t.Errorf("capacity %+v, want the worker taken away: %v", c, tt.want)
					}
					time.Sleep(replaceTime)
					synctest.Wait()
					s := acquire(t, p, "a")
					if (s.Worker != worker) != tt.want {
						t.Errorf("replaced: %v, want %v", s.Worker != worker, tt.want)
					}
					s.Release()
				})
			})
		}
	}
}

func TestABrokenWorkerWarmsUpUntilItSpeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, outOfOrder := moody()
		p := start(t, Config{Workers: 1}, engine)
		s := acquire(t, p, "")
		outOfOrder.Store(true)
		for range maxFailures {
			if err := use(t.Context(), s, "raj", "x"); !errors.Is(err, errMood) {
				t.Fatal(err)
			}
		}
		waiting := make(chan error)
		go func() {
			_, err := p.Acquire(t.Context(), "", time.Now())
			waiting <- err
		}()
		synctest.Wait()
		s.Release()
		begin := time.Now()
		if _, err := p.Acquire(t.Context(), "", time.Now()); !errors.Is(err, speech.ErrWarming) ||
			time.Since(begin) != 0 {
			t.Errorf("Acquire = %v after %v, want ErrWarming at once", err, time.Since(begin))
		}
		if err := <-waiting; !errors.Is(err, speech.ErrWarming) {
			t.Errorf("who was waiting already: %v, want ErrWarming", err)
		}
		time.Sleep(time.Minute)
		if c := p.Capacity(); c.Ready != 0 || c.Busy != 0 || c.AllReady() {
			t.Errorf("capacity %+v, want no worker while none can be warmed", c)
		}
		outOfOrder.Store(false)
		time.Sleep(10 * time.Second) // the longest pause between attempts
		synctest.Wait()
		if c := p.Capacity(); !c.AllReady() {
			t.Fatalf("capacity %+v, want it ready again", c)
		}
		s = acquire(t, p, "")
		if err := use(t.Context(), s, "raj", "x"); err != nil {
			t.Error(err)
		}
		s.Release()
		if engine.Workers() != 1 {
			t.Errorf("%d workers open, want 1", engine.Workers())
		}
	})
}

func TestOtherWorkersGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, outOfOrder := moody()
		p := start(t, Config{Workers: 2}, engine)
		bad, good := acquire(t, p, ""), acquire(t, p, "")
		for range maxFailures {
			if err := use(t.Context(), bad, "raj", "fails at once"); err == nil {
				t.Fatal("it did not fail")
			}
		}
		outOfOrder.Store(true) // so that no other one is made
		bad.Release()
		good.Release()
		s := acquire(t, p, "")
		if s.Worker != good.Worker {
			t.Error("the broken worker was lent")
		}
		begin := time.Now()
		if _, err := p.Acquire(t.Context(), "", time.Now()); !errors.Is(err, speech.ErrBusy) || time.Since(begin) == 0 {
			t.Errorf("Acquire = %v after %v, want to wait and then ErrBusy: there is a worker", err, time.Since(begin))
		}
		s.Release()
	})
}

func TestWarmingUpHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := synthtest.NewEngine(synthtest.Config{Before: func(ctx context.Context, o synth.Options, _ int) error {
			if o.Voice == "raj" {
				<-ctx.Done()
			}
			return context.Cause(ctx)
		}})
		p, err := New(Config{Workers: 1}, engine, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		err = p.Run(t.Context())
		took, want := time.Since(begin), "worker 1 of 1: warming voice raj: timeout"
		if err == nil || err.Error() != want || took != speech.UtteranceTimeout {
			t.Errorf("Run = %v after %v, want %q after 120 s", err, took, want)
		}
	})
}

// TestALentWorkerTellsWords: what a worker offers beside the port is found behind the count of its failures.
func TestALentWorkerTellsWords(t *testing.T) {
	for _, tells := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := start(t, Config{Workers: 1}, synthtest.NewEngine(synthtest.Config{WordTimes: tells}))
			s := acquire(t, p, "")
			if err := use(t.Context(), s, "raj", "two words"); err != nil {
				t.Fatal(err)
			}
			if words, ok := synth.WordTimes(s.Worker); ok != tells || tells && len(words) != 2 {
				t.Errorf("%v, %v; want two words: %v", words, ok, tells)
			}
			s.Release()
		})
	}
}

package pool

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// TestATurnGoesOnInFrontOfTheQueue: though the queue is full, the pool drains, and it takes longer than anybody waits.
func TestATurnGoesOnInFrontOfTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, Config{Workers: 1, QueueLen: 2}, synthtest.NewEngine(synthtest.Config{}))
		running := acquire(t, p, "")
		order := make(chan string) // so that one is taken after the other
		wait := func(name string, get func() (*Slot, error)) {
			go func() {
				s, err := get()
				if err != nil {
					order <- name + ": " + err.Error()
					return
				}
				order <- name
				s.Release()
			}()
			time.Sleep(time.Millisecond)
		}
		begin := time.Now()
		for _, name := range []string{"first", "second"} {
			wait(name, func() (*Slot, error) { return p.Acquire(t.Context(), "", time.Now()) })
		}
		wait("newer turn", func() (*Slot, error) { return p.Continue(t.Context(), "b", begin.Add(-time.Millisecond)) })
		wait("older turn", func() (*Slot, error) { return p.Continue(t.Context(), "a", begin.Add(-time.Minute)) })
		gone, leave := context.WithCancelCause(t.Context())
		wait("a turn whose client leaves", func() (*Slot,
			error) {
			return p.Continue(gone, "c", begin.Add(-time.Hour))
		})
		if c := p.Capacity(); c.Queued != 5 {
			t.Errorf("%d wait, want 5", c.Queued)
		}
		leave(speech.ErrClientGone)
		running.Release()
		for _, want := range []string{"a turn whose client leaves: client disconnected", "older turn", "newer turn",
			"first", "second"} {
			if got := <-order; got != want {
				t.Errorf("%s comes, want %s", got, want)
			}
		}
		synctest.Wait()
	})
	synctest.Test(t, func(t *testing.T) {
		p := start(t, Config{Workers: 1}, synthtest.NewEngine(synthtest.Config{}))
		running := acquire(t, p, "")
		go func() { _ = p.Drain(t.Context()) }()
		synctest.Wait()
		time.AfterFunc(time.Minute, running.Release)
		s, err := p.Continue(t.Context(), "", time.Now())
		if err != nil || s.Queued != time.Minute {
			t.Fatalf("while it drains: %v, %v", s, err)
		}
		s.Release()
	})
}

func TestATurnEndsWithThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, cancel, done := run(t, Config{Workers: 1}, synthtest.NewEngine(synthtest.Config{}))
		cancel()
		<-done
		if _, err := p.Continue(t.Context(), "", time.Now()); !errors.Is(err, speech.ErrDraining) {
			t.Errorf("%v, want ErrDraining", err)
		}
	})
}

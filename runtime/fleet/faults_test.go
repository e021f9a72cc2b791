package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/fleet"
	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// paced makes every frame of a real utterance take so long.
func paced(d time.Duration) func(context.Context, synth.Options, int) error {
	return func(ctx context.Context, o synth.Options, frame int) error {
		if o.WarmUp || frame < 0 {
			return nil
		}
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// gate holds real utterances at a frame until it is opened.
type gate struct {
	frame   int
	open    chan struct{}
	reached chan struct{} // one for each utterance that is held
}

func newGate(frame int) *gate {
	return &gate{frame: frame, open: make(chan struct{}), reached: make(chan struct{}, 64)}
}

func (g *gate) before(ctx context.Context, o synth.Options, frame int) error {
	if o.WarmUp || frame != g.frame {
		return nil
	}
	g.reached <- struct{}{}
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func utterance(text string) speech.Utterance {
	return speech.Utterance{RequestID: "req_test", Text: text, Voice: "anjura", Format: speech.PCM16,
		Temperature: .3, Seed: 42}
}

func TestOverloadFromSeveralRoutersLosesNothing(t *testing.T) { synctest.Test(t, testOverload) }

func testOverload(t *testing.T) {
	net := &memory{}
	var workers []*worker
	for _, address := range []string{podA, "10.0.0.2:9090"} {
		w := newWorkerOn(t, net.listen(address), 2, synthtest.Config{Before: paced(2 * time.Millisecond)})
		w.address = address
		workers = append(workers, w)
	}
	var routers []*fleet.Speaker
	for range 3 {
		s, _ := newRouter(t, fleet.Config{Dial: net.dial}, workers...)
		routers = append(routers, s)
	}
	warm := 0
	for _, w := range workers {
		waitUntil(t, "workers are warm", func() bool { return w.pool.Capacity().Ready == 2 })
		warm += w.engine.Frames()
	}
	var served, busy, frames atomic.Int64
	var clients sync.WaitGroup
	for i := range 45 {
		clients.Go(func() {
			for j := range 8 {
				r := &speechtest.Recorder{}
				st, err := routers[i%3].Speak(t.Context(), utterance(fmt.Sprintf("Line %d of %d.", j, i)),
					speech.Turn{}, r)
				switch {
				case err == nil:
					served.Add(1)
					frames.Add(int64(st.Frames))
				case errors.Is(err, speech.ErrBusy):
					busy.Add(1)
				default:
					t.Errorf("Speak: %v", err)
				}
			}
		})
	}
	clients.Wait()
	decoded := 0
	for _, w := range workers {
		decoded += w.engine.Frames()
		waitUntil(t, "the slots are free", func() bool {
			c := w.pool.Capacity()
			return c.Busy == 0 &&
				c.Reserved == 0
		})
	}
	if int64(decoded-warm) != frames.Load() {
		t.Errorf("%d frames were decoded, %d billed", decoded-warm, frames.Load())
	}
	var sum fleet.Overview
	for i, s := range routers {
		waitUntil(t, "the view is right", func() bool {
			return s.Capacity().Busy == 0 &&
				s.Overview().Pods[0].Unseen == 0
		})
		o := s.Overview()
		if got := o.Served + o.Refused; got != o.Arrived || o.Warming+o.Failed+o.Left+o.Cut+o.Lost != 0 ||
			o.Speaking+o.Queued != 0 {
			t.Errorf("router %d: %+v", i, o.Counts)
		}
		sum.Served, sum.Attempts, sum.Granted, sum.Refused = sum.Served+o.Served, sum.Attempts+o.Attempts,
			sum.Granted+o.Granted, sum.Refused+o.Refused
	}
	if sum.Served != served.Load() || sum.Refused != busy.Load() || served.Load()+busy.Load() != 45*8 {
		t.Errorf("%d served, %d busy; the routers say %+v", served.Load(), busy.Load(), sum.Counts)
	}
	if sum.Granted == 0 { // how many attempts that saves is asked of the simulator, where time is exact
		t.Errorf("%+v, want slots granted to those who wait", sum.Counts)
	}
}

func TestAPodThatDiesBeforeTheFirstFrameIsNotNoticed(t *testing.T) {
	held, free := newGate(0), newGate(-2)
	a := newWorker(t, 1, synthtest.Config{Before: held.before})
	b := newWorker(t, 1, synthtest.Config{Before: free.before})
	s, source := newRouter(t, fleet.Config{}, a)
	done := make(chan error)
	r := &speechtest.Recorder{} // which fails at a second Start
	var st speech.Stats
	go func() {
		var err error
		st, err = s.Speak(t.Context(), utterance("Namaste! Kya haal hai?"), speech.Turn{}, r)
		done <- err
	}()
	<-held.reached
	source.changes <- endpoints(a, b)
	waitUntil(t, "the other pod is in use", func() bool { return inUse(s) == 2 })
	a.kill()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if st.Frames == 0 || st.Frames != r.Frames() || len(r.Started) != 1 {
		t.Errorf("stats %+v, %d frames heard after %d starts", st, r.Frames(), len(r.Started))
	}
}

func TestAPodThatDiesInTheMiddleEndsTheUtterance(t *testing.T) {
	held := newGate(1)
	a, b := newWorker(t, 1, synthtest.Config{Before: held.before}),
		newWorker(t, 1, synthtest.Config{Before: held.before})
	s, _ := newRouter(t, fleet.Config{}, a, b)
	done := make(chan error)
	r := &speechtest.Recorder{}
	var st speech.Stats
	go func() {
		var err error
		st, err = s.Speak(t.Context(), utterance("Namaste! Kya haal hai?"), speech.Turn{}, r)
		done <- err
	}()
	<-held.reached
	waitUntil(t, "the first frame was received", func() bool {
		pods := s.Overview().Pods
		return pods[0].Unseen+pods[1].Unseen == 0
	})
	for _, w := range []*worker{a, b} {
		if w.pool.Capacity().Busy == 1 {
			w.kill()
		}
	}
	if err := <-done; !errors.Is(err, speech.ErrWorkerGone) {
		t.Errorf("Speak = %v, want worker gone", err)
	}
	if st.Frames != 1 || r.Frames() != 1 || len(r.Started) != 1 {
		t.Errorf("%d frames billed, %d heard, %d starts; want the one that was heard", st.Frames, r.Frames(),
			len(r.Started))
	}
}

func TestARouterThatDiesFreesItsSlotWithinAFrame(t *testing.T) {
	held := newGate(1)
	w := newWorker(t, 1, synthtest.Config{Before: held.before})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	front := l.Addr().String()
	conns := relay(t, l, w.address)
	s, _ := newRouter(t, fleet.Config{}, &worker{address: front})
	done := make(chan error)
	go func() {
		_, err := s.Speak(t.Context(), utterance("Namaste! Kya haal hai?"), speech.Turn{}, &speechtest.Recorder{})
		done <- err
	}()
	<-held.reached
	conns.cut()
	waitUntil(t, "the slot is free", func() bool { return w.pool.Capacity().Busy == 0 })
	if err := <-done; !errors.Is(err, speech.ErrWorkerGone) {
		t.Errorf("Speak = %v, want worker gone", err)
	}
}

func TestCancelledAtAnyFrameIsBilledAsDecoded(t *testing.T) {
	w := newWorker(t, 1, synthtest.Config{})
	s, _ := newRouter(t, fleet.Config{}, w)
	const text = "Namaste! Aapka order kal tak deliver ho jayega, aur OTP kisi ko mat batana, theek hai na?"
	for frames := range 14 {
		before := w.engine.Frames()
		ctx, cancel := context.WithCancel(t.Context())
		heard := 0
		r := &speechtest.Recorder{OnAudio: func(a speech.Audio) error {
			if heard += a.Frames; heard >= frames {
				cancel()
			}
			return nil
		}}
		st, err := s.Speak(ctx, utterance(text), speech.Turn{}, r)
		cancel()
		if decoded := w.engine.Frames() - before; st.Frames != decoded {
			t.Errorf("cancelled at %d: %d frames billed, %d decoded (%v)", frames, st.Frames, decoded, err)
		}
	}
}

func TestQueueIsServedInOrderAndBounded(t *testing.T) {
	held := newGate(0)
	w := newWorker(t, 1, synthtest.Config{Before: held.before})
	s, _ := newRouter(t, fleet.Config{Route: route.Config{QueueLen: 2}}, w)
	order := make(chan int, 8)
	var clients sync.WaitGroup
	speak := func(i int) {
		clients.Go(func() {
			r := &speechtest.Recorder{OnAudio: func(speech.Audio) error {
				order <- i // "Hi." is one block, which the slot waits for
				return nil
			}}
			if _, err := s.Speak(t.Context(), utterance("Hi."), speech.Turn{}, r); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	speak(0)
	<-held.reached
	for i := 1; i <= 2; i++ {
		speak(i)
		waitUntil(t, "it waits", func() bool { return s.Streams().Queued == i })
	}
	begin := time.Now()
	_, err := s.Speak(t.Context(), utterance("Hi."), speech.Turn{}, &speechtest.Recorder{})
	if !errors.Is(err, speech.ErrBusy) || time.Since(begin) > time.Second {
		t.Errorf("the one too many: %v after %v, want busy at once", err, time.Since(begin))
	}
	_, err = s.Speak(t.Context(), utterance("。"), speech.Turn{}, &speechtest.Recorder{})
	if !errors.Is(err, speech.ErrNothingToSay) {
		t.Errorf("what cannot be spoken: %v, want to hear that rather than busy", err)
	}
	close(held.open)
	clients.Wait()
	close(order)
	var got []int
	for i := range order {
		got = append(got, i)
	}
	if !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("served in the order %v", got)
	}
}

func TestASessionKeepsItsSlot(t *testing.T) {
	w := newWorker(t, 1, synthtest.Config{})
	s, _ := newRouter(t, fleet.Config{}, w)
	turn := speech.Turn{Session: "session", More: func() bool { return true }}
	for i := range 5 {
		if _, err := s.Speak(t.Context(), utterance("Hi."), turn, &speechtest.Recorder{}); err != nil {
			t.Fatal(i, err)
		}
		if c := w.pool.Capacity(); i == 0 && c.Reserved != 1 {
			t.Errorf("after the first: %+v, want the slot kept", c)
		}
	}
	if o := s.Overview(); o.Attempts != 5 {
		t.Errorf("%+v, want one attempt each", o.Counts)
	}
}

func TestNobodyIsThere(t *testing.T) {
	s, _ := newRouter(t, fleet.Config{})
	_, err := s.Speak(t.Context(), utterance("Hi."), speech.Turn{}, &speechtest.Recorder{})
	if !errors.Is(err, speech.ErrWarming) {
		t.Errorf("Speak = %v without pods, want warming at once", err)
	}
	if _, err := s.Normalize(t.Context(), speech.Utterance{Text: "Hi."}); !errors.Is(err, speech.ErrWarming) {
		t.Errorf("Normalize = %v without pods, want warming", err)
	}
	if err := s.Ready(); !errors.Is(err, speech.ErrWarming) || s.Model().ID != "" {
		t.Errorf("Ready = %v with the model %q", err, s.Model().ID)
	}
}

func TestAPodThatDrainsOrIsCordonedIsLeftAlone(t *testing.T) {
	a, b := newWorker(t, 2, synthtest.Config{}), newWorker(t, 2, synthtest.Config{})
	s, _ := newRouter(t, fleet.Config{}, a, b)
	other, _ := newRouter(t, fleet.Config{}, a, b)
	if !s.Cordon(a.address, 20*time.Second) || s.Cordon("nobody:1", time.Second) {
		t.Fatal("a pod that is known can be cordoned, another one cannot")
	}
	waitUntil(t, "the other router sees the cordon", func() bool { return inUse(other) == 1 && inUse(s) == 1 })
	before := a.engine.Frames()
	for range 20 {
		if _, err := other.Speak(t.Context(), utterance("Hi."), speech.Turn{}, &speechtest.Recorder{}); err != nil {
			t.Error(err)
		}
	}
	if a.engine.Frames() != before {
		t.Error("a pod that is cordoned has spoken")
	}
	s.Cordon(a.address, 0)
	waitUntil(t, "the cordon is lifted", func() bool { return inUse(other) == 2 })
	if err := b.pool.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "the drain is seen", func() bool { return inUse(other) == 1 && inUse(s) == 1 })
}

package fleet_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"github.com/swar-tts/swar/runtime/fleet"
	"github.com/swar-tts/swar/runtime/fleet/link/wire"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
)

// watcher is an autoscaler that sends nothing.
type watcher struct {
	grpc.BidiStreamingServer[wire.WatchRequest, wire.FleetState]
	ctx  context.Context
	told []*wire.FleetState
	at   []time.Duration // since began
	when time.Time       // it began
}

func (w *watcher) Context() context.Context { return w.ctx }

func (w *watcher) Recv() (*wire.WatchRequest, error) {
	<-w.ctx.Done()
	return nil, w.ctx.Err()
}

func (w *watcher) Send(s *wire.FleetState) error {
	w.told, w.at = append(w.told, s), append(w.at, time.Since(w.when))
	return nil
}

// TestTheFirstWhoIsRefusedIsToldAtOnce: a fleet without pods is to start one now, and not after the next tick. Those
// who are refused after that make no more words of it, and a text that is only normalised makes none.
func TestTheFirstWhoIsRefusedIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts := metrics.New().RegisterFleet(func() metrics.FleetCounts { return metrics.FleetCounts{} })
		speaker := fleet.New(fleet.Config{Metrics: counts}, nil, slog.New(slog.DiscardHandler))
		service := fleet.NewWatch(speaker, "test", slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		w := &watcher{ctx: ctx, when: time.Now()}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = service.Watch(w)
		}()
		refused := func(err error) {
			t.Helper()
			if !errors.Is(err, speech.ErrWarming) {
				t.Errorf("got %v, want %v", err, speech.ErrWarming)
			}
			synctest.Wait()
		}
		normalize := func() {
			_, err := speaker.Normalize(t.Context(), speech.Utterance{Text: "namaste"})
			refused(err)
		}
		speak := func() {
			_, err := speaker.Speak(t.Context(), utterance("namaste"), speech.Turn{}, &speechtest.Recorder{})
			refused(err)
		}
		synctest.Wait()
		time.Sleep(300 * time.Millisecond)
		normalize()
		time.Sleep(100 * time.Millisecond)
		speak() // after 400 ms
		speak()
		time.Sleep(700 * time.Millisecond)
		speak() // after 1.1 s, beyond the tick
		speak()
		cancel()
		<-done
		want := []struct {
			at     time.Duration
			lacked int64
		}{{0, 0}, {400 * time.Millisecond, 1}, {time.Second, 2}, {1100 * time.Millisecond, 3}}
		if len(w.told) != len(want) {
			t.Fatalf("it told %d times, after %v; want %v", len(w.told), w.at, want)
		}
		for i, want := range want {
			if w.at[i] != want.at || w.told[i].Warming != want.lacked || w.told[i].Arrived != want.lacked {
				t.Errorf("word %d came after %v: %d arrived and %d lacked a pod; want after %v, %d",
					i, w.at[i], w.told[i].Arrived, w.told[i].Warming, want.at, want.lacked)
			}
		}
	})
}

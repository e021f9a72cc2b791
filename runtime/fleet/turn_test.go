package fleet_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/fleet"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// TestATurnThatHasBegunIsNotCut: the only slot is taken for ten seconds, and the router drains. Who begins is refused,
// and who goes on waits in front of those who begin in the moment in which the slot becomes free.
func TestATurnThatHasBegunIsNotCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		held := newGate(1)
		m := &memory{}
		pod := m.worker(t, podA, synthtest.Config{Before: held.before})
		s, _ := newRouter(t, fleet.Config{Dial: m.dial}, pod)
		ended := make(chan string, 4)
		speak := func(name string, ctx context.Context, begun time.Time) {
			go func() {
				_, err := s.Speak(ctx, utterance("Namaste! Kya haal hai?"), speech.Turn{StartedAt: begun},
					&speechtest.Recorder{})
				if err != nil {
					name += ": " + err.Error()
				}
				ended <- name
			}()
			synctest.Wait()
		}
		want := func(want string) {
			t.Helper()
			if got := <-ended; got != want {
				t.Errorf("%s ends, want %s", got, want)
			}
		}
		speak("the first", t.Context(), time.Time{})
		<-held.reached
		gone, leave := context.WithCancelCause(t.Context())
		speak("whose client leaves", gone, time.Now())
		begin := time.Now()
		speak("who begins", t.Context(), time.Time{})
		want("who begins: busy")
		if waited := time.Since(begin); waited > 2*time.Second {
			t.Errorf("refused after %v", waited)
		}
		time.Sleep(7 * time.Second)
		speak("who begins later", t.Context(), time.Time{})
		drained := make(chan error, 1)
		go func() { drained <- s.Drain(t.Context()) }()
		synctest.Wait()
		speak("who goes on", t.Context(), begin)
		leave(errors.New("gone"))
		want("whose client leaves: gone")
		time.Sleep(time.Second)
		close(held.open)
		want("the first")
		want("who goes on")
		want("who begins later")
		if err := <-drained; err != nil {
			t.Error(err)
		}
	})
}

package serve

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/speech"
)

func TestDrainClosesIdleSockets(t *testing.T) {
	bubble(t, newScript, func(t *testing.T, g *wsRig, _ *script) {
		a, b := g.connect(), g.connect()
		defer a.conn.Close()
		defer b.conn.Close()
		a.speak("a", "hello")
		a.last("end")
		g.server.Drain()
		g.server.Drain() // once is enough
		a.wantClose(websocket.CloseGoingAway, "draining")
		b.wantClose(websocket.CloseGoingAway, "draining")
		if err := g.server.Wait(t.Context()); err != nil {
			t.Errorf("Wait = %v, want nil", err)
		}
	})
}

func TestDrainLetsTheRunningUtteranceFinish(t *testing.T) {
	bubble(t, newStage, func(t *testing.T, g *wsRig, stage *stage) {
		s := g.connect()
		defer s.conn.Close()
		s.speak("a", "hello")
		s.speak("b", "hello")
		s.speak("c", "hello")
		s.until("first_audio_ms")
		synctest.Wait() // until b and c wait too
		waited := make(chan error, 1)
		go func() { waited <- g.server.Wait(context.Background()) }()
		s.wantError("b", http.StatusServiceUnavailable, "busy", "busy")
		s.wantError("c", http.StatusServiceUnavailable, "busy", "busy")
		s.speak("d", "hello, I am late")
		s.wantError("d", http.StatusServiceUnavailable, "busy", "busy")
		s.wantAlive()
		time.Sleep(pingEvery / 2)
		synctest.Wait()
		if len(waited) > 0 {
			t.Fatalf("Wait returned %v while a was spoken", <-waited)
		}
		stage.on <- struct{}{}
		if m := s.last("end"); m.id() != "a" {
			t.Errorf("ended %s, want a", m.text)
		}
		s.wantClose(websocket.CloseGoingAway, "draining")
		if err := <-waited; err != nil {
			t.Errorf("Wait = %v, want nil", err)
		}
		if got := g.counted("ws", 503); got != 3 {
			t.Errorf("counted %v times as 503, want 3", got)
		}
		if got := g.counted("ws", 200); got != 1 {
			t.Errorf("counted %v times as 200, want 1", got)
		}
	})
}

func TestDrainRefusesNewSockets(t *testing.T) {
	bubble(t, newScript, func(t *testing.T, g *wsRig, _ *script) {
		g.server.Drain()
		_, res, err := g.tryConnect("")
		if err == nil || res == nil || res.StatusCode != http.StatusServiceUnavailable {
			t.Fatalf("connecting: %v, %v, want 503", res, err)
		}
		wantRefusal(t, res, "busy")
		if got := res.Header.Get("Retry-After"); got != "1" {
			t.Errorf("Retry-After = %q, want 1", got)
		}
		_, res, _ = g.tryConnect("", "X-Api-Key", "nonsense")
		if res == nil || res.StatusCode != http.StatusUnauthorized {
			t.Errorf("with a wrong key: %v, want 401 all the same", res)
		}
	})
}

// TestDrainDuringAHandshake: a connection whose handshake was under way when draining began is told to go.
func TestDrainDuringAHandshake(t *testing.T) {
	bubble(t, newScript, func(_ *testing.T, g *wsRig, _ *script) {
		g.server.sockets.seal(make(chan struct{})) // as Drain does, but isDraining does not know yet
		s := g.connect()
		defer s.conn.Close()
		s.wantClose(websocket.CloseGoingAway, "draining")
	})
}

func TestWaitCutsWhatIsLeft(t *testing.T) {
	waitLimit := errors.New("the time is over")
	t.Run("the running utterance ends with an error and the socket closes", func(t *testing.T) {
		bubble(t, newStage, func(t *testing.T, g *wsRig, stage *stage) {
			s := g.connect()
			defer s.conn.Close()
			s.speak("a", "hello")
			s.until("first_audio_ms")
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, waitLimit)
			defer cancel()
			waited := make(chan error, 1)
			go func() { waited <- g.server.Wait(ctx) }()
			s.wantError("a", http.StatusServiceUnavailable, "busy", "busy")
			s.wantClose(websocket.CloseGoingAway, "draining")
			if err := <-stage.ended; !errors.Is(err, speech.ErrDraining) {
				t.Errorf("the speaker ended with %v, want draining", err)
			}
			if err := <-waited; !errors.Is(err, waitLimit) {
				t.Errorf("Wait = %v, want %v", err, waitLimit)
			}
		})
	})
	t.Run("clients that do not read are not waited for", func(t *testing.T) {
		bubble(t, newStream, func(t *testing.T, g *wsRig, stream *stream) {
			idle, deaf := g.connect(), g.connect()
			defer idle.conn.Close()
			defer deaf.conn.Close()
			deaf.speak("a", "hello")
			synctest.Wait() // its buffer is full
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, waitLimit)
			defer cancel()
			begin := time.Now()
			if err := g.server.Wait(ctx); !errors.Is(err, waitLimit) {
				t.Errorf("Wait = %v, want %v", err, waitLimit)
			}
			if got := time.Since(begin); got > time.Second+2*leaveGrace {
				t.Errorf("Wait took %v, want a second or so more than its context", got)
			}
			<-stream.ended
			if got := g.counted("ws", 503); got != 1 {
				t.Errorf("counted %v times as 503, want once", got)
			}
		}, littleSpool)
	})
}

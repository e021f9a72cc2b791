package serve

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/speech"
)

// stream speaks blocks of four frames until it is stopped, counting them, and takes no time itself.
type stream struct {
	script
	blocks int // given to the sink; the one that blocks is the next
	ended  chan error
}

func newStream() *stream {
	s := &stream{ended: make(chan error, 8)}
	s.SpeakFunc = func(ctx context.Context, u speech.Utterance, sink speech.Sink) (st speech.Stats, err error) {
		defer func() { s.ended <- err }()
		st.Started = true
		if err := errors.Join(sink.Start(startOf(u)), sink.ChunkStart(speech.Chunk{Text: u.Text})); err != nil {
			return st, err
		}
		for ctx.Err() == nil {
			st.Frames += 4
			if err := sink.Audio(speech.Audio{Frames: 4, Data: frames(0, 4)}); err != nil {
				return st, err
			}
			s.blocks++
		}
		return st, context.Cause(ctx)
	}
	return s
}

func TestWSIdleSocketsStayWhilePongsCome(t *testing.T) {
	bubble(t, newScript, func(t *testing.T, g *wsRig, _ *script) {
		s := g.connect()
		defer s.leave()
		pings := 0
		s.conn.SetPingHandler(func(payload string) error {
			pings++
			return s.conn.WriteControl(websocket.PongMessage, []byte(payload), time.Time{})
		})
		var later sync.WaitGroup
		later.Go(func() {
			time.Sleep(3 * time.Hour)
			s.speak("a", "hello")
		})
		defer later.Wait()
		if m := s.last("end"); m.id() != "a" {
			t.Errorf("ended %s, want a", m.text)
		}
		if want := int(3*time.Hour/pingEvery) - 1; pings < want || pings > want+1 {
			t.Errorf("%d pings in three hours, want one every 20 s", pings)
		}
	})
}

func TestWSSocketsWithoutPongsClose(t *testing.T) {
	silent := func(s *socket) { s.conn.SetPingHandler(func(string) error { return nil }) }
	t.Run("20 s after the first ping", func(t *testing.T) {
		bubble(t, newScript, func(t *testing.T, g *wsRig, _ *script) {
			s := g.connect()
			defer s.conn.Close()
			silent(s)
			begin := time.Now()
			s.wantClose(websocket.CloseGoingAway, "no pong")
			if got, want := time.Since(begin), pingEvery+pongWait; got != want {
				t.Errorf("closed after %v, want %v", got, want)
			}
		})
	})
	t.Run("not before, and anything that comes counts", func(t *testing.T) {
		bubble(t, newScript, func(t *testing.T, g *wsRig, _ *script) {
			s := g.connect()
			defer s.conn.Close()
			silent(s)
			begin := time.Now()
			go func() {
				time.Sleep(pingEvery + pongWait - time.Nanosecond)
				s.send(`{"type":"ping"}`)
			}()
			s.last("pong")
			s.wantClose(websocket.CloseGoingAway, "no pong")
			if got, want := time.Since(begin), 2*pingEvery+pongWait; got != want {
				t.Errorf("closed after %v, want %v: 20 s after the ping that followed", got, want)
			}
		})
	})
	t.Run("but not while they take audio", func(t *testing.T) {
		bubble(t, newStream, func(t *testing.T, g *wsRig, _ *stream) {
			s := g.connect()
			defer s.conn.Close()
			silent(s)
			s.speak("a", "hello")
			for range 50 { // 100 s
				time.Sleep(2 * time.Second)
				s.next()
			}
			s.ask(`{"type":"cancel"}`)
			s.last("cancelled")
			begin := time.Now()
			s.wantClose(websocket.CloseGoingAway, "no pong")
			if got := time.Since(begin); got > pingEvery+pongWait {
				t.Errorf("closed after %v, want at most %v", got, pingEvery+pongWait)
			}
		}, littleSpool)
	})
	t.Run("and what is spoken ends with it", func(t *testing.T) {
		bubble(t, newStage, func(t *testing.T, g *wsRig, stage *stage) {
			s := g.connect()
			defer s.conn.Close()
			silent(s)
			s.speak("a", "hello")
			s.wantClose(websocket.CloseGoingAway, "no pong")
			if err := <-stage.ended; !errors.Is(err, speech.ErrClientGone) {
				t.Errorf("the speaker ended with %v, want client gone", err)
			}
		})
	})
}

// TestWSHalfOpenSocketsGo: the other end neither reads nor writes nor resets, like a phone that lost its network.
func TestWSHalfOpenSocketsGo(t *testing.T) {
	for name, begin := range map[string]func(*socket){
		"an idle one":           func(*socket) {},
		"one that is spoken to": func(s *socket) { s.speak("a", "hello") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, newStage, func(t *testing.T, g *wsRig, _ *stage) {
				s := g.connect()
				defer s.conn.Close()
				begin(s)
				time.Sleep(pingEvery + pongWait + leaveGrace)
				synctest.Wait()
				if got := metricOf(t, g.server, "tts_websockets_open"); got != 0 {
					t.Errorf("%v sockets are open, want none", got)
				}
			})
		})
	}
}

// littleSpool is full after a few seconds of audio.
func littleSpool(c *Config) { c.Spool = 1 << 20 }

// TestWSSlowReader: the spool fills, the worker pauses, and after ten seconds without a read the worker is free again.
func TestWSSlowReader(t *testing.T) {
	gone := func(t *testing.T, g *wsRig, cancelled float64) {
		t.Helper()
		time.Sleep(closeGrace + leaveGrace)
		synctest.Wait()
		if got := metricOf(t, g.server, "tts_websockets_open"); got != 0 {
			t.Errorf("%v sockets are open, want none", got)
		}
		if got := g.counted("ws", "cancelled"); got != cancelled {
			t.Errorf("counted %v times as cancelled, want %v", got, cancelled)
		}
		if use := g.server.budget.use(); use.bytes != 0 || g.server.listening.Load() != 0 {
			t.Errorf("%d bytes stay in the spool, and %d listeners", use.bytes, g.server.listening.Load())
		}
	}
	t.Run("a client that never reads is cut after 10 s while a worker waits for it", func(t *testing.T) {
		bubble(t, newStream, func(t *testing.T, g *wsRig, stream *stream) {
			s := g.connect()
			defer s.conn.Close()
			s.speak("a", "hello")
			s.speak("b", "hello")
			time.Sleep(holdLimit - time.Nanosecond)
			synctest.Wait()
			const half = 1 << 20 / 2 / groupBlock // of the spool, which is what a client alone may have
			if stream.blocks < half-1 || stream.blocks > half+1 {
				t.Errorf("%d blocks wait, want as many as half of the spool holds: %d", stream.blocks, half)
			}
			if len(stream.ended) > 0 {
				t.Fatalf("the utterance ended early: %v", <-stream.ended)
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			if err := <-stream.ended; !errors.Is(err, speech.ErrClientSlow) && !errors.Is(err, errStopped) {
				t.Errorf("the speaker ended with %v, want client too slow", err)
			}
			gone(t, g, 2)
			if len(stream.ended) > 0 {
				t.Error("b was spoken, too")
			}
		}, littleSpool)
	})
	t.Run("one that never reads what has been spoken is cut after 30 s", func(t *testing.T) {
		for _, message := range []string{`{"text":"hello"}`, `{"text":"hello","format":"opus"}`} {
			bubble(t, newScript, func(t *testing.T, g *wsRig, _ *script) {
				s := g.connect()
				defer s.conn.Close()
				s.send(message)
				s.send(message)
				synctest.Wait()
				if got := g.server.listening.Load(); got != 1 {
					t.Errorf("%d listeners, want one", got)
				}
				time.Sleep(stallLimit - time.Nanosecond)
				synctest.Wait()
				if got := g.counted("ws", "cancelled"); got != 0 {
					t.Errorf("counted %v times as cancelled before the time is over", got)
				}
				time.Sleep(time.Nanosecond)
				gone(t, g, 2)
			})
		}
	})
	t.Run("one that reads again learns why", func(t *testing.T) {
		bubble(t, newStream, func(_ *testing.T, g *wsRig, _ *stream) {
			s := g.connect()
			defer s.conn.Close()
			s.speak("a", "hello")
			time.Sleep(holdLimit + closeGrace - time.Nanosecond)
			s.wantClose(websocket.ClosePolicyViolation, "client too slow")
		}, littleSpool)
		bubble(t, newScript, func(_ *testing.T, g *wsRig, _ *script) {
			s := g.connect()
			defer s.conn.Close()
			s.speak("a", "hello")
			time.Sleep(stallLimit + closeGrace - time.Nanosecond)
			s.wantClose(websocket.ClosePolicyViolation, "client too slow")
		})
	})
	t.Run("one that takes a message every ten seconds goes on", func(t *testing.T) {
		bubble(t, newStream, func(t *testing.T, g *wsRig, stream *stream) {
			s := g.connect()
			defer s.leave()
			s.speak("a", "hello")
			var before int
			for i := range 10 {
				time.Sleep(holdLimit - time.Millisecond)
				synctest.Wait()
				if i == 0 {
					before = stream.blocks
				}
				s.next()
			}
			synctest.Wait()
			if len(stream.ended) > 0 {
				t.Fatalf("the utterance ended: %v", <-stream.ended)
			}
			if stream.blocks <= before {
				t.Error("the worker does not go on when the client takes something")
			}
			s.send(`{"type":"cancel"}`)
			s.last("cancelled")
		}, littleSpool)
	})
	t.Run("answers overtake the audio that waits", func(t *testing.T) {
		bubble(t, newStream, func(t *testing.T, g *wsRig, _ *stream) {
			s := g.connect()
			defer s.leave()
			s.speak("a", "hello")
			time.Sleep(time.Second) // the spool is full
			for range 100 {
				s.send(`{"type":"ping"}`)
			}
			s.speak("b", "")
			synctest.Wait()
			var audio int
			for _, m := range s.until("error") {
				if m.audio != nil {
					audio++
				}
			}
			if audio > 1 {
				t.Errorf("%d blocks of audio came before the answers, want at most the one on its way", audio)
			}
			s.send(`{"type":"cancel"}`)
			s.last("cancelled")
		}, littleSpool)
	})
	t.Run("a client that only ever asks is cut too", func(t *testing.T) {
		bubble(t, newScript, func(t *testing.T, g *wsRig, _ *script) {
			s := g.connect()
			defer s.conn.Close()
			begin := time.Now()
			// the pong is as long
			ping := []byte(`{"type":"ping","request_id":"` + strings.Repeat("a", speech.MaxRequestID) + `"}`)
			kept := 0
			var stopped time.Duration
			for {
				before := time.Now()
				if s.conn.WriteMessage(websocket.TextMessage, ping) != nil {
					break
				}
				if blocked := time.Since(before); blocked == 0 {
					kept++
				} else {
					stopped = time.Since(begin)
				}
				time.Sleep(time.Millisecond) // or the time to answer our close never ends
			}
			if stopped != stallLimit {
				t.Errorf("the server read on after %v, want that it had stopped until it gave the client up after %v",
					stopped, stallLimit)
			}
			if got, want := time.Since(begin), stallLimit+closeGrace+leaveGrace; got > want {
				t.Errorf("cut after %v, want %v", got, want)
			}
			if size := len(ping) * min(kept, answerRoom/len(ping)+2); size > answerRoom+1<<10 || size < answerRoom {
				t.Errorf("%d bytes of answers were kept, want as many as there is room for", size)
			}
		})
	})
}

func TestWSUtteranceTimeLimit(t *testing.T) {
	t.Run("120 s from its turn", func(t *testing.T) {
		bubble(t, newStage, func(t *testing.T, g *wsRig, stage *stage) {
			s := g.connect()
			defer s.leave()
			s.speak("a", "hello")
			s.speak("b", "hello")
			for i, id := range []string{"a", "b"} {
				begin := time.Now()
				s.wantError(id, 504, "timeout", "timeout")
				if got := time.Since(begin); got != speech.UtteranceTimeout {
					t.Errorf("utterance %d ended after %v, want %v", i, got, speech.UtteranceTimeout)
				}
				if err := <-stage.ended; !errors.Is(err, speech.ErrTimeout) {
					t.Errorf("the speaker ended with %v, want timeout", err)
				}
			}
			s.wantAlive()
			if got := g.counted("ws", 504); got != 2 {
				t.Errorf("counted %v times as 504, want 2", got)
			}
		})
	})
	t.Run("and just before is in time", func(t *testing.T) {
		speaker := &script{SpeakFunc: func(ctx context.Context, u speech.Utterance,
			sink speech.Sink) (speech.Stats, error) {
			return speakUntil(u, sink, func() error {
				select {
				case <-time.After(speech.UtteranceTimeout - time.Nanosecond):
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			})
		}}
		bubble(t, func() *script { return speaker }, func(_ *testing.T, g *wsRig, _ *script) {
			s := g.connect()
			defer s.leave()
			s.speak("a", "hello")
			s.last("end")
		})
	})
	t.Run("also while the client is what is waited for", func(t *testing.T) {
		bubble(t, newStream, func(t *testing.T, g *wsRig, stream *stream) {
			s := g.connect()
			defer s.leave()
			s.speak("a", "hello")
			begin := time.Now()
			m := s.next()
			for m.typ() != "error" {
				time.Sleep(holdLimit / 2)
				m = s.next()
			}
			if got := time.Since(begin); got < speech.UtteranceTimeout || got > speech.UtteranceTimeout+holdLimit {
				t.Errorf("ended after %v, want %v", got, speech.UtteranceTimeout)
			}
			if m.id() != "a" || m.event["error"] != "timeout" || m.event["status"] != 504.0 {
				t.Errorf("ended with %s, want a timeout of a", m.text)
			}
			if err := <-stream.ended; !errors.Is(err, speech.ErrUnreadAudio) && !errors.Is(err, errStopped) {
				t.Errorf("the speaker ended with %v, want %v", err, speech.ErrUnreadAudio)
			}
		}, littleSpool)
	})
}

// TestWSWaitingInTheConnectionIsNotWaitingForAWorker: the speaker, whose queue has a limit of two seconds, is asked
// only in turn.
func TestWSWaitingInTheConnectionIsNotWaitingForAWorker(t *testing.T) {
	var asked []time.Time
	speaker := &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		asked = append(asked, time.Now())
		return speakUntil(u, sink, func() error {
			time.Sleep(time.Minute)
			return nil
		})
	}}
	bubble(t, func() *script { return speaker }, func(t *testing.T, g *wsRig, _ *script) {
		s := g.connect()
		defer s.leave()
		begin := time.Now()
		for _, id := range []string{"a", "b", "c"} {
			s.speak(id, "hello")
		}
		var first []float64
		for range 3 {
			first = append(first, s.last("first_audio_ms").event["ms"].(float64))
		}
		s.last("end")
		for i, at := range asked {
			if got, want := at.Sub(begin), time.Duration(i)*time.Minute; got != want {
				t.Errorf("utterance %d was asked for after %v, want %v", i, got, want)
			}
			if got, want := first[i], float64(i)*60_000; got != want {
				t.Errorf("first audio of utterance %d after %v ms, want %v: from its message on", i, got, want)
			}
		}
	})
}

// TestWSCloseHandshakeIsBounded: a client that never answers our close does not keep the connection.
func TestWSCloseHandshakeIsBounded(t *testing.T) {
	bubble(t, newScript, func(t *testing.T, g *wsRig, _ *script) {
		s := g.connect()
		defer s.conn.Close()
		s.conn.SetCloseHandler(func(int, string) error { return nil })
		s.send("\xff")
		s.wantClose(websocket.CloseInvalidFramePayloadData, "not valid UTF-8")
		for i := range 4 { // what is said now counts for nothing, not even as a sign of life
			time.Sleep(time.Second)
			if err := s.conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"ping"}`)); err != nil {
				t.Fatalf("message %d: %v", i, err)
			}
		}
		time.Sleep(closeGrace - 4*time.Second)
		synctest.Wait()
		if got := metricOf(t, g.server, "tts_websockets_open"); got != 0 {
			t.Errorf("%v sockets are open, want none", got)
		}
	})
}

// TestWSNothingBeginsOnASocketThatIsShut: a fault makes room in the spool, which is not for the next utterance.
func TestWSNothingBeginsOnASocketThatIsShut(t *testing.T) {
	bubble(t, newStream, func(t *testing.T, g *wsRig, stream *stream) {
		s := g.connect()
		defer s.conn.Close()
		s.speak("a", "hello")
		s.speak("b", "hello")
		time.Sleep(time.Second) // the spool is full
		s.ask("\xff")
		s.wantClose(websocket.CloseInvalidFramePayloadData, "not valid UTF-8")
		time.Sleep(leaveGrace)
		synctest.Wait()
		if n := len(stream.ended); n != 1 {
			t.Errorf("%d utterances were spoken, want one", n)
		}
		if got := g.counted("ws", "cancelled"); got != 2 {
			t.Errorf("counted %v times as cancelled, want 2", got)
		}
	}, littleSpool)
}

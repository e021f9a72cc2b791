package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// The tests of this file are about utterances that are spoken long before their client has heard them.

// hear reads up to the first message of the given type, as fast as the audio sounds, and returns it and how many
// frames came before.
func (s *socket) hear(typ string) (last got, frames int) {
	s.t.Helper()
	for {
		m := s.next()
		if m.typ() == typ {
			return m, frames
		}
		n := len(m.audio) / speech.FrameBytes
		frames += n
		time.Sleep(time.Duration(n) * speech.FrameDuration)
	}
}

// speakFor asks for an utterance that [atLength] speaks for so long.
func (s *socket) speakFor(id string, seconds int) {
	s.t.Helper()
	s.speak(id, fmt.Sprint(seconds))
}

// atLength speaks texts such as 10 for so many seconds, an eighth of that long, until it is stopped.
func atLength() *script {
	speak := func(ctx context.Context, u speech.Utterance, sink speech.Sink) (st speech.Stats, err error) {
		var seconds int
		if _, err := fmt.Sscan(u.Text, &seconds); err != nil {
			return st, err
		}
		st.Started = true
		chunk := speech.Chunk{Text: u.Text, CharEnd: 2}
		if err := errors.Join(sink.Start(startOf(u)), sink.ChunkStart(chunk)); err != nil {
			return st, err
		}
		for all := seconds * 25 / 2; st.Frames < all; {
			n := min(4, all-st.Frames)
			select {
			case <-time.After(time.Duration(n) * speech.FrameDuration / 8):
			case <-ctx.Done():
				return st, context.Cause(ctx)
			}
			st.Frames += n
			if err := sink.Audio(speech.Audio{Frames: n, Data: frames(0, n)}); err != nil {
				return st, err
			}
		}
		st.Chunks++
		return st, sink.ChunkEnd(speech.ChunkEnd{Frames: st.Frames, EOS: true})
	}
	return &script{SpeakFunc: speak}
}

func TestWSTheNextUtteranceIsSpokenWhenTheOneBeforeIsEncoded(t *testing.T) {
	bubbleLocal(t, 1, synthtest.Config{Before: atRTF(.12)}, func(t *testing.T, g *wsRig, l local) {
		s := g.connect()
		defer s.leave()
		for _, id := range []string{"a", "b"} {
			s.send(strings.Replace(twelveSeconds, "{", `{"request_id":"`+id+`",`, 1))
		}
		time.Sleep(2 * time.Second)
		if c := l.Capacity(); c.Busy != 1 {
			t.Errorf("capacity %+v after 2 s, want b being spoken", c)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if c := l.Capacity(); c.Busy != 0 {
			t.Errorf("capacity %+v after 3 s, want both spoken, though nothing was read", c)
		}
		for i, id := range []string{"a", "b"} {
			begin := time.Now()
			end, frames := s.hear("end")
			if end.id() != id || frames < 150 {
				t.Errorf("ended %s after %d frames, want %s after 12 s of audio", end.text, frames, id)
			}
			if took := time.Since(begin); i == 1 && took < 11*time.Second {
				t.Errorf("b was heard in %v", took)
			}
		}
	})
}

// TestWSARefusalOvertakesAudio: the 2 s of b begin when a is encoded, and that it was refused is told at once.
func TestWSARefusalOvertakesAudio(t *testing.T) {
	var asked time.Time
	l := &script{TurnFunc: func(turn speech.Turn) { asked = turn.QueuedSince }}
	speaks := atLength()
	l.SpeakFunc = func(ctx context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		if u.RequestID != "b" {
			return speaks.Speak(ctx, u, speech.Turn{}, sink)
		}
		time.Sleep(time.Until(asked.Add(queueWait)))
		return speech.Stats{}, speech.ErrBusy
	}
	bubble(t, func() *script { return l }, func(t *testing.T, g *wsRig, _ *script) {
		s := g.connect()
		defer s.leave()
		begin := time.Now()
		s.speakFor("a", 80)
		s.speakFor("b", 1)
		s.speakFor("c", 1)
		m, frames := s.hear("error")
		if m.id() != "b" || m.event["status"] != float64(http.StatusServiceUnavailable) || frames > 12500/80 {
			t.Errorf("%s after %d frames, want that b is busy", m.text, frames)
		}
		if took, want := time.Since(begin), 10*time.Second+queueWait; took < want || took > want+time.Second {
			t.Errorf("told after %v, want 10 s of speaking a and %v of waiting", took, queueWait)
		}
		for _, id := range []string{"a", "c"} {
			if end, _ := s.hear("end"); end.id() != id {
				t.Errorf("ended %s, want %s", end.text, id)
			}
		}
	})
}

// TestWSTheLimitBeginsWithTheEndBefore: two utterances of 100 s are heard at the pace of playback, though both were
// spoken at once.
func TestWSTheLimitBeginsWithTheEndBefore(t *testing.T) {
	bubble(t, atLength, func(t *testing.T, g *wsRig, _ *script) {
		s := g.connect()
		defer s.leave()
		for _, id := range []string{"a", "b"} {
			s.speakFor(id, 100)
		}
		for _, id := range []string{"a", "b"} {
			if end, frames := s.hear("end"); end.id() != id || frames != 1250 {
				t.Errorf("%s after %d frames, want the end of %s after 1250", end.text, frames, id)
			}
		}
	})
}

func TestWSWhoPaysForWhatIsNotHeard(t *testing.T) {
	for name, tt := range map[string]struct {
		seconds int
		listen  func(t *testing.T, s *socket)
		want    string
	}{
		"heard at the pace of playback": {60, func(_ *testing.T, s *socket) { s.hear("end") },
			"ws anjura pcm16 750/750 ok"},
		"three minutes heard as they sound": {180, func(t *testing.T, s *socket) {
			begin := time.Now()
			m, frames := s.hear("error")
			if m.event["error"] != "timeout" || m.event["status"] != 504.0 || frames != 1504 {
				t.Errorf("%s after %d frames, want a timeout after the 1500 of 120 s, and what was on its way", m.text,
					frames)
			}
			if took := time.Since(begin); took < speech.UtteranceTimeout ||
				took > speech.UtteranceTimeout+time.Second {
				t.Errorf("told after %v, want 120 s", took)
			}
		}, "ws anjura pcm16 2250/1500 timeout timeout: audio was waiting for the client"},
		"left after a second": {60, func(_ *testing.T, s *socket) {
			time.Sleep(10 * time.Second)
			s.hear("first_audio_ms")
			s.conn.Close()
		}, "ws anjura pcm16 750/750 cancelled client disconnected"},
		"cancelled when all was spoken": {60, func(t *testing.T, s *socket) {
			time.Sleep(10 * time.Second)
			s.hear("first_audio_ms")
			s.send(`{"type":"cancel"}`)
			m, more := s.hear("cancelled")
			if m.event["frames"] != float64(4+more) || m.event["billed_frames"] != 750.0 || more > 12 {
				t.Errorf("%s after %d more frames, want what was sent, and that all is billed", m.text, more)
			}
		}, "ws anjura pcm16 750/750 cancelled"},
		"not read at all": {60, func(_ *testing.T, s *socket) {
			time.Sleep(stallLimit + closeGrace - time.Nanosecond)
			s.wantClose(websocket.ClosePolicyViolation, "client too slow")
		}, "ws anjura pcm16 750/750 cancelled client too slow"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBooks(t)
				g, closeRig := newBubbleRig(t, atLength(), func(c *Config) {
					c.Keys, c.Meter = everybody{"org_1"}, meter.NewRecorder(b.log)
				})
				s := g.connect()
				s.speakFor("a", tt.seconds)
				tt.listen(t, s)
				s.conn.Close()
				closeRig()
				if got, want := metricOf(t, g.server, "tts_audio_seconds_total"), b.wantTotal(tt.want); got != want {
					t.Errorf("metrics tell of %v s of audio, the books of %v", got, want)
				}
				if use := g.server.budget.use(); use.bytes != 0 || g.server.listening.Load() != 0 {
					t.Errorf("%d bytes stay in the spool, and %d listeners", use.bytes, g.server.listening.Load())
				}
			})
		})
	}
}

// TestWSStoppingWhatWasSpoken: what is stopped while audio of it and of others waits ends in order, and nothing of it
// follows its end.
func TestWSStoppingWhatWasSpoken(t *testing.T) {
	spoken := func(t *testing.T, test func(g *wsRig, s *socket)) {
		bubble(t, atLength, func(_ *testing.T, g *wsRig, _ *script) {
			s := g.connect()
			defer s.conn.Close()
			for _, id := range []string{"a", "b", "c"} {
				s.speakFor(id, 8)
			}
			s.hear("first_audio_ms") // of a
			time.Sleep(5 * time.Second)
			synctest.Wait() // all are spoken
			test(g, s)
		})
	}
	ends := func(s *socket, n int) (all string) {
		for len(strings.Fields(all)) < n {
			if m := s.next(); m.typ() == "end" || m.typ() == "cancelled" || m.typ() == "error" || m.typ() == "start" {
				all += " " + m.typ() + ":" + m.id()
			}
		}
		return strings.TrimSpace(all)
	}
	t.Run("the one that is heard", func(t *testing.T) {
		spoken(t, func(_ *wsRig, s *socket) {
			s.ask(`{"type":"cancel","request_id":"a"}`)
			if got, want := ends(s, 5), "cancelled:a start:b end:b start:c end:c"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	})
	t.Run("one of which nothing was heard", func(t *testing.T) {
		spoken(t, func(_ *wsRig, s *socket) {
			s.ask(`{"type":"cancel","request_id":"b"}`)
			if got, want := ends(s, 4), "end:a cancelled:b start:c end:c"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	})
	t.Run("all of them", func(t *testing.T) {
		spoken(t, func(g *wsRig, s *socket) {
			s.ask(`{"type":"cancel"}`)
			if got, want := ends(s, 3), "cancelled:a cancelled:b cancelled:c"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			s.speakFor("a", 1)
			if got, want := ends(s, 2), "start:a end:a"; got != want {
				t.Errorf("got %s, want %s: the id is free", got, want)
			}
			if got := g.counted("ws", "cancelled"); got != 3 {
				t.Errorf("counted %v times as cancelled, want 3", got)
			}
		})
	})
	t.Run("an id is in use until its end was sent", func(t *testing.T) {
		spoken(t, func(_ *wsRig, s *socket) {
			for _, id := range []string{"a", "b", "c"} {
				s.speakFor(id, 1)
				s.wantError(id, 400, "request_id: already in use on this connection", "bad_request")
			}
		})
	})
	t.Run("by leaving", func(t *testing.T) {
		spoken(t, func(g *wsRig, s *socket) {
			s.leave()
			waitFor(t, g.server)
			if got := g.counted("ws", "cancelled"); got != 3 {
				t.Errorf("counted %v times as cancelled, want 3", got)
			}
		})
	})
	t.Run("by draining, which waits", func(t *testing.T) {
		spoken(t, func(g *wsRig, s *socket) {
			g.server.Drain()
			s.speakFor("d", 1)
			synctest.Wait()
			if got, want := ends(s, 6), "error:d end:a start:b end:b start:c end:c"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			s.wantClose(websocket.CloseGoingAway, "draining")
		})
	})
	t.Run("by the end of the key", func(t *testing.T) {
		bubbleRevoking(t, atLength, func(t *testing.T, g revoking, _ *script) {
			s := g.with(g.key)
			defer s.conn.Close()
			for _, id := range []string{"a", "b"} {
				s.speakFor(id, 8)
			}
			s.hear("first_audio_ms")
			time.Sleep(5 * time.Second)
			synctest.Wait()
			g.revoke()
			synctest.Wait()
			errs, audio, closed := s.endings()
			const ended = "invalid api key"
			if audio > 1 || !strings.Contains(errs["a"], ended) || !strings.Contains(errs["b"], ended) {
				t.Errorf("%d blocks of audio, errors %v; want at most the block on its way and an error for each",
					audio, errs)
			}
			if !websocket.IsCloseError(closed, websocket.ClosePolicyViolation) {
				t.Errorf("the socket ended with %v, want close 1008", closed)
			}
		})
	})
}

// TestWSWithoutRoomTheNextOneTakesNoWorker: it would only hold it until the one before has been heard.
func TestWSWithoutRoomTheNextOneTakesNoWorker(t *testing.T) {
	var asked []time.Duration
	begin := time.Time{}
	speaks := atLength()
	l := &script{TurnFunc: func(turn speech.Turn) {
		asked = append(asked, time.Since(begin))
		if ago := time.Since(turn.QueuedSince); ago != 0 {
			t.Errorf("utterance %d was asked for %v ago", len(asked), ago)
		}
	}, SpeakFunc: func(ctx context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		return speaks.Speak(ctx, u, speech.Turn{}, sink)
	}}
	bubble(t, func() *script { return l }, func(t *testing.T, g *wsRig, _ *script) {
		s := g.connect()
		defer s.leave()
		begin = time.Now()
		s.speakFor("a", 8)
		s.speakFor("b", 1)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if use := g.server.budget.use(); use.waits != 0 || use.bytes < 2*playbackRate {
			t.Errorf("the spool: %+v, want a in it, and that no worker has waited", use)
		}
		s.hear("end")
		s.hear("end")
		if len(asked) != 2 || asked[1] < 20*time.Second || asked[1] > 21*time.Second {
			t.Errorf("the speaker was asked after %v, want for b when some of a was heard", asked)
		}
	}, func(c *Config) { c.Spool = 825_000 }) // a just fits, and takes half
}

func TestWSUtterancesThatWaitToBeHeardCount(t *testing.T) {
	bubble(t, atLength, func(t *testing.T, g *wsRig, _ *script) {
		s := g.connect()
		defer s.leave()
		for i := range 1 + maxWaiting {
			s.speakFor(fmt.Sprint(i), 1)
		}
		time.Sleep(time.Minute / 4)
		synctest.Wait() // all are spoken
		s.speakFor("over", 1)
		synctest.Wait() // it is refused; while we read, others may end first, and make room for it
		s.wantError("over", http.StatusServiceUnavailable, "busy", "busy")
		s.last("end")
		s.speakFor("33", 1)
		for i := 1; i <= 33; i++ {
			if m := s.last("end"); m.id() != fmt.Sprint(i) {
				t.Fatalf("ended %s, want %d", m.text, i)
			}
		}
	})
}

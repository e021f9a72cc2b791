package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// feed sends an append of text to the utterance called id.
func (s *socket) feed(id, text string) {
	s.t.Helper()
	s.send(fmt.Sprintf(`{"type":"append","request_id":%q,"text":%q}`, id, text))
}

// types reads up to the last event of an utterance and returns the types of all that came, blocks of audio as one.
func (s *socket) types(last string) string {
	s.t.Helper()
	var all []string
	for _, m := range s.until(last) {
		if n := len(all); m.typ() != "audio" || n == 0 || all[n-1] != "audio" {
			all = append(all, m.typ())
		}
	}
	return strings.Join(all, " ")
}

func TestWSFedTextIsOneUtterance(t *testing.T) {
	g := newWSRig(t, &script{})
	s := g.connect()
	defer s.conn.Close()
	s.send(`{"type":"append","request_id":"a","text":"Namaste ji ","voice":"raj","seed":7,"timestamps":"words","format":"wav"}`)
	for _, token := range []string{"", "kaise", " ho", "?", " Main", " theek hoon."} {
		s.feed("a", token)
	}
	s.send(`{"type":"flush","request_id":"a"}`)
	s.feed("a", "Kal milte")
	s.send(`{"type":"finish","request_id":"a"}`)
	all := s.until("end")
	want := []string{
		`{"type":"start","request_id":"a","voice":"raj","format":"pcm16","chunks":1,"normalized":"Namaste ji kaise ho?","seed":7,` +
			`"queue_ms":2.3,"model":"fake","timestamps":"words","fed":true}`,
		`{"type":"chunk","request_id":"a","chunk":0,"text":"Namaste ji kaise ho?","tokens":1,"audio_start_s":0,"char_start":0,"char_end":0}`,
	}
	var events []string
	frames := 0
	for _, m := range all {
		if m.audio != nil {
			frames += len(m.audio) / speech.FrameBytes
			continue
		}
		events = append(events, m.text)
	}
	for i, w := range want {
		if events[i] != w {
			t.Errorf("event %d\n got %s\nwant %s", i, events[i], w)
		}
	}
	var order []string
	for _, e := range events {
		kind, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
		order = append(order, kind)
	}
	got := strings.Join(order, " ")
	if got != "start chunk first_audio_ms words chunk_end chunk words chunk_end flushed chunk words chunk_end end" {
		t.Errorf("events %s", got)
	}
	if frames != 15 {
		t.Errorf("%d frames, want 15", frames)
	}
	for _, part := range []string{
		`{"type":"flushed","request_id":"a","audio_s":0.8,"char_end":37}`, `"chunk":2,"text":"Kal milte"`, `"frames":15,"chunks":3,`,
	} {
		if !strings.Contains(strings.Join(events, "\n"), part) {
			t.Errorf("no %s in\n%s", part, strings.Join(events, "\n"))
		}
	}
}

func TestWSFedRefusals(t *testing.T) {
	hold := make(chan struct{})
	g := newWSRig(t, &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
		sink speech.Sink) (speech.Stats, error) {
		if u.Text == "hold" {
			<-hold
		}
		return speakFrames(u, sink, 1)
	}})
	s := g.connect()
	defer s.conn.Close()
	refusal := func(message, id string, status int, text, code string) {
		t.Helper()
		s.send(message)
		s.wantError(id, status, text, code)
	}
	refusal(`{"type":"append","text":"x"}`, "", 400, "request_id: an append needs one", "bad_request")
	refusal(`{"type":"append","text":"x","request_id":"a b"}`, "", 400, errRequestID.Error(), "bad_request")
	refusal(`{"type":"append","text":7,"request_id":"a"}`, "a", 400, "text: must be a string", "bad_text")
	refusal(`{"type":"append","text":"\ud83d","request_id":"a"}`, "a", 400, "text: not valid UTF-8", "bad_text")
	refusal(`{"type":"append","text":"x\u0000","request_id":"a"}`, "a", 400, "text: must not contain NUL", "bad_text")
	refusal(`{"type":"append","text":"x","request_id":"a","voice":"x"}`, "a", 400, "unknown voice 'x'; see /v1/voices",
		"unknown_voice")
	refusal(`{"type":"append","text":"x","request_id":"a","format":"mp3"}`, "a", 400, speech.ErrBadFormat.Error(),
		"bad_format")
	refusal(`{"type":"append","text":"`+strings.Repeat("x", 4001)+`","request_id":"a"}`, "a", 413,
		speech.ErrTextTooLong.Error(), "text_too_long")
	for _, typ := range []string{"flush", "finish"} {
		refusal(`{"type":"`+typ+`","request_id":"a"}`, "a", 400, "request_id: not in use", "bad_request")
		refusal(`{"type":"`+typ+`"}`, "", 400, "request_id: not in use", "bad_request")
	}
	s.speak("whole", "hold")
	refusal(`{"type":"append","text":"x","request_id":"whole"}`, "whole", 400, errIDInUse.Error(), "bad_request")
	refusal(`{"type":"flush","request_id":"whole"}`, "whole", 400, "request_id: not in use", "bad_request")
	s.feed("fed", "Namaste")
	refusal(`{"text":"x","request_id":"fed"}`, "fed", 400, errIDInUse.Error(), "bad_request")
	s.send(`{"type":"finish"}`)
	refusal(`{"type":"append","text":"x","request_id":"fed"}`, "fed", 400, errIDInUse.Error(), "bad_request")
	refusal(`{"type":"finish","request_id":"fed"}`, "fed", 400, "request_id: not in use", "bad_request")
	close(hold)
	s.last("end")
	if m := s.last("end"); m.id() != "fed" {
		t.Errorf("%s, want the end of what was fed", m.text)
	}
}

// ends reads up to the end of an utterance, or the error that ends it.
func (s *socket) ends() got {
	s.t.Helper()
	for {
		if m := s.next(); m.typ() == "end" || m.typ() == "error" {
			return m
		}
	}
}

func TestWSFedTextHasLimits(t *testing.T) {
	s := newWSRig(t, &script{}).connect()
	defer s.conn.Close()
	for n, want := range map[int]any{3999: nil, 4000: nil, 4001: speech.ErrTextTooLong.Error()} {
		id := fmt.Sprint(n)
		for range 39 {
			s.feed(id, strings.Repeat("theek aaj ", 10))
		}
		s.feed(id, strings.Repeat("x", n-3900)+" ")
		if want == nil {
			s.send(`{"type":"finish","request_id":"` + id + `"}`)
		}
		if m := s.ends(); m.event["error"] != want || m.id() != id {
			t.Errorf("%d code points: %s", n, m.text)
		}
	}
	for n, want := range map[int]any{63: nil, 64: nil, 65: "text splits into 65 chunks; max 64"} {
		id := fmt.Sprint(n)
		s.feed(id, strings.Repeat("Aap kaise hain? ", n))
		if want == nil { // what was refused has no id any more that could be finished
			s.send(`{"type":"finish","request_id":"` + id + `"}`)
		}
		if m := s.ends(); m.event["error"] != want || m.id() != id {
			t.Errorf("%d chunks: %s", n, m.text)
		}
	}
}

func TestWSFedWithoutAWord(t *testing.T) {
	g := newWSRig(t, &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
		sink speech.Sink) (speech.Stats, error) {
		if !strings.ContainsAny(u.Text, "abcdefghijklmnopqrstuvwxyz") {
			return speech.Stats{}, speech.ErrNothingToSay
		}
		return speakFrames(u, sink, 1)
	}})
	s := g.connect()
	defer s.conn.Close()
	s.feed("a", "… !")
	s.send(`{"type":"flush"}`)
	s.send(`{"type":"finish"}`)
	if got := s.types("end"); got != "flushed end" {
		t.Errorf("events %s", got)
	}
	s.feed("b", "")
	s.send(`{"type":"finish"}`)
	if m := s.last("end"); m.event["frames"] != 0.0 || m.id() != "b" {
		t.Errorf("an empty utterance: %s", m.text)
	}
}

// TestWSSeveralAreFedAtOnce: they are spoken in the order of their first messages.
func TestWSSeveralAreFedAtOnce(t *testing.T) {
	g := newWSRig(t, &script{})
	s := g.connect()
	defer s.conn.Close()
	s.feed("a", "Aap kaise hain? ")
	s.feed("b", "Main theek")
	s.speak("c", "hello")
	s.feed("a", "Kal milte hain.")
	s.feed("b", " hoon. ")
	s.send(`{"type":"flush"}`) // of b, the newest
	s.send(`{"type":"finish","request_id":"b"}`)
	s.send(`{"type":"finish","request_id":"a"}`)
	var order []string
	for len(order) < 4 {
		if m := s.next(); m.typ() == "end" || m.typ() == "flushed" {
			order = append(order, m.typ()+" "+m.id())
		}
	}
	if got := strings.Join(order, ", "); got != "end a, flushed b, end b, end c" {
		t.Errorf("they end as %s", got)
	}
}

// sentences is a speaker that needs a second for each, and knows how it was asked.
type sentences struct {
	script
	mu    sync.Mutex
	turns []speech.Turn
	busy  int
}

func newSentences() *sentences {
	s := &sentences{}
	s.TurnFunc = func(turn speech.Turn) {
		s.mu.Lock()
		s.turns = append(s.turns, turn)
		s.mu.Unlock()
	}
	s.SpeakFunc = func(ctx context.Context, u speech.Utterance, sink speech.Sink) (st speech.Stats, err error) {
		st.Started = true
		s.count(1)
		defer s.count(-1)
		if err := errors.Join(sink.Start(startOf(u)),
			sink.ChunkStart(speech.Chunk{Text: u.Text, Tokens: 1, CharEnd: len(u.Text)})); err != nil {
			return st, err
		}
		for range 10 {
			st.Frames++
			if err := sink.Audio(speech.Audio{Frames: 1, Data: frames(0, 1)}); err != nil {
				return st, err
			}
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
				return st, context.Cause(ctx)
			}
		}
		st.Chunks, st.Chars = 1, len(u.Text)
		return st, sink.ChunkEnd(speech.ChunkEnd{Frames: st.Frames, EOS: true})
	}
	return s
}

func (s *sentences) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy += n
}

func (s *sentences) speaking() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy
}

func TestWSFedWhileTheInputIsSilentNoWorkerIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		speaker := newSentences()
		g, closeRig := newBubbleRig(t, speaker)
		defer closeRig()
		s := g.connect()
		defer s.conn.Close()
		s.feed("a", "Aap kaise hain? ")
		s.until("chunk_end")
		synctest.Wait()
		if n := speaker.speaking(); n != 0 {
			t.Errorf("%d workers are held between sentences", n)
		}
		go func() {
			time.Sleep(10 * time.Minute) // nobody else waits, so it is not finished, and no limit of time runs
			s.feed("a", "Main theek hoon. ")
			s.send(`{"type":"finish"}`)
		}()
		end := s.last("end")
		if end.event["frames"] != 20.0 || strings.Contains(end.text, "finished_by") {
			t.Errorf("end %s", end.text)
		}
		if turns := speaker.turns; !turns[0].StartedAt.IsZero() || turns[1].StartedAt.IsZero() ||
			turns[0].Session != turns[1].Session {
			t.Errorf("turns %+v", turns)
		}
	})
}

func TestWSFedNothingWhileAnotherWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, closeRig := newBubbleRig(t, newSentences())
		defer closeRig()
		s := g.connect()
		defer s.conn.Close()
		s.feed("a", "Aap kaise hain? ")
		s.until("chunk_end")
		time.Sleep(5 * time.Second)
		begin := time.Now()
		s.speak("b", "hello") // from now on somebody waits
		end := s.last("end")
		if end.id() != "a" || end.event["finished_by"] != "idle" || time.Since(begin) != feedIdle {
			t.Errorf("after %v: %s", time.Since(begin), end.text)
		}
		if end := s.last("end"); end.id() != "b" {
			t.Errorf("end %s", end.text)
		}
	})
}

func TestWSFedIsCancelled(t *testing.T) {
	for _, message := range []string{`{"type":"clear"}`, `{"type":"cancel","request_id":"a"}`,
		`{"type":"clear","request_id":"a"}`} {
		synctest.Test(t, func(t *testing.T) {
			b := newBooks(t)
			speaker := newSentences()
			g, closeRig := newBubbleRig(t, speaker,
				func(c *Config) { c.Keys, c.Meter = everybody{"org_1"}, meter.NewRecorder(b.log) })
			defer closeRig()
			s := g.connect()
			defer s.conn.Close()
			s.feed("a", "Aap kaise hain? Main theek hoon. Kal milte hain. ")
			s.send(`{"type":"flush"}`)
			s.until("chunk_end")
			s.until("chunk")
			time.Sleep(250 * time.Millisecond)
			go s.send(message)
			all := s.until("cancelled")
			m := all[len(all)-1]
			if frames, _ := m.event["frames"].(float64); frames < 10 || frames > 13 ||
				m.event["billed_frames"] != 13.0 {
				t.Errorf("%s", m.text)
			}
			synctest.Wait()
			if n := speaker.speaking(); n != 0 {
				t.Error("a worker is held")
			}
			b.want("ws anjura pcm16 13/13 cancelled")
			s.feed("a", "Phir milenge bhai. ") // the id is free
			s.send(`{"type":"finish"}`)
			s.until("end")
			b.want("ws anjura pcm16 10/10 ok")
		})
	}
}

// TestWSFedWhatEndsItIsBilledOnce: whatever ends an utterance that is fed, what was spoken of it is one record.
func TestWSFedWhatEndsItIsBilledOnce(t *testing.T) {
	tests := []struct {
		name string
		end  func(g *wsRig, s *socket, revoke func())
		want string
	}{
		{"finish", func(_ *wsRig, s *socket, _ func()) { s.send(`{"type":"finish"}`); s.until("end") }, "20/20 ok"},
		{"close", func(_ *wsRig, s *socket, _ func()) { s.conn.Close() }, "20/20 cancelled client disconnected"},
		{"key", func(_ *wsRig, s *socket, revoke func()) {
			revoke()
			s.wantError("a", 401, "invalid api key", "invalid_key")
		}, "20/20 cancelled invalid api key"},
		{"too long", func(_ *wsRig, s *socket, _ func()) { s.feed("a", strings.Repeat("x", 4000)); s.until("error") }, "20/20 cancelled"},
		{"drain", func(g *wsRig, s *socket, _ func()) {
			g.server.Drain()
			s.feed("a", "Aur ek baat hai. ") // what has begun goes on
			s.send(`{"type":"finish"}`)
			s.until("end")
			s.wantClose(1001, "draining")
		}, "30/30 ok"},
		{"drain without a finish", func(g *wsRig, s *socket, _ func()) {
			g.server.Drain()
			begin := time.Now()
			if m := s.last("end"); m.event["finished_by"] != "idle" || time.Since(begin) != feedIdle {
				s.t.Errorf("after %v: %s", time.Since(begin), m.text)
			}
			s.wantClose(1001, "draining")
		}, "20/20 ok"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBooks(t)
				key, entry := newKey()
				ring := ringOf(entry)
				speaker := newSentences()
				g, closeRig := newBubbleRig(t, speaker,
					func(c *Config) { c.Keys, c.Meter = ring, meter.NewRecorder(b.log) })
				defer closeRig()
				s := g.connect("X-Api-Key", key)
				defer s.conn.Close()
				s.feed("a", "Aap kaise hain? Main theek hoon. ")
				s.until("chunk_end")
				s.until("chunk_end")
				tt.end(g, s, func() { ring.Apply(revoked(entry)) })
				synctest.Wait()
				b.want("ws anjura pcm16 " + tt.want)
				if n := speaker.speaking(); n != 0 {
					t.Error("a worker is held")
				}
			})
		})
	}
}

func TestWSFedOpusIsAChainOfStreams(t *testing.T) {
	g := newWSRig(t, newWarmLocal(t, 1, synthtest.Config{}))
	s := g.connect()
	defer s.conn.Close()
	s.send(`{"type":"append","request_id":"a","text":"Aap kaise hain? Main theek hoon. ","format":"opus"}`)
	s.send(`{"type":"finish"}`)
	var audio []byte
	for _, m := range s.until("end") {
		audio = append(audio, m.audio...)
	}
	if n := strings.Count(string(audio), "OpusHead"); n != 2 {
		t.Errorf("%d streams, want one for each sentence", n)
	}
}

// TestWSFedAbortedLeavesNothing: clients vanish while they feed. TestMain looks for goroutines.
func TestWSFedAbortedLeavesNothing(t *testing.T) {
	g := newWSRig(t, newWarmLocal(t, 1, synthtest.Config{}), quiet)
	for i := range 300 {
		s := g.connect()
		s.feed("a", "Aap kaise hain? Main")
		if i%3 == 0 {
			s.until("chunk_end")
		}
		if i%2 == 0 {
			s.send(`{"type":"flush"}`)
		}
		s.conn.NetConn().Close()
	}
	<-g.server.sockets.idle()
	if c := g.server.cfg.Speaker.Capacity(); c.Busy+c.Queued > 0 || g.server.Listeners() != 0 {
		t.Errorf("%+v and %d listeners are left", c, g.server.Listeners())
	}
	if use := g.server.budget.use(); use.bytes != 0 {
		t.Errorf("%d bytes of audio are left", use.bytes)
	}
}

package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// openCartesia opens a socket as LiveKit does.
func (g *wsRig) openCartesia(key string) *socket {
	g.t.Helper()
	return g.to("/tts/websocket?cartesia_version=2025-04-16", "Authorization", "", "X-Api-Key", key)
}

const cartesiaTimes = `,"add_timestamps":true`

// speakIn feeds a context with a message as clients send it, with more members.
func (s *socket) speakIn(context, text string, continues bool, more ...string) {
	s.t.Helper()
	s.send(fmt.Sprintf(`{"model_id":"sonic-3","voice":{"mode":"id","id":"raj"},"output_format":{"container":"raw","encoding":"pcm_s16le","sample_rate":24000},`+
		`"language":"en","max_buffer_delay_ms":0,"context_id":%q,"transcript":%q,"continue":%v%s}`, context, text, continues, strings.Join(more, "")))
}

// cartesia reads the next event, which must name its context.
func (s *socket) cartesia() (e cartesiaEvent) {
	s.t.Helper()
	m := s.next()
	if err := json.Unmarshal([]byte(m.text), &e); err != nil || e.ContextID == nil {
		s.t.Fatalf("%v: %.200s", err, m.text)
	}
	return e
}

// done reads up to the end of a context, and returns its audio and words. Events of other contexts go to others.
func (s *socket) done(context string, others ...func(cartesiaEvent)) (pcm []byte, words []string) {
	s.t.Helper()
	at := 0.0
	for {
		e := s.cartesia()
		if *e.ContextID != context {
			for _, f := range others {
				f(e)
			}
			continue
		}
		switch e.Type {
		case "chunk":
			pcm = append(pcm, e.Data...)
		case "timestamps":
			w := e.WordTimestamps
			words = append(words, w.Words...)
			for i := range w.Words {
				if w.Start[i] < at || w.End[i] < w.Start[i] {
					s.t.Errorf("%s is heard from %v to %v, behind %v", w.Words[i], w.Start[i], w.End[i], at)
				}
				at = w.Start[i]
			}
		case "done":
			return pcm, words
		default:
			s.t.Fatalf("%+v came before done", e)
		}
	}
}

func TestCartesiaSpeaksContexts(t *testing.T) {
	b := newBooks(t)
	key, entry := newKey()
	g := newWSRig(t, &script{}, withDialects,
		func(c *Config) { c.Keys, c.Meter = ringOf(entry), meter.NewRecorder(b.log) })
	s := g.openCartesia(key)
	defer s.conn.Close()
	for range 2 { // under one name
		s.speakIn("a", "Namaste ji kaise ho? ", true)
		s.speakIn("a", "Main theek hoon. ", true)
		s.speakIn("a", " ", false)
		if pcm, _ := s.done("a"); !bytes.Equal(pcm, bytes.Join([][]byte{frames(0, 5), frames(0, 5)}, nil)) {
			t.Errorf("%d bytes of audio", len(pcm))
		}
		b.want("cartesia raj pcm_s16le/24000 10/10 ok")
	}
	s.speakIn("empty", " ", false)
	if pcm, _ := s.done("empty"); len(pcm) > 0 {
		t.Errorf("nothing has %d bytes", len(pcm))
	}
	s.speakIn("f", "Namaste ji kaise ho? ", true, `,"flush":true`)
	for {
		e := s.cartesia()
		if e.Type == "flush_done" {
			if e.FlushID == nil || *e.FlushID != 0 || *e.ContextID != "f" {
				t.Errorf("%+v", e)
			}
			break
		}
	}
	s.speakIn("f", "", false)
	s.done("f")
}

// TestCartesiaWords: words are those that were written, with times that only grow.
func TestCartesiaWords(t *testing.T) {
	g := newWSRig(t, newWarmLocal(t, 2, synthtest.Config{}), withDialects)
	s := g.openCartesia(testKey)
	defer s.conn.Close()
	for _, context := range []string{"one", "two"} {
		s.speakIn(context, "Namaste ji! ", true, cartesiaTimes)
		s.speakIn(context, "Aapka OTP 482913 hai. ", true)
		s.speakIn(context, "कल मिलेंगे। ", true)
	}
	s.speakIn("one", "", false)
	s.speakIn("two", "", false)
	var others []string
	_, words := s.done("one", func(e cartesiaEvent) { others = append(others, e.WordTimestamps.Words...) })
	const want = "Namaste ji! Aapka OTP 482913 hai. कल मिलेंगे।"
	if got := strings.Join(words, " "); got != want {
		t.Errorf("the words are %q", got)
	}
	if len(others) == 0 || others[0] != "Namaste" && others[0] != "Namaste!" {
		_, words = s.done("two")
		others = append(others, words...)
	}
	if got := strings.Join(others, " "); !strings.HasPrefix(got, "Namaste ji!") {
		t.Errorf("the words of the other context are %q", got)
	}
}

func TestCartesiaCancelStopsTheBill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBooks(t)
		key, entry := newKey()
		g, closeRig := newBubbleRig(t, newSentences(), withDialects,
			func(c *Config) { c.Keys, c.Meter = ringOf(entry), meter.NewRecorder(b.log) })
		defer closeRig()
		s := g.openCartesia(key)
		defer s.conn.Close()
		s.speakIn("a", "Aap kaise hain ji? Main theek hoon ji. ", true)
		for range 3 {
			s.cartesia()
		}
		begin := time.Now()
		s.send(`{"context_id": "a", "cancel": true}`)
		s.speakIn("a", "Phir se bolo na ji. ", false) // the same name at once
		if e := s.cartesia(); e.Type != "done" || *e.ContextID != "a" || time.Since(begin) > speech.FrameDuration {
			t.Errorf("%+v after %v", e, time.Since(begin))
		}
		b.want("cartesia raj pcm_s16le/24000 3/3 cancelled")
		if pcm, _ := s.done("a"); len(pcm) != 10*speech.FrameBytes {
			t.Errorf("the next turn has %d bytes", len(pcm))
		}
		b.want("cartesia raj pcm_s16le/24000 10/10 ok")
		s.send(`{"context_id": "nobody", "cancel": true}`)
		if e := s.cartesia(); e.Type != "done" || *e.ContextID != "nobody" {
			t.Errorf("%+v", e)
		}
		s.speakIn("b", "Aap kaise hain ji? Main theek hoon ji. ", true)
		s.cartesia()
		s.conn.Close() // as LiveKit for Python does
		synctest.Wait()
		b.want("cartesia raj pcm_s16le/24000 1/1 cancelled client disconnected")
	})
}

// TestCartesiaWaitsForMoreText: text without an end is spoken when nothing comes for as long as the client allows.
func TestCartesiaWaitsForMoreText(t *testing.T) {
	for delay, want := range map[string]time.Duration{"": 3 * time.Second,
		`,"max_buffer_delay_ms":0`: 250 * time.Millisecond, `,"max_buffer_delay_ms":1000`: time.Second} {
		synctest.Test(t, func(t *testing.T) {
			g, closeRig := newBubbleRig(t, newSentences(), withDialects)
			defer closeRig()
			s := g.openCartesia(testKey)
			defer s.conn.Close()
			begin := time.Now()
			s.send(`{"voice":"raj","output_format":{"container":"raw"},"context_id":"a","transcript":"Aap kaise hain na ","continue":true` + delay + `}`)
			if e := s.cartesia(); e.Type != "chunk" || time.Since(begin) != want {
				t.Errorf("%q: %s after %v, want %v", delay, e.Type, time.Since(begin), want)
			}
		})
	}
}

func TestCartesiaFailures(t *testing.T) {
	g := newWSRig(t, failing(speech.ErrBusy), withDialects)
	s := g.openCartesia("raj-key")
	defer s.conn.Close()
	s.speakIn("a", "Namaste ji kaise ho? ", false)
	if e := s.cartesia(); e.Type != "error" || *e.ContextID != "a" || e.StatusCode != 503 ||
		e.ErrorCode != "concurrency_limited" || e.Done {
		t.Errorf("%+v", e)
	}
	for message, want := range map[string]struct {
		status  int
		code    string
		context string
	}{
		`{"context_id":"b","transcript":"Hi","voice":"kaun","output_format":{"container":"raw"}}`:                                  {400, "voice_not_found", "b"},
		`{"context_id":"b","transcript":"Hi","voice":"raj","output_format":{"container":"wav"}}`:                                   {400, "invalid_output_format", "b"},
		`{"context_id":"b","transcript":"Namaste ji. ","voice":"anjura","output_format":{"container":"raw"}}`:                      {403, "forbidden", "b"},
		`{"context_id":"b","transcript":"` + strings.Repeat("x", 300<<10) + `","voice":"raj","output_format":{"container":"raw"}}`: {503, "concurrency_limited", "b"},
	} {
		s.send(message)
		if e := s.cartesia(); e.Type != "error" || *e.ContextID != want.context || e.StatusCode != want.status ||
			e.ErrorCode != want.code {
			t.Errorf("%.90s: %+v", message, e)
		}
		if want.status >= 500 {
			continue
		}
		if e := s.cartesia(); e.Type != "done" || *e.ContextID != want.context {
			t.Errorf("%.90s: behind the error comes %+v, want the end of its context", message, e)
		}
	}
	s.send(`{"context_id":`)
	if m := s.next(); !strings.Contains(m.text, `"error_code":"invalid_request"`) ||
		!strings.Contains(m.text, `"context_id":null`) {
		t.Errorf("half of JSON is answered with %s", m.text)
	}
}

// TestCartesiaHasSoManyContexts: one more than may be open fails, and the others go on.
func TestCartesiaHasSoManyContexts(t *testing.T) {
	g := newWSRig(t, &script{}, withDialects)
	s := g.openCartesia(testKey)
	defer s.conn.Close()
	for i := range dialect.MaxContexts + 1 {
		s.speakIn(fmt.Sprint(i), "Namaste", true)
	}
	last := fmt.Sprint(dialect.MaxContexts)
	for {
		e := s.cartesia()
		if *e.ContextID == last {
			if e.Type != "error" || e.ErrorCode != "concurrency_limited" {
				t.Errorf("%+v", e)
			}
			break
		}
	}
	s.speakIn("0", "", false)
	for {
		if e := s.cartesia(); *e.ContextID == "0" && e.Done {
			break
		}
	}
	s.speakIn(last, "Namaste ji kaise ho?", false)
	if pcm, _ := s.done(last); len(pcm) == 0 {
		t.Error("a place that is free again is not given")
	}
}

func TestCartesiaLettersMayBeCutAnywhere(t *testing.T) {
	g := newWSRig(t, newWarmLocal(t, 1, synthtest.Config{}), withDialects)
	s := g.openCartesia(testKey)
	defer s.conn.Close()
	spoken := func(cut string) string {
		for p := range strings.SplitSeq(cut, "|") {
			s.speakIn(cut, p, true)
		}
		s.speakIn(cut, "", false)
		pcm, _ := s.done(cut)
		said, _ := heard(t, pcm)
		return strings.NewReplacer(" ", "", "|", "").Replace(said)
	}
	want := spoken("नमस्ते जी। आपका ओटीपी 482913 है। Kal milenge.")
	for _, cut := range []string{
		"नम|स|्|ते| जी|।| आप|क|ा ओट|ी|पी 4829|13 है|।| Kal mil|enge|.",
		"नमस्ते जी।|आपका ओटीपी 482913 है।|Kal milenge.",
	} {
		if got := spoken(cut); got != want || !strings.Contains(want, "चारआठदोनौएकतीन") {
			t.Errorf("cut as %s %q, at once %q", cut, got, want)
		}
	}
}

func TestCartesiaTwentyAtOnce(t *testing.T) {
	g := newWSRig(t, newWarmLocal(t, 4, synthtest.Config{}), withDialects)
	var all sync.WaitGroup
	for i := range 20 {
		s := g.openCartesia(testKey)
		defer s.conn.Close()
		all.Go(func() {
			for range 2 {
				s.speakIn("a", fmt.Sprintf("Client %d ki baari hai.", i), false)
				if pcm, _ := s.done("a"); len(pcm) < 4*speech.FrameBytes {
					t.Errorf("client %d: %d bytes", i, len(pcm))
				}
			}
		})
	}
	all.Wait()
}

// TestCartesiaAbortedConnectionsLeaveNothing: the bubble fails if a goroutine is left.
func TestCartesiaAbortedConnectionsLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		speaker := newSentences()
		g, closeRig := newBubbleRig(t, speaker, withDialects)
		defer closeRig()
		const clients = 1000
		for i := range clients {
			s := g.openCartesia(testKey)
			s.speakIn("a", "Aap kaise hain ji? Main theek", i%2 == 0)
			s.speakIn("b", "Aap kaise", true)
			if i%4 < 3 {
				s.cartesia()
			}
			if i%3 == 0 {
				s.send(`{"context_id":"a","cancel":true}`)
			}
			s.conn.Close()
		}
		<-g.server.sockets.idle()
		synctest.Wait()
		if n := speaker.speaking(); n != 0 || g.server.Listeners() != 0 || g.server.budget.use().bytes != 0 {
			t.Errorf("%d workers, %d listeners and %d bytes are left", n, g.server.Listeners(),
				g.server.budget.use().bytes)
		}
	})
}

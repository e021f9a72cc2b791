package serve

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

const elevenLabsPath = "/v1/text-to-speech/raj/multi-stream-input?output_format=pcm_24000"

// toMulti opens a socket of many contexts, whose query goes on as it is told.
func (g *wsRig) toMulti(query string, headers ...string) *socket {
	g.t.Helper()
	return g.to(elevenLabsPath+query, append([]string{"Authorization", "", "Xi-Api-Key", testKey}, headers...)...)
}

// toldContext is all that a client was told of one.
type toldContext struct {
	pcm           []byte
	chars, spoken string
	starts, ends  []int64 // of chars
	span          int64   // of all messages with chars, one behind the other
	messages      int
	failed        string
	final         bool
}

// take takes in a message, and returns the name of its context.
func (s *socket) take(m got, all map[string]*toldContext) string {
	s.t.Helper()
	var told struct {
		Audio, ContextID, Error string
		IsFinal                 bool
		Alignment               *struct {
			Chars                             []string
			CharStartTimesMs, CharDurationsMs []int64
		}
		NormalizedAlignment *struct{ Chars []string }
	}
	if err := json.Unmarshal([]byte(m.text), &told); err != nil {
		s.t.Fatalf("%s: %v", m.text, err)
	}
	c := all[told.ContextID]
	if c == nil {
		c = &toldContext{}
		all[told.ContextID] = c
	}
	if c.final {
		s.t.Errorf("behind the end of %q comes %.100s", told.ContextID, m.text)
	}
	pcm, err := base64.StdEncoding.DecodeString(told.Audio)
	if err != nil {
		s.t.Errorf("%s: %v", m.text, err)
	}
	c.pcm = append(c.pcm, pcm...)
	c.messages++
	c.final, c.failed = told.IsFinal, told.Error
	if a := told.Alignment; a != nil {
		c.chars += strings.Join(a.Chars, "")
		for i, start := range a.CharStartTimesMs {
			c.starts, c.ends = append(c.starts, start), append(c.ends, start+a.CharDurationsMs[i])
		}
		c.span += c.ends[len(c.ends)-1]
	}
	if a := told.NormalizedAlignment; a != nil {
		c.spoken += strings.Join(a.Chars, "")
	}
	return told.ContextID
}

// untilFinal reads until every named context has ended.
func (s *socket) untilFinal(names ...string) map[string]*toldContext {
	s.t.Helper()
	all := map[string]*toldContext{}
	for {
		open := slices.ContainsFunc(names, func(name string) bool {
			return all[name] == nil ||
				!all[name].final && all[name].failed == ""
		})
		if !open {
			return all
		}
		s.take(s.next(), all)
	}
}

func ended(name string) string { return `{"isFinal":true,"contextId":"` + name + `"}` }

// sayIn sends texts to a context, each of which is flushed, as LiveKit does.
func (s *socket) sayIn(name string, texts ...string) {
	s.t.Helper()
	s.send(fmt.Sprintf(`{"text": " ", "voice_settings": {}, "context_id": %q}`, name))
	for _, text := range texts {
		s.send(fmt.Sprintf(`{"text": %q, "context_id": %q, "flush": true}`, text, name))
	}
}

// endContext ends one as LiveKit does.
func (s *socket) endContext(name string) {
	s.t.Helper()
	s.send(fmt.Sprintf(`{"text": "", "context_id": %q, "flush": true}`, name))
	s.send(fmt.Sprintf(`{"context_id": %q, "close_context": true}`, name))
}

// TestElevenLabsClocks: with sync_alignment times count from the start of the context, and without it they add up.
func TestElevenLabsClocks(t *testing.T) {
	g := newWSRig(t, newWarmLocal(t, 2, synthtest.Config{}), withDialects,
		func(c *Config) { c.Disclosure = "Yeh AI hai." })
	const text = "Namaste! Aapka OTP 482913 hai. कल मिलेंगे। "
	for query, isSync := range map[string]bool{"&sync_alignment=true&auto_mode=true": true, "&auto_mode=true": false} {
		s := g.toMulti(query)
		for _, name := range []string{"a", "b"} { // at once
			s.sayIn(name, "Namaste! Aapka OTP 482913 hai. ", "कल मिलेंगे। ")
			s.endContext(name)
		}
		all := s.untilFinal("a", "b")
		s.conn.Close()
		for name, c := range all {
			said, voice := heard(t, c.pcm)
			length := int64(len(c.pcm)) * 1000 / speech.SampleRate / 2
			if voice != "raj" || !strings.Contains(said, "चार आठ दो नौ एक तीन") || c.chars != text {
				t.Errorf("%s%s: %s says %q, told is %q", name, query, voice, said, c.chars)
			}
			if !strings.HasPrefix(c.spoken, "Yeh ") || !strings.Contains(c.spoken, "चार आठ दो नौ एक तीन") {
				t.Errorf("%s%s: spoken was %q", name, query, c.spoken)
			}
			if isSync && (!slices.IsSorted(c.starts) || !slices.IsSorted(c.ends) || c.ends[len(c.ends)-1] != length) {
				t.Errorf("times of the context, of %d ms: %v to %v", length, c.starts, c.ends)
			}
			if !isSync && c.span != length {
				t.Errorf("the spans are %d ms long, the audio %d", c.span, length)
			}
			if !isSync && slices.IsSorted(c.starts) {
				t.Error("times do not begin again")
			}
		}
	}
}

// TestElevenLabsBarge: what comes behind a close, or a second one, is not spoken, and the bill stops.
func TestElevenLabsBarge(t *testing.T) {
	for name, closing := range map[string][]string{
		"without a flush":  {`{"context_id": "a", "close_context": true}`},
		"the second close": {`{"context_id": "a", "flush": true}`, `{"context_id": "a", "close_context": true}`, `{"context_id": "a", "close_context": true}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBooks(t)
				key, entry := newKey()
				g, closeRig := newBubbleRig(t, newSentences(), withDialects,
					func(c *Config) { c.Keys, c.Meter = ringOf(entry), meter.NewRecorder(b.log) })
				defer closeRig()
				s := g.toMulti("", "Xi-Api-Key", key)
				defer s.conn.Close()
				s.sayIn("a", "Aap kaise hain ji? ", "Main theek hoon ji. ")
				for range 3 {
					s.next()
				}
				begin := time.Now()
				for _, m := range closing {
					s.send(m)
				}
				s.send(`{"text": "Kal milte hain. ", "context_id": "a", "flush": true}`) // nobody hears that
				if m := s.next(); m.text != ended("a") || time.Since(begin) > speech.FrameDuration {
					t.Errorf("after %v: %s", time.Since(begin), m.text)
				}
				b.want("elevenlabs raj pcm_24000 3/3 cancelled")
				s.sayIn("b", "Phir se bolo na. ")
				s.endContext("b")
				if c := s.untilFinal("b")["b"]; len(c.pcm) != 10*speech.FrameBytes {
					t.Errorf("the next context has %d bytes", len(c.pcm))
				}
				b.want("elevenlabs raj pcm_24000 10/10 ok")
				if n := metricOf(t, g.server, `tts_requests_total{endpoint="elevenlabs",status="cancelled"}`); n != 1 {
					t.Errorf("%v contexts are counted as cancelled", n)
				}
			})
		})
	}
}

// TestElevenLabsInactivity: a context ends when nothing comes and nothing is left, and the socket stays.
func TestElevenLabsInactivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		speaker := newSentences()
		g, closeRig := newBubbleRig(t, speaker, withDialects)
		defer closeRig()
		s := g.toMulti("&inactivity_timeout=5")
		defer s.conn.Close()
		s.sayIn("a", "Aap kaise hain ji? ")
		begin := time.Now()
		kept := make(chan struct{})
		go func() {
			defer close(kept)
			for range 3 { // which keeps it alive until the twelfth second
				time.Sleep(4 * time.Second)
				s.send(`{"text":"","context_id":"a"}`)
				s.send(`{"text":""}`)
			}
		}()
		if c := s.untilFinal("a")["a"]; len(c.pcm) != 10*speech.FrameBytes || time.Since(begin) != 17*time.Second {
			t.Errorf("%d bytes, ended after %v, want 17 s", len(c.pcm), time.Since(begin))
		}
		if n := speaker.speaking(); n != 0 {
			t.Errorf("%d workers are held", n)
		}
		<-kept
		s.sayIn("a", "Phir se bolo na. ")
		s.endContext("a")
		if c := s.untilFinal("a")["a"]; len(c.pcm) != 10*speech.FrameBytes {
			t.Errorf("the same name again has %d bytes", len(c.pcm))
		}
	})
}

// TestElevenLabsIdlesWhileItSpeaks: a long text is heard to its end, however short the timeout is.
func TestElevenLabsIdlesWhileItSpeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, closeRig := newBubbleRig(t, newSentences(), withDialects)
		defer closeRig()
		s := g.toMulti("&inactivity_timeout=1")
		defer s.conn.Close()
		s.sayIn("a", strings.Repeat("Aap kaise hain ji? ", 5))
		if c := s.untilFinal("a")["a"]; len(c.pcm) != 50*speech.FrameBytes {
			t.Errorf("%d bytes, want 50 frames", len(c.pcm))
		}
	})
}

// TestElevenLabsLettersMayBeCutAnywhere: what is spoken is what one message would have had spoken.
func TestElevenLabsLettersMayBeCutAnywhere(t *testing.T) {
	g := newWSRig(t, newWarmLocal(t, 1, synthtest.Config{}), withDialects)
	const text = "नमस्ते जी। आपका ओटीपी 482913 है। Kal milenge."
	s := g.toMulti("")
	defer s.conn.Close()
	spoken := func(name string, pieces ...string) (said, chars string) {
		for _, p := range pieces {
			s.send(fmt.Sprintf(`{"text":%q,"context_id":%q}`, p, name))
		}
		s.endContext(name)
		c := s.untilFinal(name)[name]
		said, _ = heard(t, c.pcm)
		return strings.NewReplacer(" ", "", "|", "").Replace(said), c.chars
	}
	want, chars := spoken("whole", text)
	if chars != text+" " || !strings.Contains(want, "चारआठदोनौएकतीन") {
		t.Errorf("%q is told as %q", want, chars)
	}
	if got, told := spoken("letters", strings.Split(text, "")...); got != want || told != chars {
		t.Errorf("letter by letter %q and %q, at once %q", got, told, want)
	}
}

// TestElevenLabsSingle is stream-input, as the SDK for Python uses it.
func TestElevenLabsSingle(t *testing.T) {
	g := newWSRig(t, &script{}, withDialects)
	const path = "/v1/text-to-speech/raj/stream-input?model_id=swar-1&output_format="
	headers := []string{"Authorization", "", "Xi-Api-Key", testKey}
	s := g.to(path+"pcm_24000", headers...)
	s.send(`{"text": " ", "try_trigger_generation": true, "voice_settings": null, "generation_config": {"chunk_length_schedule": [50]}}`)
	for _, word := range []string{"Namaste! ", "Aapka OTP ", "482913 hai. ", "कल ", "मिलेंगे। "} {
		s.send(fmt.Sprintf(`{"text": %q, "try_trigger_generation": true}`, word))
	}
	s.send(`{"text": ""}`)
	c := s.untilFinal("")[""]
	if len(c.pcm) == 0 || len(c.pcm)%(5*speech.FrameBytes) != 0 {
		t.Errorf("%d bytes", len(c.pcm))
	}
	s.wantClose(websocket.CloseNormalClosure, "")
	for _, word := range []string{"mp3_44100_128", "ulaw_8000", "opus_48000_64", "wav_16000"} {
		// one encoder for all sentences
		s := g.to(path+word, headers...)
		s.send(`{"text":"Namaste ji kaise ho? Main theek hoon ji. "}`)
		s.send(`{"text":""}`)
		all := s.untilFinal("")[""]
		if container := strings.Split(word, "_")[0]; bytes.Count(all.pcm, []byte("/1 ")) != 1 || len(all.pcm) < 24 {
			t.Errorf("%s (%s): %q", word, container, all.pcm)
		}
		s.wantClose(websocket.CloseNormalClosure, "")
	}
	s = g.to(path+"pcm_24000", headers...)
	s.send(`[]`)
	if m := s.next(); m.event["error"] != "invalid_request" || m.event["code"] != 1008.0 ||
		m.event["contextId"] != nil {
		t.Errorf("a mistake is answered with %s", m.text)
	}
	s.wantClose(websocket.ClosePolicyViolation, "invalid message")
}

func TestElevenLabsSocketFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		err    error
		frames int
		word   string
		code   int
	}{
		"busy":   {speech.ErrBusy, 0, "system_busy", 1013},
		"engine": {&speech.EngineError{Text: "broken", Err: errors.New("inside")}, 2, "internal_server_error", 1011},
	} {
		t.Run(name, func(t *testing.T) {
			fails := true
			g := newWSRig(t, &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
				sink speech.Sink) (st speech.Stats, err error) {
				if !fails {
					return speakFrames(u, sink, 5)
				}
				if tt.frames > 0 {
					st, _ = speakFrames(u, sink, tt.frames)
				}
				return st, tt.err
			}}, withDialects)
			s := g.toMulti("")
			defer s.conn.Close()
			s.sayIn("a", "Namaste ji. ")
			c := s.untilFinal("a")["a"]
			if c.failed != tt.word || len(c.pcm) != tt.frames*speech.FrameBytes {
				t.Errorf("%d bytes and %s", len(c.pcm), c.failed)
			}
			fails = false
			s.sayIn("a", "Namaste ji. ") // the socket stays
			s.endContext("a")
			if c := s.untilFinal("a")["a"]; len(c.pcm) != 5*speech.FrameBytes {
				t.Errorf("the next context has %d bytes", len(c.pcm))
			}
			fails = true
			single := g.to("/v1/text-to-speech/raj/stream-input?output_format=pcm_24000")
			single.send(`{"text":"Namaste ji.","flush":true}`)
			single.untilFinal("")
			single.wantClose(tt.code, "the text cannot be spoken")
		})
	}
}

func TestElevenLabsMistakes(t *testing.T) {
	g := newWSRig(t, &script{}, withDialects)
	s := g.toMulti("")
	defer s.conn.Close()
	s.send(`{"text":"Namaste ji ","context_id":"a"}`)
	for message, want := range map[string]string{
		`{"text":`:                           `{"error":"invalid_request","message":"invalid JSON: unexpected end","code":1008}`,
		`{"text":"\ud83d","context_id":"a"}`: `{"error":"invalid_request","message":"text: not valid UTF-8","code":1008,"contextId":"a"}`,
		`{"flush":1,"context_id":"a"}`:       `{"error":"invalid_request","message":"flush: must be true or false","code":1008,"contextId":"a"}`,
		`{"text":" ","context_id":"b","voice_settings":{"speed":2}}`: `{"error":"invalid_voice_settings","message":"voice_settings.speed: must be in [0.7, 1.2]","code":1008,"contextId":"b"}`,
	} {
		s.send(message)
		if m := s.next(); m.text != want {
			t.Errorf("%s is answered with %s", message, m.text)
		}
	}
	if err := s.conn.WriteMessage(websocket.BinaryMessage, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if m := s.next(); m.event["message"] != "expected a JSON text message" {
		t.Errorf("binary is answered with %s", m.text)
	}
	s.send(`{"text":"kaise ho?","context_id":"a"}`)
	s.endContext("a")
	if c := s.untilFinal("a")["a"]; len(c.pcm) != 5*speech.FrameBytes {
		t.Errorf("%d bytes are spoken, want 5 frames", len(c.pcm))
	}
	s.send(`{"text":"kya\u0000?","context_id":"a"}`)
	if c := s.untilFinal("a")["a"]; c.failed != "invalid_request" {
		t.Errorf("a NUL is answered with %+v", c)
	}
	for i := range 33 {
		s.send(fmt.Sprintf(`{"text":" ","context_id":"%d"}`, i))
	}
	if m := s.next(); m.event["error"] != "max_active_conversations" || m.event["contextId"] != "32" {
		t.Errorf("one context too many is answered with %s", m.text)
	}
	s.wantClose(websocket.ClosePolicyViolation, "max_active_conversations")
}

func TestElevenLabsHandshakes(t *testing.T) {
	g := newWSRig(t, &script{}, withDialects)
	const path = "/v1/text-to-speech/"
	for name, tt := range map[string]struct {
		path, key string
		status    int
		word      string
	}{
		"a voice of theirs":  {path + "21m00Tcm4TlvDq8ikWAM/multi-stream-input", testKey, 101, ""},
		"no key":             {path + "raj/multi-stream-input", "", 401, "needs_authorization"},
		"a wrong key":        {path + "raj/stream-input", "x", 401, "invalid_api_key"},
		"a key in the query": {path + "raj/stream-input?xi-api-key=" + testKey, "", 101, ""},
		"a foreign voice":    {path + "anjura/multi-stream-input", "raj-key", 403, "voice_access_denied"},
		"an unknown voice":   {path + "kaun/stream-input", testKey, 404, "voice_not_found"},
		"a format":           {path + "raj/multi-stream-input?output_format=x", testKey, 400, "invalid_output_format"},
		"a timeout":          {path + "raj/multi-stream-input?inactivity_timeout=0", testKey, 400, "invalid_request"},
	} {
		t.Run(name, func(t *testing.T) {
			s, res, err := g.tryTo(tt.path, "Authorization", "", "Xi-Api-Key", tt.key)
			if res == nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if err == nil {
				s.conn.Close()
			}
			var body struct{ Detail struct{ Status string } }
			if tt.word != "" {
				err = json.NewDecoder(res.Body).Decode(&body)
			}
			if res.StatusCode != tt.status || body.Detail.Status != tt.word {
				t.Errorf("%s %s (%v), want %d %s", res.Status, body.Detail.Status, err, tt.status, tt.word)
			}
		})
	}
}

func TestElevenLabsARevokedKey(t *testing.T) {
	bubbleRevoking(t, newSentences, func(t *testing.T, g revoking, _ *sentences) {
		s := g.toMulti("", "Xi-Api-Key", g.key)
		defer s.conn.Close()
		s.sayIn("a", "Aap kaise hain ji? ")
		s.next()
		synctest.Wait()
		g.revoke()
		all := map[string]*toldContext{}
		for {
			m, err := s.try()
			if err != nil {
				if !websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
					t.Errorf("closed with %v", err)
				}
				break
			}
			s.take(m, all)
		}
		if all["a"] == nil || all["a"].failed != "invalid_api_key" {
			t.Errorf("the end of the key is told as %+v", all["a"])
		}
	}, withDialects)
}

// TestElevenLabsClosesSocket: everything that was fed is spoken before.
func TestElevenLabsClosesSocket(t *testing.T) {
	g := newWSRig(t, &script{}, withDialects)
	s := g.toMulti("")
	s.sayIn("a", "Aap kaise hain ji? ")
	s.send(`{"text":"Main theek hoon","context_id":"b"}`)
	s.send(`{"close_socket": true}`)
	for name, c := range s.untilFinal("a", "b") {
		if len(c.pcm) != 5*speech.FrameBytes {
			t.Errorf("%s has %d bytes", name, len(c.pcm))
		}
	}
	s.wantClose(websocket.CloseNormalClosure, "")
}

func TestElevenLabsTwentyAtOnce(t *testing.T) {
	g := newWSRig(t, newWarmLocal(t, 4, synthtest.Config{}), withDialects)
	var all sync.WaitGroup
	for i := range 20 {
		s := g.toMulti("&sync_alignment=true")
		defer s.conn.Close()
		all.Go(func() {
			for turn := range 3 {
				name := fmt.Sprintf("%d-%d", i, turn)
				text := fmt.Sprintf("Client %d ki baari %d hai. ", i, turn)
				s.sayIn(name, text)
				s.endContext(name)
				c := s.untilFinal(name)[name]
				if said, _ := heard(t, c.pcm); len(said) < 10 || c.chars != text || !slices.IsSorted(c.starts) {
					t.Errorf("%s: %q told as %q", name, said, c.chars)
				}
			}
		})
	}
	all.Wait()
}

// TestElevenLabsAbortedConnectionsLeaveNothing: the bubble fails if a goroutine is left.
func TestElevenLabsAbortedConnectionsLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		speaker := newSentences()
		g, closeRig := newBubbleRig(t, speaker, withDialects)
		defer closeRig()
		const clients = 1000
		for i := range clients {
			s := g.toMulti("")
			s.send(`{"text":"Aap kaise hain ji? Main theek","context_id":"a"}`)
			if i%2 == 0 {
				s.send(`{"context_id":"a","flush":true}`)
			}
			if i%4 < 3 {
				s.next()
			}
			if i%8 == 0 {
				s.send(`{"context_id":"a","close_context":true}`)
			}
			s.conn.Close()
		}
		<-g.server.sockets.idle()
		synctest.Wait()
		if n := speaker.speaking(); n != 0 || g.server.Listeners() != 0 || g.server.budget.use().bytes != 0 {
			t.Errorf("%d workers, %d listeners and %d bytes are left", n, g.server.Listeners(),
				g.server.budget.use().bytes)
		}
		if n := metricOf(t, g.server, `tts_requests_total{endpoint="elevenlabs",status="cancelled"}`); n != clients {
			t.Errorf("%v contexts are counted as cancelled, want %d", n, clients)
		}
	})
}

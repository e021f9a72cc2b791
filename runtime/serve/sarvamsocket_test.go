package serve

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
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

const sarvamFlush = `{"type":"flush"}`

// openSarvam opens a socket as the client for Node does, and configures it.
func (g *wsRig) openSarvam(key, config string) *socket {
	g.t.Helper()
	s, res, err := g.tryTo("/text-to-speech/ws?model=swar-1&send_completion_event=true",
		"Authorization", "", "Api-Subscription-Key", key, "Sec-Websocket-Protocol", "api-subscription-key."+key)
	if err != nil {
		g.t.Fatalf("connecting: %v (%v)", err, res)
	}
	if got := res.Header.Get("Sec-Websocket-Protocol"); got != "api-subscription-key."+key {
		g.t.Errorf("the subprotocol %q is selected", got)
	}
	s.configure(config)
	return s
}

func (s *socket) configure(config string) {
	s.t.Helper()
	s.send(`{"type":"config","data":{"speaker":"shubh","output_audio_codec":"linear16"` + config + `}}`)
}

// speakNext feeds a text.
func (s *socket) say(text string) {
	s.t.Helper()
	s.send(fmt.Sprintf(`{"type":"text","data":{"text":%q}}`, text))
}

// sarvamAudio returns what m holds.
func sarvamAudio(t testing.TB, m got) (audio []byte, contentType string) {
	t.Helper()
	data, _ := m.event["data"].(map[string]any)
	text, _ := data["audio"].(string)
	audio, err := base64.StdEncoding.DecodeString(text)
	contentType, _ = data["content_type"].(string)
	if err != nil || len(audio) == 0 || !strings.HasPrefix(fmt.Sprint(data["request_id"]), "req_") {
		t.Fatalf("%v: %.200s", err, m.text)
	}
	return audio, contentType
}

// final reads the audio up to the event final, which must come next.
func (s *socket) final() (audio []byte, contentType string) {
	s.t.Helper()
	for {
		m := s.next()
		if m.typ() == "event" {
			if m.text != `{"type":"event","data":{"event_type":"final"}}` {
				s.t.Fatalf("%s came, want final", m.text)
			}
			return audio, contentType
		}
		more, of := sarvamAudio(s.t, m)
		audio, contentType = append(audio, more...), of
	}
}

func TestSarvamSpeaksTurns(t *testing.T) {
	b := newBooks(t)
	key, entry := newKey()
	g := newWSRig(t, &script{}, withDialects,
		func(c *Config) { c.Keys, c.Meter = ringOf(entry), meter.NewRecorder(b.log) })
	s := g.openSarvam(key, "")
	defer s.conn.Close()
	turn := bytes.Join([][]byte{frames(0, 5), frames(0, 5)}, nil)
	for range 2 {
		s.say("Namaste ji kaise ho?")
		s.say("Main theek hoon.")
		s.send(sarvamFlush)
		s.send(sarvamFlush) // as LiveKit for Node does
		if audio, contentType := s.final(); !bytes.Equal(audio, turn) || contentType != "audio/pcm" {
			t.Errorf("%d bytes of %s, want %d", len(audio), contentType, len(turn))
		}
		b.want("sarvam raj linear16/24000 10/10 ok")
	}
	s.say("Yeh pehla hai ji.")
	s.send(sarvamFlush)
	s.configure(`,"output_audio_codec":"wav"`) // for the next turn, while this one is sent
	s.say("Yeh doosra hai ji.")
	s.send(sarvamFlush)
	if audio, contentType := s.final(); contentType != "audio/pcm" || len(audio) != 5*speech.FrameBytes {
		t.Errorf("%d bytes of %s", len(audio), contentType)
	}
	if audio, contentType := s.final(); contentType != "audio/wav" || len(audio) < 10 {
		t.Errorf("%d bytes of %s", len(audio), contentType)
	}
	s.send(`{"type":"ping"}`)
	if m := s.next(); m.text != `{"type":"event","data":{"event_type":"pong"}}` {
		t.Errorf("a ping is answered with %s", m.text)
	}
	if n := metricOf(t, g.server, `tts_requests_total{endpoint="sarvam",status="200"}`); n != 4 {
		t.Errorf("%v turns are counted, want 4", n)
	}
}

// TestSarvamBargeIn: a closed connection stops the bill within a frame, also of turns that wait.
func TestSarvamBargeIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBooks(t)
		key, entry := newKey()
		speaker := newSentences()
		g, closeRig := newBubbleRig(t, speaker, withDialects,
			func(c *Config) { c.Keys, c.Meter = ringOf(entry), meter.NewRecorder(b.log) })
		defer closeRig()
		s := g.openSarvam(key, "")
		s.say("Aap kaise hain ji?")
		s.say("Main theek hoon ji.")
		s.send(sarvamFlush)
		for range 3 {
			sarvamAudio(t, s.next())
		}
		s.conn.Close()
		synctest.Wait()
		if n := speaker.speaking(); n != 0 {
			t.Errorf("%d workers speak to nobody", n)
		}
		b.want("sarvam raj linear16/24000 3/3 cancelled client disconnected")
	})
}

func TestSarvamLettersMayBeCutAnywhere(t *testing.T) {
	g := newWSRig(t, newWarmLocal(t, 1, synthtest.Config{}), withDialects)
	const text = "नमस्ते जी। आपका ओटीपी 482913 है। Kal milenge."
	spoken := func(pieces ...string) string {
		s := g.openSarvam(testKey, "")
		defer s.conn.Close()
		for _, p := range pieces {
			s.say(p)
		}
		s.send(sarvamFlush)
		pcm, _ := s.final()
		said, voice := heard(t, pcm)
		if voice != "raj" {
			t.Errorf("%s speaks", voice)
		}
		return strings.NewReplacer(" ", "", "|", "").Replace(said)
	}
	want := spoken(text)
	for _, cut := range []string{
		"नम|स|्|ते| जी|।| आप|क|ा ओट|ी|पी 4829|13 है|।| Kal mil|enge|.",
		"नमस्ते जी।|आपका ओटीपी 482913 है।|Kal milenge.", // sentences, stripped, as LiveKit and Pipecat send them
	} {
		if got := spoken(strings.Split(cut, "|")...); got != want || !strings.Contains(want, "चारआठदोनौएकतीन") {
			t.Errorf("cut as %s %q, at once %q", cut, got, want)
		}
	}
}

// TestSarvamFailuresLeaveTheSocket: a message or a turn that fails is answered, and the next one is spoken.
func TestSarvamFailuresLeaveTheSocket(t *testing.T) {
	for name, tt := range map[string]struct {
		fails error
		code  float64
	}{
		"busy":             {speech.ErrBusy, 429},
		"the engine fails": {&speech.EngineError{Text: "broken"}, 500},
	} {
		g := newWSRig(t, failing(tt.fails), withDialects)
		s := g.openSarvam(testKey, "")
		for range 2 {
			s.say("Namaste ji kaise ho?")
			s.send(sarvamFlush)
			m := s.next()
			if data, _ := m.event["data"].(map[string]any); m.typ() != "error" || data["code"] != tt.code ||
				data["message"] == "" || data["request_id"] == "" {
				t.Errorf("%s: %s", name, m.text)
			}
		}
		s.conn.Close()
	}
	g := newWSRig(t, &script{}, withDialects)
	s := g.openSarvam("raj-key", "")
	defer s.conn.Close()
	for _, message := range []string{
		`{"type":"text","data":{"text":7}}`, `{"type":"config","data":{"speaker":"kaun"}}`, `{"type":"config","data":{"output_audio_codec":7}`,
	} {
		s.send(message)
		if m := s.next(); m.typ() != "error" || !strings.Contains(m.text, `"code":400`) {
			t.Errorf("%s is answered with %s", message, m.text)
		}
	}
	s.say("Namaste ji kaise ho?")
	s.send(sarvamFlush)
	s.final()
	s.configure(`,"dict_id":"lex_x"`)
	s.say("Namaste ji kaise ho?")
	if m := s.next(); !strings.Contains(m.text, `"code":400`) || !strings.Contains(m.text, "unknown lexicon") {
		t.Errorf("a lexicon of nobody is answered with %s", m.text)
	}
	s.configure(`,"speaker":"anushka"`)
	s.say("Namaste ji kaise ho?")
	if m := s.next(); !strings.Contains(m.text, `"code":403`) {
		t.Errorf("a voice that is not allowed is answered with %s", m.text)
	}
}

func TestSarvamHandshakes(t *testing.T) {
	g := newWSRig(t, &script{}, withDialects)
	for name, tt := range map[string]struct {
		headers  []string
		status   int
		protocol string
	}{
		"a header":      {[]string{"Authorization", "", "Api-Subscription-Key", testKey}, 101, ""},
		"a subprotocol": {[]string{"Authorization", "", "Sec-Websocket-Protocol", "api-subscription-key." + testKey}, 101, "api-subscription-key." + testKey},
		"no key":        {[]string{"Authorization", ""}, 403, ""},
		"a wrong key":   {[]string{"Authorization", "", "Api-Subscription-Key", "wrong"}, 403, ""},
	} {
		s, res, err := g.tryTo("/text-to-speech/ws", tt.headers...)
		if res == nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != tt.status || res.Header.Get("Sec-Websocket-Protocol") != tt.protocol {
			t.Errorf("%s: %s with the subprotocol %q", name, res.Status, res.Header.Get("Sec-Websocket-Protocol"))
		}
		if err == nil {
			s.conn.Close()
		}
	}
	plain := newRig(t, &script{}, withDialects).do(http.MethodGet, "/text-to-speech/ws", "")
	if plain.StatusCode != http.StatusUpgradeRequired ||
		!strings.Contains(string(plain.body), `"code":"invalid_request_error"`) {
		t.Errorf("without an upgrade: %s %s", plain.Status, plain.body)
	}
}

func TestSarvamARevokedKey(t *testing.T) {
	bubbleRevoking(t, newSentences, func(t *testing.T, g revoking, _ *sentences) {
		s := g.openSarvam(g.key, "")
		defer s.conn.Close()
		s.say("Aap kaise hain ji?")
		s.send(sarvamFlush)
		sarvamAudio(t, s.next())
		synctest.Wait()
		g.revoke()
		if m := s.last("error"); !strings.Contains(m.text, `"code":403`) {
			t.Errorf("%s", m.text)
		}
		var closed error
		for closed == nil {
			_, closed = s.try()
		}
		if !websocket.IsCloseError(closed, websocket.ClosePolicyViolation) {
			t.Errorf("it closes with %v", closed)
		}
	}, withDialects)
}

func TestSarvamTwentyAtOnce(t *testing.T) {
	g := newWSRig(t, newWarmLocal(t, 4, synthtest.Config{}), withDialects)
	var all sync.WaitGroup
	for i := range 20 {
		s := g.openSarvam(testKey, "")
		defer s.conn.Close()
		all.Go(func() {
			for turn := range 2 {
				s.say(fmt.Sprintf("Client %d ki", i))
				s.say(fmt.Sprintf(" baari %d hai.", turn))
				s.send(sarvamFlush)
				pcm, _ := s.final()
				if said, _ := heard(t, pcm); len(said) < 10 {
					t.Errorf("client %d, turn %d: %q", i, turn, said)
				}
			}
		})
	}
	all.Wait()
}

// TestSarvamAbortedConnectionsLeaveNothing: the bubble fails if a goroutine is left.
func TestSarvamAbortedConnectionsLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		speaker := newSentences()
		g, closeRig := newBubbleRig(t, speaker, withDialects)
		defer closeRig()
		const clients = 1000
		for i := range clients {
			s := g.openSarvam(testKey, "")
			s.say("Aap kaise hain ji?")
			s.say("Main theek")
			if i%2 == 0 {
				s.send(sarvamFlush)
			}
			if i%4 < 3 {
				sarvamAudio(t, s.next())
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

// TestSarvamSpeaksBeforeTheFlush: a sentence that is whole is spoken at once, and one that may go on when nothing
// comes.
func TestSarvamSpeaksBeforeTheFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, closeRig := newBubbleRig(t, newSentences(), withDialects)
		defer closeRig()
		s := g.openSarvam(testKey, "")
		defer s.conn.Close()
		begin := time.Now()
		s.say("Aap kaise hain ji?")
		sarvamAudio(t, s.next())
		if took := time.Since(begin); took > 250*time.Millisecond {
			t.Errorf("the first audio comes after %v", took)
		}
	})
}

package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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

// to opens a socket of a dialect, as clients do that offer compression. Headers are as those of connect.
func (g *wsRig) to(path string, headers ...string) *socket {
	g.t.Helper()
	s, res, err := g.tryTo(path, headers...)
	if err != nil {
		g.t.Fatalf("connecting: %v (%v)", err, res)
	}
	return s
}

func (g *wsRig) tryTo(path string, headers ...string) (*socket, *http.Response, error) {
	g.t.Helper()
	h := http.Header{"Authorization": {"Token " + testKey}}
	for i := 0; i < len(headers); i += 2 {
		h.Del(headers[i])
		if headers[i+1] != "" {
			h.Set(headers[i], headers[i+1])
		}
	}
	d := websocket.Dialer{NetDialContext: g.dial, EnableCompression: true}
	conn, res, err := d.DialContext(g.t.Context(), g.url+path, h)
	if err != nil {
		return nil, res, err
	}
	if res.Header.Get("Sec-Websocket-Extensions") != "" {
		g.t.Errorf("extensions are accepted: %s", res.Header.Get("Sec-Websocket-Extensions"))
	}
	if g.waitLimit > 0 {
		conn.SetReadDeadline(time.Now().Add(g.waitLimit))
	}
	return &socket{g.t, conn}, res, nil
}

const (
	deepgramPath = "/v1/speak?model=raj&encoding=linear16&sample_rate=24000"
	flushMessage = `{"type":"Flush"}`
	clearMessage = `{"type":"Clear"}`
	closeMessage = `{"type":"Close"}`
)

// toDeepgram opens a socket and reads what it opens with.
func (g *wsRig) toDeepgram(headers ...string) *socket {
	g.t.Helper()
	s := g.to(deepgramPath, headers...)
	if m := s.next(); m.typ() != "Metadata" || m.event["model_name"] != "raj" || !strings.HasPrefix(m.id(), "req_") {
		g.t.Fatalf("it opens with %s", m.text)
	}
	return s
}

// words feeds a text.
func (s *socket) words(text string) {
	s.t.Helper()
	s.send(fmt.Sprintf(`{"type":"Speak","text":%q}`, text))
}

// pcmUntil returns the audio before a message of a type, which must be the next one that is no audio.
func (s *socket) pcmUntil(typ string) (pcm []byte, last got) {
	s.t.Helper()
	for {
		m := s.next()
		if m.audio == nil {
			if m.typ() != typ {
				s.t.Fatalf("%s came, want %s", m.text, typ)
			}
			return pcm, m
		}
		pcm = append(pcm, m.audio...)
	}
}

func TestDeepgramSpeaksTurns(t *testing.T) {
	b := newBooks(t)
	key, entry := newKey()
	g := newWSRig(t, &script{}, withDialects,
		func(c *Config) { c.Keys, c.Meter = ringOf(entry), meter.NewRecorder(b.log) })
	s := g.toDeepgram("Authorization", "token "+key)
	defer s.conn.Close()
	for turn := range 2 {
		s.words("Namaste ji kaise ho? ")
		s.words("Main theek hoon. ")
		s.send(flushMessage)
		pcm, flushed := s.pcmUntil("Flushed")
		if want := slices.Concat(frames(0, 5), frames(0, 5)); !bytes.Equal(pcm, want) {
			t.Errorf("turn %d has %d bytes of audio, want %d", turn, len(pcm), len(want))
		}
		if flushed.event["sequence_id"] != float64(2*turn) {
			t.Errorf("turn %d: %s", turn, flushed.text)
		}
		b.want("deepgram raj linear16/24000 10/10 ok")
		s.send(flushMessage) // of nothing
		if m := s.next(); m.event["sequence_id"] != float64(2*turn+1) {
			t.Errorf("a flush of nothing is answered with %s", m.text)
		}
	}
	s.words("!")
	s.send(flushMessage)
	s.last("Flushed")
	if n := metricOf(t, g.server, `tts_requests_total{endpoint="deepgram",status="200"}`); n != 3 {
		t.Errorf("%v turns are counted, want 3", n)
	}
	line := g.logs.wait(t, 1)[0]
	if line["endpoint"] != "deepgram" || line["format"] != "linear16/24000" || line["frames"] != 10.0 {
		t.Errorf("the log says %v", line)
	}
}

// TestDeepgramEncodesEachTurnAlone: one encoder writes all sentences of a turn, and another one those of the next.
func TestDeepgramEncodesEachTurnAlone(t *testing.T) {
	g := newWSRig(t, &script{}, withDialects)
	late := string([]byte{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1})
	for query, begin := range map[string]string{
		"encoding=mulaw&sample_rate=8000": "raw/1 ", "encoding=alaw": "raw/1 ", "encoding=linear16&sample_rate=16000": "raw/1 ", "speed=1.5": "raw/1.5 ",
	} {
		s := g.to("/v1/speak?" + query)
		s.last("Metadata")
		for range 2 {
			s.words("Namaste ji kaise ho? Main theek hoon. ")
			s.send(flushMessage)
			if got, _ := s.pcmUntil("Flushed"); string(got) != begin+late+late {
				t.Errorf("%s: %q", query, got)
			}
		}
		s.conn.Close()
	}
}

func TestDeepgramSpeaksBeforeTheTextIsComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		speaker := newSentences()
		g, closeRig := newBubbleRig(t, speaker, withDialects)
		defer closeRig()
		s := g.toDeepgram()
		defer s.conn.Close()
		begin := time.Now()
		s.words("Aap kaise hain? ")
		s.words("Main")
		s.last("audio")
		if took := time.Since(begin); took != 0 {
			t.Errorf("the first audio comes after %v", took)
		}
		go func() {
			time.Sleep(59 * time.Minute)
			if n := speaker.speaking(); n != 0 {
				t.Errorf("%d workers are held while nothing comes", n)
			}
			s.words(" theek hoon.")
			s.send(closeMessage)
		}()
		pcm := 0
		for {
			m, err := s.try()
			if err != nil {
				if !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
					t.Errorf("it closes with %v", err)
				}
				break
			}
			pcm += len(m.audio)
		}
		if pcm != 19*speech.FrameBytes {
			t.Errorf("%d bytes after the first frame, want 19 frames", pcm)
		}
	})
}

// TestDeepgramClearStopsTheBill: within a frame, and what it overtook is never answered.
func TestDeepgramClearStopsTheBill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBooks(t)
		key, entry := newKey()
		g, closeRig := newBubbleRig(t, newSentences(), withDialects,
			func(c *Config) { c.Keys, c.Meter = ringOf(entry), meter.NewRecorder(b.log) })
		defer closeRig()
		s := g.toDeepgram("Authorization", "Token "+key)
		defer s.conn.Close()
		s.words("Aap kaise hain ji? Main theek hoon ji. ")
		s.send(flushMessage)
		s.words("Kal milte hain na? ")
		s.send(flushMessage)
		for range 3 {
			s.last("audio")
		}
		begin := time.Now()
		s.send(clearMessage)
		s.send(clearMessage) // while the first one is carried out
		for n := range 2 {
			if m := s.next(); m.typ() != "Cleared" || m.event["sequence_id"] != float64(n) ||
				time.Since(begin) > speech.FrameDuration {
				t.Errorf("%q after %v, want that it is cleared", m.text, time.Since(begin))
			}
		}
		b.want("deepgram raj linear16/24000 3/3 cancelled")
		s.send(clearMessage) // of nothing
		s.last("Cleared")
		s.words("Phir se bolo na. ")
		s.send(flushMessage)
		pcm, flushed := s.pcmUntil("Flushed")
		if len(pcm) != 10*speech.FrameBytes || flushed.event["sequence_id"] != 0.0 {
			t.Errorf("the next turn has %d bytes and ends with %s", len(pcm), flushed.text)
		}
		b.want("deepgram raj linear16/24000 10/10 ok")
		if n := metricOf(t, g.server, `tts_requests_total{endpoint="deepgram",status="cancelled"}`); n != 2 {
			t.Errorf("%v turns are counted as cancelled, want 2", n)
		}
	})
}

// TestDeepgramLettersMayBeCutAnywhere: what is spoken is what one message would have had spoken.
func TestDeepgramLettersMayBeCutAnywhere(t *testing.T) {
	g := newWSRig(t, newWarmLocal(t, 1, synthtest.Config{}), withDialects)
	const text = "नमस्ते जी। आपका ओटीपी 482913 है। Kal milenge."
	spoken := func(pieces ...string) string {
		s := g.toDeepgram()
		defer s.conn.Close()
		for _, p := range pieces {
			s.words(p)
		}
		s.send(flushMessage)
		pcm, _ := s.pcmUntil("Flushed")
		said, voice := heard(t, pcm)
		if voice != "raj" {
			t.Errorf("%s speaks", voice)
		}
		return strings.NewReplacer(" ", "", "|", "").Replace(said)
	}
	want := spoken(text)
	if got := spoken(strings.Split(text, "")...); got != want || !strings.Contains(want, "चारआठदोनौएकतीन") {
		t.Errorf("letter by letter %q, at once %q", got, want)
	}
	const sdk = "नम|स|्|ते| जी|।| आप|क|ा ओट|ी|पी 4829|13 है|।| Kal mil|enge|."
	if got := spoken(strings.Split(sdk, "|")...); got != want {
		t.Errorf("as the SDK was seen to send it %q, at once %q", got, want)
	}
}

func TestDeepgramFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		speak  func(u speech.Utterance, sink speech.Sink) (speech.Stats, error)
		code   string
		close  int
		frames int
	}{
		"busy": {func(speech.Utterance, speech.Sink) (speech.Stats, error) {
			return speech.Stats{}, speech.ErrBusy
		}, "TOO_MANY_REQUESTS", websocket.CloseTryAgainLater, 0},
		"no worker is warm": {func(speech.Utterance, speech.Sink) (speech.Stats, error) {
			return speech.Stats{}, speech.ErrWarming
		}, "TOO_MANY_REQUESTS", websocket.CloseTryAgainLater, 0},
		"the engine fails": {func(u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
			st, _ := speakFrames(u, sink, 2)
			return st, &speech.EngineError{Text: "broken", Err: errors.New("inside")}
		}, "INTERNAL_SERVER_ERROR", websocket.CloseInternalServerErr, 2},
		"a panic": {func(u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
			_, _ = speakFrames(u, sink, 1)
			panic("x")
		}, "INTERNAL_SERVER_ERROR", websocket.CloseInternalServerErr, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := newWSRig(t, &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
				sink speech.Sink) (speech.Stats, error) {
				return tt.speak(u, sink)
			}}, withDialects)
			s := g.toDeepgram()
			defer s.conn.Close()
			s.words("Namaste ji. ")
			s.send(flushMessage)
			pcm, m := s.pcmUntil("Error")
			if m.event["code"] != tt.code || m.event["description"] == "" || len(pcm) != tt.frames*speech.FrameBytes {
				t.Errorf("%d bytes and %s", len(pcm), m.text)
			}
			if _, err := s.try(); !websocket.IsCloseError(err, tt.close) {
				t.Errorf("it closes with %v, want %d", err, tt.close)
			}
		})
	}
}

func TestDeepgramWarnings(t *testing.T) {
	g := newWSRig(t, &script{}, withDialects)
	s := g.toDeepgram()
	defer s.conn.Close()
	s.words("Namaste ji ")
	for message, code := range map[string]string{
		`{"type":"Speak"`: "INVALID_MESSAGE", `{"type":"Spoken"}`: "INVALID_MESSAGE", `{"type":"Speak","text":"\ud83d"}`: "INVALID_MESSAGE",
		`{"type":"Speak","text":"` + strings.Repeat("क", 2001) + `"}`: "TEXT_LENGTH_EXCEEDED",
	} {
		s.send(message)
		if m := s.next(); m.typ() != "Warning" || m.event["code"] != code ||
			m.event["warn_msg"] != m.event["description"] || m.event["warn_msg"] == "" {
			t.Errorf("%.40s is answered with %s", message, m.text)
		}
	}
	if err := s.conn.WriteMessage(websocket.BinaryMessage, []byte("x")); err != nil {
		t.Fatal(err)
	}
	s.last("Warning")
	s.words("kaise ho?")
	s.send(flushMessage)
	if pcm, _ := s.pcmUntil("Flushed"); len(pcm) != 5*speech.FrameBytes {
		t.Errorf("%d bytes are spoken, want 5 frames", len(pcm))
	}
	requests := func(status string) float64 {
		return metricOf(t, g.server, `tts_requests_total{endpoint="deepgram",status="`+status+`"}`)
	}
	if requests("400") != 4 || requests("413") != 1 || requests("200") != 1 {
		t.Errorf("counted are %v 400, %v 413, %v 200", requests("400"), requests("413"), requests("200"))
	}
	s.send(`{"type":"Speak","text":"` + strings.Repeat("x", maxMessage) + `"}`)
	if m := s.next(); m.typ() != "Error" || m.event["code"] != "body_too_large" {
		t.Errorf("a message that is too large is answered with %s", m.text)
	}
	if _, err := s.try(); !websocket.IsCloseError(err, websocket.CloseMessageTooBig) {
		t.Errorf("it closes with %v", err)
	}
}

// TestDeepgramTextsWaitWithinBounds: the text of one turn and of all that wait are limited.
func TestDeepgramTextsWaitWithinBounds(t *testing.T) {
	stage := newStage()
	g := newWSRig(t, stage, withDialects)
	defer close(stage.on)
	sentence := strings.Repeat("namaste ", 249) + "ji. " // 1996 bytes
	for name, flush := range map[string]bool{"one turn": false, "many turns": true} {
		t.Run(name, func(t *testing.T) {
			s := g.toDeepgram()
			defer s.conn.Close()
			sent := 0
			for ; sent < 1000; sent++ {
				if s.conn.WriteMessage(websocket.TextMessage,
					fmt.Appendf(nil, `{"type":"Speak","text":%q}`, sentence)) != nil {
					break
				}
				if flush && s.conn.WriteMessage(websocket.TextMessage, []byte(flushMessage)) != nil {
					break
				}
			}
			for {
				m, err := s.try()
				if err != nil {
					if !websocket.IsCloseError(err, websocket.CloseTryAgainLater) {
						t.Errorf("after %d it closes with %v", sent, err)
					}
					return
				}
				if m.typ() != "audio" && m.event["code"] != "TOO_MANY_REQUESTS" {
					t.Errorf("%s", m.text)
				}
			}
		})
	}
}

func TestDeepgramHandshakes(t *testing.T) {
	g := newWSRig(t, &script{}, withDialects)
	for name, tt := range map[string]struct {
		path     string
		headers  []string
		status   int
		code     string
		protocol string
	}{
		"a token":                    {"/v1/speak", nil, 101, "", ""},
		"a subprotocol":              {"/v1/speak", []string{"Authorization", "", "Sec-Websocket-Protocol", "token, " + testKey}, 101, "", "token"},
		"another one":                {"/v1/speak", []string{"Authorization", "", "Sec-Websocket-Protocol", "bearer, " + testKey}, 101, "", "bearer"},
		"no key":                     {"/v1/speak", []string{"Authorization", ""}, 401, "INVALID_AUTH", ""},
		"a wrong key":                {"/v1/speak?model=kaun", []string{"Authorization", "Token x"}, 401, "INVALID_AUTH", ""},
		"a voice that is not theirs": {"/v1/speak?model=anjura", []string{"Authorization", "Token raj-key"}, 403, "INSUFFICIENT_PERMISSIONS", ""},
		"an unknown voice":           {"/v1/speak?model=kaun", nil, 400, "INVALID_QUERY_PARAMETER", ""},
		"a format":                   {"/v1/speak?encoding=mp3", nil, 400, "INVALID_QUERY_PARAMETER", ""},
		"Flux, which there is not":   {"/v2/speak", nil, 404, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, res, err := g.tryTo(tt.path, tt.headers...)
			if res == nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != tt.status || res.Header.Get("Sec-Websocket-Protocol") != tt.protocol {
				t.Errorf("%s with the subprotocol %q", res.Status, res.Header.Get("Sec-Websocket-Protocol"))
			}
			if err == nil {
				s.conn.Close()
				return
			}
			var body map[string]string
			if tt.code != "" && (json.NewDecoder(res.Body).Decode(&body) != nil || body["err_code"] != tt.code ||
				body["request_id"] == "" || body["err_msg"] == "") {
				t.Errorf("the error is %v, want %s", body, tt.code)
			}
		})
	}
	plain, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		"http"+strings.TrimPrefix(g.url, "ws")+"/v1/speak", nil)
	if err != nil {
		t.Fatal(err)
	}
	plain.Header.Set("Authorization", "Token "+testKey)
	res, err := http.DefaultClient.Do(plain)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("without an upgrade: %s", res.Status)
	}
}

func TestDeepgramARevokedKey(t *testing.T) {
	for name, texts := range map[string][]string{"idle": nil, "while it speaks": {"Aap kaise hain ji? "},
		"while more waits": {"Aap kaise hain? ", "flush", "Kal milte hain. "}} {
		t.Run(name, func(t *testing.T) {
			bubbleRevoking(t, newSentences, func(t *testing.T, g revoking, _ *sentences) {
				s := g.toDeepgram("Authorization", "Token "+g.key)
				defer s.conn.Close()
				for _, text := range texts {
					if text == "flush" {
						s.send(flushMessage)
					} else {
						s.words(text)
					}
				}
				if texts != nil {
					s.last("audio")
				}
				synctest.Wait()
				g.revoke()
				if m := s.last("Error"); m.event["code"] != "INVALID_AUTH" {
					t.Errorf("%s", m.text)
				}
				for {
					m, err := s.try()
					if err == nil && m.typ() == "Error" {
						continue // of what has waited
					}
					if !websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
						t.Errorf("%s, closed with %v", m.text, err)
					}
					return
				}
			}, withDialects)
		})
	}
}

func TestDeepgramDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, closeRig := newBubbleRig(t, newSentences(), withDialects)
		defer closeRig()
		s, idle, open := g.toDeepgram(), g.toDeepgram(), g.toDeepgram()
		for _, c := range []*socket{s, idle, open} {
			defer c.conn.Close()
		}
		s.words("Aap kaise hain ji? Main theek hoon ji.")
		s.send(flushMessage)
		s.last("audio")
		open.words("Aap kaise hain ji? Main ")
		open.last("audio")
		begin := time.Now()
		g.server.Drain()
		idle.wantClose(websocket.CloseGoingAway, "draining")
		if pcm, _ := s.pcmUntil("Flushed"); len(pcm) != 19*speech.FrameBytes {
			t.Errorf("%d bytes after the first frame, want 19 frames", len(pcm))
		}
		s.wantClose(websocket.CloseGoingAway, "draining")
		var closed error
		for closed == nil { // nobody feeds it any more
			_, closed = open.try()
		}
		if !websocket.IsCloseError(closed, websocket.CloseGoingAway) || time.Since(begin) > time.Minute {
			t.Errorf("after %v: %v", time.Since(begin), closed)
		}
	})
}

// TestDeepgramSlowReadersAreBounded: who takes nothing is given up, and billed for no more than the spool holds.
func TestDeepgramSlowReadersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const room = 32 << 10
		speaker := &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
			sink speech.Sink) (speech.Stats, error) {
			return speakFrames(u, sink, slices.Repeat([]int{4}, 100)...)
		}}
		g, closeRig := newBubbleRig(t, speaker, withDialects, func(c *Config) { c.Spool = room })
		defer closeRig()
		s := g.toDeepgram()
		defer s.conn.Close()
		s.words("Aap kaise hain ji?")
		s.send(flushMessage)
		synctest.Wait()
		if used := g.server.budget.use().bytes; used > room+groupBlock {
			t.Errorf("%d bytes wait, want no more than %d", used, room+groupBlock)
		}
		time.Sleep(stallLimit + holdLimit)
		line := g.logs.wait(t, 1)[0]
		if line["status"] != "cancelled" || !strings.Contains(fmt.Sprint(line["error"]), "client too slow") {
			t.Errorf("the log says %v", line)
		}
	})
}

func TestDeepgramTwentyAtOnce(t *testing.T) {
	g := newWSRig(t, newWarmLocal(t, 4, synthtest.Config{}), withDialects)
	var all sync.WaitGroup
	for i := range 20 {
		s := g.toDeepgram()
		defer s.conn.Close()
		all.Go(func() {
			for turn := range 3 {
				s.words(fmt.Sprintf("Client %d ", i))
				s.words(fmt.Sprintf("ki baari %d hai.", turn))
				s.send(flushMessage)
				pcm, flushed := s.pcmUntil("Flushed")
				if said, _ := heard(t, pcm); len(said) < 10 || flushed.event["sequence_id"] != float64(turn) {
					t.Errorf("client %d, turn %d: %q and %s", i, turn, said, flushed.text)
				}
			}
		})
	}
	all.Wait()
}

// TestDeepgramAbortedConnectionsLeaveNothing: the bubble fails if a goroutine is left.
func TestDeepgramAbortedConnectionsLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		speaker := newSentences()
		g, closeRig := newBubbleRig(t, speaker, withDialects)
		defer closeRig()
		const clients = 1000
		for i := range clients {
			s := g.toDeepgram()
			s.words("Aap kaise hain ji? Main theek")
			if i%2 == 0 {
				s.send(flushMessage)
			}
			if i%4 < 3 {
				s.last("audio")
			}
			s.conn.Close()
		}
		<-g.server.sockets.idle()
		synctest.Wait()
		if n := speaker.speaking(); n != 0 || g.server.Listeners() != 0 || g.server.budget.use().bytes != 0 {
			t.Errorf("%d workers, %d listeners and %d bytes are left", n, g.server.Listeners(),
				g.server.budget.use().bytes)
		}
		if n := metricOf(t, g.server, `tts_requests_total{endpoint="deepgram",status="cancelled"}`); n != clients {
			t.Errorf("%v turns are counted as cancelled, want %d", n, clients)
		}
	})
}

// sayDeepgram posts as a client of Deepgram does.
func (g *rig) sayDeepgram(query, body string, headers ...string) answered {
	g.t.Helper()
	return g.do(http.MethodPost, "/v1/speak?"+query, body,
		append([]string{"X-Api-Key", "", "Authorization", "Token " + testKey}, headers...)...)
}

func TestDeepgramRequests(t *testing.T) {
	g := newRig(t, newWarmLocal(t, 1, synthtest.Config{}), withDialects)
	want := g.speak(`{"text":"Aapka OTP 407 hai.","voice":"raj","format":"pcm16","temperature":0}`)
	got := g.sayDeepgram("model=aura-2-orion-en&encoding=linear16&container=none&tag=x",
		`{"text":"Aapka OTP 407 hai."}`)
	if got.StatusCode != 200 || len(got.body) != len(want.body) || len(got.body) == 0 {
		t.Errorf("%s with %d bytes, natively %d", got.Status, len(got.body), len(want.body))
	}
	wantHeaders(t, got.Header, map[string]string{
		"Content-Type": "audio/l16;rate=24000;channels=1", "Dg-Model-Name": "raj", "Dg-Char-Count": "18", "X-Ignored": "tag",
		"Dg-Request-Id": got.Header.Get("X-Request-Id"),
	})
	if wav := g.sayDeepgram("encoding=linear16",
		`{"text":"Namaste"}`); binary.LittleEndian.Uint32(wav.body[24:]) != 24000 {
		t.Errorf("%s: %.44q", wav.Status, wav.body)
	}
	for name, tt := range map[string]struct {
		query, body, key string
		status           int
		code             string
	}{
		"a wrong key":      {"", `{"text":"x"}`, "x", 401, "INVALID_AUTH"},
		"another's voice":  {"model=anjura", `{"text":"x"}`, "raj-key", 403, "INSUFFICIENT_PERMISSIONS"},
		"an unknown voice": {"model=kaun", `{"text":"x"}`, testKey, 400, "INVALID_QUERY_PARAMETER"},
		"a bad rate":       {"encoding=linear16&sample_rate=1", `{"text":"x"}`, testKey, 400, "INVALID_QUERY_PARAMETER"},
		"no text":          {"", `{"text":" "}`, testKey, 400, "Bad Request"},
		"too long":         {"", `{"text":"` + strings.Repeat("x", 2001) + `"}`, testKey, 413, "PAYLOAD_TOO_LARGE"},
		"no JSON":          {"", `text`, testKey, 400, "Bad Request"},
	} {
		got := g.sayDeepgram(tt.query, tt.body, "Authorization", "Token "+tt.key)
		var body map[string]string
		if err := json.Unmarshal(got.body, &body); err != nil || got.StatusCode != tt.status ||
			body["err_code"] != tt.code || body["request_id"] == "" {
			t.Errorf("%s: %s %s, want %d %s", name, got.Status, got.body, tt.status, tt.code)
		}
	}
	for _, path := range []string{"/v1/models", "/v1/models/raj"} {
		got := g.do(http.MethodGet, path, "", "X-Api-Key", "", "Authorization", "Token "+testKey)
		if !strings.Contains(string(got.body), `"architecture":"swar"`) {
			t.Errorf("%s: %s %s", path, got.Status, got.body)
		}
		if got := g.do(http.MethodGet, path, ""); strings.Contains(string(got.body), `"architecture":"swar"`) {
			t.Errorf("%s without a token: %s", path, got.body)
		}
	}
	if got := g.do(http.MethodGet, "/v1/models", "", "X-Api-Key", "", "Authorization",
		"Token x"); !strings.Contains(string(got.body), "INVALID_AUTH") {
		t.Errorf("models with a wrong key: %s", got.body)
	}
}

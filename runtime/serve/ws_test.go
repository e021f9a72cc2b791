package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/speech"
)

// wsRig is a server under test with sockets to it: over loopback, or in a synctest bubble over pipes, where a write
// waits for its reader.
type wsRig struct {
	t      testing.TB
	server *Server
	logs   *logLines
	dial   func(ctx context.Context, network, addr string) (net.Conn, error)
	url    string

	waitLimit time.Duration // a client waits no longer for a message; 0 is for ever
}

// newWSRig serves speaker over loopback and drains it when the test ends.
func newWSRig(t testing.TB, speaker speech.Speaker, change ...func(*Config)) *wsRig {
	t.Helper()
	s, logs := newServer(t, speaker, change...)
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		h.Close()
		waitFor(t, s)
	})
	return &wsRig{
		t: t, server: s, logs: logs, dial: (&net.Dialer{}).DialContext, url: "ws" + strings.TrimPrefix(h.URL, "http"),
		waitLimit: 30 * time.Second,
	}
}

// newBubbleRig serves speaker over pipes. It must be closed before the bubble ends.
func newBubbleRig(t testing.TB, speaker speech.Speaker, change ...func(*Config)) (g *wsRig, closeRig func()) {
	t.Helper()
	s, logs := newServer(t, speaker, change...)
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	h := &http.Server{Handler: s, ErrorLog: log.New(io.Discard, "", 0)}
	served := make(chan error)
	go func() { served <- h.Serve(l) }()
	return &wsRig{t: t, server: s, logs: logs, dial: l.dial, url: "ws://swar.test"}, func() {
		h.Close()
		<-served
		waitFor(t, s)
	}
}

func waitFor(t testing.TB, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
	defer cancel()
	if err := s.Wait(ctx); err != nil {
		t.Errorf("sockets outlived the test: %v", err)
	}
}

// pipeListener accepts the other ends of the pipes that dial makes.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// connect opens a socket with testKey, which a header of the call may replace (an empty value removes it).
func (g *wsRig) connect(headers ...string) *socket {
	g.t.Helper()
	s, res, err := g.tryConnect("", headers...)
	if err != nil {
		g.t.Fatalf("connecting: %v (%v)", err, res)
	}
	return s
}

func (g *wsRig) tryConnect(query string, headers ...string) (*socket, *http.Response, error) {
	g.t.Helper()
	h := http.Header{"X-Api-Key": {testKey}}
	for i := 0; i < len(headers); i += 2 {
		h.Del(headers[i])
		if headers[i+1] != "" {
			h.Set(headers[i], headers[i+1])
		}
	}
	d := websocket.Dialer{NetDialContext: g.dial, ReadBufferSize: 1 << 10, WriteBufferSize: 1 << 10}
	conn, res, err := d.DialContext(g.t.Context(), g.url+"/v1/tts/stream"+query, h)
	if err != nil {
		return nil, res, err
	}
	if g.waitLimit > 0 {
		conn.SetReadDeadline(time.Now().Add(g.waitLimit))
	}
	return &socket{g.t, conn}, res, nil
}

// socket is the client's end.
type socket struct {
	t    testing.TB
	conn *websocket.Conn
}

// got is a message of the server: audio, or an event.
type got struct {
	audio []byte
	text  string
	event map[string]any
}

func (m got) typ() string {
	if m.audio != nil {
		return "audio"
	}
	s, _ := m.event["type"].(string)
	return s
}

func (m got) id() string {
	s, _ := m.event["request_id"].(string)
	return s
}

func (s *socket) send(text string) {
	s.t.Helper()
	if err := s.conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		s.t.Fatalf("sending %.80s: %v", text, err)
	}
}

// ask is send for a bubble: it returns when the server has done what it can. Who reads on before may take audio, and
// whole utterances, of which the server would not have sent any more.
func (s *socket) ask(text string) {
	s.t.Helper()
	s.send(text)
	synctest.Wait()
}

// speak asks for text as an utterance called id.
func (s *socket) speak(id, text string) {
	s.t.Helper()
	s.send(fmt.Sprintf(`{"request_id":%q,"text":%q}`, id, text))
}

func (s *socket) try() (got, error) {
	kind, body, err := s.conn.ReadMessage()
	if err != nil {
		return got{}, err
	}
	if kind == websocket.BinaryMessage {
		return got{audio: body}, nil
	}
	m := got{text: string(body)}
	if err := json.Unmarshal(body, &m.event); err != nil {
		return got{}, fmt.Errorf("event %.80q: %w", body, err)
	}
	return m, nil
}

func (s *socket) next() got {
	s.t.Helper()
	m, err := s.try()
	if err != nil {
		s.t.Fatalf("reading: %v", err)
	}
	return m
}

// until reads up to the first message of the given type and returns all of them.
func (s *socket) until(typ string) []got {
	s.t.Helper()
	var all []got
	for {
		m := s.next()
		all = append(all, m)
		if m.typ() == typ {
			return all
		}
	}
}

// last reads up to the first message of the given type and returns that.
func (s *socket) last(typ string) got {
	s.t.Helper()
	all := s.until(typ)
	return all[len(all)-1]
}

// wantError reads an error event.
func (s *socket) wantError(id string, status int, text, code string) {
	s.t.Helper()
	m := s.last("error")
	want := map[string]any{"type": "error", "request_id": id, "error": text, "status": float64(status), "code": code}
	if status == http.StatusServiceUnavailable {
		want["retry_after"] = 1.0
	}
	if id == "" {
		if !strings.HasPrefix(m.id(), "req_") {
			s.t.Errorf("request_id = %q, want a generated one", m.id())
		}
		want["request_id"] = m.id()
	}
	if !equalJSON(m.event, want) {
		s.t.Errorf("event %s, want %v", m.text, want)
	}
}

func equalJSON(a, b map[string]any) bool {
	x, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		panic(err)
	}
	return bytes.Equal(x, y)
}

// wantClose reads until the server closes.
func (s *socket) wantClose(code int, reason string) {
	s.t.Helper()
	for {
		_, err := s.try()
		if err == nil {
			continue
		}
		if e, ok := errors.AsType[*websocket.CloseError](err); !ok || e.Code != code || e.Text != reason {
			s.t.Errorf("the socket ended with %v, want close %d %q", err, code, reason)
		}
		return
	}
}

// wantAlive checks that the socket still answers.
func (s *socket) wantAlive() {
	s.t.Helper()
	s.send(`{"type":"ping","request_id":"alive?"}`)
	if m := s.last("pong"); m.text != `{"type":"pong","request_id":"alive?"}` {
		s.t.Errorf("pong = %s", m.text)
	}
}

// leave closes as a well-behaved client does, and waits until the server has nothing left of the connection.
func (s *socket) leave() {
	s.t.Helper()
	if err := s.conn.WriteMessage(websocket.CloseMessage,
		websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")); err != nil {
		s.t.Errorf("closing: %v", err)
	}
	s.wantClose(websocket.CloseNormalClosure, "")
	s.conn.Close()
}

// bubble runs test in a synctest bubble with a server for what speaker returns, which is made inside, because its
// channels must be.
func bubble[S speech.Speaker](t *testing.T, speaker func() S, test func(t *testing.T, g *wsRig, speaker S),
	change ...func(*Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := speaker()
		g, closeRig := newBubbleRig(t, s, change...)
		defer closeRig()
		test(t, g, s)
	})
}

func newScript() *script { return &script{} }

// stage is a speaker whose utterances stand still after their first frame until the test lets them go on.
type stage struct {
	script
	spoke chan string   // the texts, as their first frame is out
	on    chan struct{} // each receive lets one utterance end
	ended chan error    // why each ended
}

func newStage() *stage {
	s := &stage{spoke: make(chan string, 64), on: make(chan struct{}), ended: make(chan error, 64)}
	s.SpeakFunc = func(ctx context.Context, u speech.Utterance, sink speech.Sink) (st speech.Stats, err error) {
		defer func() { s.ended <- err }()
		hold := func() error {
			s.spoke <- u.Text
			select {
			case <-s.on:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return speakUntil(u, sink, hold)
	}
	return s
}

// speakUntil speaks one frame, calls hold, and speaks four more.
func speakUntil(u speech.Utterance, sink speech.Sink, hold func() error) (st speech.Stats, err error) {
	st = speech.Stats{Started: true, Chars: len(u.Text), Frames: 1}
	if err := sink.Start(startOf(u)); err != nil {
		return st, err
	}
	if err := sink.ChunkStart(speech.Chunk{Text: u.Text, Tokens: 1, CharEnd: len(u.Text)}); err != nil {
		return st, err
	}
	if err := sink.Audio(speech.Audio{Frames: 1, Data: frames(0, 1)}); err != nil {
		return st, err
	}
	if err := hold(); err != nil {
		return st, err
	}
	st.Frames = 5
	if err := sink.Audio(speech.Audio{Frames: 4, Data: frames(1, 4)}); err != nil {
		return st, err
	}
	st.Chunks++
	return st, sink.ChunkEnd(speech.ChunkEnd{Frames: st.Frames, EOS: true})
}

func TestWSHandshakeKeys(t *testing.T) {
	g := newWSRig(t, &script{})
	tests := map[string]struct {
		query    string
		headers  []string
		status   int
		text     string
		protocol string // selected
	}{
		"the header x-api-key":                        {"", nil, 101, "", ""},
		"a bearer":                                    {"", []string{"X-Api-Key", "", "Authorization", "bearer " + testKey}, 101, "", ""},
		"the parameter api_key":                       {"?api_key=" + testKey, []string{"X-Api-Key", ""}, 101, "", ""},
		"a subprotocol beside tts.v1":                 {"", []string{"X-Api-Key", "", "Sec-Websocket-Protocol", "tts.v1, key." + testKey}, 101, "", "tts.v1"},
		"a subprotocol before tts.v1":                 {"", []string{"X-Api-Key", "", "Sec-Websocket-Protocol", "key." + testKey + ",tts.v1"}, 101, "", "tts.v1"},
		"a key as the only subprotocol is not echoed": {"", []string{"X-Api-Key", "", "Sec-Websocket-Protocol", "key." + testKey}, 101, "", ""},
		"tts.v1 alone":                                {"", []string{"Sec-Websocket-Protocol", "tts.v1"}, 101, "", "tts.v1"},
		"an unknown subprotocol is not selected":      {"", []string{"Sec-Websocket-Protocol", "chat"}, 101, "", ""},
		"no key":                                      {"", []string{"X-Api-Key", ""}, 401, "missing x-api-key", ""},
		"an empty parameter":                          {"?api_key=", []string{"X-Api-Key", ""}, 401, "missing x-api-key", ""},
		"an unknown key":                              {"", []string{"X-Api-Key", "nonsense"}, 401, "invalid api key", ""},
		"an unknown key in the query":                 {"?api_key=nonsense", []string{"X-Api-Key", ""}, 401, "invalid api key", ""},
		"an unknown key as subprotocol":               {"", []string{"X-Api-Key", "", "Sec-Websocket-Protocol", "tts.v1, key.nonsense"}, 401, "invalid api key", ""},
		"the header decides over the query":           {"?api_key=" + testKey, []string{"X-Api-Key", "nonsense"}, 401, "invalid api key", ""},
		"a page of any origin":                        {"", []string{"Origin", "https://elsewhere.example"}, 101, "", ""},
		"an origin that is not one":                   {"", []string{"Origin", "null"}, 101, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, res, err := g.tryConnect(tt.query, tt.headers...)
			if res == nil {
				t.Fatal(err)
			}
			if res.StatusCode != tt.status {
				t.Fatalf("status = %d, want %d", res.StatusCode, tt.status)
			}
			if tt.status != http.StatusSwitchingProtocols {
				wantRefusal(t, res, tt.text)
				return
			}
			defer s.leave()
			if got := res.Header["Sec-Websocket-Protocol"]; strings.Join(got, "+") != tt.protocol {
				t.Errorf("selected %q, want %q", got, tt.protocol)
			}
			wantHeaders(t, res.Header, map[string]string{"X-Synthetic": "1", "X-Service": "Swar Hinglish TTS"})
			if got := res.Header.Get("Sec-Websocket-Extensions"); got != "" {
				t.Errorf("extensions = %q, want none: audio is not compressed", got)
			}
			s.wantAlive()
		})
	}
}

func wantRefusal(t testing.TB, res *http.Response, text string) {
	t.Helper()
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) { // the dialer keeps the first kilobyte of the body
		t.Fatal(err)
	}
	want, err := json.Marshal(map[string]string{"error": text})
	if err != nil {
		t.Fatal(err)
	}
	if string(bytes.TrimSpace(body)) != string(want) {
		t.Errorf("body = %s, want %s", body, want)
	}
	if got := res.Header.Get("Access-Control-Allow-Origin"); got != "*" {
		t.Errorf("Access-Control-Allow-Origin = %q, want *", got)
	}
}

func TestWSHandshakeWithoutUpgrade(t *testing.T) {
	g := newWSRig(t, &script{})
	url := "http" + strings.TrimPrefix(g.url, "ws") + "/v1/tts/stream"
	upgrade := []string{"Connection", "upgrade", "Upgrade", "websocket"}
	tests := map[string]struct {
		method  string
		headers []string
		status  int
		text    string
	}{
		"a plain GET":                    {"GET", []string{"X-Api-Key", testKey}, 426, "websocket upgrade required"},
		"the key is checked first":       {"GET", nil, 401, "missing x-api-key"},
		"an upgrade to something else":   {"GET", []string{"X-Api-Key", testKey, "Connection", "upgrade", "Upgrade", "h2c"}, 426, "websocket upgrade required"},
		"an upgrade without a key to it": {"GET", append(upgrade, "X-Api-Key", testKey, "Sec-Websocket-Version", "13"), 400, "websocket handshake: not a websocket handshake: 'Sec-WebSocket-Key' header must be Base64 encoded value of 16-byte in length"},
		"an upgrade of another version":  {"GET", append(upgrade, "X-Api-Key", testKey, "Sec-Websocket-Version", "8"), 400, "websocket handshake: unsupported version: 13 not found in 'Sec-Websocket-Version' header"},
		"another method":                 {"POST", []string{"X-Api-Key", testKey}, 405, "method not allowed"},
		"a handshake with a wrong key":   {"GET", append(upgrade, "X-Api-Key", "nonsense"), 401, "invalid api key"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), tt.method, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(tt.headers); i += 2 {
				req.Header.Set(tt.headers[i], tt.headers[i+1])
			}
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != tt.status {
				t.Errorf("status = %d, want %d", res.StatusCode, tt.status)
			}
			wantRefusal(t, res, tt.text)
			if tt.status == http.StatusUpgradeRequired && res.Header.Get("Upgrade") != "websocket" {
				t.Errorf("Upgrade = %q, want websocket", res.Header.Get("Upgrade"))
			}
		})
	}
}

// TestWSTranscript holds two utterances against the API, byte for byte: the order of events, their fields, units and
// rounding.
func TestWSTranscript(t *testing.T) {
	speaker := &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (st speech.Stats,
		err error) {
		time.Sleep(12345 * time.Microsecond)
		st = speech.Stats{
			Started: true, Chars: 11, Queue: 1250 * time.Microsecond, TTFA: 40*time.Millisecond + 449*time.Microsecond,
			Synth: 111 * time.Millisecond, Wall: 1234567 * time.Microsecond, LeadingSilence: 3040 * time.Microsecond,
		}
		start := startOf(u)
		start.Chunks, start.Normalized, start.Queue = 2, "नमस्ते raj", st.Queue
		if err := sink.Start(start); err != nil {
			return st, err
		}
		chunks := []speech.Chunk{
			{Index: 0, Text: "नमस्ते", Tokens: 3, CharStart: 0, CharEnd: 6},
			{Index: 1, Text: "raj", Tokens: 1, CharStart: 7, CharEnd: 10},
		}
		for i, c := range chunks {
			if err := sink.ChunkStart(c); err != nil {
				return st, err
			}
			for _, n := range [][]int{{1, 4, 2}, {4}}[i] {
				time.Sleep(100 * time.Millisecond)
				if err := sink.Audio(speech.Audio{Chunk: i, Frames: n, Data: frames(st.Frames, n)}); err != nil {
					return st, err
				}
				st.Frames += n
			}
			end := speech.ChunkEnd{Chunk: i, Frames: []int{7, 4}[i], Prefill: 7777 * time.Microsecond,
				PrefillCached: i == 1, EOS: i == 0}
			if err := sink.ChunkEnd(end); err != nil {
				return st, err
			}
			st.Chunks++
		}
		return st, nil
	}}
	bubble(t, func() *script { return speaker }, func(t *testing.T, g *wsRig, _ *script) {
		s := g.connect()
		defer s.leave()
		s.send(`{"text":"नमस्ते raj","request_id":"call-7","seed":42,"format":"wav"}`)
		s.send(`{"text":"नमस्ते raj","request_id":"call-8","seed":-43,"voice":"raj","format":"opus","stream":false,"type":"speak"}`)
		var lines []string
		for range 2 {
			for _, m := range s.until("end") {
				if m.audio != nil {
					lines = append(lines, fmt.Sprintf("%d bytes of frames %d to %d", len(m.audio), m.audio[0],
						m.audio[len(m.audio)-1]))
				} else {
					lines = append(lines, m.text)
				}
			}
		}
		want := []string{
			`{"type":"start","request_id":"call-7","voice":"anjura","format":"pcm16","chunks":2,"normalized":"नमस्ते raj","seed":42,"queue_ms":1.3,"model":"fake"}`,
			`{"type":"chunk","request_id":"call-7","chunk":0,"text":"नमस्ते","tokens":3,"audio_start_s":0,"char_start":0,"char_end":6}`,
			`3840 bytes of frames 0 to 0`,
			`{"type":"first_audio_ms","request_id":"call-7","chunk":0,"ms":112.3}`,
			`15360 bytes of frames 1 to 4`,
			`7680 bytes of frames 5 to 6`,
			`{"type":"chunk_end","request_id":"call-7","chunk":0,"frames":7,"audio_s":0.56,"prefill_ms":7.8,"prefill_cached":false,"eos":true}`,
			`{"type":"chunk","request_id":"call-7","chunk":1,"text":"raj","tokens":1,"audio_start_s":0.56,"char_start":7,"char_end":10}`,
			`15360 bytes of frames 7 to 10`,
			`{"type":"chunk_end","request_id":"call-7","chunk":1,"frames":4,"audio_s":0.32,"prefill_ms":7.8,"prefill_cached":true,"eos":false}`,
			`{"type":"end","request_id":"call-7","audio_s":0.88,"frames":11,"chunks":2,"ttfa_ms":40.4,"wall_ms":1234.6,"rtf":0.126,"seed":42,"queue_ms":1.3,"leading_silence_ms":3,"billed_frames":11}`,
		}
		second := slices.Clone(want)
		for i := range second {
			second[i] = strings.NewReplacer("call-7", "call-8", `"seed":42`, `"seed":-43`, "anjura", "raj",
				"pcm16", "opus",
				`"ms":112.3`, `"ms":524.7`).Replace(second[i]) // 412.345 ms of the first, then 112.345
		}
		want = append(want, second...)
		for i := range max(len(want), len(lines)) {
			switch {
			case i >= len(want):
				t.Errorf("message %d is too much: %s", i, lines[i])
			case i >= len(lines):
				t.Errorf("message %d is missing: %s", i, want[i])
			case lines[i] != want[i]:
				t.Errorf("message %d:\n got %s\nwant %s", i, lines[i], want[i])
			}
		}
	})
}

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

	"github.com/swar-tts/swar/runtime/speech"
)

func TestWSRefusesMessagesAndStays(t *testing.T) {
	long := strings.Repeat("x", speech.MaxChars)
	tests := map[string]struct {
		kind    int
		message string
		id      string // "": generated
		status  int
		text    string
		code    string
	}{
		"a binary message":                               {websocket.BinaryMessage, `{"text":"hi"}`, "", 400, "expected a JSON text message", "bad_request"},
		"an empty binary message":                        {websocket.BinaryMessage, ``, "", 400, "expected a JSON text message", "bad_request"},
		"an empty text message":                          {websocket.TextMessage, ``, "", 400, "invalid JSON: unexpected end", "bad_request"},
		"no JSON":                                        {websocket.TextMessage, `hello`, "", 400, "invalid JSON: invalid character 'h' at start of value at byte 0", "bad_request"},
		"no object":                                      {websocket.TextMessage, `["hello"]`, "", 400, "invalid JSON: expected an object", "bad_request"},
		"half an object":                                 {websocket.TextMessage, `{"text":"hello"`, "", 400, "invalid JSON: unexpected end", "bad_request"},
		"an unknown type":                                {websocket.TextMessage, `{"type":"sing","request_id":"a","text":"hello"}`, "a", 400, "unknown message type", "bad_request"},
		"a type in other letters":                        {websocket.TextMessage, `{"type":"Speak","request_id":"a","text":"hello"}`, "a", 400, "unknown message type", "bad_request"},
		"a type that is no string":                       {websocket.TextMessage, `{"type":1,"request_id":"a"}`, "a", 400, "type: must be a string", "bad_request"},
		"no text":                                        {websocket.TextMessage, `{"request_id":"a"}`, "a", 400, "text is empty", "text_empty"},
		"blank text":                                     {websocket.TextMessage, `{"text":" \n\u00a0","request_id":"a"}`, "a", 400, "text is empty", "text_empty"},
		"text that is no string":                         {websocket.TextMessage, `{"text":7,"request_id":"a"}`, "a", 400, "text: must be a string", "bad_text"},
		"half a surrogate pair":                          {websocket.TextMessage, `{"text":"\ud800","request_id":"a"}`, "a", 400, "text: not valid UTF-8", "bad_text"},
		"a text one character too long":                  {websocket.TextMessage, `{"text":"` + long + `y","request_id":"a"}`, "a", 413, "text longer than 4000 characters", "text_too_long"},
		"an unknown voice":                               {websocket.TextMessage, `{"text":"hello","voice":"rani","request_id":"a"}`, "a", 400, "unknown voice 'rani'; see /v1/voices", "unknown_voice"},
		"an unknown format":                              {websocket.TextMessage, `{"text":"hello","format":"mp3","request_id":"a"}`, "a", 400, "format must be pcm16, wav or opus", "bad_format"},
		"another sample rate":                            {websocket.TextMessage, `{"text":"hello","sample_rate":16000,"request_id":"a"}`, "a", 400, "sample_rate must be 24000", "bad_sample_rate"},
		"another speed":                                  {websocket.TextMessage, `{"text":"hello","speed":1.5,"request_id":"a"}`, "a", 400, "speed other than 1.0 is not supported by this model", "bad_speed"},
		"a temperature out of range":                     {websocket.TextMessage, `{"text":"hello","temperature":2.1,"request_id":"a"}`, "a", 400, "temperature must be in [0, 2]", "bad_temperature"},
		"a seed out of range":                            {websocket.TextMessage, `{"text":"hello","seed":1e30,"request_id":"a"}`, "a", 400, "seed: out of range", "bad_request"},
		"timestamps of something else":                   {websocket.TextMessage, `{"text":"hello","timestamps":"letters","request_id":"a"}`, "a", 400, "timestamps must be words or none", "bad_request"},
		"timestamps that are no string":                  {websocket.TextMessage, `{"text":"hello","timestamps":true,"request_id":"a"}`, "a", 400, "timestamps: must be a string", "bad_request"},
		"timestamps in other letters":                    {websocket.TextMessage, `{"text":"hello","timestamps":"Words","request_id":"a"}`, "a", 400, "timestamps must be words or none", "bad_request"},
		"a request_id with a space":                      {websocket.TextMessage, `{"text":"hello","request_id":"a b"}`, "", 400, "request_id: must be 1 to 128 visible ASCII characters", "bad_request"},
		"an empty request_id":                            {websocket.TextMessage, `{"text":"hello","request_id":""}`, "", 400, "request_id: must be 1 to 128 visible ASCII characters", "bad_request"},
		"a voice that the key may not use":               {websocket.TextMessage, `{"text":"hello","voice":"anjura","request_id":"a"}`, "a", 403, "voice anjura not allowed for this key", "voice_not_allowed"},
		"a cancel of an empty id is not a cancel of all": {websocket.TextMessage, `{"type":"cancel","request_id":""}`, "", 400, "request_id: must be 1 to 128 visible ASCII characters", "bad_request"},
		"a cancel of an id that is no string":            {websocket.TextMessage, `{"type":"cancel","request_id":1}`, "", 400, "request_id: must be a string", "bad_request"},
	}
	g := newWSRig(t, &script{})
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := g.connect("X-Api-Key", "raj-key")
			s.t = t
			defer s.leave()
			before := g.counted("ws", tt.status)
			if err := s.conn.WriteMessage(tt.kind, []byte(tt.message)); err != nil {
				t.Fatal(err)
			}
			s.wantError(tt.id, tt.status, tt.text, tt.code)
			s.wantAlive()
			if got := g.counted("ws", tt.status) - before; got != 1 {
				t.Errorf("counted %v times, want once", got)
			}
			s.send(`{"text":"hello","voice":"raj","request_id":"next"}`)
			if m := s.last("end"); m.id() != "next" {
				t.Errorf("the next utterance ended as %s", m.text)
			}
		})
	}
}

func (g *wsRig) counted(endpoint string, status any) float64 {
	g.t.Helper()
	return metricOf(g.t, g.server, fmt.Sprintf(`tts_requests_total{endpoint="%s",status="%v"}`, endpoint, status))
}

func (g *wsRig) countedErrors(kind string) float64 {
	g.t.Helper()
	return metricOf(g.t, g.server, fmt.Sprintf(`tts_errors_total{kind="%s"}`, kind))
}

func TestWSReportsFailuresAndStays(t *testing.T) {
	tests := map[string]struct {
		err     error
		started bool
		status  int
		text    string
		code    string
		kind    string
	}{
		"nothing to say":              {speech.ErrNothingToSay, false, 400, "nothing to say after normalisation", "nothing_to_say", "validation"},
		"too many chunks":             {speech.TooManyChunks(65), false, 413, "text splits into 65 chunks; max 64", "too_many_chunks", "validation"},
		"no worker free":              {speech.ErrBusy, false, 503, "busy", "busy", "busy"},
		"no worker ready":             {speech.ErrWarming, false, 503, "workers warming up", "warming_up", "warming"},
		"the pool is draining":        {speech.ErrDraining, false, 503, "busy", "busy", "busy"},
		"an engine failure":           {&speech.EngineError{Text: "no voice today", Err: errors.New("/secret/path")}, true, 500, "no voice today", "engine_error", "engine"},
		"a failure without a text":    {errors.New("/secret/path"), true, 500, "engine error", "engine_error", "engine"},
		"a worker that died":          {fmt.Errorf("chunk 3: %w", speech.ErrWorkerGone), true, 500, "worker gone", "worker_gone", "worker_gone"},
		"a time limit":                {speech.ErrTimeout, true, 504, "timeout", "timeout", "timeout"},
		"an engine that says nothing": {nil, true, 500, "engine error", "engine_error", "engine"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			fail := true
			speaker := &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
				sink speech.Sink) (speech.Stats, error) {
				if !fail {
					return speakFrames(u, sink, 1)
				}
				fail = false
				return speech.Stats{Started: tt.started}, tt.err
			}}
			g := newWSRig(t, speaker)
			s := g.connect()
			defer s.leave()
			s.speak("a", "hello")
			s.wantError("a", tt.status, tt.text, tt.code)
			if got := g.counted("ws", tt.status); got != 1 {
				t.Errorf("counted %v times, want once", got)
			}
			if got := g.countedErrors(tt.kind); got != 1 {
				t.Errorf("counted %v errors of kind %s, want 1", got, tt.kind)
			}
			s.speak("a", "hello again")
			if m := s.last("end"); m.id() != "a" {
				t.Errorf("the next utterance ended as %s", m.text)
			}
		})
	}
}

func TestWSFailureInTheMiddleEndsTheUtteranceWithoutEnd(t *testing.T) {
	speaker := &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		return speakUntil(u, sink, func() error { return &speech.EngineError{Text: "engine error"} })
	}}
	g := newWSRig(t, speaker)
	s := g.connect()
	defer s.leave()
	s.speak("a", "hello")
	var order []string
	for _, m := range s.until("error") {
		order = append(order, m.typ())
	}
	if got, want := strings.Join(order, " "), "start chunk audio first_audio_ms error"; got != want {
		t.Errorf("messages %s, want %s", got, want)
	}
	s.wantAlive()
	line := g.logs.wait(t, 1)[0]
	if line["status"] != 500.0 || line["frames"] != 1.0 || line["level"] != "ERROR" {
		t.Errorf("logged %v, want status 500 and the one frame at level ERROR", line)
	}
}

func TestWSPanicOfTheSpeakerCostsOneUtterance(t *testing.T) {
	speaker := &script{SpeakFunc: func(context.Context, speech.Utterance, speech.Sink) (speech.Stats,
		error) {
		panic("oops")
	}}
	g := newWSRig(t, speaker)
	s := g.connect()
	defer s.leave()
	s.speak("a", "hello")
	s.wantError("a", 500, "engine error", "engine_error")
	s.wantAlive()
}

func TestWSPanicOfOursClosesTheSocket(t *testing.T) {
	speaker := &script{ModelFunc: func() speech.Model { panic("oops") }}
	g := newWSRig(t, speaker)
	s := g.connect()
	defer s.conn.Close()
	s.speak("a", "hello")
	s.wantClose(websocket.CloseInternalServerErr, "internal error")
}

func TestWSInvalidUTF8Closes(t *testing.T) {
	t.Run("a text message that is not UTF-8", func(t *testing.T) {
		stage := newStage()
		g := newWSRig(t, stage)
		s := g.connect()
		defer s.conn.Close()
		s.speak("a", "hello")
		<-stage.spoke
		s.send("{\"text\":\"\xff\"}")
		s.wantClose(websocket.CloseInvalidFramePayloadData, "not valid UTF-8")
		if err := <-stage.ended; !errors.Is(err, speech.ErrClientGone) {
			t.Errorf("the running utterance ended with %v, want client gone", err)
		}
	})
	t.Run("a character that is split between two frames is valid", func(t *testing.T) {
		g := newWSRig(t, &script{})
		s := g.connect()
		defer s.leave()
		w, err := s.conn.NextWriter(websocket.TextMessage)
		if err != nil {
			t.Fatal(err)
		}
		text := `{"text":"` + strings.Repeat("न", 3000) + `"}` // the client's buffer is 1 KiB: frames end anywhere
		for i := range len(text) {
			if _, err := w.Write([]byte{text[i]}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		s.last("end")
	})
}

func TestWSMessageLimit(t *testing.T) {
	padded := func(n int) string {
		const text = `{"text":"hello"}`
		return text + strings.Repeat(" ", n-len(text))
	}
	g := newWSRig(t, &script{})
	for _, n := range []int{maxMessage - 1, maxMessage} {
		t.Run(fmt.Sprintf("%d bytes are spoken", n), func(t *testing.T) {
			g := *g
			g.t = t
			s := g.connect()
			defer s.leave()
			s.send(padded(n))
			s.last("end")
		})
	}
	for name, send := range map[string]func(*websocket.Conn, []byte){
		"one byte more in one frame": func(c *websocket.Conn, p []byte) { c.WriteMessage(websocket.TextMessage, p) },
		"one byte more in many frames": func(c *websocket.Conn, p []byte) {
			w, err := c.NextWriter(websocket.TextMessage)
			if err != nil {
				return
			}
			for len(p) > 0 {
				n := min(len(p), 1<<10)
				if _, err := w.Write(p[:n]); err != nil {
					return
				}
				p = p[n:]
			}
			w.Close()
		},
		"a binary message": func(c *websocket.Conn, p []byte) { c.WriteMessage(websocket.BinaryMessage, p) },
	} {
		t.Run(name+" closes", func(t *testing.T) {
			g := *g
			g.t = t
			s := g.connect()
			defer s.conn.Close()
			go send(s.conn, []byte(padded(maxMessage+1)))
			s.wantClose(websocket.CloseMessageTooBig, "")
		})
	}
}

func TestWSProtocolErrorCloses(t *testing.T) {
	g := newWSRig(t, &script{})
	s := g.connect()
	defer s.conn.Close()
	if _, err := s.conn.NetConn().Write([]byte{0x83, 0x80, 0, 0, 0, 0}); err != nil {
		// an opcode that nobody has defined
		t.Fatal(err)
	}
	s.wantClose(websocket.CloseProtocolError, "bad opcode 3")
}

func TestWSIdsOfUtterancesWithoutOne(t *testing.T) {
	g := newWSRig(t, &script{})
	s := g.connect()
	defer s.leave()
	seen := map[string]bool{}
	for range 3 {
		s.send(`{"text":"hello"}`)
	}
	for range 3 {
		all := s.until("end")
		id := all[0].id()
		if !strings.HasPrefix(id, "req_") || len(id) != 30 || seen[id] {
			t.Errorf("id %q, want a new req_ and 26 characters", id)
		}
		seen[id] = true
		for _, m := range all {
			if m.audio == nil && m.id() != id {
				t.Errorf("event %s, want the id %s in every one", m.text, id)
			}
		}
	}
}

func TestWSSeeds(t *testing.T) {
	g := newWSRig(t, &script{})
	s := g.connect()
	defer s.leave()
	seeds := map[any]bool{}
	for range 3 {
		s.send(`{"text":"hello"}`)
		seeds[s.last("start").event["seed"]] = true
	}
	if len(seeds) != 3 {
		t.Errorf("three utterances without a seed got %v, want three different ones", seeds)
	}
	s.send(`{"text":"hello","seed":0}`)
	for m := s.last("start"); m.event["seed"] != 0.0; {
		t.Fatalf("start %s, want the seed 0 that was asked for", m.text)
	}
}

// TestWSContainerHead: the pages that open an Ogg stream travel with the first frame, whichever way the encoder hands
// them over.
func TestWSContainerHead(t *testing.T) {
	speaker := &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		st := speech.Stats{Started: true, Frames: 1, Chunks: 1}
		return st, errors.Join(
			sink.Start(startOf(u)),
			sink.ChunkStart(speech.Chunk{}),
			sink.Audio(speech.Audio{Data: []byte("OpusHead ")}),
			sink.Audio(speech.Audio{Data: []byte("OpusTags ")}),
			sink.Audio(speech.Audio{Frames: 1, Data: []byte("first frame")}),
			sink.Audio(speech.Audio{Data: []byte("last page")}),
			sink.ChunkEnd(speech.ChunkEnd{Frames: 1}),
		)
	}}
	g := newWSRig(t, speaker)
	s := g.connect()
	defer s.leave()
	s.send(`{"text":"hello","format":"opus"}`)
	var order []string
	for _, m := range s.until("end") {
		if order = append(order, m.typ()); m.audio != nil {
			order[len(order)-1] = "<" + string(m.audio) + ">"
		}
	}
	want := "start chunk <OpusHead OpusTags first frame> first_audio_ms <last page> chunk_end end"
	if got := strings.Join(order, " "); got != want {
		t.Errorf("messages\n got %s\nwant %s", got, want)
	}
}

func TestWSPing(t *testing.T) {
	g := newWSRig(t, &script{})
	s := g.connect()
	defer s.leave()
	s.send(`{"type":"ping"}`)
	if m := s.next(); m.text != `{"type":"pong"}` {
		t.Errorf("answer %s, want a bare pong", m.text)
	}
	pong := ""
	s.conn.SetPongHandler(func(payload string) error {
		pong = payload
		return nil
	})
	if err := s.conn.WriteMessage(websocket.PingMessage, []byte("namaste")); err != nil {
		t.Fatal(err)
	}
	s.wantAlive()
	if pong != "namaste" {
		t.Errorf("the protocol ping was answered with %q, want its payload", pong)
	}
	if got := g.counted("ws", 200); got != 0 {
		t.Errorf("pings count as %v requests, want none", got)
	}
}

// TestWSErrorsComeAtOnce: what is wrong with a queued message is told while another utterance is spoken, and does not
// disturb it.
func TestWSErrorsComeAtOnce(t *testing.T) {
	stage := newStage()
	g := newWSRig(t, stage)
	s := g.connect()
	defer s.leave()
	s.speak("a", "hello")
	s.until("first_audio_ms")
	s.send(`{"text":"hello","voice":"rani","request_id":"b"}`)
	s.wantError("b", 400, "unknown voice 'rani'; see /v1/voices", "unknown_voice")
	if err := s.conn.WriteMessage(websocket.BinaryMessage, []byte{1}); err != nil {
		t.Fatal(err)
	}
	s.wantError("", 400, "expected a JSON text message", "bad_request")
	stage.on <- struct{}{}
	if m := s.last("end"); m.id() != "a" {
		t.Errorf("ended %s, want a", m.text)
	}
}

func TestWSUtterancesAreSpokenInOrder(t *testing.T) {
	stage := newStage()
	g := newWSRig(t, stage)
	s := g.connect()
	defer s.leave()
	for _, id := range []string{"a", "b", "c"} {
		s.speak(id, "text of "+id)
	}
	for _, id := range []string{"a", "b", "c"} {
		if got := <-stage.spoke; got != "text of "+id {
			t.Fatalf("speaking %q, want the text of %s", got, id)
		}
		select {
		case early := <-stage.spoke:
			t.Fatalf("%q is spoken beside another utterance", early)
		default:
		}
		stage.on <- struct{}{}
		for _, m := range s.until("end") {
			if m.audio == nil && m.id() != id {
				t.Errorf("event %s in the turn of %s", m.text, id)
			}
		}
	}
}

// TestWSKeepsTheWorkerInsideATurn: the utterances of a socket share a session, and more is true while another waits.
func TestWSKeepsTheWorkerInsideATurn(t *testing.T) {
	type call struct {
		session string
		more    bool
	}
	calls := make(chan call, 8)
	on := make(chan struct{})
	turns := make(chan speech.Turn, 8)
	speaker := &script{TurnFunc: func(turn speech.Turn) { turns <- turn }, SpeakFunc: func(
		_ context.Context, u speech.Utterance, sink speech.Sink,
	) (speech.Stats, error) {
		turn := <-turns
		<-on
		st, err := speakFrames(u, sink, 1)
		calls <- call{turn.Session, turn.More()}
		return st, err
	}}
	g := newWSRig(t, speaker)
	s, other := g.connect(), g.connect()
	defer s.leave()
	defer other.leave()
	s.speak("a", "hello")
	s.speak("b", "hello")
	s.wantAlive() // both have been read
	on <- struct{}{}
	a := <-calls
	on <- struct{}{}
	b := <-calls
	other.speak("a", "hello")
	on <- struct{}{}
	c := <-calls
	if !a.more || b.more || c.more {
		t.Errorf("more = %v, %v and elsewhere %v, want it true only for the first", a.more, b.more, c.more)
	}
	if a.session == "" || a.session != b.session || a.session == c.session {
		t.Errorf("sessions %q, %q and elsewhere %q, want the first two alike", a.session, b.session, c.session)
	}
}

func TestWSIdsInUse(t *testing.T) {
	const inUse = "request_id: already in use on this connection"
	stage := newStage()
	g := newWSRig(t, stage)
	s := g.connect()
	defer s.leave()
	s.speak("a", "hello")
	s.speak("b", "hello")
	s.speak("a", "again, while it is spoken")
	s.wantError("a", 400, inUse, "bad_request")
	s.speak("b", "again, while it waits")
	s.wantError("b", 400, inUse, "bad_request")
	other := g.connect()
	defer other.leave()
	other.speak("a", "on another connection")
	other.last("start")
	stage.on <- struct{}{}
	stage.on <- struct{}{}
	stage.on <- struct{}{}
	other.last("end")
	s.last("end")
	s.last("end")
	s.speak("a", "again, after its end")
	stage.on <- struct{}{}
	if m := s.last("end"); m.id() != "a" {
		t.Errorf("ended %s, want a again", m.text)
	}
}

func TestWSQueueLimits(t *testing.T) {
	busy := func(s *socket, id string) {
		t.Helper()
		s.wantError(id, http.StatusServiceUnavailable, "busy", "busy")
	}
	t.Run("32 wait behind the running one, the next is refused", func(t *testing.T) {
		stage := newStage()
		g := newWSRig(t, stage)
		s := g.connect()
		defer s.leave()
		for i := range 1 + maxWaiting {
			s.speak(fmt.Sprint(i), "hello")
		}
		s.speak("over", "hello")
		busy(s, "over")
		s.send(`{"text":"","request_id":"bad"}`)
		// a bad request must not be sent again, however full we are
		s.wantError("bad", 400, "text is empty", "text_empty")
		stage.on <- struct{}{}
		s.last("end")
		s.speak("33", "hello") // one has moved up
		s.speak("over", "hello")
		busy(s, "over")
		for i := 1; i <= 33; i++ {
			stage.on <- struct{}{}
			if m := s.last("end"); m.id() != fmt.Sprint(i) {
				t.Fatalf("ended %s, want %d", m.text, i)
			}
		}
	})
	t.Run("256 KiB of text wait, one byte more does not", func(t *testing.T) {
		stage := newStage()
		g := newWSRig(t, stage)
		s := g.connect()
		defer s.leave()
		s.speak("running", "hello")
		emoji := func(n int) string { return strings.Repeat("😀", n) } // of four bytes each
		left := maxWaitingText
		for i := 0; left > 4*speech.MaxChars; i++ {
			s.speak(fmt.Sprint(i), emoji(speech.MaxChars))
			left -= 4 * speech.MaxChars
		}
		s.speak("almost", emoji(left/4-1))
		left = 4 + left%4
		s.speak("over", strings.Repeat("a", left+1))
		busy(s, "over")
		s.speak("exact", strings.Repeat("a", left))
		s.speak("over", "a")
		busy(s, "over")
		s.send(`{"type":"cancel","request_id":"exact"}`)
		s.last("cancelled")
		s.speak("again", strings.Repeat("a", left))
		s.wantAlive()
		s.send(`{"type":"cancel"}`)
		for m := s.last("cancelled"); m.id() != "running"; m = s.last("cancelled") {
		}
	})
}

func TestWSCancel(t *testing.T) {
	cancelled := func(id string, frames int, audio float64, chars, billed int) string {
		return fmt.Sprintf(`{"type":"cancelled","request_id":"%s","frames":%d,"audio_s":%v,"chunk":0,"chars_spoken":%d,"billed_frames":%d}`,
			id, frames, audio, chars, billed)
	}
	open := func(t *testing.T) (*wsRig, *stage, *socket) {
		stage := newStage()
		g := newWSRig(t, stage)
		s := g.connect()
		t.Cleanup(s.leave)
		return g, stage, s
	}
	t.Run("the running utterance stops and the next begins", func(t *testing.T) {
		g, stage, s := open(t)
		s.speak("a", "hello")
		s.until("first_audio_ms")
		s.speak("b", "hello")
		s.send(`{"type":"cancel","request_id":"a"}`)
		if m := s.next(); m.text != cancelled("a", 1, 0.08, 1, 1) {
			t.Errorf("answer %s", m.text)
		}
		if err := <-stage.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the speaker ended with %v, want context.Canceled", err)
		}
		stage.on <- struct{}{}
		for _, m := range s.until("end") {
			if m.audio == nil && m.id() != "b" {
				t.Errorf("event %s after a was cancelled", m.text)
			}
		}
		if got := g.counted("ws", "cancelled"); got != 1 {
			t.Errorf("counted %v times as cancelled, want once", got)
		}
		if got := g.counted("ws", 200); got != 1 {
			t.Errorf("counted %v times as 200, want only b", got)
		}
	})
	t.Run("a queued utterance never begins", func(t *testing.T) {
		g, stage, s := open(t)
		s.speak("a", "hello")
		s.until("first_audio_ms")
		s.speak("b", "hello")
		s.speak("c", "hello")
		s.send(`{"type":"cancel","request_id":"b"}`)
		if m := s.next(); m.text != cancelled("b", 0, 0, 0, 0) {
			t.Errorf("answer %s", m.text)
		}
		s.speak("b", "hello") // the id is free again
		for _, id := range []string{"a", "c", "b"} {
			stage.on <- struct{}{}
			if m := s.last("end"); m.id() != id {
				t.Errorf("ended %s, want %s", m.text, id)
			}
		}
		if got := g.counted("ws", "cancelled"); got != 1 {
			t.Errorf("counted %v times as cancelled, want once", got)
		}
	})
	t.Run("without an id everything ends", func(t *testing.T) {
		g, _, s := open(t)
		for _, id := range []string{"a", "b", "c"} {
			s.speak(id, "hello")
		}
		s.until("first_audio_ms")
		s.send(`{"type":"cancel"}`)
		seen := map[string]bool{}
		for range 3 {
			m := s.next()
			if m.typ() != "cancelled" {
				t.Errorf("message %s, want cancelled", m.text)
			}
			seen[m.id()] = true
		}
		if !seen["a"] || !seen["b"] || !seen["c"] {
			t.Errorf("cancelled %v, want a, b and c", seen)
		}
		s.wantAlive()
		if got := g.counted("ws", "cancelled"); got != 3 {
			t.Errorf("counted %v times as cancelled, want 3", got)
		}
	})
	t.Run("an id that nobody has is ignored", func(t *testing.T) {
		g, stage, s := open(t)
		s.send(`{"type":"cancel","request_id":"a"}`)
		s.send(`{"type":"cancel"}`)
		s.speak("a", "hello")
		stage.on <- struct{}{}
		s.last("end")
		s.send(`{"type":"cancel","request_id":"a"}`)
		s.send(`{"type":"ping"}`)
		if m := s.next(); m.typ() != "pong" {
			t.Errorf("message %s, want nothing about the cancels", m.text)
		}
		if got := g.counted("ws", "cancelled"); got != 0 {
			t.Errorf("counted %v times as cancelled, want none", got)
		}
	})
	t.Run("the same id may be spoken again after it", func(t *testing.T) {
		_, stage, s := open(t)
		for range 3 {
			s.speak("a", "hello")
			s.until("first_audio_ms")
			s.send(`{"type":"cancel","request_id":"a"}`)
			s.last("cancelled")
		}
		s.speak("a", "hello")
		stage.on <- struct{}{}
		s.last("end")
	})
}

// TestWSCancelTakesBackWhatWasNotSent: of a slow client's utterance the buffered audio is dropped, and the event counts
// what was sent.
func TestWSCancelTakesBackWhatWasNotSent(t *testing.T) {
	full := false
	speaker := &script{SpeakFunc: func(ctx context.Context, u speech.Utterance, sink speech.Sink) (st speech.Stats,
		err error) {
		if err := errors.Join(sink.Start(startOf(u)), sink.ChunkStart(speech.Chunk{CharEnd: 100})); err != nil {
			return st, err
		}
		for range 100 {
			st.Frames += 4
			if err := sink.Audio(speech.Audio{Frames: 4, Data: frames(0, 4)}); err != nil {
				return st, err
			}
		}
		full = true
		<-ctx.Done()
		return st, context.Cause(ctx)
	}}
	bubble(t, func() *script { return speaker }, func(t *testing.T, g *wsRig, _ *script) {
		s := g.connect()
		defer s.leave()
		s.speak("a", "hello")
		s.until("first_audio_ms")
		synctest.Wait()
		if !full {
			t.Fatal("not all audio found room")
		}
		s.send(`{"type":"cancel"}`)
		synctest.Wait()
		all := s.until("cancelled")
		want := `{"type":"cancelled","request_id":"a","frames":8,"audio_s":0.64,"chunk":0,"chars_spoken":9,"billed_frames":400}`
		if m := all[len(all)-1]; len(all) != 2 || m.text != want {
			t.Errorf("%d messages, last %s\nwant the block on its way and %s", len(all), m.text, want)
		}
	})
}

func TestWSHeard(t *testing.T) {
	chunks := []spokenChunk{
		{charStart: 0, charEnd: 20, frames: 10, ended: true},
		{charStart: 21, charEnd: 41, frames: 10, ended: true},
		{charStart: 42, charEnd: 142, frames: 5},
	}
	tests := map[string]struct {
		chunks      []spokenChunk
		frames      int
		chunk, char int
	}{
		"nothing was begun":                        {nil, 0, 0, 0},
		"nothing was sent":                         {chunks, 0, 0, 0},
		"half of a chunk that ended":               {chunks, 5, 0, 10},
		"all of it":                                {chunks, 10, 0, 20},
		"one frame into the next":                  {chunks, 11, 1, 23},
		"a chunk that was cut, at the pace before": {chunks, 24, 2, 50},
		"a first chunk that was cut":               {chunks[2:], 5, 0, 48},
		"never beyond the chunk":                   {[]spokenChunk{{charEnd: 3, frames: 50}}, 50, 0, 3},
		"a chunk without a frame":                  {[]spokenChunk{{charEnd: 3, ended: true}}, 0, 0, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			u := &utterance{progress: progress{chunks: tt.chunks}}
			if chunk, char := u.playedUpTo(tt.frames); chunk != tt.chunk || char != tt.char {
				t.Errorf("heard chunk %d, %d characters, want chunk %d, %d", chunk, char, tt.chunk, tt.char)
			}
		})
	}
}

func TestWSLogs(t *testing.T) {
	stage := newStage()
	g := newWSRig(t, stage)
	s, _, err := g.tryConnect("?api_key="+testKey, "X-Api-Key", "")
	if err != nil {
		t.Fatal(err)
	}
	s.speak("a", "a secret text")
	stage.on <- struct{}{}
	s.last("end")
	s.leave()
	lines := g.logs.wait(t, 2)
	for _, line := range lines {
		for key, value := range line {
			if text := fmt.Sprint(value); strings.Contains(text, testKey) || strings.Contains(text, "secret") {
				t.Errorf("%s = %q is logged", key, text)
			}
		}
	}
	want := map[string]any{
		"msg": "request", "level": "INFO", "endpoint": "ws", "request_id": "a", "status": 200.0, "voice": "anjura", "format": "pcm16",
		"chars": 13.0, "frames": 5.0,
	}
	for key, value := range want {
		if lines[0][key] != value {
			t.Errorf("%s = %v is logged, want %v", key, lines[0][key], value)
		}
	}
	for _, key := range []string{"key_id", "ttfa_ms", "queue_ms", "wall_ms", "rtf"} {
		if lines[0][key] == nil {
			t.Errorf("%s is not logged", key)
		}
	}
}

// TestWSCloseEndsEverything: the running utterance is told to stop, and those behind it are dropped, however the client
// goes.
func TestWSCloseEndsEverything(t *testing.T) {
	for name, leave := range map[string]func(*socket){
		"a close":                      func(s *socket) { s.leave() },
		"a connection that is dropped": func(s *socket) { s.conn.Close() },
		"a close without a code": func(s *socket) {
			s.conn.WriteMessage(websocket.CloseMessage, nil)
			s.wantClose(1005, "")
			s.conn.Close()
		},
		"a message that is half there": func(s *socket) { s.conn.NetConn().Write([]byte{0x81, 0xfe, 0x10, 0, 0}); s.conn.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			stage := newStage()
			g := newWSRig(t, stage)
			s := g.connect()
			for _, id := range []string{"a", "b", "c"} {
				s.speak(id, id)
			}
			s.until("first_audio_ms")
			s.wantAlive()
			if <-stage.spoke != "a" {
				t.Fatal("a is not spoken first")
			}
			leave(s)
			if err := <-stage.ended; !errors.Is(err, speech.ErrClientGone) {
				t.Errorf("the speaker ended with %v, want client gone", err)
			}
			g.logs.wait(t, 4) // three utterances and the socket
			waitFor(t, g.server)
			if len(stage.spoke) > 0 {
				t.Errorf("%q is spoken to nobody", <-stage.spoke)
			}
			if got := g.counted("ws", "cancelled"); got != 3 {
				t.Errorf("counted %v times as cancelled, want 3", got)
			}
			if got := metricOf(t, g.server, "tts_websockets_open"); got != 0 {
				t.Errorf("%v sockets are open, want none", got)
			}
		})
	}
}

func TestWSSocketLimit(t *testing.T) {
	g := newWSRig(t, &script{}, func(c *Config) { c.MaxSockets = 3 })
	var open []*socket
	for range 3 {
		s := g.connect()
		s.wantAlive()
		open = append(open, s)
	}
	over := g.connect() // after the upgrade, because a browser shows its page no status of a failed one
	over.wantClose(websocket.CloseTryAgainLater, "too many sockets")
	over.conn.Close()
	if got := metricOf(t, g.server, "tts_websockets_open"); got != 3 {
		t.Errorf("%v sockets are open, want 3", got)
	}
	if got := g.counted("ws", 503); got != 1 {
		t.Errorf("counted %v times as 503, want once", got)
	}
	open[0].leave()
	for deadline := time.Now().Add(10 * time.Second); ; { // the server frees the place after its answer
		s := g.connect()
		s.send(`{"type":"ping"}`)
		if m, err := s.try(); err == nil && m.typ() == "pong" {
			open[0] = s
			break
		}
		s.conn.Close()
		if time.Now().After(deadline) {
			t.Fatal("the place of a socket that left stays taken")
		}
	}
	for _, s := range open {
		s.leave()
	}
}

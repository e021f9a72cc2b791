package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// socket returns a connection to a server whose end is h. The server's end is closed, abruptly, when h returns.
func socket(t testing.TB, h func(*websocket.Conn)) *Conn {
	t.Helper()
	c := serve(t, Options{}, upgrade(t, h))
	conn, err := c.Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func upgrade(t testing.TB, h func(*websocket.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		up := websocket.Upgrader{}
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer ws.Close()
		h(ws)
	}
}

func say(ws *websocket.Conn, texts ...string) {
	for _, text := range texts {
		ws.WriteMessage(websocket.TextMessage, []byte(text))
	}
}

// bye closes in order and waits for the client's answer.
func bye(ws *websocket.Conn, code int, reason string) {
	ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), time.Now().Add(10*time.Second))
	io.Copy(io.Discard, ws.NetConn())
}

func TestEventsAreTyped(t *testing.T) {
	tests := map[string]struct {
		text string
		want Event
	}{
		"start": {
			`{"type":"start","request_id":"r","voice":"raj","format":"pcm16","chunks":2,"normalized":"n","disclosure":"d","unspoken":"你","seed":-9007199254740993,"queue_ms":0.5,"model":"m"}`,
			&StartEvent{Head{}, "raj", PCM16, 2, "n", "d", "你", -9007199254740993, 500 * time.Microsecond, "m",
				false, false},
		},
		"start of a server with the bare contract": {
			`{"type":"start","request_id":"r","voice":"raj","format":"opus","chunks":1,"normalized":"n"}`,
			&StartEvent{Voice: "raj", Format: Opus, Chunks: 1, Normalized: "n"},
		},
		"chunk": {
			`{"type":"chunk","request_id":"r","chunk":1,"text":"t","tokens":7,"audio_start_s":1.52,"char_start":3,"char_end":4}`,
			&ChunkEvent{Head{}, 1, "t", 7, 1520 * time.Millisecond, 3, 4},
		},
		"first audio": {
			`{"type":"first_audio_ms","request_id":"r","chunk":0,"ms":31.4}`, &FirstAudioEvent{Head{}, 0, 31400 * time.Microsecond},
		},
		"chunk end": {
			`{"type":"chunk_end","request_id":"r","chunk":1,"frames":19,"audio_s":1.52,"prefill_ms":2.5,"prefill_cached":true,"eos":true}`,
			&ChunkEndEvent{Head{}, 1, 19, 1520 * time.Millisecond, 2500 * time.Microsecond, true, true},
		},
		"end": {
			`{"type":"end","request_id":"r","audio_s":1.52,"frames":19,"chunks":1,"ttfa_ms":31.4,"wall_ms":100,"rtf":0.066,"seed":5,"queue_ms":0.5,"leading_silence_ms":40,"billed_frames":19}`,
			&EndEvent{Head{}, 19, 1520 * time.Millisecond, 1, 31400 * time.Microsecond, 100 * time.Millisecond, 0.066,
				5, 500 * time.Microsecond, 40 * time.Millisecond, 19, ""},
		},
		"cancelled": {
			`{"type":"cancelled","request_id":"r","frames":5,"audio_s":0.4,"chunk":0,"chars_spoken":12,"billed_frames":6}`,
			&CancelledEvent{Head{}, 5, 400 * time.Millisecond, 0, 12, 6},
		},
		"a refusal": {
			`{"type":"error","request_id":"r","error":"busy","status":503,"code":"busy","retry_after":1}`,
			&ErrorEvent{Err: &Error{503, CodeBusy, "busy", "r", time.Second}},
		},
		"an error of a server with the bare contract": {
			`{"type":"error","request_id":"r","error":"timeout"}`, &ErrorEvent{Err: &Error{Text: "timeout", RequestID: "r"}},
		},
		"words of which nothing is known": {
			`{"type":"words","request_id":"r","chunk":1,"estimated":true,"words":[]}`, &WordsEvent{Chunk: 1, Estimated: true},
		},
		"words that the model tells": {
			`{"type":"words","request_id":"r","chunk":1,"estimated":false,"words":[]}`, &WordsEvent{Chunk: 1},
		},
		"an event of tomorrow": {`{"type":"visemes","request_id":"r","visemes":[1,2]}`, &UnknownEvent{Type: "visemes"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseEvent([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if want := (Head{"r", json.RawMessage(tt.text)}); !reflect.DeepEqual(got.About(), want) {
				t.Errorf("About = %+v, want %+v", got.About(), want)
			}
			reflect.ValueOf(got).Elem().FieldByName("Head").SetZero()
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("event = %+v, want %+v", got, tt.want)
			}
		})
	}
	if _, err := parseEvent([]byte("no JSON")); err == nil {
		t.Error("text that is not JSON was taken for an event")
	}
}

func TestEventsAndAudioComeInOrder(t *testing.T) {
	conn := socket(t, func(ws *websocket.Conn) {
		for _, id := range []string{"a", "b"} {
			say(ws, `{"type":"start","request_id":"`+id+`"}`)
			ws.WriteMessage(websocket.BinaryMessage, []byte("audio of "+id))
			say(ws, `{"type":"end","request_id":"`+id+`"}`)
		}
		bye(ws, websocket.CloseNormalClosure, "")
	})
	var got []string
	for e, err := range conn.Events() {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case *StartEvent:
			got = append(got, "start "+e.RequestID)
		case *AudioEvent:
			got = append(got, e.RequestID+": "+string(e.Data))
			if e.JSON != nil {
				t.Errorf("audio has JSON %s", e.JSON)
			}
		case *EndEvent:
			got = append(got, "end "+e.RequestID)
		}
	}
	if want := []string{"start a", "a: audio of a", "end a", "start b", "b: audio of b",
		"end b"}; !slices.Equal(got, want) {
		t.Errorf("events = %q, want %q", got, want)
	}
}

func TestSendAndCancelSayWhatTheServerReads(t *testing.T) {
	texts := make(chan string)
	conn := socket(t, func(ws *websocket.Conn) {
		for {
			kind, text, err := ws.ReadMessage()
			if err != nil {
				close(texts)
				return
			}
			if kind != websocket.TextMessage {
				t.Errorf("message of kind %d", kind)
			}
			texts <- string(text)
		}
	})
	if id, err := conn.Send(Request{Text: "आप", Voice: "raj", Buffered: true, RequestID: "r1"}); id != "r1" ||
		err != nil {
		t.Errorf("Send = %q, %v; want the id that was given", id, err)
	}
	if got, want := <-texts, `{"request_id":"r1","text":"आप","voice":"raj"}`; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	id, err := conn.Send(Request{Text: "a"})
	if !strings.HasPrefix(id, "req_") || err != nil {
		t.Errorf("Send = %q, %v; want an id that was made up", id, err)
	}
	if got, want := <-texts, `{"request_id":"`+id+`","text":"a"}`; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	for id, want := range map[string]string{"r1": `{"type":"cancel","request_id":"r1"}`, "": `{"type":"cancel"}`} {
		if err := conn.Cancel(id); err != nil {
			t.Error(err)
		}
		if got := <-texts; got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
	}
	if _, err := conn.Send(Request{Text: "\xff"}); err == nil {
		t.Error("text that is not UTF-8 was sent")
	}
	conn.Close()
	if text, open := <-texts; open {
		t.Errorf("sent %s after that", text)
	}
	if _, err := conn.Send(Request{Text: "a"}); err == nil {
		t.Error("Send after Close succeeded")
	}
}

func TestSendIsSafeForConcurrentUse(t *testing.T) {
	const senders, each = 8, 20
	all := make(chan int)
	conn := socket(t, func(ws *websocket.Conn) {
		n := 0
		for ; n < senders*each; n++ {
			if _, _, err := ws.ReadMessage(); err != nil {
				t.Error(err)
				break
			}
		}
		all <- n
	})
	var wg sync.WaitGroup
	for range senders {
		wg.Go(func() {
			for range each {
				if _, err := conn.Send(Request{Text: strings.Repeat("a", 4000)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := <-all; got != senders*each {
		t.Errorf("%d messages arrived, want %d", got, senders*each)
	}
}

func TestHowAConnectionEnds(t *testing.T) {
	tests := map[string]struct {
		server func(*websocket.Conn)
		check  func(error) bool
		text   string
	}{
		"in order": {
			func(ws *websocket.Conn) { bye(ws, websocket.CloseNormalClosure, "") },
			func(err error) bool { return err == io.EOF }, "EOF",
		},
		"the server goes away": {
			func(ws *websocket.Conn) { bye(ws, websocket.CloseGoingAway, "draining") },
			func(err error) bool { e, ok := errors.AsType[*ClosedError](err); return ok && e.Code == 1001 },
			"connection closed by the server: draining (code 1001)",
		},
		"without a reason": {
			func(ws *websocket.Conn) { bye(ws, websocket.CloseInternalServerErr, "") },
			func(err error) bool { e, ok := errors.AsType[*ClosedError](err); return ok && e.Code == 1011 },
			"connection closed by the server (code 1011)",
		},
		"the network breaks": {
			func(ws *websocket.Conn) { ws.NetConn().Close() },
			func(err error) bool {
				e, ok := errors.AsType[*ClosedError](err)
				return ok && e.Code == 1006 && errors.Is(err, io.ErrUnexpectedEOF)
			},
			"connection lost: unexpected EOF",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			conn := socket(t, func(ws *websocket.Conn) {
				say(ws, `{"type":"start","request_id":"r"}`)
				tt.server(ws)
			})
			if e, err := conn.Next(); err != nil || e.About().RequestID != "r" {
				t.Fatalf("Next = %v, %v; want what had arrived before", e, err)
			}
			for range 2 {
				if _, err := conn.Next(); err == nil || !tt.check(err) || err.Error() != tt.text {
					t.Errorf("Next = %v, want %q", err, tt.text)
				}
			}
		})
	}
}

func TestCloseAnswersTheServerInOrder(t *testing.T) {
	code := make(chan int, 1)
	conn := socket(t, func(ws *websocket.Conn) {
		say(ws, `{"type":"start","request_id":"r"}`) // arrives, but nobody takes it
		_, _, err := ws.ReadMessage()
		e, _ := errors.AsType[*websocket.CloseError](err)
		if e == nil {
			t.Errorf("error = %v, want a close", err)
			e = new(websocket.CloseError)
		}
		code <- e.Code
	})
	for range 2 {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := <-code; got != websocket.CloseNormalClosure {
		t.Errorf("close code = %d, want 1000", got)
	}
	if _, err := conn.Next(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Next after Close = %v, want net.ErrClosed", err)
	}
}

func TestEndingTheContextEndsTheConnection(t *testing.T) {
	gone := make(chan struct{})
	c := serve(t, Options{}, upgrade(t, func(ws *websocket.Conn) {
		ws.ReadMessage()
		close(gone)
	}))
	why := errors.New("the user has left")
	ctx, cancel := context.WithCancelCause(t.Context())
	conn, err := c.Stream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	cancel(why)
	<-gone
	if _, err := conn.Next(); !errors.Is(err, why) {
		t.Errorf("Next = %v, want the cause of the context", err)
	}
}

func TestPingsAreAnsweredWhileNobodyReads(t *testing.T) {
	pong := make(chan string, 1)
	socket(t, func(ws *websocket.Conn) {
		ws.SetPongHandler(func(payload string) error {
			pong <- payload
			return nil
		})
		say(ws, `{"type":"start","request_id":"r"}`)
		ws.WriteControl(websocket.PingMessage, []byte("are you there"), time.Now().Add(10*time.Second))
		ws.ReadMessage()
	})
	if got := <-pong; got != "are you there" {
		t.Errorf("pong = %q", got)
	}
}

func TestStreamRefused(t *testing.T) {
	c := serve(t, Options{Key: "wrong"}, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer wrong" {
			t.Errorf("Authorization = %q", got)
		}
		w.Header().Set("X-Error-Code", "invalid_key")
		w.WriteHeader(401)
		io.WriteString(w, `{"error":"invalid api key"}`)
	})
	_, err := c.Stream(t.Context())
	if e, ok := errors.AsType[*Error](err); !ok || e.Status != 401 || e.Code != CodeInvalidKey ||
		e.Text != "invalid api key" {
		t.Errorf("error = %#v, want the refusal", err)
	}
}

func TestStreamToNobody(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	c, err := New(s.URL, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Stream(t.Context()); err == nil {
		t.Fatal("connected")
	} else if _, ok := errors.AsType[*net.OpError](err); !ok {
		t.Errorf("error = %#v, want one of the network", err)
	}
}

func TestStreamSharesTheSettingsOfTheHTTPClient(t *testing.T) {
	s := httptest.NewTLSServer(upgrade(t, func(ws *websocket.Conn) { bye(ws, websocket.CloseNormalClosure, "") }))
	defer s.Close()
	c, err := New(s.URL, Options{HTTPClient: s.Client()}) // which trusts the server's certificate
	if err != nil {
		t.Fatal(err)
	}
	conn, err := c.Stream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Next(); err != io.EOF {
		t.Errorf("Next = %v, want io.EOF", err)
	}
}

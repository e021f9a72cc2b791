package serve

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// FuzzWSMessages sends whatever it finds through a session to the fake engine: lines are messages, and one that begins
// with a NUL is binary. Whatever comes, every event is one of the API's, every utterance ends once, and the socket
// answers afterwards.
func FuzzWSMessages(f *testing.F) {
	g := newWSRig(f, newWarmLocal(f, 2, synthtest.Config{BytesPerFrame: 64}),
		func(c *Config) { c.Log = slog.New(slog.DiscardHandler) })
	f.Fuzz(func(t *testing.T, input []byte) {
		lines := bytes.SplitN(input, []byte("\n"), 16)
		here := *g
		here.t = t
		s := here.connect()
		defer s.conn.Close()
		s.conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		valid := true
		go func() { // the server may stop reading in the middle of it
			for _, line := range lines {
				kind := websocket.TextMessage
				if binary, ok := bytes.CutPrefix(line, []byte{0}); ok {
					kind, line = websocket.BinaryMessage, binary
				}
				if s.conn.WriteMessage(kind, line) != nil {
					return
				}
			}
			s.conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"cancel"}`))
			s.conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"ping","request_id":"the-end-of-this"}`))
		}()
		for _, line := range lines {
			valid = valid && (bytes.HasPrefix(line, []byte{0}) || utf8.Valid(line))
		}
		open, over := map[string]bool{}, false
		for !over || len(open) > 0 {
			m, err := s.try()
			if e, ok := errors.AsType[*websocket.CloseError](err); ok && !valid &&
				e.Code == websocket.CloseInvalidFramePayloadData {
				return
			}
			if err != nil {
				t.Fatalf("the socket ended with %v (valid UTF-8: %v)", err, valid)
			}
			id := m.id()
			switch m.typ() {
			case "pong":
				over = over || id == "the-end-of-this"
			case "start":
				if open[id] {
					t.Fatalf("%q began twice", id)
				}
				open[id] = true
			case "chunk", "first_audio_ms", "chunk_end":
				if !open[id] {
					t.Fatalf("event %s outside its utterance", m.text)
				}
			case "flushed":
			case "end":
				if !open[id] && m.event["frames"] != 0.0 { // of what is fed nothing may be left to say
					t.Fatalf("%q ended but never began", id)
				}
				delete(open, id)
			case "cancelled":
				delete(open, id)
			case "error":
				if status, ok := m.event["status"].(float64); !ok || status < 400 || status > 599 {
					t.Fatalf("error event %s, want the status of an error", m.text)
				}
				if m.event["error"] == "" || id == "" {
					t.Fatalf("error event %s, want a text and whose it is", m.text)
				}
				if status, _ := m.event["status"].(float64); status == http.StatusRequestEntityTooLarge &&
					!bytes.Contains(input, []byte("speak")) {
					delete(open, id) // it was fed too much
				}
			case "audio":
				if len(open) != 1 {
					t.Fatalf("audio while %v are spoken", open)
				}
			default:
				t.Fatalf("unknown event %s", m.text)
			}
		}
		if !valid {
			t.Error("a message that is not UTF-8 passed")
		}
	})
}

// TestFuzzWSMessagesHasSeeds: without them the fuzzer would spend its time on finding out what JSON is.
func TestFuzzWSMessagesHasSeeds(t *testing.T) {
	files, err := os.ReadDir("testdata/fuzz/FuzzWSMessages")
	if err != nil || len(files) < 5 {
		t.Errorf("%d seeds, %v", len(files), err)
	}
	for _, f := range files {
		text, err := os.ReadFile("testdata/fuzz/FuzzWSMessages/" + f.Name())
		if err != nil || !strings.HasPrefix(string(text), "go test fuzz v1\n[]byte(") {
			t.Errorf("seed %s: %.40q, %v", f.Name(), text, err)
		}
	}
}

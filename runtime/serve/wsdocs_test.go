package serve

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/access"
)

// TestDocsShowEveryEvent compares the examples of docs/websocket.md with what is sent: all fields, in the same order,
// and no others.
func TestDocsShowEveryEvent(t *testing.T) {
	text, err := os.ReadFile("../../docs/websocket.md")
	if err != nil {
		t.Fatal(err)
	}
	events := map[string]any{
		"start": &startEvent{}, "chunk": &chunkEvent{}, "first_audio_ms": &firstAudioEvent{}, "chunk_end": &chunkEndEvent{},
		"words": &wordsEvent{}, "end": &endEvent{}, "cancelled": &cancelledEvent{}, "error": &errorEvent{},
	}
	shown := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		var head struct{ Type string }
		if json.Unmarshal([]byte(line), &head) != nil || events[head.Type] == nil {
			continue
		}
		shown[head.Type] = true
		event := events[head.Type]
		if err := json.Unmarshal([]byte(line), event); err != nil {
			t.Fatal(err)
		}
		// With every value shown, encoding again gives the line itself: nothing is missing, misspelt or out of order.
		if got := string(encodeEvent(event)); got != line {
			t.Errorf("docs/websocket.md shows\n%s\nwhere the server would send\n%s", line, got)
		}
	}
	for name := range events {
		if !shown[name] {
			t.Errorf("docs/websocket.md does not show the event %s", name)
		}
	}
}

// TestDocsTellTheCloseReasons: a reason that a client can meet is explained.
func TestDocsTellTheCloseReasons(t *testing.T) {
	text, err := os.ReadFile("../../docs/websocket.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, reason := range []string{
		tooManySockets, goingAway, pongMissing, notUTF8, tooSlow, ownDefect, errHalfCloseCode.reason,
		access.ErrInvalidKey.Error(),
	} {
		if !strings.Contains(string(text), "`"+reason+"`") {
			t.Errorf("docs/websocket.md does not explain the close %q", reason)
		}
	}
}

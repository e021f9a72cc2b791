//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// health is what the test needs of /healthz.
type health struct {
	Workers int `json:"workers_ready"`
	Busy    int `json:"workers_busy"`
	Queued  int `json:"queue_depth"`
}

func (s *server) health(t testing.TB) health {
	t.Helper()
	resp, err := http.Get(s.base + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var h health
	if err := json.NewDecoder(resp.Body).Decode(&h); err != nil {
		t.Fatal(err)
	}
	return h
}

// until polls without a pause: what is measured is shorter than any tick.
func (s *server) until(t *testing.T, what string, ok func(health) bool) time.Duration {
	t.Helper()
	began := time.Now()
	for time.Since(began) < 10*time.Second {
		if ok(s.health(t)) {
			return time.Since(began)
		}
	}
	t.Fatalf("not within 10 s: %s", what)
	return 0
}

// TestCancelIsMeasured leaves a request in each way and prints how long the worker, or the place in the queue, takes to
// be free again. A frame is 80 ms; that the engine decodes at most one more is tested with the fake engine, where
// frames can be counted.
func TestCancelIsMeasured(t *testing.T) {
	s := start(t, "--workers", "1", "--spool", "0") // so that what is not read is still being spoken
	idle := func(h health) bool { return h.Busy == 0 }
	busy := func(h health) bool { return h.Busy == 1 }
	report := func(how string, took time.Duration) {
		t.Logf("%-22s free after %.1f ms", how, float64(took)/float64(time.Millisecond))
	}
	// request posts until the returned function cancels it and waits for the client's own error.
	request := func(fields map[string]any) (leave func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			resp, err := s.post(ctx, "/v1/tts", body(t, fields))
			if err == nil {
				<-ctx.Done()
				_ = resp.Body.Close()
			}
			done <- err
		}()
		return func() {
			cancel()
			if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	}

	for _, way := range []struct {
		name   string
		fields map[string]any
	}{
		{"REST streamed", map[string]any{"text": longText, "format": "pcm16"}},
		{"REST buffered", map[string]any{"text": longText, "format": "opus", "stream": false}},
	} {
		leave := request(way.fields)
		s.until(t, way.name+" is spoken", busy)
		leave()
		report(way.name, s.until(t, "the worker is free", idle))
	}

	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.base, "http")+"/v1/tts/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second one waits on the connection
		if err := conn.WriteJSON(map[string]any{"text": longText}); err != nil {
			t.Fatal(err)
		}
	}
	s.until(t, "the socket is spoken to", busy)
	_ = conn.Close()
	report("WebSocket closed", s.until(t, "the worker is free", idle))

	leaveFirst := request(map[string]any{"text": longText, "format": "pcm16"})
	s.until(t, "the worker is busy", busy)
	leave := request(map[string]any{"text": "queue mein"})
	s.until(t, "one waits", func(h health) bool { return h.Queued == 1 })
	leave()
	report("queued", s.until(t, "nobody waits", func(h health) bool { return h.Queued == 0 }))
	leaveFirst()
	s.until(t, "the worker is free", idle)
}

//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// rss returns the resident memory of the server's processes in bytes.
func (s *server) rss(t testing.TB) (sum int) {
	t.Helper()
	for _, p := range s.processes() {
		sum += p.rss(t)
	}
	return sum
}

func (p *process) rss(t testing.TB) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Skipf("no /proc here: %v", err)
	}
	for line := range strings.Lines(string(status)) {
		var kb int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kb); n == 1 {
			return kb << 10
		}
	}
	t.Fatal("no VmRSS in /proc")
	return 0
}

func TestThousandIdleSockets(t *testing.T) {
	const (
		sockets = 1000
		limit   = 60 << 20
	)
	s := start(t, "--workers", "1")
	before := s.rss(t)
	dialer := websocket.Dialer{HandshakeTimeout: 10 * time.Second, ReadBufferSize: 512, WriteBufferSize: 512}
	url := "ws" + strings.TrimPrefix(s.base, "http") + "/v1/tts/stream"
	var last *websocket.Conn
	for i := range sockets {
		conn, _, err := dialer.Dial(url, nil)
		if err != nil {
			t.Fatalf("socket %d: %v", i, err)
		}
		defer conn.Close()
		last = conn
	}
	after := s.rss(t)
	t.Logf("%d idle sockets cost %.1f MB (from %.1f to %.1f MB)", sockets, float64(after-before)/1e6,
		float64(before)/1e6, float64(after)/1e6)
	if after-before > limit {
		t.Errorf("%d idle sockets cost %d bytes, want at most %d", sockets, after-before, limit)
	}

	if err := last.WriteJSON(map[string]any{"text": "suno", "request_id": "last"}); err != nil {
		t.Fatal(err)
	}
	for {
		kind, message, err := last.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		if kind == websocket.TextMessage && strings.Contains(string(message), `"type":"end"`) {
			return
		}
	}
}

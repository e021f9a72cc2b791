package serve

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// newEdge serves s as cmd does and returns the address.
func newEdge(t *testing.T, speaker *script) string {
	t.Helper()
	s, _ := newServer(t, speaker)
	h := httptest.NewUnstartedServer(s)
	h.Listener = WrapListener(h.Listener)
	h.Config.MaxHeaderBytes = 64 << 10
	h.Start()
	t.Cleanup(h.Close)
	return h.Listener.Addr().String()
}

// exchange sends a request as it is and reads the answer.
func exchange(t *testing.T, address, request string) answered {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	go func() { _, _ = io.WriteString(conn, request) }() // the server may answer in the middle of it
	return read(t, bufio.NewReader(conn))
}

func TestWhatNoHandlerSeesIsRefusedAsJSON(t *testing.T) {
	const code = "bad_request"
	huge := "X-Huge: " + strings.Repeat("x", 80<<10) + "\r\n"
	tests := map[string]struct {
		request string
		status  int
		text    string
	}{
		"no HTTP":                    {"hello\r\n\r\n", 400, "malformed HTTP request"},
		"a path that is none":        {"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "malformed HTTP request"},
		"no host":                    {"GET /healthz HTTP/1.1\r\n\r\n", 400, "malformed HTTP request: missing required Host header"},
		"two hosts":                  {"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400, "malformed HTTP request"},
		"a host that is none":        {"GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "malformed HTTP request: malformed Host header"},
		"a header that is none":      {"GET /healthz HTTP/1.1\r\nHost: x\r\nhello\r\n\r\n", 400, "malformed HTTP request"},
		"a header with a bad name":   {"GET /healthz HTTP/1.1\r\nHost: x\r\nX[]: 1\r\n\r\n", 400, "malformed HTTP request"},
		"a length that is none":      {"POST /v1/tts HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\n", 400, "malformed HTTP request"},
		"two lengths":                {"POST /v1/tts HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "malformed HTTP request"},
		"a length and pieces":        {"POST /v1/tts HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 501, "unsupported Transfer-Encoding"},
		"a coding that nobody knows": {"POST /v1/tts HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "unsupported Transfer-Encoding"},
		"a header of 80 KiB":         {"GET /healthz HTTP/1.1\r\nHost: x\r\n" + huge + "\r\n", 431, "request header too large"},
		"another version":            {"GET /healthz HTTP/3.0\r\nHost: x\r\n\r\n", 505, "unsupported HTTP version"},
		"an expectation of its own":  {"POST /v1/tts HTTP/1.1\r\nHost: x\r\nExpect: a tip\r\nContent-Length: 0\r\n\r\n", 417, "only 100-continue may be expected"},
	}
	address := newEdge(t, &script{})
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := exchange(t, address, tt.request)
			got.wantError(t, tt.status, tt.text, code)
			if !got.Close || got.Header.Get("Access-Control-Expose-Headers") == "" || got.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("closes %v, headers %v", got.Close, got.Header)
			}
		})
	}
}

// TestAnswersPassTheEdge: what a handler answers is left alone, whatever it looks like.
func TestAnswersPassTheEdge(t *testing.T) {
	const looks = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request"
	h := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, looks)
	}))
	h.Listener = WrapListener(h.Listener)
	h.Start()
	defer h.Close()
	for path, want := range map[string]string{"/": looks, "/refused": "no\n"} {
		res, err := http.Get(h.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if string(body) != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", path, body, err, want)
		}
	}
}

// TestHalfACloseIsALeave: a client that will send nothing more has left, as far as the server can tell from one that has.
func TestHalfACloseIsALeave(t *testing.T) {
	stage := newStage()
	address := newEdge(t, &stage.script)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	post(t, conn, `{"text":"hello","format":"pcm16"}`)
	<-stage.spoke
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if err := <-stage.ended; !endedByClient(err) {
		t.Errorf("the speaker ended with %v, want that the client has left", err)
	}
}

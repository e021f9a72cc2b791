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
	const malformed, coding = "malformed HTTP request", "unsupported Transfer-Encoding"
	huge := "X-Huge: " + strings.Repeat("x", 80<<10)
	tests := map[string]struct {
		lines  string // with | between them
		status int
		text   string
	}{
		"no HTTP":                    {"hello", 400, malformed},
		"a path that is none":        {"GET /%zz HTTP/1.1|Host: x", 400, malformed},
		"no host":                    {"GET / HTTP/1.1", 400, malformed + ": missing required Host header"},
		"two hosts":                  {"GET / HTTP/1.1|Host: x|Host: y", 400, malformed},
		"a host that is none":        {"GET / HTTP/1.1|Host: a b", 400, malformed + ": malformed Host header"},
		"a header that is none":      {"GET / HTTP/1.1|Host: x|hello", 400, malformed},
		"a header with a bad name":   {"GET / HTTP/1.1|Host: x|X[]: 1", 400, malformed},
		"a length that is none":      {"POST / HTTP/1.1|Host: x|Content-Length: ten", 400, malformed},
		"two lengths":                {"POST / HTTP/1.1|Host: x|Content-Length: 1|Content-Length: 2", 400, malformed},
		"a coding twice":             {"POST / HTTP/1.1|Host: x|Transfer-Encoding: chunked, chunked", 501, coding},
		"a coding that nobody knows": {"POST / HTTP/1.1|Host: x|Transfer-Encoding: gzip", 501, coding},
		"a header of 80 KiB":         {"GET / HTTP/1.1|Host: x|" + huge, 431, "request header too large"},
		"another version":            {"GET / HTTP/3.0|Host: x", 505, "unsupported HTTP version"},
		"an expectation of its own":  {"POST / HTTP/1.1|Host: x|Expect: x", 417, "only 100-continue may be expected"},
	}
	address := newEdge(t, &script{})
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := exchange(t, address, strings.ReplaceAll(tt.lines, "|", "\r\n")+"\r\n\r\n")
			got.wantError(t, tt.status, tt.text, "bad_request")
			wantHeaders(t, got.Header, map[string]string{"Cache-Control": "no-store", "Timing-Allow-Origin": "*"})
			if !got.Close {
				t.Error("the connection stays open")
			}
		})
	}
}

// TestAnswersPassTheEdge: what a handler answers is left alone, whatever it looks like.
func TestAnswersPassTheEdge(t *testing.T) {
	looks := "HTTP/1.1 400 Bad Request" + string(plainError) + "400 Bad Request"
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

// TestHalfACloseIsALeave: a client that will send nothing more has left, as far as the server can tell from one that
// has.
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

package launch

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

const wholeRequest = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

// guardedServer is one whose handler says that it has started, and waits for release, where the path is /slow.
type guardedServer struct {
	address          string
	started, release chan struct{}
	idle             chan struct{} // a connection waits for its next request
}

// serveGuarded starts a server with the limits of g.
func serveGuarded(t *testing.T, g *guard) *guardedServer {
	t.Helper()
	l, err := Listen(t.Context(), "swar-test", "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &guardedServer{l.Addr().String(), make(chan struct{}), make(chan struct{}), make(chan struct{}, 1000)}
	h := NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			s.started <- struct{}{}
			<-s.release
		}
		body, _ := io.ReadAll(r.Body)
		w.Write(body)
	}), slog.New(slog.DiscardHandler))
	var servers Servers
	servers.addGuarded(h, l, g)
	h.ConnState = func(c net.Conn, state http.ConnState) {
		g.changed(c, state)
		if state == http.StateIdle {
			s.idle <- struct{}{}
		}
	}
	servers.Start(func(err error) { t.Error(err) })
	t.Cleanup(servers.Close)
	return s
}

func (s *guardedServer) dial(t *testing.T, send string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	io.WriteString(c, send)
	return c
}

// answerOn reads one answer, and returns its status and body; 0 where the connection ended.
func answerOn(t *testing.T, c net.Conn) (int, string) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal("no answer and no end after 10 s")
	}
	if err != nil {
		return 0, ""
	}
	body, _ := io.ReadAll(r.Body)
	r.Body.Close()
	return r.StatusCode, string(body)
}

func limitsOf(most, open int) *guard {
	g := newGuard(2 * open)
	g.limit, g.open = most, open
	return g
}

func TestTheOldestUnfinishedHeaderMakesRoom(t *testing.T) {
	g := limitsOf(3, 100)
	s := serveGuarded(t, g)
	var waiting []net.Conn
	for range 3 {
		waiting = append(waiting, s.dial(t, "GET / HTTP/1.1\r\nHost: a\r\n"))
	}
	if n := g.counts(closedWaiting); n != 0 {
		t.Errorf("%d were closed at the limit", n)
	}
	if status, _ := answerOn(t, s.dial(t, wholeRequest)); status != http.StatusOK {
		t.Errorf("one that comes at once: status %d", status)
	}
	if status, _ := answerOn(t, waiting[0]); status != 0 {
		t.Errorf("the oldest: status %d, want its end", status)
	}
	for i, c := range waiting[2:] { // the answered connection is idle and waits as well
		io.WriteString(c, "\r\n")
		if status, _ := answerOn(t, c); status != http.StatusOK {
			t.Errorf("younger one %d: status %d", i, status)
		}
	}
}

func TestAnIdleConnectionWaitsAsWell(t *testing.T) {
	g := limitsOf(2, 100)
	s := serveGuarded(t, g)
	var idle []net.Conn
	for range 3 {
		c := s.dial(t, wholeRequest)
		if status, _ := answerOn(t, c); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		<-s.idle
		idle = append(idle, c)
	}
	if status, _ := answerOn(t, idle[0]); status != 0 {
		t.Errorf("the oldest: status %d, want its end", status)
	}
	io.WriteString(idle[2], wholeRequest)
	if status, _ := answerOn(t, idle[2]); status != http.StatusOK {
		t.Errorf("the youngest: status %d", status)
	}
}

func TestNoRoomForAnotherConnection(t *testing.T) {
	g := limitsOf(2, 2)
	s := serveGuarded(t, g)
	slow := "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"
	working := []net.Conn{s.dial(t, slow), s.dial(t, slow)}
	<-s.started
	<-s.started
	if status, body := answerOn(t, s.dial(t, "")); status != http.StatusServiceUnavailable ||
		body != `{"error":"busy"}` {
		t.Errorf("one above: %d %s", status, body)
	}
	close(s.release)
	for _, c := range working {
		if status, _ := answerOn(t, c); status != http.StatusOK {
			t.Errorf("one within: status %d", status)
		}
		<-s.idle
	}
	if status, _ := answerOn(t, s.dial(t, wholeRequest)); status != http.StatusOK {
		t.Errorf("with an idle one: status %d", status)
	}
}

// TestHeadersInPieces: a header is the same, however it is cut.
func TestHeadersInPieces(t *testing.T) {
	s := serveGuarded(t, limitsOf(10, 100))
	request := "POST / HTTP/1.1\r\nHost: a\r\nX-Long: " + strings.Repeat("x", 6000) +
		"\r\nContent-Length: 4\r\n\r\nbody"
	plain := strings.ReplaceAll(request, "\r\n", "\n")
	for _, text := range []string{request, plain} {
		for cut := len(text) - 12; cut <= len(text); cut++ {
			c := s.dial(t, text[:cut])
			io.WriteString(c, text[cut:])
			if status, body := answerOn(t, c); status != http.StatusOK || body != "body" {
				t.Errorf("cut at %d of %d: %d %q", cut, len(text), status, body)
			}
		}
	}
	c := s.dial(t, request+request) // one behind the other
	r := bufio.NewReader(c)
	for i := range 2 {
		answer, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
}

// pieces is a connection whose reads give one piece each.
type pieces struct {
	net.Conn
	left []string
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.left[0])
	p.left = p.left[1:]
	return n, nil
}

func (p *pieces) SetReadDeadline(time.Time) error { return nil }

// TestAHeaderIsReadWhole: net/http gets nothing of a header before all of it is there, and then the body as it comes.
func TestAHeaderIsReadWhole(t *testing.T) {
	for name, tt := range map[string]struct{ sent, want []string }{
		"in one piece":        {[]string{"GET / HTTP/1.1\r\n\r\n"}, []string{"GET / HTTP/1.1\r\n\r\n"}},
		"in three":            {[]string{"GET / HT", "TP/1.1\r\n\r", "\n"}, []string{"GET / HTTP/1.1\r\n\r\n"}},
		"with a part of more": {[]string{"GET /", " HTTP/1.1\r\n\r\nbody"}, []string{"GET / HTTP/1.1\r\n\r\nbody"}},
		"that ends before":    {[]string{"GET /", " HTTP/1.1\r\n"}, []string{"GET / HTTP/1.1\r\n"}},
		"without an end":      {[]string{"GET /", strings.Repeat("x", 4096), strings.Repeat("x", 4096)}, []string{"GET /" + strings.Repeat("x", 8192)}},
		"with nothing in it":  {nil, nil},
		"with lines of LF":    {[]string{"GET / HTTP/1.1\n", "\n"}, []string{"GET / HTTP/1.1\n\n"}},
		"with half of a CRLF": {[]string{"GET / HTTP/1.1\r\n\r", "\nbody"}, []string{"GET / HTTP/1.1\r\n\r\nbody"}},
	} {
		c := &guardedConn{Conn: &pieces{left: tt.sent}, guard: limitsOf(1, 1)}
		c.isHeader.Store(true)
		b := make([]byte, 1<<16)
		var got []string
		for {
			n, err := c.Read(b)
			if n > 0 {
				got = append(got, string(b[:n]))
			}
			if err != nil {
				if err != io.EOF {
					t.Errorf("%s: %v", name, err)
				}
				break
			}
		}
		if strings.Join(got, "|") != strings.Join(tt.want, "|") {
			t.Errorf("%s: read %q, want %q", name, got, tt.want)
		}
	}
}

func TestTheSizeOfAHeader(t *testing.T) {
	s := serveGuarded(t, limitsOf(10, 100))
	start, end := "GET / HTTP/1.1\r\nHost: a\r\nX-Long: ", "\r\n\r\n"
	for size, want := range map[int]int{
		maxHeader: http.StatusOK, maxHeader + slop + 1: http.StatusRequestHeaderFieldsTooLarge,
		64 << 10: http.StatusRequestHeaderFieldsTooLarge,
	} {
		status, _ := answerOn(t, s.dial(t, start+strings.Repeat("x", size-len(start)-len(end))+end))
		if status != want && (status != 0 || want == http.StatusOK) { // the answer may be lost to a reset
			t.Errorf("%d bytes: status %d, want %d", size, status, want)
		}
	}
}

func TestBlankLines(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "a\r\n": false, "a\r\n\r\n": true, "a\n\n": true, "a\n\r\n": true, "a\r\nb": false, "a\r\n\rb\n": false, "a\n\nb": true,
	} {
		for cut := range len(text) + 1 {
			b := blank{}
			if first, second := b.in([]byte(text[:cut])), b.in([]byte(text[cut:])); (first || second) != want {
				t.Errorf("%q cut at %d: %v and %v, want %v", text, cut, first, second, want)
			}
		}
	}
}

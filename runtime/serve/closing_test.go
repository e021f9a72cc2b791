package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"
)

// wholeAnswer is more than the kernels of both sides hold, where a client reads nothing.
var wholeAnswer = bytes.Repeat([]byte("speech "), 100_000)

func newListener(t *testing.T, stall time.Duration) *Listener {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says what was taken")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &Listener{l, closing{stall: stall}}
}

// connect returns both ends of a connection: the server's takes all that is written, the client's holds little of it.
func connect(t *testing.T, l *Listener) (server, client net.Conn) {
	t.Helper()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	if err := client.(*net.TCPConn).SetReadBuffer(128 << 10); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	if err := server.(*edgeConn).Conn.(*net.TCPConn).SetWriteBuffer(4 << 20); err != nil {
		t.Fatal(err)
	}
	return server, client
}

// sendAndClose does so without waiting for the client.
func sendAndClose(t *testing.T, server net.Conn) {
	t.Helper()
	if err := server.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Write(wholeAnswer); err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func TestListenerWaitsForASlowClient(t *testing.T) {
	l := newListener(t, time.Minute)
	server, client := connect(t, l)
	sendAndClose(t, server)
	short, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("the test's limit"))
	defer cancel()
	const want = "1 clients had unread data: the test's limit"
	if err := l.Wait(short); err == nil || err.Error() != want {
		t.Errorf("while the client reads nothing: %v, want %s", err, want)
	}
	waited := make(chan error)
	ended, end := context.WithCancel(t.Context())
	end()
	if err := newListener(t, time.Minute).Wait(ended); err != nil {
		t.Errorf("where nobody has to be waited for, and no time is left: %v", err)
	}
	go func() { waited <- l.Wait(t.Context()) }()
	got, err := io.ReadAll(client)
	if err != nil || !bytes.Equal(got, wholeAnswer) {
		t.Errorf("the client has %d bytes and %v, want %d", len(got), err, len(wholeAnswer))
	}
	if err := <-waited; err != nil {
		t.Error(err)
	}
}

func TestListenerWaitsNoLonger(t *testing.T) {
	for sentence, test := range map[string]struct {
		stall time.Duration
		do    func(t *testing.T, client net.Conn)
	}{
		"than a client may take nothing": {50 * time.Millisecond, func(*testing.T, net.Conn) {}},
		"than a client is there": {time.Hour, func(t *testing.T, client net.Conn) {
			if err := errors.Join(client.(*net.TCPConn).SetLinger(0), client.Close()); err != nil { // a reset
				t.Error(err)
			}
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newListener(t, test.stall)
			server, client := connect(t, l)
			sendAndClose(t, server)
			test.do(t, client)
			if err := l.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A server that shuts down and waits has said all.
func TestListenerWaitsAfterShutdown(t *testing.T) {
	l := newListener(t, time.Minute)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = w.Write(wholeAnswer)
	})}
	served := make(chan error)
	go func() { served <- s.Serve(l) }()
	answer, err := http.Get("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var got []byte
	heard := make(chan error)
	go func() {
		var err error
		got, err = io.ReadAll(answer.Body)
		heard <- err
	}()
	if err := errors.Join(s.Shutdown(t.Context()), l.Wait(t.Context())); err != nil {
		t.Error(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if err := <-heard; err != nil || !bytes.Equal(got, wholeAnswer) {
		t.Errorf("%d bytes and %v, want %d", len(got), err, len(wholeAnswer))
	}
}

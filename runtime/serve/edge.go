package serve

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/speech"
)

// kernelBuffer is the size of the socket's send buffer in bytes, which Linux doubles. A full buffer accepts data again
// only when a third of it has been read, and the client's kernel announces room only for a whole segment, which on
// loopback is 64 KB. So a player of Opus that reads steadily seems to read nothing for up to 22 s; with 64 KiB here it
// was 25 s and with 128 KiB 37 s, which exceeds the limit of a pause.
const kernelBuffer = 32 << 10

// Listener is what the API needs of its connections. Give it to [http.Server.Serve].
//
// The kernel buffers little of an answer, because that part can be neither counted nor taken back. Errors that net/http
// writes itself, before any handler, are rewritten to this API's errors: JSON, with the headers that let a page read
// it. A connection that the server closes ends when the client has read all of it, or has read nothing for 30 s; a
// process whose network ends with it, as in a container, calls [Listener.Wait] before.
type Listener struct {
	net.Listener
	closing closing
}

// WrapListener takes over a listener.
func WrapListener(l net.Listener) *Listener { return &Listener{l, closing{stall: closingStall}} }

// Wait returns when clients have read all data on connections that the server has closed. Call it after
// [http.Server.Shutdown]. When ctx ends first, it returns an error that wraps its cause. On other systems than Linux,
// which do not report what was read, it returns at once.
func (l *Listener) Wait(ctx context.Context) error { return l.closing.wait(ctx) }

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if c, ok := conn.(interface{ SetWriteBuffer(bytes int) error }); ok {
		_ = c.SetWriteBuffer(kernelBuffer) // a hint: other kinds of connections have none
	}
	return &edgeConn{Conn: conn, closing: &l.closing}, nil
}

// edgeConn is a connection that turns the plain errors of net/http into ours, and is closed by closing.
type edgeConn struct {
	net.Conn
	closing *closing
	closed  sync.Once
	err     error
}

// Close implements [net.Conn].
func (c *edgeConn) Close() error {
	c.closed.Do(func() {
		if conn, ok := c.Conn.(*net.TCPConn); ok {
			c.err = c.closing.close(conn)
		} else {
			c.err = c.Conn.Close()
		}
	})
	return c.err
}

// Write implements [net.Conn].
func (c *edgeConn) Write(p []byte) (int, error) {
	f, ok := refusedByHTTP(p)
	if !ok {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(f.message()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite ends one direction. net/http calls it so that a client that is still sending reads the error.
func (c *edgeConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// The errors that net/http detects. The texts of the first one describe the fault where net/http does.
var (
	errMalformed    = httpFailure(http.StatusBadRequest, "malformed HTTP request")
	errExpectation  = httpFailure(http.StatusExpectationFailed, "only 100-continue may be expected")
	errHeaderSize   = httpFailure(http.StatusRequestHeaderFieldsTooLarge, "request header too large")
	errTransferCode = httpFailure(http.StatusNotImplemented, "unsupported Transfer-Encoding")
	errHTTPVersion  = httpFailure(http.StatusHTTPVersionNotSupported, "unsupported HTTP version")
)

func httpFailure(status int, text string) failure {
	return failure{status: status, text: text, code: string(speech.CodeBadRequest)}
}

// plainError is what net/http writes after the status line of an error of its own, in one piece. No answer of a handler
// begins like this: it has a date, and more headers.
var plainError = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// refusedByHTTP reports whether p is an error that net/http wrote itself, and which one.
func refusedByHTTP(p []byte) (failure, bool) {
	const version = "HTTP/1.1 "
	if !bytes.HasPrefix(p, []byte(version)) || len(p) < len(version)+len("400") {
		return failure{}, false
	}
	status, err := strconv.Atoi(string(p[len(version):][:len("400")]))
	if err != nil || status < http.StatusBadRequest {
		return failure{}, false
	}
	if status == errExpectation.status { // no handler of this package answers with it
		return errExpectation, true
	}
	line, body, ok := bytes.Cut(p, plainError)
	if !ok || bytes.Contains(line, []byte("\r\n")) {
		return failure{}, false
	}
	for _, f := range []failure{errHeaderSize, errTransferCode, errHTTPVersion} {
		if status == f.status {
			return f, true
		}
	}
	f := errMalformed
	if _, reason, ok := bytes.Cut(body, []byte(": ")); ok {
		f.text += ": " + string(reason)
	}
	return f, true
}

// message is the whole answer, as far as HTTP goes, that ends the connection.
func (f failure) message() []byte {
	body, err := json.Marshal(answer.Error{Error: f.text})
	if err != nil {
		panic(err) // our own text
	}
	h := http.Header{
		"Connection":     {"close"},
		"Content-Type":   {"application/json"},
		"Content-Length": {strconv.Itoa(len(body))},
		"X-Error-Code":   {f.code},
		"X-Request-Id":   {newRequestID()},
	}
	for name, values := range commonHeaders {
		h[name] = values
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", f.status, http.StatusText(f.status))
	_ = h.Write(&b) // a buffer takes everything
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}

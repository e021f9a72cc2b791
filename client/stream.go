package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

const (
	maxMessage = 16 << 20         // bytes of one message of the server; the longest is a fraction of that
	pingEvery  = 20 * time.Second // so that a server that has vanished is noticed, and proxies see traffic
	silence    = 45 * time.Second // after this time without a sign of life the connection counts as lost
	sendLimit  = 10 * time.Second // for one message to leave
	closeLimit = time.Second      // for the server's answer to a close
)

// Conn is a WebSocket connection on which utterances are spoken one after another. One goroutine may call Next while
// others call Send, Cancel and Close.
//
// Messages are read ahead, up to 64 MiB, so that a slow consumer, such as a player, does not make the server cancel.
type Conn struct {
	ws      *websocket.Conn
	inbox   *inbox
	current string      // the utterance that audio belongs to; Next's
	detach  func() bool // from the context

	writing sync.Mutex // one data message at a time
	running sync.WaitGroup
	left    chan struct{} // closed when nothing is received any more
	closed  sync.Once
}

// Stream opens a connection, which lives until Close, or until ctx ends. The caller must close it in any case. A
// handshake that is refused is an [Error].
func (c *Client) Stream(ctx context.Context) (*Conn, error) {
	u := c.base.JoinPath("/v1/tts/stream")
	u.Scheme = map[string]string{"http": "ws", "https": "wss"}[u.Scheme]
	header := http.Header{}
	c.identify(header)
	//nolint:bodyclose // gorilla has, after reading its beginning
	ws, resp, err := c.dialer().DialContext(ctx, u.String(), header)
	switch {
	case err != nil && resp != nil && errors.Is(err, websocket.ErrBadHandshake):
		return nil, errorOf(resp)
	case err != nil:
		return nil, fmt.Errorf("opening a WebSocket: %w", err)
	}
	conn := &Conn{ws: ws, inbox: newInbox(), left: make(chan struct{})}
	ws.SetReadLimit(maxMessage)
	conn.watch()
	conn.running.Go(conn.receive)
	conn.running.Go(conn.ping)
	conn.detach = context.AfterFunc(ctx, func() {
		conn.inbox.end(context.Cause(ctx))
		ws.Close()
	})
	return conn, nil
}

// dialer takes over what a WebSocket can share with the HTTP client.
func (c *Client) dialer() *websocket.Dialer {
	d := &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: 10 * time.Second}
	if t, ok := c.http.Transport.(*http.Transport); ok {
		d.Proxy, d.NetDialContext, d.NetDialTLSContext = t.Proxy, t.DialContext, t.DialTLSContext
		if t.TLSClientConfig != nil {
			d.TLSClientConfig = t.TLSClientConfig.Clone()
			d.TLSClientConfig.NextProtos = nil // HTTP/2 cannot be upgraded
		}
	}
	return d
}

// watch counts every message, ping and pong as a sign of life.
func (c *Conn) watch() {
	answer := c.ws.PingHandler()
	c.ws.SetPingHandler(func(payload string) error {
		c.alive()
		return answer(payload)
	})
	c.ws.SetPongHandler(func(string) error {
		c.alive()
		return nil
	})
}

func (c *Conn) alive() { _ = c.ws.SetReadDeadline(time.Now().Add(silence)) }

// receive continues after the inbox is shut, so that Close sees the server's answer.
func (c *Conn) receive() {
	defer close(c.left)
	for {
		c.alive()
		kind, data, err := c.ws.ReadMessage()
		if err != nil {
			c.inbox.end(ending(err))
			return
		}
		c.inbox.put(message{kind == websocket.TextMessage, data})
	}
}

func (c *Conn) ping() {
	t := time.NewTicker(pingEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			// When this fails, receive will notice too.
			_ = c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(sendLimit))
		case <-c.left:
			return
		}
	}
}

// ClosedError reports that the server or the network ended a connection.
type ClosedError struct {
	// 1001: the server stops; 1008: the key was revoked, or the client did not read; 1013: too many connections; 1006:
	// lost
	Code   int
	Reason string // of the server; may be empty
	Err    error  // nil if the server closed in order
}

func (e *ClosedError) Error() string {
	switch {
	case e.Err != nil:
		return "connection lost: " + e.Err.Error()
	case e.Reason != "":
		return fmt.Sprintf("connection closed by the server: %s (code %d)", e.Reason, e.Code)
	default:
		return fmt.Sprintf("connection closed by the server (code %d)", e.Code)
	}
}

// Unwrap returns the cause.
func (e *ClosedError) Unwrap() error { return e.Err }

// ending says why nothing more will be received.
func ending(err error) error {
	e, ok := errors.AsType[*websocket.CloseError](err)
	switch {
	case !ok:
		return &ClosedError{Code: websocket.CloseAbnormalClosure, Err: err}
	case e.Code == websocket.CloseNormalClosure:
		return io.EOF
	case e.Code == websocket.CloseAbnormalClosure:
		return &ClosedError{Code: e.Code, Err: io.ErrUnexpectedEOF}
	default:
		return &ClosedError{Code: e.Code, Reason: e.Text}
	}
}

// Send requests an utterance. The server speaks it after those sent before; Send does not wait for that. At most 32 may
// wait. It returns the RequestID of r, or the one it made up.
func (c *Conn) Send(r Request) (id string, err error) {
	if r.RequestID == "" {
		r.RequestID = "req_" + rand.Text()
	}
	r.Buffered = false
	if err := checkText(r.Text); err != nil {
		return r.RequestID, err
	}
	return r.RequestID, c.write(r)
}

// Append feeds the Text of r, which may be empty, to the utterance r.RequestID. The first Append with an id opens the
// utterance; other fields of r count there only. Complete sentences are spoken in order while more text is fed.
// Pieces are joined as they are, at most 4000 code points in all. It returns the RequestID of r, or the one it made
// up.
func (c *Conn) Append(r Request) (id string, err error) {
	if r.RequestID == "" {
		r.RequestID = "req_" + rand.Text()
	}
	r.Buffered, r.Metadata = false, false
	if err := checkText(r.Text); err != nil {
		return r.RequestID, err
	}
	text, err := r.message("append")
	if err != nil {
		return r.RequestID, fmt.Errorf("encoding the request: %w", err)
	}
	return r.RequestID, c.writeText(text)
}

// Flush has everything spoken that the utterance called id was fed, also what has no end. A [FlushedEvent] comes behind
// its audio.
func (c *Conn) Flush(id string) error { return c.command("flush", id) }

// Finish has the rest spoken of the utterance called id, to which nothing can be appended any more.
func (c *Conn) Finish(id string) error { return c.command("finish", id) }

// Cancel stops the utterance called id, also one that is still waiting; "" means all of this connection. It does not
// wait: a [CancelledEvent] follows, unless the utterance had just ended.
func (c *Conn) Cancel(id string) error { return c.command("cancel", id) }

func (c *Conn) command(typ, id string) error {
	return c.write(struct {
		Type      string `json:"type"`
		RequestID string `json:"request_id,omitempty"`
	}{typ, id})
}

func (c *Conn) write(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding the request: %w", err)
	}
	return c.writeText(text)
}

func (c *Conn) writeText(text []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.ws.SetWriteDeadline(time.Now().Add(sendLimit)); err != nil {
		return err
	}
	if err := c.ws.WriteMessage(websocket.TextMessage, text); err != nil {
		return fmt.Errorf("sending: %w", err)
	}
	return nil
}

// Next waits for the next event. When the connection has ended it returns, after the events that had arrived, io.EOF
// if the server closed it in order, a [ClosedError] if not, the cause of the context if that ended, and net.ErrClosed
// after Close.
func (c *Conn) Next() (Event, error) {
	m, err := c.inbox.take()
	if err != nil {
		return nil, err
	}
	if !m.text {
		return &AudioEvent{Head{RequestID: c.current}, m.data}, nil
	}
	e, err := parseEvent(m.data)
	if start, ok := e.(*StartEvent); ok {
		c.current = start.RequestID
	}
	return e, err
}

// Events is Next as a loop. It ends without an error at io.EOF, and with one otherwise.
func (c *Conn) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			e, err := c.Next()
			if err == io.EOF || !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Close ends the connection. Whatever it was speaking stops within one frame, and waiting utterances are dropped.
// Closing twice is allowed.
func (c *Conn) Close() error {
	c.closed.Do(func() {
		c.detach()
		c.inbox.shut(net.ErrClosed)
		bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
		if c.ws.WriteControl(websocket.CloseMessage, bye, time.Now().Add(closeLimit)) == nil {
			c.await()
		}
		c.ws.Close()
		c.running.Wait()
	})
	return nil
}

// await gives the server a moment to answer the close: a connection that is dropped with unread data in it is reset,
// and the server would log an error.
func (c *Conn) await() {
	t := time.NewTimer(closeLimit)
	defer t.Stop()
	select {
	case <-c.left:
	case <-t.C:
	}
}

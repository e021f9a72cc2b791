package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

// connection is one WebSocket connection, whatever protocol is spoken over it. One goroutine reads and one writes;
// while there is something to say, others speak.
type connection struct {
	server   *Server
	conn     *websocket.Conn
	endpoint metrics.Endpoint
	protocol protocol
	creds    access.Credentials      // asked for what they allow at each utterance
	grant    access.Grant            // what they allowed at the handshake
	stop     context.CancelCauseFunc // of everything the connection does

	out      outbox
	liveness liveness       // of the client
	written  chan struct{}  // closed when the writing goroutine has ended
	voices   sync.WaitGroup // the speaking goroutines

	mu         sync.Mutex // guards the utterances of all queues, too
	left       int        // utterances that have not ended
	text       int        // bytes of text of those not yet passed to a speaking goroutine
	withWorker int        // utterances that have or had a worker
	isShut     bool       // for a fault: no utterance begins to be spoken any more
	// ending: why the connection accepts no more utterances; it closes when all have ended. Nil: it accepts
	ending error
}

// protocol is what the messages of a connection mean.
type protocol interface {
	// open is called before anything is read.
	open(ctx context.Context)

	// receive acts on one message. The body is valid until it returns.
	receive(ctx context.Context, kind int, body []byte, read time.Time)

	// queuesLocked returns the queues of all unfinished utterances.
	queuesLocked() []*turns

	// emptiedLocked is called when the last utterance of a queue has ended.
	emptiedLocked(*turns)

	// failed sends the reason for the coming close, without waiting for room.
	failed(why error)

	// forgetLocked is called when nothing of the connection runs any more.
	forgetLocked()
}

func newConnection(
	s *Server, conn *websocket.Conn, e metrics.Endpoint, creds access.Credentials, grant access.Grant,
	stop context.CancelCauseFunc,
) *connection {
	// They are parts of the request's headers, which are forgotten otherwise.
	creds.Key, creds.Origin = strings.Clone(creds.Key), strings.Clone(creds.Origin)
	return &connection{
		server: s, conn: conn, endpoint: e, creds: creds, grant: grant, stop: stop,
		out:      newOutbox(s.budget),
		liveness: liveness{conn: conn},
		written:  make(chan struct{}),
	}
}

// run serves the connection until it is closed, and returns when all its goroutines have ended. The cancel function of
// ctx is stop.
func (c *connection) run(ctx context.Context) {
	defer c.server.sockets.remove(c)
	defer c.conn.Close()
	defer c.stop(nil)
	defer c.server.cfg.Metrics.SocketOpened()()
	opened := time.Now()
	c.protocol.open(ctx)
	go func() {
		defer close(c.written)
		_ = c.guard(c.write) // which ends the reading too, and that says why
	}()
	err := c.guard(func() error { return c.read(ctx) })
	c.part(ctx, err)
	c.server.cfg.Log.LogAttrs(ctx, slog.LevelDebug, "socket closed",
		slog.String("key_id", c.grant.KeyID), slog.Float64("open_s", seconds(time.Since(opened))),
		slog.String("reason", err.Error()))
}

// guard limits the damage of a bug: a panic of f costs one socket, not the process.
func (c *connection) guard(f func() error) error {
	err := answer.Try(f)
	if p, ok := errors.AsType[*answer.PanicError](err); ok {
		c.server.cfg.Log.Error("socket", "key_id", c.grant.KeyID, "error", p.Error(), "stack", string(p.Stack))
		c.shut(websocket.CloseInternalServerErr, ownDefect, errLeft)
	}
	return err
}

// messages are buffers to read into. An idle socket holds none.
var messages = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// read handles messages until the connection ends, and returns the reason.
func (c *connection) read(ctx context.Context) error {
	c.conn.SetPingHandler(func(payload string) error {
		c.liveness.touch()
		c.out.putPong(payload)
		return nil
	})
	c.conn.SetPongHandler(func(string) error {
		c.liveness.touch()
		return nil
	})
	c.conn.SetCloseHandler(func(code int, _ string) error {
		c.liveness.end()
		c.out.close(websocket.FormatCloseMessage(code, ""), true)
		return nil
	})
	for {
		kind, r, err := c.conn.NextReader()
		if err != nil {
			return err
		}
		buf := messages.Get().(*bytes.Buffer)
		buf.Reset()
		if _, err := buf.ReadFrom(r); err != nil {
			return err
		}
		c.liveness.touch()
		if !c.liveness.ended() {
			c.protocol.receive(ctx, kind, buf.Bytes(), time.Now())
		}
		if buf.Cap() <= 1<<maxBlock {
			messages.Put(buf)
		}
	}
}

// record counts and logs how u has ended. format is what the client calls that of its audio.
func (c *connection) record(u *speech.Utterance, format speech.Format, st speech.Stats, err error) {
	c.server.record(context.Background(), &outcome{
		endpoint: c.endpoint, requestID: u.RequestID, keyID: c.grant.KeyID,
		voice: u.Voice, format: format, chars: st.Chars, stats: st, err: err,
	})
}

// write sends what is put out until there is nothing more to come or the connection fails.
func (c *connection) write() error {
	farewell := false
	defer func() {
		c.out.kill()
		if !farewell {
			c.conn.Close() // ends the reading too
		}
	}()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	stall := time.AfterFunc(stallLimit, c.tooSlow)
	stall.Stop() // it runs while a message is being sent
	defer stall.Stop()
	for {
		m, ok := c.out.take(ping.C)
		if !ok {
			return nil
		}
		if m.kind == websocket.PingMessage {
			c.liveness.pinging()
		}
		began := time.Now()
		limit := c.liveness.pauseLimit(began)
		stall.Reset(limit)
		c.conn.SetWriteDeadline(began.Add(limit + writeGrace))
		err := c.send(m, began)
		stall.Stop()
		switch {
		case errors.Is(err, websocket.ErrCloseSent): // by gorilla, after a message that it could not read
			farewell = true
			return nil
		case err != nil:
			return err
		case m.kind == websocket.CloseMessage:
			farewell = true
			c.liveness.end()
			return nil
		}
	}
}

func (c *connection) send(m message, began time.Time) error {
	err := c.writeFrames(m)
	c.out.sent(m)
	if err != nil {
		return err
	}
	c.liveness.took(m, began)
	if m.of == nil {
		return nil
	}
	if event := m.of.delivered(m); event != nil {
		c.out.putNext(message{kind: websocket.TextMessage, data: event, of: m.of})
	}
	return nil
}

func (c *connection) writeFrames(m message) error {
	if m.late == nil {
		return c.conn.WriteMessage(m.kind, m.data)
	}
	for _, f := range m.late() {
		if err := c.conn.WriteMessage(f.kind, f.data); err != nil {
			return err
		}
	}
	return nil
}

// tooSlow disconnects a client that does not read.
func (c *connection) tooSlow() { c.shut(websocket.ClosePolicyViolation, tooSlow, speech.ErrClientSlow) }

// shut closes the connection for a fault: nothing that waits is sent any more, and what runs is stopped for cause.
func (c *connection) shut(code int, reason string, cause error) {
	c.mu.Lock()
	c.isShut = true // before there is room for the next utterance
	c.mu.Unlock()
	c.out.close(websocket.FormatCloseMessage(code, reason), true)
	c.stop(cause)
	c.liveness.end() // from now on: the close frame may wait behind a message that the client does not take
}

// part ends everything after reading has ended with err, and waits until it has.
func (c *connection) part(ctx context.Context, err error) {
	refused := false // what the client sent; the close has the reason
	fault, isFault := errors.AsType[*frameFault](err)
	switch { // before anything else ends, which might find another reason to close
	case c.liveness.ended(): // either side has closed
	case isFault:
		if fault == errMessageTooBig { // other reasons for a close are not messages
			c.record(&speech.Utterance{RequestID: newRequestID()}, "", speech.Stats{}, errBodyTooLarge)
			c.endsSilent(errBodyTooLarge)
			c.protocol.failed(errBodyTooLarge)
		}
		c.out.closeBehindAnswers(websocket.FormatCloseMessage(fault.code, fault.reason))
		refused = true
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.out.close(websocket.FormatCloseMessage(websocket.CloseGoingAway, pongMissing), true)
	case isBroken(err):
		c.out.kill()
		c.conn.Close()
	default: // by gorilla, which has closed already
		c.out.kill()
		refused = true
	}
	c.stop(errLeft)
	c.abandon(context.Cause(ctx)) // errLeft, if nothing came before
	if refused {
		c.linger()
	}
	select {
	case <-c.written:
	case <-time.After(leaveGrace):
		c.conn.Close()
		<-c.written
	}
	c.voices.Wait()
	c.forget()
}

func isBroken(err error) bool {
	if _, ok := errors.AsType[*websocket.CloseError](err); ok {
		return true // 1006: the connection ended without a close
	}
	_, ok := errors.AsType[net.Error](err)
	return ok || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}

// linger swallows what the client is still sending. A connection that is dropped with unread bytes in it is reset,
// and a reset can overtake the close frame.
func (c *connection) linger() {
	c.conn.SetReadDeadline(time.Now().Add(leaveGrace))
	conn := c.conn.NetConn()
	if f, ok := conn.(*frameReader); ok {
		conn = f.Conn // frames are read no further
	}
	_, _ = io.CopyN(io.Discard, conn, 16*maxMessage)
}

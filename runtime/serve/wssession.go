package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

// session is one WebSocket connection. One goroutine reads, one writes, and while there is something to say a third one speaks, one
// utterance after the other.
type session struct {
	server *Server
	conn   *websocket.Conn
	creds  access.Credentials      // asked for what they allow at each utterance
	grant  access.Grant            // what they allowed at the handshake
	id     string                  // groups its utterances at the speaker
	stop   context.CancelCauseFunc // of everything the session does

	out outbox
	turns

	liveness liveness       // of the client
	written  chan struct{}  // closed when the writing goroutine has ended
	voice    sync.WaitGroup // the speaking goroutine
}

func newSession(
	s *Server, conn *websocket.Conn, creds access.Credentials, grant access.Grant, stop context.CancelCauseFunc,
) *session {
	// They are parts of the request's headers, which are forgotten otherwise.
	creds.Key, creds.Origin = strings.Clone(creds.Key), strings.Clone(creds.Origin)
	return &session{
		server: s, conn: conn, creds: creds, grant: grant, id: newRequestID(), stop: stop,
		out:      newOutbox(s.budget),
		liveness: liveness{conn: conn},
		written:  make(chan struct{}),
	}
}

var (
	errLeft      = speech.ErrClientGone
	errCancelled = fmt.Errorf("cancel message: %w", context.Canceled)
	errIDInUse   = &speech.Refusal{Code: speech.CodeBadRequest, Text: "request_id: already in use on this connection"}
)

// run serves the connection until it is closed, and returns when every goroutine of it is gone. The cancel function of ctx is stop.
func (c *session) run(ctx context.Context) {
	defer c.server.sockets.remove(c)
	defer c.conn.Close()
	defer c.stop(nil)
	defer c.server.cfg.Metrics.SocketOpened()()
	opened := time.Now()
	go func() {
		defer close(c.written)
		_ = c.guard(c.write) // which ends the reading too, and that says why
	}()
	err := c.guard(func() error { return c.read(ctx) })
	c.part(ctx, err)
	c.server.cfg.Log.LogAttrs(ctx, slog.LevelDebug, "socket closed",
		slog.String("key_id", c.grant.KeyID), slog.Float64("open_s", seconds(time.Since(opened))), slog.String("reason", err.Error()))
}

// guard keeps a defect of ours from taking the process along: f's panic costs one socket.
func (c *session) guard(f func() error) error {
	err := answer.Try(f)
	if p, ok := errors.AsType[*answer.PanicError](err); ok {
		c.server.cfg.Log.Error("socket", "key_id", c.grant.KeyID, "error", p.Error(), "stack", string(p.Stack))
		c.shut(websocket.CloseInternalServerErr, ownDefect, errLeft)
	}
	return err
}

// messages are buffers to read into. An idle socket holds none.
var messages = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// read takes in messages until the connection ends, and returns why it did.
func (c *session) read(ctx context.Context) error {
	c.conn.SetPingHandler(func(payload string) error {
		c.liveness.heard()
		c.out.putPong(payload)
		return nil
	})
	c.conn.SetPongHandler(func(string) error {
		c.liveness.heard()
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
		c.liveness.heard()
		if !c.liveness.ended() {
			c.receive(ctx, kind, buf.Bytes(), time.Now())
		}
		if buf.Cap() <= 1<<maxBlock {
			messages.Put(buf)
		}
	}
}

// receive acts on one message. What can be said about it without a worker is answered at once, also while another utterance is spoken:
// the sooner a client learns of a mistake, the sooner it can put something else in its place.
func (c *session) receive(ctx context.Context, kind int, body []byte, read time.Time) {
	if kind == websocket.BinaryMessage {
		c.refuse(ctx, &speech.Utterance{RequestID: newRequestID()}, errNotText)
		return
	}
	if !utf8.Valid(body) {
		c.shut(websocket.CloseInvalidFramePayloadData, notUTF8, errLeft)
		return
	}
	req, err := decode(body, fromSocket)
	id := req.Utterance.RequestID // empty when there is none
	if id == "" {
		req.Utterance.RequestID = newRequestID()
	}
	switch {
	case err != nil:
		// What the message meant to be is not known.
	case req.Type == "" || req.Type == "speak":
		err = c.accept(ctx, req, read)
	case req.Type == typeAppend:
		err = c.appendText(ctx, req, id, read)
	case req.badRequestID:
		err = errRequestID
	case req.Type == "cancel", req.Type == "clear":
		c.cancel(ctx, id)
	case req.Type == "flush":
		err = c.flush(id)
	case req.Type == "finish":
		err = c.finish(id)
	case req.Type == "ping":
		c.out.answer(ctx.Done(), pongEvent{Type: "pong", RequestID: id})
	default:
		err = errUnknownType
	}
	if err != nil {
		c.refuse(ctx, &req.Utterance, err)
	}
}

// refuse tells the client that u will not be spoken.
func (c *session) refuse(ctx context.Context, u *speech.Utterance, err error) {
	c.out.answer(ctx.Done(), errorEventOf(u.RequestID, err))
	c.record(&speech.Utterance{RequestID: u.RequestID}, speech.Stats{}, err) // the rest may be anything
}

func (c *session) record(u *speech.Utterance, st speech.Stats, err error) {
	c.server.record(context.Background(), &outcome{
		endpoint: metrics.WS, requestID: u.RequestID, keyID: c.grant.KeyID,
		voice: u.Voice, format: u.Format, chars: st.Chars, stats: st, err: err,
	})
}

// write sends what is put out until there is nothing more to come or the connection fails.
func (c *session) write() error {
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

func (c *session) send(m message, began time.Time) error {
	data := m.data
	if m.late != nil {
		event := m.late()
		if event == nil {
			return nil
		}
		data = encodeEvent(event)
	}
	err := c.conn.WriteMessage(m.kind, data)
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

// tooSlow gives up a client that does not take what is sent.
func (c *session) tooSlow() { c.shut(websocket.ClosePolicyViolation, tooSlow, speech.ErrClientSlow) }

// shut closes the connection for a fault: nothing that waits is sent any more, and what runs is stopped for cause.
func (c *session) shut(code int, reason string, cause error) {
	c.out.close(websocket.FormatCloseMessage(code, reason), true)
	c.stop(cause)
	c.liveness.end() // from now on: the close frame may wait behind a message that the client does not take
}

// part ends everything after reading has ended with err, and waits until it has.
func (c *session) part(ctx context.Context, err error) {
	refused := false // what the client sent; the close has the reason
	fault, isFault := errors.AsType[*frameFault](err)
	switch { // before anything else ends, which might find another reason to close
	case c.liveness.ended(): // either side has closed
	case isFault:
		c.out.close(websocket.FormatCloseMessage(fault.code, fault.reason), true)
		refused = true
		c.recordOversize(fault)
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
	c.voice.Wait()
	c.forget()
}

func isBroken(err error) bool {
	if _, ok := errors.AsType[*websocket.CloseError](err); ok {
		return true // 1006: the connection ended without a close
	}
	_, ok := errors.AsType[net.Error](err)
	return ok || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}

// linger swallows what the client is still sending. A connection that is dropped with unread bytes in it is reset, and a reset can
// overtake the close frame.
func (c *session) linger() {
	c.conn.SetReadDeadline(time.Now().Add(leaveGrace))
	conn := c.conn.NetConn()
	if f, ok := conn.(*frameReader); ok {
		conn = f.Conn // frames are read no further
	}
	_, _ = io.CopyN(io.Discard, conn, 16*maxMessage)
}

// recordOversize counts a message that was too large to be read to its end. What else closes a socket is no message.
func (c *session) recordOversize(fault *frameFault) {
	if fault == errMessageTooBig {
		c.record(&speech.Utterance{RequestID: newRequestID()}, speech.Stats{}, errBodyTooLarge)
	}
}

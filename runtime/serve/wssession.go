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
	"slices"
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
	grant  access.Grant
	id     string // groups its utterances at the speaker
	out    outbox
	stop   context.CancelCauseFunc // of everything the session does

	patience patience       // with the client
	written  chan struct{}  // closed when the writing goroutine has ended
	voice    sync.WaitGroup // the speaking goroutine

	mu          sync.Mutex
	speaking    bool       // the speaking goroutine runs
	ending      error      // why no utterance is taken any more; the socket closes when the running one has ended. Nil: it goes on
	running     *utterance // the head of the connection: spoken, or about to be
	waiting     []*utterance
	waitingText int // bytes
}

func newSession(s *Server, conn *websocket.Conn, grant access.Grant, stop context.CancelCauseFunc) *session {
	return &session{
		server: s, conn: conn, grant: grant, id: newRequestID(), stop: stop,
		out:      outbox{wake: make(chan struct{}, 1)},
		patience: patience{conn: conn},
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
	c.part(err)
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
		c.patience.heard()
		c.out.putPong(payload)
		return nil
	})
	c.conn.SetPongHandler(func(string) error {
		c.patience.heard()
		return nil
	})
	c.conn.SetCloseHandler(func(code int, _ string) error {
		c.patience.end()
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
		c.patience.heard()
		if !c.patience.ended() {
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
	case req.badRequestID:
		err = errRequestID
	case req.Type == "cancel":
		c.cancel(ctx, id)
	case req.Type == "ping":
		c.put(ctx.Done(), pongEvent{Type: "pong", RequestID: id})
	default:
		err = errUnknownType
	}
	if err != nil {
		c.refuse(ctx, &req.Utterance, err)
	}
}

// accept queues the utterance that req asks for.
func (c *session) accept(ctx context.Context, req request, read time.Time) error {
	if err := req.validate(c.server.cfg.Speaker.Model(), c.grant); err != nil {
		return err
	}
	u := &utterance{Utterance: req.Utterance, session: c, read: read}
	u.Session, u.More = c.id, c.more
	if !req.HasSeed {
		u.Seed = newSeed()
	}
	if u.Format == speech.WAV {
		u.Format = speech.PCM16 // a stream of utterances is no file
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.knowsLocked(u.RequestID):
		return errIDInUse
	case c.ending != nil:
		return c.ending
	case c.running == nil:
		c.running = u
	case len(c.waiting) == maxWaiting || c.waitingText+len(u.Text) > maxWaitingText:
		return speech.ErrBusy
	default:
		c.waiting = append(c.waiting, u)
		c.waitingText += len(u.Text)
	}
	if !c.speaking {
		c.speaking = true
		c.voice.Go(func() { _ = c.guard(func() error { return c.speak(ctx) }) })
	}
	return nil
}

func (c *session) knowsLocked(id string) bool {
	named := func(u *utterance) bool { return u.RequestID == id }
	return c.running != nil && named(c.running) || slices.ContainsFunc(c.waiting, named)
}

// more tells the speaker whether to keep the worker.
func (c *session) more() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiting) > 0
}

// cancel ends the utterance called id, or every one if id is empty. One that is unknown has ended already: its end and the cancel
// crossed on the way, which is nobody's mistake and needs no answer.
func (c *session) cancel(ctx context.Context, id string) {
	c.mu.Lock()
	var dropped []*utterance
	c.waiting = slices.DeleteFunc(c.waiting, func(u *utterance) bool {
		if id != "" && u.RequestID != id {
			return false
		}
		dropped = append(dropped, u)
		c.waitingText -= len(u.Text)
		return true
	})
	if u := c.running; u != nil && (id == "" || u.RequestID == id) {
		u.cancelled = true
		if u.stop != nil {
			u.stop(errCancelled)
		}
		c.out.drop(u) // what the client has not got it does not want
	}
	c.mu.Unlock()
	for _, u := range dropped {
		c.put(ctx.Done(), u.cancelledEvent(0))
		c.record(ctx, &u.Utterance, speech.Stats{}, errCancelled)
	}
}

// speak speaks what is queued, and then ends.
func (c *session) speak(ctx context.Context) error {
	for {
		u := c.head()
		if u == nil {
			return nil
		}
		c.say(ctx, u)
	}
}

// head returns the utterance whose turn it is. Without one the speaking goroutine must end.
func (c *session) head() *utterance {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		c.speaking = false
		c.closeIfEndingLocked()
	}
	return c.running
}

// say speaks u and tells the client how it ended.
func (c *session) say(session context.Context, u *utterance) {
	ctx, cancel := context.WithTimeoutCause(session, speech.UtteranceTimeout, speech.ErrTimeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	c.begin(u, stop)
	u.Asked = time.Now() // its turn has come
	metered := c.server.cfg.Meter.Begin(c.grant, string(metrics.WS), u.Utterance, u)
	var stats speech.Stats
	err := context.Cause(ctx)
	if err == nil {
		u.done = ctx.Done()
		err = answer.Try(func() (err error) {
			stats, err = c.server.cfg.Speaker.Speak(ctx, u.Utterance, metered)
			return err
		})
	}
	if errors.Is(err, errShut) {
		if err = context.Cause(ctx); err == nil {
			err = errLeft
		}
	}
	if err == nil && !u.begun {
		err = errNoAudio
	}
	if cancelled := c.finish(u); cancelled {
		err = errCancelled
	}
	metered.End(stats, err) // before the client is told: then it is on the bill
	c.record(session, &u.Utterance, stats, err)

	switch {
	case err == nil:
		c.put(session.Done(), u.endEvent(stats))
	case errors.Is(err, errCancelled):
		c.out.drop(u)
		c.putMessage(session.Done(), message{
			kind: websocket.TextMessage, of: u,
			late: func() []byte { return encodeEvent(u.cancelledEvent(stats.Frames)) },
		})
	case errors.Is(err, speech.ErrClientSlow):
		c.shut(websocket.ClosePolicyViolation, tooSlow, speech.ErrClientSlow)
	case endedByClient(err):
		// Nobody is left to be told.
	default:
		c.put(session.Done(), errorEventOf(u.RequestID, err))
	}
}

// begin makes stop what a cancel message calls, which may have come already.
func (c *session) begin(u *utterance, stop context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	u.stop = stop
	if u.cancelled {
		stop(errCancelled)
	}
}

// finish makes the next utterance the head, and reports whether u was cancelled. It comes before u's last event, so that a client that
// has seen that may use the id again.
func (c *session) finish(u *utterance) (cancelled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = nil
	if len(c.waiting) > 0 {
		c.running = c.waiting[0]
		c.waitingText -= len(c.running.Text)
		c.waiting = slices.Delete(c.waiting, 0, 1)
	}
	return u.cancelled
}

// refuse tells the client that u will not be spoken.
func (c *session) refuse(ctx context.Context, u *speech.Utterance, err error) {
	c.put(ctx.Done(), errorEventOf(u.RequestID, err))
	c.record(ctx, &speech.Utterance{RequestID: u.RequestID}, speech.Stats{}, err) // the rest may be anything
}

// put sends an event about something else than the audio that is being spoken.
func (c *session) put(done <-chan struct{}, event any) {
	c.putMessage(done, message{kind: websocket.TextMessage, data: encodeEvent(event)})
}

func (c *session) putMessage(done <-chan struct{}, m message) {
	if err := c.out.put(done, m, maxUnsent+eventRoom); errors.Is(err, speech.ErrClientSlow) {
		c.shut(websocket.ClosePolicyViolation, tooSlow, speech.ErrClientSlow)
	}
}

func (c *session) record(ctx context.Context, u *speech.Utterance, st speech.Stats, err error) {
	c.server.record(ctx, &outcome{
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
	for {
		m, ok := c.out.take(ping.C)
		if !ok {
			return nil
		}
		if m.kind == websocket.PingMessage {
			c.patience.pinging()
		}
		c.conn.SetWriteDeadline(time.Now().Add(writeLimit))
		err := c.send(m)
		switch {
		case errors.Is(err, websocket.ErrCloseSent): // by gorilla, after a message that it could not read
			farewell = true
			return nil
		case err != nil:
			return err
		case m.kind == websocket.CloseMessage:
			farewell = true
			c.patience.end()
			return nil
		}
	}
}

func (c *session) send(m message) error {
	data := m.data
	if m.late != nil {
		data = m.late()
	}
	err := c.conn.WriteMessage(m.kind, data)
	c.out.sent(m)
	if err != nil || m.of == nil {
		return err
	}
	c.patience.took()
	if event := m.of.delivered(m); event != nil {
		c.out.putNext(message{kind: websocket.TextMessage, data: event, of: m.of})
	}
	return nil
}

// shut closes the connection for a fault: nothing that waits is sent any more, and what runs is stopped for cause.
func (c *session) shut(code int, reason string, cause error) {
	c.out.close(websocket.FormatCloseMessage(code, reason), true)
	c.stop(cause)
	c.patience.end() // from now on: the close frame may wait behind a message that the client does not take
}

// part ends everything after reading has ended with err, and waits until it has.
func (c *session) part(err error) {
	refused := false // what the client sent; the close has the reason
	fault, isFault := errors.AsType[*frameFault](err)
	switch { // before anything else ends, which might find another reason to close
	case c.patience.ended(): // either side has closed
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
	for _, u := range c.end(errLeft) {
		c.record(context.Background(), &u.Utterance, speech.Stats{}, errLeft)
	}
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
		c.record(context.Background(), &speech.Utterance{RequestID: newRequestID()}, speech.Stats{}, errBodyTooLarge)
	}
}

// end takes no utterance any more, for the reason why, and returns those that had not begun. Draining is the only reason that another
// one may follow.
func (c *session) end(why error) []*utterance {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending == nil || errors.Is(c.ending, speech.ErrDraining) {
		c.ending = why
	}
	dropped := c.waiting
	c.waiting, c.waitingText = nil, 0
	return dropped
}

// closeIfEndingLocked closes when no utterance is left and none is taken any more.
func (c *session) closeIfEndingLocked() {
	switch {
	case c.ending == nil || c.speaking:
	case errors.Is(c.ending, access.ErrInvalidKey):
		c.out.close(websocket.FormatCloseMessage(websocket.ClosePolicyViolation, access.ErrInvalidKey.Error()), false)
	default:
		c.out.close(websocket.FormatCloseMessage(websocket.CloseGoingAway, goingAway), false)
	}
}

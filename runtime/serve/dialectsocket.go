package serve

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

// dialectSocket answers a route of a dialect with a connection that speaks it.
func (s *Server) dialectSocket(d *dialect.Dialect, r dialect.Route) handler {
	return func(w http.ResponseWriter, q *http.Request) error {
		creds, subprotocol := s.anyCredentials(q)
		return s.connect(w, q, socketKind{
			endpoint: metrics.Endpoint(d.Name), creds: creds, upgrader: &vendorUpgrader, subprotocol: subprotocol,
			accept: func(grant access.Grant) (func(*connection) protocol, error) {
				var state dialect.Socket
				err := answer.Try(func() (err error) {
					state, err = r.Socket(s.call(w, q, grant, nil))
					return err
				})
				return func(c *connection) protocol {
					return &vendorSession{connection: c, state: state, contexts: make(map[string]*vendorContext)}
				}, err
			},
		})
	}
}

// vendorSession is a connection of a dialect. Each of its contexts has a queue of turns.
type vendorSession struct {
	*connection
	contexts map[string]*vendorContext // by name; guarded by the mutex of the connection

	stateMu sync.Mutex
	state   dialect.Socket
}

func (v *vendorSession) open(ctx context.Context) { v.do(ctx, v.state.Open()) }

func (v *vendorSession) receive(ctx context.Context, kind int, body []byte, _ time.Time) {
	m := dialect.Message{Binary: kind == websocket.BinaryMessage, Data: body}
	if !m.Binary && !utf8.Valid(body) {
		v.shut(websocket.CloseInvalidFramePayloadData, notUTF8, errLeft)
		return
	}
	if !v.isAskedToClose() {
		v.do(ctx, v.read(m))
	}
}

func (v *vendorSession) read(m dialect.Message) []dialect.Action {
	v.stateMu.Lock()
	defer v.stateMu.Unlock()
	return v.state.Read(m)
}

// write returns what an event becomes that leaves now.
func (v *vendorSession) write(name string, e dialect.Event) (frames []frame) {
	v.stateMu.Lock()
	actions := v.state.Write(name, e)
	v.stateMu.Unlock()
	for _, a := range actions {
		switch a := a.(type) {
		case dialect.Message:
			frames = append(frames, frame{kindOf(a), a.Data})
		case dialect.Close:
			v.close(a) // frames are sent nevertheless
		}
	}
	return frames
}

func kindOf(m dialect.Message) int {
	if m.Binary {
		return websocket.BinaryMessage
	}
	return websocket.TextMessage
}

// do carries out what a message has asked for. It waits while the client takes no answers.
func (v *vendorSession) do(ctx context.Context, actions []dialect.Action) {
	for _, a := range actions {
		switch a := a.(type) {
		case dialect.Message:
			v.out.answerWith(ctx.Done(), message{kind: kindOf(a), data: a.Data})
		case dialect.Begin:
			v.begin(ctx, a)
		case dialect.Append:
			if x := v.find(a.Context); x != nil {
				x.append(ctx, a)
			}
		case dialect.Flush:
			if x := v.find(a.Context); x != nil {
				x.flush(ctx, a.Tag)
			}
		case dialect.Finish:
			if x := v.find(a.Context); x != nil {
				x.finish(ctx)
			}
		case dialect.Cancel:
			v.cancel(ctx, a.Context)
		case dialect.Reject:
			id := newRequestID()
			v.record(&speech.Utterance{RequestID: id}, "", speech.Stats{}, a.Err)
			v.sendEvent(ctx.Done(), a.Context, dialect.Rejected{Fault: faultOf(a.Err, id)})
		case dialect.Note:
			v.server.cfg.Log.LogAttrs(ctx, slog.LevelInfo, "socket",
				slog.String("endpoint", string(v.endpoint)), slog.String("key_id", v.grant.KeyID),
				slog.String(a.Text, a.Value))
		case dialect.Close:
			v.close(a)
		}
	}
}

// eventSize is what an event counts as among the answers that wait.
var eventSize [256]byte

// sendEvent has an event written ahead of audio that waits.
func (v *vendorSession) sendEvent(done <-chan struct{}, name string, e dialect.Event) {
	v.out.answerWith(done, message{
		kind: websocket.TextMessage, data: eventSize[:], late: func() []frame { return v.write(name, e) },
	})
}

// begin opens a context, or changes what the next turn of one is spoken with.
func (v *vendorSession) begin(ctx context.Context, a dialect.Begin) {
	if !v.tryBegin(ctx, a) {
		v.refuse(ctx, a.Context, speech.ErrBusy)
	}
}

func (v *vendorSession) tryBegin(ctx context.Context, a dialect.Begin) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	x := v.contexts[a.Context]
	if x == nil {
		if len(v.contexts) >= dialect.MaxContexts {
			return false
		}
		x = &vendorContext{
			turns: turns{connection: v.connection, group: newRequestID(), most: maxTurns}, session: v, name: a.Context,
		}
		v.contexts[a.Context] = x
	}
	x.order, x.feed, x.over = a.Order, a.Feed, false
	if x.idle != nil {
		x.idle.Stop()
		x.idle = nil
	}
	if a.Feed.Idle > 0 {
		x.idle = time.AfterFunc(a.Feed.Idle, func() { x.finishIdle(ctx) })
	}
	return true
}

// refuse counts a turn that cannot begin, and sends the error.
func (v *vendorSession) refuse(ctx context.Context, name string, why error) {
	id := newRequestID()
	v.record(&speech.Utterance{RequestID: id}, "", speech.Stats{}, why)
	v.sendEvent(ctx.Done(), name, dialect.Failed{Fault: faultOf(why, id)})
}

// find returns an open context, or nil. It restarts the idle time.
func (v *vendorSession) find(name string) *vendorContext {
	v.mu.Lock()
	defer v.mu.Unlock()
	x := v.contexts[name]
	if x == nil || x.over {
		return nil
	}
	if x.idle != nil {
		x.idle.Reset(x.feed.Idle)
	}
	return x
}

// cancel drops the unsent audio of a context. The end of the current utterance reports the cancel.
func (v *vendorSession) cancel(ctx context.Context, name string) {
	waiting, begun, stops := v.takeContext(name)
	v.end(errCancelled, begun...)
	for _, u := range waiting {
		u.record(speech.Stats{}, errCancelled)
	}
	if !stops {
		v.sendEvent(ctx.Done(), name, dialect.Cancelled{})
	}
}

// takeContext takes out the turns of a context that have not begun, and reports whether one of the others is being
// spoken, which is noted there.
func (v *vendorSession) takeContext(name string) (waiting, begun []*utterance, stops bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	x := v.contexts[name]
	if x == nil {
		return nil, nil, false
	}
	x.open = nil
	x.over = x.over || !x.feed.FlushEnds
	waiting, begun = x.takeLocked(func(*utterance) bool { return true })
	for _, u := range begun {
		if !u.spoken {
			u.output.(*vendorTurn).cancels++
			stops = true
		}
	}
	if len(begun) == 0 {
		v.emptiedLocked(&x.turns)
	}
	return waiting, begun, stops
}

// close closes the connection as the dialect wants, unless it is closed for a fault.
func (v *vendorSession) close(a dialect.Close) {
	reason := a.Reason[:min(len(a.Reason), maxCloseReason)]
	frame := websocket.FormatCloseMessage(a.Code, reason)
	switch {
	case a.After > 0:
		time.AfterFunc(a.After, func() { v.closeNow(frame) })
	case a.Drain:
		v.finishAll(frame)
		v.closeIfIdle()
	default:
		v.closeNow(frame)
	}
}

// maxCloseReason is what a close has room for, in bytes.
const maxCloseReason = 123

func (v *vendorSession) closeNow(frame []byte) {
	if v.endsForFault() {
		return
	}
	v.out.closeBehindAnswers(frame)
	v.stop(errLeft)
	v.liveness.end()
}

// endsForFault reports whether the connection is closed with a reason of the server.
func (v *vendorSession) endsForFault() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return errors.Is(v.ending, access.ErrInvalidKey) || errors.Is(v.ending, errBodyTooLarge)
}

// finishAll finishes every context. When all have been sent, frame closes the connection.
func (v *vendorSession) finishAll(frame []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ending == nil {
		v.ending = &closeRequested{frame}
	}
	for _, x := range v.contexts {
		x.over = true
		if x.open != nil {
			x.open.fed.Finish()
			x.open = nil
		}
	}
}

func (v *vendorSession) isAskedToClose() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, ok := errors.AsType[*closeRequested](v.ending)
	return ok
}

func (v *vendorSession) queuesLocked() (all []*turns) {
	for _, x := range v.contexts {
		all = append(all, &x.turns)
	}
	return all
}

func (v *vendorSession) emptiedLocked(q *turns) {
	for name, x := range v.contexts {
		if &x.turns == q && x.over {
			x.stopIdling()
			delete(v.contexts, name)
		}
	}
}

func (v *vendorSession) failed(why error) {
	v.sendEvent(noWait, "", dialect.Failed{Fault: faultOf(why, newRequestID())})
}

func (v *vendorSession) forgetLocked() {
	for _, x := range v.contexts {
		x.stopIdling()
	}
	clear(v.contexts)
}

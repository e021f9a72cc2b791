package serve

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"github.com/swar-tts/swar/runtime/speech"
)

// session is a connection of the native protocol. It has one queue of utterances.
type session struct{ turns }

func newSession(c *connection) *session {
	return &session{turns{connection: c, group: newRequestID(), most: maxWaiting}}
}

var (
	errLeft      = speech.ErrClientGone
	errCancelled = fmt.Errorf("cancel message: %w", context.Canceled)
	errIDInUse   = &speech.Refusal{Code: speech.CodeBadRequest, Text: "request_id: already in use on this connection"}
)

func (c *session) open(context.Context)   {}
func (c *session) queuesLocked() []*turns { return []*turns{&c.turns} }
func (c *session) emptiedLocked(*turns)   {}
func (c *session) failed(error)           {} // the reason of the close says it
func (c *session) forgetLocked()          {}

// receive acts on one message. What can be said about it without a worker is answered at once, also while another
// utterance is spoken: the sooner a client learns of a mistake, the sooner it can put something else in its place.
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

// refuse sends the error of a refused u.
func (c *session) refuse(ctx context.Context, u *speech.Utterance, err error) {
	c.out.answer(ctx.Done(), errorEventOf(u.RequestID, err))
	c.record(&speech.Utterance{RequestID: u.RequestID}, "", speech.Stats{}, err) // the rest may be anything
}

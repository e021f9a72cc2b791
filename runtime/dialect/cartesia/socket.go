package cartesia

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

// How long text without an end waits for more, in ms. Clients ask for 0, at which sentences would be cut to bits.
const (
	defaultDelay = 3000
	minDelay     = 250
	maxDelay     = 5000
)

func readDelay(w *wanted, v jsontext.Value) error {
	if err := strictjson.Number(v, &w.delay); err != nil || w.delay < 0 || w.delay > maxDelay {
		return fmt.Errorf("must be in [0, %d]", maxDelay)
	}
	w.delay = max(w.delay, minDelay)
	return nil
}

// socket is one connection.
type socket struct {
	call     dialect.Call        // RequestID, Model and Encodes alone
	contexts map[string]*context // for which an end is still to be sent
}

// context is what is known under a context_id. Clients may use one again when they have ended it, also while it is
// spoken.
type context struct {
	turns   int  // whose end is still to be sent
	open    bool // the last one takes more text
	spoken  bool // times are asked for words as they are spoken, not as they were written
	flushes int
}

// newSocket opens GET /tts/websocket.
func newSocket(c dialect.Call) (dialect.Socket, error) {
	return &socket{
		call:     dialect.Call{RequestID: c.RequestID, Model: c.Model, Encodes: c.Encodes},
		contexts: map[string]*context{},
	}, nil
}

// Open implements [dialect.Socket].
func (s *socket) Open() []dialect.Action { return nil }

// Read implements [dialect.Socket].
func (s *socket) Read(in dialect.Message) []dialect.Action {
	w := unset()
	actions, err := s.read(in, &w)
	if err != nil {
		return []dialect.Action{dialect.Reject{Context: w.contextID, Err: err}}
	}
	return actions
}

func (s *socket) read(in dialect.Message, w *wanted) ([]dialect.Action, error) {
	if in.Binary {
		return nil, dialect.Refuse("", speech.CodeBadRequest, "expected a JSON text message")
	}
	if err := dialect.ReadBody(in.Data, envelopeMembers, w, nil); err != nil {
		return nil, err
	}
	id := w.contextID
	if id == "" {
		id = s.call.RequestID // clients that have one context at a time need no name for it
	}
	if w.cancel {
		delete(s.contexts, id) // of what is cancelled nothing but that is sent
		return []dialect.Action{dialect.Cancel{Context: id}}, nil
	}
	if strings.IndexByte(w.transcript, 0) >= 0 {
		return nil, speech.ErrTextNUL
	}
	c := s.contexts[id]
	var actions []dialect.Action
	if c == nil || !c.open {
		if err := dialect.ReadBody(in.Data, members, w, nil); err != nil {
			return nil, err
		}
		begin, err := s.begin(id, w)
		if err != nil {
			return nil, err
		}
		c, actions = s.contexts[id], append(actions, begin)
	}
	actions = append(actions, dialect.Append{Context: id, Text: w.transcript, Piece: true})
	if w.flush {
		actions = append(actions, dialect.Flush{Context: id, Tag: c.flushes})
		c.flushes++
	}
	if !w.continues {
		c.open = false
		actions = append(actions, dialect.Finish{Context: id})
	}
	return actions, nil
}

// begin opens a context with what its first message asks for. Its name may be that of one that is still being sent.
func (s *socket) begin(id string, w *wanted) (dialect.Begin, error) {
	o, err := w.order(s.call)
	if err == nil {
		err = w.checkFramed()
	}
	if err != nil {
		return dialect.Begin{}, err
	}
	c := s.contexts[id]
	if c == nil {
		c = &context{}
		s.contexts[id] = c
	}
	c.turns++
	c.open, c.flushes, c.spoken = true, 0, w.normalized
	o.Utterance.WordTimes = w.timestamps
	return dialect.Begin{Context: id, Order: o, Feed: dialect.Feed{
		SourceWords: w.timestamps && !w.normalized, SilentInterrupts: true,
		Delay: time.Duration(w.delay * float64(time.Millisecond)),
	}}, nil
}

// Write implements [dialect.Socket].
func (s *socket) Write(id string, e dialect.Event) []dialect.Action {
	switch e := e.(type) {
	case dialect.Sound:
		return send(chunk(id, e.Data))
	case dialect.Words:
		words := e.Source
		if c := s.contexts[id]; c != nil && c.spoken {
			words = e.Spoken
		}
		if len(words) > 0 {
			return send(timestamps(id, words))
		}
	case dialect.Flushed:
		n, _ := e.Tag.(int)
		return send(flushDone(id, n))
	case dialect.Ended:
		s.ended(id)
		return send(done(id))
	case dialect.Cancelled:
		return send(done(id))
	case dialect.Failed:
		s.ended(id)
		return failure(id, e.Fault)
	case dialect.Rejected:
		return failure(id, e.Fault)
	}
	return nil
}

func send(data []byte) []dialect.Action { return []dialect.Action{dialect.Message{Data: data}} }

// ended notes the end of the oldest turn of a context.
func (s *socket) ended(id string) {
	c := s.contexts[id]
	if c == nil {
		return
	}
	if c.turns--; c.turns == 0 {
		delete(s.contexts, id)
	}
}

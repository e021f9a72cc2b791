// Package stream is the two sockets: stream-input has one text, multi-stream-input has contexts.
package stream

import (
	"errors"
	"time"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/dialect/elevenlabs/internal/request"
	"github.com/swar-tts/swar/runtime/speech"
)

// defaultContext is what the server calls a context that a client of many does not name.
const defaultContext = "default"

// codeTooMany refuses a context that is one too many.
const codeTooMany speech.Code = "max_active_conversations"

var (
	errNotText = dialect.Refuse("", speech.CodeBadRequest, "expected a JSON text message")
	errTooMany = dialect.Refuse("context_id", codeTooMany,
		"32 contexts are open; close one of them before opening another")
)

// socket is the state of a connection. That of stream-input has one context, which is called "".
type socket struct {
	multi bool
	query settings
	open  map[string]*context
}

// context is one whose end was not sent.
type context struct {
	end       []byte // of every message
	unflushed bool   // text came since the last flush without text
	closing   bool   // nothing more of it is read but a second close
	cancelled bool

	// End of the letters sent so far: without sync_alignment the next times count from there.
	written, spoken time.Duration
}

func newSocket(multi bool, query settings) *socket {
	return &socket{multi: multi, query: query, open: map[string]*context{}}
}

// Open implements [dialect.Socket].
func (s *socket) Open() []dialect.Action { return nil }

// Read implements [dialect.Socket].
func (s *socket) Read(m dialect.Message) []dialect.Action {
	if m.Binary {
		return s.refuse("", errNotText)
	}
	in, err := readMessage(m.Data)
	switch {
	case !s.multi:
		in.context = ""
	case err == nil && in.context == "":
		in.context = defaultContext
	}
	if err != nil {
		return s.refuse(in.context, err)
	}
	var all []dialect.Action
	if s.multi {
		all = s.readContext(in)
	} else {
		all = s.readSingle(in)
	}
	if in.closeSocket {
		all = append(all, dialect.Close{Code: closeNormal, Drain: true})
	}
	return all
}

// readContext reads a message of multi-stream-input.
func (s *socket) readContext(in message) (all []dialect.Action) {
	c := s.open[in.context]
	switch {
	case c == nil && in.text == "": // it keeps alive, flushes or closes what is not open
		return nil
	case c == nil:
		begin, err := s.begin(in)
		if err != nil {
			return s.refuse(in.context, err)
		}
		c = s.open[in.context]
		all = append(all, begin)
	case c.closing:
		if in.closes && !c.cancelled {
			c.cancelled = true
			return []dialect.Action{dialect.Cancel{Context: in.context}}
		}
		return nil
	}
	all = append(all, s.feed(c, in)...)
	if in.closes {
		c.closing = true
		if c.cancelled = c.unflushed && !in.hasWords(); c.cancelled {
			return append(all, dialect.Cancel{Context: in.context})
		}
		return append(all, dialect.Finish{Context: in.context})
	}
	return all
}

// readSingle reads a message of stream-input.
func (s *socket) readSingle(in message) (all []dialect.Action) {
	c := s.open[""]
	ends := in.hasText && in.text == ""
	switch {
	case c != nil && c.closing:
		return nil
	case c == nil && ends:
		return []dialect.Action{final(""), dialect.Close{Code: closeNormal}}
	case c == nil:
		begin, err := s.begin(in)
		if err != nil {
			return s.refuse("", err)
		}
		c = s.open[""]
		all = append(all, begin)
	case ends:
		c.closing = true
		return []dialect.Action{dialect.Finish{}}
	}
	return append(all, s.feed(c, in)...)
}

// begin opens a context.
func (s *socket) begin(in message) (b dialect.Begin, err error) {
	if len(s.open) >= dialect.MaxContexts {
		return b, errTooMany
	}
	voice := request.Settings{Speed: 1}
	if err := dialect.ReadBody(in.whole, openingMembers, &voice, nil); err != nil {
		return b, err
	}
	if voice.Speed != 1 && !s.query.hasSpeeds {
		return b, request.ErrNoSpeed
	}
	c := &context{end: []byte("}")}
	if s.multi {
		c.end = append(append([]byte(`,"contextId":`), dialect.JSON(in.context)...), '}')
	}
	s.open[in.context] = c
	order := s.query.order
	order.Audio.Speed, order.Lexicon = voice.Speed, voice.Lexicon
	return dialect.Begin{Context: in.context, Order: order,
		Feed: dialect.Feed{SourceWords: true, SilentInterrupts: true, Idle: s.query.idle}}, nil
}

// feed feeds a context what a message says. One that says nothing keeps it from idling.
func (s *socket) feed(c *context, in message) (all []dialect.Action) {
	c.unflushed = c.unflushed || in.hasWords()
	if saysNothing := !in.flush && !in.closes && !in.closeSocket; in.text != "" || saysNothing {
		all = append(all, dialect.Append{Context: in.context, Text: in.text})
	}
	if in.flush || s.query.auto && in.hasWords() {
		all = append(all, dialect.Flush{Context: in.context})
	}
	if in.flush && !in.hasWords() {
		c.unflushed = false
	}
	return all
}

// refuse answers what cannot be served. A client of one context has no way on.
func (s *socket) refuse(context string, err error) []dialect.Action {
	all := []dialect.Action{dialect.Reject{Context: context, Err: err}}
	switch {
	case errors.Is(err, errTooMany):
		return append(all, dialect.Close{Code: closeRefused, Reason: string(codeTooMany)})
	case !s.multi:
		return append(all, dialect.Close{Code: closeRefused, Reason: "invalid message"})
	}
	return all
}

package sarvam

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// socketMP3Rate is the rate of mp3 on a socket unless another one is named.
const socketMP3Rate = 22_050

// socket is one connection: turns one after the other, each up to a flush.
type socket struct {
	call       dialect.Call // Model and Encodes alone
	completion bool         // final was requested
	configured bool
	fed        bool // text came since the last flush

	contentType, requestID string // of the turn that is sent
}

// newSocket opens GET /text-to-speech/ws. The model of the query is any.
func newSocket(c dialect.Call) (dialect.Socket, error) {
	return &socket{
		call:       dialect.Call{Model: c.Model, Encodes: c.Encodes},
		completion: strings.EqualFold(c.Query.Get("send_completion_event"), "true"),
	}, nil
}

// Open implements [dialect.Socket].
func (s *socket) Open() []dialect.Action { return nil }

// message is one of a client.
type message struct {
	kind string
	data jsontext.Value
}

var messageMembers = []dialect.Member[message]{
	{Name: "type", Code: speech.CodeBadRequest, Read: dialect.ReadString(func(m *message) *string { return &m.kind })},
	{Name: "data", Read: func(m *message, v jsontext.Value) error {
		m.data = v
		return nil
	}},
}

// Read implements [dialect.Socket].
func (s *socket) Read(in dialect.Message) []dialect.Action {
	actions, err := s.read(in)
	if err != nil {
		return []dialect.Action{dialect.Reject{Err: err}}
	}
	return actions
}

func (s *socket) read(in dialect.Message) ([]dialect.Action, error) {
	if in.Binary {
		return nil, refuse("expected a JSON text message")
	}
	var m message
	if err := dialect.ReadBody(in.Data, messageMembers, &m, nil); err != nil {
		return nil, err
	}
	switch m.kind {
	case "ping":
		return []dialect.Action{dialect.Message{Data: event("pong")}}, nil
	case "config":
		return s.configure(m.data)
	case "text", "flush":
		if !s.configured {
			return nil, refuse("the first message must be a config")
		}
		if m.kind == "flush" {
			return s.flush(), nil
		}
		return s.feed(m.data)
	}
	return nil, refuse(fmt.Sprintf("type: %.32q must be config, text, flush or ping", m.kind))
}

func refuse(text string) error { return dialect.Refuse("", speech.CodeBadRequest, text) }

// configure reads what the next turn is spoken with.
func (s *socket) configure(data jsontext.Value) ([]dialect.Action, error) {
	if data == nil {
		return nil, refuse("data: required")
	}
	w := unset("mp3")
	if err := dialect.ReadBody(data, settings, &w, nil); err != nil {
		return nil, err
	}
	if w.codec == "mp3" && w.rate == 0 {
		w.rate = socketMP3Rate
	}
	o, err := w.order(s.call)
	if err != nil {
		return nil, err
	}
	s.configured = true
	return []dialect.Action{dialect.Begin{Order: o, Feed: dialect.Feed{FlushEnds: true, SilentInterrupts: true}}}, nil
}

var textMembers = []dialect.Member[string]{
	{Name: "text", Code: speech.CodeBadText, Read: dialect.ReadString(func(text *string) *string { return text })},
}

// feed speaks a text. Clients strip the white space around their sentences.
func (s *socket) feed(data jsontext.Value) ([]dialect.Action, error) {
	var text string
	if data == nil {
		return nil, refuse("data: required")
	}
	if err := dialect.ReadBody(data, textMembers, &text, nil); err != nil {
		return nil, err
	}
	if strings.IndexByte(text, 0) >= 0 {
		return nil, speech.ErrTextNUL
	}
	s.fed = s.fed || strings.TrimSpace(text) != ""
	return []dialect.Action{dialect.Append{Text: text, Piece: true}}, nil
}

// flush ends the turn. Some clients flush twice: the second one has no text, and no final may answer it.
func (s *socket) flush() []dialect.Action {
	if !s.fed {
		return nil
	}
	s.fed = false
	return []dialect.Action{dialect.Flush{}}
}

// Write implements [dialect.Socket].
func (s *socket) Write(_ string, e dialect.Event) []dialect.Action {
	switch e := e.(type) {
	case dialect.Started:
		s.contentType, s.requestID = e.ContentType, e.RequestID
	case dialect.Sound:
		return send(s.audio(e.Data))
	case dialect.Flushed:
		if s.completion {
			return send(event("final"))
		}
	case dialect.Failed:
		return send(failure(e.Fault))
	case dialect.Rejected:
		return send(failure(e.Fault))
	}
	return nil
}

func send(data []byte) []dialect.Action { return []dialect.Action{dialect.Message{Data: data}} }

func (s *socket) audio(data []byte) []byte {
	const before, between, after = `{"type":"audio","data":{"content_type":"`, `","audio":"`, `","request_id":`
	m := make([]byte, 0, len(before)+len(between)+len(after)+128+base64.StdEncoding.EncodedLen(len(data)))
	m = append(append(append(m, before...), s.contentType...), between...)
	m = append(base64.StdEncoding.AppendEncode(m, data), after...)
	return append(append(m, dialect.JSON(s.requestID)...), "}}"...)
}

func event(kind string) []byte {
	return fmt.Appendf(nil, `{"type":"event","data":{"event_type":"%s"}}`, kind)
}

func failure(f dialect.Fault) []byte {
	status, _ := dialect.Sarvam.FaultStatus(f) // clients read a number here, and a word in answers
	return fmt.Appendf(nil, `{"type":"error","data":{"message":%s,"code":%d,"request_id":%s}}`, dialect.JSON(f.Text), status,
		dialect.JSON(f.RequestID))
}

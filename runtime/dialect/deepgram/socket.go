package deepgram

import (
	"strings"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

// Codes of closes, of RFC 6455 and its registry.
const (
	closeNormal   = 1000
	closePolicy   = 1008
	closeInternal = 1011
	closeTryAgain = 1013
)

// codeBadMessage is what a warning calls a message that is not understood; another one is of a text that is too long.
const (
	codeBadMessage = "INVALID_MESSAGE"
	codeTooLong    = "TEXT_LENGTH_EXCEEDED"
)

// socket is a connection. It has one context, and each flush ends a turn.
type socket struct {
	order    dialect.Order
	metadata metadata
	flushed  int // how many flushes have been answered
	cleared  int
}

// metadata is the first message.
type metadata struct {
	Type         string `json:"type"`
	RequestID    string `json:"request_id"`
	ModelName    string `json:"model_name"`
	ModelVersion string `json:"model_version"`
	ModelUUID    string `json:"model_uuid"`
}

// open answers the handshake.
func open(c dialect.Call) (dialect.Socket, error) {
	o, _, err := query{Values: c.Query, call: &c, isSocket: true}.order()
	if err != nil {
		return nil, err
	}
	voice := o.Utterance.Voice
	return &socket{order: o, metadata: metadata{"Metadata", c.RequestID, voice, modelVersion(c.Model), uuid(voice)}},
		nil
}

// Open implements [dialect.Socket].
func (s *socket) Open() []dialect.Action {
	return []dialect.Action{dialect.Begin{Order: s.order,
		Feed: dialect.Feed{FlushEnds: true, SilentInterrupts: true}}, dialect.JSONMessage(s.metadata)}
}

// Read implements [dialect.Socket].
func (s *socket) Read(m dialect.Message) []dialect.Action {
	if m.Binary {
		return reject("expected a JSON text message")
	}
	members, err := strictjson.Strings(m.Data, "type", "text")
	if err != nil {
		return reject("invalid JSON: " + err.Error())
	}
	switch members["type"] {
	case "Speak":
		text, ok := members["text"]
		if !ok {
			return reject("text: required")
		}
		return s.speak(text)
	case "Flush":
		return []dialect.Action{dialect.Flush{}}
	case "Clear":
		return []dialect.Action{dialect.Cancel{}}
	case "Close":
		return []dialect.Action{dialect.Close{Code: closeNormal, Drain: true}}
	}
	return reject("type must be Speak, Flush, Clear or Close")
}

func (s *socket) speak(text string) []dialect.Action {
	switch {
	case strings.IndexByte(text, 0) >= 0:
		return []dialect.Action{dialect.Reject{Err: speech.ErrTextNUL}}
	case utf8.RuneCountInString(text) > maxText:
		return []dialect.Action{dialect.Reject{Err: errTooLong}}
	}
	return []dialect.Action{dialect.Append{Text: spoken(text)}}
}

func reject(text string) []dialect.Action {
	return []dialect.Action{dialect.Reject{Err: dialect.Refuse("", speech.CodeBadRequest, text)}}
}

// Write implements [dialect.Socket].
func (s *socket) Write(_ string, e dialect.Event) []dialect.Action {
	switch e := e.(type) {
	case dialect.Sound:
		return []dialect.Action{dialect.Message{Binary: true, Data: e.Data}}
	case dialect.Flushed:
		s.flushed++
		return []dialect.Action{dialect.JSONMessage(numbered{"Flushed", s.flushed - 1})}
	case dialect.Cancelled:
		s.cleared++
		return []dialect.Action{dialect.JSONMessage(numbered{"Cleared", s.cleared - 1})}
	case dialect.Rejected:
		code := codeBadMessage
		if e.Fault.Code == string(speech.CodeTextTooLong) {
			code = codeTooLong
		}
		return []dialect.Action{dialect.JSONMessage(warning{"Warning", e.Fault.Text, e.Fault.Text, code})}
	case dialect.Failed:
		_, code := dialect.Deepgram.FaultStatus(e.Fault)
		return []dialect.Action{dialect.JSONMessage(failure{"Error", e.Fault.Text, code}),
			dialect.Close{Code: closeCode(e.Fault), Reason: code}}
	}
	return nil
}

func closeCode(f dialect.Fault) int {
	switch {
	case f.Status < 500:
		return closePolicy
	case f.Status == 503:
		return closeTryAgain
	}
	return closeInternal
}

type numbered struct {
	Type       string `json:"type"`
	SequenceID int    `json:"sequence_id"`
}

// warning reports what was ignored. Clients read one of the two texts.
type warning struct {
	Type        string `json:"type"`
	Description string `json:"description"`
	WarnMsg     string `json:"warn_msg"`
	Code        string `json:"code"`
}

type failure struct {
	Type        string `json:"type"`
	Description string `json:"description"`
	Code        string `json:"code"`
}

package stream

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/dialect/elevenlabs/internal/request"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

// maxContextName is the longest name of a context, in bytes.
const maxContextName = 256

// message is one of a client.
type message struct {
	context     string
	text        string
	hasText     bool
	flush       bool
	closes      bool // the context
	closeSocket bool

	whole []byte // for what counts in the first message of a context only
}

// hasWords reports whether there is something in it to speak.
func (m *message) hasWords() bool { return strings.TrimSpace(m.text) != "" }

var messageMembers = []dialect.Member[message]{
	{Name: "context_id", Code: speech.CodeBadRequest, Read: readContextName},
	{Name: "text", Code: speech.CodeBadText, Read: func(m *message, v jsontext.Value) error {
		m.hasText = true
		return strictjson.String(v, &m.text)
	}},
	{Name: "flush", Code: speech.CodeBadRequest, Read: dialect.ReadBool(func(m *message) *bool { return &m.flush })},
	{Name: "close_context", Code: speech.CodeBadRequest, Read: dialect.ReadBool(func(m *message) *bool { return &m.closes })},
	{Name: "close_socket", Code: speech.CodeBadRequest, Read: dialect.ReadBool(func(m *message) *bool { return &m.closeSocket })},
}

// readContextName reads the name of a context. Of one that is too long nothing is kept.
func readContextName(m *message, v jsontext.Value) error {
	err := strictjson.String(v, &m.context)
	if len(m.context) > maxContextName {
		m.context, err = "", fmt.Errorf("longer than %d bytes", maxContextName)
	}
	return err
}

// readMessage reads a message. With an error it has the name of the context, if that could be read.
func readMessage(data []byte) (m message, err error) {
	m.whole = data
	err = dialect.ReadBody(data, messageMembers, &m, nil)
	return m, err
}

// openingMembers are the members that count only in the first message of a context.
var openingMembers = []dialect.Member[request.Settings]{
	{Name: request.SettingsName, Code: speech.CodeBadRequest, Read: func(s *request.Settings, v jsontext.Value) error {
		return dialect.ReadObject(v, request.SettingsMembers, s, nil)
	}},
	{Name: request.DictionaryName, Code: speech.CodeBadRequest, Read: (*request.Settings).ReadLexicon},
}

package elevenlabs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

// How long a context may go without a message, when nothing of it is left to be spoken.
const (
	defaultIdle = 20 * time.Second
	maxIdle     = 180 * time.Second
)

// maxContextName is the longest name of a context, in bytes.
const maxContextName = 256

// settings are what the query of a socket says.
type settings struct {
	order     dialect.Order // of every context, at speed 1
	hasSpeeds bool          // it can be spoken at others, too
	auto      bool          // every message is flushed
	sync      bool          // times count from the start of the context
	idle      time.Duration
}

func openMulti(c dialect.Call) (dialect.Socket, error)  { return openSocket(c, true) }
func openSingle(c dialect.Call) (dialect.Socket, error) { return openSocket(c, false) }

func openSocket(c dialect.Call, multi bool) (dialect.Socket, error) {
	s := settings{idle: defaultIdle}
	var err error
	if s.order, err = common(c); err != nil {
		return nil, err
	}
	if v := s.order.Utterance.Voice; !c.Allows(v) {
		return nil, speech.VoiceNotAllowed(v)
	}
	faster := s.order.Audio
	faster.Speed = maxSpeed
	s.hasSpeeds = c.Encodes(faster)
	s.order.Utterance.WordTimes = true
	if err = normalizeAs(&s.order.Utterance, c.Query.Get("apply_text_normalization")); err != nil {
		return nil, err
	}
	if s.auto, err = readBool(c, "auto_mode"); err != nil {
		return nil, err
	}
	if s.sync, err = readBool(c, "sync_alignment"); err != nil {
		return nil, err
	}
	if value := c.Query.Get("inactivity_timeout"); value != "" {
		seconds, err := strconv.Atoi(value)
		if err != nil || seconds < 1 {
			return nil, dialect.Refuse("inactivity_timeout", speech.CodeBadRequest, "inactivity_timeout: must be a number of seconds from 1 to 180")
		}
		s.idle = min(time.Duration(min(seconds, 1000))*time.Second, maxIdle)
	}
	if value := c.Query.Get("seed"); value != "" {
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			number = -1
		}
		if s.order.Utterance.Seed, err = readSeed(number); err != nil {
			return nil, err
		}
		s.order.HasSeed = true
	}
	return newSocket(multi, s), nil
}

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

// openingMembers are those of a message that counts in the first one of a context only.
var openingMembers = []dialect.Member[voiceSettings]{
	{Name: settingsName, Code: speech.CodeBadRequest, Read: func(s *voiceSettings, v jsontext.Value) error {
		return dialect.ReadObject(v, voiceMembers, s, nil)
	}},
	{Name: dictionaryName, Code: speech.CodeBadRequest, Read: (*voiceSettings).readLexicon},
}

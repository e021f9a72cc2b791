package elevenlabs

import (
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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
	if s.order.Utterance.Raw, err = readNormalization(c.Query.Get("apply_text_normalization")); err != nil {
		return nil, err
	}
	if s.auto, err = readBool(c, "auto_mode"); err != nil {
		return nil, err
	}
	if s.sync, err = readBool(c, "sync_alignment"); err != nil {
		return nil, err
	}
	switch isSSML, err := readBool(c, "enable_ssml_parsing"); {
	case err != nil:
		return nil, err
	case isSSML:
		return nil, dialect.Refuse("enable_ssml_parsing", speech.CodeBadRequest, "enable_ssml_parsing is not supported; leave it out")
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

	settings, dictionary jsontext.Value
}

// hasWords reports whether there is something in it to speak.
func (m *message) hasWords() bool { return strings.TrimSpace(m.text) != "" }

var messageNames = []string{
	"context_id", "text", "flush", "close_context", "close_socket", "voice_settings", "pronunciation_dictionary_locators",
}

var errNotBool = errors.New("must be true or false")

// readMessage reads a message. With an error it has the name of the context, if that could be read.
func readMessage(data []byte) (m message, err error) {
	values := make([]jsontext.Value, len(messageNames))
	if err := strictjson.Members(data, messageNames, values); err != nil {
		return m, dialect.Refuse("", speech.CodeBadRequest, "invalid JSON: "+err.Error())
	}
	has := func(i int) bool { return values[i] != nil && values[i].Kind() != 'n' }
	refuse := func(i int, err error) error {
		return dialect.Refuse(messageNames[i], speech.CodeBadRequest, messageNames[i]+": "+err.Error())
	}
	for i, to := range []*string{&m.context, &m.text} {
		if has(i) {
			if err := strictjson.String(values[i], to); err != nil {
				return m, refuse(i, err)
			}
		}
	}
	if len(m.context) > maxContextName {
		m.context = ""
		return m, refuse(0, errors.New("longer than 256 bytes"))
	}
	m.hasText = has(1)
	for i, to := range []*bool{&m.flush, &m.closes, &m.closeSocket} {
		if i += 2; has(i) {
			kind := values[i].Kind()
			if kind != 't' && kind != 'f' {
				return m, refuse(i, errNotBool)
			}
			*to = kind == 't'
		}
	}
	if !utf8.Valid(data) { // in a name, or in a member that is ignored
		return m, dialect.Refuse("", speech.CodeBadRequest, "invalid JSON: not valid UTF-8")
	}
	m.settings, m.dictionary = values[5], values[6]
	return m, nil
}

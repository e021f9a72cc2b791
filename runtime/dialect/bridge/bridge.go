// Package bridge speaks announcements on telephone calls. Twilio, Plivo and Exotel connect with the media stream of a
// call, a text is spoken into it, and the stream ends when it was played.
package bridge

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

const (
	telephone = 8000            // samples per second
	ahead     = 2 * time.Second // for which audio is sent at most before it sounds
	patience  = 5 * time.Second // for the mark behind the audio, from when all of it must have sounded
	endMark   = "swar-end"      // its name
)

// New returns the API. With a token, that of an account of Twilio, the streams of Twilio must be signed with it.
func New(twilioToken string) *dialect.Dialect {
	return &dialect.Dialect{Name: dialect.Bridge, Routes: []dialect.Route{
		{Method: "GET", Path: "/v1/bridge/twilio", Socket: func(c dialect.Call) (dialect.Socket, error) {
			if twilioToken != "" && !isSigned(c, twilioToken) {
				return nil, errSignature
			}
			return open(c, twilio{})
		}},
		{Method: "GET", Path: "/v1/bridge/plivo", Socket: func(c dialect.Call) (dialect.Socket, error) { return open(c, plivo{}) }},
		{Method: "GET", Path: "/v1/bridge/exotel", Socket: func(c dialect.Call) (dialect.Socket, error) { return open(c, &exotel{}) }},
	}}
}

// platform is the wire of one platform.
type platform interface {
	// sound is how audio is sent: the bytes of one message, what fills up the last one, and the format.
	sound(c dialect.Call) (s sound, err error)

	read(data []byte) (event, error)
	media(stream string, frame []byte) any
	mark(stream, name string) any
}

// sound is how audio leaves.
type sound struct {
	audio   dialect.Audio
	word    string
	frame   int  // bytes
	silence byte // fills up the last frame
}

// event is what a platform says. Anything else, such as the sound of the call, is dropped.
type event struct {
	kind       kind
	stream     string            // that starts
	parameters map[string]string // of the start
	name       string            // of a mark that was reached
	digit      string
}

type kind int

const (
	other kind = iota
	started
	reached // a mark: the audio before it was played
	dialled // a digit
	stopped
)

// socket is the stream of one call. It waits for its start, speaks, sets a mark and waits for that.
type socket struct {
	platform

	sound
	model speech.Model

	voice, text string // of the URL
	begun       bool
	stream      string // that has begun
	rest        []byte // less than a frame
	frames      int    // that were sent
}

// open opens the stream for a text and a voice, which are parameters of the URL or of the start of the stream.
func open(c dialect.Call, p platform) (_ dialect.Socket, err error) {
	s := &socket{platform: p, model: c.Model, text: c.Query.Get("text"), voice: c.Query.Get("voice")}
	if s.sound, err = p.sound(c); err != nil {
		return nil, err
	}
	if !c.Encodes(s.audio) {
		return nil, dialect.Refuse("", dialect.CodeUnsupported, s.word+" is not supported by this server")
	}
	voice, err := dialect.Chosen(dialect.Bridge, c.Model, s.voice)
	switch {
	case err != nil:
		return nil, err
	case s.voice != "" && !c.Allows(voice): // the start may name another one, which is looked at when it is spoken
		return nil, speech.VoiceNotAllowed(voice)
	}
	if strings.TrimSpace(s.text) == "" {
		return s, nil // the start may have one
	}
	_, err = cleanText(s.text)
	return s, err
}

func cleanText(text string) (string, error) {
	text, err := speech.CleanText(text)
	if err == nil && utf8.RuneCountInString(text) > speech.MaxChars {
		err = speech.ErrTextTooLong
	}
	return text, err
}

// Open implements [dialect.Socket].
func (s *socket) Open() []dialect.Action { return nil }

// Read implements [dialect.Socket].
func (s *socket) Read(m dialect.Message) []dialect.Action {
	if m.Binary {
		return []dialect.Action{dialect.Reject{Err: dialect.Refuse("", speech.CodeBadRequest,
			"expected a JSON text message")}}
	}
	e, err := s.read(m.Data)
	if err != nil {
		return []dialect.Action{dialect.Reject{Err: dialect.Refuse("", speech.CodeBadRequest,
			"invalid JSON: "+err.Error())}}
	}
	switch e.kind {
	case started:
		if !s.begun {
			s.begun, s.stream = true, e.stream
			return s.speak(e.parameters)
		}
	case reached:
		if e.name == endMark {
			return []dialect.Action{dialect.Close{Code: 1000}}
		}
	case stopped:
		return []dialect.Action{dialect.Close{Code: 1000}}
	case dialled:
		return []dialect.Action{dialect.Note{Text: "dtmf", Value: e.digit}}
	}
	return nil
}

// speak speaks the text of the start, or else that of the URL.
func (s *socket) speak(parameters map[string]string) []dialect.Action {
	text, voice := parameters["text"], parameters["voice"]
	if strings.TrimSpace(text) == "" {
		text = s.text
	}
	if voice == "" {
		voice = s.voice
	}
	o := dialect.Order{Audio: s.audio, Word: s.word}
	o.Utterance.Temperature = speech.DefaultTemperature
	text, err := cleanText(text)
	if err == nil {
		o.Utterance.Voice, err = dialect.Chosen(dialect.Bridge, s.model, voice)
	}
	if err != nil {
		return []dialect.Action{dialect.Reject{Err: err}, dialect.Close{Code: 1008, Reason: reason(err.Error())}}
	}
	return []dialect.Action{
		dialect.Begin{Order: o, Feed: dialect.Feed{Pace: ahead}}, dialect.Append{Text: text}, dialect.Finish{},
	}
}

// Write implements [dialect.Socket].
func (s *socket) Write(_ string, e dialect.Event) []dialect.Action {
	switch e := e.(type) {
	case dialect.Sound:
		return s.send(e.Data)
	case dialect.Ended:
		return s.end()
	case dialect.Failed:
		code := 1011
		switch {
		case e.Fault.Status == 503:
			code = 1013
		case e.Fault.Status < 500:
			code = 1008
		}
		return []dialect.Action{dialect.Close{Code: code, Reason: reason(e.Fault.Text)}}
	}
	return nil
}

// send cuts audio into frames. What is less than one waits.
func (s *socket) send(data []byte) (all []dialect.Action) {
	s.rest = append(s.rest, data...)
	for len(s.rest) >= s.frame {
		all = append(all, dialect.JSONMessage(s.media(s.stream, s.rest[:s.frame])))
		s.rest = s.rest[s.frame:]
		s.frames++
	}
	return all
}

// end sends the last frame, padded with silence, and a mark. The platform returns the mark when all was played.
func (s *socket) end() (all []dialect.Action) {
	for len(s.rest) > 0 && len(s.rest) < s.frame {
		s.rest = append(s.rest, s.silence)
	}
	all = append(s.send(nil), dialect.JSONMessage(s.mark(s.stream, endMark)))
	return append(all, dialect.Close{Code: 1000, After: min(ahead, s.length()) + patience})
}

// length is how long all that was sent sounds.
func (s *socket) length() time.Duration {
	bytes := s.frames * s.frame
	samples := bytes / s.bytes()
	return time.Duration(samples) * time.Second / time.Duration(s.audio.Rate)
}

// bytes converts a sample.
func (s *sound) bytes() int {
	if s.audio.Encoding == dialect.S16 {
		return 2
	}
	return 1
}

// maxReason is what a close may say, in bytes.
const maxReason = 123

func reason(text string) string {
	text = strings.ToValidUTF8(text, "?")
	for len(text) > maxReason {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// raw is bare audio of an encoding.
func raw(e dialect.Encoding, rate int, word string) (dialect.Audio, string) {
	return dialect.Audio{Container: dialect.Raw, Encoding: e, Rate: rate, Speed: 1}, fmt.Sprintf("%s/%d", word, rate)
}

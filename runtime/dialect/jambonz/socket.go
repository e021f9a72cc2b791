package jambonz

import (
	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// socketRate is the sample rate of audio on the socket: that of jambonz' own calls in wide band.
const socketRate = 16_000

// openSocket opens a connection for a voice, which is in the parameters of the URL.
func openSocket(c dialect.Call) (dialect.Socket, error) {
	s := &socket{}
	s.order.Audio, s.order.Word = audio(socketRate)
	if err := speakAs(&s.order.Utterance, c.Model, c.Query.Get("voice")); err != nil {
		return nil, err
	}
	if voice := s.order.Utterance.Voice; !c.Allows(voice) {
		return nil, speech.VoiceNotAllowed(voice)
	}
	if !c.Encodes(s.order.Audio) {
		return nil, dialect.Refuse("", dialect.CodeUnsupported, "16 kHz is not supported by this server")
	}
	return s, nil
}

// socket is a connection: one voice, fed piece by piece. Each flush ends a turn.
type socket struct {
	order dialect.Order
	begun bool
}

// Open implements [dialect.Socket].
func (s *socket) Open() []dialect.Action {
	return []dialect.Action{dialect.JSONMessage(map[string]any{
		"type": "connect", "data": map[string]any{"sample_rate": socketRate, "base64_encoding": false},
	})}
}

// Read implements [dialect.Socket]. What jambonz may send beside texts, such as to keep the connection alive, changes
// nothing.
func (s *socket) Read(m dialect.Message) []dialect.Action {
	if m.Binary {
		return reject(dialect.Refuse("", speech.CodeBadRequest, "expected a JSON text message"))
	}
	var w wanted
	if err := dialect.ReadBody(m.Data, members, &w, nil); err != nil {
		return reject(err)
	}
	switch w.kind {
	case "stream":
		return s.stream(w.text)
	case "flush":
		return s.ifBegun(dialect.Flush{})
	case "stop":
		return s.ifBegun(dialect.Cancel{})
	case "":
		return reject(dialect.Refuse("type", speech.CodeBadRequest, "type: required"))
	}
	return nil
}

// stream appends text; the first text opens the only context.
func (s *socket) stream(text string) []dialect.Action {
	var all []dialect.Action
	if !s.begun {
		s.begun = true
		all = append(all, dialect.Begin{Order: s.order, Feed: dialect.Feed{FlushEnds: true}})
	}
	return append(all, dialect.Append{Text: text})
}

// ifBegun has something done to the context, unless nothing was fed yet.
func (s *socket) ifBegun(do dialect.Action) []dialect.Action {
	if !s.begun {
		return nil
	}
	return []dialect.Action{do}
}

// Write implements [dialect.Socket].
func (s *socket) Write(_ string, e dialect.Event) []dialect.Action {
	switch e := e.(type) {
	case dialect.Sound:
		return []dialect.Action{dialect.Message{Binary: true, Data: e.Data}}
	case dialect.Failed:
		if e.Fault.Status < 500 { // a text that cannot be spoken; the next one may be
			return []dialect.Action{fault(e.Fault)}
		}
		return []dialect.Action{fault(e.Fault), dialect.Close{Code: closeCode(e.Fault)}}
	case dialect.Rejected:
		return []dialect.Action{fault(e.Fault)}
	}
	return nil
}

// closeCode is that of a connection whose turn has failed: for want of capacity, or because something is broken.
func closeCode(f dialect.Fault) int {
	if f.Status == 503 {
		return 1013
	}
	return 1011
}

func reject(err error) []dialect.Action { return []dialect.Action{dialect.Reject{Err: err}} }

func fault(f dialect.Fault) dialect.Message {
	return dialect.JSONMessage(map[string]any{"type": "error", "error": f.Text})
}

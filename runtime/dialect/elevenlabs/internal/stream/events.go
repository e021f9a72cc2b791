package stream

import (
	"encoding/base64"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/dialect/elevenlabs/internal/letters"
)

// Codes with which a connection is closed.
const (
	closeNormal  = 1000
	closeRefused = 1008
	closeFailed  = 1011
	closeBusy    = 1013
)

// Write implements [dialect.Socket].
func (s *socket) Write(name string, e dialect.Event) []dialect.Action {
	c := s.open[name]
	switch e := e.(type) {
	case dialect.Sound:
		if c != nil {
			return []dialect.Action{c.message(e.Data, nil, nil)}
		}
	case dialect.Words:
		if c != nil {
			return s.words(c, e)
		}
	case dialect.Ended, dialect.Cancelled:
		delete(s.open, name)
		if !s.multi {
			return []dialect.Action{final(""), dialect.Close{Code: closeNormal}}
		}
		if c != nil {
			return []dialect.Action{final(string(c.end))}
		}
	case dialect.Rejected:
		return []dialect.Action{s.fault(name, e.Fault)}
	case dialect.Failed:
		delete(s.open, name)
		all := []dialect.Action{s.fault(name, e.Fault)}
		if !s.multi {
			all = append(all, dialect.Close{Code: closeCode(e.Fault), Reason: "the text cannot be spoken"})
		}
		return all
	}
	return nil
}

// words sends the times of a piece of text.
func (s *socket) words(c *context, w dialect.Words) []dialect.Action {
	source, normalized := letters.Written(w), letters.Spoken(w)
	if source == nil && normalized == nil {
		return nil
	}
	tell := func(l *letters.Letters, told *time.Duration) *letters.Alignment {
		if l == nil {
			return nil
		}
		from := *told
		if s.query.sync {
			from = 0
		}
		*told = l.End()
		return l.Since(from)
	}
	return []dialect.Action{c.message(nil, tell(source, &c.written), tell(normalized, &c.spoken))}
}

// message is one with audio, times or both.
func (c *context) message(audio []byte, source, normalized *letters.Alignment) dialect.Message {
	const before, after = `{"audio":"`, `","isFinal":null,"alignment":`
	data := make([]byte, 0, len(before)+base64.StdEncoding.EncodedLen(len(audio))+len(after)+64+len(c.end))
	data = append(data, before...)
	data = base64.StdEncoding.AppendEncode(data, audio)
	data = append(data, after...)
	data = appendAlignment(data, source)
	data = append(data, `,"normalizedAlignment":`...)
	data = appendAlignment(data, normalized)
	return dialect.Message{Data: append(data, c.end...)}
}

func appendAlignment(data []byte, a *letters.Alignment) []byte {
	if a == nil {
		return append(data, "null"...)
	}
	return append(data, dialect.JSON(a)...)
}

// final is the last message of a context, whose messages end with end.
func final(end string) dialect.Message {
	return dialect.Message{Data: []byte(`{"isFinal":true` + strings.TrimSuffix(end, "}") + "}")}
}

// fault is a message with an error.
func (s *socket) fault(context string, f dialect.Fault) dialect.Message {
	said := struct {
		Error   string  `json:"error"`
		Message string  `json:"message"`
		Code    int     `json:"code"`
		Context *string `json:"contextId,omitzero"`
	}{Message: f.Text, Code: closeCode(f)}
	_, said.Error = dialect.ElevenLabs.FaultStatus(f)
	if s.multi && context != "" {
		said.Context = &context
	}
	return dialect.JSONMessage(said)
}

// closeCode is what a connection would be closed with because of f.
func closeCode(f dialect.Fault) int {
	status, _ := dialect.ElevenLabs.FaultStatus(f)
	switch {
	case status == 429 || status == 503:
		return closeBusy
	case status >= 500:
		return closeFailed
	}
	return closeRefused
}

package serve

import (
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
)

// request is a decoded message: the body of POST /v1/tts and /v1/normalize, or a text message on a WebSocket.
type request struct {
	Type      string // WebSocket only: "" means speak
	Utterance speech.Utterance
	Stream    bool // REST only
}

// decode reads one JSON object strictly; see docs/api.md for the rules. It fills in the defaults but checks no values beyond types, sizes
// and UTF-8. The returned request holds what could be read (its RequestID in particular) also beside an error.
func decode(body []byte) (request, error) {
	panic("to be written")
}

// validate checks the values in the order of the API's error table and trims the text.
func (r *request) validate(m speech.Model, g access.Grant) error {
	panic("to be written")
}

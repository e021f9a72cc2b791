// Package elevenlabs is the text-to-speech API of ElevenLabs. It has buffered and streamed speech, times of
// characters, the two sockets, and the lists of voices and models.
package elevenlabs

import (
	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/dialect/elevenlabs/internal/stream"
)

const speechPath = "/v1/text-to-speech/{voice}"

// Dialect is the API.
var Dialect = &dialect.Dialect{
	Name: dialect.ElevenLabs,
	Routes: []dialect.Route{
		{Method: "POST", Path: speechPath, Speech: way{whole: true}.read},
		{Method: "POST", Path: speechPath + "/stream", Speech: way{}.read},
		{Method: "POST", Path: speechPath + "/with-timestamps", Speech: way{whole: true, timed: true}.read},
		{Method: "POST", Path: speechPath + "/stream/with-timestamps", Speech: way{timed: true}.read},
		{Method: "GET", Path: speechPath + "/stream-input", Socket: stream.Single},
		{Method: "GET", Path: speechPath + "/multi-stream-input", Socket: stream.Multi},
		{Method: "GET", Path: "/v1/voices", When: isOurs, List: listVoices},
		{Method: "GET", Path: "/v2/voices", List: listPage},
		{Method: "GET", Path: "/v1/voices/{voice}", List: voice},
		{Method: "GET", Path: "/v1/models", When: isOurs, List: listModels},
		{Method: "GET", Path: "/v1/user", List: user},
		{Method: "GET", Path: "/v1/user/subscription", List: subscription},
	},
}

// isOurs picks requests to paths that other APIs have, too.
func isOurs(header func(name string) string) bool { return header("Xi-Api-Key") != "" }

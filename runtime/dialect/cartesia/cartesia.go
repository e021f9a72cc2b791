// Package cartesia is the text-to-speech API of Cartesia: bytes, events, a socket and the list of voices.
package cartesia

import (
	"github.com/swar-tts/swar/runtime/dialect"
)

// Dialect is the API.
var Dialect = &dialect.Dialect{
	Name: dialect.Cartesia,
	Routes: []dialect.Route{
		{Method: "POST", Path: "/tts/bytes", Speech: readBytes},
		{Method: "POST", Path: "/tts/sse", Speech: readEvents},
		{Method: "GET", Path: "/tts/websocket", Socket: newSocket},
		{Method: "GET", Path: "/voices", List: listVoices},
		{Method: "GET", Path: "/voices/", List: listVoices},
		{Method: "GET", Path: "/voices/{voice}", List: voiceOf},
	},
}

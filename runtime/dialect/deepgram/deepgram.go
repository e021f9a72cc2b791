// Package deepgram is the speech API of Deepgram: requests, sockets and the list of models.
package deepgram

import (
	"strings"

	"github.com/swar-tts/swar/runtime/dialect"
)

// Dialect is the API.
var Dialect = &dialect.Dialect{
	Name: dialect.Deepgram,
	Routes: []dialect.Route{
		{Method: "POST", Path: "/v1/speak", Speech: readSpeech},
		{Method: "GET", Path: "/v1/speak", Socket: open},
		{Method: "GET", Path: "/v1/models", When: isOurs, List: listModels},
		{Method: "GET", Path: "/v1/models/{id}", When: isOurs, List: oneModel},
	},
}

// isOurs reports whether the key of a request came as clients of Deepgram send it.
func isOurs(header func(string) string) bool {
	scheme, _, _ := strings.Cut(header("Authorization"), " ")
	return strings.EqualFold(scheme, "Token")
}

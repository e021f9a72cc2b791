// Package openai is the speech API of OpenAI: speech, models and voices.
package openai

import (
	"github.com/swar-tts/swar/runtime/dialect"
)

// Dialect is the API.
var Dialect = &dialect.Dialect{
	Name: dialect.OpenAI,
	Routes: []dialect.Route{
		{Method: "POST", Path: "/v1/audio/speech", Speech: readSpeech},
		{Method: "GET", Path: "/v1/models", List: listModels},
		{Method: "GET", Path: "/v1/models/{id}", List: model},
		{Method: "GET", Path: "/v1/audio/voices", List: listVoices},
		{Method: "GET", Path: "/v1/audio/models", List: listSpeechModels},
	},
}

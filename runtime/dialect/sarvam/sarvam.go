// Package sarvam is the text-to-speech API of Sarvam: a whole answer, a stream and a socket.
package sarvam

import (
	"encoding/base64"
	"fmt"

	"github.com/swar-tts/swar/runtime/dialect"
)

// Dialect is the API.
var Dialect = &dialect.Dialect{
	Name: dialect.Sarvam,
	Routes: []dialect.Route{
		{Method: "POST", Path: "/text-to-speech", Speech: readWhole},
		{Method: "POST", Path: "/text-to-speech/stream", Speech: readStream},
		{Method: "GET", Path: "/text-to-speech/ws", Socket: newSocket},
	},
}

// The most letters of a text, after trimming.
const (
	maxText   = 2500
	maxStream = 3500
)

// readWhole reads the body of POST /text-to-speech.
func readWhole(c dialect.Call) (dialect.Order, error) {
	o, err := readSpeech(c, maxText, "wav")
	o.Buffered, o.Framing = true, audios(c.RequestID)
	return o, err
}

// readStream reads the body of POST /text-to-speech/stream.
func readStream(c dialect.Call) (dialect.Order, error) { return readSpeech(c, maxStream, "mp3") }

// audios is an answer that has the audio in JSON.
func audios(requestID string) *dialect.Framing {
	var audio []byte
	return &dialect.Framing{
		ContentType: "application/json",
		Audio: func(data []byte) []byte {
			audio = append(audio, data...)
			return nil
		},
		End: func(int) []byte {
			answer := fmt.Appendf(nil, `{"request_id":%s,"audios":["`, dialect.JSON(requestID))
			return append(base64.StdEncoding.AppendEncode(answer, audio), `"]}`...)
		},
		Failed: func([]byte) []byte { return nil }, // a part of JSON is broken as it is
	}
}

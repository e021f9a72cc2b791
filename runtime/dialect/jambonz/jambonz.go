// Package jambonz is the custom speech API of jambonz. It has a request for each text, and a socket for streamed text
// of a language model.
package jambonz

import (
	"fmt"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

const path = "/v1/jambonz"

// Dialect is the API.
var Dialect = &dialect.Dialect{
	Name: dialect.Jambonz,
	Routes: []dialect.Route{
		{Method: "POST", Path: path, Speech: readRequest},
		{Method: "GET", Path: path, Socket: openSocket},
	},
}

// wanted is a request, or a message of the socket, as it was sent.
type wanted struct{ kind, voice, text string }

// members are those of a request that are read.
var members = []dialect.Member[wanted]{
	{Name: "type", Code: speech.CodeBadRequest, Read: dialect.ReadString(func(w *wanted) *string { return &w.kind })},
	{Name: "voice", Code: speech.CodeBadRequest, Read: dialect.ReadString(func(w *wanted) *string { return &w.voice })},
	{Name: "text", Code: speech.CodeBadText, Read: dialect.ReadString(func(w *wanted) *string { return &w.text })},
}

// readRequest reads {"language", "voice", "type", "text"}.
func readRequest(c dialect.Call) (o dialect.Order, err error) {
	var w wanted
	var ignored []string
	if err := dialect.ReadBody(c.Body, members, &w, func(name string) { ignored = append(ignored, name) }); err != nil {
		return o, err
	}
	if len(ignored) > 0 {
		o.Headers = map[string]string{"X-Ignored": dialect.Ignored(ignored)}
	}
	u := &o.Utterance
	switch w.kind {
	case "", "text":
	case "ssml": // only its text counts, later
		u.SSML = true
	default:
		return o, dialect.Refuse("type", speech.CodeBadRequest, "type must be text or ssml")
	}
	if u.Text, err = speech.CleanText(w.text); err != nil {
		return o, err
	}
	if !u.SSML && utf8.RuneCountInString(u.Text) > speech.MaxChars {
		return o, speech.ErrTextTooLong
	}
	o.Audio, o.Word = audio(speech.SampleRate)
	return o, speakAs(u, c.Model, w.voice)
}

// speakAs sets the requested voice of u.
func speakAs(u *speech.Utterance, m speech.Model, voice string) (err error) {
	u.Voice, err = dialect.Chosen(dialect.Jambonz, m, voice)
	u.Temperature = speech.DefaultTemperature
	return err
}

// audio is how samples leave. jambonz saves what is of any other content type as WAV, and plays noise.
func audio(rate int) (a dialect.Audio, word string) {
	a = dialect.Audio{
		Container: dialect.Raw, Encoding: dialect.S16, Rate: rate, Speed: 1,
		ContentType: fmt.Sprintf("audio/l16;rate=%d", rate),
	}
	return a, fmt.Sprintf("l16/%d", rate)
}

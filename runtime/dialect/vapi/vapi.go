// Package vapi is the custom voice of Vapi, which posts each text that a call needs and plays bare samples.
package vapi

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// Dialect is the API.
var Dialect = &dialect.Dialect{
	Name:   dialect.Vapi,
	Routes: []dialect.Route{{Method: "POST", Path: "/v1/vapi", Speech: readRequest}},
}

// rates are the sample rates that Vapi asks for.
var rates = []float64{8000, 16000, 22050, 24000}

// wanted is a request as it was sent.
type wanted struct {
	kind, text string
	rate       float64
	ignored    []string
}

// members are those of a request: all of it is in one object.
var members = []dialect.Member[wanted]{{Name: "message", Code: speech.CodeBadRequest, Read: readMessage}}

var message = []dialect.Member[wanted]{
	{Name: "type", Code: speech.CodeBadRequest, Read: dialect.ReadString(func(w *wanted) *string { return &w.kind })},
	{Name: "text", Code: speech.CodeBadText, Read: dialect.ReadString(func(w *wanted) *string { return &w.text })},
	{Name: "sampleRate", Code: speech.CodeBadSampleRate, Read: dialect.ReadNumber(func(w *wanted) *float64 { return &w.rate })},
}

var errNotObject = errors.New("must be an object")

func readMessage(w *wanted, v jsontext.Value) error {
	if v.Kind() != '{' {
		return errNotObject
	}
	return dialect.ReadObject(v, message, w, func(name string) { w.ignored = append(w.ignored, name) })
}

// readRequest reads {"message": {"type": "voice-request", "text", "sampleRate"}}. The voice is the parameter voice of
// the URL: Vapi sends none.
func readRequest(c dialect.Call) (o dialect.Order, err error) {
	w := wanted{rate: speech.SampleRate}
	if err := dialect.ReadBody(c.Body, members, &w, nil); err != nil {
		return o, err
	}
	if len(w.ignored) > 0 {
		o.Headers = map[string]string{"X-Ignored": dialect.Ignored(w.ignored)}
	}
	return w.order(c, o)
}

// order checks the values and fills o in.
func (w *wanted) order(c dialect.Call, o dialect.Order) (dialect.Order, error) {
	if w.kind != "voice-request" {
		return o, dialect.Refuse("message.type", speech.CodeBadRequest, "message.type must be voice-request")
	}
	text, err := speech.CleanText(w.text)
	if err != nil {
		return o, err
	}
	if utf8.RuneCountInString(text) > speech.MaxChars {
		return o, speech.ErrTextTooLong
	}
	if !slices.Contains(rates, w.rate) {
		return o, dialect.Refuse("message.sampleRate", speech.CodeBadSampleRate,
			"message.sampleRate must be 8000, 16000, 22050 or 24000")
	}
	voice, err := dialect.Chosen(dialect.Vapi, c.Model, c.Query.Get("voice"))
	if err != nil {
		return o, err
	}
	o.Utterance = speech.Utterance{Text: text, Voice: voice, Temperature: speech.DefaultTemperature}
	o.Audio = dialect.Audio{
		Container: dialect.Raw, Encoding: dialect.S16, Rate: int(w.rate), Speed: 1,
		ContentType: "application/octet-stream",
	}
	o.Word = fmt.Sprintf("pcm/%d", o.Audio.Rate)
	if _, isNative := o.Audio.Native(); !isNative && !c.Encodes(o.Audio) {
		return o, dialect.Refuse("message.sampleRate", dialect.CodeUnsupported,
			fmt.Sprintf("message.sampleRate %d is not supported by this server; ask for %d", o.Audio.Rate,
				speech.SampleRate))
	}
	return o, nil
}

// Package vapi is the custom voice of Vapi, which posts each text that a call needs and plays bare samples.
package vapi

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

// Dialect is the API.
var Dialect = &dialect.Dialect{
	Name:   dialect.Vapi,
	Routes: []dialect.Route{{Method: "POST", Path: "/v1/vapi", Speech: readRequest}},
}

// rates are the sample rates that Vapi asks for.
var rates = []float64{8000, 16000, 22050, 24000}

// names are the members of a message that are read.
var names = []string{"type", "text", "sampleRate"}

// readRequest reads {"message": {"type": "voice-request", "text", "sampleRate"}}. The voice is the parameter voice of
// the URL: Vapi sends none.
func readRequest(c dialect.Call) (o dialect.Order, err error) {
	var message [1]jsontext.Value
	if err := strictjson.Members(c.Body, []string{"message"}, message[:]); err != nil {
		return o, invalid(err.Error())
	}
	if message[0].Kind() != '{' {
		return o, dialect.Refuse("message", speech.CodeBadRequest, "message: must be an object")
	}
	var values [3]jsontext.Value
	var ignored []string
	err = strictjson.MembersAnd(message[0], names, values[:], func(name string) { ignored = append(ignored, name) })
	switch {
	case err != nil:
		return o, invalid(err.Error())
	case !utf8.Valid(c.Body):
		return o, invalid("not valid UTF-8")
	}
	if len(ignored) > 0 {
		o.Headers = map[string]string{"X-Ignored": dialect.Ignored(ignored)}
	}
	return order(c, o, values)
}

func invalid(reason string) error {
	return dialect.Refuse("", speech.CodeBadRequest, "invalid JSON: "+reason)
}

// order checks the values of names and fills o in.
func order(c dialect.Call, o dialect.Order, values [3]jsontext.Value) (dialect.Order, error) {
	var kind, text string
	rate := float64(speech.SampleRate)
	if err := read(values[0], func(v jsontext.Value) error { return strictjson.String(v, &kind) }); err != nil {
		return o, dialect.Refuse("type", speech.CodeBadRequest, "type: "+err.Error())
	}
	if kind != "voice-request" {
		return o, dialect.Refuse("type", speech.CodeBadRequest, "message.type must be voice-request")
	}
	if err := read(values[1], func(v jsontext.Value) error { return strictjson.String(v, &text) }); err != nil {
		return o, dialect.Refuse("text", speech.CodeBadText, "text: "+err.Error())
	}
	if err := read(values[2], func(v jsontext.Value) error { return strictjson.Number(v, &rate) }); err != nil {
		return o, dialect.Refuse("sampleRate", speech.CodeBadSampleRate, "sampleRate: "+err.Error())
	}
	text, err := speech.CleanText(text)
	if err != nil {
		return o, err
	}
	if utf8.RuneCountInString(text) > speech.MaxChars {
		return o, speech.ErrTextTooLong
	}
	if !slices.Contains(rates, rate) {
		return o, dialect.Refuse("sampleRate", speech.CodeBadSampleRate, "sampleRate must be 8000, 16000, 22050 or 24000")
	}
	voice, err := dialect.Chosen(dialect.Vapi, c.Model, c.Query.Get("voice"))
	if err != nil {
		return o, err
	}
	o.Utterance = speech.Utterance{Text: text, Voice: voice, Temperature: speech.DefaultTemperature}
	o.Audio = dialect.Audio{
		Container: dialect.Raw, Encoding: dialect.S16, Rate: int(rate), Speed: 1, ContentType: "application/octet-stream",
	}
	o.Word = fmt.Sprintf("pcm/%d", o.Audio.Rate)
	if _, isNative := o.Audio.Native(); !isNative && !c.Encodes(o.Audio) {
		return o, dialect.Refuse("sampleRate", dialect.CodeUnsupported,
			fmt.Sprintf("sampleRate %d is not supported by this server; ask for %d", o.Audio.Rate, speech.SampleRate))
	}
	return o, nil
}

// read reads a value that is there and not null.
func read(v jsontext.Value, by func(jsontext.Value) error) error {
	if v == nil || v.Kind() == 'n' {
		return nil
	}
	return by(v)
}

// Package jambonz is the custom speech of jambonz: a request for each text, or a socket to which it streams what a
// language model writes.
package jambonz

import (
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

const path = "/v1/jambonz"

// Dialect is the API.
var Dialect = &dialect.Dialect{
	Name:   dialect.Jambonz,
	Routes: []dialect.Route{{Method: "POST", Path: path, Speech: readRequest}},
}

// members are those of a request that are read.
var members = []string{"type", "voice", "text"}

// readRequest reads {"language", "voice", "type", "text"}.
func readRequest(c dialect.Call) (o dialect.Order, err error) {
	var values [3]jsontext.Value
	var ignored []string
	err = strictjson.MembersAnd(c.Body, members, values[:], func(name string) { ignored = append(ignored, name) })
	switch {
	case err != nil:
		return o, invalid(err.Error())
	case !utf8.Valid(c.Body):
		return o, invalid("not valid UTF-8")
	}
	if len(ignored) > 0 {
		o.Headers = map[string]string{"X-Ignored": dialect.Ignored(ignored)}
	}
	var texts [3]string
	for i, v := range values {
		if v == nil || v.Kind() == 'n' {
			continue
		}
		if err := strictjson.String(v, &texts[i]); err != nil {
			code := speech.CodeBadRequest
			if members[i] == "text" {
				code = speech.CodeBadText
			}
			return o, dialect.Refuse(members[i], code, members[i]+": "+err.Error())
		}
	}
	if err := checkType(texts[0]); err != nil {
		return o, err
	}
	text, err := speech.CleanText(texts[2])
	if err != nil {
		return o, err
	}
	if utf8.RuneCountInString(text) > speech.MaxChars {
		return o, speech.ErrTextTooLong
	}
	o.Utterance.Text = text
	o.Audio, o.Word = audio(speech.SampleRate)
	return o, speakAs(&o.Utterance, c.Model, texts[1])
}

func invalid(reason string) error {
	return dialect.Refuse("", speech.CodeBadRequest, "invalid JSON: "+reason)
}

// checkType refuses texts of another type than text, which is the one where none is named.
func checkType(of string) error {
	switch of {
	case "", "text":
		return nil
	case "ssml":
		return dialect.Refuse("type", dialect.CodeUnsupported, "type ssml is not supported; send the text without marks as type text")
	}
	return dialect.Refuse("type", speech.CodeBadRequest, "type must be text or ssml")
}

// speakAs has u spoken by the voice that is asked for.
func speakAs(u *speech.Utterance, m speech.Model, voice string) (err error) {
	u.Voice, err = dialect.Chosen(dialect.Jambonz, m, voice)
	u.Temperature = speech.DefaultTemperature
	return err
}

// audio is how samples leave. jambonz saves what is of any other content type as WAV, and plays noise.
func audio(rate int) (a dialect.Audio, word string) {
	a = dialect.Audio{
		Container: dialect.Raw, Encoding: dialect.S16, Rate: rate, Speed: 1, ContentType: fmt.Sprintf("audio/l16;rate=%d", rate),
	}
	return a, fmt.Sprintf("l16/%d", rate)
}

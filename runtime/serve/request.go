package serve

import (
	"errors"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

// request is a decoded message: the body of POST /v1/tts and /v1/normalize, or a text message on a WebSocket.
type request struct {
	Type string // WebSocket only: "" means speak

	// Utterance holds the fields and their defaults. RequestID is empty if the client sent none, or one that is not
	// valid in a header; Seed counts only with HasSeed. The caller fills both in before speaking.
	Utterance speech.Utterance
	HasSeed   bool
	Stream    bool      // POST /v1/tts only
	Metadata  bool      // POST /v1/tts only: WAV has a chunk of it
	read      time.Time // REST only: when

	lexicon string // the name of the one to be used; empty: the project's own

	voiceUnset bool // none was asked for: validate, which knows the model, names the one that speaks

	// What is only checked.
	sampleRate     int64
	badSpeed       bool
	badTemperature bool
	badSeed        bool // an integer, but not of 64 bits
	badRequestID   bool
	badTimestamps  bool
	badInputType   bool
}

// typeAppend is a message with a piece of the text of an utterance.
const typeAppend = "append"

// source is where a message comes from, which decides which of its members are fields. Other members are ignored.
type source uint8

const (
	fromREST source = 1 << iota
	fromSocket
	fromNormalize
	fromWords
)

// decode reads one JSON object strictly; see docs/api.md for the rules. It fills in the defaults but checks no values
// beyond types, sizes and UTF-8. The returned request holds what could be read (its RequestID in particular) also
// beside an error about a field.
func decode(body []byte, from source) (request, error) {
	r := request{
		Utterance: speech.Utterance{
			Voice:       speech.DefaultVoice,
			Format:      speech.DefaultFormat,
			Temperature: speech.DefaultTemperature,
		},
		Stream:     true,
		voiceUnset: true,
		sampleRate: speech.SampleRate,
	}
	var values [len(fields)]jsontext.Value
	known := fieldsFrom[from]
	if err := strictjson.Members(body, known.names, values[:]); err != nil {
		return r, invalidJSON(err.Error())
	}
	var err error
	for i, f := range known.fields {
		value := values[i]
		if value == nil || value.Kind() == 'n' {
			continue // null is absence
		}
		if e := f.read(&r, value); e != nil && err == nil {
			err = &speech.Refusal{Code: f.code, Text: f.name + ": " + e.Error()}
		}
	}
	if err == nil && !utf8.Valid(body) { // in a name, or in a member that is ignored
		err = invalidJSON("not valid UTF-8")
	}
	return r, err
}

// validate checks the values in the order of the API's error table, and cleans and trims the text. The disclosure,
// which counts with the text, must be there before.
func (r *request) validate(m speech.Model, g access.Grant) error {
	u := &r.Utterance
	if r.voiceUnset {
		u.Voice, r.voiceUnset = m.DefaultVoice(), false
	}
	if r.Type != typeAppend { // whose text is looked at when it is joined
		if err := r.validateText(); err != nil {
			return err
		}
	}
	if _, ok := m.Voice(u.Voice); !ok && len(m.Voices) > 0 { // without a model the speaker decides
		return speech.UnknownVoice(u.Voice)
	}
	switch {
	case !u.Format.Valid():
		return speech.ErrBadFormat
	case r.sampleRate != speech.SampleRate:
		return speech.ErrBadSampleRate
	case r.badSpeed:
		return speech.ErrBadSpeed
	case r.badTemperature:
		return speech.ErrBadTemperature
	case r.badSeed:
		return errSeedRange
	case r.badRequestID:
		return errRequestID
	case r.badTimestamps:
		return errTimestamps
	case r.badInputType:
		return errInputType
	case u.SSML && u.Raw:
		return errRawSSML
	case u.SSML && r.Type == typeAppend:
		return errSSMLAppended
	}
	if err := r.useLexicon(g); err != nil {
		return err
	}
	if !g.Allows(u.Voice) { // only now: the request is known to be well formed
		return speech.VoiceNotAllowed(u.Voice)
	}
	return nil
}

// useLexicon finds the lexicon that the request names.
func (r *request) useLexicon(g access.Grant) (err error) {
	r.Utterance.Lexicon, err = lexiconFor(g, r.lexicon)
	return err
}

// validateText is the part of validate that concerns the text.
func (r *request) validateText() error {
	text, err := speech.CleanText(r.Utterance.Text)
	if err != nil {
		return err
	}
	r.Utterance.Text = text
	return checkLength(&r.Utterance)
}

var (
	errSeedRange = &speech.Refusal{Code: speech.CodeBadRequest, Text: "seed: out of range"}
	errRequestID = &speech.Refusal{Code: speech.CodeBadRequest,
		Text: "request_id: must be 1 to 128 visible ASCII characters"}
	errTimestamps = &speech.Refusal{Code: speech.CodeBadRequest, Text: "timestamps must be words or none"}
	errInputType  = &speech.Refusal{Code: speech.CodeBadRequest, Text: "input_type must be text or ssml"}
	errRawSSML    = &speech.Refusal{Code: speech.CodeBadRequest, Text: "raw: must be false when input_type is ssml"}

	errSSMLAppended = &speech.Refusal{Code: speech.CodeBadRequest,
		Text: "input_type: ssml cannot be appended; send the document in one speak"}
)

// field is a member of a message.
type field struct {
	name string
	code speech.Code
	from source
	read func(*request, jsontext.Value) error
}

// fields are the members of a message in the order in which a wrong type is reported.
var fields = [...]field{
	{"type", speech.CodeBadRequest, fromSocket, func(r *request, v jsontext.Value) error {
		return strictjson.String(v, &r.Type)
	}},
	{"text", speech.CodeBadText, fromREST | fromSocket | fromNormalize | fromWords, func(r *request, v jsontext.Value) error {
		return strictjson.String(v, &r.Utterance.Text)
	}},
	{"voice", speech.CodeBadRequest, fromREST | fromSocket | fromWords, func(r *request, v jsontext.Value) error {
		r.voiceUnset = false
		return strictjson.String(v, &r.Utterance.Voice)
	}},
	{"format", speech.CodeBadFormat, fromREST | fromSocket | fromWords, func(r *request, v jsontext.Value) error {
		return strictjson.String(v, (*string)(&r.Utterance.Format))
	}},
	{"sample_rate", speech.CodeBadSampleRate, fromREST | fromSocket | fromWords, func(r *request, v jsontext.Value) error {
		ok, err := readInteger(v, &r.sampleRate)
		if err == nil && !ok {
			r.sampleRate = 0
		}
		return err
	}},
	{"speed", speech.CodeBadSpeed, fromREST | fromSocket | fromWords, func(r *request, v jsontext.Value) error {
		var speed float64
		if err := strictjson.Number(v, &speed); err != nil {
			return err
		}
		r.badSpeed = exactly(v).compareDigit(1) != 0
		return nil
	}},
	{"temperature", speech.CodeBadTemperature, fromREST | fromSocket | fromWords, func(r *request, v jsontext.Value) error {
		if err := strictjson.Number(v, &r.Utterance.Temperature); err != nil {
			return err
		}
		t := exactly(v)
		r.badTemperature = t.below0() || t.compareDigit(speech.MaxTemperature) > 0
		return nil
	}},
	{"seed", speech.CodeBadRequest, fromREST | fromSocket | fromWords, func(r *request, v jsontext.Value) error {
		ok, err := readInteger(v, &r.Utterance.Seed)
		r.HasSeed, r.badSeed = ok, err == nil && !ok
		return err
	}},
	{"request_id", speech.CodeBadRequest, fromREST | fromSocket | fromWords, func(r *request, v jsontext.Value) error {
		var id string
		if err := strictjson.String(v, &id); err != nil {
			return err
		}
		if r.badRequestID = !validRequestID(id); !r.badRequestID {
			r.Utterance.RequestID = id
		}
		return nil
	}},
	{"stream", speech.CodeBadRequest, fromREST, func(r *request, v jsontext.Value) error {
		return readBool(v, &r.Stream)
	}},
	{"metadata", speech.CodeBadRequest, fromREST, func(r *request, v jsontext.Value) error {
		return readBool(v, &r.Metadata)
	}},
	{"raw", speech.CodeBadRequest, fromREST | fromSocket | fromWords, func(r *request, v jsontext.Value) error {
		return readBool(v, &r.Utterance.Raw)
	}},
	{"en_digits", speech.CodeBadRequest, fromREST | fromSocket | fromNormalize | fromWords, func(r *request, v jsontext.Value) error {
		return readBool(v, &r.Utterance.EnDigits)
	}},
	{"input_type", speech.CodeBadRequest, fromREST | fromSocket | fromNormalize | fromWords, func(r *request, v jsontext.Value) error {
		var is string
		if err := strictjson.String(v, &is); err != nil {
			return err
		}
		r.Utterance.SSML = is == inputSSML
		r.badInputType = is != inputSSML && is != inputText
		return nil
	}},
	{"lexicon", speech.CodeBadRequest, fromREST | fromSocket | fromNormalize | fromWords, func(r *request, v jsontext.Value) error {
		return strictjson.String(v, &r.lexicon)
	}},
	{"timestamps", speech.CodeBadRequest, fromSocket, func(r *request, v jsontext.Value) error {
		var of string
		if err := strictjson.String(v, &of); err != nil {
			return err
		}
		r.Utterance.WordTimes = of == timestampsOfWords
		r.badTimestamps = of != timestampsOfWords && of != timestampsOfNone
		return nil
	}},
}

// The values of timestamps.
const (
	timestampsOfWords = "words"
	timestampsOfNone  = "none"
)

// The values of input_type.
const (
	inputText = "text"
	inputSSML = "ssml"
)

// sourceFields are the fields that one source has, and their names.
type sourceFields struct {
	fields []field
	names  []string
}

var fieldsFrom = map[source]sourceFields{
	fromREST: fieldsOf(fromREST), fromSocket: fieldsOf(fromSocket), fromNormalize: fieldsOf(fromNormalize),
	fromWords: fieldsOf(fromWords),
}

func fieldsOf(from source) (s sourceFields) {
	for _, f := range fields {
		if f.from&from != 0 {
			s.fields, s.names = append(s.fields, f), append(s.names, f.name)
		}
	}
	return s
}

func invalidJSON(reason string) error {
	return &speech.Refusal{Code: speech.CodeBadRequest, Text: "invalid JSON: " + reason}
}

// What else is wrong with a field; its name goes in front.
var (
	errNotInteger = errors.New("must be an integer")
	errNotBool    = errors.New("must be a boolean")
)

func readBool(v jsontext.Value, to *bool) error {
	if k := v.Kind(); k != 't' && k != 'f' {
		return errNotBool
	}
	*to = v.Kind() == 't'
	return nil
}

// readInteger reads a number without a fraction. It reports whether the integer has 64 bits or fewer.
func readInteger(v jsontext.Value, to *int64) (ok bool, err error) {
	if v.Kind() != '0' {
		return false, errNotInteger
	}
	n := exactly(v)
	if !n.isInteger() {
		return false, errNotInteger
	}
	i, ok := n.int64()
	if ok {
		*to = i
	}
	return ok, nil
}

package openai

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

// What a request may ask for.
const (
	maxInput = 4096 // code points after trimming
	minSpeed = 0.5
	maxSpeed = 2.0
	mp3Rate  = 64_000 // bits per second
)

const defaultModel = "swar-1"

// wanted is the members of a request as they were sent.
type wanted struct {
	input, model, voice, format, stream string
	speed, rate                         float64
}

// members are those of a request, in the order in which a wrong type is reported.
var members = []dialect.Member[wanted]{
	{Name: "input", Code: speech.CodeBadText, Read: dialect.ReadString(func(w *wanted) *string { return &w.input })},
	{Name: "model", Code: speech.CodeBadRequest, Read: dialect.ReadString(func(w *wanted) *string { return &w.model })},
	{Name: "voice", Code: speech.CodeBadRequest, Read: readVoice},
	{Name: "response_format", Code: speech.CodeBadFormat, Read: dialect.ReadString(func(w *wanted) *string { return &w.format })},
	{Name: "speed", Code: speech.CodeBadSpeed, Read: dialect.ReadNumber(func(w *wanted) *float64 { return &w.speed })},
	{Name: "sample_rate", Code: speech.CodeBadSampleRate, Read: dialect.ReadNumber(func(w *wanted) *float64 { return &w.rate })},
	{Name: "stream_format", Code: speech.CodeBadRequest, Read: dialect.ReadString(func(w *wanted) *string { return &w.stream })},
}

var errVoice = errors.New(`must be a string or {"id": string}`)

// readVoice reads the name of a voice, or an object with it.
func readVoice(w *wanted, v jsontext.Value) error {
	if v.Kind() == '{' {
		var id [1]jsontext.Value
		if err := strictjson.Members(v, []string{"id"}, id[:]); err != nil || id[0] == nil {
			return errVoice
		}
		v = id[0]
	}
	if v.Kind() != '"' {
		return errVoice
	}
	return strictjson.String(v, &w.voice)
}

// readSpeech reads the body of POST /v1/audio/speech.
func readSpeech(c dialect.Call) (o dialect.Order, err error) {
	w := wanted{model: defaultModel, speed: 1, rate: speech.SampleRate, stream: "audio"}
	var ignored []string
	if err = dialect.ReadBody(c.Body, members, &w, func(name string) { ignored = append(ignored, name) }); err != nil {
		return o, err
	}
	o.Headers = map[string]string{"X-Model-Requested": dialect.HeaderValue(w.model)}
	if len(ignored) > 0 {
		o.Headers["X-Ignored"] = dialect.Ignored(ignored)
	}
	return w.order(c, o)
}

// order checks the values and fills o in.
func (w *wanted) order(c dialect.Call, o dialect.Order) (_ dialect.Order, err error) {
	u := &o.Utterance
	if u.Text, err = speech.CleanText(w.input); err != nil {
		return o, err
	}
	if utf8.RuneCountInString(u.Text) > maxInput {
		return o, dialect.Refuse("input", speech.CodeTextTooLong,
			fmt.Sprintf("input longer than %d characters", maxInput))
	}
	if w.voice == "" {
		return o, dialect.Refuse("voice", speech.CodeBadRequest, "voice: required; see /v1/audio/voices")
	}
	voice, ok := dialect.Voice(dialect.OpenAI, c.Model, w.voice)
	if !ok {
		return o, &dialect.FieldError{Refusal: speech.UnknownVoice(w.voice), Field: "voice"}
	}
	u.Voice, u.Temperature = voice, speech.DefaultTemperature
	if w.speed < minSpeed || w.speed > maxSpeed {
		return o, dialect.Refuse("speed", speech.CodeBadSpeed,
			fmt.Sprintf("speed must be in [%g, %g]", minSpeed, maxSpeed))
	}
	if w.rate != speech.SampleRate {
		return o, dialect.Refuse("sample_rate", speech.CodeBadSampleRate, speech.ErrBadSampleRate.Text)
	}
	if o.Audio, o.Word, err = w.audio(c.Encodes); err != nil {
		return o, err
	}
	switch w.stream {
	case "audio":
	case "sse":
		o.Framing = events(utf8.RuneCountInString(u.Text))
	default:
		return o, dialect.Refuse("stream_format", speech.CodeBadRequest, "stream_format must be audio or sse")
	}
	return o, nil
}

// audios are the formats of responses.
var audios = map[string]dialect.Audio{
	"mp3":  {Container: dialect.MP3, BitRate: mp3Rate, ContentType: "audio/mpeg"},
	"opus": {Container: dialect.Ogg, BitRate: dialect.NativeOpus, ContentType: "audio/ogg"},
	"wav":  {Container: dialect.WAV, Encoding: dialect.S16, ContentType: "audio/wav"},
	"pcm":  {Container: dialect.Raw, Encoding: dialect.S16, ContentType: "audio/pcm"},
	"flac": {Container: dialect.FLAC, ContentType: "audio/flac"},
}

// audio returns the requested format. The default is mp3, or wav if the server cannot write mp3.
func (w *wanted) audio(encodes func(dialect.Audio) bool) (a dialect.Audio, word string, err error) {
	find := func(word string) (a dialect.Audio, isWritten bool) {
		a = audios[word]
		a.Rate, a.Speed = speech.SampleRate, w.speed
		_, isNative := a.Native()
		return a, isNative || encodes(a)
	}
	if word = w.format; word == "" {
		word = "mp3"
		if _, ok := find(word); !ok {
			word = "wav"
		}
	}
	if _, ok := audios[word]; !ok && word != "aac" {
		return a, "",
			dialect.Refuse("response_format", speech.CodeBadFormat,
				"response_format must be mp3, opus, wav, pcm or flac")
	}
	if word == "aac" {
		return a, "", dialect.Refuse("response_format", dialect.CodeUnsupported,
			"response_format aac is not supported; ask for mp3, opus, wav, pcm or flac")
	}
	a, isWritten := find(word)
	if isWritten {
		return a, word, nil
	}
	a.Speed = 1
	if _, isNative := a.Native(); isNative || encodes(a) {
		return a, "", dialect.Refuse("speed", speech.CodeBadSpeed, speech.ErrBadSpeed.Text)
	}
	return a, "", dialect.Refuse("response_format", dialect.CodeUnsupported,
		"response_format "+word+" is not supported by this server; ask for wav or pcm")
}

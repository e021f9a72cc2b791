package sarvam

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

// What a request may ask for.
const (
	minPace        = 0.5
	maxPace        = 2.0
	minTemperature = 0.01
	defaultBitRate = 128_000 // bits per second, of mp3 and opus
)

const defaultSpeaker = "anushka"

// wanted is the members of a request, or of the config of a socket, as they were sent.
type wanted struct {
	text, speaker, model, codec, lexicon string
	pace, temperature                    float64
	rate, bitRate                        int // 0: not named
	ignored                              []string
}

// members are those of a request, in the order in which what is wrong is reported.
var members = append([]dialect.Member[wanted]{
	{Name: "text", Code: speech.CodeBadText, Read: dialect.ReadString(func(w *wanted) *string { return &w.text })},
}, settings...)

// settings are the members that a request and the config of a socket have in common.
var settings = []dialect.Member[wanted]{
	{Name: "speaker", Code: speech.CodeBadRequest, Read: dialect.ReadString(func(w *wanted) *string { return &w.speaker })},
	{Name: "model", Code: speech.CodeBadRequest, Read: dialect.ReadString(func(w *wanted) *string { return &w.model })},
	{Name: "output_audio_codec", Code: speech.CodeBadFormat, Read: dialect.ReadString(func(w *wanted) *string { return &w.codec })},
	{Name: "speech_sample_rate", Code: speech.CodeBadSampleRate, Read: readRate},
	{Name: "output_audio_bitrate", Code: speech.CodeBadFormat, Read: readBitRate},
	{Name: "pace", Code: speech.CodeBadSpeed, Read: dialect.ReadNumber(func(w *wanted) *float64 { return &w.pace })},
	{Name: "temperature", Code: speech.CodeBadTemperature, Read: readTemperature},
	{Name: "pitch", Code: dialect.CodeUnsupported, Read: readOnly(0)},
	{Name: "loudness", Code: dialect.CodeUnsupported, Read: readOnly(1)},
	{Name: "dict_id", Code: speech.CodeBadRequest, Read: dialect.ReadString(func(w *wanted) *string { return &w.lexicon })},
}

var rates = []int{8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000}

// readRate reads a sample rate, which some clients send as a string.
func readRate(w *wanted, v jsontext.Value) error {
	digits := strings.Trim(string(v), `"`)
	rate, err := strconv.ParseFloat(digits, 64)
	if err != nil || !slices.Contains(rates, int(rate)) || rate != float64(int(rate)) {
		return errors.New("must be 8000, 16000, 22050, 24000, 32000, 44100 or 48000")
	}
	w.rate = int(rate)
	return nil
}

var bitRates = []int{32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192}

// readBitRate reads a bit rate such as 128k.
func readBitRate(w *wanted, v jsontext.Value) error {
	var text string
	if err := strictjson.String(v, &text); err != nil {
		return err
	}
	digits, hasUnit := strings.CutSuffix(text, "k")
	rate, err := strconv.Atoi(digits)
	if err != nil || !hasUnit || !slices.Contains(bitRates, rate) {
		return errors.New("must be 32k, 40k, 48k, 56k, 64k, 80k, 96k, 112k, 128k, 160k or 192k")
	}
	w.bitRate = rate * 1000
	return nil
}

// readTemperature reads a temperature. Sarvam allows higher ones than the engine has, which are as good as its highest.
func readTemperature(w *wanted, v jsontext.Value) error {
	if err := strictjson.Number(v, &w.temperature); err != nil {
		return err
	}
	if w.temperature < minTemperature {
		return fmt.Errorf("must be in [%g, %g]", minTemperature, speech.MaxTemperature)
	}
	w.temperature = min(w.temperature, speech.MaxTemperature)
	return nil
}

// readOnly refuses any value but the one that changes nothing.
func readOnly(neutral float64) func(*wanted, jsontext.Value) error {
	return func(_ *wanted, v jsontext.Value) error {
		var got float64
		if err := strictjson.Number(v, &got); err != nil {
			return err
		}
		if got != neutral {
			return fmt.Errorf("not supported; leave it out or send %g", neutral)
		}
		return nil
	}
}

// unset are the values of members that a request leaves out.
func unset(codec string) wanted {
	return wanted{speaker: defaultSpeaker, codec: codec, pace: 1, temperature: speech.DefaultTemperature}
}

// readSpeech reads the body of a request.
func readSpeech(c dialect.Call, most int, codec string) (o dialect.Order, err error) {
	w := unset(codec)
	err = dialect.ReadBody(c.Body, members, &w, func(name string) { w.ignored = append(w.ignored, name) })
	if err != nil {
		return o, err
	}
	if o, err = w.order(c); err != nil {
		return o, err
	}
	o.Headers = map[string]string{}
	if w.model != "" {
		o.Headers["X-Model-Requested"] = dialect.HeaderValue(w.model)
	}
	if len(w.ignored) > 0 {
		o.Headers["X-Ignored"] = dialect.Ignored(w.ignored)
	}
	if o.Utterance.Text, err = speech.CleanText(w.text); err != nil {
		return o, err
	}
	if utf8.RuneCountInString(o.Utterance.Text) > most {
		return o, dialect.Refuse("text", speech.CodeTextTooLong, fmt.Sprintf("text longer than %d characters", most))
	}
	return o, nil
}

// order is what a request without its text, or a config, asks for.
func (w *wanted) order(c dialect.Call) (o dialect.Order, err error) {
	if strings.TrimSpace(w.speaker) == "" { // a field of a form that was left empty
		w.speaker = defaultSpeaker
	}
	voice, ok := dialect.Voice(dialect.Sarvam, c.Model, w.speaker)
	if !ok {
		return o, &dialect.FieldError{Refusal: speech.UnknownVoice(w.speaker), Field: "speaker"}
	}
	o.Utterance.Voice, o.Utterance.Temperature, o.Lexicon = voice, w.temperature, w.lexicon
	if w.pace < minPace || w.pace > maxPace {
		return o, dialect.Refuse("pace", speech.CodeBadSpeed, fmt.Sprintf("pace must be in [%g, %g]", minPace, maxPace))
	}
	if o.Audio, err = w.audio(c.Encodes); err != nil {
		return o, err
	}
	o.Word = fmt.Sprintf("%s/%d", w.codec, o.Audio.Rate)
	return o, nil
}

// codecs are the formats. Those without a rate have 24 kHz unless another one is named.
var codecs = map[string]dialect.Audio{
	"wav":      {Container: dialect.WAV, Encoding: dialect.S16, ContentType: "audio/wav"},
	"mp3":      {Container: dialect.MP3, BitRate: defaultBitRate, ContentType: "audio/mpeg"},
	"linear16": {Container: dialect.Raw, Encoding: dialect.S16, ContentType: "audio/pcm"},
	"mulaw":    {Container: dialect.Raw, Encoding: dialect.MuLaw, Rate: 8000, ContentType: "audio/mulaw"},
	"alaw":     {Container: dialect.Raw, Encoding: dialect.ALaw, Rate: 8000, ContentType: "audio/alaw"},
	"opus":     {Container: dialect.Ogg, BitRate: defaultBitRate, ContentType: "audio/ogg"},
	"flac":     {Container: dialect.FLAC, ContentType: "audio/flac"},
}

// audio returns the requested format.
func (w *wanted) audio(encodes func(dialect.Audio) bool) (dialect.Audio, error) {
	const field = "output_audio_codec"
	a, ok := codecs[w.codec]
	if !ok {
		code := speech.CodeBadFormat
		if w.codec == "aac" {
			code = dialect.CodeUnsupported
		}
		return a, dialect.Refuse(field, code, field+" must be wav, mp3, linear16, mulaw, alaw, opus or flac")
	}
	switch {
	case w.rate != 0:
		a.Rate = w.rate
	case a.Rate == 0:
		a.Rate = speech.SampleRate
	}
	if a.BitRate != 0 && w.bitRate != 0 {
		a.BitRate = w.bitRate
	}
	a.Speed = w.pace
	if _, isNative := a.Native(); !isNative && !encodes(a) {
		return a, dialect.Refuse(field, dialect.CodeUnsupported,
			field+" "+w.codec+" is not supported by this server; ask for wav or linear16")
	}
	return a, nil
}

package cartesia

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/strictjson"
)

// What a request may ask for.
const (
	maxTranscript  = 4000 // code points after trimming
	maxContextID   = 256  // bytes
	minSpeed       = 0.6
	maxSpeed       = 1.5
	defaultBitRate = 128_000 // bits per second, of mp3
)

// speeds are the words of older versions of the API.
var speeds = map[string]float64{"slowest": 0.6, "slow": 0.8, "normal": 1, "fast": 1.2, "fastest": 1.5}

// wanted is the members of a request, or of the message of a socket that opens a context, as they were sent.
type wanted struct {
	envelope
	model, voice, lexicon string
	format                format
	hasFormat             bool
	speed                 float64
	ignored               []string
}

// envelope is what each message of a socket says anew.
type envelope struct {
	transcript, contextID    string
	continues, flush, cancel bool
	timestamps, normalized   bool
	delay                    float64 // ms
}

// format is the member output_format.
type format struct {
	container, encoding string
	rate, bitRate       float64
}

func (w *wanted) ignore(name string) { w.ignored = append(w.ignored, name) }

// envelopeMembers are read of each message.
var envelopeMembers = []dialect.Member[wanted]{
	{Name: "context_id", Code: speech.CodeBadRequest, Read: readContextID},
	{Name: "transcript", Code: speech.CodeBadText, Read: dialect.ReadString(func(w *wanted) *string { return &w.transcript })},
	{Name: "continue", Code: speech.CodeBadRequest, Read: dialect.ReadBool(func(w *wanted) *bool { return &w.continues })},
	{Name: "flush", Code: speech.CodeBadRequest, Read: dialect.ReadBool(func(w *wanted) *bool { return &w.flush })},
	{Name: "cancel", Code: speech.CodeBadRequest, Read: dialect.ReadBool(func(w *wanted) *bool { return &w.cancel })},
}

// members are those of a request and of the first message of a context, in the order in which what is wrong is
// reported.
var members = slices.Concat(envelopeMembers, []dialect.Member[wanted]{
	{Name: "model_id", Code: speech.CodeBadRequest, Read: dialect.ReadString(func(w *wanted) *string { return &w.model })},
	{Name: "voice", Code: speech.CodeBadRequest, Read: readVoice},
	{Name: "output_format", Code: speech.CodeBadFormat, Read: readFormat},
	{Name: "generation_config", Code: speech.CodeBadRequest, Read: readGeneration},
	{Name: "speed", Code: speech.CodeBadSpeed, Read: readSpeed},
	{Name: "add_timestamps", Code: speech.CodeBadRequest, Read: dialect.ReadBool(func(w *wanted) *bool { return &w.timestamps })},
	{Name: "use_normalized_timestamps", Code: speech.CodeBadRequest, Read: dialect.ReadBool(func(w *wanted) *bool { return &w.normalized })},
	{Name: "max_buffer_delay_ms", Code: speech.CodeBadRequest, Read: readDelay},
	{Name: "duration", Code: speech.CodeBadRequest, Read: dialect.Unsupported[wanted]("not supported; leave it out")},
	{Name: "pronunciation_dict_id", Code: speech.CodeBadRequest, Read: dialect.ReadString(func(w *wanted) *string { return &w.lexicon })},
})

func readContextID(w *wanted, v jsontext.Value) error {
	if err := strictjson.String(v, &w.contextID); err != nil {
		return err
	}
	if len(w.contextID) > maxContextID {
		return fmt.Errorf("longer than %d bytes", maxContextID)
	}
	return nil
}

var voiceMembers = []dialect.Member[wanted]{
	{Name: "mode", Code: speech.CodeBadRequest, Read: func(_ *wanted, v jsontext.Value) error {
		if string(v) != `"id"` {
			return errors.New("must be id")
		}
		return nil
	}},
	{Name: "embedding", Code: speech.CodeBadRequest, Read: dialect.Unsupported[wanted]("not supported; name a voice by its id")},
	{Name: "id", Code: speech.CodeBadRequest, Read: dialect.ReadString(func(w *wanted) *string { return &w.voice })},
	{Name: "__experimental_controls", Code: speech.CodeBadRequest, Read: func(w *wanted, v jsontext.Value) error {
		return dialect.ReadObject(v,
			[]dialect.Member[wanted]{{Name: "speed", Code: speech.CodeBadSpeed, Read: readSpeed}}, w,
			func(name string) { w.ignore("voice.__experimental_controls." + name) })
	}},
}

// readVoice reads {"mode": "id", "id": NAME}, or the name alone.
func readVoice(w *wanted, v jsontext.Value) error {
	switch v.Kind() {
	case '"':
		return strictjson.String(v, &w.voice)
	case '{':
		return dialect.ReadObject(v, voiceMembers, w, func(name string) { w.ignore("voice." + name) })
	}
	return errors.New(`must be {"mode": "id", "id": string}`)
}

var formatMembers = []dialect.Member[wanted]{
	{Name: "container", Code: speech.CodeBadFormat, Read: dialect.ReadString(func(w *wanted) *string { return &w.format.container })},
	{Name: "encoding", Code: speech.CodeBadFormat, Read: dialect.ReadString(func(w *wanted) *string { return &w.format.encoding })},
	{Name: "sample_rate", Code: speech.CodeBadSampleRate, Read: dialect.ReadNumber(func(w *wanted) *float64 { return &w.format.rate })},
	{Name: "bit_rate", Code: speech.CodeBadFormat, Read: dialect.ReadNumber(func(w *wanted) *float64 { return &w.format.bitRate })},
}

func readFormat(w *wanted, v jsontext.Value) error {
	w.hasFormat = true
	return dialect.ReadObject(v, formatMembers, w, func(name string) { w.ignore("output_format." + name) })
}

func readGeneration(w *wanted, v jsontext.Value) error {
	return dialect.ReadObject(v,
		[]dialect.Member[wanted]{{Name: "speed", Code: speech.CodeBadSpeed, Read: readSpeed}}, w,
		func(name string) { w.ignore("generation_config." + name) })
}

// readSpeed reads a number, or a word of older versions.
func readSpeed(w *wanted, v jsontext.Value) error {
	wrong := fmt.Errorf("must be in [%g, %g], or slowest, slow, normal, fast or fastest", minSpeed, maxSpeed)
	if v.Kind() == '"' {
		var word string
		if err := strictjson.String(v, &word); err != nil {
			return err
		}
		speed, ok := speeds[word]
		if !ok {
			return wrong
		}
		w.speed = speed
		return nil
	}
	if err := strictjson.Number(v, &w.speed); err != nil || w.speed < minSpeed || w.speed > maxSpeed {
		return wrong
	}
	return nil
}

// unset are the values of members that a request leaves out.
func unset() wanted {
	w := wanted{speed: 1, format: format{encoding: "pcm_s16le", rate: speech.SampleRate, bitRate: defaultBitRate}}
	w.delay = defaultDelay
	return w
}

// readBytes reads the body of POST /tts/bytes.
func readBytes(c dialect.Call) (dialect.Order, error) {
	o, _, err := readSpeech(c)
	return o, err
}

// readEvents reads the body of POST /tts/sse.
func readEvents(c dialect.Call) (dialect.Order, error) {
	o, w, err := readSpeech(c)
	if err != nil {
		return o, err
	}
	if err := w.checkFramed(); err != nil {
		return o, err
	}
	o.Utterance.WordTimes = w.timestamps
	id := w.contextID
	if id == "" {
		id = c.RequestID
	}
	o.Framing = events(id, w.timestamps, w.normalized)
	return o, nil
}

func readSpeech(c dialect.Call) (o dialect.Order, w wanted, err error) {
	w = unset()
	if err = dialect.ReadBody(c.Body, members, &w, w.ignore); err != nil {
		return o, w, err
	}
	if o, err = w.order(c); err != nil {
		return o, w, err
	}
	o.Headers = map[string]string{}
	if w.model != "" {
		o.Headers["X-Model-Requested"] = dialect.HeaderValue(w.model)
	}
	if len(w.ignored) > 0 {
		o.Headers["X-Ignored"] = dialect.Ignored(w.ignored)
	}
	if o.Utterance.Text, err = speech.CleanText(w.transcript); err != nil {
		return o, w, err
	}
	if utf8.RuneCountInString(o.Utterance.Text) > maxTranscript {
		text := fmt.Sprintf("transcript longer than %d characters", maxTranscript)
		return o, w, dialect.Refuse("transcript", speech.CodeTextTooLong, text)
	}
	return o, w, nil
}

// order is what a request without its text, or the first message of a context, asks for.
func (w *wanted) order(c dialect.Call) (o dialect.Order, err error) {
	if w.voice == "" {
		return o, dialect.Refuse("voice", speech.CodeBadRequest, "voice: required; see /voices")
	}
	voice, ok := dialect.Voice(dialect.Cartesia, c.Model, w.voice)
	if !ok {
		return o, &dialect.FieldError{Refusal: speech.UnknownVoice(w.voice), Field: "voice"}
	}
	o.Utterance.Voice, o.Utterance.Temperature, o.Lexicon = voice, speech.DefaultTemperature, w.lexicon
	if !w.hasFormat {
		return o, dialect.Refuse("output_format", speech.CodeBadFormat, "output_format: required")
	}
	o.Audio, o.Word, err = w.audio(c.Encodes)
	return o, err
}

var rates = []int{8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000}

// encodings are those of raw and wav.
var encodings = map[string]dialect.Audio{
	"pcm_s16le": {Encoding: dialect.S16, ContentType: "audio/pcm"},
	"pcm_f32le": {Encoding: dialect.F32, ContentType: "application/octet-stream"},
	"pcm_mulaw": {Encoding: dialect.MuLaw, ContentType: "audio/mulaw"},
	"pcm_alaw":  {Encoding: dialect.ALaw, ContentType: "audio/alaw"},
}

// audio returns the requested format, and its name for the log.
func (w *wanted) audio(encodes func(dialect.Audio) bool) (a dialect.Audio, word string, err error) {
	f := w.format
	if f.rate != float64(int(f.rate)) || !slices.Contains(rates, int(f.rate)) {
		return a, "", dialect.Refuse("output_format.sample_rate", speech.CodeBadSampleRate,
			"output_format.sample_rate must be 8000, 16000, 22050, 24000, 32000, 44100 or 48000")
	}
	switch f.container {
	case "raw", "wav":
		var ok bool
		if a, ok = encodings[f.encoding]; !ok {
			return a, "", dialect.Refuse("output_format.encoding", speech.CodeBadFormat,
				"output_format.encoding must be pcm_s16le, pcm_f32le, pcm_mulaw or pcm_alaw")
		}
		a.Container, word = dialect.Raw, f.encoding
		if f.container == "wav" {
			a.Container, a.ContentType, word = dialect.WAV, "audio/wav", "wav_"+f.encoding
		}
	case "mp3":
		a, word = dialect.Audio{Container: dialect.MP3, BitRate: int(f.bitRate), ContentType: "audio/mpeg"}, "mp3"
	default:
		return a, "",
			dialect.Refuse("output_format.container", speech.CodeBadFormat,
				"output_format.container must be raw, wav or mp3")
	}
	a.Rate, a.Speed = int(f.rate), w.speed
	if _, isNative := a.Native(); isNative || encodes(a) {
		return a, fmt.Sprintf("%s/%d", word, a.Rate), nil
	}
	return a, "", w.refuseFormat(a, encodes)
}

// refuseFormat says why the server cannot write a.
func (w *wanted) refuseFormat(a dialect.Audio, encodes func(dialect.Audio) bool) error {
	if a.BitRate != 0 {
		if a.BitRate = defaultBitRate; encodes(a) {
			return dialect.Refuse("output_format.bit_rate", speech.CodeBadFormat,
				"output_format.bit_rate must be 32000, 40000, 48000, 56000, 64000, 80000, 96000, 112000, 128000, 160000 or 192000")
		}
	}
	return dialect.Refuse("output_format.container", dialect.CodeUnsupported,
		"output_format "+w.format.container+" is not supported by this server; ask for raw or wav with pcm_s16le and 24000")
}

// checkFramed refuses what cannot be sent in pieces: a WAV has one header.
func (w *wanted) checkFramed() error {
	if w.format.container != "wav" {
		return nil
	}
	return dialect.Refuse("output_format.container", speech.CodeBadFormat,
		"output_format.container must be raw or mp3 here")
}

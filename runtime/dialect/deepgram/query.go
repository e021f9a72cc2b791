package deepgram

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// What the parameters of a request may say.
const (
	minSpeed, maxSpeed     = 0.7, 1.5
	minBitRate, maxBitRate = 32_000, 192_000 // of Opus
	mp3Rate, mp3BitRate    = 22_050, 48_000  // by default
	lawRate                = 8_000           // by default
)

var (
	rates       = []int{8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000}
	mp3BitRates = []int{32_000, 48_000}
)

// encoding is one of the values of the parameter encoding.
type encoding struct {
	audio      dialect.Audio // its Container is the default
	containers []string      // that may be asked for; the first is audio.Container
	bare       string        // the content type without a container
}

var encodings = map[string]encoding{
	"linear16": {dialect.Audio{Encoding: dialect.S16, Rate: speech.SampleRate}, []string{"wav", "none"}, "audio/l16"},
	"mulaw":    {dialect.Audio{Encoding: dialect.MuLaw, Rate: lawRate}, []string{"wav", "none"}, "audio/mulaw"},
	"alaw":     {dialect.Audio{Encoding: dialect.ALaw, Rate: lawRate}, []string{"wav", "none"}, "audio/alaw"},
	"mp3":      {dialect.Audio{Container: dialect.MP3, Rate: mp3Rate, BitRate: mp3BitRate}, []string{"none"}, "audio/mpeg"},
	"opus":     {dialect.Audio{Container: dialect.Ogg, Rate: speech.SampleRate, BitRate: dialect.NativeOpus}, []string{"ogg"}, "audio/ogg"},
	"flac":     {dialect.Audio{Container: dialect.FLAC, Rate: speech.SampleRate}, []string{"none"}, "audio/flac"},
}

// onSockets are the encodings of sockets, where there is no container.
var onSockets = []string{"linear16", "mulaw", "alaw"}

// names are the parameters that are read.
var names = []string{"model", "encoding", "container", "sample_rate", "bit_rate", "speed", "callback"}

// query is the parameters of a request.
type query struct {
	url.Values
	call     *dialect.Call
	isSocket bool
}

// order reads the voice and the audio, and which parameters are ignored.
func (q query) order() (o dialect.Order, ignored []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(q.Values)) {
		isRead := slices.Contains(names, name) && !(name == "bit_rate" && q.isSocket)
		if !isRead {
			ignored = append(ignored, name)
		}
	}
	if q.Get("callback") != "" {
		return o, nil, dialect.Refuse("callback", dialect.CodeUnsupported, "callback is not supported; read the answer")
	}
	u := &o.Utterance
	u.Voice, u.Temperature = q.call.Model.DefaultVoice(), speech.DefaultTemperature
	if model := q.Get("model"); model != "" {
		voice, ok := dialect.Voice(dialect.Deepgram, q.call.Model, model)
		if !ok {
			return o, nil, &dialect.FieldError{Refusal: speech.UnknownVoice(model), Field: "model"}
		}
		u.Voice = voice
	}
	if !q.call.Allows(u.Voice) {
		return o, nil, speech.VoiceNotAllowed(u.Voice)
	}
	o.Audio, o.Word, err = q.audio()
	return o, ignored, err
}

// audio reads the format.
func (q query) audio() (a dialect.Audio, word string, err error) {
	name, kind, err := q.encoding()
	if err != nil {
		return a, "", err
	}
	a = kind.audio
	if err := q.number("sample_rate", speech.CodeBadSampleRate, &a.Rate, rates); err != nil {
		return a, "", err
	}
	if err := q.bitRate(&a); err != nil {
		return a, "", err
	}
	if a.Speed, err = q.speed(); err != nil {
		return a, "", err
	}
	a.ContentType = kind.bare
	container := q.Get("container")
	switch offered := kind.containers; {
	case q.isSocket && container != "" && container != "none":
		return a, "", dialect.Refuse("container", speech.CodeBadFormat, "container must be none on a socket")
	case container != "" && !slices.Contains(offered, container):
		return a, "", dialect.Refuse("container", speech.CodeBadFormat,
			fmt.Sprintf("container must be %s with the encoding %s", strings.Join(offered, " or "), name))
	case a.Container != "":
	case q.isSocket || container == "none":
		a.Container = dialect.Raw
		if a.Encoding == dialect.S16 {
			a.ContentType = fmt.Sprintf("audio/l16;rate=%d;channels=1", a.Rate)
		}
	default:
		a.Container, a.ContentType = dialect.WAV, "audio/wav"
	}
	if _, isNative := a.Native(); !isNative && !q.call.Encodes(a) {
		return a, "",
			dialect.Refuse("encoding", dialect.CodeUnsupported,
				"this server does not write "+name+" so; ask for linear16 at 24000")
	}
	return a, name + "/" + strconv.Itoa(a.Rate), nil
}

// encoding returns the requested encoding. The default is linear16 on a socket and mp3 elsewhere, or linear16 if the
// server cannot write mp3.
func (q query) encoding() (name string, kind encoding, err error) {
	offered := onSockets
	if !q.isSocket {
		offered = append(slices.Clone(onSockets), "mp3", "opus", "flac")
	}
	name = q.Get("encoding")
	if name == "" {
		name = "linear16"
		mp3 := encodings["mp3"].audio
		mp3.Speed = 1
		if !q.isSocket && q.call.Encodes(mp3) {
			name = "mp3"
		}
	}
	if !slices.Contains(offered, name) {
		last := len(offered) - 1
		return "", kind, dialect.Refuse("encoding", speech.CodeBadFormat,
			"encoding must be "+strings.Join(offered[:last], ", ")+" or "+offered[last])
	}
	return name, encodings[name], nil
}

// bitRate reads the bit rate of what has one.
func (q query) bitRate(a *dialect.Audio) error {
	switch a.Container {
	case dialect.MP3:
		return q.number("bit_rate", speech.CodeBadFormat, &a.BitRate, mp3BitRates)
	case dialect.Ogg:
		if text := q.Get("bit_rate"); text != "" {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil || !(n >= minBitRate && n <= maxBitRate) {
				return dialect.Refuse("bit_rate", speech.CodeBadFormat,
					fmt.Sprintf("bit_rate must be in [%d, %d]", minBitRate, maxBitRate))
			}
			a.BitRate = int(n)
		}
	}
	return nil
}

// number reads one of the numbers that are offered.
func (q query) number(name string, code speech.Code, to *int, offered []int) error {
	text := q.Get(name)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseFloat(text, 64) // some clients have no integers
	i := slices.IndexFunc(offered, func(o int) bool { return float64(o) == n })
	if err != nil || i < 0 {
		return dialect.Refuse(name, code, name+" must be one of "+strings.Trim(fmt.Sprint(offered), "[]"))
	}
	*to = offered[i]
	return nil
}

func (q query) speed() (float64, error) {
	text := q.Get("speed")
	if text == "" {
		return 1, nil
	}
	speed, err := strconv.ParseFloat(text, 64)
	if err != nil || !(speed >= minSpeed && speed <= maxSpeed) {
		return 0, dialect.Refuse("speed", speech.CodeBadSpeed,
			fmt.Sprintf("speed must be in [%g, %g]", minSpeed, maxSpeed))
	}
	return speed, nil
}

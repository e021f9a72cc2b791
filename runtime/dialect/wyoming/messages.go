package wyoming

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/dialect/wyoming/internal/wire"
	"github.com/swar-tts/swar/runtime/speech"
)

// The events that are read and written.
const (
	typeDescribe   = "describe"
	typeInfo       = "info"
	typePing       = "ping"
	typePong       = "pong"
	typeSynthesize = "synthesize"
	typeStart      = "synthesize-start"
	typeChunk      = "synthesize-chunk"
	typeStop       = "synthesize-stop"
	typeStopped    = "synthesize-stopped"
	typeAudioStart = "audio-start"
	typeAudio      = "audio-chunk"
	typeAudioStop  = "audio-stop"
	typeError      = "error"
)

// sound is the data of events with audio.
type sound struct {
	Rate     int `json:"rate"`
	Width    int `json:"width"` // bytes of a sample
	Channels int `json:"channels"`
}

var ours = sound{speech.SampleRate, 2, 1}

// messageData is the data of ping, pong and error.
type messageData struct {
	Text string `json:"text"`
	Code string `json:"code,omitzero"`
}

// attribution is the source of a program or a voice. The protocol requires it.
type attribution struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

var swar = attribution{"Swar", "https://github.com/swar-tts/swar"}

// service is the program, or a voice of it.
type service struct {
	Name        string      `json:"name"`
	Attribution attribution `json:"attribution"`
	Installed   bool        `json:"installed"`
	Description string      `json:"description"`
	Version     string      `json:"version"`
}

type voiceInfo struct {
	service
	Languages []string `json:"languages"`
}

type program struct {
	service
	Voices  []voiceInfo `json:"voices"`
	Streams bool        `json:"supports_synthesize_streaming"`
}

// info is the data of the event info: one program that speaks, and none of another kind.
type info struct {
	TTS    []program  `json:"tts"`
	ASR    []struct{} `json:"asr"`
	Handle []struct{} `json:"handle"`
	Intent []struct{} `json:"intent"`
	Wake   []struct{} `json:"wake"`
	Mic    []struct{} `json:"mic"`
	Snd    []struct{} `json:"snd"`
}

func infoOf(m speech.Model, version string) info {
	p := program{service: service{"swar", swar, true, "Swar: Hinglish text to speech, " + m.ID, version},
		Voices: []voiceInfo{}, Streams: true}
	for _, v := range m.Voices {
		p.Voices = append(p.Voices, voiceInfo{service{v.Name, swar, true, v.Name, version}, languages(v)})
	}
	return info{TTS: []program{p}}
}

// languages returns the languages of a voice: "hi-IN+en-IN" → hi-IN, en-IN.
func languages(v speech.Voice) []string { return strings.Split(v.Language, "+") }

// request is what an event that begins a turn asks for.
type request struct {
	text, format   string
	name, language string // of the voice
}

var voiceNames = []string{"name", "language"}

func readRequest(e wire.Event) (r request, err error) {
	if err := e.Texts(map[string]*string{"text": &r.text, "text_format": &r.format}); err != nil {
		return r, err
	}
	voice, err := e.Member("voice")
	if err != nil || voice == nil || voice.Kind() == 'n' {
		return r, err
	}
	var values [2]jsontext.Value
	if err := wire.Members(voice, voiceNames, values[:]); err != nil {
		return r, wire.BadRequest("voice: must be an object")
	}
	if err := wire.Text("voice.name", values[0], &r.name); err != nil {
		return r, err
	}
	return r, wire.Text("voice.language", values[1], &r.language)
}

// isSSML reports whether the text is a document of SSML, and refuses other formats.
func (r request) isSSML() (bool, error) {
	switch r.format {
	case "", "text", "plain":
		return false, nil
	case "ssml":
		return true, nil
	}
	return false, wire.BadRequest("text_format must be text or ssml")
}

// voice returns the voice that r means: the one that is named, or the first one that speaks the language, or the
// default.
func (r request) voice(m speech.Model) (string, error) {
	if r.name == "" && r.language != "" {
		for _, v := range m.Voices {
			if slices.ContainsFunc(languages(v), func(l string) bool { return speaks(l, r.language) }) {
				return v.Name, nil
			}
		}
		return "", &Error{string(speech.CodeUnknownVoice),
			fmt.Sprintf("no voice speaks '%.64s'; see the voices of info", r.language)}
	}
	if r.name == "" {
		return m.DefaultVoice(), nil
	}
	voice, ok := dialect.Voice(dialect.Wyoming, m, r.name)
	if !ok {
		return "", speech.UnknownVoice(r.name)
	}
	return voice, nil
}

// speaks reports whether a language, such as hi-IN, is the requested one: hi-IN, hi_in or hi.
func speaks(language, asked string) bool {
	asked = strings.ReplaceAll(strings.TrimSpace(asked), "_", "-")
	tongue, _, _ := strings.Cut(language, "-")
	return strings.EqualFold(language, asked) || strings.EqualFold(tongue, asked)
}

package serve

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
)

// TestWSTellsWordsWhenAsked: their event stands before the end of their chunk, and a start says whether they come.
func TestWSTellsWordsWhenAsked(t *testing.T) {
	older := func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		u.WordTimes = false // it does not know that they can be asked for
		return speakFrames(u, sink, 1, 4)
	}
	exact := func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		return speakFrames(u, exactSink{sink}, 1, 4)
	}
	const told = `{"type":"words","request_id":"a","chunk":0,"estimated":true,` +
		`"words":[{"word":"hello","char_start":0,"char_end":5,"start_s":0.08,"end_s":0.123}]}`
	for name, tt := range map[string]struct {
		timestamps string
		speaker    *script
		start      any // timestamps of the start event
		words      string
	}{
		"not asked for":              {``, &script{}, nil, ""},
		"null":                       {`,"timestamps":null`, &script{}, nil, ""},
		"none":                       {`,"timestamps":"none"`, &script{}, nil, ""},
		"words":                      {`,"timestamps":"words"`, &script{}, "words", told},
		"words that the model tells": {`,"timestamps":"words"`, &script{SpeakFunc: exact}, "words", strings.Replace(told, "true", "false", 1)},
		"words of an older worker":   {`,"timestamps":"words"`, &script{SpeakFunc: older}, "none", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newWSRig(t, tt.speaker).connect()
			defer s.leave()
			s.send(`{"text":"hello","request_id":"a"` + tt.timestamps + `}`)
			var types []string
			words := ""
			for _, m := range s.until("end") {
				var event map[string]any
				if json.Unmarshal([]byte(m.text), &event) != nil {
					continue // audio
				}
				kind := event["type"].(string)
				if kind != "first_audio_ms" { // which comes when audio has been sent
					types = append(types, kind)
				}
				switch kind {
				case "start":
					if got := event["timestamps"]; got != tt.start {
						t.Errorf("the start says %v, want %v", got, tt.start)
					}
				case "words":
					words = m.text
				}
			}
			want := []string{"start", "chunk", "words", "chunk_end", "end"}
			if tt.words == "" {
				want = slices.Delete(want, 2, 3)
			}
			if words != tt.words || !slices.Equal(types, want) {
				t.Errorf("%v with %s, want %v with %s", types, words, want, tt.words)
			}
		})
	}
}

// TestWSSaysThatNothingIsKnownOfWords: a chunk that was cut, or is silent, has an event all the same.
func TestWSSaysThatNothingIsKnownOfWords(t *testing.T) {
	speaker := &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		silent := u
		silent.WordTimes = false
		return speakFrames(silent, startSink{sink}, 1)
	}}
	s := newWSRig(t, speaker).connect()
	defer s.leave()
	s.send(`{"text":"hello","request_id":"a","timestamps":"words"}`)
	want := `{"type":"words","request_id":"a","chunk":0,"estimated":true,"words":[]}`
	if m := s.last("words"); m.text != want {
		t.Errorf("%s, want %s", m.text, want)
	}
	s.last("end")
}

// exactSink says that words are exact.
type exactSink struct{ speech.Sink }

func (s exactSink) ChunkEnd(v speech.ChunkEnd) error {
	v.ExactWords = true
	return s.Sink.ChunkEnd(v)
}

// startSink announces words that do not come.
type startSink struct{ speech.Sink }

func (s startSink) Start(v speech.Start) error {
	v.WordTimes = true
	return s.Sink.Start(v)
}

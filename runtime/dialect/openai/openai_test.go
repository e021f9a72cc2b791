package openai

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// call is a request with body to a server that writes everything but what lacks says.
func call(body string, lacks ...dialect.Container) dialect.Call {
	return dialect.Call{
		Body: []byte(body), Query: url.Values{}, Var: func(string) string { return "" },
		Header: func(string) string { return "" },
		Allows: func(string) bool { return true },
		Model:  speech.Model{Voices: []speech.Voice{{Name: "anjura"}, {Name: "raj"}}},
		Encodes: func(a dialect.Audio) bool {
			for _, c := range lacks {
				if a.Container == c {
					return false
				}
			}
			return true
		},
	}
}

func TestInputIsCountedInLetters(t *testing.T) {
	for letters, want := range map[int]error{1: nil, 4095: nil, 4096: nil, 4097: speech.ErrTextTooLong} {
		for _, letter := range []string{"a", "क", "😀", `\u0915`, `\ud83d\ude00`} {
			o, err := readSpeech(call(`{"voice":"nova","input":" ` + strings.Repeat(letter, letters) + `\n"}`))
			if !errors.Is(err, want) && want != err {
				t.Errorf("%d of %s: %v, want %v", letters, letter, err, want)
			}
			if want == nil && utf8.RuneCountInString(o.Utterance.Text) != letters {
				t.Errorf("%d of %s became %d", letters, letter, utf8.RuneCountInString(o.Utterance.Text))
			}
		}
	}
}

// TestWithoutAnEncoder: the format that clients have by default becomes one that there is, and any other is refused.
func TestWithoutAnEncoder(t *testing.T) {
	for _, tt := range []struct {
		fields string
		lacks  []dialect.Container
		word   string
		code   speech.Code
	}{
		{``, nil, "mp3", ""},
		{``, []dialect.Container{dialect.MP3}, "wav", ""},
		{`,"response_format":"mp3"`, []dialect.Container{dialect.MP3}, "", dialect.CodeUnsupported},
		{`,"response_format":"flac"`, []dialect.Container{dialect.FLAC}, "", dialect.CodeUnsupported},
		{`,"response_format":"opus"`, []dialect.Container{dialect.Ogg}, "opus", ""},
		{`,"response_format":"wav"`, []dialect.Container{dialect.WAV}, "wav", ""},
		{`,"response_format":"wav","speed":1.5`, []dialect.Container{dialect.WAV}, "", speech.CodeBadSpeed},
	} {
		o, err := readSpeech(call(`{"voice":"nova","input":"Hi"`+tt.fields+`}`, tt.lacks...))
		refusal, _ := errors.AsType[*speech.Refusal](err)
		if o.Word != tt.word || (refusal == nil) != (tt.code == "") || refusal != nil && refusal.Code != tt.code {
			t.Errorf("%s without %v: %q, %v", tt.fields, tt.lacks, o.Word, err)
		}
	}
}

// FuzzSpeech: whatever is sent is refused, or is an order that can be spoken.
func FuzzSpeech(f *testing.F) {
	for _, body := range []string{
		`{"model":"tts-1","voice":{"id":"raj"},"input":"Namaste","response_format":"mp3","speed":1.5,"stream_format":"sse","instructions":"x"}`,
		`{"input":"\ud83d\ude00","voice":"nova","sample_rate":2.4e4,"speed":null}`, `{"voice":{"id":{"id":1}}}`, `[`, "\xef\xbb\xbf{}", `{"input":"\ud800"}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := readSpeech(call(string(body)))
		for name, value := range o.Headers {
			for i := range len(value) {
				if value[i] < ' ' || value[i] > '~' || len(value) > 256 {
					t.Fatalf("the header %s is %q", name, value)
				}
			}
		}
		if err != nil {
			if refusal, ok := errors.AsType[*speech.Refusal](err); !ok || refusal.Text == "" {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		letters := utf8.RuneCountInString(o.Utterance.Text)
		if letters == 0 || letters > maxInput || !utf8.ValidString(o.Utterance.Text) || o.Utterance.Voice == "" ||
			o.Word == "" {
			t.Fatalf("the order is %+v", o)
		}
		if a := o.Audio; a.ContentType == "" || a.Speed < minSpeed || a.Speed > maxSpeed ||
			a.Rate != speech.SampleRate {
			t.Fatalf("the audio is %+v", a)
		}
	})
}

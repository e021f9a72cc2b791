package vapi

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// call is a request with body for a voice, to a server that writes every format, or the native ones alone.
func call(body, voice string, encodes bool) dialect.Call {
	return dialect.Call{
		Body: []byte(body), Query: url.Values{"voice": {voice}}, Var: func(string) string { return "" },
		Header: func(string) string { return "" }, Allows: func(string) bool { return true },
		Model:   speech.Model{Voices: []speech.Voice{{Name: "anjura"}, {Name: "raj"}}},
		Encodes: func(dialect.Audio) bool { return encodes },
	}
}

// TestWhatVapiSends has the shape of its documentation, with what it tells of the call.
func TestWhatVapiSends(t *testing.T) {
	const body = `{"message":{"type":"voice-request","text":"Namaste! Aapka OTP 482913 hai.","sampleRate":16000,"timestamp":1764312000000,` +
		`"call":{"id":"c"},"assistant":{"name":"a"},"customer":{"number":"+91"}}}`
	o, err := readRequest(call(body, "", true))
	want := dialect.Audio{Container: dialect.Raw, Encoding: dialect.S16, Rate: 16000, Speed: 1,
		ContentType: "application/octet-stream"}
	if err != nil || o.Audio != want || o.Word != "pcm/16000" {
		t.Fatalf("%+v, %v", o, err)
	}
	if u := o.Utterance; u.Text != "Namaste! Aapka OTP 482913 hai." || u.Voice != "anjura" ||
		u.Temperature != speech.DefaultTemperature {
		t.Errorf("%+v", u)
	}
	if got := o.Headers["X-Ignored"]; got != "timestamp, call, assistant, customer" {
		t.Errorf("ignored are %q", got)
	}
}

func TestRequests(t *testing.T) {
	text := func(n int) string {
		return `{"message":{"type":"voice-request","sampleRate":8000,"text":" ` + strings.Repeat("क", n) + `\n"}}`
	}
	for name, tt := range map[string]struct {
		body, voice string
		spoken      string // by this voice
		rate        int
		code        speech.Code
	}{
		"8000":                 {`{"message":{"type":"voice-request","text":"Hi","sampleRate":8000}}`, "RAJ", "raj", 8000, ""},
		"22050":                {`{"message":{"type":"voice-request","text":"Hi","sampleRate":22050.0}}`, "", "anjura", 22050, ""},
		"24000":                {`{"message":{"type":"voice-request","text":"Hi","sampleRate":2.4e4}}`, "anjura", "anjura", 24000, ""},
		"no rate":              {`{"message":{"type":"voice-request","text":"Hi","sampleRate":null}}`, "", "anjura", 24000, ""},
		"3999 letters":         {text(3999), "", "anjura", 8000, ""},
		"4000 letters":         {text(4000), "", "anjura", 8000, ""},
		"4001 letters":         {text(4001), "", "", 0, speech.CodeTextTooLong},
		"no text":              {`{"message":{"type":"voice-request","sampleRate":8000}}`, "", "", 0, speech.CodeTextEmpty},
		"white space":          {text(0), "", "", 0, speech.CodeTextEmpty},
		"a text of numbers":    {`{"message":{"type":"voice-request","text":7}}`, "", "", 0, speech.CodeBadText},
		"half a surrogate":     {`{"message":{"type":"voice-request","text":"\ud800"}}`, "", "", 0, speech.CodeBadText},
		"44100":                {`{"message":{"type":"voice-request","text":"Hi","sampleRate":44100}}`, "", "", 0, speech.CodeBadSampleRate},
		"a rate in words":      {`{"message":{"type":"voice-request","text":"Hi","sampleRate":"8000"}}`, "", "", 0, speech.CodeBadSampleRate},
		"another message":      {`{"message":{"type":"status-update"}}`, "", "", 0, speech.CodeBadRequest},
		"no type":              {`{"message":{"text":"Hi","sampleRate":8000}}`, "", "", 0, speech.CodeBadRequest},
		"a type of numbers":    {`{"message":{"type":1,"text":"Hi"}}`, "", "", 0, speech.CodeBadRequest},
		"no message":           {`{"text":"Hi"}`, "", "", 0, speech.CodeBadRequest},
		"a message of letters": {`{"message":"Hi"}`, "", "", 0, speech.CodeBadRequest},
		"an unknown voice":     {`{"message":{"type":"voice-request","text":"Hi"}}`, "kaun", "", 0, speech.CodeUnknownVoice},
		"half of JSON":         {`{"message":{"type":"voice-request"`, "", "", 0, speech.CodeBadRequest},
		"nothing":              {``, "", "", 0, speech.CodeBadRequest},
		"bad UTF-8 elsewhere":  {"{\"message\":{\"type\":\"voice-request\",\"text\":\"Hi\"},\"x\":\"\xff\"}", "", "", 0, speech.CodeBadRequest},
	} {
		o, err := readRequest(call(tt.body, tt.voice, true))
		refusal, _ := errors.AsType[*speech.Refusal](err)
		if (refusal == nil) != (tt.code == "") || refusal != nil && refusal.Code != tt.code {
			t.Errorf("%s: %v, want %s", name, err, tt.code)
		}
		if err == nil && (o.Utterance.Voice != tt.spoken || o.Audio.Rate != tt.rate) {
			t.Errorf("%s: %+v, want the voice %s and %d Hz", name, o, tt.spoken, tt.rate)
		}
	}
}

func TestWithoutEncoders(t *testing.T) {
	for rate, refused := range map[string]bool{"24000": false, "8000": true} {
		_, err := readRequest(call(`{"message":{"type":"voice-request","text":"Hi","sampleRate":`+rate+`}}`, "", false))
		if refusal, _ := errors.AsType[*speech.Refusal](err); (refusal != nil) != refused {
			t.Errorf("%s: %v", rate, err)
		}
	}
}

// FuzzRequest: whatever is sent is refused, or is an order that can be spoken.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{
		`{"message":{"type":"voice-request","text":"Namaste","sampleRate":24000,"call":{}}}`, `{"message":[]}`, `{`,
		`{"message":{"type":"voice-request","text":"\ud83d\ude00","sampleRate":-0}}`, "{\"message\":{\"\\u0000\":\"\xff\"}}",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := readRequest(call(string(body), "", true))
		if err != nil {
			if refusal, ok := errors.AsType[*speech.Refusal](err); !ok || refusal.Text == "" {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		if o.Utterance.Text == "" || o.Utterance.Voice == "" || o.Audio.Rate < 8000 ||
			len(o.Headers["X-Ignored"]) > 256 {
			t.Fatalf("the order is %+v", o)
		}
	})
}

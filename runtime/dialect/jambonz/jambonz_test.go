package jambonz

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/speech"
)

// call is a request with body.
func call(body string) dialect.Call {
	return dialect.Call{
		Body: []byte(body), Query: url.Values{}, Var: func(string) string { return "" },
		Header: func(string) string { return "" }, Allows: func(string) bool { return true },
		Model:   speech.Model{Voices: []speech.Voice{{Name: "anjura"}, {Name: "raj"}}},
		Encodes: func(dialect.Audio) bool { return true },
	}
}

// TestWhatJambonzPosts has what @jambonz/speech-utils sends.
func TestWhatJambonzPosts(t *testing.T) {
	o, err := readRequest(call(`{"language":"hi-IN","voice":"raj","type":"text","text":"Namaste! Aapka OTP 482913 hai. कल मिलेंगे।"}`))
	want := dialect.Audio{Container: dialect.Raw, Encoding: dialect.S16, Rate: 24000, Speed: 1,
		ContentType: "audio/l16;rate=24000"}
	if err != nil || o.Audio != want || o.Word != "l16/24000" || o.Headers["X-Ignored"] != "language" {
		t.Fatalf("%+v, %v", o, err)
	}
	if _, isNative := o.Audio.Native(); !isNative {
		t.Error("it is encoded although it is what is spoken")
	}
	if u := o.Utterance; u.Voice != "raj" || u.Text != "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।" ||
		u.Temperature != speech.DefaultTemperature {
		t.Errorf("%+v", u)
	}
}

func TestRequests(t *testing.T) {
	for name, tt := range map[string]struct {
		body, voice string
		code        speech.Code
	}{
		"no voice":             {`{"text":"Hi"}`, "anjura", ""},
		"a null":               {`{"voice":null,"type":null,"text":"Hi"}`, "anjura", ""},
		"in capitals":          {`{"voice":"Raj","text":"Hi"}`, "raj", ""},
		"an unknown voice":     {`{"voice":"kaun","text":"Hi"}`, "", speech.CodeUnknownVoice},
		"a voice of numbers":   {`{"voice":1,"text":"Hi"}`, "", speech.CodeBadRequest},
		"ssml":                 {`{"type":"ssml","text":"<speak>Hi</speak>"}`, "anjura", ""},
		"another type":         {`{"type":"html","text":"Hi"}`, "", speech.CodeBadRequest},
		"no text":              {`{"voice":"raj"}`, "", speech.CodeTextEmpty},
		"a text of numbers":    {`{"text":1}`, "", speech.CodeBadText},
		"a NUL":                {`{"text":"a\u0000"}`, "", speech.CodeBadText},
		"3999 letters":         {`{"text":" ` + strings.Repeat("क", 3999) + `"}`, "anjura", ""},
		"4000 letters":         {`{"text":" ` + strings.Repeat("क", 4000) + `"}`, "anjura", ""},
		"4001 letters":         {`{"text":" ` + strings.Repeat("क", 4001) + `"}`, "", speech.CodeTextTooLong},
		"half of JSON":         {`{"text":"Hi`, "", speech.CodeBadRequest},
		"a list":               {`[]`, "", speech.CodeBadRequest},
		"bad UTF-8 in a name":  {"{\"text\":\"Hi\",\"\xff\":1}", "", speech.CodeBadRequest},
		"bad UTF-8 in a voice": {"{\"text\":\"Hi\",\"voice\":\"\xff\"}", "", speech.CodeBadRequest},
	} {
		o, err := readRequest(call(tt.body))
		refusal, _ := errors.AsType[*speech.Refusal](err)
		if (refusal == nil) != (tt.code == "") || refusal != nil && refusal.Code != tt.code {
			t.Errorf("%s: %v, want %s", name, err, tt.code)
		}
		if err == nil && o.Utterance.SSML != (name == "ssml") {
			t.Errorf("%s is taken for SSML: %v", name, o.Utterance.SSML)
		}
		if err == nil && o.Utterance.Voice != tt.voice {
			t.Errorf("%s: the voice is %s, want %s", name, o.Utterance.Voice, tt.voice)
		}
	}
}

// FuzzRequest: whatever is sent is refused, or is an order that can be spoken.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{
		`{"language":"hi-IN","voice":"raj","type":"text","text":"Namaste"}`, `{"type":"ssml","text":"<speak/>"}`, `[`, `{"text":"\ud800"}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := readRequest(call(string(body)))
		if err != nil {
			if refusal, ok := errors.AsType[*speech.Refusal](err); !ok || refusal.Text == "" {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		if o.Utterance.Text == "" || o.Utterance.Voice == "" || len(o.Headers["X-Ignored"]) > 256 {
			t.Fatalf("the order is %+v", o)
		}
	})
}

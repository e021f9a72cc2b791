package serve

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// toSarvam posts body as a client of Sarvam does.
func (g *rig) toSarvam(path, body string, headers ...string) answered {
	g.t.Helper()
	return g.do(http.MethodPost, path, body, append([]string{"X-Api-Key", "", "Api-Subscription-Key", testKey},
		headers...)...)
}

// audios returns what an answer of Sarvam holds.
func (a answered) audios(t *testing.T) []byte {
	t.Helper()
	var got struct {
		RequestID string `json:"request_id"`
		Audios    []string
	}
	err := json.Unmarshal(a.body, &got)
	if err != nil || a.StatusCode != http.StatusOK || len(got.Audios) != 1 ||
		got.RequestID != a.Header.Get("X-Request-Id") {
		t.Fatalf("%s %.200s (%v)", a.Status, a.body, err)
	}
	audio, err := base64.StdEncoding.DecodeString(got.Audios[0])
	if err != nil {
		t.Fatal(err)
	}
	return audio
}

// TestSarvamIsTheNativeVoice: a whole answer in base64 is the file that the native API has, and a stream its bytes.
func TestSarvamIsTheNativeVoice(t *testing.T) {
	g := newRig(t, newWarmLocal(t, 1, synthtest.Config{}), withDialects)
	got := g.toSarvam("/text-to-speech", `{"text":"Aapka OTP 407 hai.","speaker":"shubh","language_code":"hi-IN","temperature":0.3}`)
	audio := got.audios(t)
	want := g.speak(`{"text":"Aapka OTP 407 hai.","voice":"raj","format":"wav","stream":false,"seed":` +
		got.Header.Get("X-Seed") + `}`)
	if !bytes.Equal(audio, want.body) || len(audio) < 1000 {
		t.Errorf("%d bytes, natively %d", len(audio), len(want.body))
	}
	if length := binary.LittleEndian.Uint32(audio[4:]); int(length) != len(audio)-8 {
		t.Errorf("the length is %d, of %d bytes", length, len(audio))
	}
	wantHeaders(t, got.Header, map[string]string{"Content-Type": "application/json", "X-Ignored": "language_code",
		"X-Voice": "raj"})
	got = g.toSarvam("/text-to-speech/stream", `{"text":"Aapka OTP 407 hai.","output_audio_codec":"linear16"}`)
	want = g.speak(`{"text":"Aapka OTP 407 hai.","voice":"anjura","format":"pcm16","seed":` +
		got.Header.Get("X-Seed") + `}`)
	if !bytes.Equal(got.body, want.body) || got.Header.Get("Content-Type") != "audio/pcm" {
		t.Errorf("a stream has %d bytes of %s, natively %d", len(got.body), got.Header.Get("Content-Type"),
			len(want.body))
	}
}

func TestSarvamKnowsTheLength(t *testing.T) {
	g := newRig(t, newWarmLocal(t, 1, synthtest.Config{}), withDialects, func(c *Config) { c.Encoders = wavEncoders{} })
	audio := g.toSarvam("/text-to-speech", `{"text":"Aapka OTP 407 hai.","speech_sample_rate":"8000"}`).audios(t)
	if data := binary.LittleEndian.Uint32(audio[40:]); int(data) != len(audio)-44 || len(audio) < 1000 {
		t.Errorf("the length is %d, of %d bytes", data, len(audio))
	}
}

func TestSarvamRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		body, key string
		fails     error
		status    int
		code      string
	}{
		"no key":          {`{}`, "", nil, 403, "invalid_api_key_error"},
		"a wrong key":     {`{}`, "wrong", nil, 403, "invalid_api_key_error"},
		"a foreign voice": {`{"text":"Hi","speaker":"anjura"}`, "raj-key", nil, 403, "forbidden_error"},
		"a voice nobody":  {`{"text":"Hi","speaker":"kaun"}`, testKey, nil, 400, "invalid_request_error"},
		"no text":         {`{}`, testKey, nil, 400, "invalid_request_error"},
		"a dictionary":    {`{"text":"Hi","dict_id":"lex_x"}`, testKey, nil, 400, "invalid_request_error"},
		"nothing to say":  {`{"text":"Hi"}`, testKey, speech.ErrNothingToSay, 400, "invalid_request_error"},
		"busy":            {`{"text":"Hi"}`, testKey, speech.ErrBusy, 429, "rate_limit_exceeded_error"},
		"an engine error": {`{"text":"Hi"}`, testKey, &speech.EngineError{Text: "engine error"}, 500, "internal_server_error"},
		"a timeout":       {`{"text":"Hi"}`, testKey, speech.ErrTimeout, 504, "timeout"},
		"no portal":       {`{"text":"Hi"}`, testKey, access.ErrUnavailable, 503, "portal_unavailable"},
		"half of JSON":    {`{"text":"Hi`, testKey, nil, 400, "invalid_request_error"},
		"a late failure":  {`{"text":"Hi"}`, testKey, errLate, 500, "internal_server_error"},
	} {
		g := newRig(t, failing(tt.fails), withDialects)
		got := g.toSarvam("/text-to-speech", tt.body, "Api-Subscription-Key", tt.key)
		var e struct{ Error map[string]string }
		err := json.Unmarshal(got.body, &e)
		if err != nil || got.StatusCode != tt.status || len(e.Error) != 3 || e.Error["code"] != tt.code ||
			e.Error["message"] == "" || e.Error["request_id"] != got.Header.Get("X-Request-Id") {
			t.Errorf("%s: %s %s, want %d %s", name, got.Status, got.body, tt.status, tt.code)
		}
		if got, want := got.Header.Get("Retry-After") == "1", tt.status == 429 || tt.status == 503; got != want {
			t.Errorf("%s: Retry-After is there: %v", name, got)
		}
	}
}

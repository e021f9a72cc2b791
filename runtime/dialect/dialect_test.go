package dialect

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
)

func TestKey(t *testing.T) {
	type places struct {
		headers, query map[string]string
		protocols      []string
	}
	// In the order in which they decide.
	all := []places{
		{headers: map[string]string{"X-Api-Key": "k"}},
		{headers: map[string]string{"Authorization": "bEaReR  k "}},
		{headers: map[string]string{"Xi-Api-Key": "k"}},
		{query: map[string]string{"xi_api_key": "k"}},
		{query: map[string]string{"xi-api-key": "k"}},
		{headers: map[string]string{"Api-Subscription-Key": "k"}},
		{protocols: []string{"a", "api-subscription-key.k"}},
		{query: map[string]string{"api_key": "k"}},
		{headers: map[string]string{"X-Vapi-Secret": "k"}},
	}
	key := func(p places) (string, string) {
		return Key(Places{
			Header:    func(name string) string { return p.headers[name] },
			Query:     func(name string) string { return p.query[name] },
			Protocols: p.protocols,
		})
	}
	for i, p := range all {
		if got, _ := key(p); got != "k" {
			t.Errorf("%+v: %q", p, got)
		}
		for _, later := range all[i+1:] {
			both := places{map[string]string{}, map[string]string{}, slices.Clone(p.protocols)}
			for name, value := range p.headers {
				both.headers[name] = value
			}
			for name, value := range p.query {
				both.query[name] = value
			}
			for name := range later.headers {
				both.headers[name] = "later"
			}
			for name := range later.query {
				both.query[name] = "later"
			}
			if got, _ := key(both); got != "k" {
				t.Errorf("%+v before %+v: %q", p, later, got)
			}
		}
	}
	for name, tt := range map[string]struct {
		p             places
		key, selected string
	}{
		"a token":            {places{headers: map[string]string{"Authorization": "Token k"}}, "k", ""},
		"another scheme":     {places{headers: map[string]string{"Authorization": "Basic k"}}, "", ""},
		"no token":           {places{headers: map[string]string{"Authorization": "Bearer "}}, "", ""},
		"of Sarvam":          {places{protocols: []string{"api-subscription-key.k"}}, "k", "api-subscription-key.k"},
		"of Sarvam, twice":   {places{headers: map[string]string{"Api-Subscription-Key": "k"}, protocols: []string{"api-subscription-key.k"}}, "k", "api-subscription-key.k"},
		"of Sarvam, empty":   {places{protocols: []string{"api-subscription-key."}}, "", ""},
		"of Deepgram":        {places{protocols: []string{"token", "k"}}, "k", "token"},
		"of Deepgram, newer": {places{protocols: []string{"bearer", "k"}}, "k", "bearer"},
		"of Deepgram, alone": {places{protocols: []string{"token"}}, "", ""},
		"nothing":            {},
	} {
		if key, selected := key(tt.p); key != tt.key || selected != tt.selected {
			t.Errorf("%s: %q with the protocol %q, want %q with %q", name, key, selected, tt.key, tt.selected)
		}
	}
}

func TestVoice(t *testing.T) {
	model := func(names ...string) (m speech.Model) {
		for _, name := range names {
			m.Voices = append(m.Voices, speech.Voice{Name: name})
		}
		return m
	}
	ours := model("anjura", "raj", "Onyx2")
	for _, tt := range []struct {
		dialect Name
		model   speech.Model
		asked   string
		want    string // "" if unknown
	}{
		{OpenAI, ours, "nova", "anjura"}, {OpenAI, ours, " ONYX ", "raj"}, {OpenAI, ours, "RAJ", "raj"}, {OpenAI, ours, "onyx2", "Onyx2"},
		{OpenAI, ours, "kaun", ""}, {OpenAI, ours, "", ""}, {OpenAI, ours, "anushka", ""},
		{OpenAI, model("a", "b", "c"), "nova", "a"}, {OpenAI, model("a", "b", "c"), "ash", "b"}, {OpenAI, model("a"), "ash", "a"},
		{OpenAI, model("nova", "raj"), "nova", "nova"}, {OpenAI, model("a", "raj"), "verse", "raj"},
		{OpenAI, model(), "ash", "raj"}, {OpenAI, model(), "kaun", "kaun"}, {OpenAI, model(), "", ""},
		{Deepgram, ours, "aura-asteria-en", "anjura"}, {Deepgram, ours, "aura-2-zeus-en", "raj"}, {Deepgram, ours, "Aura-2-Thalia-hi", "anjura"},
		{Deepgram, ours, "aura-2-thalia", ""}, {Deepgram, ours, "aura--en", ""}, {Deepgram, ours, "nova-3", ""}, {Deepgram, ours, "raj", "raj"},
		{ElevenLabs, ours, "hpp4J3VqNfWAUOO0d1Us", "anjura"}, {ElevenLabs, ours, "bIHbv24MWmeRgasZH58o", "raj"},
		{ElevenLabs, ours, "aaaaaaaaaaaaaaaaaaaa", ""},
		{Sarvam, ours, "Anushka", "anjura"}, {Sarvam, ours, "shubh", "raj"}, {Sarvam, ours, "nova", ""},
		{Cartesia, ours, "A0E99841-438c-4a64-b679-ae501e7d6091", "anjura"}, {Cartesia, ours, "a0e99841-438c-4a64-b679-ae501e7d609", ""},
		{Cartesia, ours, "a0e99841+438c-4a64-b679-ae501e7d6091", ""}, {Cartesia, ours, "g0e99841-438c-4a64-b679-ae501e7d6091", ""},
		{Cartesia, ours, "raj", "raj"},
	} {
		got, ok := Voice(tt.dialect, tt.model, tt.asked)
		if ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s %q of %v: %q, %v; want %q", tt.dialect, tt.asked, tt.model.Voices, got, ok, tt.want)
		}
	}
	names, voiceOf := Aliases(OpenAI, ours)
	if len(names) != 13 || !slices.IsSorted(names) || voiceOf("onyx") != "raj" || voiceOf("nova") != "anjura" {
		t.Errorf("OpenAI has the names %v", names)
	}
	for dialect, a := range voices {
		for _, name := range slices.Concat(a.female, a.male) {
			if name != strings.ToLower(name) || slices.Contains(a.female, name) && slices.Contains(a.male, name) {
				t.Errorf("%s: the name %s is in the table in capitals, or twice", dialect, name)
			}
		}
	}
}

// TestAnswer has the five shapes, and the statuses that differ from the native one.
func TestAnswer(t *testing.T) {
	for _, tt := range []struct {
		dialect Name
		code    string
		status  int
		field   string
		want    int
		body    string
	}{
		{OpenAI, "unknown_voice", 400, "", 400, `{"error":{"code":"unknown_voice","message":"text","param":"voice","type":"invalid_request_error"}}`},
		{OpenAI, "bad_request", 400, "model", 400, `{"error":{"code":"bad_request","message":"text","param":"model","type":"invalid_request_error"}}`},
		{OpenAI, "text_too_long", 413, "", 400, `{"error":{"code":"string_too_long","message":"text","param":"input","type":"invalid_request_error"}}`},
		{OpenAI, "busy", 503, "", 503, `{"error":{"code":"busy","message":"text","param":null,"type":"server_error"}}`},
		{OpenAI, "something_new", 418, "", 418, `{"error":{"code":"something_new","message":"text","param":null,"type":"invalid_request_error"}}`},
		{Deepgram, "text_too_long", 413, "", 413, `{"err_code":"PAYLOAD_TOO_LARGE","err_msg":"text","request_id":"req_1"}`},
		{Deepgram, "busy", 503, "", 429, `{"err_code":"TOO_MANY_REQUESTS","err_msg":"text","request_id":"req_1"}`},
		{Deepgram, "portal_unavailable", 503, "", 503, `{"err_code":"portal_unavailable","err_msg":"text","request_id":"req_1"}`},
		{ElevenLabs, "unknown_voice", 400, "", 404, `{"detail":{"message":"text","status":"voice_not_found"}}`},
		{ElevenLabs, "missing_key", 401, "", 401, `{"detail":{"message":"text","status":"needs_authorization"}}`},
		{ElevenLabs, "too_many_chunks", 413, "", 400, `{"detail":{"message":"text","status":"max_character_limit_exceeded"}}`},
		{Sarvam, "invalid_key", 401, "", 403, `{"error":{"code":"invalid_api_key_error","message":"text","request_id":"req_1"}}`},
		{Sarvam, "warming_up", 503, "", 429, `{"error":{"code":"rate_limit_exceeded_error","message":"text","request_id":"req_1"}}`},
		{Cartesia, "unknown_voice", 400, "", 400, `{"error_code":"voice_not_found","message":"text","request_id":"req_1","title":"Bad request"}`},
		{Cartesia, "timeout", 504, "", 504, `{"error_code":"timeout","message":"text","request_id":"req_1","title":"Timeout"}`},
		{Vapi, "unknown_voice", 400, "", 400, `{"error":"text"}`},
	} {
		status, body := tt.dialect.FaultBody(Fault{Code: tt.code, Text: "text", Status: tt.status, Field: tt.field,
			RequestID: "req_1"})
		if status != tt.want || string(body) != tt.body {
			t.Errorf("%s %s: %d %s, want %d %s", tt.dialect, tt.code, status, body, tt.want, tt.body)
		}
	}
	for code := range faults { // an engine's text may hold anything
		for _, dialect := range []Name{OpenAI, Deepgram, ElevenLabs, Sarvam, Cartesia, Bridge} {
			status, body := dialect.FaultBody(Fault{Code: code, Text: "\xff\"\n", Status: 500})
			if !json.Valid(body) || status < 400 || status > 599 {
				t.Errorf("%s %s: %d %s", dialect, code, status, body)
			}
		}
	}
}

func TestNativeAudio(t *testing.T) {
	for _, tt := range []struct {
		a    Audio
		want speech.Format
	}{
		{Audio{Container: Raw, Encoding: S16, Rate: 24000, Speed: 1}, speech.PCM16},
		{Audio{Container: WAV, Encoding: S16, Rate: 24000, Speed: 1}, speech.WAV},
		{Audio{Container: Ogg, BitRate: 48000, Rate: 24000, Speed: 1}, speech.Opus},
		{Audio{Container: Ogg, BitRate: 64000, Rate: 24000, Speed: 1}, ""},
		{Audio{Container: WAV, Encoding: MuLaw, Rate: 24000, Speed: 1}, ""},
		{Audio{Container: Raw, Encoding: S16, Rate: 8000, Speed: 1}, ""},
		{Audio{Container: Raw, Encoding: S16, Rate: 24000, Speed: 1.01}, ""},
		{Audio{Container: MP3, Rate: 24000, Speed: 1}, ""},
	} {
		if got, ok := tt.a.Native(); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%+v: %q, %v; want %q", tt.a, got, ok, tt.want)
		}
	}
}

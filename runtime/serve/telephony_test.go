package serve

import (
	"net/http"
	"strings"
	"testing"
)

// TestWhatPlatformsOfCallsPost replays requests of Vapi, and of @jambonz/speech-utils as it was recorded in November
// 2026.
func TestWhatPlatformsOfCallsPost(t *testing.T) {
	const (
		jambonz = "Authorization: Bearer " + testKey +
			"|Content-Type: application/json|Accept-Encoding: br, gzip, deflate"
		wrong = "Authorization: Bearer wrong|Content-Type: application/json"
		vapi  = "X-Vapi-Secret: " + testKey + "|Content-Type: application/json"
		said  = `{"message":{"type":"voice-request","text":"Aapka OTP 482913 hai.","sampleRate":`
	)
	late := string([]byte{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}) // the first three samples of both blocks
	g := newRig(t, &script{}, withDialects)
	for name, tt := range map[string]struct {
		path, headers, body string
		status              int
		contentType, voice  string
		want                string
	}{
		"jambonz": {
			"/v1/jambonz", jambonz, `{"language":"hi-IN","voice":"raj","type":"text","text":"Namaste! Aapka OTP 482913 hai. कल मिलेंगे।"}`,
			200, "audio/l16;rate=24000", "raj", string(frames(0, 5)),
		},
		"jambonz, a wrong key":      {"/v1/jambonz", wrong, `{"language":"hi-IN","voice":"raj","type":"text","text":"Hi"}`, 401, "application/json", "", `{"error":"invalid api key"}`},
		"jambonz, an unknown voice": {"/v1/jambonz", jambonz, `{"voice":"kaun","text":"Hi"}`, 400, "application/json", "", `{"error":"unknown voice 'kaun'; see /v1/voices"}`},
		"Vapi at 24 kHz":            {"/v1/vapi", vapi, said + `24000,"timestamp":1,"call":{}}}`, 200, "application/octet-stream", "anjura", string(frames(0, 5))},
		"Vapi at 8 kHz":             {"/v1/vapi?voice=raj", vapi, said + `8000}}`, 200, "application/octet-stream", "raj", "raw/1 " + late},
		"Vapi, no key":              {"/v1/vapi", "", said + `8000}}`, 401, "application/json", "", `{"error":"missing x-api-key"}`},
		"Vapi, another message":     {"/v1/vapi", vapi, `{"message":{"type":"hang"}}`, 400, "application/json", "", `{"error":"message.type must be voice-request"}`},
	} {
		t.Run(name, func(t *testing.T) {
			headers := []string{"X-Api-Key", ""}
			for header := range strings.SplitSeq(tt.headers, "|") {
				name, value, _ := strings.Cut(header, ": ")
				headers = append(headers, name, value)
			}
			got := g.do(http.MethodPost, tt.path, tt.body, headers...)
			if got.StatusCode != tt.status || got.cut != nil || string(got.body) != tt.want {
				t.Errorf("%s: %.100q (%v), want %d and %.100q", got.Status, got.body, got.cut, tt.status, tt.want)
			}
			if c := got.Header.Get("Content-Type"); c != tt.contentType || got.Header.Get("X-Voice") != tt.voice {
				t.Errorf("%s by %q, want %s by %q", c, got.Header.Get("X-Voice"), tt.contentType, tt.voice)
			}
		})
	}
	for endpoint, want := range map[string]float64{"vapi": 2, "jambonz": 1} {
		if got := g.metric(`tts_requests_total{endpoint="` + endpoint + `",status="200"}`); got != want {
			t.Errorf("%s was counted %v times, want %v", endpoint, got, want)
		}
	}
}

// telephonyBodies are as [bodiesOf] says.
var telephonyBodies = map[string][]string{
	"/v1/vapi": {
		`{"message":{"type":"voice-request","text":"Hi","sampleRate":8000}}`,
		`{"message":{"type":"voice-request","text":"Hi","sampleRate":24000,"call":{}}}`,
		`{"message":{"type":"voice-request","text":"Hi","sampleRate":1}}`,
		`{"message":{"type":"voice-request","text":"` + strings.Repeat("a", 4001) + `"}}`,
	},
	"/v1/jambonz": {
		`{"text":"Hi","type":"text"}`, `{"text":"Hi","voice":"anjura","language":"hi-IN"}`, `{"text":"<speak><audio/></speak>","type":"ssml"}`,
		`{"text":"` + strings.Repeat("a", 4001) + `"}`,
	},
}

package serve

import (
	"net/http"
	"testing"
)

// TestPathsOfWrongBaseURLs: a base URL with a slash too many, with /v1 twice or without it reaches what it means. Paths
// of the native API have one spelling.
func TestPathsOfWrongBaseURLs(t *testing.T) {
	const speech, text = `{"input":"Namaste ji","voice":"nova","response_format":"pcm"}`, `{"text":"Namaste ji"}`
	g := newRig(t, &script{}, withVoices)
	for path, want := range map[string]struct {
		body   string
		status int
	}{
		"/v1/audio/speech/":                           {speech, 200},
		"//v1/audio/speech":                           {speech, 200},
		"/v1//audio/speech":                           {speech, 200},
		"/v1/v1/audio/speech":                         {speech, 200},
		"/audio/speech":                               {speech, 200},
		"//audio///speech//":                          {speech, 200},
		"/speak?encoding=linear16":                    {text, 200},
		"/v1/v1/speak/":                               {text, 200},
		"/v1/v1/text-to-speech/raj/stream":            {text, 200},
		"/v1/text-to-speech/raj/":                     {text, 200},
		"/text-to-speech/raj?output_format=pcm_24000": {text, 200},
		"/text-to-speech/":                            {`{"text":"Namaste ji","speaker":""}`, 200},
		"/v1/text-to-speech":                          {text, 404},
		"/v1/v1/v1/audio/speech":                      {speech, 404},
		"/v2/audio/speech":                            {speech, 404},
		"/v1/tts/":                                    {text, 404},
		"//v1/tts":                                    {text, 404},
		"/tts":                                        {text, 404},
		"//":                                          {text, 404},
	} {
		if got := g.do(http.MethodPost, path, want.body); got.StatusCode != want.status {
			t.Errorf("POST %s: %s %.100s, want %d", path, got.Status, got.body, want.status)
		}
	}
	for path, want := range map[string]int{
		"/v1/v1/models": 200, "/v1/models/": 200, "/models": 200, "//v1/voices": 200, "/v1/v1/voices/": 200,
		"/metrics/": 404, "//metrics": 404, "/v1/metrics": 404, "/v1/audio/speech/": 405, "/healthz/": 404,
	} {
		if got := g.do(http.MethodGet, path, ""); got.StatusCode != want {
			t.Errorf("GET %s: %s %.100s, want %d", path, got.Status, got.body, want)
		}
	}
	s := newWSRig(t, newSentences(), withVoices).to("//v1/v1/speak/?model=raj")
	defer s.conn.Close()
	if m := s.next(); m.typ() != "Metadata" {
		t.Errorf("a socket opens with %s", m.text)
	}
	g = newRig(t, &script{})
	if got := g.do(http.MethodPost, "/audio/speech", speech); got.StatusCode != http.StatusNotFound {
		t.Errorf("without dialects: %s", got.Status)
	}
}

package serve

import (
	"net/http"
	"strings"
	"testing"
)

// TestWhatClientsOfOpenAISend replays requests of real clients of November 2026, and checks what each of them needs of
// the answer.
func TestWhatClientsOfOpenAISend(t *testing.T) {
	const (
		node    = "Content-Type: application/json|Accept: application/octet-stream|Accept-Encoding: gzip, deflate|Accept-Language: *|Sec-Fetch-Mode: cors"
		js7     = "User-Agent: OpenAI/JS 7.55.0|x-stainless-lang: js|x-stainless-retry-count: 0|" + node
		js6     = "User-Agent: OpenAI/JS 6.49.0|x-stainless-lang: js|x-stainless-retry-count: 0|" + node
		vercel  = "User-Agent: ai/6.0.326 ai-sdk/provider-utils/4.0.66 runtime/node.js/v20.20.2|Content-Type: application/json|Accept: */*"
		webUI   = "User-Agent: node|Content-Type: application/json|X-OpenWebUI-User-Name: A|Accept: */*"
		python  = "User-Agent: OpenAI/Python 3.51.0|Content-Type: application/json|Accept: application/octet-stream|x-stainless-read-timeout: 600"
		livekit = "User-Agent: AsyncOpenAI/Python 3.57.0|x-stainless-async: async:asyncio|x-stainless-raw-response: stream|" +
			"Content-Type: application/json|Accept: application/octet-stream"
		list   = "Accept: application/json"
		speech = "POST /v1/audio/speech"
		text   = `"input":"Namaste! Aapka OTP 482913 hai. कल मिलेंगे।"`
	)
	g := newRig(t, &script{}, withDialects)
	for name, tt := range map[string]struct {
		headers, call, body string
		status              int
		contentType         string
		want                string // the voice, or what the body holds
	}{
		"openai npm 7, a voice of ours":  {js7, speech, `{"model":"tts-1","voice":"anjura",` + text + `,"response_format":"mp3"}`, 200, "audio/mpeg", "anjura"},
		"openai npm 7, no format":        {js7, speech, `{"model":"tts-1","voice":"anjura",` + text + `}`, 200, "audio/mpeg", "anjura"},
		"openai npm 7, models":           {js7, "GET /v1/models", "", 200, "application/json", `{"object":"list","data":[{"id":"swar-1","object":"model",`},
		"openai npm 7, a model":          {js7, "GET /v1/models/tts-1", "", 200, "application/json", `{"id":"tts-1","object":"model"`},
		"openai npm 7, no such model":    {js7, "GET /v1/models/nope", "", 404, "application/json", `"code":"model_not_found"`},
		"openai PyPI 3, an object":       {python, speech, `{"model":"tts-1",` + text + `,"voice":{"id":"raj"},"response_format":"pcm"}`, 200, "audio/pcm", "raj"},
		"openai PyPI 3, models":          {python, "GET /v1/models", "", 200, "application/json", `"owned_by":"swar"`},
		"ai-sdk":                         {vercel, speech, `{"model":"tts-1",` + text + `,"voice":"nova","response_format":"mp3"}`, 200, "audio/mpeg", "anjura"},
		"ai-sdk, wav":                    {vercel, speech, `{"model":"tts-1",` + text + `,"voice":"raj","response_format":"wav"}`, 200, "audio/wav", "raj"},
		"ai-sdk, an unknown voice":       {vercel, speech, `{"model":"tts-1",` + text + `,"voice":"kaun","response_format":"mp3"}`, 400, "application/json", `"message":"unknown voice 'kaun'; see /v1/voices"`},
		"Open WebUI":                     {webUI, speech, `{"input": "Namaste! Aapka OTP 407 hai.", "voice": "alloy", "model": "tts-1"}`, 200, "audio/mpeg", "anjura"},
		"Open WebUI, voices":             {webUI, "GET /v1/audio/voices", "", 200, "application/json", `"voices":[{"id":"anjura","name":"anjura"}`},
		"Open WebUI, models":             {webUI, "GET /v1/audio/models", "", 200, "application/json", `{"models":[{"id":"swar-1"`},
		"SillyTavern":                    {webUI, speech, `{"model":"tts-1","input":"Hi","voice":"alloy","response_format":"mp3","speed":1}`, 200, "audio/mpeg", "anjura"},
		"LibreChat":                      {webUI, speech, `{"input":"Hi","model":"swar-1","voice":"raj","response_format":"wav","stream_format":"audio"}`, 200, "audio/wav", "raj"},
		"LiveKit Python":                 {livekit, speech, `{"model":"gpt-4o-mini-tts",` + text + `,"voice":"ash","response_format":"mp3","speed":1.0,"stream_format":"sse"}`, 200, "text/event-stream", "raj"},
		"LiveKit Node":                   {js6, speech, `{` + text + `,"model":"tts-1","voice":"nova","response_format":"pcm","speed":1}`, 200, "audio/pcm", "anjura"},
		"LiveKit, before the first call": {livekit, "GET /", "", 200, "application/json", `{"service":"Swar`},
		"Pipecat":                        {livekit, speech, `{"model":"gpt-4o-mini-tts","input":"Namaste!","voice":"nova","response_format":"pcm"}`, 200, "audio/pcm", "anjura"},
		"wyoming-openai looks around":    {list, "GET /v1/readyz", "", 404, "application/json", `{"error":"not found"}`},
	} {
		t.Run(name, func(t *testing.T) {
			method, path, _ := strings.Cut(tt.call, " ")
			headers := []string{"X-Api-Key", "", "Authorization", "Bearer " + testKey}
			for header := range strings.SplitSeq(tt.headers, "|") {
				name, value, _ := strings.Cut(header, ": ")
				headers = append(headers, name, value)
			}
			got := g.do(method, path, tt.body, headers...)
			isSpoken := got.Header.Get("X-Voice") == tt.want && len(got.body) > 0
			if got.StatusCode != tt.status || got.cut != nil ||
				!isSpoken && !strings.Contains(string(got.body), tt.want) {
				t.Errorf("%s, voice %s: %.200s (%v); want %d and %s", got.Status, got.Header.Get("X-Voice"), got.body,
					got.cut, tt.status, tt.want)
			}
			if contentType := got.Header.Get("Content-Type"); contentType != tt.contentType ||
				got.Header.Get("Content-Encoding") != "" {
				t.Errorf("the answer is %s, want %s", contentType, tt.contentType)
			}
			if got.StatusCode == http.StatusOK && got.Header.Get("X-Request-Id") == "" {
				t.Error("x-request-id is missing")
			}
		})
	}
}

//go:build e2e

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

const dialectText = "Aapka order kal subah pahunch jayega."

// TestDialectsFromTheRequestToTheBill asks for the same sentence, as samples at 24 kHz, by the API of every vendor. In
// a fleet the request goes through a router to a worker.
func TestDialectsFromTheRequestToTheBill(t *testing.T) {
	p := startPortal(t, t.TempDir())
	key := p.firstKey()
	frames := p.speak(key, dialectText)
	requests := 1

	for _, tt := range dialectRequests {
		heard, contentType := p.askDialect(tt, key)
		p.sameLength(tt.name, heard, frames)
		if contentType != tt.contentType {
			t.Errorf("%s: the audio is %s, want %s", tt.name, contentType, tt.contentType)
		}
		requests++
		p.counted(tt.name, 1)
		if status, _ := p.tryDialect(t, tt, "swar_sk_wrong"); status != http.StatusUnauthorized &&
			status != http.StatusForbidden {
			t.Errorf("%s: a wrong key is answered with %d", tt.name, status)
		}
	}
	for _, tt := range dialectSockets(key) {
		heard, _ := p.hear(t, tt)
		p.sameLength(tt.name+" over a socket", heard, frames)
		requests++
		p.counted(tt.name, 2)
	}

	p.settled()
	if n, billed := p.billed(); n != requests || billed < requests*frames-requests || billed > requests*(frames+1) {
		t.Errorf("%d requests and %d frames are billed, want %d requests of %d frames each", n, billed,
			requests, frames)
	}
}

// dialectRequest speaks over HTTP. The body has a place for the text.
type dialectRequest struct{ name, path, header, scheme, body, contentType string }

var dialectRequests = []dialectRequest{
	{"openai", "/v1/audio/speech", "Authorization", "Bearer ", `{"model":"tts-1","input":%q,"voice":"nova","response_format":"pcm"}`, "audio/pcm"},
	{"deepgram", "/v1/speak?model=aura-2-thalia-en&encoding=linear16&container=none", "Authorization", "Token ", `{"text":%q}`, "audio/l16;rate=24000;channels=1"},
	{
		"elevenlabs", "/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM/stream?output_format=pcm_24000", "Xi-Api-Key", "", `{"text":%q,"model_id":"eleven_flash_v2_5"}`,
		"audio/pcm",
	},
	{
		"sarvam", "/text-to-speech/stream", "Api-Subscription-Key", "",
		`{"text":%q,"target_language_code":"hi-IN","speaker":"anushka","output_audio_codec":"linear16","speech_sample_rate":24000}`, "audio/pcm",
	},
	{
		"cartesia", "/tts/bytes", "X-Api-Key", "", `{"transcript":%q,"model_id":"sonic-2","voice":{"mode":"id","id":"694f9389-aac1-45b6-b726-9d9369183238"},` +
			`"output_format":{"container":"raw","encoding":"pcm_s16le","sample_rate":24000}}`, "audio/pcm",
	},
	{"vapi", "/v1/vapi?voice=anjura", "X-Vapi-Secret", "", `{"message":{"type":"voice-request","text":%q,"sampleRate":24000}}`, "application/octet-stream"},
	{"jambonz", "/v1/jambonz", "Authorization", "Bearer ", `{"language":"hi-IN","voice":"anjura","type":"text","text":%q}`, "audio/l16;rate=24000"},
}

func (s *server) tryDialect(t testing.TB, r dialectRequest, key string) (status int, answer *http.Response) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.base+r.path, strings.NewReader(fmt.Sprintf(r.body, dialectText)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(r.header, r.scheme+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp.StatusCode, resp
}

// askDialect returns how many bytes of audio came, and of which kind.
func (p *portal) askDialect(r dialectRequest, key string) (n int, contentType string) {
	p.t.Helper()
	status, resp := p.tryDialect(p.t, r, key)
	audio, err := io.ReadAll(resp.Body)
	if err != nil || status != http.StatusOK {
		p.t.Fatalf("%s: %d %.300s %v", r.name, status, audio, err)
	}
	return len(audio), resp.Header.Get("Content-Type")
}

// sameLength compares bytes of audio with frames of the native API; 80 ms are one frame.
func (p *portal) sameLength(what string, heard, frames int) {
	p.t.Helper()
	if off := heard - frames*bytesOfFrame; off < -bytesOfFrame || off > bytesOfFrame {
		p.t.Errorf("%s: %d bytes of audio, natively %d", what, heard, frames*bytesOfFrame)
	}
}

// counted waits for so many requests of a dialect.
func (p *portal) counted(name string, want float64) {
	p.t.Helper()
	eventually(p.t, fmt.Sprintf("%v requests of %s are counted", want, name), 10*time.Second, func() bool {
		n, _ := p.router.metric(p.t, fmt.Sprintf(`tts_requests_total{endpoint=%q,status="200"}`, name))
		return n == want
	})
}

// dialectSocket speaks over a socket: audio finds what a message has of it, and whether it is the last.
type dialectSocket struct {
	name, path string
	header     http.Header
	messages   []string
	audio      func(message map[string]any) (audio string, last bool)
}

func dialectSockets(key string) []dialectSocket {
	text, _ := json.Marshal(dialectText)
	kind := func(message map[string]any) any { return message["type"] }
	return []dialectSocket{
		{
			"deepgram", "/v1/speak?model=aura-2-thalia-en&encoding=linear16&sample_rate=24000", http.Header{"Authorization": {"Token " + key}},
			[]string{`{"type":"Speak","text":` + string(text) + `}`, `{"type":"Flush"}`},
			func(m map[string]any) (string, bool) { return "", kind(m) == "Flushed" },
		},
		{
			"elevenlabs", "/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM/multi-stream-input?output_format=pcm_24000", http.Header{"Xi-Api-Key": {key}},
			[]string{`{"text":" ","context_id":"a"}`, `{"text":` + string(text) + `,"context_id":"a"}`,
				`{"text":"","context_id":"a","flush":true}`, `{"context_id":"a","close_context":true}`},
			func(m map[string]any) (string, bool) {
				audio, _ := m["audio"].(string)
				return audio, m["isFinal"] == true
			},
		},
		{
			"sarvam", "/text-to-speech/ws?model=bulbul:v2&send_completion_event=true", http.Header{"Api-Subscription-Key": {key}},
			[]string{
				`{"type":"config","data":{"target_language_code":"hi-IN","speaker":"anushka","output_audio_codec":"linear16","speech_sample_rate":24000}}`,
				`{"type":"text","data":{"text":` + string(text) + `}}`, `{"type":"flush"}`,
			},
			func(m map[string]any) (string, bool) {
				data, _ := m["data"].(map[string]any)
				audio, _ := data["audio"].(string)
				return audio, data["event_type"] == "final"
			},
		},
		{
			"cartesia", "/tts/websocket?cartesia_version=2026-03-01&api_key=" + key, nil,
			[]string{
				`{"context_id":"a","model_id":"sonic-2","voice":{"mode":"id","id":"694f9389-aac1-45b6-b726-9d9369183238"},"continue":false,` +
					`"output_format":{"container":"raw","encoding":"pcm_s16le","sample_rate":24000},"transcript":` + string(text) + `}`,
			},
			func(m map[string]any) (string, bool) {
				audio, _ := m["data"].(string)
				return audio, kind(m) == "done"
			},
		},
	}
}

// hear returns how many bytes of audio a socket gives, and how long after its messages the first of them come.
func (s *server) hear(t testing.TB, d dialectSocket) (n int, first time.Duration) {
	t.Helper()
	conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.base, "http")+d.path, d.header)
	if err != nil {
		t.Fatalf("%s: %v, %+v", d.name, err, resp)
	}
	defer conn.Close()
	began := time.Now()
	for _, m := range d.messages {
		if err := conn.WriteMessage(websocket.TextMessage, []byte(m)); err != nil {
			t.Fatalf("%s: %v", d.name, err)
		}
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	for {
		kind, message, err := conn.ReadMessage()
		if err != nil {
			t.Fatalf("%s: %v", d.name, err)
		}
		if kind == websocket.BinaryMessage {
			if n == 0 {
				first = time.Since(began)
			}
			n += len(message)
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(message, &fields); err != nil {
			t.Fatalf("%s: %v in %s", d.name, err, message)
		}
		audio, last := d.audio(fields)
		samples, err := base64.StdEncoding.DecodeString(audio)
		if err != nil {
			t.Fatalf("%s: %v in %s", d.name, err, message)
		}
		if n == 0 && len(samples) > 0 {
			first = time.Since(began)
		}
		if n += len(samples); last {
			return n, first
		}
	}
}

// codedRequests ask for audio that an encoder makes. Its first bytes come with the first audio.
var codedRequests = []dialectRequest{
	{"native opus", "/v1/tts", "X-Api-Key", "", `{"text":%q,"format":"opus"}`, ""},
	{"openai opus", "/v1/audio/speech", "Authorization", "Bearer ", `{"model":"tts-1","input":%q,"voice":"nova","response_format":"opus"}`, ""},
	{"openai mp3", "/v1/audio/speech", "Authorization", "Bearer ", `{"model":"tts-1","input":%q,"voice":"nova","response_format":"mp3"}`, ""},
	{"openai flac", "/v1/audio/speech", "Authorization", "Bearer ", `{"model":"tts-1","input":%q,"voice":"nova","response_format":"flac"}`, ""},
	{"elevenlabs mp3 44.1", "/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM/stream", "Xi-Api-Key", "", `{"text":%q,"model_id":"m"}`, ""},
	{"elevenlabs opus 64", "/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM/stream?output_format=opus_48000_64", "Xi-Api-Key", "", `{"text":%q,"model_id":"m"}`, ""},
	{"deepgram mp3 22.05", "/v1/speak?model=aura-2-thalia-en&encoding=mp3", "Authorization", "Token ", `{"text":%q}`, ""},
	{
		"sarvam mp3 8", "/text-to-speech/stream", "Api-Subscription-Key", "",
		`{"text":%q,"target_language_code":"hi-IN","speaker":"anushka","output_audio_codec":"mp3","speech_sample_rate":8000}`, "",
	},
	{"openai faster", "/v1/audio/speech", "Authorization", "Bearer ", `{"model":"tts-1","input":%q,"voice":"nova","response_format":"pcm","speed":1.25}`, ""},
}

// BenchmarkDialects measures the first audio of every API, all in turns, and how much later it is than that of the
// native one.
func BenchmarkDialects(b *testing.B) {
	s := start(b, "--workers", "1")
	took := map[string][]time.Duration{}
	native := dialectRequest{"native", "/v1/tts", "X-Api-Key", "", `{"text":%q,"format":"pcm16"}`, ""}
	text, _ := json.Marshal(dialectText)
	socket := dialectSocket{"native socket", "/v1/tts/stream", nil,
		[]string{`{"text":` + string(text) + `,"request_id":"a"}`}, func(m map[string]any) (string, bool) {
			return "", m["type"] == "end"
		}}
	for b.Loop() {
		for _, r := range append([]dialectRequest{native}, dialectRequests...) {
			began := time.Now()
			_, resp := s.tryDialect(b, r, "")
			if _, err := io.ReadFull(resp.Body, make([]byte, bytesOfFrame)); err != nil {
				b.Fatalf("%s: %s %v", r.name, resp.Status, err)
			}
			took[r.name] = append(took[r.name], time.Since(began))
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
		for _, r := range codedRequests {
			began := time.Now()
			_, resp := s.tryDialect(b, r, "")
			if _, err := io.ReadFull(resp.Body, make([]byte, 1)); err != nil {
				b.Fatalf("%s: %s %v", r.name, resp.Status, err)
			}
			took[r.name] = append(took[r.name], time.Since(began))
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
		for i, d := range append([]dialectSocket{socket}, dialectSockets("x")...) {
			_, first := s.hear(b, d)
			if i > 0 {
				d.name += " socket"
			}
			took[d.name] = append(took[d.name], first)
		}
	}
	for name, all := range took {
		than := percentile(took["native"], 50)
		if strings.HasSuffix(name, "socket") {
			than = percentile(took["native socket"], 50)
		}
		if p50 := percentile(all, 50); name == "native" || name == "native socket" {
			b.ReportMetric(p50, strings.ReplaceAll(name, " ", "-")+"-ms")
		} else {
			b.ReportMetric(p50-than, strings.ReplaceAll(name, " ", "-")+"-later-ms")
		}
	}
}

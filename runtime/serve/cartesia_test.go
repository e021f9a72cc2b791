package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// errLate is a failure behind the first audio.
var errLate = errors.New("late")

// failing fails with why, or speaks if that is nil.
func failing(why error) *script {
	if why == nil {
		return &script{}
	}
	return &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		if errors.Is(why, errLate) {
			st, _ := speakFrames(u, sink, 1)
			return st, why
		}
		return speech.Stats{}, why
	}}
}

// toCartesia posts a request of Cartesia for raw samples, or those of another format.
func (g *rig) toCartesia(path, text, fields string, headers ...string) answered {
	g.t.Helper()
	if !strings.Contains(fields, "output_format") {
		fields += `,"output_format":{"container":"raw","encoding":"pcm_s16le","sample_rate":24000}`
	}
	if !strings.Contains(fields, `"voice"`) {
		fields += `,"voice":{"mode":"id","id":"raj"}`
	}
	return g.do(http.MethodPost, path, `{"transcript":"`+text+`"`+fields+`}`, headers...)
}

func TestCartesiaIsTheNativeVoice(t *testing.T) {
	g := newRig(t, newWarmLocal(t, 1, synthtest.Config{}), withDialects)
	for native, format := range map[string]string{
		"pcm16": `,"output_format":{"container":"raw","encoding":"pcm_s16le","sample_rate":24000}`,
		"wav":   `,"output_format":{"container":"wav","encoding":"pcm_s16le","sample_rate":24000}`,
	} {
		got := g.toCartesia("/tts/bytes", "Aapka OTP 407 hai.", format+`,"model_id":"sonic-3"`)
		want := g.speak(`{"text":"Aapka OTP 407 hai.","voice":"raj","format":"` + native + `","seed":` +
			got.Header.Get("X-Seed") + `}`)
		if got.StatusCode != http.StatusOK || !bytes.Equal(got.body, want.body) || len(got.body) < 1000 {
			t.Errorf("%s: %s with %d bytes, natively %d", native, got.Status, len(got.body), len(want.body))
		}
		wantHeaders(t, got.Header, map[string]string{"X-Model-Requested": "sonic-3", "X-Voice": "raj",
			"Content-Type": map[string]string{"pcm16": "audio/pcm", "wav": "audio/wav"}[native]})
	}
}

// cartesiaEvent is an object of an event stream or of a socket.
type cartesiaEvent struct {
	Type           string
	Data           []byte
	Done           bool
	StatusCode     int     `json:"status_code"`
	ContextID      *string `json:"context_id"`
	ErrorCode      string  `json:"error_code"`
	FlushID        *int    `json:"flush_id"`
	WordTimestamps struct {
		Words      []string
		Start, End []float64
	} `json:"word_timestamps"`
}

func readCartesiaEvents(t *testing.T, body []byte) (all []cartesiaEvent) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSuffix(string(body), "\n\n"), "\n\n") {
		name, data, _ := strings.Cut(block, "\ndata: ")
		var e cartesiaEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil || name != "event: "+e.Type || e.ContextID == nil {
			t.Fatalf("%v: %.200s", err, block)
		}
		all = append(all, e)
	}
	return all
}

func TestCartesiaEvents(t *testing.T) {
	g := newRig(t, newWarmLocal(t, 1, synthtest.Config{}), withDialects)
	got := g.toCartesia("/tts/sse", "Aapka OTP 407 hai.", `,"context_id":"c","add_timestamps":true`)
	want := g.speak(`{"text":"Aapka OTP 407 hai.","voice":"raj","format":"pcm16","seed":` +
		got.Header.Get("X-Seed") + `}`)
	var audio []byte
	var words []string
	at := 0.0
	events := readCartesiaEvents(t, got.body)
	for i, e := range events {
		audio = append(audio, e.Data...)
		words = append(words, e.WordTimestamps.Words...)
		for _, start := range e.WordTimestamps.Start {
			if start < at {
				t.Errorf("a word begins at %v behind one at %v", start, at)
			}
			at = start
		}
		if *e.ContextID != "c" || e.Done != (i == len(events)-1) {
			t.Errorf("event %d is %+v", i, e)
		}
	}
	if got.Header.Get("Content-Type") != "text/event-stream" || !bytes.Equal(audio, want.body) ||
		strings.Join(words, " ") != "Aapka OTP 407 hai." {
		t.Errorf("%s, %d bytes, natively %d, and the words %q", got.Status, len(audio), len(want.body), words)
	}
	g = newRig(t, failing(errLate), withDialects)
	events = readCartesiaEvents(t, g.toCartesia("/tts/sse", "Hi", "").body)
	if last := events[len(events)-1]; len(events) != 2 || last.Type != "error" ||
		last.ErrorCode != "internal_server_error" {
		t.Errorf("cut off, it ends with %+v", last)
	}
}

func TestCartesiaRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		text, fields, key string
		fails             error
		status            int
		code              string
	}{
		"no key":          {"Hi", "", "", nil, 401, "unauthorized"},
		"a wrong key":     {"Hi", "", "wrong", nil, 401, "unauthorized"},
		"a foreign voice": {"Hi", `,"voice":"anjura"`, "raj-key", nil, 403, "forbidden"},
		"a voice nobody":  {"Hi", `,"voice":"kaun"`, testKey, nil, 400, "voice_not_found"},
		"no text":         {"", "", testKey, nil, 400, "text_empty"},
		"4001 letters":    {strings.Repeat("क", 4001), "", testKey, nil, 400, "transcript_too_long"},
		"a dictionary":    {"Hi", `,"pronunciation_dict_id":"x"`, testKey, nil, 400, "invalid_request"},
		"another format":  {"Hi", `,"output_format":{"container":"ogg"}`, testKey, nil, 400, "invalid_output_format"},
		"busy":            {"Hi", "", testKey, speech.ErrBusy, 429, "concurrency_limited"},
		"an engine error": {"Hi", "", testKey, &speech.EngineError{Text: "engine error"}, 500, "internal_server_error"},
		"a timeout":       {"Hi", "", testKey, speech.ErrTimeout, 504, "timeout"},
	} {
		g := newRig(t, failing(tt.fails), withDialects)
		for _, path := range []string{"/tts/bytes", "/tts/sse"} {
			got := g.toCartesia(path, tt.text, tt.fields, "X-Api-Key", tt.key)
			var e map[string]string
			err := json.Unmarshal(got.body, &e)
			if err != nil || got.StatusCode != tt.status || len(e) != 4 || e["error_code"] != tt.code ||
				e["title"] == "" || e["message"] == "" || e["request_id"] != got.Header.Get("X-Request-Id") {
				t.Errorf("%s, %s: %s %s, want %d %s", name, path, got.Status, got.body, tt.status, tt.code)
			}
		}
	}
}

func TestCartesiaLists(t *testing.T) {
	g := newRig(t, &script{}, withDialects)
	for call, want := range map[string]string{
		"/voices":                    `"id":"anjura"`,
		"/voices/":                   `"id":"raj"`,
		"/voices?starting_after=raj": `{"data":[],"has_more":false,"next_page":null}`,
		"/voices/raj":                `{"id":"raj","name":"raj","language":"hi","is_public":true`,
		"/voices/kaun":               `"error_code":"voice_not_found"`,
	} {
		if got := g.do(http.MethodGet, call, ""); !strings.Contains(string(got.body), want) {
			t.Errorf("%s: %s %s, want %s", call, got.Status, got.body, want)
		}
	}
	if got := g.do(http.MethodGet, "/voices", "", "X-Api-Key",
		"raj-key"); strings.Contains(string(got.body), "anjura") {
		t.Errorf("a key sees voices that it may not use: %s", got.body)
	}
}

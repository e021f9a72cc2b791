package serve

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/dialect/bridge"
	"github.com/swar-tts/swar/runtime/dialect/cartesia"
	"github.com/swar-tts/swar/runtime/dialect/deepgram"
	"github.com/swar-tts/swar/runtime/dialect/elevenlabs"
	"github.com/swar-tts/swar/runtime/dialect/jambonz"
	"github.com/swar-tts/swar/runtime/dialect/openai"
	"github.com/swar-tts/swar/runtime/dialect/sarvam"
	"github.com/swar-tts/swar/runtime/dialect/vapi"
	"github.com/swar-tts/swar/runtime/meter"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// withDialects is a server with all dialects, and encoders for everything.
func withDialects(c *Config) {
	c.Dialects, c.Encoders = []*dialect.Dialect{openai.Dialect, deepgram.Dialect, elevenlabs.Dialect, sarvam.Dialect,
		cartesia.Dialect, vapi.Dialect, jambonz.Dialect, bridge.New("")}, lateEncoders{}
}

// lateEncoders write what no native format is: the container, then each block of samples when the next one comes, as
// encoders do that look ahead.
type lateEncoders struct{}

func (lateEncoders) Encodes(a dialect.Audio) bool { return a.Container != dialect.FLAC }
func (lateEncoders) NewEncoder(a dialect.Audio, _ []string) (dialect.Encoder, error) {
	return &lateEncoder{late: fmt.Appendf(nil, "%s/%g ", a.Container, a.Speed)}, nil
}

type lateEncoder struct {
	late, out []byte
	closed    bool
}

func (e *lateEncoder) Write(samples []int16) ([]byte, error) {
	if e.closed {
		return nil, errors.New("write after close")
	}
	e.out, e.late = e.late, nil
	for _, s := range samples[:min(len(samples), 3)] {
		e.late = append(e.late, byte(s), byte(s>>8))
	}
	return e.out, nil
}

func (e *lateEncoder) Close() ([]byte, error) {
	rest := e.late
	e.late, e.closed = nil, true
	return rest, nil
}

// speakNext posts body as a client of OpenAI does.
func (g *rig) say(body string, headers ...string) answered {
	g.t.Helper()
	return g.do(http.MethodPost, "/v1/audio/speech", body,
		append([]string{"X-Api-Key", "", "Authorization", "Bearer " + testKey}, headers...)...)
}

// wantOpenAIError checks that a is an error that every client of OpenAI reads.
func (a answered) wantOpenAIError(t *testing.T, status int, kind, param, code string) {
	t.Helper()
	var got struct{ Error map[string]any }
	if err := json.Unmarshal(a.body, &got); err != nil || a.StatusCode != status {
		t.Errorf("%s %s (%v), want %d", a.Status, a.body, err, status)
	}
	var of any
	if param != "" {
		of = param
	}
	_, hasParam := got.Error["param"]
	if e := got.Error; len(e) != 4 || !hasParam || e["type"] != kind || e["param"] != of || e["code"] != code ||
		e["message"] == "" {
		t.Errorf("the error is %s, want the type %s, the param %v and the code %s", a.body, kind, of, code)
	}
	if a.Header.Get("X-Request-Id") == "" || a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("headers are missing: %v", a.Header)
	}
	if got, want := a.Header.Get("Retry-After") == "1", status == 503; got != want {
		t.Errorf("Retry-After is %q with %d", a.Header.Get("Retry-After"), status)
	}
}

// TestOpenAIIsTheNativeVoice: the formats that both have are the same bytes.
func TestOpenAIIsTheNativeVoice(t *testing.T) {
	g := newRig(t, newWarmLocal(t, 1, synthtest.Config{}), withDialects)
	for word, tt := range map[string]struct{ native, contentType string }{
		"wav": {"wav", "audio/wav"}, "pcm": {"pcm16", "audio/pcm"}, "opus": {"opus", "audio/ogg"},
	} {
		got := g.say(`{"model":"tts-1","voice":"onyx","input":"Aapka OTP 407 hai.","response_format":"` + word + `"}`)
		want := g.speak(`{"text":"Aapka OTP 407 hai.","voice":"raj","format":"` + tt.native + `","seed":` +
			got.Header.Get("X-Seed") + `}`)
		same := bytes.Equal(got.body, want.body)
		if word == "opus" { // whose streams have numbers of their own
			same = len(got.body) == len(want.body)
		}
		if got.StatusCode != http.StatusOK || !same || len(got.body) < 1000 {
			t.Errorf("%s: %s with %d bytes, natively %d", word, got.Status, len(got.body), len(want.body))
		}
		wantHeaders(t, got.Header, map[string]string{"Content-Type": tt.contentType, "X-Model-Requested": "tts-1",
			"X-Voice": "raj", "X-Ignored": ""})
	}
}

func TestOpenAIFormats(t *testing.T) {
	g := newRig(t, &script{}, withDialects)
	pcm := frames(0, 5)
	late := string([]byte{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}) // the first three samples of both blocks
	for name, tt := range map[string]struct{ fields, contentType, want string }{
		"mp3 by default":      {``, "audio/mpeg", "mp3/1 " + late},
		"mp3":                 {`,"response_format":"mp3"`, "audio/mpeg", "mp3/1 " + late},
		"null is absence":     {`,"response_format":null,"speed":null,"stream_format":null`, "audio/mpeg", "mp3/1 " + late},
		"pcm":                 {`,"response_format":"pcm","speed":1.0`, "audio/pcm", string(pcm)},
		"pcm, faster":         {`,"response_format":"pcm","speed":1.5`, "audio/pcm", "raw/1.5 " + late},
		"the slowest":         {`,"speed":0.5`, "audio/mpeg", "mp3/0.5 " + late},
		"the fastest":         {`,"speed":2`, "audio/mpeg", "mp3/2 " + late},
		"a rate that we have": {`,"response_format":"pcm","sample_rate":24000`, "audio/pcm", string(pcm)},
	} {
		got := g.say(`{"model":"m","voice":"nova","input":"Hi"` + tt.fields + `}`)
		if got.StatusCode != 200 || got.cut != nil || got.Header.Get("Content-Type") != tt.contentType ||
			string(got.body) != tt.want {
			t.Errorf("%s: %s, %s, %.40q, want %.40q", name, got.Status, got.Header.Get("Content-Type"),
				got.body, tt.want)
		}
		if got.Trailer.Get("X-Frames") != "5" {
			t.Errorf("%s: the trailers are %v, want those of 5 frames", name, got.Trailer)
		}
	}
}

func TestOpenAIRefusals(t *testing.T) {
	g := newRig(t, &script{}, withDialects)
	const bad = "invalid_request_error"
	for name, tt := range map[string]struct {
		body, key         string
		status            int
		kind, param, code string
	}{
		"no key":             {`{}`, "", 401, bad, "", "invalid_api_key"},
		"a wrong key":        {`{}`, "wrong", 401, bad, "", "invalid_api_key"},
		"no input":           {`{"voice":"nova"}`, testKey, 400, bad, "input", "text_empty"},
		"white space":        {`{"voice":"nova","input":" \n\u3000"}`, testKey, 400, bad, "input", "text_empty"},
		"a NUL":              {`{"voice":"nova","input":"a\u0000"}`, testKey, 400, bad, "input", "bad_text"},
		"input of numbers":   {`{"voice":"nova","input":7}`, testKey, 400, bad, "input", "bad_text"},
		"half a surrogate":   {`{"voice":"nova","input":"\ud800"}`, testKey, 400, bad, "input", "bad_text"},
		"4097 letters":       {`{"voice":"nova","input":"` + strings.Repeat("क", 4097) + `"}`, testKey, 400, bad, "input", "string_too_long"},
		"no voice":           {`{"input":"Hi"}`, testKey, 400, bad, "voice", "bad_request"},
		"an unknown voice":   {`{"input":"Hi","voice":"kaun"}`, testKey, 400, bad, "voice", "unknown_voice"},
		"a voice of lists":   {`{"input":"Hi","voice":[]}`, testKey, 400, bad, "voice", "bad_request"},
		"a voice without id": {`{"input":"Hi","voice":{"name":"raj"}}`, testKey, 400, bad, "voice", "bad_request"},
		"a foreign voice":    {`{"input":"Hi","voice":"nova"}`, "raj-key", 403, "permission_error", "voice", "voice_not_allowed"},
		"a model of 1":       {`{"input":"Hi","voice":"nova","model":1}`, testKey, 400, bad, "model", "bad_request"},
		"aac":                {`{"input":"Hi","voice":"nova","response_format":"aac"}`, testKey, 400, bad, "response_format", "unsupported_parameter"},
		"no encoder":         {`{"input":"Hi","voice":"nova","response_format":"flac"}`, testKey, 400, bad, "response_format", "unsupported_parameter"},
		"an unknown format":  {`{"input":"Hi","voice":"nova","response_format":"mp4"}`, testKey, 400, bad, "response_format", "bad_format"},
		"too slow":           {`{"input":"Hi","voice":"nova","speed":0.49}`, testKey, 400, bad, "speed", "bad_speed"},
		"too fast":           {`{"input":"Hi","voice":"nova","speed":2.01}`, testKey, 400, bad, "speed", "bad_speed"},
		"speed in words":     {`{"input":"Hi","voice":"nova","speed":"1"}`, testKey, 400, bad, "speed", "bad_speed"},
		"another rate":       {`{"input":"Hi","voice":"nova","sample_rate":16000}`, testKey, 400, bad, "sample_rate", "bad_sample_rate"},
		"another stream":     {`{"input":"Hi","voice":"nova","stream_format":"ws"}`, testKey, 400, bad, "stream_format", "bad_request"},
		"half of JSON":       {`{"input":"Hi","voice":`, testKey, 400, bad, "", "bad_request"},
		"no object":          {`[]`, testKey, 400, bad, "", "bad_request"},
		"nothing":            {``, testKey, 400, bad, "", "bad_request"},
		"binary":             {"\x00\xff\xfe", testKey, 400, bad, "", "bad_request"},
		"a bad member":       {"{\"input\":\"Hi\",\"voice\":\"nova\",\"x\":\"\xff\"}", testKey, 400, bad, "", "bad_request"},
		"nested":             {`{"input":"Hi","voice":"nova","x":` + strings.Repeat("[", 100_000) + `}`, testKey, 400, bad, "", "bad_request"},
		"too much":           {strings.Repeat(" ", maxBody+1), testKey, 413, bad, "", "body_too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			got := g.say(tt.body, "Authorization", "Bearer "+tt.key)
			got.wantOpenAIError(t, tt.status, tt.kind, tt.param, tt.code)
		})
	}
	t.Run("another method", func(t *testing.T) {
		for _, path := range []string{"/v1/audio/voices", "/v1/models", "/v1/models/tts-1", "/v1/audio/models"} {
			got := g.do(http.MethodPost, path, "{}")
			got.wantOpenAIError(t, 405, bad, "", "method_not_allowed")
			if allow := got.Header.Get("Allow"); allow != "GET, HEAD, OPTIONS" {
				t.Errorf("%s allows %q", path, allow)
			}
		}
		g.do(http.MethodGet, "/v1/audio/speech", "").wantOpenAIError(t, 405, bad, "", "method_not_allowed")
		g.do(http.MethodGet, "/v1/tts", "").wantError(t, 405, "method not allowed", "method_not_allowed")
	})
}

func TestOpenAIFailures(t *testing.T) {
	for name, tt := range map[string]struct {
		err               error
		status            int
		kind, param, code string
	}{
		"busy":            {speech.ErrBusy, 503, "server_error", "", "busy"},
		"warming":         {speech.ErrWarming, 503, "server_error", "", "busy"},
		"engine":          {errors.New("boom"), 500, "server_error", "", "engine_error"},
		"worker":          {speech.ErrWorkerGone, 500, "server_error", "", "worker_gone"},
		"timeout":         {speech.ErrTimeout, 504, "server_error", "", "timeout"},
		"nothing to say":  {speech.ErrNothingToSay, 400, "invalid_request_error", "input", "nothing_to_say"},
		"no key to check": {access.ErrUnavailable, 503, "server_error", "", "portal_unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, &script{SpeakFunc: func(context.Context, speech.Utterance,
				speech.Sink) (speech.Stats, error) {
				return speech.Stats{}, tt.err
			}}, withDialects)
			g.say(`{"input":"Hi","voice":"nova"}`).wantOpenAIError(t, tt.status, tt.kind, tt.param, tt.code)
			if got := g.metric(fmt.Sprintf(`tts_requests_total{endpoint="openai",status="%d"}`, tt.status)); got != 1 {
				t.Errorf("counted %v times as %d", got, tt.status)
			}
		})
	}
}

// TestOpenAIEvents is an event stream, whole and cut.
func TestOpenAIEvents(t *testing.T) {
	boom := false
	g := newRig(t, &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
		sink speech.Sink) (speech.Stats, error) {
		st, err := speakFrames(u, sink, 1, 4)
		if err == nil && boom {
			err = errors.New("boom")
		}
		return st, err
	}}, withDialects)
	const body = `{"input":" नमस्ते ","voice":"raj","response_format":"pcm","stream_format":"sse"}`
	got := g.say(body, "Accept", "application/octet-stream")
	delta := func(from, n int) string {
		return `data: {"type":"speech.audio.delta","audio":"` +
			base64.StdEncoding.EncodeToString(frames(from, n)) + "\"}\n\n"
	}
	want := delta(0, 1) + delta(1, 4) + `data: {"type":"speech.audio.done","usage":{"input_tokens":6,"output_tokens":5,"total_tokens":11}}` + "\n\n"
	if got.cut != nil || string(got.body) != want || got.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%v: %s (%v)", got.Header, got.body, got.cut)
	}
	boom = true
	got = g.say(body)
	want = delta(0, 1) + delta(1, 4) + `data: {"error":{"code":"engine_error","message":"engine error","param":null,"type":"server_error"}}` + "\n\n"
	if !errors.Is(got.cut, io.ErrUnexpectedEOF) || string(got.body) != want {
		t.Errorf("after a failure: %s (%v)", got.body, got.cut)
	}
	got = g.say(strings.Replace(body, "sse", "audio", 1))
	if !errors.Is(got.cut, io.ErrUnexpectedEOF) || !bytes.Equal(got.body, frames(0, 5)) {
		t.Errorf("bare audio after a failure: %d bytes (%v)", len(got.body), got.cut)
	}
}

func TestOpenAIHeaders(t *testing.T) {
	g := newRig(t, &script{}, withDialects)
	for name, tt := range map[string]struct{ body, requested, ignored string }{
		"nothing":         {`{"input":"Hi","voice":"nova"}`, "swar-1", ""},
		"a null":          {`{"input":"Hi","voice":"nova","instructions":null,"model":"a b"}`, "a b", ""},
		"some":            {`{"input":"Hi","voice":"nova","model":"x","instructions":"y","stream":true,"language":"hi"}`, "x", "instructions, stream, language"},
		"an attack":       {`{"input":"Hi","voice":"nova","model":"a\r\nX-Evil: 1","x\r\ny, z":1}`, "a%0D%0AX-Evil%3A+1", "x%0D%0Ay%2C+z"},
		"a long model":    {`{"input":"Hi","voice":"nova","model":"` + strings.Repeat("a", 300) + `"}`, strings.Repeat("a", 256), ""},
		"a long member":   {`{"input":"Hi","voice":"nova","a":1,"` + strings.Repeat("b", 300) + `":1}`, "swar-1", "a"},
		"also an error's": {`{"input":"","voice":"nova","model":"m","seed":1}`, "m", "seed"},
	} {
		got := g.say(tt.body)
		if r, i := got.Header.Get("X-Model-Requested"), got.Header.Get("X-Ignored"); r != tt.requested ||
			i != tt.ignored {
			t.Errorf("%s: requested %q, ignored %q; want %q and %q", name, r, i, tt.requested, tt.ignored)
		}
	}
}

// TestKeysOfOtherVendors: any place will do on a dialect's path, and none of them on a native one.
func TestKeysOfOtherVendors(t *testing.T) {
	g := newRig(t, &script{}, withDialects)
	for _, headers := range [][]string{
		{"Authorization", "bearer " + testKey}, {"Authorization", "Token " + testKey}, {"Xi-Api-Key", testKey},
		{"Api-Subscription-Key", testKey}, {"X-Vapi-Secret", testKey}, {"X-Api-Key", testKey},
	} {
		got := g.do(http.MethodGet, "/v1/models", "", append([]string{"X-Api-Key", ""}, headers...)...)
		if got.StatusCode != http.StatusOK {
			t.Errorf("%v: %s", headers, got.Status)
		}
	}
	if got := g.do(http.MethodGet, "/v1/models?api_key="+testKey, "", "X-Api-Key",
		""); got.StatusCode != http.StatusOK {
		t.Errorf("in the query: %s", got.Status)
	}
	g.speak(`{"text":"Hi"}`, "X-Api-Key", "", "Xi-Api-Key", testKey).wantError(t, 401, "missing x-api-key",
		"missing_key")
}

// TestOneBillForALongText: what natively is too long is spoken as two utterances, with one start, seed and bill.
func TestOneBillForALongText(t *testing.T) {
	b := newBooks(t)
	l := newWarmLocal(t, 1, synthtest.Config{})
	sentence := "Aapka order kal tak aa jayega aur payment ho gaya hai. " // of 55 letters
	exact := strings.Repeat(sentence, 75)[:4096]
	for name, tt := range map[string]struct {
		text, format, disclosure string
		encoded                  bool
	}{
		"4096 letters":              {exact, "wav", "", false},
		"4096 letters, encoded":     {exact, "mp3", "", true},
		"4000 and a disclosure":     {exact[:4000], "wav", "Yeh AI ki awaaz hai.", false},
		"too many chunks":           {strings.Repeat("ek do teen chaar paanch chhah saat aath nau das gyarah. ", 70), "wav", "", false},
		"nothing in the first half": {strings.Repeat("… ", 1500) + "Namaste. " + strings.Repeat("kal aayenge ", 90), "wav", "Yeh AI ki awaaz hai.", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, l, withDialects, func(c *Config) {
				c.Disclosure, c.Keys, c.Meter = tt.disclosure, everybody{"org_1"}, meter.NewRecorder(b.log)
			})
			got := g.say(`{"voice":"raj","response_format":"` + tt.format + `","input":"` + tt.text + `"}`)
			if got.StatusCode != http.StatusOK || got.cut != nil {
				t.Fatalf("%s %s (%v)", got.Status, got.body[:min(len(got.body), 200)], got.cut)
			}
			frames := 0
			ended := 0
			for _, e := range b.next() {
				frames += int(e.Billed)
				if e.Kind == meter.Final {
					ended++
				}
				if e.Endpoint != "openai" || e.Format != tt.format || e.Kind == meter.Final && e.Status != meter.OK {
					t.Errorf("billed is %+v", e)
				}
			}
			if ended != 1 {
				t.Errorf("%d bills, want one", ended)
			}
			if tt.encoded {
				return
			}
			if want := 44 + frames*speech.FrameBytes; len(got.body) != want {
				t.Errorf("%d bytes for %d frames, want %d", len(got.body), frames, want)
			}
			text, voice := heard(t, got.body[44:])
			if voice != "raj" || strings.Count(text, "awaaz") != strings.Count(tt.disclosure, "awaaz") {
				t.Errorf("%s said %.80q", voice, text)
			}
			n, err := l.Normalize(t.Context(), speech.Utterance{Text: tt.text})
			if err != nil {
				t.Fatal(err)
			}
			plain := func(s string) string {
				return strings.Join(strings.FieldsFunc(s, func(c rune) bool { return c == ' ' || c == '|' }), " ")
			}
			if got, want := plain(text), plain(n.Text); !strings.HasSuffix(got, want) {
				t.Errorf("said was\n%s, want\n%s", got, want)
			}
		})
	}
}

// TestALongTextIsNotCutForWantOfCapacity: the second half goes on with a turn that has begun, for which a worker is
// kept or waited for.
func TestALongTextIsNotCutForWantOfCapacity(t *testing.T) {
	var turns []speech.Turn
	var more []bool
	g := newRig(t, &script{TurnFunc: func(turn speech.Turn) {
		turns, more = append(turns, turn), append(more, turn.More != nil && turn.More())
	}}, withDialects)
	got := g.say(`{"voice":"raj","response_format":"pcm","input":"` + strings.Repeat("a b. ", 815) + `"}`)
	if got.StatusCode != http.StatusOK || got.cut != nil || len(got.body) != 10*speech.FrameBytes || len(turns) != 2 {
		t.Fatalf("%s with %d bytes (%v) in %d turns", got.Status, len(got.body), got.cut, len(turns))
	}
	first, second := turns[0], turns[1]
	if !first.StartedAt.IsZero() || first.QueuedSince.IsZero() || !more[0] || first.Session == "" {
		t.Errorf("the first half is of the turn %+v, more: %v", first, more[0])
	}
	if second.StartedAt.IsZero() || !second.QueuedSince.IsZero() || more[1] || second.Session != first.Session {
		t.Errorf("the second half is of the turn %+v, more: %v", second, more[1])
	}
}

func TestHalve(t *testing.T) {
	for name, tt := range map[string]struct{ text, first string }{
		"at the sentence near the middle": {"Ek do. Teen chaar. Paanch chhah saat.", "Ek do. Teen chaar."},
		"at a danda":                      {"एक दो तीन।चार पाँच छह", "एक दो तीन।"},
		"at a comma before a space":       {"aaaa bbbb, cccc dddd", "aaaa bbbb,"},
		"not within a number":             {"aaaaaa 1.23 bbbbbbb", "aaaaaa 1.23"},
		"before a letter and no mark":     {"ककक्ककिककक", "ककक्क"},
		"a letter":                        {"a", ""},
	} {
		if first, second := halve(tt.text); first != tt.first || first+second != tt.text {
			t.Errorf("%s: %q and %q, want %q first", name, first, second, tt.first)
		}
	}
}

func TestOpenAILists(t *testing.T) {
	g := newRig(t, &script{}, withDialects)
	for path, want := range map[string]string{
		"/v1/models/gpt-4o-mini-tts": `{"id":"gpt-4o-mini-tts","object":"model","created":1795564800,"owned_by":"swar"}`,
		"/v1/audio/models": `{"models":[{"id":"swar-1","name":"swar-1"},{"id":"tts-1","name":"tts-1"},{"id":"tts-1-hd","name":"tts-1-hd"},` +
			`{"id":"gpt-4o-mini-tts","name":"gpt-4o-mini-tts"}],"data":[{"id":"swar-1","name":"swar-1"},{"id":"tts-1","name":"tts-1"},` +
			`{"id":"tts-1-hd","name":"tts-1-hd"},{"id":"gpt-4o-mini-tts","name":"gpt-4o-mini-tts"}]}`,
	} {
		if got := g.do(http.MethodGet, path, ""); string(got.body) != want {
			t.Errorf("%s: %s", path, got.body)
		}
	}
	g.do(http.MethodGet, "/v1/models/nope", "").wantOpenAIError(t, 404, "invalid_request_error", "model",
		"model_not_found")
	names := func(key, query string) []string {
		var list struct{ Voices, Data []json.RawMessage }
		got := g.do(http.MethodGet, "/v1/audio/voices"+query, "", "X-Api-Key", key)
		if err := json.Unmarshal(got.body, &list); err != nil || len(list.Voices) != len(list.Data) {
			t.Fatalf("%s (%v)", got.body, err)
		}
		var all []string
		for _, v := range list.Voices {
			var name string
			var object struct{ ID string }
			if json.Unmarshal(v, &name) != nil {
				if err := json.Unmarshal(v, &object); err != nil {
					t.Fatal(err)
				}
				name = object.ID
			}
			all = append(all, name)
		}
		return all
	}
	all := []string{
		"anjura", "raj", "alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage", "shimmer", "verse",
	}
	if got := names(testKey, ""); !slices.Equal(got, all) {
		t.Errorf("voices are %v", got)
	}
	if got := names(testKey, "?legacy=true"); !slices.Equal(got, all) {
		t.Errorf("voices by name are %v", got)
	}
	if got := names("raj-key", ""); !slices.Equal(got, []string{"raj", "ash", "cedar", "echo", "onyx", "verse"}) {
		t.Errorf("voices of a key for raj are %v", got)
	}
}

// TestSharedPaths: who sends which header decides whose shape the answer has.
func TestSharedPaths(t *testing.T) {
	list := func(what string) func(dialect.Call) (any, error) {
		return func(dialect.Call) (any, error) { return []string{what}, nil }
	}
	eleven := &dialect.Dialect{Name: dialect.ElevenLabs, Routes: []dialect.Route{
		{Method: "GET", Path: "/v1/voices", List: list("voices"), When: func(h func(string) string) bool { return h("Xi-Api-Key") != "" }},
		{Method: "GET", Path: "/v1/models", List: list("models"), When: func(h func(string) string) bool { return h("Xi-Api-Key") != "" }},
	}}
	both := newRig(t, &script{}, func(c *Config) { c.Dialects = []*dialect.Dialect{eleven, openai.Dialect} })
	alone := newRig(t, &script{}, func(c *Config) { c.Dialects = []*dialect.Dialect{eleven} })
	none := newRig(t, &script{})
	for _, tt := range []struct {
		g                  *rig
		path, header, want string
		status             int
	}{
		{both, "/v1/voices", "Xi-Api-Key", `["voices"]`, 200},
		{both, "/v1/voices", "X-Api-Key", `{"voices":[{"name":"anjura"`, 200},
		{both, "/v1/models", "Xi-Api-Key", `["models"]`, 200},
		{both, "/v1/models", "X-Api-Key", `{"object":"list"`, 200},
		{alone, "/v1/models", "Xi-Api-Key", `["models"]`, 200},
		{alone, "/v1/models", "X-Api-Key", `{"detail":{"message":"not found","status":"not_found"}}`, 404},
		{none, "/v1/models", "X-Api-Key", `{"error":"not found"}`, 404},
		{none, "/v1/voices", "Xi-Api-Key", `{"error":"missing x-api-key"}`, 401},
		{none, "/v1/audio/speech", "X-Api-Key", `{"error":"not found"}`, 404},
	} {
		got := tt.g.do(http.MethodGet, tt.path, "", "X-Api-Key", "", tt.header, testKey)
		if got.StatusCode != tt.status || !strings.HasPrefix(string(got.body), tt.want) {
			t.Errorf("%s with %s: %s %s, want %d %s", tt.path, tt.header, got.Status, got.body, tt.status, tt.want)
		}
		head := tt.g.do(http.MethodHead, tt.path, "", "X-Api-Key", "", tt.header, testKey)
		if head.StatusCode != tt.status || len(head.body) > 0 {
			t.Errorf("HEAD %s with %s: %s", tt.path, tt.header, head.Status)
		}
	}
}

// TestAbortedRequestsLeaveNothing: a thousand clients that leave while they are spoken to.
func TestAbortedRequestsLeaveNothing(t *testing.T) {
	l := newWarmLocal(t, 2, synthtest.Config{Before: func(ctx context.Context, o synth.Options, frame int) error {
		if frame < 2 || !strings.HasPrefix(o.Text, "endless") {
			return nil
		}
		<-ctx.Done() // a text that never ends by itself
		return ctx.Err()
	}})
	g := newRig(t, l, withDialects)
	const endless = `{"voice":"nova","response_format":"pcm","input":"endless endless endless endless endless."}`
	if got := g.say(`{"voice":"nova","input":"Hi"}`); got.StatusCode != http.StatusOK {
		t.Fatal(got.Status)
	}
	before := runtime.NumGoroutine()
	var clients sync.WaitGroup
	for range 10 {
		clients.Go(func() {
			for i := range 100 {
				ctx, leave := context.WithCancel(t.Context())
				req := g.request(ctx, http.MethodPost, "/v1/audio/speech", endless)
				if res, err := g.client.Do(req); err == nil {
					if i%2 == 0 {
						_, _ = res.Body.Read(make([]byte, 100))
					}
					leave()
					res.Body.Close()
				}
				leave()
			}
		})
	}
	clients.Wait()
	for l.Capacity().Busy > 0 || g.server.Listeners() > 0 || g.server.budget.use().bytes > 0 ||
		runtime.NumGoroutine() > before+30 {
		if t.Context().Err() != nil {
			t.Fatalf("%+v, %d listeners, %d bytes, %d goroutines of %d", l.Capacity(), g.server.Listeners(),
				g.server.budget.use().bytes,
				runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestTwentyAtOnce: all are heard in full, through a queue that is long enough.
func TestTwentyAtOnce(t *testing.T) {
	var mu sync.Mutex
	busy := 0
	l := newWarmLocal(t, 2, synthtest.Config{Before: func(context.Context, synth.Options, int) error {
		mu.Lock()
		defer mu.Unlock()
		busy++
		return nil
	}})
	g := newRig(t, l, withDialects)
	want := g.speak(`{"text":"Aapka order kal aayega.","format":"pcm16"}`).body
	var clients sync.WaitGroup
	for range 20 {
		clients.Go(func() {
			for {
				got, err := g.try(t.Context(), http.MethodPost, "/v1/audio/speech",
					`{"voice":"nova","response_format":"pcm","input":"Aapka order kal aayega."}`)
				if err == nil && got.StatusCode == http.StatusServiceUnavailable {
					continue // as clients do
				}
				if err != nil || got.cut != nil || len(got.body) != len(want) {
					t.Errorf("%v, %v, %d bytes of %d", err, got.cut, len(got.body), len(want))
				}
				return
			}
		})
	}
	clients.Wait()
}

// busyEncoders make an encoder only while an utterance is being spoken.
type busyEncoders struct {
	lateEncoders
	speaks chan struct{}
}

func (e busyEncoders) NewEncoder(a dialect.Audio, tags []string) (dialect.Encoder, error) {
	select {
	case <-e.speaks:
		return e.lateEncoders.NewEncoder(a, tags)
	case <-time.After(10 * time.Second):
		return nil, errors.New("nobody speaks meanwhile")
	}
}

// TestEncodersAreMadeWhileTheEngineSpeaks: what making one takes does not come on top of the first audio.
func TestEncodersAreMadeWhileTheEngineSpeaks(t *testing.T) {
	e := busyEncoders{speaks: make(chan struct{}, 1)}
	speaker := &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (st speech.Stats,
		err error) {
		st = speech.Stats{Started: true, Frames: 1, Chunks: 1, Chars: len(u.Text)}
		if err := errors.Join(sink.Start(startOf(u)),
			sink.ChunkStart(speech.Chunk{Text: u.Text, Tokens: 1, CharEnd: len(u.Text)})); err != nil {
			return st, err
		}
		e.speaks <- struct{}{}
		return st, errors.Join(sink.Audio(speech.Audio{Frames: 1, Data: frames(0, 1)}),
			sink.ChunkEnd(speech.ChunkEnd{Frames: 1, EOS: true}))
	}}
	g := newRig(t, speaker, withDialects, func(c *Config) { c.Encoders = e })
	if a := g.toElevenLabs("raj", `{"text":"Aap kaise hain?"}`); a.StatusCode != http.StatusOK || len(a.body) == 0 {
		t.Errorf("a request: %s, %.200s", a.Status, a.body)
	}
	s := newWSRig(t, speaker, withDialects, func(c *Config) { c.Encoders = e }).
		to("/v1/text-to-speech/raj/multi-stream-input")
	defer s.conn.Close()
	s.sayIn("a", "Aap kaise hain ji? ")
	s.endContext("a")
	if c := s.untilFinal("a")["a"]; len(c.pcm) == 0 || c.failed != "" {
		t.Errorf("a socket: %+v", c)
	}
}

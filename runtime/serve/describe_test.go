package serve

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
)

func readOpenAPI(t *testing.T) *openapi3.T {
	t.Helper()
	g := newRig(t, &script{})
	got := g.do(http.MethodGet, "/openapi.json", "", "X-Api-Key", "")
	if h := got.Header; got.StatusCode != http.StatusOK || h.Get("Cache-Control") != "no-store" ||
		h.Get("Content-Type") != "application/json" {
		t.Fatalf("%s with %v", got.Status, got.Header)
	}
	doc, err := openapi3.NewLoader().LoadFromData(got.body)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestOpenAPIHasEveryRoute(t *testing.T) {
	doc := readOpenAPI(t)
	described := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			described[method+" "+path] = true
			isOpen := operation.Security != nil && len(*operation.Security) == 0
			if isOpen != slices.Contains(openRoutes, path) {
				t.Errorf("%s %s is described as open: %v", method, path, isOpen)
			}
		}
	}
	served := map[string]bool{}
	eachRoute(t, newRig(t, &script{}, withDialects).server, func(method, path string) {
		if method != http.MethodHead { // which is what HTTP makes of GET
			served[method+" "+path] = true
		}
	})
	if !maps.Equal(described, served) {
		t.Errorf("described are\n%v\nserved are\n%v", slices.Sorted(maps.Keys(described)),
			slices.Sorted(maps.Keys(served)))
	}
}

// What can be sent is what is read, and whatever is refused as missing is required.
func TestOpenAPIHasEveryField(t *testing.T) {
	doc := readOpenAPI(t)
	for path, required := range map[string][]string{
		"/v1/audio/speech": {"input", "voice"}, "/v1/text-to-speech/{voice}": {"text"}, "/v1/speak": {"text"},
		"/text-to-speech": {"text"}, "/tts/bytes": {"transcript", "voice", "output_format"},
	} {
		schema := doc.Paths.Value(path).Post.RequestBody.Value.Content.Get("application/json").Schema.Value
		if !slices.Equal(schema.Required, required) {
			t.Errorf("%s: required are %v, want %v", path, schema.Required, required)
		}
	}
	for path, from := range map[string]source{"/v1/tts": fromREST, "/v1/tts/words": fromWords,
		"/v1/normalize": fromNormalize} {
		schema := doc.Paths.Value(path).Post.RequestBody.Value.Content.Get("application/json").Schema.Value
		got := slices.Sorted(maps.Keys(schema.Properties))
		if want := slices.Sorted(slices.Values(fieldsFrom[from].names)); !slices.Equal(got, want) {
			t.Errorf("%s: described are the fields %v, read are %v", path, got, want)
		}
		if !slices.Equal(schema.Required, []string{"text"}) {
			t.Errorf("%s: required are %v", path, schema.Required)
		}
	}
}

// check fails unless got is one of the answers of an operation, with its headers and members. It notes which headers it
// saw.
func (seen headersSeen) check(t *testing.T, doc *openapi3.T, method, path string, got answered) {
	t.Helper()
	operation := doc.Paths.Value(path).GetOperation(method)
	response := operation.Responses.Status(got.StatusCode)
	if response == nil {
		t.Errorf("%s %s: the status %d is not described", method, path, got.StatusCode)
		return
	}
	common := []string{
		"Date", "Content-Length", "Content-Type", "Content-Encoding", "Cache-Control", "Vary", "Accept-Ranges", "Connection",
		"Timing-Allow-Origin", "Trailer", "X-Content-Type-Options",
	}
	names := map[string]bool{}
	for name := range response.Value.Headers {
		names[http.CanonicalHeaderKey(name)] = true
	}
	all := maps.Clone(got.Header)
	maps.Copy(all, got.Trailer)
	for name := range all {
		known := names[name] || slices.Contains(common, name) || strings.HasPrefix(name, "Access-Control-")
		if !known {
			t.Errorf("%s %s: %d has the header %s, which is not described", method, path, got.StatusCode, name)
		}
		seen[name] = true
	}
	contentType, _, _ := strings.Cut(got.Header.Get("Content-Type"), ";")
	for described, media := range response.Value.Content {
		if base, _, _ := strings.Cut(described, ";"); base != contentType {
			continue
		}
		if contentType == "application/json" && media.Schema.Ref != "" {
			members(t, method+" "+path, media.Schema.Value, got.body)
		}
		return
	}
	if len(got.body) > 0 {
		t.Errorf("%s %s: %d is of the type %q, which is not described", method, path, got.StatusCode, contentType)
	}
}

// headersSeen are those that some answer had.
type headersSeen map[string]bool

// members compares an object with its schema: everything in it is described, and everything required is in it.
func members(t *testing.T, where string, schema *openapi3.Schema, body []byte) {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(body, &object); err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	var walk func(where string, schema *openapi3.Schema, v any)
	walk = func(where string, schema *openapi3.Schema, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				if schema.Properties[name] == nil {
					t.Errorf("%s: %s is not described", where, name)
					continue
				}
				walk(where+"."+name, schema.Properties[name].Value, member)
			}
			for _, name := range schema.Required {
				if _, ok := v[name]; !ok {
					t.Errorf("%s: %s is missing", where, name)
				}
			}
		case []any:
			for _, item := range v {
				walk(where+"[]", schema.Items.Value, item)
			}
		}
	}
	walk(where, schema, object)
}

func TestAnswersAreAsOpenAPISays(t *testing.T) {
	doc, seen := readOpenAPI(t), headersSeen{}
	failing := errors.New("")
	var speakErr error
	g := newRig(t, &script{
		NormalizeFunc: func(speech.Utterance) (speech.Normalized, error) {
			return speech.Normalized{
				Text: "a b", Disclosure: "a", Unspoken: "你", InputChars: 1,
				Chunks: []speech.Chunk{{Text: "a b", Tokens: 1, CharEnd: 3}},
				Spans:  []speech.Span{{End: 1, Kind: "amount", Spoken: "b", OutStart: 2, OutEnd: 3}},
			}, speakErr
		},
		SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
			if speakErr != nil {
				return speech.Stats{}, speakErr
			}
			return speakFrames(u, unspoken{sink}, 1, 4)
		},
	}, func(c *Config) {
		c.Samples = func(voice string) ([]byte, bool) { return []byte("RIFF"), voice == "raj" }
	}, withDialects)
	ask := func(method, path, pattern, body string, headers ...string) {
		t.Helper()
		seen.check(t, doc, method, pattern, g.do(method, path, body, headers...))
	}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			at, body := strings.NewReplacer("{voice}", "raj", "{id}", "swar-1").Replace(path), ""
			if method == http.MethodPost {
				bodies := bodiesOf(path)
				body = bodies[0]
				for _, other := range bodies[1:] {
					ask(method, at, path, other)
				}
				ask(method, at, path, `{}`)
				ask(method, at, path, body, "Content-Encoding", "gzip")
				for _, speakErr = range []error{speech.ErrBusy, speech.ErrWorkerGone, failing} {
					ask(method, at, path, body)
				}
				if path != "/v1/normalize" {
					speakErr = speech.ErrTimeout
					ask(method, at, path, body)
					speakErr = nil
					ask(method, at, path, bodies[1], "X-Api-Key", "raj-key")
				}
				speakErr = nil
			}
			ask(method, at, path, body)
			if !slices.Contains(openRoutes, path) {
				ask(method, at, path, body, "X-Api-Key", "")
				ask(method, at, path, body, "X-Api-Key", "wrong")
			}
		}
	}
	ask(http.MethodGet, "/v1/models/none", "/v1/models/{id}", "")
	ask(http.MethodGet, "/voices/none", "/voices/{voice}", "")
	ask(http.MethodGet, "/voices?limit=0", "/voices", "")
	ask(http.MethodGet, "/samples/none.wav", "/samples/{voice}.wav", "")
	refused := newRig(t, &script{CapacityFunc: func() speech.Capacity { return speech.Capacity{Workers: 1} }})
	seen.check(t, doc, http.MethodGet, "/readyz", refused.do(http.MethodGet, "/readyz", ""))
	for name := range doc.Components.Headers {
		if name != "Allow" && !seen[http.CanonicalHeaderKey(name)] { // which only a wrong method is told
			t.Errorf("no answer had the header %s, which is described", name)
		}
	}
}

// bodiesOf returns requests to a path: one that is answered as a whole, one for the voice anjura, and others.
func bodiesOf(path string) []string {
	if bodies, ok := telephonyBodies[path]; ok {
		return bodies
	}
	long := strings.Repeat("a", 4097)
	if path == "/v1/audio/speech" {
		const hi = `{"input":"Hi","voice":"anjura","response_format":`
		return []string{
			`{"input":"Hi","voice":"nova","instructions":"cheerful"}`, hi + `"pcm"}`, hi + `"opus"}`, hi + `"aac"}`, hi + `"wav","stream_format":"sse"}`,
			`{"voice":"nova","input":"` + long + `"}`,
		}
	}
	if path == "/v1/speak" {
		return []string{`{"text":"Hi"}`, `{"text":"Namaste"}`, `{"text":"` + long + `"}`}
	}
	if strings.HasPrefix(path, "/v1/text-to-speech/") {
		return []string{`{"text":"Hi","model_id":"m","language_code":"hi"}`,
			`{"text":"Hi","voice_settings":{"speed":7}}`, `{"text":" "}`}
	}
	switch {
	case strings.HasPrefix(path, "/text-to-speech"):
		return []string{
			`{"text":"Hi","model":"m","language_code":"hi-IN"}`, `{"text":"Hi","speaker":"anjura"}`, `{"text":"Hi","pitch":1}`,
			`{"text":"Hi","output_audio_codec":"linear16"}`, `{"text":"Hi","output_audio_codec":"opus"}`, `{"text":"` + long + `"}`,
		}
	case strings.HasPrefix(path, "/tts/"):
		const hi = `{"transcript":"Hi","voice":"anjura","output_format":{"container":`
		return []string{
			hi + `"raw"},"model_id":"m","language":"hi","add_timestamps":true}`, hi + `"mp3"}}`, hi + `"wav"}}`,
			hi + `"flac"}}`,
			hi + `"raw","encoding":"pcm_f32le"}}`, hi + `"raw","encoding":"pcm_mulaw"}}`,
			`{"transcript":"` + long + `"}`,
		}
	}
	return []string{
		`{"text":"Hi","stream":false}`, `{"text":"Hi","voice":"anjura"}`, `{"text":"Hi"}`, `{"text":"Hi","format":"pcm16"}`, `{"text":"` + long + `"}`,
	}
}

// unspoken says of every start that something was left out.
type unspoken struct{ speech.Sink }

func (u unspoken) Start(s speech.Start) error {
	s.Unspoken = "你"
	return u.Sink.Start(s)
}

// Every name of a failure that a client can meet stands in a response.
func TestOpenAPINamesEveryFailure(t *testing.T) {
	doc := readOpenAPI(t)
	var said strings.Builder
	for _, r := range doc.Components.Responses {
		said.WriteString(*r.Value.Description + " ")
	}
	for _, err := range []error{
		speech.ErrTextEmpty, speech.UnknownVoice("x"), speech.ErrBadFormat, speech.ErrBadSampleRate, speech.ErrBadSpeed,
		speech.ErrBadTemperature,
		speech.ErrNothingToSay, speech.ErrBadDisclosure, speech.ErrTextNUL, speech.ErrTextTooLong,
		speech.TooManyChunks(65), speech.VoiceNotAllowed("x"),
		access.ErrMissingKey, access.ErrInvalidKey, access.ErrUnavailable, speech.ErrBusy, speech.ErrWarming,
		speech.ErrTimeout, speech.ErrWorkerGone,
		errNotFound, errBodyTooLarge, errUpgradeRequired, errEncodedBody, errBodyTimeout, errBodyBroken,
		errors.New("engine"),
	} {
		if code := failureOf(err).code; !strings.Contains(said.String(), code) {
			t.Errorf("%v: the code %s is not described", err, code)
		}
	}
	if !strings.Contains(doc.Info.Description, failureOf(errMethodNotAllowed).code) {
		t.Error("method_not_allowed is not described")
	}
}

type asyncDocument struct {
	AsyncAPI string
	Channels struct {
		Stream struct {
			Address  string
			Messages map[string]struct {
				Payload struct {
					Properties map[string]struct {
						Const string
						Type  string
						Items struct{ Properties map[string]any }
					}
					Required []string
				}
			}
		}
	}
	Operations map[string]struct {
		Action   string
		Messages []struct {
			Ref string `json:"$ref"`
		}
	}
}

// TestAsyncAPIHasEveryMessage compares it with the types of the events, and with the fields that messages may have.
func TestAsyncAPIHasEveryMessage(t *testing.T) {
	got := newRig(t, &script{}).do(http.MethodGet, "/asyncapi.json", "", "X-Api-Key", "")
	var doc asyncDocument
	if err := json.Unmarshal(got.body, &doc); err != nil || !strings.HasPrefix(doc.AsyncAPI, "3.") ||
		doc.Channels.Stream.Address != "/v1/tts/stream" {
		t.Fatalf("%v, version %q, address %q", err, doc.AsyncAPI, doc.Channels.Stream.Address)
	}
	messages := doc.Channels.Stream.Messages
	events := map[string]any{
		"start": startEvent{}, "chunk": chunkEvent{}, "first_audio_ms": firstAudioEvent{}, "words": wordsEvent{}, "chunk_end": chunkEndEvent{},
		"flushed": flushedEvent{}, "end": endEvent{}, "cancelled": cancelledEvent{}, "error": errorEvent{}, "pong": pongEvent{},
	}
	told, asked := []string{"audio"}, []string{"speak", "append", "flush", "finish", "cancel", "clear", "ping"}
	for name, event := range events {
		told = append(told, name)
		payload := messages[name].Payload
		all, required := jsonFields(event)
		if described := slices.Sorted(maps.Keys(payload.Properties)); !slices.Equal(described, all) {
			t.Errorf("%s: described are %v, sent are %v", name, described, all)
		}
		if slices.Sort(payload.Required); !slices.Equal(payload.Required, required) {
			t.Errorf("%s: required are described %v, always sent are %v", name, payload.Required, required)
		}
		if payload.Properties["type"].Const != name {
			t.Errorf("%s: its type is described as %q", name, payload.Properties["type"].Const)
		}
	}
	words, _ := jsonFields(wordTimes{})
	described := slices.Sorted(maps.Keys(messages["words"].Payload.Properties["words"].Items.Properties))
	if !slices.Equal(described, words) {
		t.Errorf("a word: described are %v, sent are %v", described, words)
	}
	read := slices.Sorted(slices.Values(fieldsFrom[fromSocket].names))
	for _, name := range []string{"speak", typeAppend} {
		if described := slices.Sorted(maps.Keys(messages[name].Payload.Properties)); !slices.Equal(described, read) {
			t.Errorf("%s: described are %v, read are %v", name, described, read)
		}
	}
	for operation, want := range map[string][]string{"tell": told, "ask": asked} {
		var listed []string
		for _, m := range doc.Operations[operation].Messages {
			listed = append(listed, strings.TrimPrefix(m.Ref, "#/channels/stream/messages/"))
		}
		slices.Sort(listed)
		if slices.Sort(want); !slices.Equal(listed, want) {
			t.Errorf("%s: listed are %v, want %v", operation, listed, want)
		}
	}
	if len(messages) != len(told)+len(asked) {
		t.Errorf("%d messages are described, want %d", len(messages), len(told)+len(asked))
	}
}

// TestAsyncAPIHasEverySocket: each is a channel.
func TestAsyncAPIHasEverySocket(t *testing.T) {
	g := newRig(t, &script{}, withDialects)
	var doc struct {
		Channels map[string]struct{ Address string }
	}
	if err := json.Unmarshal(g.do(http.MethodGet, "/asyncapi.json", "", "X-Api-Key", "").body, &doc); err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for _, channel := range doc.Channels {
		described[channel.Address] = true
	}
	served := map[string]bool{"/v1/tts/stream": true}
	for _, d := range g.server.cfg.Dialects {
		for _, r := range d.Routes {
			if r.Socket != nil {
				served[r.Path] = true
			}
		}
	}
	if !maps.Equal(described, served) {
		t.Errorf("described are %v, served are %v", described, served)
	}
}

// jsonFields returns the names of the fields of v in JSON, and those that are never left out, both in order.
func jsonFields(v any) (all, required []string) {
	for f := range reflect.TypeOf(v).Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		all = append(all, name)
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	slices.Sort(all)
	slices.Sort(required)
	return all, required
}

// Paths that are named for language models are served.
func TestLLMsNamesWhatThereIs(t *testing.T) {
	g := newRig(t, &script{})
	got := g.do(http.MethodGet, "/llms.txt", "", "X-Api-Key", "")
	if got.StatusCode != http.StatusOK || !strings.HasPrefix(string(got.body), "# Swar\n\n> ") {
		t.Fatalf("%s: %.40s", got.Status, got.body)
	}
	served := map[string]bool{}
	eachRoute(t, g.server, func(_, path string) { served[path] = true })
	for path := range served {
		if path != "/" && path != "/metrics" && path != "/llms.txt" && path != "/v1/tts/words" && path != "/samples" &&
			path != samplePath && !strings.Contains(string(got.body), path) {
			t.Errorf("llms.txt does not name %s", path)
		}
	}
}

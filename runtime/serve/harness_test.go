package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a speaker that does exactly what a test tells it. Its zero value speaks five frames.
type script struct {
	TurnFunc      func(speech.Turn)
	SpeakFunc     func(ctx context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error)
	NormalizeFunc func(u speech.Utterance) (speech.Normalized, error)
	ModelFunc     func() speech.Model
	CapacityFunc  func() speech.Capacity
}

func (s *script) Speak(
	ctx context.Context, u speech.Utterance, turn speech.Turn, sink speech.Sink,
) (speech.Stats, error) {
	if s.TurnFunc != nil {
		s.TurnFunc(turn)
	}
	if s.SpeakFunc == nil {
		return speakFrames(u, sink, 1, 4)
	}
	return s.SpeakFunc(ctx, u, sink)
}

func (s *script) Normalize(_ context.Context, u speech.Utterance) (speech.Normalized, error) {
	if s.NormalizeFunc == nil {
		return speech.Normalized{Text: u.Text, Chunks: []speech.Chunk{{Text: u.Text, Tokens: 1}}}, nil
	}
	return s.NormalizeFunc(u)
}

func (s *script) Model() speech.Model {
	if s.ModelFunc == nil {
		return speech.Model{ID: "fake", Voices: []speech.Voice{
			{Name: "anjura", Language: "hi-IN+en-IN", SampleRate: speech.SampleRate, PromptFrames: 102},
			{Name: "raj", Language: "hi-IN+en-IN", SampleRate: speech.SampleRate, PromptFrames: 102},
		}}
	}
	return s.ModelFunc()
}

func (s *script) Capacity() speech.Capacity {
	if s.CapacityFunc == nil {
		return speech.Capacity{Workers: 2, Ready: 2, Busy: 1, QueueLimit: 8}
	}
	return s.CapacityFunc()
}

func (s *script) Ready() error { return s.Capacity().Readiness() }

// speakFrames speaks one chunk in blocks of the given numbers of frames. Every byte of audio tells its frame.
func speakFrames(u speech.Utterance, sink speech.Sink, blocks ...int) (st speech.Stats, err error) {
	st.Started = true
	if err := sink.Start(startOf(u)); err != nil {
		return st, err
	}
	if err := sink.ChunkStart(speech.Chunk{Text: u.Text, Tokens: 1}); err != nil {
		return st, err
	}
	for _, n := range blocks {
		data := frames(st.Frames, n)
		st.Frames += n
		if err := sink.Audio(speech.Audio{Frames: n, Data: data, Prefill: 12340000, FirstFrame: 5670000}); err != nil {
			return st, err
		}
	}
	st.Chunks++
	return st, sink.ChunkEnd(speech.ChunkEnd{Frames: st.Frames, EOS: true, Words: wordsOf(u)})
}

// wordsOf is what [speakFrames] says of words, where they are asked for.
func wordsOf(u speech.Utterance) []speech.Word {
	if !u.WordTimes {
		return nil
	}
	return []speech.Word{{Text: u.Text, CharEnd: len(u.Text), Start: 80 * time.Millisecond,
		End: 123456789 * time.Nanosecond}}
}

func startOf(u speech.Utterance) speech.Start {
	return speech.Start{
		Model: "fake", Voice: u.Voice, Format: u.Format, Seed: u.Seed, Chunks: 1, Normalized: u.Text,
		Disclosure: u.Disclosure,
		Normalize:  150000, Queue: 2250000, WordTimes: u.WordTimes,
	}
}

// frames returns n frames from the given one on, as [speakFrames] speaks them.
func frames(from, n int) []byte {
	var b []byte
	for i := range n {
		b = append(b, bytes.Repeat([]byte{byte(from + i)}, speech.FrameBytes)...)
	}
	return b
}

// rig is a server under test behind a real TCP listener.
type rig struct {
	t      *testing.T
	server *Server
	logs   *logLines
	addr   string
	url    string
	client *http.Client
}

const testKey = "open-key" // may use every voice; raj-key only raj

// newRig serves speaker to holders of testKey and raj-key.
func newRig(t *testing.T, speaker speech.Speaker, change ...func(*Config)) *rig {
	t.Helper()
	s, logs := newServer(t, speaker, change...)
	h := httptest.NewUnstartedServer(s)
	h.Config.ErrorLog = log.New(failOnWrite{t}, "", 0)
	h.Start()
	t.Cleanup(h.Close)
	return &rig{t: t, server: s, logs: logs, addr: h.Listener.Addr().String(), url: h.URL, client: h.Client()}
}

func newServer(t testing.TB, speaker speech.Speaker, change ...func(*Config)) (*Server, *logLines) {
	t.Helper()
	keys, err := access.NewStatic([]string{testKey, "raj-key=raj"}, []string{"anjura", "raj"})
	if err != nil {
		t.Fatal(err)
	}
	logs := &logLines{}
	cfg := Config{
		Speaker: speaker, Keys: keys, Metrics: metrics.New().RegisterAPI(metrics.StreamsOf(speaker.Capacity)),
		Version: "v0-test",
		Log:     slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, f := range change {
		f(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s, logs
}

// failOnWrite is the error log of net/http, which must stay empty: it would show a panic or a header written twice.
type failOnWrite struct{ t *testing.T }

func (f failOnWrite) Write(p []byte) (int, error) {
	f.t.Errorf("net/http complains: %s", p)
	return len(p), nil
}

// answered is an answer that was read to its end.
type answered struct {
	*http.Response
	body []byte
	cut  error // why the body could not be read to its end
}

// do sends a request with testKey, which a header of the call may replace (an empty value removes it).
func (g *rig) do(method, path, body string, headers ...string) answered {
	g.t.Helper()
	a, err := g.try(g.t.Context(), method, path, body, headers...)
	if err != nil {
		g.t.Fatal(err)
	}
	return a
}

func (g *rig) try(ctx context.Context, method, path, body string, headers ...string) (answered, error) {
	req := g.request(ctx, method, path, body, headers...)
	res, err := g.client.Do(req)
	if err != nil {
		return answered{}, err
	}
	defer res.Body.Close()
	a := answered{Response: res}
	a.body, a.cut = io.ReadAll(res.Body)
	return a, nil
}

func (g *rig) request(ctx context.Context, method, path, body string, headers ...string) *http.Request {
	g.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, g.url+path, reader)
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", testKey)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Del(headers[i])
		if headers[i+1] != "" {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	return req
}

// speak posts body to /v1/tts.
func (g *rig) speak(body string, headers ...string) answered {
	g.t.Helper()
	return g.do(http.MethodPost, "/v1/tts", body, headers...)
}

// wantError checks that a is a refusal as every client may expect it.
func (a answered) wantError(t *testing.T, status int, text, code string) {
	t.Helper()
	if a.StatusCode != status {
		t.Errorf("status = %d, want %d (body %.200s)", a.StatusCode, status, a.body)
	}
	var got map[string]string
	if err := json.Unmarshal(a.body, &got); err != nil || len(got) != 1 || got["error"] != text {
		t.Errorf("body = %.200s (%v), want only the error %q", a.body, err, text)
	}
	if got := a.Header.Get("X-Error-Code"); got != code {
		t.Errorf("x-error-code = %q, want %q", got, code)
	}
	if got, want := a.Header.Get("Content-Type"), "application/json"; got != want {
		t.Errorf("Content-Type = %q, want %q", got, want)
	}
	if a.Header.Get("X-Request-Id") == "" {
		t.Error("x-request-id is missing")
	}
	if got := a.Header.Get("Access-Control-Allow-Origin"); got != "*" {
		t.Errorf("Access-Control-Allow-Origin = %q, want *", got)
	}
	retry := ""
	if status == http.StatusServiceUnavailable {
		retry = "1"
	}
	if got := a.Header.Get("Retry-After"); got != retry {
		t.Errorf("Retry-After = %q, want %q", got, retry)
	}
}

// metric returns the value of a sample, named as in the text format; a sample that is not there is 0.
func (g *rig) metric(name string) float64 {
	g.t.Helper()
	return metricOf(g.t, g.server, name)
}

func metricOf(t testing.TB, s *Server, name string) float64 {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
	}
	return 0
}

// logLines collects what is logged and waits for lines, since a line may come after the answer.
type logLines struct {
	mu    sync.Mutex
	lines []map[string]any
	more  chan struct{} // closed and replaced with every line
}

func (l *logLines) Write(p []byte) (int, error) {
	var line map[string]any
	if err := json.Unmarshal(p, &line); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
	return len(p), nil
}

// wait returns the first n lines as soon as they are there.
func (l *logLines) wait(t testing.TB, n int) []map[string]any {
	t.Helper()
	for {
		l.mu.Lock()
		if len(l.lines) >= n {
			defer l.mu.Unlock()
			return slices.Clone(l.lines)
		}
		if l.more == nil {
			l.more = make(chan struct{})
		}
		more := l.more
		l.mu.Unlock()
		select {
		case <-more:
		case <-t.Context().Done():
			t.Fatalf("the test ended before %d lines were logged", n)
		}
	}
}

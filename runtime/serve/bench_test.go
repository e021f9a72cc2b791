package serve

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// discard is a connection that costs nothing, so that only this package's own work is measured.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header              { return d.header }
func (d *discard) WriteHeader(int)                  {}
func (d *discard) Write(p []byte) (int, error)      { return len(p), nil }
func (d *discard) Flush()                           {}
func (d *discard) SetReadDeadline(time.Time) error  { return nil }
func (d *discard) SetWriteDeadline(time.Time) error { return nil }

func newBenchServer(b *testing.B, speaker speech.Speaker) *Server {
	b.Helper()
	s, _ := newServer(b, speaker, func(c *Config) { c.Log = slog.New(slog.DiscardHandler) })
	return s
}

func benchRequest(b *testing.B, body string) *http.Request {
	b.Helper()
	r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/v1/tts", strings.NewReader(body))
	r.Header.Set("X-Api-Key", testKey)
	return r
}

// speakBlocks speaks blocks of four frames as long as start() says that there are more.
func speakBlocks(start func() (more func() bool)) *script {
	data := frames(0, 4)
	return &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (st speech.Stats,
		err error) {
		st.Started = true
		if err := sink.Start(startOf(u)); err != nil {
			return st, err
		}
		for more := start(); more(); st.Frames += 4 {
			if err := sink.Audio(speech.Audio{Frames: 4, Data: data}); err != nil {
				return st, err
			}
		}
		return st, nil
	}}
}

// BenchmarkRESTBlock is what a block of four frames costs here, beside net/http: a hash, deadlines, a write and a
// flush.
func BenchmarkRESTBlock(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(4 * speech.FrameBytes)
	s := newBenchServer(b, speakBlocks(func() func() bool { return b.Loop }))
	s.ServeHTTP(&discard{make(http.Header)}, benchRequest(b, `{"text":"Hi","format":"pcm16"}`))
}

// BenchmarkRESTBlockOverTCP is the same with net/http, the kernel and a client that reads, on one machine.
func BenchmarkRESTBlockOverTCP(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(4 * speech.FrameBytes)
	h := httptest.NewServer(newBenchServer(b, speakBlocks(func() func() bool { return b.Loop })))
	defer h.Close()
	get(b, h, `{"text":"Hi","format":"pcm16"}`)
}

// BenchmarkRESTRequest is what a whole request of one frame costs here, beside net/http.
func BenchmarkRESTRequest(b *testing.B) {
	for _, tt := range []struct{ name, body string }{
		{"stream", `{"text":"Aapka order kal tak aa jayega.","voice":"raj","format":"pcm16"}`},
		{"buffered", `{"text":"Aapka order kal tak aa jayega.","voice":"raj","stream":false}`},
		{"refused", `{"text":"Aapka order kal tak aa jayega.","voice":"nobody"}`},
	} {
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			data := frames(0, 1)
			s := newBenchServer(b, &script{SpeakFunc: func(_ context.Context, u speech.Utterance,
				sink speech.Sink) (speech.Stats, error) {
				if err := sink.Start(startOf(u)); err != nil {
					return speech.Stats{}, err
				}
				return speech.Stats{Started: true, Frames: 1}, sink.Audio(speech.Audio{Frames: 1, Data: data})
			}})
			r := benchRequest(b, tt.body)
			for b.Loop() {
				r.Body = io.NopCloser(strings.NewReader(tt.body))
				s.ServeHTTP(&discard{make(http.Header)}, r)
			}
		})
	}
}

// BenchmarkRESTEndToEnd speaks about a second of audio through the whole local path with the fake engine, over TCP.
func BenchmarkRESTEndToEnd(b *testing.B) {
	for _, format := range []string{"pcm16", "wav", "opus"} {
		b.Run(format, func(b *testing.B) {
			h := httptest.NewServer(newBenchServer(b, newWarmLocal(b, 1, synthtest.Config{})))
			defer h.Close()
			b.ReportAllocs()
			for b.Loop() {
				get(b, h, `{"text":"Aapka order kal tak aa jayega, aur payment ho gaya hai. Dhanyavaad!","format":"`+format+`"}`)
			}
		})
	}
}

func get(b *testing.B, h *httptest.Server, body string) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, h.URL+"/v1/tts", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("X-Api-Key", testKey)
	res, err := h.Client().Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	if n, err := io.Copy(io.Discard, res.Body); err != nil || n == 0 || res.StatusCode != http.StatusOK {
		b.Fatalf("status %d, %d bytes, %v", res.StatusCode, n, err)
	}
}

// TestBlocksAllocateNothing holds what the benchmark shows.
func TestBlocksAllocateNothing(t *testing.T) {
	const n = 1000
	data := frames(0, 4)
	var perBlock float64
	var s *Server
	speak := func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
		err := sink.Start(startOf(u))
		perBlock = testing.AllocsPerRun(n, func() {
			if e := sink.Audio(speech.Audio{Frames: 4, Data: data}); e != nil {
				err = e
			}
			for s.budget.use().bytes > 0 { // what is delivered later needs memory until then
				runtime.Gosched()
			}
		})
		return speech.Stats{Started: true, Frames: 4 * n}, err
	}
	s, _ = newServer(t, &script{SpeakFunc: speak})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/tts", strings.NewReader(`{"text":"Hi"}`))
	r.Header.Set("X-Api-Key", testKey)
	s.ServeHTTP(&discard{make(http.Header)}, r)
	if perBlock != 0 {
		t.Errorf("%v allocations per block, want none", perBlock)
	}
}

package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
)

// firstAfter is how long the engine of [firstFrames] needs for its first frame.
const firstAfter = 300 * time.Millisecond

// firstFrames speaks a block of frames, and another one so much later that whoever waits for it is found out.
func firstFrames(block int) *script {
	return &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (st speech.Stats,
		err error) {
		st = speech.Stats{Started: true, Chunks: 1, Chars: len(u.Text)}
		if err := errors.Join(sink.Start(startOf(u)),
			sink.ChunkStart(speech.Chunk{Text: u.Text, Tokens: 1, CharEnd: len(u.Text)})); err != nil {
			return st, err
		}
		for _, after := range []time.Duration{firstAfter, 10 * time.Second} {
			time.Sleep(after)
			if err := sink.Audio(speech.Audio{Frames: block, Data: frames(0, block)}); err != nil {
				return st, err
			}
			st.Frames += block
		}
		return st, sink.ChunkEnd(speech.ChunkEnd{Frames: st.Frames, EOS: true})
	}}
}

// What platforms of telephony begin a call with.
const (
	plivoStart  = `{"event":"start","start":{"streamId":"s","callId":"c"}}`
	exotelStart = `{"event":"start","stream_sid":"s","start":{"stream_sid":"s"}}`
)

const firstText = "Namaste ji kaise ho?"

// requestsOfVendors ask for audio over HTTP, in each of its kinds that leave with the first frame.
var requestsOfVendors = map[string]struct{ path, body string }{
	"native":                    {"/v1/tts", `{"text":%q,"format":"pcm16"}`},
	"OpenAI":                    {"/v1/audio/speech", `{"input":%q,"voice":"nova","response_format":"pcm"}`},
	"OpenAI, events":            {"/v1/audio/speech", `{"input":%q,"voice":"nova","response_format":"pcm","stream_format":"sse"}`},
	"OpenAI, opus":              {"/v1/audio/speech", `{"input":%q,"voice":"nova","response_format":"opus"}`},
	"Deepgram":                  {"/v1/speak?encoding=linear16&container=none", `{"text":%q}`},
	"Deepgram, mulaw":           {"/v1/speak?encoding=mulaw&container=none", `{"text":%q}`},
	"ElevenLabs":                {"/v1/text-to-speech/raj/stream?output_format=pcm_24000", `{"text":%q}`},
	"ElevenLabs at 8 kHz":       {"/v1/text-to-speech/raj/stream?output_format=ulaw_8000", `{"text":%q}`},
	"ElevenLabs at 44.1 kHz":    {"/v1/text-to-speech/raj/stream?output_format=pcm_44100", `{"text":%q}`},
	"ElevenLabs with times":     {"/v1/text-to-speech/raj/stream/with-timestamps?output_format=pcm_24000", `{"text":%q}`},
	"Sarvam":                    {"/text-to-speech/stream", `{"text":%q,"speaker":"raj","output_audio_codec":"linear16"}`},
	"Cartesia":                  {"/tts/bytes", `{"transcript":%q,"model_id":"m","voice":"raj","output_format":` + rawFormat + `}`},
	"Cartesia, events":          {"/tts/sse", `{"transcript":%q,"model_id":"m","voice":"raj","output_format":` + rawFormat + `}`},
	"Vapi":                      {"/v1/vapi?voice=raj", `{"message":{"type":"voice-request","text":%q,"sampleRate":8000}}`},
	"jambonz":                   {"/v1/jambonz", `{"voice":"raj","type":"text","text":%q}`},
	"ElevenLabs, mp3 at 44 kHz": {"/v1/text-to-speech/raj/stream", `{"text":%q}`},
}

const rawFormat = `{"container":"raw","encoding":"pcm_s16le","sample_rate":24000}`

// TestVendorsFirstAudioIsTheNative: over HTTP and on sockets the first audio comes as soon as natively, but for 5 ms.
// Time is virtual, so that only waiting counts; what working takes is measured by BenchmarkDialects of hack/e2e.
func TestVendorsFirstAudioIsTheNative(t *testing.T) {
	const most = 5 * time.Millisecond
	native := firstAfter
	for name, r := range requestsOfVendors {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, closeRig := newBubbleRig(t, firstFrames(1), withVoices)
				defer closeRig()
				if took := g.firstByte(r.path, fmt.Sprintf(r.body, firstText)); took > native+most || took < native {
					t.Errorf("the first audio comes after %v, natively after %v", took, native)
				}
			})
		})
	}
	sockets := map[string]func(g *wsRig) time.Duration{
		"native": func(g *wsRig) time.Duration {
			return g.connect().firstAudio(fmt.Sprintf(`{"request_id":"a","text":%q}`, firstText))
		},
		"native, fed": func(g *wsRig) time.Duration {
			return g.connect().firstAudio(fmt.Sprintf(`{"type":"append","request_id":"a","text":%q}`, firstText+" "))
		},
	}
	for name, v := range callClients {
		sockets[name] = func(g *wsRig) time.Duration { return v.open(g).firstAudio(v.turn(firstText)...) }
	}
	for name, v := range vendorClients {
		sockets[name] = func(g *wsRig) time.Duration { return v.open(g).firstAudio(v.turn(firstText)...) }
	}
	for name, hear := range sockets {
		t.Run(name+" socket", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				block := 1
				if name == "Exotel" { // which wants messages of 200 ms
					block = 3
				}
				g, closeRig := newBubbleRig(t, firstFrames(block), withVoices)
				defer closeRig()
				if took := hear(g); took > native+most || took < native {
					t.Errorf("the first audio comes after %v, natively after %v", took, native)
				}
			})
		})
	}
}

// firstByte asks for audio and returns when its first byte came.
func (g *wsRig) firstByte(path, body string) time.Duration {
	g.t.Helper()
	transport := &http.Transport{DialContext: g.dial, DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	ctx, leave := context.WithCancel(g.t.Context())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://swar.test"+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", testKey)
	began := time.Now()
	res, err := transport.RoundTrip(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	first := make([]byte, 100) // more than the headers of a container
	if n, err := io.ReadFull(res.Body, first); err != nil || res.StatusCode != http.StatusOK {
		g.t.Fatalf("%s %.200s: %v", res.Status, first[:n], err)
	}
	return time.Since(began)
}

// firstAudio sends messages and returns after how long the first of their audio came. It closes the socket.
func (s *socket) firstAudio(messages ...string) time.Duration {
	s.t.Helper()
	defer s.conn.Close()
	began := time.Now()
	go func() {
		for _, m := range messages {
			s.send(m)
		}
	}()
	for {
		m := s.next()
		data, _ := m.event["data"].(map[string]any)
		isChunk := m.event["type"] == "chunk" && m.event["data"] != nil // of Cartesia
		if m.audio != nil || m.event["audio"] != nil || data["audio"] != nil || m.event["media"] != nil || isChunk ||
			m.event["event"] == "playAudio" {
			return time.Since(began)
		}
	}
}

// TestDialectsCostTheNativeAPINothing: a native request and a native utterance on a socket allocate as much with all
// dialects as without any.
func TestDialectsCostTheNativeAPINothing(t *testing.T) {
	quiet := func(c *Config) { c.Log = slog.New(slog.DiscardHandler) }
	speaker := func() *script {
		data := frames(0, 1)
		return &script{SpeakFunc: func(_ context.Context, u speech.Utterance, sink speech.Sink) (speech.Stats, error) {
			st := speech.Stats{Started: true, Frames: 1}
			return st, errors.Join(sink.Start(startOf(u)), sink.ChunkStart(speech.Chunk{Text: u.Text}),
				sink.Audio(speech.Audio{Frames: 1, Data: data}), sink.ChunkEnd(speech.ChunkEnd{Frames: 1}))
		}}
	}
	const body = `{"text":"Aapka order kal tak aa jayega.","voice":"raj","format":"pcm16"}`
	request := func(change ...func(*Config)) func() {
		s, _ := newServer(t, speaker(), append(change, quiet)...)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/tts", nil)
		r.Header.Set("X-Api-Key", testKey)
		return func() {
			r.Body = io.NopCloser(strings.NewReader(body))
			s.ServeHTTP(&discard{make(http.Header)}, r)
		}
	}
	utterance := func(change ...func(*Config)) func() {
		g := newWSRig(t, speaker(), append(change, quiet)...)
		w := g.wire(64 << 10)
		t.Cleanup(func() { w.conn.Close() })
		message, end := frameOf(`{"text":"Aapka order kal tak aa jayega.","voice":"raj","request_id":"a"}`),
			[]byte(`{"type":"end"`)
		return func() {
			w.send(message)
			w.until(end)
		}
	}
	for name, of := range map[string]func(...func(*Config)) func(){"a request": request, "an utterance": utterance} {
		t.Run(name, func(t *testing.T) {
			with, without := of(withVoices), of()
			least := func(do func()) float64 { // what else runs in the process only adds
				n := testing.AllocsPerRun(200, do)
				for range 4 {
					n = min(n, testing.AllocsPerRun(200, do))
				}
				return n
			}
			if on, off := least(with), least(without); on > off || off == 0 {
				t.Errorf("%v allocations with dialects, %v without", on, off)
			}
		})
	}
}

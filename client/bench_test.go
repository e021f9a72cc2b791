package client

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkSpeak is a whole call over loopback, for ten seconds of audio: what the client costs beside net/http is the
// checksum.
func BenchmarkSpeak(b *testing.B) {
	audio := strings.Repeat("Swar", 10*SampleRate*2/4)
	proof := proofOf(audio)
	c := serve(b, Options{}, func(w http.ResponseWriter, _ *http.Request) { stream(w, audio, proof) })
	for name, open := range map[string]func(*Audio) io.ReadCloser{
		"read":  func(a *Audio) io.ReadCloser { return a },
		"ahead": (*Audio).ReadAhead,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(audio)))
			b.ReportAllocs()
			for b.Loop() {
				a, err := c.Speak(b.Context(), Request{Text: "a"})
				if err != nil {
					b.Fatal(err)
				}
				r := open(a)
				if n, err := io.Copy(io.Discard, r); err != nil || n != int64(len(audio)) {
					b.Fatalf("%d bytes, %v", n, err)
				}
				r.Close()
			}
		})
	}
}

func BenchmarkParseEvent(b *testing.B) {
	text := []byte(`{"type":"chunk_end","request_id":"req_1","chunk":1,"frames":19,"audio_s":1.52,"prefill_ms":2.5,"prefill_cached":true,"eos":true}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseEvent(text); err != nil {
			b.Fatal(err)
		}
	}
}

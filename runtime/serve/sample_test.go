package serve

import (
	"bytes"
	"net/http"
	"testing"
)

func TestSamples(t *testing.T) {
	audio := bytes.Repeat([]byte("RIFF"), 100)
	g := newRig(t, &script{}, func(c *Config) {
		c.Samples = func(voice string) ([]byte, bool) { return audio, voice == "raj" }
	})
	got := g.do(http.MethodGet, "/samples/raj.wav", "", "X-Api-Key", "")
	etag := got.Header.Get("ETag")
	if got.StatusCode != http.StatusOK || !bytes.Equal(got.body, audio) ||
		got.Header.Get("Content-Type") != "audio/wav" || etag == "" {
		t.Errorf("%s, %d bytes with %v", got.Status, len(got.body), got.Header)
	}
	if h := got.Header; h.Get("Cache-Control") != "no-cache" || h.Get("X-Synthetic") != "1" ||
		h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers %v", h)
	}
	if got := g.do(http.MethodGet, "/samples/raj.wav", "", "X-Api-Key", "", "If-None-Match",
		etag); got.StatusCode != http.StatusNotModified {
		t.Errorf("who has it is answered %s", got.Status)
	}
	if got := g.do(http.MethodGet, "/samples/raj.wav", "", "X-Api-Key", "", "Range",
		"bytes=4-7"); string(got.body) != "RIFF" {
		t.Errorf("of four bytes %q came", got.body)
	}
	if got := g.do(http.MethodGet, "/samples", "", "X-Api-Key", ""); got.StatusCode != http.StatusOK ||
		string(bytes.TrimSpace(got.body)) != `{"voices":["raj"]}` {
		t.Errorf("of samples there are %s %s", got.Status, got.body)
	}
	for _, path := range []string{"/samples/anjura.wav", "/samples/raj", "/samples/raj.mp3", "/samples/",
		"/samples/.wav", "/samples/a/raj.wav", "/samples/..%2fraj.wav"} {
		g.do(http.MethodGet, path, "", "X-Api-Key", "").wantError(t, 404, "not found", "not_found")
	}
	without := newRig(t, &script{})
	if got := without.do(http.MethodGet, "/samples", "", "X-Api-Key",
		""); string(bytes.TrimSpace(got.body)) != `{"voices":[]}` {
		t.Errorf("without samples there are %s", got.body)
	}
	without.do(http.MethodGet, "/samples/raj.wav", "", "X-Api-Key", "").wantError(t, 404, "not found", "not_found")
}

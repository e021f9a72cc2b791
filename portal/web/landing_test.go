//go:build !noui

package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// beside asks the pages of a program whose API answers JSON everywhere.
func beside(t *testing.T, p Program, method, target string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	h, err := Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"service":"swar"}`)
	}), p)
	if err != nil {
		t.Fatal(err)
	}
	return ask(h.ServeHTTP, method, target, header...)
}

// TestRootIsJSONForAllButBrowsers: the contract first, and caches are told what it depends on.
func TestRootIsJSONForAllButBrowsers(t *testing.T) {
	for _, c := range []struct {
		name, method, accept string
		html                 bool
	}{
		{"no header", "GET", "", false},
		{"curl", "GET", "*/*", false},
		{"a client of the API", "GET", "application/json", false},
		{"both alike", "GET", "text/html, application/json", false},
		{"JSON rather", "GET", "text/html;q=0.8, application/json;q=0.9", false},
		{"HTML rather", "GET", "text/html;q=0.9, application/json;q=0.8", true},
		{"all text", "GET", "text/*", false},
		{"no HTML", "GET", "text/html;q=0", false},
		{"what cannot be read", "GET", "text/html;q=x", false},
		{"a browser", "GET", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", true},
		{"a browser's head", "HEAD", "text/html,*/*;q=0.8", true},
		{"a browser's form", "POST", "text/html,*/*;q=0.8", false},
		{"another browser", "GET", "TEXT/HTML", true},
	} {
		w := beside(t, Program{}, c.method, "/", "Accept", c.accept)
		kind := w.Header().Get("Content-Type")
		if isHTML := strings.HasPrefix(kind, "text/html"); w.Code != 200 || isHTML != c.html {
			t.Errorf("%s: status %d, %s", c.name, w.Code, kind)
		}
		if c.method != "POST" && !slices.Contains(w.Header().Values("Vary"), "Accept") {
			t.Errorf("%s: Vary is %q", c.name, w.Header().Values("Vary"))
		}
	}
}

func TestLandingSpeaksTwoLanguages(t *testing.T) {
	const html = "text/html"
	for _, c := range []struct{ target, accepts, want string }{
		{"/", "", "en"},
		{"/", "hi", "hi"},
		{"/", "hi-IN,hi;q=0.9,en;q=0.8", "hi"},
		{"/", "en-IN,en;q=0.9,hi;q=0.8", "en"},
		{"/", "ta,hi;q=0.5", "hi"},
		{"/", "hi;q=0", "en"},
		{"/", "hil", "en"},
		{"/?lang=hi", "en", "hi"},
		{"/?lang=en", "hi", "en"},
		{"/?lang=xx", "hi", "hi"},
		{"/welcome?lang=hi", "", "hi"},
	} {
		w := beside(t, Program{}, "GET", c.target, "Accept", html, "Accept-Language", c.accepts)
		if got := w.Header().Get("Content-Language"); got != c.want ||
			!strings.Contains(w.Body.String(), `<html lang="`+c.want+`"`) {
			t.Errorf("%s, %q: got %q, want %q", c.target, c.accepts, got, c.want)
		}
		if !slices.Contains(w.Header().Values("Vary"), "Accept-Language") {
			t.Errorf("%s: Vary is %q", c.target, w.Header().Values("Vary"))
		}
	}
}

// TestLandingKnowsTheServer: its voices as they are now, its address, and where the API is; whatever a voice is called
// it stays text.
func TestLandingKnowsTheServer(t *testing.T) {
	voices := []string{"anjura", `<b>"x"`}
	p := Program{Portal: true, API: "https://tts.example.org/", Voices: func() []string { return voices }}
	h, err := Wrap(http.NotFoundHandler(), p)
	if err != nil {
		t.Fatal(err)
	}
	first := ask(h.ServeHTTP, "GET", "/", "Accept", "text/html")
	page := first.Body.String()
	for _, want := range []string{
		`src="https://tts.example.org/samples/anjura.wav"`, `src="https://tts.example.org/samples/%3Cb%3E%22x%22.wav"`, "&lt;b&gt;", "curl -sS https://tts.example.org/v1/tts",
		`data-portal="on"`, `href="/signin"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if strings.Contains(page, "<b>") || strings.Contains(page, "<!--") || strings.Contains(page, "127.0.0.1") {
		t.Errorf("the page holds what should have been replaced: %s", page)
	}
	if csp := first.Header().Get("Content-Security-Policy"); !strings.Contains(csp,
		"media-src 'self' blob: https://tts.example.org;") {
		t.Errorf("samples may not be heard: %s", csp)
	}
	tag := first.Header().Get("ETag")
	if same := ask(h.ServeHTTP, "GET", "/", "Accept", "text/html", "If-None-Match",
		tag); same.Code != http.StatusNotModified {
		t.Errorf("asked again: status %d", same.Code)
	}
	voices = []string{"raj"}
	if other := ask(h.ServeHTTP, "GET", "/", "Accept", "text/html", "If-None-Match", tag); other.Code != 200 ||
		strings.Contains(other.Body.String(), "anjura") || !strings.Contains(other.Body.String(), "/samples/raj.wav") {
		t.Errorf("with another voice: status %d", other.Code)
	}
	if zipped := ask(h.ServeHTTP, "GET", "/", "Accept", "text/html", "Accept-Encoding",
		"gzip"); zipped.Header().Get("Content-Encoding") != "gzip" {
		t.Error("it is not compressed")
	}
	if silent := beside(t, Program{}, "GET", "/", "Accept",
		"text/html").Body.String(); strings.Contains(silent, "<audio") ||
		!strings.Contains(silent, `data-portal="off"`) {
		t.Errorf("without voices and a portal: %s", silent)
	}
	many := beside(t, Program{Voices: func() []string { return strings.Split("abcdefg", "") }}, "GET", "/", "Accept",
		"text/html").Body.String()
	if n := strings.Count(many, "<audio"); n != maxVoices {
		t.Errorf("%d voices are offered, want %d", n, maxVoices)
	}
}

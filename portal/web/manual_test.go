//go:build !noui

package web

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func zipped(t *testing.T, text string) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: b.Bytes()}
}

// TestManual: pages that lie there compressed alone reach everybody, and what is no page is the business of somebody
// else, unless a person looks.
func TestManual(t *testing.T) {
	s, err := New(Options{Files: fstest.MapFS{
		"app.html": {Data: []byte("app")}, "assets/a.js": {Data: []byte("script")},
		"docs/index.html.gz": zipped(t, "start"), "docs/api.html.gz": zipped(t, "api"), "docs/api.md.gz": zipped(t, "# api"), "docs/404.html.gz": zipped(t, "lost"),
		"docs/images/a.svg.gz": zipped(t, "<svg/>"), "docs/images/a.png.gz": zipped(t, "png"), "docs/runbooks/A.html.gz": zipped(t, "a"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /docs/{page...}", s.Manual(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":"not found"}`, http.StatusNotFound)
	})))
	for _, c := range []struct {
		name, method, path, accept string
		status                     int
		kind, body                 string
	}{
		{"the first page", "GET", "/docs/", "", 200, "text/html; charset=utf-8", "start"},
		{"a page", "GET", "/docs/api", "", 200, "text/html; charset=utf-8", "api"},
		{"a page, asked by a browser", "GET", "/docs/api", "text/html,*/*;q=0.8", 200, "text/html; charset=utf-8", "api"},
		{"its source", "GET", "/docs/api.md", "", 200, "text/markdown; charset=utf-8", "# api"},
		{"a picture", "GET", "/docs/images/a.svg", "", 200, "image/svg+xml", "<svg/>"},
		{"a picture of points", "GET", "/docs/images/a.png", "", 200, "image/png", "png"},
		{"a page below", "GET", "/docs/runbooks/A", "", 200, "text/html; charset=utf-8", "a"},
		{"head", "HEAD", "/docs/api", "", 200, "text/html; charset=utf-8", ""},
		{"no page, for a program", "GET", "/docs/nope", "*/*", 404, "text/plain; charset=utf-8", `{"error":"not found"}` + "\n"},
		{"no page, for a person", "GET", "/docs/nope", "text/html", 404, "text/html; charset=utf-8", "lost"},
		{"no source", "GET", "/docs/nope.md", "text/html", 404, "text/html; charset=utf-8", "lost"},
		{"the file's name", "GET", "/docs/api.html", "text/html", 404, "text/html; charset=utf-8", "lost"},
		{"the compressed file", "GET", "/docs/api.html.gz", "text/html", 404, "text/html; charset=utf-8", "lost"},
		{"another folder", "GET", "/docs/%2e%2e/app", "text/html", 404, "text/html; charset=utf-8", "lost"},
		{"another folder, encoded twice", "GET", "/docs/..%2fapp", "text/html", 404, "text/html; charset=utf-8", "lost"},
	} {
		for _, encoding := range []string{"", "gzip"} {
			r := httptest.NewRequest(c.method, c.path, nil)
			r.Header.Set("Accept", c.accept)
			r.Header.Set("Accept-Encoding", encoding)
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, r)
			if w.Code == http.StatusTemporaryRedirect || w.Code == http.StatusMovedPermanently {
				// of a path that is not clean
				continue
			}
			body := w.Body.String()
			if w.Header().Get("Content-Encoding") == "gzip" && body != "" {
				plain, err := unzip([]byte(body))
				if err != nil {
					t.Fatal(err)
				}
				body = string(plain)
			}
			if w.Code != c.status || body != c.body || w.Header().Get("Content-Type") != c.kind {
				t.Errorf("%s, %q: got %d %s %q", c.name, encoding, w.Code, w.Header().Get("Content-Type"), body)
			}
			if c.status == 200 && (w.Header().Get("ETag") == "" ||
				!strings.Contains(w.Header().Get("Vary"), "Accept-Encoding")) {
				t.Errorf("%s: headers %v", c.name, w.Header())
			}
		}
	}
}

func TestPicturesBringStylesAndNoScripts(t *testing.T) {
	s, err := New(Options{Files: fstest.MapFS{"a.svg": {Data: []byte("<svg/>")}}})
	if err != nil {
		t.Fatal(err)
	}
	got := ask(s.Page("a.svg", 200), "GET", "/a.svg").Header().Get("Content-Security-Policy")
	if got != "default-src 'none'; style-src 'unsafe-inline'; sandbox" {
		t.Errorf("got %q", got)
	}
}

func TestBrokenFiles(t *testing.T) {
	if _, err := New(Options{Files: fstest.MapFS{"docs/api.html.gz": {Data: []byte("not compressed")}}}); err == nil ||
		!strings.Contains(err.Error(), "docs/api.html.gz") {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

// TestBuiltManual: the documentation is in the program.
func TestBuiltManual(t *testing.T) {
	h, err := Wrap(http.NotFoundHandler(), Program{})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/docs/": "Quick start", "/docs/api": "The synthesis API", "/docs/api.md": "# The synthesis API", "/docs/changelog": "Changelog", "/docs/search.json": `"/docs/api"`,
		"/favicon.svg": "<svg", "/manifest.webmanifest": `"start_url":"/app/"`, "/robots.txt": "Disallow: /app\n",
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: status %d, and no %q", path, w.Code, want)
		}
	}
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/docs", nil)); w.Code != http.StatusMovedPermanently ||
		w.Header().Get("Location") != "/docs/" {
		t.Errorf("/docs: status %d to %q", w.Code, w.Header().Get("Location"))
	}
}

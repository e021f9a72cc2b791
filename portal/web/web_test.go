//go:build !noui

package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

func site(t *testing.T, connect ...string) *Site {
	t.Helper()
	s, err := New(Options{Connect: func() []string { return connect }, Files: fstest.MapFS{
		"app.html":            {Data: []byte("<!doctype html><title>Swar</title>")},
		"assets/app-1a.js":    {Data: []byte("plain script")},
		"assets/app-1a.js.gz": {Data: []byte("zipped")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ask(h http.HandlerFunc, method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h(w, r)
	return w
}

func TestAssets(t *testing.T) {
	s := site(t)
	for _, c := range []struct {
		name, method, path, accept string
		status                     int
		body                       string
	}{
		{"plain", "GET", "/assets/app-1a.js", "", 200, "plain script"},
		{"compressed", "GET", "/assets/app-1a.js", "br, gzip;q=0.5", 200, "zipped"},
		{"gzip refused", "GET", "/assets/app-1a.js", "gzip;q=0", 200, "plain script"},
		{"head", "HEAD", "/assets/app-1a.js", "", 200, ""},
		{"the variant has no address", "GET", "/assets/app-1a.js.gz", "", 404, "404 page not found\n"},
		{"a page is no asset", "GET", "/app.html", "", 404, "404 page not found\n"},
		{"traversal", "GET", "/assets/../app.html", "", 404, "404 page not found\n"},
	} {
		w := ask(s.Asset, c.method, c.path, "Accept-Encoding", c.accept)
		if w.Code != c.status || w.Body.String() != c.body {
			t.Errorf("%s: got %d %q, want %d %q", c.name, w.Code, w.Body, c.status, c.body)
		}
		immutable := strings.Contains(w.Header().Get("Cache-Control"), "immutable")
		if immutable != (c.status == 200) {
			t.Errorf("%s: Cache-Control %q", c.name, w.Header().Get("Cache-Control"))
		}
	}
}

func TestPagesAreAskedForAgainByETag(t *testing.T) {
	s := site(t)
	w := ask(s.Page("app.html", 200), "GET", "/app/")
	tag := w.Header().Get("ETag")
	if w.Code != 200 || tag == "" || w.Header().Get("Cache-Control") != "no-cache" {
		t.Fatalf("got %d, headers %v", w.Code, w.Header())
	}
	if again := ask(s.Page("app.html", 200), "GET", "/app/", "If-None-Match", tag); again.Code != 304 ||
		again.Body.Len() != 0 {
		t.Errorf("with its ETag: got %d and %d bytes, want 304 and none", again.Code, again.Body.Len())
	}
	lost := ask(s.Page("app.html", 404), "GET", "/app/x/y", "If-None-Match", tag)
	if lost.Code != 404 || lost.Body.Len() == 0 {
		t.Errorf("a page that is not there: got %d and %d bytes, want 404 in the shell", lost.Code, lost.Body.Len())
	}
}

func TestPolicy(t *testing.T) {
	w := ask(site(t, "https://api.example:8443").Page("app.html", 200), "GET", "/app/")
	csp := w.Header().Get("Content-Security-Policy")
	for _, want := range []string{"connect-src 'self' https://api.example:8443 wss://api.example:8443;",
		"frame-ancestors 'none'", "trusted-types 'none'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("no %q in %q", want, csp)
		}
	}
	for _, bad := range []string{"", "api.example", "https://a/path", "https://a; script-src *", "javascript:x",
		"https://*.a", "https://u@a"} {
		w := ask(site(t, bad, "https://good.example").Page("app.html", 200), "GET", "/app/")
		if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp,
			"connect-src 'self' https://good.example wss://good.example;") {
			t.Errorf("%q was taken for an origin, or hides another: %q", bad, csp)
		}
	}
}

// TestPagesKnowWhereTheAPIIs: where it is elsewhere, pages may call it and are told, also those that were compressed
// before.
func TestPagesKnowWhereTheAPIIs(t *testing.T) {
	for api, want := range map[string][2]string{
		"": {`data-api=""`, "connect-src 'self';"}, "https://tts.example.org": {`data-api="https://tts.example.org"`, "connect-src 'self' https://tts.example.org wss://tts.example.org; media-src 'self' blob: https://tts.example.org;"},
		"https://tts.example.org/": {`data-api="https://tts.example.org"`, "wss://tts.example.org;"},
	} {
		h, err := Wrap(http.NotFoundHandler(), Program{API: api, Portal: true})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "/app/", nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, want[0]) ||
			!strings.Contains(w.Header().Get("Content-Security-Policy"), want[1]) {
			t.Errorf("%q: status %d, policy %q, page %s", api, w.Code, w.Header().Get("Content-Security-Policy"), body)
		}
		small := ask(h.ServeHTTP, http.MethodGet, "/app/", "Accept-Encoding", "gzip")
		if body, err := unzip(small.Body.Bytes()); err != nil || string(body) != w.Body.String() {
			t.Errorf("%q, compressed: %v, page %s", api, err, body)
		}
	}
	for _, api := range []string{"tts.example.org", "https://tts.example.org/v1", "https://a b", `https://"x`} {
		if _, err := Wrap(http.NotFoundHandler(), Program{API: api, Portal: true}); err == nil {
			t.Errorf("%q is taken for an origin", api)
		}
	}
}

// TestAddresses: pages of an organisation are found, others are not, in the same shell; who comes back from another
// provider meets the page that can take what they bring; without a portal there is nothing to sign in to.
func TestAddresses(t *testing.T) {
	with, err := Wrap(http.NotFoundHandler(), Program{Portal: true, Keys: true})
	if err != nil {
		t.Fatal(err)
	}
	without, err := Wrap(http.NotFoundHandler(), Program{})
	if err != nil {
		t.Fatal(err)
	}
	const app, signin, none = "/assets/app-", "/assets/signin-", ""
	for _, c := range []struct {
		h      http.Handler
		path   string
		status int
		page   string
	}{
		{with, "/app/", 200, app}, {with, "/app", 307, none}, {with, "/app/org_1/keys", 200, app}, {with, "/app/org_1/keys?status=active", 200, app},
		{with, "/app/org_1/nothing", 404, app}, {with, "/app/org_1", 404, app}, {with, "/app/org_1/", 404, app}, {with, "/app/org_1/keys/more", 404, app}, {with, "/app/org_1/keys/", 404, app},
		{with, "/signin", 200, signin}, {with, "/signin?to=/app/x/keys", 200, signin}, {with, "/signin?state=s&code=c", 200, app}, {with, "/signin?state=s&error=access_denied", 200, app},
		{with, "/signin?oobCode=c", 200, app}, {with, "/setup", 200, signin}, {with, "/setup/x", 404, none},
		{without, "/app/", 200, app}, {without, "/signin", 404, none}, {without, "/setup", 404, none},
	} {
		w := ask(c.h.ServeHTTP, "GET", c.path)
		if w.Code != c.status || c.page != "" && !strings.Contains(w.Body.String(), c.page) {
			t.Errorf("%s: status %d, want %d with %s: %s", c.path, w.Code, c.status, c.page, w.Body)
		}
	}
	for _, c := range []struct {
		h    http.Handler
		want string
	}{{with, `data-portal="on" data-keys="on"`}, {without, `data-portal="off" data-keys="off"`}} {
		if w := ask(c.h.ServeHTTP, "GET", "/app/"); !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("the page does not say %s: %s", c.want, w.Body)
		}
	}
}

// TestUncleanPaths: a path that is not clean is answered by the API beside the pages, and is never redirected.
func TestUncleanPaths(t *testing.T) {
	h, err := Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, r.URL.Path)
	}), Program{Portal: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"//v1/tts", "//", "/portal//v1/me", "/portal/v1/./me", "/auth/../portal/v1/me", "/portal/v1/../../healthz", "/app//org_1", "/docs/./", "/v1//",
	} {
		for _, method := range []string{"GET", "POST", "OPTIONS"} {
			r := httptest.NewRequest(method, "http://tts.example.org"+path, nil)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusTeapot || w.Body.String() != path {
				t.Errorf("%s %s: status %d, %s", method, path, w.Code, w.Body)
			}
		}
	}
}

// ownAnswer is a server's beside the pages: a header of its own, and JSON where it knows no path.
func ownAnswer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Request-Id", "r1")
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path != "/healthz" {
		w.WriteHeader(http.StatusNotFound)
	}
	_, _ = w.Write([]byte(`{"own":1}`))
}

// TestPeopleReadAPageWhereThereIsNone, and programs what the server says.
func TestPeopleReadAPageWhereThereIsNone(t *testing.T) {
	h, err := Wrap(http.HandlerFunc(ownAnswer), Program{})
	if err != nil {
		t.Fatal(err)
	}
	const browser = "text/html,application/xhtml+xml,*/*;q=0.8"
	for _, c := range []struct {
		method, path, accept string
		status               int
		kind, body           string
	}{
		{"GET", "/nope", browser, 404, "text/html; charset=utf-8", notFoundPage},
		{"HEAD", "/nope", browser, 404, "text/html; charset=utf-8", ""},
		{"POST", "/nope", browser, 404, "application/json", `{"own":1}`},
		{"GET", "/nope", "*/*", 404, "application/json", `{"own":1}`},
		{"GET", "/v1/nope", browser, 404, "application/json", `{"own":1}`},
		{"GET", "/portal/nope", browser, 404, "application/json", `{"own":1}`},
		{"GET", "/healthz", browser, 200, "application/json", `{"own":1}`},
	} {
		w := ask(h.ServeHTTP, c.method, c.path, "Accept", c.accept)
		if w.Code != c.status || w.Header().Get("Content-Type") != c.kind || w.Body.String() != c.body ||
			w.Header().Get("X-Request-Id") != "r1" {
			t.Errorf("%s %s with %q: %d %v %s", c.method, c.path, c.accept, w.Code, w.Header(), w.Body)
		}
	}
	if w := ask(h.ServeHTTP, "GET", "/favicon.ico"); w.Code != http.StatusOK ||
		w.Header().Get("Content-Type") != "image/svg+xml" {
		t.Errorf("/favicon.ico: %d %v", w.Code, w.Header())
	}
}

// TestOneName: a page that is opened under the other name of this machine leads to the public one; what programs ask
// for stays, and nothing leads elsewhere.
func TestOneName(t *testing.T) {
	const page = "text/html"
	for _, c := range []struct{ public, method, target, accept, want string }{
		{"http://127.0.0.1:8080", "GET", "http://localhost:8080/app/org_1/usage?range=7d", page, "http://127.0.0.1:8080/app/org_1/usage?range=7d"},
		{"http://localhost:8080", "GET", "http://127.0.0.1:8080/signin", page, "http://localhost:8080/signin"},
		{"http://localhost:8080", "HEAD", "http://127.0.0.1:8080/", page, "http://localhost:8080/"},
		{"http://127.0.0.1:8080", "GET", "http://localhost:8080/app//evil.example/", page, "http://127.0.0.1:8080/app//evil.example/"},
		{"http://127.0.0.1:8080", "GET", "http://127.0.0.1:8080/app/", page, ""},
		{"http://127.0.0.1:8080", "GET", "http://localhost:8081/app/", page, ""},
		{"http://127.0.0.1:8080", "GET", "http://evil.example:8080/app/", page, ""},
		{"http://127.0.0.1:8080", "GET", "http://localhost:8080/app/", "*/*", ""},
		{"http://127.0.0.1:8080", "GET", "http://localhost:8080/", "application/json", ""},
		{"http://127.0.0.1:8080", "GET", "http://localhost:8080/portal/v1/me", page, ""},
		{"http://127.0.0.1:8080", "GET", "http://localhost:8080/v1/voices", page, ""},
		{"http://127.0.0.1:8080", "POST", "http://localhost:8080/signin", page, ""},
		{"http://127.0.0.1:8080", "GET", "http://localhost:8080/auth/link", page, ""},
		{"https://tts.example.org", "GET", "http://localhost:8080/app/", page, ""},
		{"", "GET", "http://localhost:8080/app/", page, ""},
	} {
		h, err := Wrap(http.NotFoundHandler(), Program{Portal: true, Public: c.public})
		if err != nil {
			t.Fatal(err)
		}
		w := ask(h.ServeHTTP, c.method, c.target, "Accept", c.accept)
		if got := w.Header().Get("Location"); got != c.want ||
			(c.want != "") != (w.Code == http.StatusTemporaryRedirect) {
			t.Errorf("%s, %s %s: status %d to %q, want %q", c.public, c.method, c.target, w.Code, got, c.want)
		}
	}
}

// TestOpenerPolicy: it is sent where browsers heed it, which is with TLS and on this machine.
func TestOpenerPolicy(t *testing.T) {
	for _, c := range []struct {
		public, host string
		want         bool
	}{{"", "127.0.0.1:8080", true}, {"", "localhost", true}, {"", "[::1]:80", true}, {"", "swar.lan:8080", false},
		{"http://swar.lan", "swar.lan", false}, {"https://swar.example.org", "swar.example.org", true},
		{"", "localhost.evil.example", false}} {
		h, err := Wrap(http.NotFoundHandler(), Program{Portal: true, Public: c.public})
		if err != nil {
			t.Fatal(err)
		}
		w := ask(h.ServeHTTP, "GET", "http://"+c.host+"/app/")
		if got := w.Header().Get("Cross-Origin-Opener-Policy") == "same-origin"; got != c.want {
			t.Errorf("%+v: sent %v", c, got)
		}
		if got, want := w.Header().Get("Strict-Transport-Security") == "max-age=31536000",
			strings.HasPrefix(c.public, "https://"); got != want {
			t.Errorf("%+v: told to come by TLS alone %v, want %v", c, got, want)
		}
	}
}

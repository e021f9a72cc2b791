package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

func TestPages(t *testing.T) {
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for _, c := range []struct{ pages, method, path, accept, want string }{
		{"/app/", "GET", "/", "text/html,*/*;q=0.8", "/app/"},
		{"https://portal.example.org/app/", "HEAD", "/", "text/html", "https://portal.example.org/app/"},
		{"/app/", "GET", "/", "*/*", ""},
		{"/app/", "GET", "/", "application/json, text/html", ""},
		{"/app/", "GET", "/", "", ""},
		{"/app/", "POST", "/", "text/html", ""},
		{"/app/", "GET", "/v1/voices", "text/html", ""},
		{"", "GET", "/", "text/html", ""},
	} {
		h, err := withPages(c.pages, api)
		if err != nil {
			t.Fatal(err)
		}
		r, w := httptest.NewRequest(c.method, c.path, nil), httptest.NewRecorder()
		r.Header.Set("Accept", c.accept)
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Location"); got != c.want ||
			(w.Code == http.StatusTemporaryRedirect) != (c.want != "") {
			t.Errorf("%+v: status %d to %q", c, w.Code, got)
		}
		if varies := w.Header().Get("Vary") == "Accept"; varies != (c.pages != "" && c.path == "/" &&
			c.method != "POST") {
			t.Errorf("%+v: Vary %q", c, w.Header().Get("Vary"))
		}
	}
	for _, bad := range []string{"/", "app", "//evil.example/", `/\\evil.example`, "ftp://a/", "https://",
		"https://u@a/", "javascript:alert(1)"} {
		if _, err := withPages(bad, api); err == nil {
			t.Errorf("--pages %q was taken", bad)
		}
	}
}

// TestWhatPeopleSeeOfARouter: an icon, and a page where there is nothing. Programs read the API's own answer.
func TestWhatPeopleSeeOfARouter(t *testing.T) {
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/healthz" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte("{}"))
	})
	icon, err := os.ReadFile("../../portal/web/src/static/favicon.svg")
	if err != nil || !bytes.Equal(icon, favicon) {
		t.Errorf("the icon is not that of the portal's pages (%v); copy it", err)
	}
	const browser = "text/html,*/*;q=0.8"
	for _, c := range []struct {
		pages, method, path, accept string
		status                      int
		kind, body                  string
	}{
		{"", "GET", "/favicon.ico", "image/*", 200, "image/svg+xml", "<svg"},
		{"/app/", "GET", "/favicon.svg", browser, 200, "image/svg+xml", "<svg"},
		{"", "POST", "/favicon.ico", "*/*", 404, "application/json", "{}"},
		{"", "GET", "/nothing", browser, 404, "text/html; charset=utf-8", "There is no page at this address.</p>"},
		{"https://a.example/?a=1&b=2", "GET", "/nothing", browser, 404, "text/html; charset=utf-8", `href="https://a.example/?a=1&amp;b=2"`},
		{"", "HEAD", "/nothing", browser, 404, "text/html; charset=utf-8", ""},
		{"", "GET", "/nothing", "*/*", 404, "application/json", "{}"},
		{"", "GET", "/v1/nothing", browser, 404, "application/json", "{}"},
		{"", "GET", "/healthz", browser, 200, "application/json", "{}"},
	} {
		h, err := withPages(c.pages, api)
		if err != nil {
			t.Fatal(err)
		}
		r, w := httptest.NewRequest(c.method, c.path, nil), httptest.NewRecorder()
		r.Header.Set("Accept", c.accept)
		h.ServeHTTP(w, r)
		if w.Code != c.status || w.Header().Get("Content-Type") != c.kind ||
			!strings.Contains(w.Body.String(), c.body) {
			t.Errorf("%+v: %d %s %s", c, w.Code, w.Header().Get("Content-Type"), w.Body.String())
		}
	}
}

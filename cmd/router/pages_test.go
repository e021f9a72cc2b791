package main

import (
	"net/http"
	"net/http/httptest"
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
		if got := w.Header().Get("Location"); got != c.want || (w.Code == http.StatusTemporaryRedirect) != (c.want != "") {
			t.Errorf("%+v: status %d to %q", c, w.Code, got)
		}
		if varies := w.Header().Get("Vary") == "Accept"; varies != (c.pages != "" && c.path == "/" && c.method != "POST") {
			t.Errorf("%+v: Vary %q", c, w.Header().Get("Vary"))
		}
	}
	for _, bad := range []string{"/", "app", "//evil.example/", `/\\evil.example`, "ftp://a/", "https://", "https://u@a/", "javascript:alert(1)"} {
		if _, err := withPages(bad, api); err == nil {
			t.Errorf("--pages %q was taken", bad)
		}
	}
}

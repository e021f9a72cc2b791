//go:build noui

package web

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Without pages every request is that of whoever stands beside them, a browser's too.
func TestWithoutPages(t *testing.T) {
	other := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	h, err := Wrap(other, Program{})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/app/", "/signin", "/setup", "/docs/", "/assets/app.js", "/v1/voices"} {
		q := httptest.NewRequest(http.MethodGet, path, http.NoBody)
		q.Header.Set("Accept", "text/html")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, q); w.Code != http.StatusTeapot {
			t.Errorf("%s is answered with %d by the pages that are left out", path, w.Code)
		}
	}
}

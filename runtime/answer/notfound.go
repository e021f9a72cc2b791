package answer

import (
	"io"
	"net/http"
	"strings"
)

// OrPage shows people a page where h answers 404. Programs, and whatever asks the APIs, read h's own answer.
func OrPage(h http.Handler, page string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead || isAPI(r.URL.Path) || !PrefersHTML(r) {
			h.ServeHTTP(w, r)
			return
		}
		shown := page
		if r.Method == http.MethodHead {
			shown = ""
		}
		h.ServeHTTP(&notFoundWriter{ResponseWriter: w, page: shown}, r)
	})
}

func isAPI(path string) bool {
	for _, prefix := range []string{"/v1/", "/portal/", "/auth/"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// notFoundWriter puts the page in the place of an answer 404.
type notFoundWriter struct {
	http.ResponseWriter
	page     string // empty: no body is wanted
	replaced bool
}

// WriteHeader implements [http.ResponseWriter].
func (w *notFoundWriter) WriteHeader(status int) {
	if status != http.StatusNotFound {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.replaced = true
	h := w.Header()
	h.Del("Content-Length")
	h.Del("Content-Encoding")
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Add("Vary", "Accept")
	w.ResponseWriter.WriteHeader(status)
	_, _ = io.WriteString(w.ResponseWriter, w.page) // a client that has left needs no page
}

// Write implements [http.ResponseWriter].
func (w *notFoundWriter) Write(p []byte) (int, error) {
	if w.replaced {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets [http.ResponseController] reach deadlines.
func (w *notFoundWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

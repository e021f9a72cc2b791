package web

import (
	"io"
	"net/http"
	"strings"

	"github.com/swar-tts/swar/runtime/answer"
)

// notFoundPage needs no files, so that it is right also for programs without some of them.
const notFoundPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Page not found</title>
<h1>Page not found</h1>
<p>There is no page at this address. Go to the <a href="/">start page</a> or the <a href="/docs/">documentation</a>.</p>
<p lang="hi">इस पते पर कोई पेज नहीं है। <a href="/">मुखपृष्ठ</a> या <a href="/docs/">दस्तावेज़</a> पर जाएँ।</p>
</html>
`

// orNotFound shows people a page where h knows no path. Programs, and whatever asks the APIs, read h's own answer.
func (s *Site) orNotFound(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead || isAPI(r.URL.Path) || !answer.PrefersHTML(r) {
			h.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(&notFoundWriter{ResponseWriter: w, body: r.Method == http.MethodGet}, r)
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
	body     bool // is wanted
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
	if w.body {
		_, _ = io.WriteString(w.ResponseWriter, notFoundPage) // a client that has left needs no page
	}
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

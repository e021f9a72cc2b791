package web

import (
	"net/http"
	"path"

	"github.com/swar-tts/swar/runtime/answer"
)

// Manual serves the documentation below /docs/: pages, their Markdown sources as {page}.md, and their images. For an
// unknown page browsers get an error page, and others the answer of other.
func (s *Site) Manual(other http.Handler) http.Handler {
	lost := s.Page("docs/404.html", http.StatusNotFound)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "docs/" + r.PathValue("page")
		switch path.Ext(name) {
		case ".md", ".svg", ".png", ".json":
		default:
			name += ".html"
		}
		if name == "docs/.html" {
			name = "docs/index.html"
		}
		if _, ok := s.files[name]; ok {
			s.Page(name, http.StatusOK)(w, r)
			return
		}
		if answer.PrefersHTML(r) {
			lost(w, r)
			return
		}
		other.ServeHTTP(w, r)
	})
}

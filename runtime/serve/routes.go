package serve

import (
	"net/http"
	"strings"

	"github.com/gorilla/mux"

	"github.com/swar-tts/swar/runtime/metrics"
)

// routes maps the paths of the API to what answers them. What is neither keyed nor a stream, which looks for a key
// itself, is open to everybody.
func (s *Server) routes() *mux.Router {
	router := mux.NewRouter().SkipClean(true) // a path that is not clean is not ours: 404 instead of a redirect
	allow := make(map[string]string)
	route := func(path string, h http.Handler, methods ...string) {
		router.Handle(path, h).Methods(methods...)
		allow[path] = strings.Join(append(methods, http.MethodOptions), ", ")
	}

	route("/v1/tts", s.handle(s.keyed(metrics.REST, s.tts)), http.MethodPost)
	route("/v1/tts/words", s.handle(s.keyed(metrics.REST, s.ttsWords)), http.MethodPost)
	route("/v1/tts/stream", s.handle(s.stream), http.MethodGet, http.MethodHead)
	route("/v1/normalize", s.handle(s.keyed(metrics.Normalize, s.normalize)), http.MethodPost)
	route("/v1/voices", s.handle(s.keyed(metrics.Voices, s.voices)), http.MethodGet, http.MethodHead)

	route("/", s.handle(s.open(s.root)), http.MethodGet, http.MethodHead)
	route("/healthz", s.handle(s.open(s.healthz)), http.MethodGet, http.MethodHead)
	route("/readyz", s.handle(s.open(s.readyz)), http.MethodGet, http.MethodHead)
	route("/metrics", s.handle(s.open(s.scrape)), http.MethodGet, http.MethodHead)

	for path, h := range map[string]handler{
		"/openapi.json": described("application/json", openAPI), "/asyncapi.json": described("application/json", asyncAPI),
		"/llms.txt": described("text/plain; charset=utf-8", llms),
	} {
		route(path, s.handle(s.open(h)), http.MethodGet, http.MethodHead)
	}
	route("/samples", s.handle(s.open(s.samples)), http.MethodGet, http.MethodHead)
	route(samplePath, s.handle(s.open(s.sample)), http.MethodGet, http.MethodHead)

	router.NotFoundHandler = s.handle(func(http.ResponseWriter, *http.Request) error { return errNotFound })
	router.MethodNotAllowedHandler = s.handle(func(w http.ResponseWriter, r *http.Request) error {
		path := r.URL.Path
		if strings.HasPrefix(path, "/samples/") {
			path = samplePath
		}
		w.Header().Set("Allow", allow[path])
		return errMethodNotAllowed
	})
	return router
}

package serve

import (
	_ "embed"
	"net/http"

	"github.com/swar-tts/swar/runtime/answer"
)

// The descriptions of this API for programs. They are written by hand; tests hold them against what is served.
var (
	//go:embed describe/openapi.json
	openAPI []byte
	//go:embed describe/asyncapi.json
	asyncAPI []byte
	//go:embed describe/llms.txt
	llms []byte
)

// Descriptions serves the API descriptions where another program has the address of the API. other handles all other
// requests.
func Descriptions(other http.Handler) http.Handler {
	all := map[string]struct {
		kind string
		body []byte
	}{"/openapi.json": {"application/json", openAPI}, "/asyncapi.json": {"application/json", asyncAPI},
		"/llms.txt": {"text/plain; charset=utf-8", llms}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, ok := all[r.URL.Path]
		if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
			other.ServeHTTP(w, r)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		answer.Body(answer.For(w, r), http.StatusOK, d.kind, d.body)
	})
}

// described answers with a description.
func described(contentType string, body []byte) handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		answer.Body(w, http.StatusOK, contentType, body)
		return nil
	}
}

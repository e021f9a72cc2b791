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

// described answers with a description.
func described(contentType string, body []byte) handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		answer.Body(w, http.StatusOK, contentType, body)
		return nil
	}
}

package rest

import (
	_ "embed"
	"net/http"

	"github.com/swar-tts/swar/runtime/answer"
)

// description is the OpenAPI document of the portal and of the built-in issuer. It is written by hand; a test holds
// it against the handlers.
//
//go:embed openapi.json
var description []byte

func openAPI(c *call) error {
	answer.Body(c.w, http.StatusOK, "application/json", description)
	return nil
}

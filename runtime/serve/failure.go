package serve

import (
	"context"
	"errors"
	"net/http"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/answer"
	"github.com/swar-tts/swar/runtime/dialect"
	"github.com/swar-tts/swar/runtime/metrics"
	"github.com/swar-tts/swar/runtime/speech"
)

// failure is an error as the client sees it: on REST a status, headers and a body, on a WebSocket an event.
type failure struct {
	status int
	text   string       // the field error
	code   string       // the header x-error-code
	kind   metrics.Kind // the label of tts_errors_total; empty: not counted
	retry  bool         // Retry-After: 1
}

// Refusals of the protocol itself.
var (
	errNotFound         = errors.New("not found")
	errMethodNotAllowed = errors.New("method not allowed")
	errBodyTooLarge     = answer.BodyTooLargeError{Most: maxBody}
	errUpgradeRequired  = errors.New("websocket upgrade required")
	errEncodedBody      = answer.ErrEncodedBody
	errBodyTimeout      = answer.ErrBodyTimeout
	errBodyBroken       = answer.ErrBodyBroken
	errNotText          = &speech.Refusal{Code: speech.CodeBadRequest, Text: "expected a JSON text message"}
	errUnknownType      = &speech.Refusal{Code: speech.CodeBadRequest, Text: "unknown message type"}
)

// failureOf is the one place where an error becomes a status and a text for the client. Causes go to the log only.
func failureOf(err error) failure {
	if r, ok := errors.AsType[*speech.Refusal](err); ok {
		return failure{refusalStatus(r.Code), r.Text, string(r.Code), metrics.Validation, false}
	}
	if missing, ok := errors.AsType[*dialect.NotFoundError](err); ok {
		return failure{http.StatusNotFound, missing.Text, missing.Code, "", false}
	}
	switch {
	case errors.Is(err, access.ErrMissingKey):
		return failure{http.StatusUnauthorized, access.ErrMissingKey.Error(), "missing_key", metrics.Auth, false}
	case errors.Is(err, access.ErrInvalidKey):
		return failure{http.StatusUnauthorized, access.ErrInvalidKey.Error(), "invalid_key", metrics.Auth, false}
	case errors.Is(err, access.ErrUnavailable):
		return failure{http.StatusServiceUnavailable, access.ErrUnavailable.Error(), "portal_unavailable",
			metrics.Auth, true}
	case errors.Is(err, speech.ErrBusy), errors.Is(err, speech.ErrDraining):
		return failure{http.StatusServiceUnavailable, speech.ErrBusy.Error(), "busy", metrics.Busy, true}
	case errors.Is(err, speech.ErrWarming):
		return failure{http.StatusServiceUnavailable, speech.ErrWarming.Error(), "warming_up", metrics.Warming, true}
	case errors.Is(err, speech.ErrUnreadAudio):
		return failure{http.StatusGatewayTimeout, speech.ErrTimeout.Error(), "timeout", metrics.ClientGone, false}
	case errors.Is(err, speech.ErrTimeout):
		return failure{http.StatusGatewayTimeout, speech.ErrTimeout.Error(), "timeout", metrics.Timeout, false}
	case errors.Is(err, speech.ErrWorkerGone):
		return failure{http.StatusInternalServerError, speech.ErrWorkerGone.Error(), "worker_gone",
			metrics.WorkerGone, false}
	case errors.Is(err, errNotFound):
		return failure{http.StatusNotFound, errNotFound.Error(), "not_found", "", false}
	case errors.Is(err, errMethodNotAllowed):
		return failure{http.StatusMethodNotAllowed, errMethodNotAllowed.Error(), "method_not_allowed", "", false}
	case errors.Is(err, errBodyTooLarge):
		return failure{http.StatusRequestEntityTooLarge, errBodyTooLarge.Error(), "body_too_large",
			metrics.Validation, false}
	case errors.Is(err, errUpgradeRequired):
		return failure{http.StatusUpgradeRequired, errUpgradeRequired.Error(), "bad_request", metrics.Validation, false}
	case errors.Is(err, errEncodedBody):
		return failure{http.StatusUnsupportedMediaType, errEncodedBody.Error(), "bad_request", metrics.Validation,
			false}
	case errors.Is(err, errBodyTimeout):
		return failure{http.StatusRequestTimeout, errBodyTimeout.Error(), "timeout", metrics.Timeout, false}
	case errors.Is(err, errBodyBroken):
		return failure{http.StatusBadRequest, errBodyBroken.Error(), "bad_request", metrics.Validation, false}
	}
	text := "engine error"
	if e, ok := errors.AsType[*speech.EngineError](err); ok && e.Text != "" {
		text = e.Text
	}
	return failure{http.StatusInternalServerError, text, "engine_error", metrics.Engine, false}
}

// refusalStatus maps the codes that do not mean 400.
func refusalStatus(c speech.Code) int {
	switch c {
	case speech.CodeTextTooLong, speech.CodeTooManyChunks:
		return http.StatusRequestEntityTooLarge
	case speech.CodeVoiceNotAllowed, dialect.CodeForbidden:
		return http.StatusForbidden
	default:
		return http.StatusBadRequest
	}
}

// ours reports whether f is a failure of the service, and neither a refusal nor the client's doing.
func (f failure) ours() bool {
	refusal := f.status < http.StatusInternalServerError || f.status == http.StatusServiceUnavailable
	return !refusal && f.kind != metrics.ClientGone
}

// endedByClient reports whether err means that the client has ended the stream, which is neither a server error nor
// answerable.
func endedByClient(err error) bool {
	if _, ok := errors.AsType[*speech.EngineError](err); ok {
		return false // an engine may have cancelled an operation of its own
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, speech.ErrClientGone) ||
		errors.Is(err, speech.ErrClientSlow)
}

package rest

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
)

// failure is an error as the client sees it.
type failure struct {
	status    int
	code      string        // the header x-error-code
	text      string        // the field error
	retry     time.Duration // Retry-After, in whole seconds rounded up; 0: none
	challenge string        // WWW-Authenticate
}

// Refusals of the protocol itself.
var (
	errNotFound         = tenant.ErrNotFound
	errMethodNotAllowed = errors.New("method not allowed")
	errMissingToken     = errors.New("missing bearer token")
	errTooMany          = errors.New("too many requests")
	errBodyTooLarge     = errors.New("request body larger than 1048576 bytes")
	errBodyTimeout      = errors.New("request body was not received in time")
	errBodyBroken       = errors.New("request body could not be read")
	errEncodedBody      = errors.New("Content-Encoding of requests is not supported")
)

// failureOf is the one place where an error becomes a status and a text for the client. Causes go to the log only.
func failureOf(err error) failure {
	if r, ok := errors.AsType[*tenant.Refusal](err); ok {
		return failure{status: kindStatus(r.Kind), code: r.Code, text: r.Text}
	}
	if r, ok := errors.AsType[*usage.Refusal](err); ok {
		return failure{status: http.StatusBadRequest, code: usageCode(r), text: r.Text}
	}
	switch {
	case errors.Is(err, errMissingToken):
		return failure{status: http.StatusUnauthorized, code: "missing_token", text: errMissingToken.Error(), challenge: "Bearer"}
	case errors.Is(err, signin.ErrExpiredToken):
		return failure{status: http.StatusUnauthorized, code: "token_expired", text: signin.ErrExpiredToken.Error(), challenge: badToken}
	case errors.Is(err, signin.ErrInvalidToken):
		return failure{status: http.StatusUnauthorized, code: "invalid_token", text: signin.ErrInvalidToken.Error(), challenge: badToken}
	case errors.Is(err, errMethodNotAllowed):
		return failure{status: http.StatusMethodNotAllowed, code: "method_not_allowed", text: errMethodNotAllowed.Error()}
	case errors.Is(err, errTooMany):
		return failure{status: http.StatusTooManyRequests, code: "too_many_requests", text: errTooMany.Error(), retry: retryAfter}
	case errors.Is(err, errBodyTooLarge):
		return failure{status: http.StatusRequestEntityTooLarge, code: "body_too_large", text: errBodyTooLarge.Error()}
	case errors.Is(err, errBodyTimeout):
		return failure{status: http.StatusRequestTimeout, code: "timeout", text: errBodyTimeout.Error()}
	case errors.Is(err, errBodyBroken):
		return failure{status: http.StatusBadRequest, code: "bad_request", text: errBodyBroken.Error()}
	case errors.Is(err, errEncodedBody):
		return failure{status: http.StatusUnsupportedMediaType, code: "bad_request", text: errEncodedBody.Error()}
	case errors.Is(err, tenant.ErrUnavailable), errors.Is(err, tenant.ErrClosed), errors.Is(err, signin.ErrUnavailable):
		return failure{status: http.StatusServiceUnavailable, code: "unavailable", text: "unavailable; try again", retry: retryAfter}
	case errors.Is(err, context.DeadlineExceeded):
		return failure{status: http.StatusGatewayTimeout, code: "timeout", text: "timeout"}
	default:
		return failure{status: http.StatusInternalServerError, code: "internal_error", text: "internal error"}
	}
}

// badToken is the challenge of RFC 6750 for a token that is no good.
const badToken = `Bearer error="invalid_token"`

const retryAfter = time.Second

func kindStatus(k tenant.Kind) int {
	switch k {
	case tenant.Forbidden:
		return http.StatusForbidden
	case tenant.Missing:
		return http.StatusNotFound
	default:
		return http.StatusBadRequest
	}
}

func usageCode(r *usage.Refusal) string {
	switch r {
	case usage.ErrBackwards, usage.ErrTooWide:
		return "bad_range"
	case usage.ErrLimit:
		return tenant.ErrLimitTooHigh.Code
	case usage.ErrNoLimit:
		return tenant.ErrBadLimit.Code
	case usage.ErrCursor:
		return errBadCursor.Code
	default:
		return "bad_request"
	}
}

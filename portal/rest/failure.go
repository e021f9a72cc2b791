package rest

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/answer"
)

// Refusals of the protocol itself.
var (
	errNotFound         = tenant.ErrNotFound
	errMethodNotAllowed = errors.New("method not allowed")
	errMissingToken     = errors.New("missing bearer token")
	errTooMany          = errors.New("too many requests")
)

// failureOf is the one place where an error becomes a status and a text for the client. Causes go to the log only.
func failureOf(err error) answer.Failure {
	if r, ok := errors.AsType[*tenant.Refusal](err); ok {
		return answer.Failure{Status: kindStatus(r.Kind), Code: r.Code, Text: r.Text}
	}
	if r, ok := errors.AsType[*usage.Refusal](err); ok {
		return answer.Failure{Status: http.StatusBadRequest, Code: usageCode(r), Text: r.Text}
	}
	if f, ok := answer.BodyFailure(err); ok {
		return f
	}
	switch {
	case errors.Is(err, errMissingToken):
		return answer.Failure{Status: http.StatusUnauthorized, Code: "missing_token", Text: errMissingToken.Error(), Challenge: "Bearer"}
	case errors.Is(err, signin.ErrExpiredToken):
		return answer.Failure{Status: http.StatusUnauthorized, Code: "token_expired", Text: signin.ErrExpiredToken.Error(), Challenge: badToken}
	case errors.Is(err, signin.ErrInvalidToken):
		return answer.Failure{Status: http.StatusUnauthorized, Code: "invalid_token", Text: signin.ErrInvalidToken.Error(), Challenge: badToken}
	case errors.Is(err, errMethodNotAllowed):
		return answer.Failure{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Text: errMethodNotAllowed.Error()}
	case errors.Is(err, errTooMany):
		return answer.Failure{Status: http.StatusTooManyRequests, Code: "too_many_requests", Text: errTooMany.Error(), Retry: retryAfter}
	case errors.Is(err, tenant.ErrNotStored):
		return answer.Failure{Status: http.StatusServiceUnavailable, Code: "not_stored", Text: notStored, Retry: retryAfter}
	case errors.Is(err, tenant.ErrUnavailable), errors.Is(err, tenant.ErrClosed), errors.Is(err, signin.ErrUnavailable):
		return answer.Failure{Status: http.StatusServiceUnavailable, Code: "unavailable", Text: "unavailable; try again", Retry: retryAfter}
	case errors.Is(err, context.DeadlineExceeded):
		return answer.Failure{Status: http.StatusGatewayTimeout, Code: "timeout", Text: "timeout"}
	default:
		return answer.Failure{Status: http.StatusInternalServerError, Code: "internal_error", Text: "internal error"}
	}
}

// badToken is the challenge of RFC 6750 for a token that is no good.
const badToken = `Bearer error="invalid_token"`

const retryAfter = time.Second

// notStored is the text of [tenant.ErrNotStored] without its cause.
const notStored = "the key is refused from now on, but that is not stored yet; try again"

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

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
		return failed(kindStatus(r.Kind), r.Code, r.Text)
	}
	if r, ok := errors.AsType[*usage.Refusal](err); ok {
		return failed(http.StatusBadRequest, usageCode(r), r.Text)
	}
	if p, ok := errors.AsType[*postponed](err); ok {
		return p.Failure
	}
	if f, ok := answer.BodyFailure(err); ok {
		return f
	}
	switch {
	case errors.Is(err, errMissingToken):
		return unauthorised("missing_token", errMissingToken, "Bearer")
	case errors.Is(err, signin.ErrExpiredToken):
		return unauthorised("token_expired", signin.ErrExpiredToken, badToken)
	case errors.Is(err, signin.ErrInvalidToken):
		return unauthorised("invalid_token", signin.ErrInvalidToken, badToken)
	case errors.Is(err, errMethodNotAllowed):
		return failed(http.StatusMethodNotAllowed, "method_not_allowed", errMethodNotAllowed.Error())
	case errors.Is(err, errTooMany):
		return again(http.StatusTooManyRequests, "too_many_requests", errTooMany.Error())
	case errors.Is(err, tenant.ErrNotStored):
		return again(http.StatusServiceUnavailable, "not_stored", notStored)
	case errors.Is(err, tenant.ErrUnavailable), errors.Is(err, tenant.ErrClosed), errors.Is(err, signin.ErrUnavailable):
		return again(http.StatusServiceUnavailable, "unavailable", "unavailable; try again")
	case errors.Is(err, context.DeadlineExceeded):
		return failed(http.StatusGatewayTimeout, "timeout", "timeout")
	default:
		return failed(http.StatusInternalServerError, "internal_error", "internal error")
	}
}

func failed(status int, code, text string) answer.Failure {
	return answer.Failure{Status: status, Code: code, Text: text}
}

// again is a failure that passes.
func again(status int, code, text string) answer.Failure {
	return answer.Failure{Status: status, Code: code, Text: text, Retry: retryAfter}
}

func unauthorised(code string, err error, challenge string) answer.Failure {
	return answer.Failure{Status: http.StatusUnauthorized, Code: code, Text: err.Error(), Challenge: challenge}
}

// badToken is the challenge of RFC 6750 for an invalid token.
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
	case tenant.Outdated:
		return http.StatusPreconditionFailed
	default:
		return http.StatusBadRequest
	}
}

func usageCode(r *usage.Refusal) string {
	switch r {
	case usage.ErrBackwards, usage.ErrTooWide:
		return "bad_range"
	case usage.ErrSplit:
		return "bad_split"
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

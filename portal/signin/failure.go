package signin

import (
	"errors"
	"net/http"
	"time"

	"github.com/swar-tts/swar/portal/emailaddr"
	"github.com/swar-tts/swar/runtime/answer"
)

// refusal is the answer to a request that cannot be granted. Its text is part of the API.
type refusal struct {
	status int
	code   string // for machines, as in the header x-error-code
	text   string
}

func (r *refusal) Error() string { return r.text }

// Refusals of the protocol itself.
var (
	errNotFound         = &refusal{http.StatusNotFound, "not_found", "not found"}
	errMethodNotAllowed = &refusal{http.StatusMethodNotAllowed, "method_not_allowed", "method not allowed"}
	errCrossOrigin      = &refusal{http.StatusForbidden, "cross_origin", crossOriginText}
	errWhatToVerify     = badRequest("send either token, or email and code")
	errNoMail           = &refusal{http.StatusForbidden, "no_mail",
		"this server sends no mails; ask its administrator for a sign-in link"}
	errSession = badRequest("session must be token or cookie")
)

const crossOriginText = "requests of pages of other servers are refused"

func badRequest(text string) *refusal { return &refusal{http.StatusBadRequest, "bad_request", text} }

// limitError refuses until some time has passed.
type limitError struct {
	code  string
	text  string
	retry time.Duration
}

func (e *limitError) Error() string { return e.text }

// failureOf is the one place where an error becomes a status and a text for the client. Causes go to the log only:
// isFault is whether there is one to be logged.
func failureOf(err error) (f answer.Failure, isFault bool) {
	if r, ok := errors.AsType[*refusal](err); ok {
		return answer.Failure{Status: r.status, Code: r.code, Text: r.text}, false
	}
	if e, ok := errors.AsType[*limitError](err); ok {
		return answer.Failure{Status: http.StatusTooManyRequests, Code: e.code, Text: e.text, Retry: e.retry}, false
	}
	if f, ok := answer.BodyFailure(err); ok {
		return f, false
	}
	switch {
	case errors.Is(err, emailaddr.ErrInvalid):
		invalid := badRequest(emailaddr.ErrInvalid.Error())
		return answer.Failure{Status: invalid.status, Code: invalid.code, Text: invalid.text}, false
	case errors.Is(err, errOutboxFull):
		return answer.Failure{
			Status: http.StatusServiceUnavailable, Code: "busy", Text: errOutboxFull.Error(), Retry: time.Minute,
		}, false
	}
	return answer.Failure{
		Status: http.StatusServiceUnavailable, Code: "unavailable", Text: "sign-in is unavailable; try again",
		Retry: 5 * time.Second,
	}, true
}

package answer

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// Failure is an error as a client sees it.
type Failure struct {
	Status    int
	Code      string        // the header x-error-code
	Text      string        // the field error
	Retry     time.Duration // Retry-After, in whole seconds rounded up; 0: none
	Challenge string        // WWW-Authenticate; empty: none
	Body      []byte        // JSON in the place of [Error], for clients of other APIs
}

// Refuse answers with f.
func Refuse(w http.ResponseWriter, f Failure) {
	h := w.Header()
	h.Set("X-Error-Code", f.Code)
	if f.Retry > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((f.Retry+time.Second-1)/time.Second), 10))
	}
	if f.Challenge != "" {
		h.Set("WWW-Authenticate", f.Challenge)
	}
	if f.Status == http.StatusRequestTimeout || f.Code == bodyTooLarge {
		h.Set("Connection", "close") // the rest of the body is not worth waiting for
	}
	if f.Body != nil {
		Body(w, f.Status, "application/json", f.Body)
		return
	}
	JSON(w, f.Status, Error{Error: f.Text})
}

const bodyTooLarge = "body_too_large"

// BodyFailure is what a client is told of an error of [ReadBody]; ok is false for any other error.
func BodyFailure(err error) (f Failure, ok bool) {
	tooLarge, isTooLarge := errors.AsType[BodyTooLargeError](err)
	switch {
	case isTooLarge:
		return Failure{Status: http.StatusRequestEntityTooLarge, Code: bodyTooLarge, Text: tooLarge.Error()}, true
	case errors.Is(err, ErrEncodedBody):
		return Failure{Status: http.StatusUnsupportedMediaType, Code: "bad_request", Text: ErrEncodedBody.Error()}, true
	case errors.Is(err, ErrBodyTimeout):
		return Failure{Status: http.StatusRequestTimeout, Code: "timeout", Text: ErrBodyTimeout.Error()}, true
	case errors.Is(err, ErrBodyBroken), errors.Is(err, ErrBodyCut):
		return Failure{Status: http.StatusBadRequest, Code: "bad_request", Text: ErrBodyBroken.Error()}, true
	}
	return Failure{}, false
}

package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Error is a refusal or a failure that the server reported. Get it with
//
//	if e, ok := errors.AsType[*client.Error](err); ok && e.Code == client.CodeBusy { … }
type Error struct {
	Status     int           // HTTP status, also over a WebSocket; 0 if an event named none
	Code       Code          // "" from a server that sends none
	Text       string        // for people, for instance "text is empty"
	RequestID  string        // name it when you report a problem
	RetryAfter time.Duration // 0 unless the server said how long to wait
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Text)
	switch {
	case e.Status != 0 && e.RequestID != "":
		fmt.Fprintf(&b, " (status %d, request %s)", e.Status, e.RequestID)
	case e.Status != 0:
		fmt.Fprintf(&b, " (status %d)", e.Status)
	case e.RequestID != "":
		fmt.Fprintf(&b, " (request %s)", e.RequestID)
	}
	return b.String()
}

// Code names an error for programs. New ones may be added.
type Code string

// The codes a server sends.
const (
	CodeTextEmpty         Code = "text_empty"
	CodeTextTooLong       Code = "text_too_long" // more than 4000 code points: split it
	CodeUnknownVoice      Code = "unknown_voice"
	CodeBadFormat         Code = "bad_format"
	CodeBadSampleRate     Code = "bad_sample_rate"
	CodeBadSpeed          Code = "bad_speed"
	CodeBadTemperature    Code = "bad_temperature"
	CodeNothingToSay      Code = "nothing_to_say" // nothing pronounceable is left
	CodeBadText           Code = "bad_text"
	CodeBadRequest        Code = "bad_request"
	CodeMissingKey        Code = "missing_key"
	CodeInvalidKey        Code = "invalid_key" // unknown or revoked
	CodeVoiceNotAllowed   Code = "voice_not_allowed"
	CodeUnsupportedSSML   Code = "unsupported_ssml"
	CodeUnknownLexicon    Code = "unknown_lexicon"
	CodeTooManyChunks     Code = "too_many_chunks" // split the text
	CodeBodyTooLarge      Code = "body_too_large"
	CodeBusy              Code = "busy"               // all workers speak and the queue is full; not billed
	CodeWarmingUp         Code = "warming_up"         // the server has just started
	CodePortalUnavailable Code = "portal_unavailable" // the key cannot be checked
	CodeEngineError       Code = "engine_error"
	CodeWorkerGone        Code = "worker_gone"
	CodeTimeout           Code = "timeout" // two minutes passed
	CodeNotFound          Code = "not_found"
	CodeMethodNotAllowed  Code = "method_not_allowed"
)

// CutError reports audio that stopped before its end. What was read until then is valid, but incomplete. errors.Is
// matches it with [io.ErrUnexpectedEOF].
type CutError struct {
	RequestID string
	Bytes     int64 // that were read
	Err       error // how it was noticed
}

func (e *CutError) Error() string {
	return fmt.Sprintf("audio was cut after %d bytes (request %s): %v", e.Bytes, e.RequestID, e.Err)
}

// Unwrap returns [io.ErrUnexpectedEOF] and the cause.
func (e *CutError) Unwrap() []error { return []error{io.ErrUnexpectedEOF, e.Err} }

// errorOf reads the error that resp is. A body that is not ours, such as a proxy's page, is not shown.
func errorOf(resp *http.Response) *Error {
	e := &Error{
		Status:     resp.StatusCode,
		Code:       Code(resp.Header.Get("X-Error-Code")),
		RequestID:  resp.Header.Get("X-Request-Id"),
		RetryAfter: retryAfter(resp.Header.Get("Retry-After")),
	}
	var body struct {
		Error string `json:"error"`
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err == nil && json.Unmarshal(text, &body) == nil {
		e.Text = body.Error
	}
	if e.Text == "" {
		e.Text = strings.ToLower(http.StatusText(resp.StatusCode))
	}
	if e.Text == "" {
		e.Text = "unknown status"
	}
	return e
}

// retryAfter reads both forms of the header; a proxy may send the one with a date.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil {
		return time.Duration(min(max(seconds, 0), 1<<30)) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// Package call is how commands call a server. It finds the address, reads the answer and explains failures.
package call

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/speech"
)

// The exit codes that only a program has which calls servers; the others are in launch.
const (
	ExitUnreachable = 3
	ExitRefused     = 4
)

// UnreachableError is a server that does not answer.
type UnreachableError struct {
	server  string
	without string // what else helps, if anything does
	err     error
}

func (e *UnreachableError) Error() string { return e.err.Error() }
func (e *UnreachableError) Unwrap() error { return e.err }

// Reached turns err, of a call to server, into "cannot reach" unless the server has answered. without says how the
// command can do without a server, if it can.
func Reached(server, without string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if _, interrupted := errors.AsType[launch.Interrupt](err); interrupted {
		return err
	}
	if _, answered := errors.AsType[*client.Error](err); answered {
		return err
	}
	return &UnreachableError{server, without, err}
}

// ExitCode is that of an error which not every program knows.
func ExitCode(err error) int {
	if _, ok := errors.AsType[*UnreachableError](err); ok {
		return ExitUnreachable
	}
	if e, ok := errors.AsType[*client.Error](err); ok {
		if e.Status < http.StatusInternalServerError || e.Status == http.StatusServiceUnavailable {
			return ExitRefused
		}
		return launch.ExitFailure
	}
	if _, ok := errors.AsType[*speech.Refusal](err); ok || errors.Is(err, speech.ErrBusy) {
		return ExitRefused
	}
	return launch.ExitFailure
}

// Explain says in a sentence what went wrong and what to do about it, where not every program knows that. start is the
// command that starts a server.
func Explain(start string, err error) string {
	if e, ok := errors.AsType[*UnreachableError](err); ok {
		return explainUnreachable(start, e)
	}
	if e, ok := errors.AsType[*client.Error](err); ok {
		return explainRefusal(e)
	}
	if r, ok := errors.AsType[*speech.Refusal](err); ok {
		return advise(r.Text, client.Code(r.Code))
	}
	return err.Error()
}

func explainUnreachable(start string, e *UnreachableError) string {
	advice := []string{"check --server or SWAR_SERVER"}
	if u, err := url.Parse(e.server); err == nil && schemeOf(u.Host) == "http" { // likely a server of one's own
		advice = []string{"start one with `" + start + "`", "name another with --server"}
	}
	if e.without != "" {
		advice = append(advice, e.without)
	}
	last := len(advice) - 1
	if last > 0 {
		advice[last] = "or " + advice[last]
	}
	return fmt.Sprintf("no server answers at %s (%s); %s", e.server, launch.Reason(e.err), strings.Join(advice, ", "))
}

func explainRefusal(e *client.Error) string {
	text := advise(e.Text, e.Code)
	if e.RequestID != "" && ExitCode(e) == launch.ExitFailure { // worth reporting to the operator of the server
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// advise adds what to do about a refusal.
func advise(text string, code client.Code) string {
	switch code {
	case client.CodeMissingKey:
		return "the server requires an API key; pass it with --key or SWAR_KEY"
	case client.CodeInvalidKey:
		return "the server does not know this API key; check --key or SWAR_KEY"
	case client.CodeBusy:
		return "the server is busy; try again in a moment"
	case client.CodeWarmingUp:
		return "the server has just started and is not ready; try again in a moment"
	case client.CodeUnknownVoice, client.CodeVoiceNotAllowed:
		return text + "; `swar voices` lists the voices that you may use"
	case client.CodeTextTooLong, client.CodeTooManyChunks:
		return text + "; split the text"
	case "missing_token", "invalid_token", "token_expired":
		return text + "; `swar signin E-MAIL` gets a new one"
	case client.CodeEngineError, client.CodeWorkerGone:
		return "the server failed: " + text + "; trying once more often helps"
	}
	return text
}

package wire

import (
	"context"
	"errors"
	"fmt"

	"github.com/swar-tts/swar/runtime/speech"
)

// Errors that only travel between routers and pods.
var (
	ErrCordoned  = errors.New("cordoned")  // the pod takes nothing new for a while
	ErrCancelled = errors.New("cancelled") // requested by the router
)

// ProtocolError is a message that a peer does not understand or must not send.
type ProtocolError struct{ Text string }

func (e *ProtocolError) Error() string { return e.Text }

// NewerProtocol reports that a peer, such as "the router", requires a protocol that this version does not have.
func NewerProtocol(peer string, protocol uint32) *ProtocolError {
	return &ProtocolError{fmt.Sprintf(
		"%s speaks protocol %d of the fleet, and this version knows up to %d; update this one first", peer, protocol, Protocol)}
}

// plain are the errors that are values, each with its code. The order matters where one wraps another.
var plain = []struct {
	code Failure_Code
	err  error
}{
	{Failure_SLOT, speech.ErrBusy},
	{Failure_WARMING, speech.ErrWarming},
	{Failure_DRAINING, speech.ErrDraining},
	{Failure_CORDONED, ErrCordoned},
	{Failure_UNHEARD, speech.ErrUnreadAudio},
	{Failure_TIMEOUT, speech.ErrTimeout},
	{Failure_TIMEOUT, context.DeadlineExceeded},
	{Failure_WORKER_GONE, speech.ErrWorkerGone},
	{Failure_CANCELLED, ErrCancelled},
	{Failure_CANCELLED, context.Canceled},
	{Failure_CLIENT_SLOW, speech.ErrClientSlow},
	{Failure_CLIENT_GONE, speech.ErrClientGone},
}

// NewFailure is the message for err; nil for nil. An unknown error becomes an engine error, whose cause stays here: the
// router's clients must not see it.
func NewFailure(err error) *Failure {
	if err == nil {
		return nil
	}
	if r, ok := errors.AsType[*speech.Refusal](err); ok {
		return &Failure{Code: Failure_REFUSAL, RefusalCode: string(r.Code), Text: r.Text}
	}
	if e, ok := errors.AsType[*ProtocolError](err); ok {
		return &Failure{Code: Failure_PROTOCOL, Text: e.Text}
	}
	if e, ok := errors.AsType[*speech.EngineError](err); ok {
		return &Failure{Code: Failure_ENGINE, Text: e.Text}
	}
	for _, p := range plain {
		if errors.Is(err, p.err) {
			return &Failure{Code: p.code}
		}
	}
	return &Failure{Code: Failure_ENGINE, Text: "engine error"}
}

// Err is the error that NewFailure was given, without its cause; nil for nil.
func (f *Failure) Err() error {
	if f == nil {
		return nil
	}
	switch f.Code {
	case Failure_REFUSAL:
		return &speech.Refusal{Code: speech.Code(f.RefusalCode), Text: f.Text}
	case Failure_PROTOCOL:
		return &ProtocolError{f.Text}
	}
	for _, p := range plain {
		if p.code == f.Code {
			return p.err
		}
	}
	if f.Code != Failure_ENGINE || f.Text == "" { // of a newer pod, or broken
		return &speech.EngineError{Text: "engine error"}
	}
	return &speech.EngineError{Text: f.Text}
}

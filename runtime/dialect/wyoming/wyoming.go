// Package wyoming is the protocol of Home Assistant's voice services: events as lines of JSON over TCP, without keys.
//
// A [Server] reads and writes the events; audio comes from a [Speech], which may be a server in this process or a
// remote one.
package wyoming

import (
	"context"
	"errors"

	"github.com/swar-tts/swar/runtime/speech"
)

// Speech is the source of audio. It is safe for concurrent use. Clients see its errors, and those of its turns, if they
// are of the type [Error] or [speech.Refusal].
type Speech interface {
	Model(ctx context.Context) (speech.Model, error) // with the voices that may be used
	Say(ctx context.Context, voice string, text Text) (Turn, error)
	Feed(ctx context.Context, voice string) (FedTurn, error)
}

// Text is what a turn speaks.
type Text struct {
	Text string
	SSML bool // it is a document of SSML
}

// Turn is a text on its way.
type Turn interface {
	// Speak speaks the turn: audio receives samples (s16le, mono, 24 kHz) that are valid until it returns. Speak
	// returns when all was received, with the first error of its own or of audio, or at once with the cause of ctx when
	// that ends. It is called once for every turn, also when ctx has ended before, and frees the turn's resources.
	Speak(ctx context.Context, audio func(samples []byte) error) error
}

// FedTurn is a turn whose text comes piece by piece, from another goroutine than the one that has it spoken.
type FedTurn interface {
	Turn
	Append(text string) error
	Finish() // nothing more is appended
}

// Error is a failure as clients see it.
type Error struct{ Code, Text string }

func (e *Error) Error() string { return e.Text }

// shownOf returns what a client is shown of err: an [Error] is for it, and so is the refusal of what it has sent.
func shownOf(err error) (shown *Error, ok bool) {
	if shown, ok = errors.AsType[*Error](err); ok {
		return shown, true
	}
	if r, ok := errors.AsType[*speech.Refusal](err); ok {
		return &Error{string(r.Code), r.Text}, true
	}
	return nil, false
}

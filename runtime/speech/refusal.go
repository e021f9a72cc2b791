package speech

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Capacity and failure. They say nothing about the request itself.
var (
	ErrBusy       = errors.New("busy")                // no worker free and the queue full, or waited too long
	ErrWarming    = errors.New("workers warming up")  // no worker is ready yet
	ErrDraining   = errors.New("draining")            // the server is going away
	ErrTimeout    = errors.New("timeout")             // UtteranceTimeout passed
	ErrWorkerGone = errors.New("worker gone")         // the worker died; another attempt may succeed
	ErrClientSlow = errors.New("client too slow")     // audio was ready but nobody read it
	ErrClientGone = errors.New("client disconnected") // nobody is left to hear it
)

// ErrUnreadAudio is an [ErrTimeout] that the client brought about: UtteranceTimeout passed while audio was waiting
// for it to be read.
var ErrUnreadAudio = fmt.Errorf("%w: audio was waiting for the client", ErrTimeout)

// EngineError is a failure of synthesis. Text is fit for the client; Err, which is not, is for the log.
type EngineError struct {
	Text string
	Err  error
}

func (e *EngineError) Error() string {
	if e.Err == nil {
		return e.Text
	}
	return e.Text + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *EngineError) Unwrap() error { return e.Err }

// Code is the machine-readable name of a refusal, as in the header x-error-code.
type Code string

// The codes of refusals.
const (
	CodeTextEmpty       Code = "text_empty"
	CodeTextTooLong     Code = "text_too_long"
	CodeBadText         Code = "bad_text"
	CodeUnknownVoice    Code = "unknown_voice"
	CodeBadFormat       Code = "bad_format"
	CodeBadSampleRate   Code = "bad_sample_rate"
	CodeBadSpeed        Code = "bad_speed"
	CodeBadTemperature  Code = "bad_temperature"
	CodeBadRequest      Code = "bad_request"
	CodeNothingToSay    Code = "nothing_to_say"
	CodeTooManyChunks   Code = "too_many_chunks"
	CodeVoiceNotAllowed Code = "voice_not_allowed"
	CodeBadDisclosure   Code = "bad_disclosure"
	CodeUnsupportedSSML Code = "unsupported_ssml"
	CodeUnknownLexicon  Code = "unknown_lexicon"
)

// Refusal is the answer to a request that cannot be served as it is. Its text is part of the API.
type Refusal struct {
	Code Code
	Text string
}

func (r *Refusal) Error() string { return r.Text }

// Is reports whether target is a Refusal with the same code, so that errors.Is works with values such as
// [ErrTextEmpty].
func (r *Refusal) Is(target error) bool {
	t, ok := target.(*Refusal)
	return ok && t.Code == r.Code
}

// The refusals whose text never changes.
var (
	ErrTextEmpty      = &Refusal{CodeTextEmpty, "text is empty"}
	ErrTextTooLong    = &Refusal{CodeTextTooLong, fmt.Sprintf("text longer than %d characters", MaxChars)}
	ErrTextNotUTF8    = &Refusal{CodeBadText, "text: not valid UTF-8"}
	ErrTextNUL        = &Refusal{CodeBadText, "text: must not contain NUL"}
	ErrBadFormat      = &Refusal{CodeBadFormat, "format must be pcm16, wav or opus"}
	ErrBadSampleRate  = &Refusal{CodeBadSampleRate, fmt.Sprintf("sample_rate must be %d", SampleRate)}
	ErrBadSpeed       = &Refusal{CodeBadSpeed, "speed other than 1.0 is not supported by this model"}
	ErrBadTemperature = &Refusal{CodeBadTemperature, "temperature must be in [0, 2]"}
	ErrNothingToSay   = &Refusal{CodeNothingToSay, "nothing to say after normalisation"}
	ErrBadDisclosure  = &Refusal{CodeBadDisclosure, "disclosure: this model can speak none of it; have another one set"}
)

// TextTooLong refuses a text that is too long with a disclosure of so many code points before it.
func TextTooLong(disclosure int) *Refusal {
	if disclosure == 0 {
		return ErrTextTooLong
	}
	return &Refusal{CodeTextTooLong, fmt.Sprintf("text longer than %d characters; the spoken disclosure takes %d of %d",
		MaxChars-disclosure, disclosure, MaxChars)}
}

// UnknownVoice refuses a voice that the model does not have. At most 64 code points of the name are echoed.
func UnknownVoice(name string) *Refusal {
	if utf8.RuneCountInString(name) > 64 {
		name = string([]rune(name)[:64])
	}
	return &Refusal{CodeUnknownVoice, fmt.Sprintf("unknown voice '%s'; see /v1/voices", name)}
}

// UnknownLexicon refuses a lexicon that is not the project's. own is the name of that; empty: there is none.
func UnknownLexicon(own string) *Refusal {
	if own == "" {
		return &Refusal{CodeUnknownLexicon,
			"unknown lexicon; this key has no project with one, so that only none can be asked for"}
	}
	return &Refusal{CodeUnknownLexicon, "unknown lexicon; this key can use " + own + " and none"}
}

// BadSpeed refuses a speed that is none of a model's.
func BadSpeed(s Speeds) *Refusal {
	if s == (Speeds{}) {
		return ErrBadSpeed
	}
	return &Refusal{CodeBadSpeed, fmt.Sprintf("speed must be in [%g, %g] for this model", s.Min, s.Max)}
}

// VoiceNotAllowed refuses a voice outside the key's allow-list.
func VoiceNotAllowed(voice string) *Refusal {
	return &Refusal{CodeVoiceNotAllowed, fmt.Sprintf("voice %s not allowed for this key", voice)}
}

// TooManyChunks refuses a text that splits into n chunks.
func TooManyChunks(n int) *Refusal {
	return &Refusal{CodeTooManyChunks, fmt.Sprintf("text splits into %d chunks; max %d", n, MaxChunks)}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/call"
	"github.com/swar-tts/swar/runtime/dialect/wyoming"
	"github.com/swar-tts/swar/runtime/speech"
)

// remoteSpeech has a server speak.
type remoteSpeech struct {
	client *client.Client
	base   string
}

// Model implements [wyoming.Speech].
func (s remoteSpeech) Model(ctx context.Context) (m speech.Model, err error) {
	v, err := s.client.Voices(ctx)
	if err != nil {
		return m, s.remoteError(ctx, err)
	}
	m.ID = v.Model
	for _, of := range v.Voices {
		m.Voices = append(m.Voices,
			speech.Voice{Name: of.Name, Language: of.Language, SampleRate: of.SampleRate,
				PromptFrames: of.PromptFrames})
	}
	return m, nil
}

// Say implements [wyoming.Speech].
func (s remoteSpeech) Say(_ context.Context, voice string, text wyoming.Text) (wyoming.Turn, error) {
	return wholeTurn{s, client.Request{Text: text.Text, SSML: text.SSML, Voice: voice, Format: client.PCM16}}, nil
}

// Feed implements [wyoming.Speech].
func (s remoteSpeech) Feed(ctx context.Context, voice string) (wyoming.FedTurn, error) {
	conn, err := s.client.Stream(ctx)
	if err != nil {
		return nil, s.remoteError(ctx, err)
	}
	f := feeder{conn: conn, request: client.Request{Voice: voice, Format: client.PCM16}}
	return &fedTurn{remoteSpeech: s, conn: conn, feeder: f}, nil
}

// remoteError is an error as the clients of Wyoming see it.
func (s remoteSpeech) remoteError(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if e, ok := errors.AsType[*client.Error](err); ok && e.Code != "" {
		return &wyoming.Error{Code: string(e.Code), Text: e.Text}
	}
	return &wyoming.Error{Code: "server_unreachable", Text: call.Explain(wyomingCommand, call.Reached(s.base, "", err))}
}

// wholeTurn is a turn whose text is there.
type wholeTurn struct {
	remoteSpeech

	request client.Request
}

// Speak implements [wyoming.Turn].
func (t wholeTurn) Speak(ctx context.Context, audio func([]byte) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	sound, err := t.client.Speak(ctx, t.request)
	if err != nil {
		return t.remoteError(ctx, err)
	}
	ahead := sound.ReadAhead()
	defer func() { _ = ahead.Close() }()
	for block := make([]byte, 4*client.FrameBytes); ; {
		n, err := io.ReadAtLeast(ahead, block, client.FrameBytes)
		if n > 0 {
			if err := audio(block[:n]); err != nil {
				return err
			}
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF: // bare: of audio that was cut it is wrapped
			return nil
		default:
			return t.remoteError(ctx, err)
		}
	}
}

// fedTurn is a turn whose text comes piece by piece.
type fedTurn struct {
	remoteSpeech

	conn *client.Conn

	mu       sync.Mutex
	feeder   feeder
	finished bool
	ended    int // utterances of the feeder
}

// Append implements [wyoming.FedTurn].
func (t *fedTurn) Append(text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.feeder.feed(text); err != nil {
		return &wyoming.Error{Code: "server_unreachable", Text: err.Error()}
	}
	return nil
}

// Finish implements [wyoming.FedTurn].
func (t *fedTurn) Finish() {
	t.mu.Lock()
	err := t.feeder.finish()
	t.finished = true
	over := err != nil || t.ended == t.feeder.opened
	t.mu.Unlock()
	if over {
		_ = t.conn.Close() // Speak waits for it
	}
}

// Speak implements [wyoming.Turn].
func (t *fedTurn) Speak(ctx context.Context, audio func([]byte) error) error {
	defer func() { _ = t.conn.Close() }() // which stops what is still spoken
	for {
		e, err := t.conn.Next()
		switch {
		case errors.Is(err, net.ErrClosed) && ctx.Err() == nil && t.over(0):
			return nil
		case err != nil:
			return t.remoteError(ctx, err)
		}
		switch e := e.(type) {
		case *client.AudioEvent:
			if err := audio(e.Data); err != nil {
				return err
			}
		case *client.ErrorEvent:
			return t.remoteError(ctx, e.Err)
		case *client.CancelledEvent:
			return t.remoteError(ctx, fmt.Errorf("the server has cancelled %s", e.RequestID))
		case *client.EndEvent:
			if t.over(1) {
				return nil
			}
		}
	}
}

// over counts ended utterances, and reports whether none is left.
func (t *fedTurn) over(ended int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended += ended
	return t.finished && t.ended == t.feeder.opened
}

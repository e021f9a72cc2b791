package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/pool"
	"github.com/swar-tts/swar/runtime/speech"
)

// here decides between this process and a server: an engine that is typed, or otherwise local, means this process.
func (a *app) here(cmd *cobra.Command, own *engine.Flags, local bool) (bool, error) {
	// and not only by the environment
	wanted := a.OnCommandLine("model") || a.OnCommandLine("bundle") || a.OnCommandLine("engine")
	if wanted && a.OnCommandLine("server") {
		return false, launch.BadUsage(cmd, "--server and --bundle or --engine contradict each other; drop one of them")
	}
	if !local && !wanted {
		return false, nil
	}
	return true, own.Check(cmd)
}

// take is an utterance on its way: audio that is still being spoken, by a server or here. The caller closes it.
type take struct {
	io.ReadCloser
	seed     int64
	unspoken string // see client.Audio
}

// speakHere speaks r with one worker of this process, and returns when the first audio is there.
func speakHere(ctx context.Context, own *engine.Flags, r client.Request) (*take, error) {
	u, err := utteranceOf(r)
	if err != nil {
		return nil, err
	}
	e, err := own.Open(ctx, 1)
	if err != nil {
		return nil, err
	}
	speaker, err := engine.NewSpeaker(e, pool.Config{Workers: 1}, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	if u.Voice == "" {
		u.Voice = speaker.Model().DefaultVoice()
	}
	if err := speaker.Check(ctx, u); err != nil {
		return nil, errors.Join(err, speaker.Close()) // before the time it takes to warm up
	}
	ctx, cancel := context.WithCancelCause(ctx)
	l := &localAudio{spool: newSpool(), cancel: cancel}
	l.running.Go(func() { cancel(speaker.Run(ctx)) })
	l.running.Go(func() {
		err := speaker.Pool().WaitReady(ctx)
		if err == nil {
			_, err = speaker.Speak(ctx, u, speech.Turn{}, spoolSink{l.spool})
		}
		l.end(err)
	})
	if err := l.begun(); err != nil {
		_ = l.Close() // never fails
		return nil, err
	}
	return &take{l, u.Seed, l.unspoken}, nil
}

// utteranceOf fills in and checks what a server would, but for the voice.
func utteranceOf(r client.Request) (u speech.Utterance, err error) {
	u = speech.Utterance{
		Text: strings.TrimSpace(r.Text), Voice: r.Voice, Format: speech.Format(r.Format), Raw: r.Raw,
		EnDigits:    r.EnDigits,
		Temperature: speech.DefaultTemperature, Seed: rand.Int64(),
	}
	if r.Temperature != nil {
		u.Temperature = *r.Temperature
	}
	if r.Seed != nil {
		u.Seed = *r.Seed
	}
	if !(0 <= u.Temperature && u.Temperature <= speech.MaxTemperature) {
		return u, speech.ErrBadTemperature
	}
	return u, checkText(u.Text)
}

// checkText refuses what a server would.
func checkText(text string) error {
	switch text = strings.TrimSpace(text); {
	case !utf8.ValidString(text):
		return speech.ErrTextNotUTF8
	case strings.IndexByte(text, 0) >= 0:
		return speech.ErrTextNUL
	case text == "":
		return speech.ErrTextEmpty
	case utf8.RuneCountInString(text) > speech.MaxChars:
		return speech.ErrTextTooLong
	}
	return nil
}

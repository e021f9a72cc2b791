package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/call"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/wav"
)

// What speech sounds like, so loosely that no voice and no text is refused, and nothing else passes.
const (
	shortestLetter = 15 * time.Millisecond
	longestLetter  = 500 * time.Millisecond // digits are spoken as words
	longestPause   = 2 * time.Second        // for a text of a letter or two
	loudPeak       = 1000                   // of 32,767; below it a frame is silent
	leastLoud      = 4                      // one frame in leastLoud must be loud
)

// checkEvery is how often a server is called that does not speak yet.
const checkEvery = time.Second

var errBadSpeech = errors.New("the server speaks, but not as it should; see above")

func (a *app) checkCommand() *cobra.Command {
	var (
		where remote
		voice string
		wait  time.Duration
	)
	cmd := &cobra.Command{
		Use:   "check [TEXT…]",
		Short: "Test a running server end to end",
		Long: `Requests a sentence from a server, and checks that the audio is complete, has the right rate and a plausible length, and is not silent.
It neither plays nor writes audio. With --wait it retries while the server is unreachable or not ready, for use after a
deployment.`,
		Example: `  swar check --server https://tts.example.com
  swar check --server http://espeak.swar:8080 --wait 60s 'Namaste!'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if wait < 0 {
				return launch.BadUsage(cmd, "--wait %v: want a time such as 30s or 5m", wait)
			}
			text := firstWords
			if len(args) > 0 {
				var err error
				if text, err = a.text(cmd, args); err != nil {
					return err
				}
			}
			c, err := where.client(cmd)
			if err != nil {
				return err
			}
			s, err := trySpeak(cmd.Context(), c, client.Request{Text: text, Voice: voice}, wait)
			if _, isCut := errors.AsType[*client.CutError](err); err != nil && !isCut {
				err = call.Reached(where.base, "", err)
			}
			if err != nil {
				return launch.Interrupted(cmd.Context(), err)
			}
			return a.judge(s, text)
		},
	}
	f := cmd.Flags()
	where.flags(f)
	f.StringVar(&voice, "voice", "", "speak with this `voice` (default the server's)")
	f.DurationVar(&wait, "wait", 0, "try again for this `time` while the server is not ready")
	launch.Complete(cmd, "voice", a.offerVoices(&where))
	return cmd
}

// checkedAudio is a complete utterance.
type checkedAudio struct {
	audio  []byte // a WAV
	first  time.Duration
	whole  time.Duration
	frames int // that the server says there are; -1 if it says nothing
}

// trySpeak has a server speak, again and again for a while where it is not ready.
func trySpeak(ctx context.Context, c *client.Client, r client.Request, wait time.Duration) (checkedAudio, error) {
	for end := time.Now().Add(wait); ; {
		h, err := trySpeakOnce(ctx, c, r)
		if err == nil || !isEarly(err) || !time.Now().Add(checkEvery).Before(end) {
			return h, err
		}
		select {
		case <-time.After(checkEvery):
		case <-ctx.Done():
			return h, context.Cause(ctx)
		}
	}
}

// isEarly reports whether a server that has failed with err may speak soon.
func isEarly(err error) bool {
	if _, isCut := errors.AsType[*client.CutError](err); isCut {
		return false // it speaks, and badly
	}
	e, answered := errors.AsType[*client.Error](err)
	// of a gateway without a route
	return !answered || e.Status >= http.StatusInternalServerError || e.Status == http.StatusNotFound
}

func trySpeakOnce(ctx context.Context, c *client.Client, r client.Request) (h checkedAudio, err error) {
	begin := time.Now()
	audio, err := c.Speak(ctx, r)
	if err != nil {
		return h, err
	}
	defer func() { _ = audio.Close() }()
	h.first = time.Since(begin)
	if h.audio, err = io.ReadAll(audio); err != nil {
		return h, err
	}
	h.whole, h.frames = time.Since(begin), -1
	if proof, ok := audio.Proof(); ok {
		h.frames = proof.Frames
	}
	return h, nil
}

// judge prints what is to be said of an utterance, and fails where it is not as it should be.
func (a *app) judge(h checkedAudio, text string) (err error) {
	for _, f := range []finding{h.answer(), h.format(), h.length(text), h.sound()} {
		mark := a.Out.Green("ok  ")
		if f.bad {
			mark, err = a.Out.Red("BAD "), errBadSpeech
		}
		fmt.Fprintf(a.Out, "%s  %-7s %s\n", mark, f.what, f.text)
	}
	return err
}

func (h checkedAudio) answer() finding {
	const digits = time.Millisecond
	return finding{what: "answer",
		text: fmt.Sprintf("first audio after %v, all of it after %v", h.first.Round(digits), h.whole.Round(digits))}
}

// format looks at the header: 24,000 Hz, one channel, 16 bits.
func (h checkedAudio) format() finding {
	want, got := wav.Header(wav.Streaming), h.audio
	if len(got) < len(want) || string(got[:4]) != "RIFF" || string(got[8:16]) != "WAVEfmt " {
		return finding{what: "format", text: "it is not a WAV", bad: true}
	}
	rate, channels, bits := binary.LittleEndian.Uint32(got[24:]), binary.LittleEndian.Uint16(got[22:]),
		binary.LittleEndian.Uint16(got[34:])
	const fields, end = 20, 36 // the fields that describe the samples
	return finding{
		what: "format", text: fmt.Sprintf("%d Hz, %s, %d bits", rate, launch.Plural(int(channels), "channel"), bits),
		bad: string(got[fields:end]) != string(want[fields:end]),
	}
}

func (h checkedAudio) samples() []byte { return h.audio[min(len(h.audio), wav.HeaderBytes):] }

// length compares the audio with the text, and with what the server says.
func (h checkedAudio) length(text string) finding {
	n := len(h.samples())
	letters := utf8.RuneCountInString(text)
	length := time.Duration(n) * client.FrameDuration / client.FrameBytes
	least := max(client.FrameDuration, time.Duration(letters)*shortestLetter)
	most := longestPause + time.Duration(letters)*longestLetter
	f := finding{what: "length", text: fmt.Sprintf("%.2f s for %s", length.Seconds(), launch.Plural(letters, "letter"))}
	switch {
	case n%client.FrameBytes != 0:
		f.text, f.bad = f.text+", which are not whole frames", true
	case h.frames >= 0 && h.frames != n/client.FrameBytes:
		f.text, f.bad = fmt.Sprintf("%s; the server reports %s", f.text, launch.Plural(h.frames, "frame")), true
	case length < least || length > most:
		f.text, f.bad = fmt.Sprintf("%s; want %.2f to %.2f s", f.text, least.Seconds(), most.Seconds()), true
	}
	return f
}

// sound counts the frames that are not silent.
func (h checkedAudio) sound() finding {
	all, loud, loudest := 0, 0, 0
	for b := h.samples(); len(b) >= client.FrameBytes; b = b[client.FrameBytes:] {
		peak := 0
		for i := 0; i < client.FrameBytes; i += 2 {
			sample := int(int16(binary.LittleEndian.Uint16(b[i:])))
			peak = max(peak, sample, -sample)
		}
		all, loudest = all+1, max(loudest, peak)
		if peak >= loudPeak {
			loud++
		}
	}
	return finding{
		what: "sound",
		text: fmt.Sprintf("%d of %s are not silent, the loudest sample is %d", loud, launch.Plural(all, "frame"),
			loudest),
		bad: loud == 0 || loud*leastLoud < all,
	}
}

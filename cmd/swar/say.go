package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/client"
	"github.com/swar-tts/swar/cmd/internal/call"
	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
)

// manner is how something is to be said.
type manner struct {
	voice       string
	seed        int64
	temperature float64
	raw         bool
	enDigits    bool
}

func (m *manner) flags(f *pflag.FlagSet) {
	f.StringVar(&m.voice, "voice", "",
		"speak with this `voice` (default anjura, or the first voice of a model without it)")
	f.Int64Var(&m.seed, "seed", 0, "same text and same `number`, same audio (default random)")
	f.Float64Var(&m.temperature, "temperature", 0.3, "a `number` from 0 to 2; lower is more stable")
	f.BoolVar(&m.raw, "raw", false, "do not normalise the text")
	f.BoolVar(&m.enDigits, "en-digits", false, "read codes and OTPs with English digit names")
}

// request leaves to the server what the user did not give. The format is missing.
func (m *manner) request(f *pflag.FlagSet, text string) client.Request {
	r := client.Request{Text: text, Voice: m.voice, Raw: m.raw, EnDigits: m.enDigits}
	if f.Changed("seed") {
		r.Seed = &m.seed
	}
	if f.Changed("temperature") {
		r.Temperature = &m.temperature
	}
	return r
}

func (a *app) sayCommand() *cobra.Command {
	var (
		where  remote
		own    engine.Flags
		how    manner
		output string
		format string
		local  bool
	)
	cmd := &cobra.Command{
		Use:   "say TEXT… | -",
		Short: "Speak a text: play it, or write it to a file",
		Long: `Speaks a text: plays it through the first player found (` + playerNames() + `), or writes it with -o.

The text comes from the arguments, or with - or nothing from standard input. The ending of the file decides on the format: .wav,
.opus or .ogg, .pcm or .raw (s16le, 24 kHz, mono). -o - writes to standard output. A file appears only when it is complete.`,
		Example: `  swar say 'Namaste! Aapka order kal tak deliver ho jayega, total ₹499 hai.'
  swar say --voice raj --seed 7 -o otp.wav 'Aapka OTP 482913 hai.'
  swar say -o - --format opus < message.txt > message.opus
  swar say --local 'Bina server ke bhi.'
  swar say --bundle hindi-int8 'Apne model ki awaaz.'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			here, err := a.here(cmd, &own, local)
			if err != nil {
				return err
			}
			text, err := a.text(cmd, args)
			if err != nil {
				return err
			}
			r := how.request(cmd.Flags(), text)
			if _, err := utteranceOf(r); err != nil {
				return err
			}
			to, err := a.target(cmd, output, format)
			if err != nil {
				return err
			}
			r.Format = to.format()
			start := time.Now()
			var t *take
			if here {
				t, err = speakHere(cmd.Context(), &own, r)
			} else {
				t, err = where.speak(cmd, r)
			}
			if err != nil {
				return launch.Interrupted(cmd.Context(), to.finish(err))
			}
			defer t.Close()
			return a.deliver(cmd.Context(), t, to, start)
		},
	}
	f := cmd.Flags()
	where.flags(f)
	how.flags(f)
	f.StringVarP(&output, "output", "o", "", "write to this `file` instead of playing; - means standard output")
	f.StringVar(&format, "format", "", "write this `format`, wav, opus or pcm16, whatever the file is called")
	f.BoolVar(&local, "local", false, "speak in this process, without a server; --bundle and --engine do so too")
	own.Define(f)
	launch.Complete(cmd, "voice", a.offerVoicesHere(&where, &own, &local))
	launch.Complete(cmd, "format", cobra.FixedCompletions(writtenFormats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// text joins the arguments, or reads standard input.
func (a *app) text(cmd *cobra.Command, args []string) (string, error) {
	switch {
	case len(args) == 1 && args[0] == "-", len(args) == 0 && !launch.IsTerminal(a.In):
		const limit = 1 << 20 // what a server reads at most; the longest text is much shorter
		b, err := io.ReadAll(io.LimitReader(a.In, limit+1))
		if err != nil {
			return "", fmt.Errorf("reading the text: %w", err)
		}
		if len(b) > limit {
			return "", launch.BadUsage(cmd, "the text on standard input is longer than a megabyte")
		}
		return string(b), nil
	case len(args) == 0:
		return "", launch.BadUsage(cmd, "nothing to say; give a text, or - to read standard input")
	}
	return strings.Join(args, " "), nil
}

// speak lets the server speak.
func (r *remote) speak(cmd *cobra.Command, request client.Request) (*take, error) {
	c, err := r.client(cmd)
	if err != nil {
		return nil, err
	}
	audio, err := c.Speak(cmd.Context(), request)
	if err != nil {
		return nil, call.Reached(r.base, "without a server: `swar say --local`", err)
	}
	// The server cancels a stream whose reader is slower than speech, and a disk or a pipe may be slow.
	return &take{audio.ReadAhead(), audio.Seed, audio.Unspoken}, nil
}

// deliver copies t to its target.
func (a *app) deliver(ctx context.Context, t *take, to target, start time.Time) error {
	if t.unspoken != "" {
		fmt.Fprintf(a.Err, "%s %s\n", a.Err.Yellow("left out:"), leftOut(t.unspoken))
	}
	progress := a.progress(to.format())
	bytes, err := io.Copy(io.MultiWriter(to, progress), t)
	progress.finish()
	if err = launch.Interrupted(ctx, to.finish(err)); err != nil {
		if _, cut := errors.AsType[*client.CutError](err); cut {
			return fmt.Errorf("the server cut the audio off before its end; try again: %w", err)
		}
		return err
	}
	if a.Err.Terminal {
		fmt.Fprintf(a.Err, "%s %s to %s in %.2f s, seed %d\n",
			a.Err.Green("✓"), length(to.format(), bytes), to, time.Since(start).Seconds(), t.seed)
	}
	return nil
}

// leftOut names characters that a model cannot speak. What would harm a terminal is escaped.
func leftOut(unspoken string) string {
	return strconv.QuoteToGraphic(unspoken) + ", which this model cannot speak"
}

// progress draws how much has been spoken, on a terminal.
type progress struct {
	bar   *progressbar.ProgressBar // nil: not a terminal
	form  client.Format
	bytes int64
}

func (a *app) progress(f client.Format) *progress {
	p := &progress{form: f}
	if a.Err.Terminal {
		p.bar = progressbar.NewOptions64(-1,
			progressbar.OptionSetWriter(a.Err),
			progressbar.OptionSetDescription("speaking"),
			progressbar.OptionSpinnerType(14),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(65*time.Millisecond),
			progressbar.OptionEnableColorCodes(a.Err.Coloured),
		)
	}
	return p
}

func (p *progress) Write(b []byte) (int, error) {
	p.bytes += int64(len(b))
	if p.bar != nil {
		p.bar.Describe(length(p.form, p.bytes))
		_ = p.bar.Add(len(b)) // drawing may fail, speech continues
	}
	return len(b), nil
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

// length returns the duration of n bytes of audio; for Opus, where it is unknown, their number.
func length(f client.Format, n int64) string {
	if f == client.Opus {
		return fmt.Sprintf("%.1f kB of Opus", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f s of speech", float64(n)/(2*client.SampleRate))
}

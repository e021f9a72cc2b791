package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/models"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
)

func (a *app) voiceAddCommand() *cobra.Command {
	var (
		in      voiceBundle
		n       convert.Addition
		consent string
		r       engine.Runtime
	)
	cmd := &cobra.Command{
		Use:   "add NAME=FILE",
		Short: "Clone a voice from a recording into a bundle",
		Long: `Clones a voice from a recording, 8 to 20 seconds of one speaker without noise or music, speaks once with it and adds it to
a bundle. WAV, FLAC, MP3 and Ogg Opus are built in, other formats need ffmpeg. Faults of the recording are reported.

Cloning needs the original weights, which a bundle does not have. Those of a pulled model are in the store; for another
bundle name its configuration and weights. Their hash is checked, because a voice of other weights never stops talking.

The speaker must have agreed. A terminal asks for that; elsewhere use --consent. The manifest records its text, the date and
the hash of the recording.

A local server with this bundle (--data) warms the voice and lists it, without a restart or a pause. In a fleet a voice
comes with its bundle, by a rollout.`,
		Example: `  swar voice add asha=asha.opus --model saryps-hindi
  swar voice add asha=asha.opus --bundle hindi-int8 --config model/hindi.yaml --from model/model.safetensors
  swar voice add asha=asha.wav --bundle hindi-int8 --config model/hindi.yaml --consent agreement.txt`,
		Args: launch.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			var named bool
			if n.Name, n.File, named = strings.Cut(args[0], "="); !named || n.Name == "" || n.File == "" {
				return launch.BadUsage(cmd, "%q: want NAME=FILE", args[0])
			}
			if n.Bundle, err = in.cloning(cmd); err != nil {
				return err
			}
			if in.stored != nil {
				in.fillIn(&n)
			}
			if n.Config == "" {
				return launch.BadUsage(cmd,
					"--config is missing; name the configuration of the bundle's model, and with --from its weights")
			}
			if err := n.Free(); errors.Is(err, convert.ErrVoiceTaken) {
				return fmt.Errorf("%w; --replace puts the new one in its place", err)
			} else if err != nil {
				return err
			}
			if n.Consent, err = a.consent(cmd, consent, n.File); err != nil {
				return err
			}
			ctx := cmd.Context()
			if err := errors.Join(a.addVoice(ctx, n, &r), in.changed()); err != nil {
				return launch.Interrupted(ctx, err)
			}
			return launch.Interrupted(ctx, in.notifyServer(ctx, a))
		},
	}
	in.define(cmd)
	f := cmd.Flags()
	f.StringVar(&n.Config, "config", "", "configuration of the bundle's model, a yaml `file` or config.json")
	f.StringVar(&n.Weights, "from", "",
		"weights of the bundle's model, a safetensors `file` (default the one in the configuration)")
	f.StringVar(&n.MimiWeights, "mimi", "", "weights of its codec, a safetensors `file`, if they are separate")
	f.StringVar(&consent, "consent", "", "the speaker's consent, a `text` or a file with it")
	f.StringVar(&n.Language, "language", "", "`languages` of the voice (default those of the model)")
	f.BoolVar(&n.Replace, "replace", false, "replace the voice of that name")
	in.defineServer(cmd)
	r.Define(f)
	return cmd
}

// fillIn names the files that the model was made of, where the command line does not.
func (v *voiceBundle) fillIn(n *convert.Addition) {
	n.Config = cmp.Or(n.Config, v.store.FileOf(*v.stored, models.RoleConfig))
	n.Weights = cmp.Or(n.Weights, v.store.FileOf(*v.stored, models.RoleWeights))
	n.MimiWeights = cmp.Or(n.MimiWeights, v.store.FileOf(*v.stored, models.RoleCodec))
}

// addVoice adds the voice and prints the result.
func (a *app) addVoice(ctx context.Context, n convert.Addition, r *engine.Runtime) error {
	began, shown := time.Now(), a.NewTask()
	defer shown.Clear()
	n.Progress = shown.At
	n.Notice = func(line string) {
		shown.Clear()
		fmt.Fprintln(a.Err, a.Err.Yellow("note:"), line)
	}
	var heard trial
	n.Try = func(ctx context.Context, dir string) (err error) {
		shown.At(0, 0, "speaking as "+n.Name)
		heard, err = tryBundleVoice(ctx, r, dir, n.Name)
		return err
	}
	v, err := convert.AddVoice(ctx, n)
	if err != nil {
		return err
	}
	shown.Clear()
	fmt.Fprintf(a.Out, "%s %s is in %s: prompt of %d positions, %s, made in %.1f s\n", a.Out.Green("✓"), n.Name,
		n.Bundle,
		v.PromptFrames, launch.Megabytes(v.Bytes), time.Since(began).Seconds())
	fmt.Fprintf(a.Out, "  it spoke once: %v\n", heard)
	if !heard.eos {
		fmt.Fprintln(a.Out, a.Out.Yellow("  it ran to its limit without an end of speech: try another recording"))
	}
	fmt.Fprintf(a.Out, "\n  %s say --bundle %s --voice %s %s   listen to it\n",
		a.Invocation, shellWord(n.Bundle), shellWord(n.Name), quote("Namaste! Kya haal hai?"))
	return nil
}

// tryBundleVoice speaks one line with a voice of the bundle in dir.
func tryBundleVoice(ctx context.Context, r *engine.Runtime, dir, voice string) (t trial, err error) {
	e, err := r.OpenBundle(ctx, dir, 1, -1)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	w, err := e.NewWorker(ctx)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	return tryVoice(ctx, w, voice)
}

// consent returns the speaker's consent: from the command line, or typed at a terminal.
func (a *app) consent(cmd *cobra.Command, said, file string) (c bundle.Consent, err error) {
	c = bundle.Consent{Text: said, Date: time.Now().Format(time.DateOnly)}
	switch {
	case said != "":
		if c.Text, err = textOrFile(said); err != nil {
			return c, err
		}
	case !launch.IsTerminal(a.In):
		return c, launch.BadUsage(cmd,
			"--consent is missing; give the speaker's consent as text, or a file with it")
	default:
		const agreed = "the speaker has agreed to the cloning of a voice from this recording, and to its use"
		fmt.Fprintf(a.Err, "%s is the voice of a person. Type yes if %s: ", file, agreed)
		answer, err := a.answer(cmd.Context())
		if err != nil {
			return c, launch.Interrupted(cmd.Context(), err)
		}
		if !strings.EqualFold(answer, "yes") {
			return c, errors.New("nothing was changed: cloning a voice needs the speaker's consent")
		}
		c.Text = "Answered with yes on a terminal: " + agreed + "."
	}
	return c, c.Check()
}

// textOrFile is a text, or what is in the file of that name.
func textOrFile(said string) (string, error) {
	info, err := os.Stat(said)
	switch {
	case err == nil && info.Mode().IsRegular():
		if info.Size() > bundle.MaxConsent {
			return "", fmt.Errorf("--consent %s: it has %d bytes, more than %d", said, info.Size(), bundle.MaxConsent)
		}
		text, err := os.ReadFile(said)
		if err != nil {
			return "", err
		}
		said = string(text)
	case !strings.ContainsAny(said, " \n") && strings.ContainsAny(said, "./"):
		return "", fmt.Errorf("--consent %s: not a file, and too short to be a consent text", said)
	}
	return strings.TrimSpace(said), nil
}

// answer reads a typed line.
func (a *app) answer(ctx context.Context) (string, error) {
	typed := make(chan string, 1)
	go func() { // if no line is typed, it ends with the program
		line, _ := bufio.NewReader(a.In).ReadString('\n')
		typed <- strings.TrimSpace(line)
	}()
	select {
	case line := <-typed:
		return line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/control"
	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/cmd/internal/portal"
	"github.com/swar-tts/swar/models"
	kokoro "github.com/swar-tts/swar/runtime/kokoro/bundle"
	"github.com/swar-tts/swar/runtime/manifest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/layout"
	"github.com/swar-tts/swar/runtime/speech"
)

func (a *app) voiceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "voice",
		Short: "Clone voices from recordings into a bundle, list and remove them",
		Long: `A voice is cloned from 8 to 20 seconds of a person's speech and becomes part of a bundle.

  swar voice add asha=asha.opus …     clone one, from WAV, FLAC, MP3, Ogg Opus and what ffmpeg reads
  swar voice list --model NAME        show where voices come from
  swar voice rm asha --model NAME     remove one`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.voiceAddCommand(), a.voiceListCommand(), a.voiceRemoveCommand())
	return cmd
}

// voiceBundle says in which bundle voices change.
type voiceBundle struct {
	dir, model string
	data       string // folder of a server on this machine that may speak with the bundle

	store  models.Store
	stored *models.Model // that the bundle is of; nil where it was named by its folder
}

func (v *voiceBundle) define(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&v.model, "model", "", "`name` of a model that was pulled")
	cmd.Flags().StringVar(&v.dir, "bundle", "", "`folder` of the bundle, in place of --model")
}

// defineServer defines the flags that select the server to notify.
func (v *voiceBundle) defineServer(cmd *cobra.Command) {
	cmd.Flags().StringVar(&v.data, "data", portal.DefaultData,
		"`folder` that a server works on; if it speaks with the bundle, its voices change at once")
}

// folder returns the folder of the bundle, in the one form that voices can be added to.
func (v *voiceBundle) folder(cmd *cobra.Command) (string, error) {
	switch {
	case v.dir == "" && v.model == "":
		return "", launch.BadUsage(cmd, "--model is missing; name the model, or the folder of its bundle with --bundle")
	case v.dir != "" && v.model != "":
		return "", launch.BadUsage(cmd, "--model and --bundle each name a model; drop one of them")
	case v.model != "":
		store, m, err := findStored(v.model)
		if err != nil {
			return "", err
		}
		v.store, v.stored, v.dir = store, &m, m.Folder
	}
	kind, err := engine.FindLayout(v.dir)
	if err != nil {
		return "", err
	}
	if kind != layout.None {
		return "", fmt.Errorf("%s is in the %s layout: its voices are the files in its folder voices; put a recording there",
			v.dir, kind)
	}
	return v.dir, nil
}

// cloning returns the folder of the bundle, whose engine must be one that clones voices.
func (v *voiceBundle) cloning(cmd *cobra.Command) (string, error) {
	dir, err := v.folder(cmd)
	if err != nil {
		return "", err
	}
	kind, err := manifest.Engine(dir)
	if err == nil && kind != manifest.ONNX {
		err = fmt.Errorf("%s is for the engine %s, which clones no voices: its voices are chosen when it is pulled, "+
			"as in `swar model pull kokoro --voice af_heart`", dir, kind)
	}
	return dir, err
}

// changed has the store know the bundle as it is now.
func (v *voiceBundle) changed() error {
	if v.stored == nil {
		return nil
	}
	return v.store.Changed(*v.stored)
}

// notifyServer asks a running server with this bundle to reload its voices, and prints the result. A failure does not
// undo the change of the bundle.
func (v *voiceBundle) notifyServer(ctx context.Context, a *app) error {
	waiting := a.NewTask()
	waiting.At(0, 0, "waiting for the server on "+v.data)
	c, err := a.portal.ReadVoices(ctx, v.data, v.dir)
	waiting.Clear()
	switch {
	case errors.Is(err, control.ErrNoServer), errors.Is(err, control.ErrOtherBundle),
		errors.Is(err, control.ErrNoBundle):
		fmt.Fprintf(a.Err,
			"%s no server was notified: %s: %v; --data names the folder of another one, and a server that starts reads the bundle as it is\n",
			a.Err.Yellow("note:"), v.data, err)
		return nil
	case err != nil:
		return fmt.Errorf("the bundle has changed, but the server on %s still has the previous voices: %s", v.data,
			a.Explain(err))
	}
	_, err = fmt.Fprintf(a.Out, "%s the server on %s speaks with %s\n", a.Out.Green("✓"), v.data,
		strings.Join(c.Voices, ", "))
	return err
}

func (a *app) voiceListCommand() *cobra.Command {
	var (
		in     voiceBundle
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "Show the voices of a bundle and where they come from",
		Long:    `Shows the voices of a bundle, their recordings, and the dates of consents. swar bundle inspect shows their texts.`,
		Example: "  swar voice list --model saryps-hindi",
		Args:    launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := in.folder(cmd)
			if err != nil {
				return err
			}
			b, err := manifest.Open(dir)
			if err != nil {
				return err
			}
			m, clones := b.Manifest.(bundle.Manifest)
			if !clones {
				return a.listPublished(&b, asJSON)
			}
			if asJSON {
				return a.PrintJSON(m.Voices)
			}
			t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "voice\tlanguage\tprompt\trecording\tconsent")
			for _, v := range m.Voices {
				recording, consent := "-", "-"
				if r := v.Recording; r != (bundle.Recording{}) {
					recording = fmt.Sprintf("%.1f s of %s", r.Seconds, oneLine(r.Format))
				}
				if v.Consent != (bundle.Consent{}) {
					consent = v.Consent.Date
				}
				fmt.Fprintf(t, "%s\t%s\t%.1f s\t%s\t%s\n",
					oneLine(v.Name), v.Language, speech.Seconds(v.PromptFrames), recording, consent)
			}
			return t.Flush()
		},
	}
	in.define(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print their manifest entries as JSON")
	return cmd
}

// listPublished lists voices that are not cloned.
func (a *app) listPublished(b *manifest.Bundle, asJSON bool) error {
	m, ok := b.Manifest.(kokoro.Manifest)
	if !ok {
		return fmt.Errorf("this program has no details about voices of the engine %s", b.Engine)
	}
	if asJSON {
		return a.PrintJSON(m.Voices)
	}
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "voice\tlanguage\tpublished as")
	for _, v := range m.Voices {
		fmt.Fprintf(t, "%s\t%s\t%s\n", oneLine(v.Name), v.Language, oneLine(v.Source))
	}
	return t.Flush()
}

func (a *app) voiceRemoveCommand() *cobra.Command {
	var in voiceBundle
	cmd := &cobra.Command{
		Use:   "rm NAME",
		Short: "Remove a voice from a bundle",
		Long: `Removes a voice from a bundle, which keeps at least one. A local server with this bundle stops listing it at
once; running utterances finish.`,
		Example: "  swar voice rm asha --model saryps-hindi",
		Args:    launch.Exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := in.cloning(cmd)
			if err != nil {
				return err
			}
			if err := errors.Join(convert.RemoveVoice(dir, args[0]), in.changed()); err != nil {
				return err
			}
			fmt.Fprintf(a.Out, "%s %s is removed from %s\n", a.Out.Green("✓"), args[0], dir)
			return launch.Interrupted(cmd.Context(), in.notifyServer(cmd.Context(), a))
		},
	}
	in.define(cmd)
	in.defineServer(cmd)
	return cmd
}

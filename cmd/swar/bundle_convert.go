package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
)

func (a *app) convertCommand() *cobra.Command {
	var (
		c         convert.Conversion
		voices    []string
		output    string
		threshold float64
		after     int
	)
	cmd := &cobra.Command{
		Use:   "convert",
		Short: "Convert a published model to a bundle",
		Long: `Converts a published model of the Pocket-TTS family to a bundle: a configuration (upstream's yaml, or the config.json of
its exporter), weights as safetensors, a tokenizer (.model or tokenizer.json) and voices. Files without a flag are expected
beside the configuration, under the name in it.

fp32 is the exact model; int8 is faster and needs less than half the memory. The default voice is anjura, or the first one
by name. The folder appears when it is complete; an interrupt leaves no files.`,
		Example: `  swar bundle convert --config model/hindi.yaml --from model/model.safetensors --tokenizer model/tokenizer.model \
    --voice anjura=voices/anjura.safetensors --voice raj=voices/raj.safetensors --precision int8 -o hindi-int8`,
		Args: launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkConversion(cmd, &c, voices, output); err != nil {
				return err
			}
			if cmd.Flags().Changed("eos-threshold") {
				c.EOSThreshold = &threshold
			}
			if cmd.Flags().Changed("frames-after-eos") {
				c.FramesAfterEOS = &after
			}
			if !cmd.Flags().Changed("gelu") {
				c.GELU = "" // a config.json says its own
			}
			if !cmd.Flags().Changed("steps") {
				c.Steps = 0
			}
			c.Resolve = func(context.Context, string) (string, error) {
				return "", errors.New("this command downloads nothing: use swar model pull to download the model, " +
					"or download the file and name it")
			}
			c.Notice = func(line string) { fmt.Fprintln(a.Err, a.Err.Yellow("note:"), line) }
			return a.makeBundle(cmd.Context(), output,
				func(progress func(int64, int64, string)) (bundle.Manifest, error) {
					c.Progress = progress
					return convert.Convert(cmd.Context(), output, c)
				})
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&c.Config, "config", "", "configuration of the model, a yaml `file` or config.json")
	f.StringVar(&c.Weights, "from", "", "weights, a safetensors `file` (default the one that the configuration names)")
	f.StringVar(&c.MimiWeights, "mimi", "",
		"weights of the codec, a safetensors `file`, if --from has the language model only")
	f.StringVar(&c.Tokenizer, "tokenizer", "",
		"SentencePiece model or tokenizer.json, a `file` (default the one that the configuration names)")
	f.StringArrayVar(&voices, "voice", nil, "a voice, `NAME=FILE`: stored as safetensors, or a recording to clone; "+
		"can be repeated; those inside the weights need no flag")
	f.IntVar(&c.VoiceSeconds, "voice-seconds", 0,
		"reserve room for voices of `n` seconds, up to 30, for swar voice add (default: the longest voice)")
	f.StringVar(&c.Language, "language", "hi-IN+en-IN", "`languages` of the voices")
	f.StringVar(&c.Precision, "precision", bundle.FP32, "`fp32`, the exact model, or int8, the fast one")
	f.StringVarP(&output, "output", "o", "", "`folder` of the new bundle")
	f.StringVar(&c.ID, "model-id", "", "what the API calls the model (default the `name` of the folder)")
	f.StringVar(&c.Revision, "revision", "", "its `version`, for your own records")
	f.StringVar(&c.Licence, "licence", "", "its `licence`, for your own records")
	f.StringVar(&c.GELU, "gelu", "tanh", "activation of the model, tanh or `erf`")
	f.IntVar(&c.Steps, "steps", 1, "draw each frame in `n` steps of the flow")
	f.Float64Var(&threshold, "eos-threshold", -4, "end of speech: threshold of the model's `logit`")
	f.IntVar(&after, "frames-after-eos", 0,
		"keep `n` frames after that (default 3, or 5 after up to four words, or the configuration's)")
	f.StringVar((*string)(&c.Trained.Script), "text-script", "",
		"`script` of the texts that the model was trained on: deva, which gets all in Devanagari, deva+latn, "+
			"which gets Roman Hindi in Devanagari, or mixed (default mixed)")
	f.StringVar(&c.Trained.Punctuation, "text-punctuation", "",
		"punctuation `marks` of the training texts, such as '.,?', or none (default: those of the tokenizer)")
	f.StringVar(&c.Trained.Numbers, "text-numbers", "",
		"how numbers were written in its texts, for your own records: `words`")
	return cmd
}

// checkConversion refuses settings that cannot be meant, and fills in names.
func checkConversion(cmd *cobra.Command, c *convert.Conversion, voices []string, output string) error {
	switch {
	case c.Config == "":
		return launch.BadUsage(cmd, "--config is missing; name the yaml file of the model")
	case output == "":
		return launch.BadUsage(cmd, "-o is missing; name the folder of the new bundle")
	case c.Precision != bundle.FP32 && c.Precision != bundle.Int8:
		return launch.BadUsage(cmd, "--precision %q: want fp32 or int8", c.Precision)
	case c.GELU != "tanh" && c.GELU != "erf":
		return launch.BadUsage(cmd, "--gelu %q: want tanh or erf", c.GELU)
	case c.VoiceSeconds < 0 || c.VoiceSeconds > 30:
		return launch.BadUsage(cmd, "--voice-seconds %d: want 0 to 30", c.VoiceSeconds)
	case c.Steps < 1 || c.Steps > 64:
		return launch.BadUsage(cmd, "--steps %d: want 1 to 64", c.Steps)
	}
	if err := c.Trained.Check(); err != nil {
		return launch.BadUsage(cmd, "--text-%v", err)
	}
	c.Voices = make(map[string]string)
	for _, v := range voices {
		name, path, ok := strings.Cut(v, "=")
		switch {
		case !ok || name == "" || path == "":
			return launch.BadUsage(cmd, "--voice %q: want NAME=FILE", v)
		case c.Voices[name] != "":
			return launch.BadUsage(cmd, "--voice %s is given twice", name)
		}
		c.Voices[name] = path
	}
	if c.ID == "" {
		c.ID = filepath.Base(filepath.Clean(output))
	}
	return nil
}

// makeBundle builds a bundle in the folder output, which appears only when it is complete. It shows progress, and then
// commands to try.
func (a *app) makeBundle(ctx context.Context, output string,
	build func(progress func(done, total int64, what string)) (bundle.Manifest, error)) error {
	began, shown := time.Now(), a.NewTask()
	m, err := build(shown.At)
	shown.Clear()
	if err != nil {
		return launch.Interrupted(ctx, err)
	}
	size, err := folderBytes(output)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s %s: model %s, %s, %s, %s, built in %.1f s\n\n", a.Out.Green("✓"), output, m.Model.ID,
		m.Precision,
		launch.Plural(len(m.Voices), "voice"), launch.Megabytes(size), time.Since(began).Seconds())
	a.nextSteps(output)
	return nil
}

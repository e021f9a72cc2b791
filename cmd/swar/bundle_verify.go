package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/engine"
	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/manifest"
	"github.com/swar-tts/swar/runtime/onnx"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/layout"
	"github.com/swar-tts/swar/runtime/onnx/parity"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

func (a *app) verifyCommand() *cobra.Command {
	var (
		vectors, precision string
		r                  engine.Runtime
	)
	cmd := &cobra.Command{
		Use:   "verify [DIR]",
		Short: "Check a bundle, and speak once with every voice",
		Long: `Checks the hash of every file of a bundle, compares the graphs' inputs and outputs with the manifest, and speaks a short
line with every voice.

An int8 bundle is checked with this processor's kernel: the largest integers are multiplied and compared with integer
arithmetic, and the first voice also speaks the line in floats; frames and ending must be equal, and the rest within
rounding.

With --vectors it checks the engine itself: every case below that folder is converted and computed, and each quantity is
compared with the reference implementation's. One line shows the largest difference and the tolerance; with --precision int8,
for quantities that integers change, the root mean square of the differences in percent of the reference's.`,
		Example: `  swar bundle verify hindi-int8
  swar bundle verify --vectors golden
  swar bundle verify --vectors golden --precision int8`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 0 && vectors == "" {
				return launch.BadUsage(cmd, "want one folder, the bundle to check, or --vectors")
			}
			if cmd.Flags().Changed("precision") && vectors == "" {
				return launch.BadUsage(cmd, "--precision applies to --vectors only: a bundle has its own")
			}
			if precision != bundle.FP32 && precision != bundle.Int8 {
				return launch.BadUsage(cmd, "--precision is %q, want fp32 or int8", precision)
			}
			if len(args) == 1 {
				if err := a.verifyBundle(cmd.Context(), args[0], r); err != nil {
					return launch.Interrupted(cmd.Context(), err)
				}
			}
			if vectors == "" {
				return nil
			}
			return launch.Interrupted(cmd.Context(), a.verifyVectors(cmd.Context(), vectors, precision, r))
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&vectors, "vectors", "", "compare with the golden vectors in this `folder`")
	f.StringVar(&precision, "precision", bundle.FP32, "convert the golden vectors to `fp32` or int8")
	r.Define(f)
	return cmd
}

// verifying is one run of the command on a bundle.
type verifying struct {
	app   *app
	shown *launch.Task
	dir   string
	quiet bool // print failures only
	lean  bool // no comparison with floats, which takes the memory of those
}

// verifyBundle checks what is cheap first.
func (a *app) verifyBundle(ctx context.Context, dir string, r engine.Runtime) error {
	v := &verifying{app: a, shown: a.NewTask(), dir: dir}
	defer v.shown.Clear()
	return v.bundle(ctx, r)
}

func (v *verifying) bundle(ctx context.Context, r engine.Runtime) (err error) {
	if err := v.files(); err != nil {
		return err
	}
	v.shown.At(0, 0, "loading the graphs")
	e, err := r.OpenBundle(ctx, v.dir, 1, -1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	v.found("graphs", "inputs and outputs match the manifest")
	if e.Kernel() != "" {
		v.found("integers", "kernel %s: the largest integers are multiplied exactly", e.Kernel())
	}

	v.shown.At(0, 0, "warming up")
	w, err := e.NewWorker(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for _, voice := range e.Model().Voices {
		if err := v.voice(ctx, w, voice.Name); err != nil {
			return fmt.Errorf("voice %s: %w", voice.Name, err)
		}
	}
	if v.lean {
		return nil
	}
	return v.served(ctx, r.Library, e)
}

// served compares an int8 bundle with itself in floats.
func (v *verifying) served(ctx context.Context, library string, e synth.Neural) error {
	if _, ok := e.(*onnx.Engine); !ok || e.Kernel() == "" {
		return nil
	}
	if kind, err := engine.FindLayout(v.dir); err != nil || kind != layout.None {
		return err
	}
	v.shown.At(0, 0, "speaking in floats, too")
	results, err := parity.CheckServed(ctx, parity.ServedConfig{
		Bundle: v.dir, Library: library, Voice: e.Model().Voices[0].Name, Text: tryText, Seed: 1,
	})
	if err != nil {
		return fmt.Errorf("comparing with floats: %w", err)
	}
	var far, wrong []string
	for _, r := range results {
		switch {
		case r.Measure == parity.RelativeRMS:
			far = append(far, fmt.Sprintf("%s %s (at most %s)", r.Quantity, difference(r), tolerance(r)))
		case r.OK:
			far = append(far, r.Quantity+" equal")
		}
		if !r.OK {
			wrong = append(wrong, joined(" ", r.Quantity, difference(r), r.Note))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("in int8 this bundle speaks otherwise than in floats (%s); convert it in fp32, or try another SWAR_KERNEL and report this",
			strings.Join(wrong, "; "))
	}
	v.found("int8", "as in floats: %s", strings.Join(far, ", "))
	return nil
}

// found prints a check that passed.
func (v *verifying) found(what, format string, args ...any) {
	v.shown.Clear()
	if v.quiet {
		return
	}
	fmt.Fprintf(v.app.Out, "%s  %-8s %s\n", v.app.Out.Green("ok"), what, fmt.Sprintf(format, args...))
}

func (v *verifying) files() error {
	kind, err := engine.FindLayout(v.dir)
	if err != nil {
		return err
	}
	if kind != layout.None {
		v.found("files", "%s layout, without hashes", kind)
		return nil
	}
	v.shown.At(0, 0, "hashing the files")
	b, err := manifest.Open(v.dir)
	if err != nil {
		return err
	}
	if err := b.Verify(v.dir); err != nil {
		return err
	}
	size, err := folderBytes(v.dir)
	if err != nil {
		return err
	}
	v.found("files", "%s have the hashes of the manifest", launch.Megabytes(size))
	return nil
}

func (v *verifying) voice(ctx context.Context, w synth.Worker, name string) error {
	v.shown.At(0, 0, "speaking as "+name)
	t, err := tryVoice(ctx, w, name)
	if err != nil {
		return err
	}
	v.found("voice", "%s: %v", name, t)
	if !t.eos {
		fmt.Fprintf(v.app.Out, "%s\n",
			v.app.Out.Yellow("    it ran to its limit without an end of speech; usual for a voice made with other weights"))
	}
	return nil
}

// trial is how a voice spoke one line.
type trial struct {
	frames int
	rms    float64 // of full scale
	first  time.Duration
	took   time.Duration
	eos    bool
}

func (t trial) String() string {
	return fmt.Sprintf("%s, %.2f s, RMS %.4f, in %d ms (the first after %d ms)", launch.Plural(t.frames, "frame"),
		speech.Seconds(t.frames), t.rms,
		t.took.Milliseconds(), t.first.Milliseconds())
}

// tryText has few words, because the pieces of a tokenizer may be letters.
const tryText = "नमस्ते, welcome."

// tryVoice speaks one line. Silence is an error: a stored voice must sound.
func tryVoice(ctx context.Context, w synth.Worker, voice string) (t trial, err error) {
	start := time.Now()
	if _, err := w.Prefill(ctx,
		synth.Options{Voice: voice, Text: tryText, Seed: 1, Temperature: speech.DefaultTemperature}); err != nil {
		return t, err
	}
	group := make([]int16, synth.GroupFrames*speech.FrameSamples)
	power := 0.0
	for n, done := synth.FirstFrames, false; !done; n = synth.GroupFrames {
		var frames int
		if frames, done, t.eos, err = w.Next(ctx, group, n); err != nil {
			return t, err
		}
		if t.frames += frames; t.first == 0 {
			t.first = time.Since(start)
		}
		for _, s := range group[:frames*speech.FrameSamples] {
			power += math.Pow(float64(s)/math.MaxInt16, 2)
		}
	}
	t.took = time.Since(start)
	if t.frames == 0 {
		return t, errors.New("it ended before the first frame")
	}
	if t.rms = math.Sqrt(power / float64(t.frames*speech.FrameSamples)); t.rms == 0 {
		return t, errors.New("it is silent")
	}
	return t, nil
}

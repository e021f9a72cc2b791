package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
)

// randomSizes are the models that can be made up.
var randomSizes = map[string]func() convert.Random{"tiny": convert.Tiny, "lite": convert.Lite, "base": convert.Full}

func (a *app) synthRandomCommand() *cobra.Command {
	var (
		size, precision, output string
		seed                    uint64
	)
	cmd := &cobra.Command{
		Use:   "synth-random",
		Short: "Build a bundle with random weights, for tests and benchmarks",
		Long: `Builds a bundle with random weights and the voices anjura and raj: it speaks noise, at the cost of a real model of its
size. The same size, precision and seed give the same files.

tiny is for tests and starts at once, lite is a small model with real dimensions, base has those of the released models of
six layers.`,
		Example: `  swar bundle synth-random --size tiny -o random
  swar serve --bundle random`,
		Args: launch.Exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			model, known := randomSizes[size]
			switch {
			case !known:
				return launch.BadUsage(cmd, "--size %q: want tiny, lite or base", size)
			case precision != bundle.FP32 && precision != bundle.Int8:
				return launch.BadUsage(cmd, "--precision %q: want fp32 or int8", precision)
			case output == "":
				return launch.BadUsage(cmd, "-o is missing; name the folder of the new bundle")
			}
			r := model()
			r.Seed, r.Precision = seed, precision
			return a.makeBundle(cmd.Context(), output,
				func(progress func(int64, int64, string)) (bundle.Manifest, error) {
					progress(0, 0, "making up weights")
					source, err := r.Source()
					if err != nil {
						return bundle.Manifest{}, err
					}
					source.Checkpoint.Weights = interruptible{source.Checkpoint.Weights,
						func() error { return context.Cause(cmd.Context()) }}
					return convert.Write(output, source)
				})
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&size, "size", "tiny", "`size` of the model: tiny, lite or base")
	f.StringVar(&precision, "precision", bundle.FP32, "`fp32` or int8")
	f.Uint64Var(&seed, "seed", 1, "another `number`, another model")
	f.StringVarP(&output, "output", "o", "", "`folder` of the new bundle")
	return cmd
}

// interruptible weights end between any two of them, where stopped says why.
type interruptible struct {
	convert.Weights
	stopped func() error
}

// Floats implements [convert.Weights].
func (w interruptible) Floats(name string, shape ...int) ([]float32, error) {
	if err := w.stopped(); err != nil {
		return nil, err
	}
	return w.Weights.Floats(name, shape...)
}

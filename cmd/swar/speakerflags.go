package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/espeak"
	"github.com/swar-tts/swar/runtime/onnx"
	"github.com/swar-tts/swar/runtime/onnx/layout"
	"github.com/swar-tts/swar/runtime/synth"
)

// speakerFlags says which engine speaks in this process.
type speakerFlags struct {
	engine *string
	bundle string
	neuralRuntime
}

// neuralRuntime is what runs neural models in this process.
type neuralRuntime struct {
	library, kernel string // as asked for, where they are
	found, release  string // of the library that was loaded
}

func (r *neuralRuntime) flags(f *pflag.FlagSet) {
	f.StringVar(&r.library, "onnxruntime", "", "the library that runs neural models, a `file` (default the one of make onnxruntime or of the system)")
	f.StringVar(&r.kernel, "kernel", "", "the `instructions` that multiply integers, for tests and support (default the fastest; swar doctor names them)")
}

// find looks for the library, without loading it.
func (r *neuralRuntime) find() (err error) {
	r.found, err = onnx.FindLibrary(r.library)
	return err
}

// load loads the library and chooses the kernel.
func (r *neuralRuntime) load() (err error) {
	if err = onnx.UseKernel(r.kernel); err != nil {
		return err
	}
	if err = r.find(); err != nil {
		return err
	}
	r.release, err = onnx.LoadLibrary(r.found)
	return err
}

func (s *speakerFlags) flags(f *pflag.FlagSet) {
	s.engine = launch.Choice(f, "engine", "what speaks; auto is the bundle if one is given, else espeak", "auto", "espeak", "onnx")
	f.StringVar(&s.bundle, "bundle", "", "`folder` of a neural model, see swar bundle")
	s.neuralRuntime.flags(f)
}

// check refuses settings that contradict one another.
func (s *speakerFlags) check(cmd *cobra.Command) error {
	switch {
	case *s.engine == "onnx" && s.bundle == "":
		return launch.BadUsage(cmd, "--engine onnx needs a model; name its folder with --bundle (`swar bundle convert` makes one)")
	case *s.engine == "espeak" && s.bundle != "":
		return launch.BadUsage(cmd, "--engine espeak and --bundle contradict each other; drop one of them")
	}
	return nil
}

// neural reports whether a bundle speaks.
func (s *speakerFlags) neural() bool { return s.bundle != "" }

// cacheMB is the size of the prefill cache where none is asked for: what espeak keeps for a text is much smaller.
func (s *speakerFlags) cacheMB() int {
	if s.neural() {
		return 64
	}
	return 8
}

// open loads the engine. Less than 0 cacheBytes means no cache, 0 the default.
func (s *speakerFlags) open(ctx context.Context, workers int, cacheBytes int64) (synth.Engine, error) {
	if s.neural() {
		return s.openBundle(ctx, workers, cacheBytes)
	}
	engine, err := espeak.New(espeak.Config{CacheBytes: cacheBytes})
	if errors.Is(err, espeak.ErrNotInstalled) {
		return nil, espeak.ErrNotInstalled // which says all; the rest of the chain repeats it
	}
	return engine, err
}

func (s *speakerFlags) openBundle(ctx context.Context, workers int, cacheBytes int64) (*onnx.Engine, error) {
	if _, err := findLayout(s.bundle); err != nil {
		return nil, err
	}
	if err := s.load(); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return onnx.New(onnx.Config{
		Bundle: s.bundle, Library: s.found, CacheBytes: cacheBytes, Workers: workers, Threads: launch.FindCPUs().Whole(),
	})
}

// reader is an engine that need not speak, and so can do without the library where the bundle is one of ours.
func (s *speakerFlags) reader(ctx context.Context) (synth.Engine, error) {
	if !s.neural() {
		return s.open(ctx, 1, 0)
	}
	kind, err := findLayout(s.bundle)
	if err != nil {
		return nil, err
	}
	if kind != layout.None {
		return s.open(ctx, 1, 0)
	}
	return onnx.OpenReader(s.bundle)
}

// wanted reports whether the command line, and not only the environment, asks for an engine of this process.
func (s *speakerFlags) wanted(a *app) bool { return a.Typed("bundle") || a.Typed("engine") }

// here decides between this process and a server: an engine that is typed, or otherwise local, means this process.
func (s *speakerFlags) here(a *app, cmd *cobra.Command, local bool) (bool, error) {
	if s.wanted(a) && a.Typed("server") {
		return false, launch.BadUsage(cmd, "--server and --bundle or --engine contradict each other; drop one of them")
	}
	if !local && !s.wanted(a) {
		return false, nil
	}
	return true, s.check(cmd)
}

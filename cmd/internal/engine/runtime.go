package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/runtime/onnx"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/layout"
	"github.com/swar-tts/swar/runtime/synth"
)

// Runtime is what runs neural models in this process.
type Runtime struct {
	Library string // the file that was found
	Release string // of the library that was loaded

	requested string // the file that was asked for, if any
	kernel    string // that was asked for, if any
}

// Define defines the flags that choose what runs neural models.
func (r *Runtime) Define(f *pflag.FlagSet) {
	f.StringVar(&r.requested, "onnxruntime", "",
		"ONNX Runtime's library, a `file` (default that of make onnxruntime, or the system's)")
	f.StringVar(&r.kernel, "kernel", "",
		"the `instructions` that multiply integers, for tests and support (default the fastest; swar doctor names them)")
}

// Named reports whether a library was asked for.
func (r *Runtime) Named() bool { return r.requested != "" }

// Find looks for the library, without loading it.
func (r *Runtime) Find() (err error) {
	r.Library, err = onnx.FindLibrary(r.requested)
	return err
}

// UseKernel chooses the kernel, without the library.
func (r *Runtime) UseKernel() error { return onnx.UseKernel(r.kernel) }

// Load loads the library and chooses the kernel.
func (r *Runtime) Load() (err error) {
	if err = r.UseKernel(); err != nil {
		return err
	}
	if err = r.Find(); err != nil {
		return err
	}
	r.Release, err = onnx.LoadLibrary(r.Library)
	return err
}

// OpenBundle loads the library and the bundle in dir. Less than 0 cacheBytes means no prefill cache, 0 the default.
func (r *Runtime) OpenBundle(ctx context.Context, dir string, workers int, cacheBytes int64) (synth.Neural, error) {
	k, err := kindOf(dir)
	if err != nil {
		return nil, err
	}
	if err := r.Load(); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return k.open(bundled{dir: dir, library: r.Library, workers: workers, cacheBytes: cacheBytes})
}

// FindLayout returns the published layout of dir, or none for a Swar bundle. Anything else is an error.
func FindLayout(dir string) (layout.Kind, error) {
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return layout.None, fmt.Errorf("there is no folder %s", dir)
	case err != nil:
		return layout.None, err
	case !info.IsDir():
		return layout.None, fmt.Errorf("%s is a file; name the folder of a bundle", dir)
	}
	kind, err := layout.Find(dir)
	if err != nil || kind != layout.None {
		return kind, err
	}
	if _, err := os.Stat(filepath.Join(dir, bundle.ManifestFile)); err != nil {
		return layout.None,
			fmt.Errorf("%s is not a bundle: it has no %s; `swar bundle convert` makes one from a published model",
				dir, bundle.ManifestFile)
	}
	return layout.None, nil
}

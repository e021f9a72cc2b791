package engine

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/runtime/kokoro"
	"github.com/swar-tts/swar/runtime/onnx"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/layout"
	"github.com/swar-tts/swar/runtime/synth"
)

// kind is an engine that speaks with a bundle.
type kind struct {
	name string
	open func(b bundled) (synth.Neural, error)

	// read opens a bundle that need not speak, and so can do without the library.
	read func(dir string) (synth.Engine, error)
}

// bundled is a bundle that is to be loaded.
type bundled struct {
	dir, library string
	workers      int
	cacheBytes   int64 // less than 0 for no prefill cache, 0 for the engine's default
}

// kokoroGCPercent: a stream of Kokoro leaves as much garbage as it keeps, chunk by chunk, and little of the time goes
// into collecting it.
const kokoroGCPercent = 25

// kinds is the table of those engines.
var kinds = []kind{
	{
		name: "onnx",
		open: func(b bundled) (synth.Neural, error) {
			return onnx.New(onnx.Config{
				Bundle: b.dir, Library: b.library, CacheBytes: b.cacheBytes, Workers: b.workers,
				Threads: launch.FindCPUs().Whole(),
			})
		},
		read: func(dir string) (synth.Engine, error) { return onnx.OpenReader(dir) },
	},
	{
		name: "kokoro",
		open: func(b bundled) (synth.Neural, error) {
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(kokoroGCPercent)
			}
			return kokoro.New(kokoro.Config{Bundle: b.dir, Library: b.library, CacheBytes: b.cacheBytes,
				Threads: launch.FindCPUs().Whole()})
		},
		read: func(dir string) (synth.Engine, error) { return kokoro.OpenReader(dir) },
	},
}

// names returns the values of --engine.
func names() []string {
	all := []string{"auto", "espeak"}
	for _, k := range kinds {
		all = append(all, k.name)
	}
	return append(all, fakes()...)
}

// needsBundle reports whether the engine of that name speaks with a bundle.
func needsBundle(name string) bool {
	return slices.ContainsFunc(kinds, func(k kind) bool { return k.name == name })
}

// kindOf finds the engine of the bundle in dir, which its manifest names; one that names none is of the oldest.
func kindOf(dir string) (kind, error) {
	public, err := FindLayout(dir)
	if err != nil {
		return kind{}, err
	}
	var manifest struct {
		Engine string `json:"engine"`
	}
	if public == layout.None {
		path := filepath.Join(dir, bundle.ManifestFile)
		text, err := bundle.ReadSmall(path, bundle.MaxManifest)
		if err != nil {
			return kind{}, err
		}
		if err := json.Unmarshal(text, &manifest); err != nil {
			return kind{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	if manifest.Engine == "" {
		return kinds[0], nil
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == manifest.Engine })
	if i < 0 {
		return kind{},
			fmt.Errorf("the bundle in %s is for the engine %.40q, which this program does not have; it may be too old", dir, manifest.Engine)
	}
	return kinds[i], nil
}

// Package engine opens engines from flags, and starts workers and a speaker over them.
package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swar-tts/swar/cmd/internal/launch"
	"github.com/swar-tts/swar/models"
	"github.com/swar-tts/swar/runtime/espeak"
	"github.com/swar-tts/swar/runtime/onnx/layout"
	"github.com/swar-tts/swar/runtime/synth"
)

// Flags select the engine of this process.
type Flags struct {
	Runtime

	engine  *string
	bundle  string
	model   string // of the store; Check finds its bundle
	mayPull bool   // one that is not in the store
	orOther bool   // espeak-ng speaks where the model cannot
	notice  func(line string)
	pull    func(ctx context.Context, reference string) (models.Model, error)
	digest  string // of the bundle's manifest; empty for any
	cacheMB *int   // nil where no flag sets it: the engine's default
	fake    fake
}

// Define defines the flags that choose an engine.
func (s *Flags) Define(f *pflag.FlagSet) {
	s.engine = launch.Choice(f, "engine", "speech engine; auto is the bundle if one is given, else espeak",
		names()...)
	s.fake.define(f)
	f.StringVar(&s.bundle, "bundle", "", "`folder` of a neural model, see swar bundle")
	f.StringVar(&s.model, "model", "", "`name` of a model that was pulled, or NAME@REVISION, see swar model")
	s.Runtime.Define(f)
}

// DefineCache defines --prefill-cache-mb, for programs that speak more than once.
func (s *Flags) DefineCache(f *pflag.FlagSet) {
	s.cacheMB = f.Int("prefill-cache-mb", 0,
		"size of the prefill cache, `n` megabytes; 0 means none (default 64 with a bundle, else 8)")
}

// DefineDigest defines --bundle-digest, for programs whose bundle another program provides.
func (s *Flags) DefineDigest(f *pflag.FlagSet) {
	f.StringVar(&s.digest, "bundle-digest", "",
		"refuse a bundle whose manifest.json has another SHA-256 than this, in `hex`")
}

// DefinePull defines --pull and --or-espeak, for programs that may download a model. notify receives one line when
// espeak-ng speaks instead of the model.
func (s *Flags) DefinePull(f *pflag.FlagSet, pull func(ctx context.Context, reference string) (models.Model, error),
	notify func(line string)) {
	s.pull, s.notice = pull, notify
	f.BoolVar(&s.mayPull, "pull", false, "download --model first if it is not installed")
	f.BoolVar(&s.orOther, "or-espeak", false, "fall back to espeak-ng, with a notice, if the model of --model "+
		"or what runs it is missing, or SWAR_VOICE is espeak")
}

// Check refuses settings that contradict one another, and fills in what depends on others.
func (s *Flags) Check(cmd *cobra.Command) error {
	if err := s.findModel(cmd); err != nil {
		return err
	}
	switch {
	case needsBundle(*s.engine) && s.bundle == "":
		return launch.BadUsage(cmd,
			"--engine %s needs a model; name one with --model (`swar model pull` downloads it) or a folder with --bundle", *s.engine)
	case !needsBundle(*s.engine) && *s.engine != "auto" && s.bundle != "":
		return launch.BadUsage(cmd, "--engine %s and --bundle contradict each other; drop one of them", *s.engine)
	case s.digest != "" && s.bundle == "":
		return launch.BadUsage(cmd, "--bundle-digest pins a bundle; name its folder with --bundle")
	case s.digest != "" && !isDigest(s.digest):
		return launch.BadUsage(cmd, "--bundle-digest %q: want the 64 hexadecimal digits of a SHA-256", s.digest)
	case s.cacheMB == nil:
		return nil
	case *s.cacheMB < 0:
		return launch.BadUsage(cmd, "--prefill-cache-mb %d: want 0 or more", *s.cacheMB)
	}
	if !cmd.Flags().Changed("prefill-cache-mb") {
		*s.cacheMB = 8 // what espeak keeps for a text is much smaller
		if s.Neural() {
			*s.cacheMB = 64
		}
	}
	return nil
}

// findModel sets --bundle to the folder of --model.
func (s *Flags) findModel(cmd *cobra.Command) error {
	switch {
	case s.model == "" && s.orOther:
		return launch.BadUsage(cmd, "--or-espeak is for a model that may be missing; name it with --model")
	case s.model == "" && s.mayPull:
		return launch.BadUsage(cmd, "--pull needs --model NAME")
	case s.model == "":
		return nil
	case s.bundle != "":
		return launch.BadUsage(cmd, "--model and --bundle each name a model; drop one of them")
	case !needsBundle(*s.engine) && *s.engine != "auto":
		return launch.BadUsage(cmd, "--engine %s and --model contradict each other; drop one of them", *s.engine)
	case models.IsAddress(s.model) && !s.mayPull:
		return launch.BadUsage(cmd,
			"--model %s: want the name of an installed model; `swar model pull` downloads one from an address and prints its name", s.model)
	}
	if s.orOther {
		return s.tryModel(cmd)
	}
	return s.useModel(cmd)
}

// tryModel is useModel with a fallback: if the model cannot be downloaded or run, it prints the reason and selects
// espeak-ng.
func (s *Flags) tryModel(cmd *cobra.Command) error {
	if os.Getenv("SWAR_VOICE") == "espeak" {
		s.notice("speaking with espeak-ng, because SWAR_VOICE is espeak")
		return nil
	}
	err := s.Find()
	if err == nil {
		err = s.useModel(cmd)
	}
	if err == nil || cmd.Context().Err() != nil {
		return err
	}
	s.bundle = ""
	s.notice(fmt.Sprintf("speaking with espeak-ng: the model %s is not available: %v", s.model, err))
	return nil
}

// useModel sets --bundle to the folder of --model.
func (s *Flags) useModel(cmd *cobra.Command) error {
	m, err := s.storedModel()
	if _, missing := errors.AsType[*models.NotPulledError](err); missing && s.pull != nil {
		if s.mayPull {
			m, err = s.pull(cmd.Context(), s.model)
		} else {
			err = fmt.Errorf("%w, and so does --pull", err)
		}
	}
	s.bundle = m.Folder
	return err
}

// storedModel finds the model in the store.
func (s *Flags) storedModel() (models.Model, error) {
	if models.IsAddress(s.model) {
		// only a pull asks the network what the address holds now
		return models.Model{}, &models.NotPulledError{Name: s.model}
	}
	store, err := models.OpenStore()
	if err != nil {
		return models.Model{}, err
	}
	name, revision, _ := strings.Cut(s.model, "@")
	return store.Find(name, revision)
}

// Folder is that of the bundle, empty where nothing neural speaks.
func (s *Flags) Folder() string { return s.bundle }

// Neural reports whether a bundle speaks.
func (s *Flags) Neural() bool { return s.bundle != "" }

// Open loads the engine, for at most this number of workers.
func (s *Flags) Open(ctx context.Context, workers int) (synth.Engine, error) {
	if s.Neural() {
		if err := s.checkDigest(); err != nil {
			return nil, err
		}
		if _, err := s.kind(); err != nil {
			return nil, err
		}
		return s.OpenBundle(ctx, s.bundle, workers, s.cacheBytes())
	}
	if *s.engine != "auto" && *s.engine != "espeak" {
		return s.fake.open(s.cacheBytes())
	}
	engine, err := espeak.New(espeak.Config{CacheBytes: s.cacheBytes()})
	if errors.Is(err, espeak.ErrNotInstalled) {
		return nil, espeak.ErrNotInstalled // which says all; the rest of the chain repeats it
	}
	return engine, err
}

// OpenReader loads an engine that need not speak. A native bundle then needs no ONNX Runtime library.
func (s *Flags) OpenReader(ctx context.Context) (synth.Engine, error) {
	if !s.Neural() {
		return s.Open(ctx, 1)
	}
	public, err := FindLayout(s.bundle)
	if err != nil {
		return nil, err
	}
	if public != layout.None {
		return s.Open(ctx, 1)
	}
	k, err := s.kind()
	if err != nil {
		return nil, err
	}
	return k.read(s.bundle)
}

// kind is the engine of the bundle. One that is for another engine than was asked for is an error.
func (s *Flags) kind() (kind, error) {
	k, err := kindOf(s.bundle)
	if err == nil && *s.engine != "auto" && *s.engine != k.name {
		err = fmt.Errorf("the bundle in %s is for --engine %s, not %s", s.bundle, k.name, *s.engine)
	}
	return k, err
}

// cacheBytes is the size of the prefill cache as engines expect it: less than 0 for none, 0 for their default.
func (s *Flags) cacheBytes() int64 {
	switch {
	case s.cacheMB == nil:
		return 0
	case *s.cacheMB == 0:
		return -1
	}
	return int64(*s.cacheMB) << 20
}

package convert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/swar-tts/swar/runtime/internal/folder"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// Addition says which voice to add to a bundle.
type Addition struct {
	Bundle string // its folder
	Name   string // of the voice
	File   string // a recording, or safetensors with audio_prompt or latents

	// What the bundle was made of, as in a [Conversion]: the keys and values of a voice are made with the weights as
	// they were published, which a bundle does not hold. They are compared by their hash.
	Config, Weights, MimiWeights string
	Resolve                      func(ctx context.Context, address string) (path string, err error)

	Language string         // empty means those of the model
	Consent  bundle.Consent // of the speaker; zero is none
	Replace  bool           // whether the voice may take the place of one of its name

	// Try, if not nil, is given a folder with the bundle as it will be, before the bundle itself is changed. An error
	// of it is that of [AddVoice].
	Try func(ctx context.Context, dir string) error

	Notice   func(line string)                    // as in a Conversion
	Progress func(done, total int64, what string) // as in a Conversion
}

// ErrVoiceTaken is the error of [AddVoice] where a voice of the name is there, and may not be replaced.
var ErrVoiceTaken = errors.New("the bundle has a voice of that name")

// An OtherWeightsError says that a checkpoint is not the one that a bundle was made of. A voice that is made with
// it never stops talking.
type OtherWeightsError struct{ File, Got, Want string }

func (e *OtherWeightsError) Error() string {
	return fmt.Sprintf("%s has SHA-256 %s, and the bundle was made of %s: voices belong to their weights; "+
		"name the file that the bundle was made of", e.File, short(e.Got), short(e.Want))
}

func short(hash string) string { return hash[:min(16, len(hash))] + "…" }

// AddVoice makes a voice and adds it to a bundle. The bundle stays as it is until the voice is whole, and then its
// manifest is replaced at once; who has the bundle open goes on with what it has read. Where another one has
// changed the manifest meanwhile, nothing happens but an error. A recording is cut to what the bundle has room
// for, which Notice is told.
func AddVoice(ctx context.Context, a Addition) (v bundle.Voice, err error) {
	b, at, err := a.open()
	if err != nil {
		return v, err
	}
	if a.Consent != (bundle.Consent{}) {
		if err := a.Consent.Check(); err != nil {
			return v, err
		}
	}
	prompt, s, err := a.prompt(ctx, b.Manifest)
	if err != nil {
		return v, fmt.Errorf("voice %s: %w", a.Name, err)
	}
	v = bundle.Voice{
		Name: a.Name, Language: s.language, PromptFrames: prompt.Positions, Weights: b.Model.Weights,
		Recording: s.recording, Consent: a.Consent,
	}
	left, err := b.newFile() // what is not part of the bundle in the end
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, removeIn(a.Bundle, left)) }()
	v.File, err = folder.CreateFile(a.Bundle, left,
		func(to io.Writer) error { return bundle.WritePrompt(to, prompt, b.Dims) })
	if err == nil {
		err = synced(filepath.Join(a.Bundle, left))
	}
	if err != nil {
		return v, err
	}
	next := b.Manifest
	next.Voices = slices.Clone(b.Voices)
	if at >= 0 {
		next.Voices[at] = v
	} else {
		next.Voices = append(next.Voices, v)
	}
	slices.SortFunc(next.Voices, func(a, b bundle.Voice) int { return strings.Compare(a.Name, b.Name) })
	if a.Try != nil {
		if err := tryBundle(ctx, a.Bundle, next, a.Try); err != nil {
			return v, fmt.Errorf("voice %s: %w", a.Name, err)
		}
	}
	if err := b.replace(next); err != nil {
		return v, err
	}
	left = ""
	if at >= 0 {
		left = b.Voices[at].File.File
	}
	return v, nil
}

// Free returns an error where [AddVoice] would refuse the name. It reads nothing but the manifest.
func (a *Addition) Free() error {
	_, _, err := a.open()
	return err
}

// open also returns the place of the voice that has the name, or less than 0.
func (a *Addition) open() (b *edited, at int, err error) {
	if b, err = openEdited(a.Bundle); err != nil {
		return nil, 0, err
	}
	at = b.find(a.Name)
	switch {
	case a.Name == "" || strings.ContainsFunc(a.Name, unicode.IsControl):
		return nil, 0, fmt.Errorf("%q is not a name of a voice", a.Name)
	case at >= 0 && !a.Replace:
		return nil, 0, fmt.Errorf("%w: %s", ErrVoiceTaken, a.Name)
	}
	return b, at, nil
}

// RemoveVoice removes a voice from the bundle in dir, which keeps at least one.
func RemoveVoice(dir, name string) error {
	b, err := openEdited(dir)
	if err != nil {
		return err
	}
	at := b.find(name)
	switch {
	case at < 0:
		return fmt.Errorf("%s has no voice %s", dir, name)
	case len(b.Voices) == 1:
		return fmt.Errorf("%s is the only voice of %s, and a bundle without one does not speak: add another one first",
			name, dir)
	}
	next := b.Manifest
	next.Voices = slices.Delete(slices.Clone(b.Voices), at, at+1)
	if err := b.replace(next); err != nil {
		return err
	}
	return removeIn(dir, b.Voices[at].File.File)
}

// prompt makes what the model remembers of the voice.
func (a *Addition) prompt(ctx context.Context, m bundle.Manifest) (p bundle.Prompt, s speaker, err error) {
	c := Conversion{Config: a.Config, Weights: a.Weights, MimiWeights: a.MimiWeights, Resolve: a.Resolve}
	config, err := c.config()
	if err != nil {
		return p, s, err
	}
	if err := c.compareWeights(ctx, &config, m.Model); err != nil {
		return p, s, err
	}
	weights, _, _, err := c.open(ctx, &config)
	if err != nil {
		return p, s, fmt.Errorf("weights: %w", err)
	}
	defer func() { err = errors.Join(err, weights.Close()) }()

	w := writer{report: a.Progress}
	reader := &prompter{config: &config, weights: weights, gelu: m.GELU, worked: w.multiplied}
	s = speaker{name: a.Name, language: or(a.Language, strings.Join(m.Model.Languages, "+"))}
	most, err := room(m)
	if err != nil {
		return p, s, err
	}
	if strings.EqualFold(filepath.Ext(a.File), ".safetensors") {
		if err = s.fromFile(reader, a.File); err == nil && s.stored {
			err = fmt.Errorf("%s holds keys and values, and not what weights they were made with: give a recording",
				a.File)
		}
	} else {
		_, err = s.fromRecording(ctx, reader, weights, nil, a.File, most, a.Notice)
	}
	if err != nil {
		return p, s, err
	}
	table, err := voiceEmbeddings(weights, &config)
	if err != nil {
		return p, s, err
	}
	s.addVoiceEmbedding(table)
	w.total = s.products / productsPerValue
	w.say("voice " + a.Name)
	if p, err = s.prompt(ctx); err != nil {
		return p, s, err
	}
	if need := m.Limits.Longest(p.Positions); need > m.Limits.Positions {
		return p, s, fmt.Errorf("it has %d positions, and the bundle has room for %d",
			p.Positions, m.Limits.Positions-m.Limits.Longest(0))
	}
	w.say("done")
	return p, s, nil
}

// room returns for how many frames of a recording the bundle was made.
func room(m bundle.Manifest) (frames int, err error) {
	const least = 38 // three seconds
	frames = m.Limits.Positions - m.Limits.Longest(0)
	if m.BOS {
		frames--
	}
	if frames < least {
		return 0, fmt.Errorf("the bundle has room for voices of %.1f s, want 3 s: "+
			"convert it again, with room for more (--voice-seconds)", float64(frames)*frameSamples/sampleRate)
	}
	return frames, nil
}

// compareWeights holds the files of a checkpoint to those that a bundle was made of.
func (c *Conversion) compareWeights(ctx context.Context, config *Config, m bundle.Model) error {
	model, codec, err := c.weights(ctx, config)
	if err != nil {
		return fmt.Errorf("weights: %w", err)
	}
	for _, f := range []struct{ path, want string }{{model, m.Weights}, {codec, m.Codec}} {
		switch {
		case f.path == "" && f.want == "":
			continue
		case f.path == "":
			return errors.New("the bundle was made of weights in two files: name that of the codec, too")
		}
		got, err := bundle.HashFile(f.path)
		if err != nil {
			return fmt.Errorf("weights: %w", err)
		}
		if got != f.want {
			return &OtherWeightsError{File: f.path, Got: got, Want: or(f.want, "none")}
		}
	}
	return nil
}

// edited is a bundle whose voices change.
type edited struct {
	bundle.Manifest
	dir  string
	text []byte // of the manifest, as it was read
}

func openEdited(dir string) (*edited, error) {
	text, err := bundle.ReadSmall(filepath.Join(dir, bundle.ManifestFile), bundle.MaxManifest)
	if err != nil {
		return nil, fmt.Errorf("opening bundle: %w", err)
	}
	m, err := bundle.ReadManifest(text)
	if err != nil {
		return nil, fmt.Errorf("bundle %s: %w", dir, err)
	}
	return &edited{m, dir, text}, nil
}

func (b *edited) find(name string) int {
	return slices.IndexFunc(b.Voices, func(v bundle.Voice) bool { return v.Name == name })
}

// newFile makes an empty file for a voice and returns its name. Another program that adds a voice at the same time
// gets another one.
func (b *edited) newFile() (name string, err error) {
	for n := len(b.Voices); ; n++ {
		name = fmt.Sprintf("voices/%d.safetensors", n)
		f, err := os.OpenFile(filepath.Join(b.dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return name, f.Close()
	}
}

// replace puts next in the place of the manifest, unless that has changed.
func (b *edited) replace(next bundle.Manifest) (err error) {
	text, err := manifestText(next)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(b.dir, "."+bundle.ManifestFile+"-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	path := filepath.Join(b.dir, bundle.ManifestFile)
	now, err := bundle.ReadSmall(path, bundle.MaxManifest)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, b.text) {
		return fmt.Errorf("another program has changed %s meanwhile: try again", path)
	}
	return os.Rename(f.Name(), path)
}

func manifestText(m bundle.Manifest) ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
}

// tryBundle lets try see the files of the bundle in dir under another manifest.
func tryBundle(
	ctx context.Context, dir string, m bundle.Manifest, try func(context.Context, string) error,
) (err error) {
	text, err := manifestText(m)
	if err != nil {
		return err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	trial, err := os.MkdirTemp("", "swar-voice-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(trial)) }()
	for _, f := range m.Files() {
		place := filepath.Join(trial, f.File)
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(filepath.Join(dir, f.File), place); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(trial, bundle.ManifestFile), text, 0o644); err != nil {
		return err
	}
	return try(ctx, trial)
}

// synced waits until the disk has a file, before a manifest names it.
func synced(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// removeIn removes a file of a bundle; "" is none.
func removeIn(dir, name string) error {
	if name == "" {
		return nil
	}
	if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

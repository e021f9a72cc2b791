package convert

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/swar-tts/swar/runtime/internal/folder"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/safetensors"
	"github.com/swar-tts/swar/runtime/tokenize"
)

// Source is a model that becomes a bundle: a checkpoint and what stands beside it.
type Source struct {
	Checkpoint Checkpoint
	Model      bundle.Model // Weights, if empty, becomes a hash of all weights that were read
	Tokenizer  []byte       // the tokenizer's file: a SentencePiece model or a tokenizer.json
	Text       bundle.Text
	Trained    bundle.Trained
	Sampling   bundle.Sampling
	Limits     bundle.Limits
	FadeIn     int // samples
	Room       int // positions of a voice that may be added later; 0 means those of the longest in Voices
	Voices     []SourceVoice
}

// SourceVoice is a voice in any of the stored forms.
type SourceVoice struct {
	Name     string
	Language string
	Prompt   *safetensors.Tensors
}

// DefaultText returns the rules of text that a configuration asks for.
func DefaultText(c Config) bundle.Text {
	absentOr := func(p *bool) bool { return p == nil || *p }
	t := bundle.Text{
		Capitalise: absentOr(c.CapitalizeFirstLetter), TerminalPunctuation: absentOr(c.AppendTerminalPunctuation),
		RemoveSemicolons: c.RemoveSemicolons, PadShort: c.PadWithSpacesForShortInputs,
	}
	for from, to := range c.ReplaceCharacters {
		t.Replace = append(t.Replace, bundle.Replace{From: from, To: to})
	}
	slices.SortFunc(t.Replace,
		func(a, b bundle.Replace) int { // longer ones first, so that a part does not spoil the whole
			if len(a.From) != len(b.From) {
				return len(b.From) - len(a.From)
			}
			return bytes.Compare([]byte(a.From), []byte(b.From))
		})
	return t
}

// DefaultSampling returns upstream's sampling and end-of-speech rules with the changes of a configuration.
func DefaultSampling(c Config) bundle.Sampling {
	s := bundle.Sampling{Temperature: .3, EOSThreshold: -4, MinFrames: 6, FramesAfterEOS: 3, FramesAfterEOSShort: 5,
		ShortWords: 4}
	if c.DefaultTemperature != nil {
		s.Temperature = *c.DefaultTemperature
	}
	if c.DefaultEOSThreshold != nil {
		s.EOSThreshold = *c.DefaultEOSThreshold
	}
	if n := c.RecommendedFramesAfterEOS; n != nil {
		s.FramesAfterEOS, s.FramesAfterEOSShort = *n, *n
	}
	return s
}

// DefaultLimits returns upstream's limits of a chunk. Positions is left for [Write] to fill.
func DefaultLimits() bundle.Limits {
	return bundle.Limits{MaxTokens: 50, TokensPerSecond: 3, PaddingSeconds: 2}
}

// DefaultFadeIn is 5 ms: a fresh decoder begins with a small step, which is heard as a click.
const DefaultFadeIn = 120

// Write makes a bundle of s in dir, which must not exist or be empty. The bundle appears under its name when it is
// whole.
func Write(dir string, s Source) (bundle.Manifest, error) {
	w := writer{Source: s}
	d := s.Checkpoint.Dims()
	for _, v := range s.Voices {
		w.speakers = append(w.speakers, speaker{
			name: v.Name, language: v.Language,
			prompt: func(context.Context) (bundle.Prompt, error) { return bundle.ReadPrompt(v.Prompt, d) },
		})
	}
	return w.write(context.Background(), dir)
}

// writer makes a bundle.
type writer struct {
	Source
	speakers []speaker

	report      func(done, total int64, what string) // may be nil
	done, total int64                                // values read, and work of the like
	products    int64                                // not yet counted as done
	what        string
}

// write makes the bundle in a folder beside dir and gives it its name at the end.
func (w *writer) write(ctx context.Context, dir string) (m bundle.Manifest, err error) {
	if len(w.speakers) == 0 {
		return bundle.Manifest{},
			errors.New("no voices: the checkpoint holds none, and without one it cannot speak: name a file")
	}
	err = folder.Make(ctx, dir, func(ctx context.Context, growing string) (err error) {
		m, err = w.fill(ctx, growing)
		return err
	})
	if err != nil {
		return bundle.Manifest{}, err
	}
	w.say("done")
	return m, nil
}

func (w *writer) fill(ctx context.Context, dir string) (bundle.Manifest, error) {
	c := &w.Checkpoint
	hashed := &hashedWeights{Weights: c.Weights, sums: map[string][sha256.Size]byte{}}
	if w.Model.Weights == "" {
		c.Weights = hashed
	}
	m := bundle.Manifest{
		Format: bundle.Format, Model: w.Model, Dims: c.Dims(), GELU: c.GELU,
		Flow: bundle.Flow{Type: c.Config.FlowLM.Flow.Type, Steps: c.Steps},
		BOS:  c.Config.FlowLM.InsertBOSBeforeVoice, Tokenizer: bundle.Tokenizer{Kind: bundle.SentencePiece},
		Text: w.Text, Trained: w.Trained, Sampling: w.Sampling,
		Limits: w.Limits, Decode: bundle.Decode{Plan: bundle.DecodePlan(), FadeIn: w.FadeIn},
		Precision: or(c.Precision, bundle.FP32), MinRuntime: "1.30.0",
	}
	if m.Precision == bundle.Int8 {
		m.Quantised = integerMatrices
	}
	tokenizer := "tokenizer.model"
	if tokenize.IsJSON(w.Tokenizer) {
		tokenizer, m.Tokenizer.Kind = "tokenizer.json", bundle.TokenizerJSON
	}
	var err error
	if m.Tokenizer.File, err = folder.WriteFile(dir, tokenizer, w.Tokenizer); err != nil {
		return bundle.Manifest{}, err
	}
	m.Limits.Positions = m.Limits.Longest(max(1, w.Room))
	m.Model.Weights = or(w.Model.Weights, hashed.sum()) // what is known of it by now
	if err := m.CheckValues(); err != nil {             // before the long part of the work
		return bundle.Manifest{}, fmt.Errorf("manifest: %w", err)
	}
	if err := w.voices(ctx, dir, &m); err != nil {
		return bundle.Manifest{}, err
	}
	c.Positions = m.Limits.Positions
	if err := w.graphs(ctx, dir, &m); err != nil {
		return bundle.Manifest{}, err
	}
	w.say("weights of the host")
	host, err := c.Host()
	if err != nil {
		return bundle.Manifest{}, err
	}
	m.Host, err = folder.CreateFile(dir, "host.safetensors",
		func(to io.Writer) error { return bundle.WriteHost(to, host, m.Dims, c.Steps) })
	if err != nil {
		return bundle.Manifest{}, err
	}
	m.Model.Weights = or(w.Model.Weights, hashed.sum())
	for i := range m.Voices {
		m.Voices[i].Weights = m.Model.Weights
	}
	if err := m.Check(); err != nil {
		return bundle.Manifest{}, fmt.Errorf("manifest: %w", err)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return bundle.Manifest{}, err
	}
	_, err = folder.WriteFile(dir, bundle.ManifestFile, append(text, '\n'))
	return m, err
}

// voices makes and writes one voice after the other, so that only one is in memory.
func (w *writer) voices(ctx context.Context, dir string, m *bundle.Manifest) error {
	if err := os.Mkdir(filepath.Join(dir, "voices"), 0o755); err != nil {
		return err
	}
	for i, s := range w.speakers {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		w.say("voice " + s.name)
		p, err := s.prompt(ctx)
		if err != nil {
			return fmt.Errorf("voice %s: %w", s.name, err)
		}
		name := fmt.Sprintf("voices/%d.safetensors", i) // a voice's name may be anything, a file name may not
		f, err := folder.CreateFile(dir, name, func(to io.Writer) error { return bundle.WritePrompt(to, p, m.Dims) })
		if err != nil {
			return err
		}
		m.Voices = append(m.Voices, bundle.Voice{
			Name: s.name, Language: s.language, PromptFrames: p.Positions, File: f, Recording: s.recording,
			Consent: s.consent,
		})
		m.Limits.Positions = max(m.Limits.Positions, m.Limits.Longest(p.Positions))
	}
	return nil
}

// graphs makes and writes one graph after the other, so that only one is in memory.
func (w *writer) graphs(ctx context.Context, dir string, m *bundle.Manifest) error {
	c := &w.Checkpoint
	for _, g := range []struct {
		name, what string
		draw       func() (*drawn, error)
		to         *bundle.Graph
	}{
		{"lm.onnx", "language model", c.lm, &m.LM}, {"flow.onnx", "flow", c.flowHead, &m.FlowHead}, {"codec.onnx", "codec", c.codec, &m.Codec},
	} {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		w.say(g.what)
		d, err := g.draw()
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		*g.to = d.described
		if g.to.File,
			err = folder.CreateFile(dir, g.name,
			func(to io.Writer) error { _, err := d.WriteTo(to); return err }); err != nil {
			return err
		}
	}
	return nil
}

// productsPerValue is how many products of weights take about the time of reading, turning and writing one value of a
// checkpoint.
const productsPerValue = 32

// did counts values that were read.
func (w *writer) did(values int) {
	w.done = min(w.done+int64(values), w.total)
	w.say(w.what)
}

// multiplied counts products of weights, which are the work of making voices.
func (w *writer) multiplied(products int64) {
	w.products += products
	w.did(int(w.products / productsPerValue))
	w.products %= productsPerValue
}

// say reports what is being done.
func (w *writer) say(what string) {
	if w.what = what; what == "done" {
		w.done = w.total
	}
	if w.report != nil {
		w.report(w.done, w.total, what)
	}
}

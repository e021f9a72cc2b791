package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Source is a model that becomes a bundle: a checkpoint and what stands beside it.
type Source struct {
	Checkpoint Checkpoint
	Model      Model
	Tokenizer  []byte // the tokenizer's file
	Text       Text
	Sampling   Sampling
	Limits     Limits
	FadeIn     int // samples
	Voices     []SourceVoice
}

// SourceVoice is a voice in any of the stored forms.
type SourceVoice struct {
	Name     string
	Language string
	Prompt   *Tensors
}

// DefaultText returns the rules of text that a configuration asks for.
func DefaultText(c Config) Text {
	absentOr := func(p *bool) bool { return p == nil || *p }
	t := Text{
		Capitalise: absentOr(c.CapitalizeFirstLetter), TerminalPunctuation: absentOr(c.AppendTerminalPunctuation),
		RemoveSemicolons: c.RemoveSemicolons, PadShort: c.PadWithSpacesForShortInputs,
	}
	for from, to := range c.ReplaceCharacters {
		t.Replace = append(t.Replace, Replace{from, to})
	}
	slices.SortFunc(t.Replace, func(a, b Replace) int { // longer ones first, so that a part does not spoil the whole
		if len(a.From) != len(b.From) {
			return len(b.From) - len(a.From)
		}
		return bytes.Compare([]byte(a.From), []byte(b.From))
	})
	return t
}

// DefaultSampling returns upstream's rules of noise and of the end of speech, as far as a configuration does not change them.
func DefaultSampling(c Config) Sampling {
	s := Sampling{Temperature: .3, EOSThreshold: -4, MinFrames: 6, FramesAfterEOS: 3, FramesAfterEOSShort: 5, ShortWords: 4}
	if c.DefaultTemperature != nil {
		s.Temperature = *c.DefaultTemperature
	}
	if n := c.RecommendedFramesAfterEOS; n != nil {
		s.FramesAfterEOS, s.FramesAfterEOSShort = *n, *n
	}
	return s
}

// DefaultLimits returns upstream's limits of a chunk. Positions is left for [Write] to fill.
func DefaultLimits() Limits { return Limits{MaxTokens: 50, TokensPerSecond: 3, PaddingSeconds: 2} }

// DefaultFadeIn is 5 ms: a fresh decoder begins with a small step, which is heard as a click.
const DefaultFadeIn = 120

// Write makes a bundle of s in dir, which it creates and which must not hold anything. The manifest is written last: a folder without
// it is not a bundle.
func Write(dir string, s Source) (Manifest, error) {
	if err := os.MkdirAll(filepath.Join(dir, "voices"), 0o755); err != nil {
		return Manifest{}, err
	}
	if _, err := os.Stat(filepath.Join(dir, ManifestFile)); !errors.Is(err, os.ErrNotExist) {
		return Manifest{}, fmt.Errorf("%s holds a bundle already", dir)
	}
	if len(s.Voices) == 0 {
		return Manifest{}, errors.New("no voices: a model without one cannot speak")
	}
	c := s.Checkpoint
	m := Manifest{
		Format: Format, Model: s.Model, Dims: c.Dims(), GELU: c.GELU, Flow: Flow{Type: c.Config.FlowLM.Flow.Type, Steps: c.Steps},
		BOS: c.Config.FlowLM.InsertBOSBeforeVoice, Tokenizer: Tokenizer{Kind: "sentencepiece"}, Text: s.Text, Sampling: s.Sampling,
		Limits: s.Limits, Decode: Decode{FadeIn: s.FadeIn}, Precision: or(c.Precision, FP32), MinRuntime: "1.30.0",
	}
	prompts := make([]Prompt, len(s.Voices))
	for i, v := range s.Voices {
		var err error
		if prompts[i], err = ReadPrompt(v.Prompt, m.Dims); err != nil {
			return Manifest{}, fmt.Errorf("%s: %w", v.Name, err)
		}
		m.Limits.Positions = max(m.Limits.Positions, prompts[i].Positions+m.Limits.MaxTokens+m.Limits.MaxFrames(m.Limits.MaxTokens))
	}
	c.Positions = m.Limits.Positions

	for _, g := range []struct {
		name  string
		build func() (Built, error)
		to    *Graph
	}{{"lm.onnx", c.LM, &m.LM}, {"flow.onnx", c.FlowHead, &m.FlowHead}, {"codec.onnx", c.Codec, &m.Codec}} {
		built, err := g.build()
		if err != nil {
			return Manifest{}, fmt.Errorf("%s: %w", g.name, err)
		}
		*g.to = built.Graph
		if g.to.File, err = writeFile(dir, g.name, built.Model); err != nil {
			return Manifest{}, err
		}
	}
	host, err := c.Host()
	if err != nil {
		return Manifest{}, err
	}
	var b bytes.Buffer
	if err := WriteHost(&b, host, m.Dims, c.Steps); err != nil {
		return Manifest{}, err
	}
	if m.Host, err = writeFile(dir, "host.safetensors", b.Bytes()); err != nil {
		return Manifest{}, err
	}
	if m.Tokenizer.File, err = writeFile(dir, "tokenizer.model", s.Tokenizer); err != nil {
		return Manifest{}, err
	}
	for i, v := range s.Voices {
		var b bytes.Buffer
		if err := WritePrompt(&b, prompts[i], m.Dims); err != nil {
			return Manifest{}, err
		}
		f, err := writeFile(dir, fmt.Sprintf("voices/%d.safetensors", i), b.Bytes()) // a name may be anything, a file name may not
		if err != nil {
			return Manifest{}, err
		}
		m.Voices = append(m.Voices, Voice{Name: v.Name, Language: v.Language, PromptFrames: prompts[i].Positions, File: f})
	}
	if err := m.Check(); err != nil {
		return Manifest{}, fmt.Errorf("manifest: %w", err)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return Manifest{}, err
	}
	_, err = writeFile(dir, ManifestFile, append(text, '\n'))
	return m, err
}

func writeFile(dir, name string, data []byte) (File, error) {
	sum := sha256.Sum256(data)
	err := os.WriteFile(filepath.Join(dir, name), data, 0o644)
	return File{name, hex.EncodeToString(sum[:]), int64(len(data))}, err
}

package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Conversion says what to make a bundle of. Paths that are empty are looked for beside the configuration.
type Conversion struct {
	Config      string            // yaml of the model
	Weights     string            // safetensors; empty means weights_path of the configuration, or flow_lm.weights_path
	MimiWeights string            // safetensors of the codec where Weights is the language model alone; empty means mimi.weights_path
	Tokenizer   string            // SentencePiece model; empty means tokenizer_path of the configuration
	Voices      map[string]string // by name of the voice: safetensors, or wav to clone it from
	Language    string            // of the voices, such as hi-IN+en-IN

	ID, Revision, Licence string
	GELU                  string   // empty means tanh
	Precision             string   // FP32 or Int8; empty means FP32
	Steps                 int      // of the flow; 0 means 1
	EOSThreshold          *float64 // a logit; nil means -4, upstream's

	// Progress, if not nil, hears how much is done of the whole, in no particular unit, and what is being done. It is called from the
	// goroutine that called Convert, many times a second. The last call has done == total.
	Progress func(done, total int64, what string)
}

// Convert makes a bundle in dir of a published model. The weights are one safetensors file under upstream's names; pickled
// checkpoints are refused.
func Convert(ctx context.Context, dir string, c Conversion) (m Manifest, err error) {
	if err := context.Cause(ctx); err != nil {
		return Manifest{}, err
	}
	text, err := os.ReadFile(c.Config)
	if err != nil {
		return Manifest{}, err
	}
	config, err := ReadConfig(text)
	if err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", c.Config, err)
	}
	weightsPath, err := beside(c.Config, c.Weights, config.WeightsPath)
	if err != nil {
		return Manifest{}, fmt.Errorf("weights: %w", err)
	}
	if ext := filepath.Ext(weightsPath); ext != ".safetensors" {
		return Manifest{}, fmt.Errorf("weights: %s is not safetensors: export the model first", weightsPath)
	}
	tokenizerPath, err := beside(c.Config, c.Tokenizer, config.FlowLM.LookupTable.TokenizerPath)
	if err != nil {
		return Manifest{}, fmt.Errorf("tokenizer: %w", err)
	}
	tokenizer, err := os.ReadFile(tokenizerPath)
	if err != nil {
		return Manifest{}, fmt.Errorf("tokenizer: %w", err)
	}
	hash, err := hashFile(weightsPath)
	if err != nil {
		return Manifest{}, fmt.Errorf("weights: %w", err)
	}
	weights, file, err := OpenTensors(weightsPath)
	if err != nil {
		return Manifest{}, fmt.Errorf("weights: %w", err)
	}
	files := []io.Closer{file}
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.Close())
		}
	}()
	s := Source{
		Checkpoint: Checkpoint{Weights: weights, Config: config, GELU: or(c.GELU, "tanh"), Precision: c.Precision, Steps: max(c.Steps, 1)},
		Model:      Model{ID: c.ID, Revision: c.Revision, Licence: c.Licence, Languages: strings.Split(c.Language, "+"), Weights: hash},
		Tokenizer:  tokenizer, Text: DefaultText(config), Sampling: DefaultSampling(config), Limits: DefaultLimits(), FadeIn: DefaultFadeIn,
	}
	if c.EOSThreshold != nil {
		s.Sampling.EOSThreshold = *c.EOSThreshold
	}
	for name, path := range c.Voices {
		prompt, file, err := OpenTensors(path)
		if err != nil {
			return Manifest{}, fmt.Errorf("voice %s: %w", name, err)
		}
		files = append(files, file)
		s.Voices = append(s.Voices, SourceVoice{Name: name, Language: c.Language, Prompt: prompt})
	}
	slices.SortFunc(s.Voices, func(a, b SourceVoice) int { return strings.Compare(a.Name, b.Name) })
	return Write(dir, s)
}

// beside returns path, or else the one that the configuration names, which must lie in its own folder: a configuration from
// elsewhere does not choose files of this machine.
func beside(config, path, named string) (string, error) {
	if path != "" {
		return path, nil
	}
	if !filepath.IsLocal(named) {
		return "", fmt.Errorf("the configuration names %q, which is not a file beside it: name the file", named)
	}
	return filepath.Join(filepath.Dir(config), named), nil
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

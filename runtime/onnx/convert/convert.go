// Package convert makes bundles: it reads the checkpoints that models are published as, reads voices with them, builds the graphs that the
// engine runs, and writes all of it in the form that package bundle reads. It also makes up models with random weights.
package convert

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/tokenize"
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

// Convert makes a bundle in dir, which must not exist or be empty, of a published model.
//
// The weights are safetensors in 32 or 16 bits: one file under upstream's names, or the language model and the codec in a file each,
// under the names of upstream or of the library that trains them; of a whole model that is given as codec only the codec is used. What
// is missing, unknown, of another shape or not a finite number is an error that names it. Pickled checkpoints are refused.
//
// A voice is stored keys and values, or else a prompt that is read by the language model here and now: embeddings (audio_prompt), latents
// of the encoder (latents, or voice_prompts inside the checkpoint), or a recording. Stored keys and values must have been made with the
// very same weights, which cannot be seen in them: with others of the same shape speech does not end.
//
// The bundle appears under its name when it is whole. Until then it grows in a folder beside it, which is removed when Convert fails or ctx
// ends; a process that is killed leaves it, as .NAME.growing-…. Memory stays near twice the size of the largest graph: for six layers 0.22 GB
// in int8 and 0.66 GB in fp32, and 0.25 GB more while a recording of 30 s is read. Reading a voice takes seconds, a recording about as long
// as it sounds, on all processors.
func Convert(ctx context.Context, dir string, c Conversion) (m bundle.Manifest, err error) {
	if err := context.Cause(ctx); err != nil {
		return bundle.Manifest{}, err
	}
	if c.Language == "" {
		return bundle.Manifest{}, errors.New("no language: say what the voices speak, such as hi-IN+en-IN")
	}
	config, err := c.config()
	if err != nil {
		return bundle.Manifest{}, err
	}
	tokenizer, pieces, err := c.tokenizer(&config)
	if err != nil {
		return bundle.Manifest{}, err
	}
	model, codec, err := c.weights(&config)
	if err != nil {
		return bundle.Manifest{}, fmt.Errorf("weights: %w", err)
	}
	weights, err := openWeights(model, codec)
	if err != nil {
		return bundle.Manifest{}, fmt.Errorf("weights: %w", err)
	}
	defer func() { err = errors.Join(err, weights.Close()) }()
	if err := weights.check(&config); err != nil {
		return bundle.Manifest{}, fmt.Errorf("weights: %w", err)
	}

	w := writer{report: c.Progress, Source: Source{
		Checkpoint: Checkpoint{Weights: weights, Config: config, GELU: or(c.GELU, "tanh"), Precision: or(c.Precision, bundle.FP32), Steps: max(c.Steps, 1)},
		Model:      bundle.Model{ID: c.ID, Revision: c.Revision, Licence: c.Licence, Languages: strings.Split(c.Language, "+")},
		Tokenizer:  tokenizer, Text: TextRules(config, pieces), Sampling: DefaultSampling(config), Limits: DefaultLimits(), FadeIn: DefaultFadeIn,
	}}
	if c.EOSThreshold != nil {
		w.Sampling.EOSThreshold = *c.EOSThreshold
	}
	if w.Model.Weights, err = bundle.HashFile(model); err != nil {
		return bundle.Manifest{}, fmt.Errorf("weights: %w", err)
	}
	if codec != "" {
		if w.Model.Codec, err = bundle.HashFile(codec); err != nil {
			return bundle.Manifest{}, fmt.Errorf("weights: %w", err)
		}
	}
	prompter := &prompter{config: &config, weights: weights, gelu: w.Checkpoint.GELU, worked: w.multiplied}
	if w.speakers, err = c.speakers(prompter, weights); err != nil {
		return bundle.Manifest{}, err
	}
	w.total = weights.work(&w.Checkpoint)
	for _, s := range w.speakers {
		w.total += s.products / productsPerValue
	}
	w.Checkpoint.Weights = countedWeights{weights, w.did, func() error { return context.Cause(ctx) }}
	return w.write(ctx, dir)
}

func (c *Conversion) config() (Config, error) {
	const largest = 1 << 20
	text, err := bundle.ReadSmall(c.Config, largest)
	if err != nil {
		return Config{}, err
	}
	config, err := ReadConfig(text)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", c.Config, err)
	}
	return config, nil
}

// tokenizer reads the SentencePiece model. Where the configuration names a tokenizer.json, the .model beside it holds the same pieces.
func (c *Conversion) tokenizer(config *Config) (data []byte, pieces *tokenize.SentencePiece, err error) {
	const largest = 32 << 20
	named := config.FlowLM.LookupTable.TokenizerPath
	if stem, isJSON := strings.CutSuffix(named, ".json"); isJSON {
		named = stem + ".model"
	}
	path, err := beside(c.Config, c.Tokenizer, named)
	if err != nil {
		return nil, nil, fmt.Errorf("tokenizer: %w", err)
	}
	if strings.HasSuffix(path, ".json") {
		return nil, nil, fmt.Errorf("tokenizer: %s: a tokenizer.json is not read: name the SentencePiece .model that it was made from", path)
	}
	if data, err = bundle.ReadSmall(path, largest); err != nil {
		return nil, nil, fmt.Errorf("tokenizer: %w", err)
	}
	if pieces, err = tokenize.Load(data); err != nil {
		return nil, nil, fmt.Errorf("tokenizer: %s: %w", path, err)
	}
	if got, want := pieces.Size(), config.FlowLM.LookupTable.NBins; got != want {
		return nil, nil, fmt.Errorf("tokenizer: %s has %d pieces, and n_bins of the configuration is %d: it is that of another model", path, got, want)
	}
	return data, pieces, nil
}

// weights returns the files of the weights; codec is empty where one file holds all. Files that were named come before those of the
// configuration, which may still name where the codec was once trained.
func (c *Conversion) weights(config *Config) (model, codec string, err error) {
	switch {
	case c.Weights == "" && c.MimiWeights == "" && config.FlowLM.WeightsPath == "":
		model, err = beside(c.Config, "", config.WeightsPath)
		return model, "", err
	case c.Weights != "" && c.MimiWeights == "" && (config.Mimi.WeightsPath == "" || holdsCodec(c.Weights)):
		return c.Weights, "", nil
	}
	if model, err = beside(c.Config, c.Weights, or(config.FlowLM.WeightsPath, config.WeightsPath)); err != nil {
		return "", "", err
	}
	codec, err = beside(c.Config, c.MimiWeights, config.Mimi.WeightsPath)
	return model, codec, err
}

// beside returns path, or else the one that the configuration names, which must lie in its own folder: a configuration from
// elsewhere does not choose files of this machine.
func beside(config, path, named string) (string, error) {
	if path != "" {
		return path, nil
	}
	if !filepath.IsLocal(named) {
		return "", fmt.Errorf("the configuration names %q, which is not a file beside it: download it and name the file", named)
	}
	return filepath.Join(filepath.Dir(config), named), nil
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

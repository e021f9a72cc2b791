// Package convert makes bundles. It reads published checkpoints and voices, builds the graphs that the engine runs,
// and writes all of it in the form that package bundle reads. It also makes up models with random weights.
package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/recording"
	"github.com/swar-tts/swar/runtime/tokenize"
)

// Conversion says what to make a bundle of. Paths that are empty are looked for beside the configuration.
type Conversion struct {
	Config  string // yaml of the model, or the config.json of upstream's exporter
	Weights string // safetensors; empty means weights_path of the configuration, or flow_lm.weights_path
	// safetensors of the codec where Weights is the language model alone; empty means mimi.weights_path
	MimiWeights string
	Tokenizer   string            // SentencePiece model or tokenizer.json; empty means that of the configuration
	Voices      map[string]string // by name of the voice: safetensors, or a recording to clone it from
	Language    string            // of the voices, such as hi-IN+en-IN

	Consent map[string]bundle.Consent // of the speakers, by name of the voice, kept in the manifest
	// that a voice may have which [AddVoice] adds, 0 to 30; 0 means those of the longest in Voices
	VoiceSeconds int

	ID, Revision, Licence string
	GELU                  string   // empty means that of a config.json, or tanh
	Precision             string   // FP32 or Int8; empty means FP32
	Steps                 int      // of the flow; 0 means those of a config.json, or 1
	EOSThreshold          *float64 // a logit; nil means that of the configuration, or -4, upstream's

	FramesAfterEOS *int           // that still sound after the end; nil means those of the configuration, or upstream's
	Trained        bundle.Trained // what text the model knows; zero means what its tokenizer has pieces for

	// Resolve returns where a file lies that the configuration names by an address, hf://… or https://…, and not as a
	// file beside it. The path ends as the name of the file does. nil means that such a configuration is an error.
	Resolve func(ctx context.Context, address string) (path string, err error)

	// Notice, if not nil, hears what of the model is not used, and what makes a recording a bad voice, in a line each.
	Notice func(line string)

	// Progress, if not nil, hears how much is done of the whole, in no particular unit, and what is being done. It is
	// called from the goroutine that called Convert, many times a second. The last call has done == total.
	Progress func(done, total int64, what string)
}

// Convert makes a bundle in dir, which must not exist or be empty, of a published model.
//
// The configuration may name files by addresses, which Resolve brings. The tokenizer is a SentencePiece model or a
// tokenizer.json and is kept as it is.
//
// The weights are safetensors in 32 or 16 bits: one file under upstream's names, or the language model and the codec
// in a file each, under the names of upstream or of the library that trains them; of a whole model that is given as
// codec only the codec is used. What is missing, unknown, of another shape or not a finite number is an error that
// names it. Pickled checkpoints are refused.
//
// A voice is stored keys and values, or else a prompt that is read by the language model here and now: embeddings
// (audio_prompt), latents of the encoder (latents, or voice_prompts inside the checkpoint), or a recording in any
// format that [recording.Read] reads. Stored keys and values must have been made with the very same weights, which
// cannot be seen in them: with others of the same shape speech does not end.
//
// The bundle appears under its name when it is whole. Until then it grows in a folder beside it, which is removed
// when Convert fails or ctx ends; a process that is killed leaves it, as .NAME.growing-…. Memory stays near twice the
// size of the largest graph: for six layers 0.22 GB in int8 and 0.66 GB in fp32, and 0.25 GB more while a recording
// of 30 s is read. Reading a voice takes seconds, a recording about as long as it sounds, on all processors.
func Convert(ctx context.Context, dir string, c Conversion) (m bundle.Manifest, err error) {
	if err := context.Cause(ctx); err != nil {
		return bundle.Manifest{}, err
	}
	if c.VoiceSeconds < 0 || c.VoiceSeconds > recording.UsedSeconds {
		return bundle.Manifest{},
			fmt.Errorf("room for voices of %d s: want 0 to %d", c.VoiceSeconds, recording.UsedSeconds)
	}
	for name, consent := range c.Consent {
		if err := consent.Check(); err != nil {
			return bundle.Manifest{}, fmt.Errorf("voice %s: %w", name, err)
		}
	}
	if c.Language == "" {
		return bundle.Manifest{}, errors.New("no language: say what the voices speak, such as hi-IN+en-IN")
	}
	config, err := c.config()
	if err != nil {
		return bundle.Manifest{}, err
	}
	if heads := config.TimestampHeads; !heads.IsZero() && heads.Tag != "!!null" && c.Notice != nil {
		c.Notice("timestamp_heads of the configuration is not used: no word times are taken from attention")
	}
	tokenizer, pieces, err := c.tokenizer(ctx, &config)
	if err != nil {
		return bundle.Manifest{}, err
	}
	weights, model, codec, err := c.open(ctx, &config)
	if err != nil {
		return bundle.Manifest{}, fmt.Errorf("weights: %w", err)
	}
	defer func() { err = errors.Join(err, weights.Close()) }()

	gelu, steps := config.trainedWith()
	if c.Steps > 0 {
		steps = c.Steps
	}
	w := writer{report: c.Progress, Source: Source{
		Checkpoint: Checkpoint{
			Weights: weights, Config: config, GELU: or(c.GELU, gelu), Precision: or(c.Precision, bundle.FP32),
			Steps: steps,
		},
		Model: bundle.Model{ID: c.ID, Revision: c.Revision, Licence: c.Licence,
			Languages: strings.Split(c.Language, "+")},
		Tokenizer: tokenizer, Text: TextRules(config, pieces, c.Trained), Trained: c.Trained,
		Sampling: DefaultSampling(config), Limits: DefaultLimits(), FadeIn: DefaultFadeIn,
	}}
	if c.VoiceSeconds > 0 {
		w.Room = framesOf(c.VoiceSeconds)
	}
	if c.EOSThreshold != nil {
		w.Sampling.EOSThreshold = *c.EOSThreshold
	}
	if n := c.FramesAfterEOS; n != nil {
		w.Sampling.FramesAfterEOS, w.Sampling.FramesAfterEOSShort = *n, *n
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
	if w.speakers, err = c.speakers(ctx, prompter, weights); err != nil {
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

// tokenizer reads the tokenizer. Where the configuration names a tokenizer.json beside it and the .model lies there,
// too, that is taken: it holds the same pieces, and a bundle does not depend on which of the two is named.
func (c *Conversion) tokenizer(
	ctx context.Context, config *Config,
) (data []byte, pieces *tokenize.SentencePiece, err error) {
	const largest = 32 << 20
	named := config.FlowLM.LookupTable.TokenizerPath
	path, err := c.find(ctx, c.Tokenizer, named)
	if err != nil {
		return nil, nil, fmt.Errorf("tokenizer: %w", err)
	}
	if stem, isJSON := strings.CutSuffix(path, ".json"); isJSON && c.Tokenizer == "" && !isAddress(named) {
		if _, err := os.Stat(stem + ".model"); err == nil {
			path = stem + ".model"
		}
	}
	if data, err = bundle.ReadSmall(path, largest); err != nil {
		return nil, nil, fmt.Errorf("tokenizer: %w", err)
	}
	if pieces, err = tokenize.Load(data); err != nil {
		return nil, nil, fmt.Errorf("tokenizer: %s: %w", path, err)
	}
	if got, want := pieces.Size(), config.FlowLM.LookupTable.NBins; got != want {
		return nil, nil,
			fmt.Errorf("tokenizer: %s has %d pieces, and n_bins of the configuration is %d: it is that of another model", path, got, want)
	}
	return data, pieces, nil
}

// open opens the weights and checks that they are those of the configuration. It also returns their files; codec is
// empty where one file holds all.
func (c *Conversion) open(ctx context.Context, config *Config) (w *fileWeights, model, codec string, err error) {
	if model, codec, err = c.weights(ctx, config); err != nil {
		return nil, "", "", err
	}
	if w, err = openWeights(model, codec); err != nil {
		return nil, "", "", err
	}
	if config.exported != nil {
		err = config.exported.nameAsUpstream(w)
	}
	if err == nil {
		err = w.check(config)
	}
	if err != nil {
		return nil, "", "", errors.Join(err, w.Close())
	}
	return w, model, codec, nil
}

// weights returns the files of the weights; codec is empty where one file holds all. Files that were named come
// before those of the configuration, which may still name where the codec was once trained.
func (c *Conversion) weights(ctx context.Context, config *Config) (model, codec string, err error) {
	switch {
	case c.Weights == "" && c.MimiWeights == "" && config.FlowLM.WeightsPath == "":
		model, err = c.find(ctx, "", config.WeightsPath)
		return model, "", err
	case c.Weights != "" && c.MimiWeights == "" && (config.Mimi.WeightsPath == "" || holdsCodec(c.Weights)):
		return c.Weights, "", nil
	}
	if model, err = c.find(ctx, c.Weights, or(config.FlowLM.WeightsPath, config.WeightsPath)); err != nil {
		return "", "", err
	}
	codec, err = c.find(ctx, c.MimiWeights, config.Mimi.WeightsPath)
	return model, codec, err
}

// find returns path, or else the file that the configuration names: one beside it, for a configuration from elsewhere
// does not choose files of this machine, or one that Resolve brings.
func (c *Conversion) find(ctx context.Context, path, named string) (string, error) {
	switch {
	case path != "":
		return path, nil
	case isAddress(named) && c.Resolve != nil:
		path, err := c.Resolve(ctx, named)
		if err != nil {
			return "", fmt.Errorf("the configuration names %s: %w", named, err)
		}
		return path, nil
	case isAddress(named) || !filepath.IsLocal(named):
		return "", fmt.Errorf("the configuration names %q, which is not a file beside it: download it and name the file", named)
	}
	return filepath.Join(filepath.Dir(c.Config), named), nil
}

func isAddress(named string) bool {
	return strings.HasPrefix(named, "hf://") || strings.HasPrefix(named, "https://")
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

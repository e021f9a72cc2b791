// Package onnx is the neural engine: models of the Pocket-TTS family on ONNX Runtime, behind [synth.Engine].
//
// A chunk is read by a language model, which continues a voice prompt and the text with one latent for each frame; a codec turns
// latents into samples. All workers share one session of each graph. A worker owns what belongs to one chunk: keys and values, which
// the language model extends in place, and the state of the codec.
//
// The same options give the same samples because nothing depends on what else runs: every sum is made on one thread, noise is a
// function of seed, chunk and frame, and text is always read in one piece, whether its reading is cached or not.
package onnx

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/ort"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/tokenize"
)

// Config says what to load.
type Config struct {
	Bundle  string // folder, see package bundle; required
	Library string // path of the ONNX Runtime library, of which a process loads one; required

	// Tokenizer reads the tokenizer's file of the bundle; nil means SentencePiece.
	Tokenizer func(model []byte) (Tokenizer, error)

	CacheBytes int64 // budget of the prefill cache; 0 means 64 MiB, less than 0 no cache
}

// Tokenizer turns prepared text into the ids that the model reads. It is safe for concurrent use.
type Tokenizer interface {
	Encode(dst []int32, text string) []int32 // appends to dst
	Count(text string) int                   // how many Encode appends
	Size() int                               // ids lie below
}

const defaultCacheBytes = 64 << 20 // about 1300 positions of a model of six layers: some 30 chunks

// Engine is a loaded bundle. It is safe for concurrent use.
type Engine struct {
	manifest  bundle.Manifest
	tokenizer Tokenizer
	prompts   map[string]*bundle.Prompt // by voice
	lm        *lm
	codec     *codec
	cache     *synth.Cache[any]
	capacity  int // positions that a worker needs for the longest prompt and chunk
}

// New loads a bundle. It reads every file and compares its hash.
func New(c Config) (*Engine, error) {
	m, err := bundle.Open(c.Bundle)
	if err != nil {
		return nil, err
	}
	if err := bundle.Verify(c.Bundle, m); err != nil {
		return nil, err
	}
	if c.Tokenizer == nil {
		c.Tokenizer = func(model []byte) (Tokenizer, error) { return tokenize.Load(model) }
	}
	if c.CacheBytes == 0 {
		c.CacheBytes = defaultCacheBytes
	}
	e := &Engine{manifest: m, prompts: map[string]*bundle.Prompt{}, cache: synth.NewCache[any](c.CacheBytes)}
	if err := e.load(c); err != nil {
		return nil, errors.Join(fmt.Errorf("bundle %s: %w", c.Bundle, err), e.Close())
	}
	return e, nil
}

func (e *Engine) load(c Config) error {
	m := &e.manifest
	read := func(f bundle.File) ([]byte, error) { return os.ReadFile(filepath.Join(c.Bundle, f.File)) }
	model, err := read(m.Tokenizer.File)
	if err != nil {
		return err
	}
	if e.tokenizer, err = c.Tokenizer(model); err != nil {
		return fmt.Errorf("tokenizer: %w", err)
	}
	if got := e.tokenizer.Size(); got != m.Dims.Vocab {
		return fmt.Errorf("tokenizer: %d pieces, the model has %d", got, m.Dims.Vocab)
	}
	for _, v := range m.Voices {
		p, err := readPrompt(filepath.Join(c.Bundle, v.File.File), m.Dims)
		if err != nil {
			return fmt.Errorf("voice %s: %w", v.Name, err)
		}
		if p.Positions != v.PromptFrames {
			return fmt.Errorf("voice %s: %d positions, the manifest says %d", v.Name, p.Positions, v.PromptFrames)
		}
		e.prompts[v.Name] = p
		e.capacity = max(e.capacity, p.Positions+m.Limits.MaxTokens+m.Limits.MaxFrames(m.Limits.MaxTokens))
	}
	host, err := readHost(filepath.Join(c.Bundle, m.Host.File), m)
	if err != nil {
		return err
	}
	if err := ort.Load(c.Library); err != nil {
		return err
	}
	lmGraph, err := read(m.LM.File)
	if err != nil {
		return err
	}
	flowGraph, err := read(m.FlowHead.File)
	if err != nil {
		return err
	}
	if e.lm, err = openLM(m, host, e.prompts, lmGraph, flowGraph); err != nil {
		return err
	}
	codecGraph, err := read(m.Codec.File)
	if err != nil {
		return err
	}
	e.codec, err = openCodec(m, codecGraph)
	return err
}

func readPrompt(path string, d bundle.Dims) (*bundle.Prompt, error) {
	t, file, err := bundle.OpenTensors(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p, err := bundle.ReadPrompt(t, d)
	return &p, err
}

func readHost(path string, m *bundle.Manifest) (bundle.Host, error) {
	t, file, err := bundle.OpenTensors(path)
	if err != nil {
		return bundle.Host{}, err
	}
	defer file.Close()
	return bundle.ReadHost(t, m.Dims, m.Flow.Steps)
}

// Model implements [synth.Engine].
func (e *Engine) Model() speech.Model {
	m := speech.Model{ID: e.manifest.Model.ID}
	for _, v := range e.manifest.Voices {
		m.Voices = append(m.Voices, speech.Voice{
			Name: v.Name, Language: v.Language, SampleRate: speech.SampleRate, PromptFrames: v.PromptFrames,
		})
	}
	return m
}

// Tokens implements [synth.Engine]. It counts what preparing adds.
func (e *Engine) Tokens(text string) int {
	prepared, words := prepare(text, &e.manifest.Text)
	if words == 0 {
		return 0
	}
	return e.tokenizer.Count(prepared)
}

// NewWorker implements [synth.Engine]. A worker takes the memory of its keys and values: 50 kB a position at full size. It has run
// every graph once when NewWorker returns, so that its first chunk is as fast as the others and a graph that does not fit its manifest
// is found here.
func (e *Engine) NewWorker(ctx context.Context) (synth.Worker, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	w, err := newWorker(e)
	if err != nil {
		return nil, fmt.Errorf("onnx: new worker: %w", err)
	}
	if err := w.warmUp(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("onnx: warming up: %w", err), w.Close())
	}
	return w, nil
}

func (e *Engine) hasVoice(name string) bool {
	return slices.ContainsFunc(e.manifest.Voices, func(v bundle.Voice) bool { return v.Name == name })
}

// Close implements [synth.Engine].
func (e *Engine) Close() error {
	var err error
	if e.lm != nil {
		err = e.lm.close()
	}
	if e.codec != nil {
		err = errors.Join(err, e.codec.close())
	}
	e.lm, e.codec = nil, nil
	return err
}

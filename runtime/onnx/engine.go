// Package onnx is the neural engine: models of the Pocket-TTS family on ONNX Runtime, behind [synth.Engine].
//
// A chunk is read by a language model, which continues a voice prompt and the text with one latent for each frame; a
// codec turns latents into samples. All workers share one session of each graph. A worker owns what belongs to one
// chunk: keys and values, which the language model extends in place, and the state of the codec. Workers wait while a
// few threads run the model for all of them, the most urgent first, and the steps of several streams at once where
// nothing is gained by running them side by side.
//
// The same options give the same samples because nothing depends on what else runs: every sum is made on one thread
// and over one stream, noise is a function of seed, chunk and frame, and text is always read in one piece, whether
// its reading is cached or not.
package onnx

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/model"
	"github.com/swar-tts/swar/runtime/onnx/layout"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/tokenize"
)

// Config says what to load.
type Config struct {
	Bundle  string // folder, see package bundle; or one in a public layout, see package layout; required
	Library string // path of the ONNX Runtime library, of which a process loads one, see [FindLibrary]; required

	// Tokenizer reads the tokenizer's file of the bundle; nil means SentencePiece. Public layouts bring their own.
	Tokenizer func(model []byte) (Tokenizer, error)

	CacheBytes int64 // budget of the prefill cache; 0 means 64 MiB, less than 0 no cache
	Workers    int   // that will be made, as far as is known: those share memory in groups of up to eight; 0 means 8
	Threads    int   // that run the model; 0 means GOMAXPROCS
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
	dir       string          // of the bundle
	manifest  bundle.Manifest // as it was when it was loaded
	tokenizer Tokenizer
	text      *model.Preparer
	model     sharedModel
	scheduler *scheduler
	threads   int
	kernel    string // of products of integers, empty where there are none
	workers   int    // that will be made, as far as is known
	prefills  *prefills
	memory    synth.Memory

	reading sync.Mutex // of voices from the disk
	listing sync.Mutex // changes of voices
	voices  atomic.Pointer[[]voice]

	warming sync.Mutex
	warm    bool // every shape of run was run once

	broken atomic.Uint64
}

// New loads a bundle. It reads every file, compares its hash, and compares every graph with the manifest. An error
// leaves nothing behind but the library, which a process cannot let go.
func New(c Config) (*Engine, error) {
	if c.Tokenizer == nil {
		c.Tokenizer = func(model []byte) (Tokenizer, error) { return tokenize.Load(model) }
	}
	if c.CacheBytes == 0 {
		c.CacheBytes = defaultCacheBytes
	}
	if c.Workers < 1 {
		c.Workers = model.MaxBatch
	}
	if c.Threads < 1 {
		c.Threads = runtime.GOMAXPROCS(0)
	}
	e := &Engine{dir: c.Bundle, threads: c.Threads, workers: c.Workers, prefills: newPrefills(c.CacheBytes)}
	e.memory.Cache = e.prefills.budget
	if err := e.load(c); err != nil {
		return nil, err
	}
	var voices []voice
	for _, v := range e.manifest.Voices {
		voices = append(voices, voice{v.Name, v})
	}
	e.voices.Store(&voices)
	e.memory.Weights, e.memory.Prompts, e.memory.Stream = e.model.bytes()
	debug.FreeOSMemory() // loading reads every file and keeps hardly any of it
	ort.Trim()
	e.scheduler = newScheduler(c.Threads, time.Now)
	return e, nil
}

func (e *Engine) load(c Config) error {
	kind, err := layout.Find(c.Bundle)
	if err != nil {
		return err
	}
	if kind != layout.None {
		return e.loadPublic(c, kind)
	}
	m, err := bundle.Open(c.Bundle)
	if err != nil {
		return err
	}
	if err := bundle.Verify(c.Bundle, m); err != nil {
		return err
	}
	file, err := os.ReadFile(filepath.Join(c.Bundle, m.Tokenizer.File.File))
	if err != nil {
		return err
	}
	if e.tokenizer, err = c.Tokenizer(file); err != nil {
		return fmt.Errorf("bundle %s: tokenizer: %w", c.Bundle, err)
	}
	if got := e.tokenizer.Size(); got != m.Dims.Vocab {
		return fmt.Errorf("bundle %s: tokenizer: %d pieces, the model has %d", c.Bundle, got, m.Dims.Vocab)
	}
	if err := ort.Load(c.Library); err != nil {
		return err
	}
	n, err := model.Open(c.Bundle, m, min(c.Workers, model.MaxBatch))
	if err != nil {
		return fmt.Errorf("bundle %s: %w", c.Bundle, err)
	}
	e.manifest, e.model, e.text = m, native{n}, model.NewPreparer(&m.Text, m.Trained.Script)
	if m.Precision == bundle.Int8 {
		e.kernel = ort.Kernel()
	}
	return nil
}

func (e *Engine) loadPublic(c Config, kind layout.Kind) error {
	if err := ort.Load(c.Library); err != nil {
		return err
	}
	m, err := layout.Open(c.Bundle, kind)
	if err != nil {
		return err
	}
	e.manifest, e.tokenizer, e.model = m.Manifest, m.Tokenizer, public{m}
	e.text = model.NewPreparer(&m.Manifest.Text, "")
	if m.Manifest.Precision == bundle.Int8 {
		e.kernel = "onnxruntime"
	}
	return nil
}

// Model implements [synth.Engine]. Its voices are those that the bundle had when it was loaded.
func (e *Engine) Model() speech.Model {
	m := speech.Model{ID: e.manifest.Model.ID}
	for _, v := range e.manifest.Voices {
		loaded := voice{v.Name, v}
		m.Voices = append(m.Voices, loaded.listed())
	}
	return m
}

// Tokens implements [synth.Engine]. It counts what preparing adds.
func (e *Engine) Tokens(text string) int {
	prepared, words := e.text.Prepare(text)
	if words == 0 {
		return 0
	}
	return e.tokenizer.Count(prepared)
}

// Prepared implements [synth.Preparer].
func (e *Engine) Prepared(chunk string) string {
	prepared, _ := e.text.Prepare(chunk)
	return prepared
}

// ReadsMarks implements [synth.MarkReader].
func (e *Engine) ReadsMarks() bool { return e.manifest.Trained.Punctuation != bundle.NoPunctuation }

// NewWorker implements [synth.Engine]. See [Engine.Memory] for what a worker takes. It has run every graph once when
// NewWorker returns; the first worker of an engine has run every voice and every number of streams and of frames that
// can occur, so that nothing is slower the first time and a graph that does not fit its manifest is found here.
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

// Close implements [synth.Engine]. It waits for the engine's threads.
func (e *Engine) Close() error {
	if e.model == nil {
		return nil
	}
	e.scheduler.close()
	e.prefills.cache.Clear()
	err := e.model.close()
	e.model = nil
	return err
}

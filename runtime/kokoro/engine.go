// Package kokoro is the engine of Kokoro-82M, a natural voice for Hindi and English, behind [synth.Engine].
//
// A chunk becomes phonemes by the espeak-ng program, phonemes become durations, pitch and energy by two graphs on ONNX
// Runtime, and a vocoder makes samples of those, piece by piece. What is known before the first sample (phonemes and
// prosody) is the prefill, which is cached by voice and chunk. The same options give the same samples: nothing depends
// on what else is spoken, or on where audio is cut.
package kokoro

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/swar-tts/swar/runtime/espeak"
	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/kokoro/bundle"
	"github.com/swar-tts/swar/runtime/kokoro/internal/phoneme"
	"github.com/swar-tts/swar/runtime/kokoro/internal/prosody"
	"github.com/swar-tts/swar/runtime/kokoro/internal/vocoder"
	"github.com/swar-tts/swar/runtime/safetensors"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// Config says what to load.
type Config struct {
	Bundle     string // folder, see package bundle; required
	Library    string // path of the ONNX Runtime library; required
	Program    string // espeak-ng, looked up in PATH unless it is a path; empty means espeak-ng
	CacheBytes int64  // budget of the prefill cache; 0 means 64 MiB, less than 0 no cache
	Threads    int    // that speak at once, as far as is known; 0 means GOMAXPROCS
}

const defaultCacheBytes = 64 << 20 // 150 kB for nine words: some 400 chunks

// Engine is a loaded bundle. It is safe for concurrent use.
type Engine struct {
	network
	manifest bundle.Manifest
	voices   map[string]*voice
	cache    *synth.Cache[*prefill]
	memory   synth.Memory
	threads  int

	hits, misses, broken atomic.Uint64
}

// voice is a loaded one.
type voice struct {
	bundle.Voice
	prompt bundle.Prompt
	gain   float32
}

// prefill is what is known of a chunk before its first sample. It never changes.
type prefill struct {
	prosody prosody.Prosody
	from    int // the first sample that the vocoder is asked for
	words   []word
	shape   *vocoder.Shape
	gain    float32
}

// bytes is what p takes in the cache.
func (p *prefill) bytes() int64 {
	n := 4*int64(len(p.prosody.Text)+len(p.prosody.F0)+len(p.prosody.N)) + 8*int64(len(p.prosody.Durations)) +
		32*int64(len(p.words))
	if p.shape != nil {
		n += p.shape.Bytes()
	}
	return n + 256
}

// New loads a bundle. It reads every file and compares its hash. An error leaves nothing behind but the library, which
// a process cannot let go.
func New(c Config) (*Engine, error) {
	if c.CacheBytes == 0 {
		c.CacheBytes = defaultCacheBytes
	}
	m, err := bundle.Open(c.Bundle)
	if err != nil {
		return nil, err
	}
	if err := bundle.Verify(c.Bundle, m); err != nil {
		return nil, err
	}
	e := &Engine{manifest: m, cache: synth.NewCache[*prefill](c.CacheBytes), voices: map[string]*voice{},
		threads: c.Threads}
	if c.Threads < 1 {
		e.threads = runtime.GOMAXPROCS(0)
	}
	e.memory.Cache = max(c.CacheBytes, 0)
	if err := e.load(c); err != nil {
		return nil, errors.Join(fmt.Errorf("bundle %s: %w", c.Bundle, err), e.Close())
	}
	debug.FreeOSMemory() // loading reads every file and keeps hardly any of it
	return e, nil
}

func (e *Engine) load(c Config) error {
	for _, v := range e.manifest.Voices {
		prompt, err := bundle.ReadVoice(filepath.Join(c.Bundle, v.File.File))
		if err != nil {
			return err
		}
		e.memory.Prompts += v.Bytes
		e.voices[v.Name] = &voice{v, prompt, float32(math.Pow(10, v.GainDB/20))}
	}
	// Weights in integers and graphs in floats lie in memory as in their files; the library keeps a copy of some.
	e.memory.Weights = e.manifest.Text.Bytes + e.manifest.Prosody.Bytes + e.manifest.Vocoder.Bytes
	e.memory.Stream = streamBytes
	var err error
	e.network, err = openNetwork(c.Bundle, e.manifest, c.Library, c.Program)
	return err
}

// network is what all voices share. Its parts are interfaces because the real ones take most of a second for a second
// of speech: tests of what is around them have others.
type network struct {
	reader  reader
	prosody predictor
	vocoder starter
}

type reader interface {
	Read(ctx context.Context, prepared string) (phoneme.Phonemes, error)
}

type predictor interface {
	Run(ctx context.Context, ids []int64, style []float32, speed float64) (prosody.Prosody, error)
	Close() error
}

type starter interface {
	Shape(style []float32, of func(norm string) vocoder.Statistics) (*vocoder.Shape, error)
	Start(c vocoder.Chunk) (stream, error)
}

type stream interface {
	Samples() int
	Next(ctx context.Context, n int) ([]float32, error)
}

// loaded is a vocoder whose streams are of the interface.
type loaded struct{ *vocoder.Vocoder }

func (l loaded) Start(c vocoder.Chunk) (stream, error) {
	s, err := l.Vocoder.Start(c)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func openNetwork(dir string, m bundle.Manifest, library, program string) (n network, err error) {
	if n.reader, err = phoneme.Open(program); err != nil {
		return n, err
	}
	weights, file, err := safetensors.Open(filepath.Join(dir, m.Vocoder.File))
	if err != nil {
		return n, err
	}
	v, err := vocoder.New(weights, vocoder.Options{Kernel: ort.ChosenKernel()})
	if err := errors.Join(err, file.Close()); err != nil {
		return n, fmt.Errorf("vocoder: %w", err)
	}
	n.vocoder = loaded{v}
	if err := ort.Load(library); err != nil {
		return n, err
	}
	p, err := prosody.Open(dir, m)
	if err != nil {
		return n, err
	}
	n.prosody = p
	return n, nil
}

// reading is how a text is to sound.
type reading struct {
	ids     int // of phonemes, those of the silence at both ends included; 0 where nothing can be heard
	words   []word
	prosody prosody.Prosody
}

// read turns text into phonemes and their prosody. A text without a mark at its end gets a full stop, because the
// statistics of voices are of sentences: without one, the end is noise.
func (n *network) read(ctx context.Context, p *bundle.Prompt, text string, speed float64) (r reading, err error) {
	prepared, from := espeak.PreparedWords(text)
	if strings.TrimSpace(prepared) == "" {
		return r, nil
	}
	phonemes, err := n.reader.Read(ctx, prepared)
	if err != nil || len(phonemes.IDs) == 0 {
		return r, err
	}
	fed := phoneme.Fed(phonemes.IDs)
	r.ids, r.words = len(fed), wordsOf(from, phonemes.Words)
	r.prosody, err = n.prosody.Run(ctx, fed, p.Style(len(fed)), speed)
	return r, err
}

// speeds are those at which the model speaks well. At 2 half of its sounds are as short as they can be, and words run
// together.
var speeds = speech.Speeds{Min: .5, Max: 1.5}

// Model implements [synth.Engine].
func (e *Engine) Model() speech.Model {
	m := speech.Model{ID: e.manifest.Model.ID, Speeds: speeds}
	for _, v := range e.manifest.Voices {
		m.Voices = append(m.Voices, speech.Voice{Name: v.Name, Language: v.Language, SampleRate: speech.SampleRate,
			PromptFrames: 1})
	}
	return m
}

// How many ids a chunk should have, and may. The time until its first sample grows with them, for which listeners wait
// at the first chunk alone; above some 300 the model speaks faster than it should. The longest leaves a fifth of
// phoneme.MaxIDs, because ids are estimated.
const (
	idsOfFirst   = 130
	idsOfOthers  = 290
	idsOfLongest = 400
)

// Tokens implements [synth.Engine]. It counts phonemes, in units of which the longest chunk may have 50.
func (e *Engine) Tokens(text string) int {
	return (phoneme.Count(espeak.Prepared(text))*speech.MaxChunkTokens + idsOfLongest - 1) / idsOfLongest
}

// ChunkTokens implements [synth.ChunkSizer].
func (e *Engine) ChunkTokens() (first, others int) {
	return idsOfFirst * speech.MaxChunkTokens / idsOfLongest, idsOfOthers * speech.MaxChunkTokens / idsOfLongest
}

// Prepared implements [synth.Preparer].
func (e *Engine) Prepared(chunk string) string { return espeak.Prepared(chunk) }

// Speaks implements [synth.Engine].
func (e *Engine) Speaks(text string) bool { return espeak.Speaks(text) }

// streamBytes is what a worker may take: the signals between all layers, and what the graphs need for the longest
// chunk.
const streamBytes = 48 << 20

// NewWorker implements [synth.Engine]. The worker has spoken once when NewWorker returns.
func (e *Engine) NewWorker(ctx context.Context) (synth.Worker, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	w := &worker{engine: e}
	o := synth.Options{Voice: e.manifest.Voices[0].Name, Text: "नमस्ते", WarmUp: true}
	_, err := w.Prefill(ctx, o)
	if err == nil {
		_, _, _, err = w.Next(ctx, make([]int16, speech.FrameSamples), 1)
	}
	if err != nil {
		return nil, fmt.Errorf("kokoro: warming up: %w", err)
	}
	w.drop()
	return w, nil
}

// Close implements [synth.Engine].
func (e *Engine) Close() error {
	if e.prosody == nil {
		return nil
	}
	err := e.prosody.Close()
	e.prosody = nil
	return err
}

// prefill reads a chunk, and reports whether the cache had it.
func (e *Engine) prefill(ctx context.Context, v *voice, o synth.Options) (p *prefill, cached bool, err error) {
	if o.Speed == 0 {
		o.Speed = 1
	}
	key := synth.CacheKey{Voice: o.Voice, Text: o.Text, Speed: o.Speed}
	if p, ok := e.cache.Get(key); ok && !o.WarmUp {
		e.hits.Add(1)
		return p, true, nil
	}
	if p, err = e.read(ctx, v, o.Text, o.Speed); err != nil {
		return nil, false, err
	}
	if !o.WarmUp {
		e.misses.Add(1)
		e.cache.Add(key, p, p.bytes())
	}
	return p, false, nil
}

// read makes the prefill of a text. What has no phonemes is silent.
func (e *Engine) read(ctx context.Context, v *voice, text string, speed float64) (*prefill, error) {
	r, err := e.network.read(ctx, &v.prompt, text, speed)
	if err != nil || r.ids == 0 {
		return &prefill{}, err
	}
	p := &prefill{prosody: r.prosody, words: r.words, gain: v.gain}
	p.from = beginning(r.prosody)
	p.shape, err = e.vocoder.Shape(timbre(&v.prompt, r.ids), func(norm string) vocoder.Statistics {
		return vocoder.Statistics(v.prompt.Norms[norm])
	})
	return p, err
}

// fewestStyled is for how many ids the timbre of a chunk is, at least. That of very short ones lies so far from others
// that the statistics of a voice do not fit it, and its samples grow without bound.
const fewestStyled = 96

// timbre is the half of a voice's style that the vocoder takes, for a chunk of so many ids.
func timbre(p *bundle.Prompt, ids int) []float32 {
	return p.Style(max(ids, fewestStyled))[:vocoder.StyleSize]
}

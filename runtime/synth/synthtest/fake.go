// Package synthtest has a fake engine and the suite for engines. The audio of the fake can be decoded back to its
// text.
package synthtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// Config describes a fake engine. The zero value is useful.
type Config struct {
	BytesPerFrame int   // text bytes that one frame carries; 0 means 8
	MaxFrames     int   // frame limit of a chunk, after which it ends with eos false; 0 means none
	CacheBytes    int64 // budget of the prefill cache; 0 means 1 MiB, less than 0 no cache

	WordTimes bool          // its workers know when each word is heard
	Speeds    speech.Speeds // its own

	// Before is called before every prefill (frame -1) and every frame. It may block until ctx ends, or fail: that is
	// how tests make an engine slow, stuck or broken.
	Before func(ctx context.Context, o synth.Options, frame int) error

	// OnNewWorker is called before a worker is made; an error is returned instead of the worker.
	OnNewWorker func(ctx context.Context) error
}

// Engine is the fake engine. Its voices are anjura and raj.
type Engine struct {
	cfg      Config
	cache    *synth.Cache[struct{}]
	workers  atomic.Int64
	prefills atomic.Int64
	frames   atomic.Int64
}

// NewEngine returns a fake engine.
func NewEngine(cfg Config) *Engine {
	if cfg.BytesPerFrame == 0 {
		cfg.BytesPerFrame = 8
	}
	if cfg.CacheBytes == 0 {
		cfg.CacheBytes = 1 << 20
	}
	return &Engine{cfg: cfg, cache: synth.NewCache[struct{}](cfg.CacheBytes)}
}

// Model implements [synth.Engine].
func (e *Engine) Model() speech.Model {
	return speech.Model{ID: "fake", Speeds: e.cfg.Speeds, Voices: []speech.Voice{
		{Name: "anjura", Language: "hi-IN+en-IN", SampleRate: speech.SampleRate, PromptFrames: 102},
		{Name: "raj", Language: "hi-IN+en-IN", SampleRate: speech.SampleRate, PromptFrames: 102},
	}}
}

// Tokens implements [synth.Engine]: a token is up to four code points.
func (e *Engine) Tokens(text string) int { return (utf8.RuneCountInString(text) + 3) / 4 }

// Speaks implements [synth.Engine]: letters and numbers must be Latin, Devanagari or ASCII; what is neither is silent.
func (e *Engine) Speaks(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		voiced := unicode.IsLetter(r) || unicode.IsNumber(r)
		return voiced && r >= utf8.RuneSelf && !unicode.In(r, unicode.Latin, unicode.Devanagari)
	})
}

// Close implements [synth.Engine].
func (e *Engine) Close() error { return nil }

// Workers returns how many workers are open.
func (e *Engine) Workers() int { return int(e.workers.Load()) }

// Prefills returns how many prefills were asked for.
func (e *Engine) Prefills() int { return int(e.prefills.Load()) }

// Frames returns how many frames were decoded, by all workers.
func (e *Engine) Frames() int { return int(e.frames.Load()) }

// NewWorker implements [synth.Engine].
func (e *Engine) NewWorker(ctx context.Context) (synth.Worker, error) {
	if e.cfg.OnNewWorker != nil {
		if err := e.cfg.OnNewWorker(ctx); err != nil {
			return nil, err
		}
	}
	e.workers.Add(1)
	return &worker{engine: e}, nil
}

type worker struct {
	engine *Engine
	closed bool

	loaded bool
	o      synth.Options
	voice  int
	per    int // bytes that a frame carries
	frame  int // next to decode
	total  int
	eos    bool
}

func (w *worker) Prefill(ctx context.Context, o synth.Options) (bool, error) {
	w.loaded = false
	w.engine.prefills.Add(1)
	if err := w.before(ctx, o, -1); err != nil {
		return false, err
	}
	voice := -1
	for i, v := range w.engine.Model().Voices {
		if v.Name == o.Voice {
			voice = i
		}
	}
	if voice < 0 {
		return false, speech.UnknownVoice(o.Voice)
	}
	if o.Speed == 0 {
		o.Speed = 1
	}
	if !w.engine.cfg.Speeds.Has(o.Speed) {
		return false, speech.BadSpeed(w.engine.cfg.Speeds)
	}
	key := synth.CacheKey{Voice: o.Voice, Text: o.Text, Speed: o.Speed}
	_, cached := w.engine.cache.Get(key)
	if !cached && !o.WarmUp {
		w.engine.cache.Add(key, struct{}{}, 64)
	}
	w.per = max(1, int(math.Round(float64(w.engine.cfg.BytesPerFrame)*o.Speed)))
	w.total, w.eos = (len(o.Text)+w.per-1)/w.per, true
	if limit := w.engine.cfg.MaxFrames; limit > 0 && w.total > limit {
		w.total, w.eos = limit, false
	}
	w.loaded, w.o, w.voice, w.frame = true, o, voice, 0
	return cached, nil
}

func (w *worker) Next(ctx context.Context, dst []int16, n int) (frames int, done, eos bool, err error) {
	if !w.loaded {
		return 0, false, false, errors.New("Next without Prefill")
	}
	for frames < n && w.frame < w.total {
		if err := w.before(ctx, w.o, w.frame); err != nil {
			return frames, false, false, err
		}
		w.encode(dst[frames*speech.FrameSamples : (frames+1)*speech.FrameSamples])
		w.engine.frames.Add(1)
		w.frame++
		frames++
	}
	done = w.frame == w.total
	return frames, done, done && w.eos, nil
}

// WordTimes implements [synth.WordTimer]: each byte of a frame lasts as long as the others.
func (w *worker) WordTimes() (words []synth.WordTime, ok bool) {
	if !w.engine.cfg.WordTimes || !w.loaded || w.frame < w.total {
		return nil, false
	}
	at := 0
	for field := range strings.FieldsSeq(w.o.Text) {
		from := at + strings.Index(w.o.Text[at:], field)
		at = from + len(field)
		words = append(words, synth.WordTime{
			From: from, To: at,
			Start: min(from*speech.FrameSamples/w.per, w.total*speech.FrameSamples),
			End:   min(at*speech.FrameSamples/w.per, w.total*speech.FrameSamples),
		})
	}
	return words, true
}

func (w *worker) Close() error {
	if !w.closed {
		w.closed = true
		w.engine.workers.Add(-1)
	}
	return nil
}

func (w *worker) before(ctx context.Context, o synth.Options, frame int) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if w.engine.cfg.Before == nil {
		return nil
	}
	return w.engine.cfg.Before(ctx, o, frame)
}

// A fake frame starts with a header of four samples and then carries one byte of text a sample; the rest is noise.
const (
	magic       = 12345
	headerWords = 4 // magic, chunk, voice, payload bytes
	byteScale   = 64
)

func (w *worker) encode(dst []int16) {
	payload := w.o.Text[min(w.frame*w.per, len(w.o.Text)):min((w.frame+1)*w.per, len(w.o.Text))]
	dst[0], dst[1], dst[2], dst[3] = magic, int16(w.o.Chunk), int16(w.voice), int16(len(payload))
	for i := range len(payload) {
		dst[headerWords+i] = int16(payload[i]) * byteScale
	}
	noise := uint64(w.o.Seed)<<20 ^ uint64(w.o.Chunk)<<12 ^ uint64(w.frame)
	amplitude := 100 * w.o.Temperature
	for i := headerWords + len(payload); i < len(dst); i++ {
		noise += 0x9e3779b97f4a7c15 // splitmix64: every frame stands for itself
		z := noise
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		dst[i] = int16(amplitude * (float64(z>>11)/(1<<53) - .5))
	}
}

// SpokenChunk is a chunk as a listener to the fake engine heard it.
type SpokenChunk struct {
	Chunk int
	Voice string
	Text  string
}

// Decode turns the samples of whole fake frames back into what was spoken.
func Decode(pcm []int16) ([]SpokenChunk, error) {
	if len(pcm)%speech.FrameSamples != 0 {
		return nil, fmt.Errorf("%d samples are not whole frames", len(pcm))
	}
	voices := (&Engine{}).Model().Voices
	var heard []SpokenChunk
	for i := 0; i < len(pcm); i += speech.FrameSamples {
		frame := pcm[i : i+speech.FrameSamples]
		if frame[0] != magic {
			return nil, fmt.Errorf("frame %d does not begin with the mark of the fake engine", i/speech.FrameSamples)
		}
		chunk, voice := int(frame[1]), voices[frame[2]].Name
		if len(heard) == 0 || heard[len(heard)-1].Chunk != chunk {
			heard = append(heard, SpokenChunk{Chunk: chunk, Voice: voice})
		}
		text := make([]byte, frame[3])
		for j := range text {
			text[j] = byte(frame[headerWords+j] / byteScale)
		}
		heard[len(heard)-1].Text += string(text)
	}
	return heard, nil
}

// Package espeak speaks with the espeak-ng program, so that a fresh machine is audible without a model. It is the
// engine "espeak-ng-hinglish" behind [synth.Engine].
//
// The program and not its library, because the library keeps its state in globals: two texts at once disturb each
// other, and the second text sounds different from the first. Every chunk has a process of its own, which is why the
// same options give the same samples, why a cancelled chunk costs nothing more, and why a crash ends one chunk and
// not the server.
package espeak

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/internal/espeakng"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/tokenize"
)

// ErrNotInstalled says that there is no program to speak with, and how to get it.
var ErrNotInstalled = espeakng.ErrNotInstalled

// ModelID is the name of the model that the engine speaks with.
const ModelID = "espeak-ng-hinglish"

// Config says how to speak. The zero value is what a fresh machine needs.
type Config struct {
	Program    string // the program, looked up in PATH unless it is a path; empty means espeak-ng
	CacheBytes int64  // budget of the prefill cache; 0 means 8 MiB, less than 0 no cache
}

// Engine speaks with one installed program. It is safe for concurrent use.
type Engine struct {
	program espeakng.Program
	version string
	hindi   string // the program's name for its Hindi voice
	limits  limits
	cache   *synth.Cache[*script]
}

const (
	defaultCacheBytes = 8 << 20
	probeLimit        = 10 * time.Second // for one question to the program at the start
)

// limits are what one process may take.
type limits struct {
	stall time.Duration // longest wait for it to do anything
	first time.Duration // the same for the first samples of a spare process, which can be replaced
}

// usualLimits are far from what the program takes: its first audio takes milliseconds.
var usualLimits = limits{stall: 10 * time.Second, first: 2 * time.Second}

// New finds the program and asks it for its version and its voices. It returns an error that wraps [ErrNotInstalled]
// when there is no program. It starts no process that outlives the call.
func New(c Config) (*Engine, error) {
	if c.CacheBytes == 0 {
		c.CacheBytes = defaultCacheBytes
	}
	return open(c, probeLimit)
}

// open is New with another limit for the program's answers.
func open(c Config, limit time.Duration) (*Engine, error) {
	program, err := espeakng.Find(c.Program)
	if err != nil {
		return nil, err
	}
	e := &Engine{program: program, limits: usualLimits, cache: synth.NewCache[*script](c.CacheBytes)}
	if e.version, err = program.Version(limit); err != nil {
		return nil, fmt.Errorf("asking %s for its version: %w", program.Path, err)
	}
	if e.hindi, err = program.Hindi(limit); err == nil {
		err = checkVariants(program, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("asking %s for its voices: %w", program.Path, err)
	}
	return e, nil
}

// Version is the version of the program, such as "1.51".
func (e *Engine) Version() string { return e.version }

// Model implements [synth.Engine].
func (e *Engine) Model() speech.Model {
	m := speech.Model{ID: ModelID}
	for _, v := range voices {
		m.Voices = append(m.Voices, speech.Voice{
			Name: v.name, Language: "hi-IN+en-IN", SampleRate: speech.SampleRate, PromptFrames: promptFrames,
		})
	}
	return m
}

// Tokens implements [synth.Engine]. It counts the text as the program is fed it: Roman Hindi in Devanagari.
func (e *Engine) Tokens(text string) int { return tokenize.Plain(Prepared(text)) }

// Prepared implements [synth.Preparer].
func (e *Engine) Prepared(chunk string) string { return Prepared(chunk) }

// Speaks implements [synth.Engine].
func (e *Engine) Speaks(text string) bool { return Speaks(text) }

// NewWorker implements [synth.Engine].
func (e *Engine) NewWorker(ctx context.Context) (synth.Worker, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return newWorker(e), nil
}

// Close implements [synth.Engine].
func (e *Engine) Close() error { return nil }

// prefill returns the text of o as the program is fed it, and whether the cache had it.
func (e *Engine) prefill(o synth.Options) (s *script, cached bool) {
	key := synth.CacheKey{Voice: o.Voice, Text: o.Text}
	if s, ok := e.cache.Get(key); ok && !o.WarmUp {
		return s, true
	}
	fresh := prepare(o.Text)
	if !o.WarmUp {
		e.cache.Add(key, &fresh, fresh.bytes())
	}
	return &fresh, false
}

// checkVariants makes sure that each of our voices can be had.
func checkVariants(program espeakng.Program, limit time.Duration) error {
	variants, err := program.Query(limit, "--voices=variant")
	if err != nil {
		return err
	}
	for _, v := range voices {
		if v.variant != "" && !slices.Contains(strings.Fields(variants), "!v/"+v.variant) {
			return fmt.Errorf("it has no voice variant %s, with which %s speaks; its data is incomplete", v.variant,
				v.name)
		}
	}
	return nil
}

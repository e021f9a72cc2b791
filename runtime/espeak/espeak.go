// Package espeak speaks with the espeak-ng program, so that a fresh machine is audible without a model. It is the engine
// "espeak-ng-hinglish" behind [synth.Engine].
//
// The program and not its library, because the library keeps its state in globals: two texts at once disturb each other, and the
// second text sounds different from the first. Every chunk has a process of its own, which is why the same options give the same
// samples, why a cancelled chunk costs nothing more, and why a crash ends one chunk and not the server.
package espeak

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/swar-tts/swar/runtime/childenv"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/tokenize"
)

// ErrNotInstalled says that there is no program to speak with, and how to get it.
var ErrNotInstalled = errors.New("espeak-ng is not installed: install it with `apt-get install espeak-ng`" +
	" (Debian, Ubuntu), `apk add espeak-ng` (Alpine) or `brew install espeak-ng` (macOS)")

// ModelID is the name of the model that the engine speaks with.
const ModelID = "espeak-ng-hinglish"

// Config says how to speak. The zero value is what a fresh machine needs.
type Config struct {
	Program    string // the program, looked up in PATH unless it is a path; empty means espeak-ng
	CacheBytes int64  // budget of the prefill cache; 0 means 8 MiB, less than 0 no cache
}

// Engine speaks with one installed program. It is safe for concurrent use.
type Engine struct {
	program string
	version string
	hindi   string // the program's name for its Hindi voice
	limits  limits
	cache   *synth.Cache[*script]
}

const (
	defaultCacheBytes = 8 << 20
	probeLimit        = 10 * time.Second // for one question to the program at the start
	maxAnswer         = 1 << 20          // bytes; the longest answer, the list of voices, has 11,000
)

// limits are what one process may take.
type limits struct {
	stall  time.Duration // longest wait for it to do anything
	first  time.Duration // the same for the first samples of a spare process, which can be replaced
	memory uint64        // bytes of data; 0 means as much as there is
}

// usualLimits are far from what the program takes: its first audio takes milliseconds, and a long text 10 MB.
var usualLimits = limits{stall: 10 * time.Second, first: 2 * time.Second, memory: 128 << 20}

// New finds the program and asks it for its version and its voices. It returns an error that wraps [ErrNotInstalled] when there is
// no program. It starts no process that outlives the call.
func New(c Config) (*Engine, error) {
	if c.Program == "" {
		c.Program = "espeak-ng"
	}
	if c.CacheBytes == 0 {
		c.CacheBytes = defaultCacheBytes
	}
	return open(c, probeLimit)
}

// open is New with another limit for the program's answers.
func open(c Config, limit time.Duration) (*Engine, error) {
	program, err := exec.LookPath(c.Program)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrNotInstalled, err)
	}
	e := &Engine{program: program, limits: usualLimits, cache: synth.NewCache[*script](c.CacheBytes)}
	if e.version, err = version(program, limit); err != nil {
		return nil, fmt.Errorf("asking %s for its version: %w", program, err)
	}
	if e.hindi, err = hindi(program, limit); err != nil {
		return nil, fmt.Errorf("asking %s for its voices: %w", program, err)
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
func (e *Engine) Tokens(text string) int { return tokenize.Plain(prepare(text).text) }

// Prepared implements [synth.Preparer].
func (e *Engine) Prepared(chunk string) string { return prepare(chunk).text }

// Speaks implements [synth.Engine]. It speaks Latin and the scripts of India that Devanagari can stand for, their
// digits, and the marks at which it pauses.
func (e *Engine) Speaks(text string) bool {
	return !strings.ContainsFunc(plainLatin(text), func(r rune) bool {
		_, k := classify(r)
		return k == gap && !unicode.IsSpace(r)
	})
}

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

// version asks the program for its version.
func version(program string, limit time.Duration) (string, error) {
	out, err := ask(program, limit, "--version")
	if err != nil {
		return "", err
	}
	// eSpeak NG text-to-speech: 1.51  Data at: /usr/lib/x86_64-linux-gnu/espeak-ng-data
	if _, rest, ok := strings.Cut(out, "eSpeak NG text-to-speech: "); ok {
		if fields := strings.Fields(rest); len(fields) > 0 {
			return fields[0], nil
		}
	}
	return "", fmt.Errorf("it answers %.80q, which is not espeak-ng", out)
}

// hindi returns the program's name for its Hindi voice and makes sure that each of ours can be had.
//
// Its file name serves better than its language: asked for "hi", the program first reads the hundreds of voice files that it has,
// which doubles the time until it speaks.
func hindi(program string, limit time.Duration) (string, error) {
	out, err := ask(program, limit, "--voices=hi")
	if err != nil {
		return "", err
	}
	name := ""
	for line := range strings.Lines(out) {
		// " 5  hi              --/M      Hindi              inc/hi               "
		f := strings.Fields(line)
		if len(f) >= 5 && f[1] == "hi" && !strings.HasPrefix(f[4], "mb/") {
			name = f[4]
			break
		}
	}
	if name == "" {
		return "", errors.New("it has no Hindi voice; its data is incomplete")
	}
	if _, err := ask(program, limit, "-v", name, "-q", "--stdin"); err != nil {
		name = "hi"
	}
	variants, err := ask(program, limit, "--voices=variant")
	if err != nil {
		return "", err
	}
	for _, v := range voices {
		if v.variant != "" && !slices.Contains(strings.Fields(variants), "!v/"+v.variant) {
			return "", fmt.Errorf("it has no voice variant %s, with which %s speaks; its data is incomplete", v.variant, v.name)
		}
	}
	return name, nil
}

// ask runs the program for its answer.
func ask(program string, limit time.Duration, args ...string) (string, error) {
	runtime.LockOSThread() // the program dies with the thread that started it
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = childenv.Only(passedOn...)
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error { kill(cmd.Process); return nil }
	cmd.WaitDelay = time.Second
	var complaint head
	out := head{room: maxAnswer}
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", fmt.Errorf("no answer in %v", limit)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, complaint.String())
	}
	return string(out.buf), nil
}

// Package phoneme turns prepared text into the phonemes that Kokoro was trained on. They come from espeak-ng, in the
// symbols of Kokoro's vocabulary.
package phoneme

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/swar-tts/swar/runtime/internal/espeakng"
	"github.com/swar-tts/swar/runtime/speech"
)

// MaxIDs is how many ids the model takes, besides the pads at both ends.
const MaxIDs = 510

// ErrTooLong says that a text has more ids than [MaxIDs]. Half of it may have few enough.
var ErrTooLong = errors.New("text has more phonemes than the model takes")

// Phonemes are a text as the model is fed it.
type Phonemes struct {
	IDs   []int64 // without the pads; empty when nothing of the text can be heard
	Words []Word  // all of the text, in order
}

// Word says which ids are a word. Spaces and marks between words belong to none, every other id to exactly one.
type Word struct {
	From, To    int // bytes of the prepared text
	First, Last int // ids [First, Last); none when the word is silent
}

// Reader reads text with one installed program. It is safe for concurrent use.
type Reader struct {
	program espeakng.Program
	args    []string
	limit   time.Duration // for one run of the program
}

const (
	probeLimit = 10 * time.Second // for one question to the program at the start
	usualLimit = 10 * time.Second // a text takes milliseconds
	maxBytes   = 8 * MaxIDs       // of a text that may have few enough ids: most letters have 3 bytes and an id
)

// Open finds the program, looked up in PATH unless it is a path; empty means espeak-ng. It returns an error that
// wraps [espeakng.ErrNotInstalled] when there is none. It starts no process that outlives the call.
func Open(program string) (*Reader, error) { return open(program, probeLimit) }

// open is Open with another limit for the program's answers.
func open(program string, limit time.Duration) (*Reader, error) {
	p, err := espeakng.Find(program)
	if err != nil {
		return nil, err
	}
	version, err := p.Version(limit)
	if err != nil {
		return nil, fmt.Errorf("asking %s for its version: %w", p.Path, err)
	}
	if err := checkVersion(version); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Path, err)
	}
	hindi, err := p.Hindi(limit)
	if err != nil {
		return nil, fmt.Errorf("asking %s for its voices: %w", p.Path, err)
	}
	return newReader(p, hindi), nil
}

func newReader(p espeakng.Program, hindi string) *Reader {
	// UTF-8; phonemes and no sound; a tie between the letters of one sound.
	args := []string{"-b", "1", "-v", hindi, "-q", "--ipa", "--tie=^", "--stdin"}
	return &Reader{program: p, args: args, limit: usualLimit}
}

// checkVersion refuses programs that lose lines of their phonemes.
func checkVersion(version string) error {
	var major, minor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n != 2 {
		return fmt.Errorf("its version %q is not a number such as 1.51; install espeak-ng 1.51 or later", version)
	}
	if major < 1 || major == 1 && minor < 51 {
		return fmt.Errorf("version %s prints incomplete phonemes; install espeak-ng 1.51 or later", version)
	}
	return nil
}

// Read returns the ids of prepared, which is text as the espeak engine's Prepared writes it. Other text is safe to
// read, but what is neither a word nor a mark of such text is left out.
//
// It runs the program once, and a second time where the words of the program's answer are not those of the text.
// The error wraps [ErrTooLong] when there are more than [MaxIDs] ids, is the cause of ctx when ctx ended, and an
// [speech.EngineError] otherwise.
func (r *Reader) Read(ctx context.Context, prepared string) (Phonemes, error) {
	if len(prepared) > maxBytes {
		return Phonemes{}, fmt.Errorf("%w: %d bytes of text, and at most %d ids", ErrTooLong, len(prepared), MaxIDs)
	}
	clauses := split(prepared)
	if len(clauses) == 0 {
		return Phonemes{}, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.limit, &speech.EngineError{
		Text: "speech program does not answer", Err: fmt.Errorf("no phonemes in %v", r.limit),
	})
	defer cancel()
	texts := make([]string, len(clauses))
	for i, c := range clauses {
		texts[i] = c.fed()
	}
	said, err := r.say(ctx, texts)
	if err != nil {
		return Phonemes{}, err
	}
	w := writer{}
	for i := range clauses {
		w.add(&clauses[i], said[i])
	}
	w.end()
	if len(w.ids) > MaxIDs {
		return Phonemes{}, fmt.Errorf("%w: %d, and at most %d", ErrTooLong, len(w.ids), MaxIDs)
	}
	words, err := r.words(ctx, clauses, w.ids)
	return Phonemes{IDs: w.ids, Words: words}, err
}

// words returns the words of all clauses with their ids.
func (r *Reader) words(ctx context.Context, clauses []clause, ids []int64) ([]Word, error) {
	var alone []string // words whose own sounds show where they are in their clause
	for i := range clauses {
		if c := &clauses[i]; !c.plain() {
			for _, w := range c.words {
				alone = append(alone, w.fed)
			}
		}
	}
	var said [][]string
	if alone != nil {
		var err error
		if said, err = r.say(ctx, alone); err != nil {
			return nil, err
		}
	}
	var words []Word
	for i := range clauses {
		c := &clauses[i]
		if c.plain() {
			for k, w := range c.words {
				words = append(words, Word{w.from, w.to, c.said[k].first, c.said[k].last})
			}
			continue
		}
		starts := align(said[:len(c.words)], ids[c.first():c.last()])
		said = said[len(c.words):]
		for k, w := range c.words {
			first, last := trim(ids, c.first()+starts[k], c.first()+starts[k+1])
			words = append(words, Word{w.from, w.to, first, last})
		}
	}
	return words, nil
}

// sentinel is fed after every text, and answered by sentinelSaid on a line of its own. No prepared text can write
// the first, for its brackets, and no word has the second: five consonants without a vowel, a long one or a stress.
const sentinel, sentinelSaid = "[[ttttt]]", "ttttt"

// say returns the sounds of each text, by the words of the program's answer, in Kokoro's symbols. The program
// prints a line for a text, or several, or none; the sentinels show where one ends.
func (r *Reader) say(ctx context.Context, texts []string) ([][]string, error) {
	var input strings.Builder
	for _, text := range texts {
		input.WriteString(text + "\n\n" + sentinel + "\n\n")
	}
	out, err := r.program.Run(ctx, input.String(), r.args...)
	if err != nil {
		if _, ok := errors.AsType[*speech.EngineError](err); ok || ctx.Err() != nil {
			return nil, err
		}
		return nil, &speech.EngineError{Text: "speech program failed", Err: err}
	}
	said := make([][]string, 1, len(texts)+1)
	for line := range strings.Lines(out) {
		last := len(said) - 1
		if strings.TrimSpace(line) == sentinelSaid {
			said = append(said, nil)
			continue
		}
		for word := range strings.FieldsSeq(withoutFlags(line)) {
			if sounds := symbols(word); sounds != "" {
				said[last] = append(said[last], sounds)
			}
		}
	}
	if len(said) != len(texts)+1 || said[len(texts)] != nil {
		return nil, &speech.EngineError{
			Text: "speech program failed",
			Err:  fmt.Errorf("it answered %d texts instead of %d", len(said)-1, len(texts)),
		}
	}
	return said[:len(texts)], nil
}

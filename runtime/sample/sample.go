// Package sample records a sentence with every voice while the server is idle. So people can listen to voices before
// they have a key.
package sample

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/wav"
)

// Text is what every voice says.
const Text = "Namaste! Aapka order kal tak deliver ho jayega, total ₹499 hai."

// seed makes a sample the same wherever it is spoken.
const seed = 1

const (
	lookEvery = time.Second // for a moment in which a worker is idle
	// in a row have found one, so that nobody meets a server at work that has just become ready
	idleChecks = 3
	againAfter = 5 * time.Minute  // when a voice could not say it
	longest    = 30 * time.Second // that a sample takes, far above what it does
	maxBytes   = wav.HeaderBytes + 60*speech.SampleRate*2
)

// Config says what samples are made of.
type Config struct {
	Folder     string // where samples are kept, made when there is the first one; empty: in memory alone
	Identity   string // of the model, besides its id and voices: samples of another one are made anew
	Disclosure string // what is spoken before every text

	// Content tells the voices apart that have one name after one another. Nil: a voice stays what it is.
	Content func(voice string) string
}

// Samples are the samples of the voices of a speaker. They are safe for concurrent use.
type Samples struct {
	cfg     Config
	speaker speech.Speaker
	log     *slog.Logger

	mu   sync.RWMutex
	made map[string][]byte // WAV, by the name of the sample

	quiet int // how often in a row a worker was found idle; of Run alone
}

// New returns the samples of speaker, none of which are there until [Samples.Run] runs.
func New(cfg Config, speaker speech.Speaker, log *slog.Logger) *Samples {
	if cfg.Content == nil {
		cfg.Content = func(string) string { return "" }
	}
	return &Samples{cfg: cfg, speaker: speaker, log: log, made: map[string][]byte{}}
}

// WAV returns the sample of a voice, and whether there is one by now. The caller must not change it.
func (s *Samples) WAV(voice string) ([]byte, bool) {
	model := s.speaker.Model()
	v, ok := model.Voice(voice)
	if !ok {
		return nil, false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	audio, ok := s.made[s.name(model, v)]
	return audio, ok
}

// Run makes missing samples until ctx ends, one at a time. It starts one when a worker is idle and the queue is
// empty. Of a speaker that meets other models later it makes theirs.
func (s *Samples) Run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	failed := map[string]time.Time{}
	for {
		s.makeNext(ctx, failed)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// makeNext makes the first sample that is missing, or finds it where it was kept.
func (s *Samples) makeNext(ctx context.Context, failed map[string]time.Time) {
	if s.quiet++; s.speaker.Ready() != nil || !isIdle(s.speaker.Capacity()) {
		s.quiet = 0
	}
	model := s.speaker.Model()
	for _, v := range model.Voices {
		name := s.name(model, v)
		if at, ok := failed[name]; s.has(name) || ok && time.Since(at) < againAfter {
			continue
		}
		if audio := s.cached(name); audio != nil {
			s.put(name, audio)
			continue
		}
		if s.quiet < idleChecks {
			return
		}
		audio, err := s.speak(ctx, v.Name)
		switch {
		case errors.Is(err, errServerBusy) || errors.Is(err, speech.ErrBusy) || ctx.Err() != nil:
		case err != nil:
			failed[name] = time.Now()
			s.log.Warn("a voice could not say its sample; it tries again in five minutes", "voice", v.Name, "error",
				err)
		case s.name(model, v) != name: // another voice has its name now, and may have spoken
		default:
			s.put(name, audio)
			if err := s.keep(name, audio); err != nil {
				s.log.Warn("a sample is not kept, and is made again at the next start", "voice", v.Name, "error", err)
			}
		}
		return
	}
}

// isIdle reports whether a worker has nothing to do, and nobody waits.
func isIdle(c speech.Capacity) bool { return c.Busy+c.Reserved < c.Ready && c.Queued == 0 }

// errServerBusy ends a sample when somebody waits for its worker.
var errServerBusy = errors.New("a request is waiting")

func (s *Samples) speak(ctx context.Context, voice string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	k := &collector{speaker: s.speaker}
	_, err := s.speaker.Speak(ctx, speech.Utterance{
		RequestID: "sample", Disclosure: s.cfg.Disclosure, Text: Text, Voice: voice, Format: speech.PCM16,
		Temperature: speech.DefaultTemperature, Seed: seed,
	}, speech.Turn{}, k)
	if err != nil {
		return nil, err
	}
	head := wav.Header(uint32(len(k.pcm)))
	return append(head[:], k.pcm...), nil
}

// collector takes the audio of a sample.
type collector struct {
	speaker speech.Speaker
	pcm     []byte
}

func (k *collector) Start(speech.Start) error      { return nil }
func (k *collector) ChunkStart(speech.Chunk) error { return nil }

func (k *collector) Audio(a speech.Audio) error {
	if k.speaker.Capacity().Queued > 0 {
		return errServerBusy
	}
	if len(k.pcm)+len(a.Data) > maxBytes-wav.HeaderBytes {
		return errors.New("the sample does not end")
	}
	k.pcm = append(k.pcm, a.Data...)
	return nil
}

func (k *collector) ChunkEnd(speech.ChunkEnd) error { return nil }

// name is that of the sample of a voice: another one for whatever can make it sound otherwise.
func (s *Samples) name(model speech.Model, v speech.Voice) string {
	what, err := json.Marshal([]any{s.cfg.Identity, model.ID, v, s.cfg.Content(v.Name), s.cfg.Disclosure, Text, seed})
	if err != nil {
		panic(err) // it is made of texts and numbers
	}
	sum := sha256.Sum256(what)
	return hex.EncodeToString(sum[:16])
}

func (s *Samples) has(name string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.made[name] != nil
}

func (s *Samples) put(name string, audio []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made[name] = audio
}

// cached returns a sample that was kept, or nil. What is not whole is as good as not there.
func (s *Samples) cached(name string) []byte {
	if s.cfg.Folder == "" {
		return nil
	}
	path := s.path(name)
	if about, err := os.Stat(path); err != nil || about.Size() <= wav.HeaderBytes || about.Size() > maxBytes {
		return nil
	}
	audio, err := os.ReadFile(path)
	if err != nil || len(audio) <= wav.HeaderBytes {
		return nil
	}
	if want := wav.Header(uint32(len(audio) - wav.HeaderBytes)); [wav.HeaderBytes]byte(audio) != want {
		return nil
	}
	return audio
}

// keep writes a sample, whole or not at all.
func (s *Samples) keep(name string, audio []byte) error {
	if s.cfg.Folder == "" {
		return nil
	}
	if err := os.MkdirAll(s.cfg.Folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.CreateTemp(s.cfg.Folder, name+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(audio)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), s.path(name))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keeping a sample: %w", err), os.Remove(f.Name()))
	}
	return nil
}

func (s *Samples) path(name string) string { return filepath.Join(s.cfg.Folder, name+".wav") }

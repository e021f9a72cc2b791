package sample

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/wav"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// voices is a speaker that counts how many it speaks for at once.
type voices struct {
	mu       sync.Mutex
	model    speech.Model
	capacity speech.Capacity
	notReady error
	fail     error
	spoken   []speech.Utterance
	running  int
	most     int
	during   func() // is called between two blocks
}

func newVoices() *voices {
	return &voices{
		model:    speech.Model{ID: "m", Voices: []speech.Voice{{Name: "anjura"}, {Name: "raj"}}},
		capacity: speech.Capacity{Workers: 1, Ready: 1},
	}
}

func (v *voices) set(change func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change()
}

func (v *voices) Speak(
	_ context.Context, u speech.Utterance, _ speech.Turn, sink speech.Sink,
) (st speech.Stats, err error) {
	v.set(func() {
		v.spoken = append(v.spoken, u)
		v.running++
		v.most = max(v.most, v.running)
		err = v.fail
	})
	defer v.set(func() { v.running-- })
	if err != nil {
		return st, err
	}
	for i := range 2 {
		if err := sink.Audio(speech.Audio{Frames: 1, Data: []byte{byte(i), 2}}); err != nil {
			return st, err
		}
		if v.during != nil {
			v.during()
		}
		time.Sleep(80 * time.Millisecond)
	}
	return st, nil
}

func (v *voices) Normalize(context.Context, speech.Utterance) (n speech.Normalized, err error) {
	return
}
func (v *voices) Model() (m speech.Model)       { v.set(func() { m = v.model }); return }
func (v *voices) Ready() (err error)            { v.set(func() { err = v.notReady }); return }
func (v *voices) Capacity() (c speech.Capacity) { v.set(func() { c = v.capacity }); return }
func (v *voices) count() (n int)                { v.set(func() { n = len(v.spoken) }); return }

// inBubble runs samples of v while the test runs.
func inBubble(t *testing.T, cfg Config, v *voices, test func(t *testing.T, s *Samples)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := New(cfg, v, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.Run(ctx)
		}()
		test(t, s)
		cancel()
		<-ended
	})
}

func TestEveryVoiceSaysItsSampleOnce(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "samples")
	v := newVoices()
	inBubble(t, Config{Folder: folder, Identity: "x", Disclosure: "AI"}, v, func(t *testing.T, s *Samples) {
		if _, ok := s.WAV("raj"); ok {
			t.Error("a sample is there before it was spoken")
		}
		time.Sleep(time.Minute)
		head := wav.Header(4)
		want := append(head[:], 0, 2, 1, 2)
		for _, voice := range []string{"anjura", "raj"} {
			if got, ok := s.WAV(voice); !ok || !bytes.Equal(got, want) {
				t.Errorf("%s: %x, %v; want %x", voice, got, ok, want)
			}
		}
		if _, ok := s.WAV("nobody"); ok {
			t.Error("there is a sample of a voice that is none")
		}
		if v.count() != 2 || v.most != 1 {
			t.Errorf("spoken %d times, %d at once; want each once, and one at a time", v.count(), v.most)
		}
		u := v.spoken[0]
		if u.Seed != 1 || u.Text != Text || u.Disclosure != "AI" || u.Temperature != speech.DefaultTemperature {
			t.Errorf("spoken %+v", u)
		}
	})
	inBubble(t, Config{Folder: folder, Identity: "x", Disclosure: "AI"}, v, func(t *testing.T, s *Samples) {
		time.Sleep(2 * time.Second)
		if _, ok := s.WAV("raj"); !ok || v.count() != 2 {
			t.Errorf("after a start it is there: %v, and was spoken %d times", ok, v.count())
		}
	})
	kept, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(kept) != 2 {
		t.Errorf("kept are %v, %v; want 2", kept, err)
	}
	for i, cfg := range []Config{{Folder: folder, Identity: "y", Disclosure: "AI"}, {Folder: folder, Identity: "x"}} {
		before := v.count()
		inBubble(t, cfg, v, func(*testing.T, *Samples) { time.Sleep(time.Minute) })
		if v.count() != before+2 {
			t.Errorf("%d: of what sounds otherwise %d samples were made, want 2", i, v.count()-before)
		}
	}
}

// TestAnotherVoiceOfTheSameNameSaysItsOwn: nobody hears a voice that has been replaced, also not where that happened
// while it spoke.
func TestAnotherVoiceOfTheSameNameSaysItsOwn(t *testing.T) {
	v, content := newVoices(), "asha"
	cfg := Config{Content: func(name string) (id string) {
		v.set(func() { id = name + " is " + content })
		return id
	}}
	inBubble(t, cfg, v, func(t *testing.T, s *Samples) {
		time.Sleep(10*time.Second + lookEvery/2) // between two looks
		if _, ok := s.WAV("raj"); !ok || v.count() != 2 {
			t.Fatalf("the first is there: %v, spoken %d times", ok, v.count())
		}
		v.set(func() { content = "meera" })
		if _, ok := s.WAV("raj"); ok {
			t.Error("the sample of the voice before is that of the one in its place")
		}
		v.set(func() {
			v.during = func() { v.set(func() { content, v.during = "kiran", nil }) }
		})
		time.Sleep(lookEvery)
		v.set(func() { content = "meera" })
		if _, ok := s.WAV("anjura"); ok || v.count() != 3 {
			t.Errorf("what was begun before a change counts: %v, spoken %d times", ok, v.count())
		}
		time.Sleep(10 * time.Second)
		if _, ok := s.WAV("raj"); !ok || v.count() != 5 {
			t.Errorf("its own is there: %v, spoken %d times", ok, v.count())
		}
	})
}

func TestWhatIsKeptByHalfIsMadeAnew(t *testing.T) {
	folder := t.TempDir()
	v := newVoices()
	v.model.Voices = v.model.Voices[:1]
	name := New(Config{}, v, nil).name(v.model, v.model.Voices[0])
	head := wav.Header(4)
	for what, kept := range map[string][]byte{
		"nothing": {}, "a header": head[:], "a byte less": append(head[:], 0, 2, 1), "a byte more": append(head[:], 0, 2, 1, 2, 0),
		"something else": bytes.Repeat([]byte("a"), 48),
	} {
		if err := os.WriteFile(filepath.Join(folder, name+".wav"), kept, 0o600); err != nil {
			t.Fatal(err)
		}
		before := v.count()
		inBubble(t, Config{Folder: folder}, v, func(t *testing.T, s *Samples) {
			time.Sleep((idleChecks - 1) * lookEvery / 2)
			if v.count() != before {
				t.Errorf("%s: it was spoken before the server had been idle for a while", what)
			}
			time.Sleep(idleChecks * lookEvery)
			if got, ok := s.WAV("anjura"); !ok || len(got) != wav.HeaderBytes+4 || v.count() != before+1 {
				t.Errorf("%s: %d bytes, spoken %d times", what, len(got), v.count()-before)
			}
		})
	}
}

func TestSamplesWaitForAnIdleWorker(t *testing.T) {
	for name, c := range map[string]speech.Capacity{
		"nobody is warm":       {Workers: 1},
		"all are busy":         {Workers: 2, Ready: 2, Busy: 2},
		"the other is kept":    {Workers: 2, Ready: 2, Busy: 1, Reserved: 1},
		"somebody else queues": {Workers: 2, Ready: 2, Busy: 1, Queued: 1},
	} {
		v := newVoices()
		v.capacity = c
		inBubble(t, Config{}, v, func(t *testing.T, s *Samples) {
			time.Sleep(10 * time.Second)
			if v.count() > 0 {
				t.Errorf("%s: a sample was spoken", name)
			}
			v.set(func() { v.capacity = speech.Capacity{Workers: 2, Ready: 2, Busy: 1} })
			time.Sleep(10 * time.Second)
			if _, ok := s.WAV("raj"); !ok {
				t.Errorf("%s: there is no sample when a worker is idle", name)
			}
		})
	}
	v := newVoices()
	v.notReady = speech.ErrWarming
	inBubble(t, Config{}, v, func(t *testing.T, _ *Samples) {
		time.Sleep(10 * time.Second)
		if v.count() > 0 {
			t.Error("a sample was spoken before the speaker was ready")
		}
	})
}

func TestASampleGivesWay(t *testing.T) {
	v := newVoices()
	v.during = func() { v.set(func() { v.capacity.Queued = 1 }) }
	inBubble(t, Config{}, v, func(t *testing.T, s *Samples) {
		time.Sleep((idleChecks-1)*lookEvery + lookEvery/2)
		if _, ok := s.WAV("anjura"); ok || v.count() != 1 {
			t.Errorf("it was spoken on to its end, %d times", v.count())
		}
		v.set(func() { v.during, v.capacity.Queued = nil, 0 })
		time.Sleep(10 * time.Second)
		if _, ok := s.WAV("raj"); !ok || v.count() != 3 {
			t.Errorf("afterwards it is there: %v, spoken %d times", ok, v.count())
		}
	})
}

func TestAFailureWaitsFiveMinutes(t *testing.T) {
	v := newVoices()
	v.fail = errors.New("broken")
	inBubble(t, Config{}, v, func(t *testing.T, s *Samples) {
		time.Sleep(againAfter - time.Second)
		if v.count() != 2 {
			t.Errorf("tried %d times, want once for each voice", v.count())
		}
		v.set(func() { v.fail = nil })
		time.Sleep(10 * time.Second)
		if _, ok := s.WAV("raj"); !ok {
			t.Error("it was not tried again")
		}
	})
}

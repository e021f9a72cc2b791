package pipeline_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/pipeline"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

// changing is a fake engine whose voices change. A voice that was not there at the start has its name and @ with a
// version as its id, and all sound like raj.
type changing struct {
	*synthtest.Engine

	mu     sync.Mutex
	disk   []synth.LoadedVoice
	loaded map[string]bool
	spoken []string // ids, by prefill
	failed error    // of warming a voice that is new
	read   func()   // is called when voices have been read
}

func newChanging(cfg synthtest.Config) *changing {
	return &changing{Engine: synthtest.NewEngine(cfg), loaded: map[string]bool{"anjura": true, "raj": true}}
}

// put says what is on the disk: the ids of voices, of which the name goes as far as the @.
func (e *changing) put(ids ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.disk = nil
	for _, id := range ids {
		name := id
		if at := slices.Index([]byte(id), '@'); at >= 0 {
			name = id[:at]
		}
		e.disk = append(e.disk, synth.LoadedVoice{Voice: speech.Voice{Name: name, SampleRate: speech.SampleRate},
			ID: id})
	}
}

func (e *changing) ReadVoices() ([]synth.LoadedVoice, error) {
	e.mu.Lock()
	disk, read := e.disk, e.read
	for _, v := range disk {
		e.loaded[v.ID] = true
	}
	e.mu.Unlock()
	if disk == nil {
		return nil, errors.New("the manifest is damaged")
	}
	if read != nil {
		read()
	}
	return disk, nil
}

func (e *changing) FreeVoice(id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.loaded, id)
	return nil
}

func (e *changing) isLoaded(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.loaded[id]
}

// isAudible returns the ids that were spoken with since it was called last, without repetitions.
func (e *changing) heard() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	ids := slices.Compact(e.spoken)
	e.spoken = nil
	return ids
}

func (e *changing) NewWorker(ctx context.Context) (synth.Worker, error) {
	w, err := e.Engine.NewWorker(ctx)
	return &changingWorker{w, e}, err
}

type changingWorker struct {
	synth.Worker
	engine *changing
}

func (w *changingWorker) Prefill(ctx context.Context, o synth.Options) (bool, error) {
	e := w.engine
	e.mu.Lock()
	known, failed := e.loaded[o.Voice], e.failed
	e.spoken = append(e.spoken, o.Voice)
	e.mu.Unlock()
	switch {
	case !known:
		return false, speech.UnknownVoice(o.Voice)
	case o.WarmUp && failed != nil:
		return false, failed
	}
	o.Voice = "raj"
	return w.Worker.Prefill(ctx, o)
}

func names(m speech.Model) (all []string) {
	for _, v := range m.Voices {
		all = append(all, v.Name)
	}
	return all
}

func speakAs(t *testing.T, s *pipeline.Speaker, voice string) error {
	t.Helper()
	u := speech.Utterance{Text: "Namaste ji. Kya haal hai aapka?", Voice: voice, Format: speech.PCM16}
	_, err := s.Speak(t.Context(), u, speech.Turn{}, &speechtest.Recorder{})
	return err
}

func TestAVoiceIsWarmBeforeItIsListed(t *testing.T) {
	e := newChanging(synthtest.Config{})
	s, _ := run(t, 2, e)
	if _, err := s.ReadVoices(t.Context()); err == nil || len(s.Model().Voices) != 2 {
		t.Errorf("a damaged manifest: error %v, voices %q", err, names(s.Model()))
	}
	if err := speakAs(t, s, "asha"); !errors.Is(err, speech.UnknownVoice("asha")) {
		t.Errorf("before it is there: %v", err)
	}
	e.put("anjura", "asha@1", "raj")
	e.failed = errors.New("it is silent")
	if _, err := s.ReadVoices(t.Context()); !errors.Is(err, e.failed) {
		t.Errorf("error %v, want that of warming", err)
	}
	if got := names(s.Model()); !slices.Equal(got, []string{"anjura", "raj"}) || e.isLoaded("asha@1") {
		t.Errorf("a voice that cannot be warmed: listed %q, loaded %v", got, e.isLoaded("asha@1"))
	}
	e.failed = nil
	e.heard()
	c, err := s.ReadVoices(t.Context())
	if err != nil || !slices.Equal(c.Added, []string{"asha"}) || c.Replaced != nil || c.Removed != nil {
		t.Errorf("changes %+v, error %v", c, err)
	}
	if got := e.heard(); !slices.Equal(got, []string{"asha@1"}) {
		t.Errorf("warmed %q", got)
	}
	if got := names(s.Model()); !slices.Equal(got, []string{"anjura", "asha", "raj"}) {
		t.Errorf("voices %q", got)
	}
	if err := speakAs(t, s, "asha"); err != nil || !slices.Equal(e.heard(), []string{"asha@1"}) {
		t.Errorf("speaking with it: %v", err)
	}
	if c, err := s.ReadVoices(t.Context()); err != nil || len(c.Added)+len(c.Replaced)+len(c.Removed) > 0 {
		t.Errorf("read again: %+v, %v", c, err)
	}
}

func TestVoicesThatAreFixed(t *testing.T) {
	s, _, _ := open(t, 1, synthtest.Config{})
	if _, err := s.ReadVoices(t.Context()); !errors.Is(err, pipeline.ErrVoicesFixed) {
		t.Errorf("error %v", err)
	}
}

// TestAnUtteranceEndsWithTheVoiceThatItHasBegunWith changes a voice while it speaks: away, replaced, replaced and back
// again.
func TestAnUtteranceEndsWithTheVoiceThatItHasBegunWith(t *testing.T) {
	for name, tt := range map[string]struct {
		disk   [][]string // one after another
		change pipeline.VoiceChange
		freed  bool   // that it began with, in the end
		next   string // the id that the next utterance speaks with; "" for none
	}{
		"removed":           {[][]string{{"anjura"}}, pipeline.VoiceChange{Removed: []string{"raj"}}, true, ""},
		"replaced":          {[][]string{{"anjura", "raj@2"}}, pipeline.VoiceChange{Replaced: []string{"raj"}}, true, "raj@2"},
		"back again":        {[][]string{{"anjura", "raj@2"}, {"anjura", "raj"}}, pipeline.VoiceChange{Replaced: []string{"raj"}}, false, "raj"},
		"removed and back":  {[][]string{{"anjura"}, {"anjura", "raj"}}, pipeline.VoiceChange{Added: []string{"raj"}}, false, "raj"},
		"others come along": {[][]string{{"anjura", "asha@1", "raj"}}, pipeline.VoiceChange{Added: []string{"asha"}}, false, "raj"},
	} {
		t.Run(name, func(t *testing.T) {
			gate, speaking := make(chan struct{}), make(chan struct{}, 100)
			e := newChanging(synthtest.Config{Before: func(ctx context.Context, o synth.Options, frame int) error {
				if o.WarmUp || frame != 0 || o.Chunk > 0 {
					return nil
				}
				speaking <- struct{}{}
				select {
				case <-gate:
				case <-ctx.Done():
				}
				return context.Cause(ctx)
			}})
			s, _ := run(t, 2, e)
			e.heard()
			u := speech.Utterance{Text: strings.Repeat("Aapka order kal subah tak aapke ghar pahunch jayega. ", 12),
				Voice: "raj", Format: speech.PCM16}
			r := &speechtest.Recorder{}
			done := make(chan error)
			go func() {
				_, err := s.Speak(t.Context(), u, speech.Turn{}, r)
				done <- err
			}()
			<-speaking
			var c pipeline.VoiceChange
			for _, ids := range tt.disk {
				e.put(ids...)
				var err error
				if c, err = s.ReadVoices(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(c.Added, tt.change.Added) || !slices.Equal(c.Replaced, tt.change.Replaced) ||
				!slices.Equal(c.Removed, tt.change.Removed) {
				t.Errorf("changed %+v, want %+v", c, tt.change)
			}
			if !e.isLoaded("raj") {
				t.Error("the voice was freed while it spoke")
			}
			e.heard()
			close(gate)
			if err := <-done; err != nil {
				t.Errorf("the utterance: %v", err)
			}
			if got := e.heard(); len(r.Chunks) < 2 || !slices.Equal(got, []string{"raj"}) {
				t.Errorf("the rest of its %d chunks was spoken with %q", len(r.Chunks), got)
			}
			if e.isLoaded("raj") == tt.freed {
				t.Errorf("after it: loaded %v, want %v", e.isLoaded("raj"), !tt.freed)
			}
			err := speakAs(t, s, "raj")
			if got := e.heard(); tt.next == "" && err == nil || tt.next != "" && !slices.Equal(got, []string{tt.next}) {
				t.Errorf("the next one: %q, error %v, want %q", got, err, tt.next)
			}
		})
	}
}

// TestAVoiceThatComesBackStays: it was replaced while an utterance spoke with it, and is put back while that ends.
func TestAVoiceThatComesBackStays(t *testing.T) {
	for name, endsInRead := range map[string]bool{"it ends while voices are read": true,
		"it ends while another voice is warmed": false} {
		t.Run(name, func(t *testing.T) {
			gate, speaking, warming := make(chan struct{}), make(chan struct{}, 1), make(chan func(), 1)
			e := newChanging(synthtest.Config{Before: func(_ context.Context, o synth.Options, frame int) error {
				switch {
				case frame != 0 || o.Chunk > 0:
				case o.WarmUp:
					select {
					case during := <-warming:
						during()
					default:
					}
				case o.Seed == 1:
					speaking <- struct{}{}
					<-gate
				}
				return nil
			}})
			s, _ := run(t, 2, e)
			done := make(chan error)
			go func() {
				u := speech.Utterance{Text: "Namaste ji.", Voice: "raj", Format: speech.PCM16, Seed: 1}
				_, err := s.Speak(t.Context(), u, speech.Turn{}, &speechtest.Recorder{})
				done <- err
			}()
			<-speaking
			e.put("anjura", "raj@2")
			if _, err := s.ReadVoices(t.Context()); err != nil {
				t.Fatal(err)
			}
			end := func() {
				close(gate)
				if err := <-done; err != nil {
					t.Errorf("the utterance: %v", err)
				}
			}
			e.put("anjura", "asha@1", "raj")
			if endsInRead {
				e.read = end
			} else {
				warming <- end
			}
			if _, err := s.ReadVoices(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := speakAs(t, s, "raj"); err != nil || e.isLoaded("raj@2") {
				t.Errorf("speaking with it again: %v; the voice in its place is loaded: %v", err, e.isLoaded("raj@2"))
			}
		})
	}
}

// TestVoicesChangeWhenAllWorkersAreThere: a worker that is made at the start and misses a voice would end the server.
func TestVoicesChangeWhenAllWorkersAreThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newChanging(synthtest.Config{Before: func(_ context.Context, o synth.Options, frame int) error {
			if o.WarmUp && frame == 0 {
				time.Sleep(10 * time.Second)
			}
			return nil
		}})
		s, p := starting(t, 2, e)
		synctest.Wait() // it is warming the first one
		e.put("anjura")
		hurried, cancel := context.WithTimeout(t.Context(), 39*time.Second)
		defer cancel()
		if _, err := s.ReadVoices(hurried); !errors.Is(err, context.DeadlineExceeded) || len(s.Model().Voices) != 2 {
			t.Errorf("before all are there: error %v, voices %q", err, names(s.Model()))
		}
		c, err := s.ReadVoices(t.Context())
		if err != nil || !slices.Equal(c.Removed, []string{"raj"}) || e.isLoaded("raj") {
			t.Errorf("changed %+v, error %v, loaded %v", c, err, e.isLoaded("raj"))
		}
		ready, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := p.WaitReady(ready); err != nil {
			t.Errorf("%d workers are ready, want 2: %v", p.Capacity().Ready, err)
		}
	})
}

// TestWarmingWaitsItsTurn: a new voice is warmed once a worker is free, also where that takes longer than anybody may
// wait for one, and gives up when nobody waits for it any more.
func TestWarmingWaitsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		e := newChanging(synthtest.Config{Before: func(ctx context.Context, o synth.Options, _ int) error {
			if o.WarmUp {
				return nil
			}
			select {
			case <-busy:
			case <-ctx.Done():
			}
			return context.Cause(ctx)
		}})
		s, _ := run(t, 1, e)
		done := make(chan error)
		go func() { done <- speakAs(t, s, "raj") }()
		synctest.Wait()
		e.put("anjura", "asha@1", "raj")
		hurried, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := s.ReadVoices(hurried); !errors.Is(err, context.DeadlineExceeded) || e.isLoaded("asha@1") {
			t.Errorf("given up: error %v, loaded %v", err, e.isLoaded("asha@1"))
		}
		go func() {
			time.Sleep(time.Minute)
			close(busy)
		}()
		begun := time.Now()
		if _, err := s.ReadVoices(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took < time.Minute || took > time.Minute+time.Second {
			t.Errorf("it took %v, want the minute of the utterance", took)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

package pipeline_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/swar-tts/swar/runtime/pipeline"
	"github.com/swar-tts/swar/runtime/pipeline/pipelinetest"
	"github.com/swar-tts/swar/runtime/pool"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
	"github.com/swar-tts/swar/runtime/synth"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open runs a speaker over a fake engine until the test ends, and waits until it is ready.
func open(t testing.TB, workers int, cfg synthtest.Config) (*pipeline.Speaker, *synthtest.Engine, *pool.Pool) {
	t.Helper()
	engine := synthtest.NewEngine(cfg)
	s, p := run(t, workers, engine)
	return s, engine, p
}

// run is open for any engine.
func run(t testing.TB, workers int, engine synth.Engine) (*pipeline.Speaker, *pool.Pool) {
	t.Helper()
	s, p := starting(t, workers, engine)
	if err := p.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, p
}

// starting is run whose workers are being made.
func starting(t testing.TB, workers int, engine synth.Engine) (*pipeline.Speaker, *pool.Pool) {
	t.Helper()
	return pipelinetest.Start(t, engine, pool.Config{Workers: workers})
}

func TestSpeaker(t *testing.T) {
	speechtest.Run(t, func(t *testing.T) speech.Speaker {
		s, _, _ := open(t, 1, synthtest.Config{})
		return s
	})
}

func TestLimits(t *testing.T) {
	speechtest.RunLimits(t, speechtest.Limits{}, func(t *testing.T, workers int) speech.Speaker {
		return pipelinetest.Open(t, synthtest.NewEngine(synthtest.Config{BytesPerFrame: 8}), workers)
	})
}

func TestTheListenerHearsTheChunksInOrder(t *testing.T) {
	s, _, _ := open(t, 1, synthtest.Config{})
	r := &speechtest.Recorder{}
	text := strings.Repeat("Aapka order kal aayega, aur payment ho gaya hai. ", 20)
	_, err := s.Speak(t.Context(), speech.Utterance{Text: text, Voice: "raj", Format: speech.PCM16, Temperature: 1,
		Seed: 3}, speech.Turn{}, r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := synthtest.Decode(r.PCM())
	if err != nil {
		t.Fatal(err)
	}
	var want []synthtest.SpokenChunk
	for _, c := range r.Chunks {
		want = append(want, synthtest.SpokenChunk{Chunk: c.Index, Voice: "raj", Text: c.Text})
	}
	if len(want) < 3 || !slices.Equal(got, want) {
		t.Errorf("heard %+v, want %+v", got, want)
	}
}

func TestTimesAreExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := open(t, 1, synthtest.Config{Before: func(_ context.Context, _ synth.Options, frame int) error {
			if frame < 0 {
				time.Sleep(20 * time.Millisecond)
			} else {
				time.Sleep(10 * time.Millisecond)
			}
			return nil
		}})
		r := &speechtest.Recorder{OnAudio: func(speech.Audio) error {
			time.Sleep(time.Second) // a slow reader is not slow synthesis
			return nil
		}}
		st, err := s.Speak(t.Context(), speech.Utterance{Text: "namaste dosto", Voice: "anjura", Format: speech.PCM16,
			Raw: true}, speech.Turn{}, r)
		if err != nil {
			t.Fatal(err)
		}
		// 13 bytes are two frames: one at once, then the rest.
		want := speech.Stats{
			Started: true, Chars: 13, Chunks: 1, Frames: 2, TTFA: 30 * time.Millisecond, Synth: 40 * time.Millisecond,
			Wall: 2*time.Second + 40*time.Millisecond,
		}
		if st != want {
			t.Errorf("stats = %+v, want %+v", st, want)
		}
		if b := r.Blocks[0]; b.Prefill != 20*time.Millisecond || b.FirstFrame != 10*time.Millisecond {
			t.Errorf("first block: prefill %v, first frame %v; want 20 ms and 10 ms", b.Prefill, b.FirstFrame)
		}
		if got, want := st.RTF(), .040/.160; got != want {
			t.Errorf("RTF = %v, want %v", got, want)
		}
	})
}

func TestTheDeadlineIsTheCallers(t *testing.T) {
	tests := map[string]struct {
		perFrame time.Duration
		want     error
	}{
		"one frame before 120 s": {59999 * time.Millisecond, nil},
		"after 120 s":            {60001 * time.Millisecond, speech.ErrTimeout},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				warm := true
				s, _, _ := open(t, 1, synthtest.Config{Before: func(ctx context.Context, _ synth.Options,
					frame int) error {
					if warm || frame < 0 {
						return nil
					}
					select {
					case <-time.After(tt.perFrame):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}})
				warm = false
				begin := time.Now()
				ctx, cancel := context.WithTimeoutCause(t.Context(), speech.UtteranceTimeout, speech.ErrTimeout)
				defer cancel()
				u := speech.Utterance{Text: "namaste dosto", Voice: "raj", Format: speech.PCM16, Raw: true}
				st, err := s.Speak(ctx, u, speech.Turn{}, &speechtest.Recorder{})
				if !errors.Is(err, tt.want) {
					t.Errorf("Speak = %v, want %v", err, tt.want)
				}
				if tt.want != nil && (time.Since(begin) != 120*time.Second || st.Frames != 1) {
					t.Errorf("ended after %v with %d frames, want 120 s and the one that was decoded",
						time.Since(begin), st.Frames)
				}
			})
		})
	}
}

func TestEngineFailures(t *testing.T) {
	boom := errors.New("tensor of 7 dimensions")
	fail := func(at int, err error) func(context.Context, synth.Options, int) error {
		return func(_ context.Context, o synth.Options, frame int) error {
			if strings.HasPrefix(o.Text, "fail") && frame == at {
				return err
			}
			return nil
		}
	}
	tests := map[string]struct {
		at        int
		err       error
		want      error
		frames    int
		discarded bool
	}{
		"in the prefill":                        {-1, boom, boom, 0, false},
		"before the first frame":                {0, boom, boom, 0, false},
		"inside a group":                        {3, boom, boom, 3, false},
		"an engine error keeps its public text": {1, &speech.EngineError{Text: "model file changed", Err: boom}, boom, 1, false},
		"a dead worker is replaced":             {2, speech.ErrWorkerGone, speech.ErrWorkerGone, 2, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			made := 0
			s, engine, p := open(t, 1, synthtest.Config{
				BytesPerFrame: 4, Before: fail(tt.at, tt.err),
				OnNewWorker: func(context.Context) error { made++; return nil },
			})
			u := speech.Utterance{Text: "fail " + strings.Repeat("bolo ", 5), Voice: "raj",
				Format: speech.PCM16, Raw: true}
			r := &speechtest.Recorder{}
			st, err := s.Speak(t.Context(), u, speech.Turn{}, r)
			if !errors.Is(err, tt.want) || st.Frames != tt.frames {
				t.Errorf("Speak = %d frames, %v; want %d, %v", st.Frames, err, tt.frames, tt.want)
			}
			if e, ok := errors.AsType[*speech.EngineError](err); ok == tt.discarded ||
				ok && strings.Contains(e.Text, "tensor") {
				t.Errorf("error %#v: want an engine error with a public text", err)
			}
			if err := p.WaitReady(t.Context()); err != nil {
				t.Fatal(err)
			}
			if c := s.Capacity(); c.Busy != 0 || engine.Workers() != 1 {
				t.Errorf("capacity %+v with %d workers open, want one free worker", c, engine.Workers())
			}
			if got := made == 2; got != tt.discarded {
				t.Errorf("%d workers made, want a new one: %v", made, tt.discarded)
			}
		})
	}
}

func TestChunkLimit(t *testing.T) {
	s, _, _ := open(t, 1, synthtest.Config{BytesPerFrame: 4096})
	word := strings.Repeat("क", 198) + "। " // 50 of the fake engine's tokens: a chunk
	for chunks, want := range map[int]error{63: nil, 64: nil, 65: speech.TooManyChunks(65)} {
		r := &speechtest.Recorder{}
		_, err := s.Speak(t.Context(), speech.Utterance{Text: strings.Repeat(word, chunks), Voice: "raj",
			Format: speech.PCM16, Raw: true}, speech.Turn{}, r)
		if !errors.Is(err, want) {
			t.Errorf("%d chunks: %v, want %v", chunks, err, want)
		}
		if want == nil && len(r.Chunks) != chunks {
			t.Errorf("split into %d chunks, want %d", len(r.Chunks), chunks)
		}
		if want != nil && err.Error() != "text splits into 65 chunks; max 64" {
			t.Errorf("refused with %q", err)
		}
	}
}

// TestADisclosureCountsToTheChunks: its chunks are among the 64, and one that no chunk can hold has several.
func TestADisclosureCountsToTheChunks(t *testing.T) {
	s, _, _ := open(t, 1, synthtest.Config{BytesPerFrame: 4096})
	word := strings.Repeat("क", 198) + "। "
	for chunks, want := range map[int]error{61: nil, 62: nil, 63: speech.TooManyChunks(65)} {
		r := &speechtest.Recorder{}
		_, err := s.Speak(t.Context(), speech.Utterance{
			Disclosure: word + word, Text: strings.Repeat(word, chunks), Voice: "raj", Format: speech.PCM16, Raw: true,
		}, speech.Turn{}, r)
		if !errors.Is(err, want) || want != nil && err.Error() != want.Error() {
			t.Errorf("%d chunks behind two: %v, want %v", chunks, err, want)
		}
		if want == nil && len(r.Chunks) != chunks+2 {
			t.Errorf("split into %d chunks, want %d", len(r.Chunks), chunks+2)
		}
	}
}

// TestADisclosureIsFoundInTheCache: it and the text are prepared once, whatever stands beside them.
func TestADisclosureIsFoundInTheCache(t *testing.T) {
	s, _, _ := open(t, 1, synthtest.Config{})
	say := func(disclosure, text string) (cached []bool) {
		r := &speechtest.Recorder{}
		u := speech.Utterance{Disclosure: disclosure, Text: text, Voice: "raj", Format: speech.PCM16}
		if _, err := s.Speak(t.Context(), u, speech.Turn{}, r); err != nil {
			t.Fatal(err)
		}
		for _, e := range r.Ends {
			cached = append(cached, e.PrefillCached)
		}
		return cached
	}
	for _, tt := range []struct {
		name, disclosure, text string
		want                   []bool
	}{
		{"both are new", "Yeh AI ki awaaz hai.", "Namaste.", []bool{false, false}},
		{"another text", "Yeh AI ki awaaz hai.", "Phir milenge.", []bool{true, false}},
		{"a text that was spoken before", "Yeh AI ki awaaz hai.", "Namaste.", []bool{true, true}},
		{"without it", "", "Namaste.", []bool{true}},
	} {
		if got := say(tt.disclosure, tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%s: cached %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestAChunkCutAtItsFrameLimitSaysSo(t *testing.T) {
	s, _, _ := open(t, 1, synthtest.Config{BytesPerFrame: 4, MaxFrames: 3})
	r := &speechtest.Recorder{}
	u := speech.Utterance{Text: "ek do teen chaar", Voice: "raj", Format: speech.PCM16, Raw: true}
	if _, err := s.Speak(t.Context(), u, speech.Turn{}, r); err != nil {
		t.Fatal(err)
	}
	if e := r.Ends[0]; e.EOS || e.Frames != 3 {
		t.Errorf("chunk end %+v, want three frames and no end of speech", e)
	}
}

func TestNoCapacityIsRefusedUntouched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		blocked := false
		s, _, _ := open(t, 1, synthtest.Config{Before: func(_ context.Context, _ synth.Options, frame int) error {
			if blocked && frame == 1 {
				<-gate
			}
			return nil
		}})
		blocked = true
		u := speech.Utterance{Text: "ek lamba vaakya bolna hai", Voice: "raj", Format: speech.PCM16, Raw: true}
		done := make(chan error)
		go func() {
			_, err := s.Speak(t.Context(), u, speech.Turn{}, &speechtest.Recorder{})
			done <- err
		}()
		synctest.Wait()
		r := &speechtest.Recorder{}
		st, err := s.Speak(t.Context(), u, speech.Turn{}, r)
		if !errors.Is(err, speech.ErrBusy) || st.Started || len(r.Started) != 0 || st.Wall != 1950*time.Millisecond {
			t.Errorf("Speak = %+v, %v; want busy after 1.95 s and nothing started", st, err)
		}
		earlier := speech.Turn{QueuedSince: time.Now().Add(-time.Second)}
		if st, err := s.Speak(t.Context(), u, earlier, r); !errors.Is(err, speech.ErrBusy) ||
			st.Wall != 950*time.Millisecond {
			t.Errorf("Speak = %+v, %v; want busy 1.95 s after the utterance was asked for", st, err)
		}
		close(gate)
		if err := <-done; err != nil {
			t.Errorf("the running utterance was cut: %v", err)
		}
	})
}

func TestLeadingSilence(t *testing.T) {
	s, _, _ := open(t, 1, synthtest.Config{})
	st, err := s.Speak(t.Context(), speech.Utterance{Text: "bolo", Voice: "raj", Format: speech.PCM16, Raw: true},
		speech.Turn{}, &speechtest.Recorder{})
	if err != nil || st.LeadingSilence != 0 {
		t.Errorf("leading silence = %v, %v; want none: a fake frame begins with its mark", st.LeadingSilence, err)
	}
}

func BenchmarkSpeak(b *testing.B) {
	s, _, _ := open(b, 1, synthtest.Config{})
	for _, format := range []speech.Format{speech.PCM16, speech.Opus} {
		b.Run(string(format), func(b *testing.B) {
			u := speech.Utterance{Text: "Namaste! Aapka order kal tak deliver ho jayega, total ₹499 hai.",
				Voice: "anjura", Format: format, Temperature: .3}
			frames := 0
			b.ReportAllocs()
			for b.Loop() {
				st, err := s.Speak(b.Context(), u, speech.Turn{}, discard{})
				if err != nil {
					b.Fatal(err)
				}
				frames += st.Frames
			}
			b.ReportMetric(float64(frames)/float64(b.N), "frames/op")
		})
	}
}

type discard struct{}

func (discard) Start(speech.Start) error       { return nil }
func (discard) ChunkStart(speech.Chunk) error  { return nil }
func (discard) Audio(speech.Audio) error       { return nil }
func (discard) ChunkEnd(speech.ChunkEnd) error { return nil }

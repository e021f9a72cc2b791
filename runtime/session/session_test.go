package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/swar-tts/swar/runtime/speech"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// voice is a speaker that needs a second for each sentence, of so many frames.
type voice struct {
	frames int
	fail   func(u speech.Utterance) error

	mu    sync.Mutex
	said  []speech.Utterance
	turns []speech.Turn
	kept  []bool // what More said at each end
}

func (v *voice) Speak(
	ctx context.Context, u speech.Utterance, turn speech.Turn, sink speech.Sink,
) (st speech.Stats, err error) {
	v.mu.Lock()
	v.said, v.turns = append(v.said, u), append(v.turns, turn)
	v.mu.Unlock()
	if v.fail != nil {
		if err := v.fail(u); err != nil {
			return st, err
		}
	}
	text := strings.TrimSpace(u.Disclosure + " " + u.Text)
	st = speech.Stats{Started: true, Chars: utf8.RuneCountInString(text), Queue: time.Millisecond,
		TTFA: 2 * time.Millisecond}
	err = errors.Join(
		sink.Start(speech.Start{Voice: u.Voice, Chunks: 1, Normalized: text, Disclosure: u.Disclosure,
			Queue: st.Queue}),
		sink.ChunkStart(speech.Chunk{Text: text, Tokens: 1, CharEnd: st.Chars}))
	for range v.frames {
		if err != nil {
			return st, err
		}
		st.Frames++
		err = sink.Audio(speech.Audio{Frames: 1, Data: make([]byte, speech.FrameBytes), Prefill: 1, FirstFrame: 1})
		select {
		case <-time.After(time.Second / time.Duration(v.frames)):
		case <-ctx.Done():
			return st, context.Cause(ctx)
		}
	}
	st.Chunks = 1
	v.mu.Lock()
	v.kept = append(v.kept, turn.More())
	v.mu.Unlock()
	return st, errors.Join(err, sink.ChunkEnd(speech.ChunkEnd{Frames: v.frames, EOS: true, Words: []speech.Word{
		{Text: "x", CharStart: 0, CharEnd: 1, Start: 10 * time.Millisecond, End: time.Hour},
	}}))
}

func (v *voice) texts() (all []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, u := range v.said {
		all = append(all, u.Text)
	}
	return all
}

// timesOf is a sink that writes down what comes.
type heard struct {
	mu     sync.Mutex
	events []string
	starts []speech.Start
	frames int
	words  []speech.Word
	source []speech.Word
	first  []bool
	begin  time.Time
	began  []time.Duration // of chunks
}

func (h *heard) note(format string, args ...any) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, fmt.Sprintf(format, args...))
	return nil
}

func (h *heard) Start(s speech.Start) error { h.starts = append(h.starts, s); return h.note("start") }
func (h *heard) ChunkStart(c speech.Chunk) error {
	h.began = append(h.began, time.Since(h.begin))
	return h.note("chunk %d %d-%d", c.Index, c.CharStart, c.CharEnd)
}
func (h *heard) Audio(a speech.Audio) error {
	h.frames += a.Frames
	h.first = append(h.first, a.Prefill > 0)
	return nil
}
func (h *heard) ChunkEnd(e speech.ChunkEnd) error {
	h.words = append(h.words, e.Words...)
	return h.note("chunk_end %d", e.Chunk)
}
func (h *heard) Source(words []speech.Word) error {
	h.source = append(h.source, words...)
	return nil
}
func (h *heard) Flushed(f Flushed) error { return h.note("flushed %v %d %d", f.Tag, f.Frames, f.Chars) }

func (h *heard) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.events)
}

// talk is a session whose turn is being spoken.
type talk struct {
	*Session
	voice *voice
	sink  *heard
	done  chan struct{}
	stats speech.Stats
	err   error
}

func start(ctx context.Context, v *voice, change func(*Config)) *talk {
	cfg := Config{Speak: v.Speak, Group: "g", Utterance: speech.Utterance{Voice: "anjura"}}
	if change != nil {
		change(&cfg)
	}
	t := &talk{Session: New(cfg), voice: v}
	t.turn(ctx)
	return t
}

func (t *talk) turn(ctx context.Context) {
	t.sink, t.done = &heard{begin: time.Now()}, make(chan struct{})
	go func() {
		defer close(t.done)
		t.stats, t.err = t.Speak(ctx, t.sink)
	}()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestEventsAreThoseOfOneUtterance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t.Context(), &voice{frames: 10}, func(c *Config) { c.Utterance.Disclosure = "Main AI hoon." })
		for _, token := range []string{"Namaste", " ji", " kaise", " ho", "? ", "Main", " theek", " hoon", "."} {
			must(t, s.Append(token, Exact))
		}
		s.Flush("a")
		s.Flush("b")
		must(t, s.Append("Kal milte hain.", Exact))
		s.Finish()
		<-s.done
		must(t, s.err)
		want := []string{
			"start", "chunk 0 0-34", "chunk_end 0", "chunk 1 35-51", "chunk_end 1", "flushed a 20 51", "flushed b 20 51",
			"chunk 2 52-67", "chunk_end 2",
		}
		if got := s.sink.all(); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		st := s.stats
		if st.Frames != 30 || st.Chunks != 3 || st.Chars != 67 || !st.Started || st.Queue != time.Millisecond ||
			st.Wall != 3*time.Second {
			t.Errorf("stats %+v", st)
		}
		if got := s.voice.said; got[0].Disclosure == "" || got[1].Disclosure != "" || got[2].Disclosure != "" {
			t.Errorf("the disclosure is spoken with %+v", got)
		}
		if n := slices.Index(s.sink.first, false); n != 1 || slices.Contains(s.sink.first[1:], true) {
			t.Errorf("the first block is marked as %v", s.sink.first)
		}
		var last time.Duration
		for i, w := range s.sink.words {
			audio := time.Duration(10*(i+1)) * speech.FrameDuration
			if w.Start < last || w.End > audio || w.End < w.Start {
				t.Errorf("word %d is heard from %v to %v, after %v of %v", i, w.Start, w.End, last, audio)
			}
			last = w.End
		}
		if s.Append("x", Exact) != ErrFinished || !s.Done() {
			t.Error("it goes on after its end")
		}
	})
}

func TestASentenceIsSpokenAsSoonAsItIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t.Context(), &voice{frames: 1}, nil)
		must(t, s.Append("Aap kaise hain? Main", Exact))
		synctest.Wait()
		if got := s.voice.texts(); !slices.Equal(got, []string{"Aap kaise hain?"}) {
			t.Fatalf("spoken at once: %q", got)
		}
		time.Sleep(5 * time.Second)
		must(t, s.Append(" theek hoon.", Exact))
		time.Sleep(249 * time.Millisecond)
		synctest.Wait()
		if n := len(s.voice.texts()); n != 1 {
			t.Fatal("what may go on was spoken before 250 ms")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if n := len(s.voice.texts()); n != 2 {
			t.Fatal("what has ended was not spoken after 250 ms")
		}
		s.Finish()
		<-s.done
	})
}

func TestWhoHasBeenHeardComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t.Context(), &voice{frames: 1}, func(c *Config) { c.More = func() bool { return true } })
		begin := time.Now()
		must(t, s.Append("Aap kaise hain? Main theek hoon. ", Exact))
		time.Sleep(time.Minute)
		must(t, s.Append("Kal milte hain.", Exact))
		s.Finish()
		<-s.done
		turns := s.voice.turns
		if !turns[0].StartedAt.IsZero() || turns[1].StartedAt != begin || turns[2].StartedAt != begin ||
			turns[2].QueuedSince != begin.Add(time.Minute) {
			t.Errorf("turns %+v", turns)
		}
		if got, want := s.voice.kept, []bool{true, false, true}; !slices.Equal(got, want) {
			t.Errorf("the worker is kept: %v, want %v: not while nothing comes, and for another turn at the end",
				got, want)
		}
	})
}

func TestCancelStopsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t.Context(), &voice{frames: 10}, nil)
		must(t, s.Append("Aap kaise hain? Main theek hoon. ", Exact))
		s.Flush("a")
		time.Sleep(1550 * time.Millisecond)
		s.Cancel()
		<-s.done
		if !errors.Is(s.err, ErrCancelled) || s.stats.Frames != 16 || s.stats.Chunks != 1 {
			t.Errorf("%+v, %v", s.stats, s.err)
		}
		if got := s.sink.all(); slices.ContainsFunc(got,
			func(e string) bool { return strings.HasPrefix(e, "flushed") }) {
			t.Errorf("a flush that was overtaken is answered: %q", got)
		}
		must(t, s.Append("Kal milte hain. ", Exact)) // it may be fed again
		s.turn(t.Context())
		s.Finish()
		<-s.done
		must(t, s.err)
		if s.stats.Frames != 10 || s.sink.all()[1] != "chunk 0 0-15" {
			t.Errorf("%+v %q", s.stats, s.sink.all())
		}
	})
	synctest.Test(t, func(t *testing.T) { // between turns, and before the next is spoken
		s := New(Config{Speak: (&voice{frames: 1}).Speak})
		s.Cancel()
		must(t, s.Append("Kal milte hain. ", Exact))
		s.Finish()
		sink := &heard{}
		if _, err := s.Speak(t.Context(), sink); !errors.Is(err, ErrCancelled) {
			t.Errorf("the cancel is not answered: %v", err)
		}
		if _, err := s.Speak(t.Context(), sink); err != nil || sink.frames != 1 {
			t.Errorf("what was fed after it: %d frames, %v", sink.frames, err)
		}
	})
}

func TestAFlushMayEndTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		s := start(t.Context(), &voice{frames: 1}, func(c *Config) {
			c.FlushEnds = true
			c.Disclose = func(context.Context) (string, error) { asked++; return "AI.", nil }
		})
		for _, text := range []string{"Aap kaise", "Main theek hoon.", ""} {
			must(t, s.Append(text, Exact))
			s.Flush("x")
		}
		s.Finish()
		for turn := range 4 {
			<-s.done
			must(t, s.err)
			want := "flushed x 1 "
			if turn == 2 {
				want = "flushed x 0 0"
			}
			if got := s.sink.all(); turn < 3 && !strings.HasPrefix(got[len(got)-1], want) {
				t.Errorf("turn %d: %q", turn, got)
			}
			if over := s.Done(); over != (turn == 3) {
				t.Errorf("turn %d: over is %v", turn, over)
			}
			s.turn(t.Context())
		}
		<-s.done
		if s.err != nil || len(s.sink.all()) > 0 || asked != 2 {
			t.Errorf("after its end: %v %q; asked %d times", s.err, s.sink.all(), asked)
		}
	})
}

func TestTheLeadIsThirtySeconds(t *testing.T) {
	text := strings.Repeat("Aap kaise hain? ", 20)
	tests := []struct {
		name     string
		realTime bool
		takes    bool
		speed    float64
		want     int // sentences of 10 s begun within 60 s
	}{
		{"nobody takes anything", false, false, 1, 3},
		{"it is taken as it comes", false, true, 1, 20},
		{"it is taken, and sounds", true, true, 1, 9},
		{"it is taken, and sounds in half of the time", true, true, 2, 18},
		{"it is taken, and sounds slowly", true, true, .5, 5},
		{"it sounds, though nobody takes it", true, false, 1, 3},
		{"nobody takes anything of half the length", false, false, 2, 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				s := start(ctx, &voice{frames: 125}, func(c *Config) { c.RealTime, c.Speed = tt.realTime, tt.speed })
				must(t, s.Append(text, Exact))
				for range 600 {
					time.Sleep(100 * time.Millisecond)
					synctest.Wait()
					if tt.takes {
						s.mu.Lock()
						n := s.lead.waiting
						s.mu.Unlock()
						s.Taken(n)
					}
				}
				if got := len(s.voice.texts()); got != tt.want {
					t.Errorf("%d sentences, want %d", got, tt.want)
				}
				if !tt.takes { // one frame less than the lead is enough
					s.Taken(1)
					synctest.Wait()
					if got := len(s.voice.texts()); got != tt.want+1 && !tt.realTime {
						t.Errorf("%d sentences after a frame was taken, want %d", got, tt.want+1)
					}
				}
				stop()
				<-s.done
			})
		})
	}
}

func TestNothingToSayIsPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(u speech.Utterance) error {
			if strings.ContainsAny(u.Text, "abcdefghijklmnopqrstuvwxyz") {
				return nil
			}
			return speech.ErrNothingToSay
		}
		s := start(t.Context(), &voice{frames: 1, fail: silent}, func(c *Config) { c.Utterance.Disclosure = "AI." })
		must(t, s.Append("!!!\n---\nAap kaise hain?\n***\n", Exact))
		s.Flush("a")
		s.Finish()
		<-s.done
		must(t, s.err)
		if got, want := s.sink.all(), []string{"start", "chunk 0 0-27", "chunk_end 0",
			"flushed a 1 27"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		s = start(t.Context(), &voice{frames: 1, fail: silent}, nil)
		must(t, s.Append(" … ", Exact))
		s.Finish()
		<-s.done
		if s.err != nil || s.stats.Started || len(s.sink.all()) != 0 {
			t.Errorf("a turn without a word: %+v %q %v", s.stats, s.sink.all(), s.err)
		}
	})
}

func TestAFailureEndsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t.Context(), &voice{frames: 1, fail: func(u speech.Utterance) error {
			if u.Text == "Main theek hoon." {
				return speech.ErrBusy
			}
			return nil
		}}, nil)
		must(t, s.Append("Aap kaise hain? Main theek hoon. Kal milte hain. ", Exact))
		<-s.done
		if !errors.Is(s.err, speech.ErrBusy) || s.stats.Frames != 1 {
			t.Errorf("%+v %v", s.stats, s.err)
		}
		s.turn(t.Context()) // what had not been spoken is gone
		must(t, s.Append("Haan ji bolo. ", Exact))
		s.Finish()
		<-s.done
		if got := s.voice.texts(); s.err != nil || got[len(got)-1] != "Haan ji bolo." || len(got) != 3 {
			t.Errorf("%q %v", got, s.err)
		}
	})
}

func TestTheContextEndsTheTurn(t *testing.T) {
	for _, text := range []string{"", "Aap kaise", "Aap kaise hain? "} {
		synctest.Test(t, func(t *testing.T) {
			gone := errors.New("gone")
			ctx, stop := context.WithCancelCause(t.Context())
			s := start(ctx, &voice{frames: 10}, nil)
			must(t, s.Append(text, Exact))
			time.Sleep(350 * time.Millisecond)
			stop(gone)
			<-s.done
			if !errors.Is(s.err, gone) {
				t.Errorf("%q: %v", text, s.err)
			}
		})
	}
}

func TestASentenceMayTakeTwoMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := func(ctx context.Context, _ speech.Utterance, _ speech.Turn, _ speech.Sink) (speech.Stats, error) {
			<-ctx.Done()
			return speech.Stats{}, context.Cause(ctx)
		}
		s := start(t.Context(), &voice{}, func(c *Config) { c.Speak = stuck })
		time.Sleep(10 * time.Minute) // silence costs nothing
		begin := time.Now()
		must(t, s.Append("Aap kaise hain? ", Exact))
		<-s.done
		if !errors.Is(s.err, speech.ErrTimeout) || time.Since(begin) != speech.UtteranceTimeout {
			t.Errorf("%v after %v", s.err, time.Since(begin))
		}
	})
}

func TestTheSessionHasLimits(t *testing.T) {
	for n, want := range map[int]error{9: nil, 10: nil, 11: speech.ErrTextTooLong} {
		s := New(Config{MaxChars: 12, Utterance: speech.Utterance{Disclosure: "AI"}})
		var err error
		for range n - 1 { // white space in front does not count, and at the end only when something follows
			err = errors.Join(err, s.Append("थ", Exact))
		}
		err = errors.Join(err, s.Append("थ   ", Exact))
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%d code points: %v, want %v", n, err, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		for n, want := range map[int]error{1: nil, 2: nil, 3: speech.TooManyChunks(3)} {
			s := start(t.Context(), &voice{frames: 1}, func(c *Config) { c.MaxChunks = 2 })
			must(t, s.Append(strings.Repeat("Aap kaise hain? ", n), Exact))
			s.Finish()
			<-s.done
			if !errors.Is(s.err, want) {
				t.Errorf("%d chunks: %v, want %v", n, s.err, want)
			}
		}
	})
	s := New(Config{})
	for text, want := range map[string]error{"a\x00b": speech.ErrTextNUL, "a\xffb": speech.ErrTextNotUTF8,
		"a\x07b": nil} {
		if err := s.Append(text, Exact); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	if s.feed.cut.text != "a b" {
		t.Errorf("control characters: %q", s.feed.cut.text)
	}
}

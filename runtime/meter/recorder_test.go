package meter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/speech/speechtest"
)

var grant = access.Grant{OrgID: "org_a", ProjectID: "prj_a", KeyID: "key_a", KeyPrefix: "swar_live_abcdef",
	Playground: true}

var asked = speech.Utterance{RequestID: "req-1", Voice: "raj", Format: speech.WAV, Seed: 7}

var audio = []byte("audio")

// play speaks frames into s as a speaker does, one frame and then groups of four, and has a client take all but unread
// of them.
func play(s *Stream, frames, unread int) error {
	if err := s.Start(speech.Start{Normalized: "नमस्ते", Queue: 3 * time.Millisecond}); err != nil {
		return err
	}
	if err := s.ChunkStart(speech.Chunk{}); err != nil {
		return err
	}
	for n := 0; n < frames; {
		group := min(4, frames-n)
		if n == 0 {
			group = 1
		}
		if err := s.Audio(speech.Audio{Frames: group, Data: audio, Prefill: 20 * time.Millisecond,
			FirstFrame: 11 * time.Millisecond}); err != nil {
			return err
		}
		s.Taken(max(min(group, frames-unread-n), 0))
		n += group
	}
	if err := s.Audio(speech.Audio{Data: audio}); err != nil { // the end of the container
		return err
	}
	return s.ChunkEnd(speech.ChunkEnd{Frames: frames, PrefillCached: true, EOS: true})
}

func statsOf(frames int) speech.Stats {
	return speech.Stats{
		Started: true, Chars: 6, Chunks: 1, Frames: frames, Queue: 3 * time.Millisecond, TTFA: 31 * time.Millisecond,
		Synth: time.Second,
		Wall:  2 * time.Second, PrefillCached: true,
	}
}

func TestAStreamLeavesEvents(t *testing.T) {
	tests := map[string]struct {
		played, unread, decoded int
		err                     error
		want                    string // frames/billed of each event, then how it ended
		paid                    int64  // frames, all in all
	}{
		"a short one":                   {1, 0, 1, nil, "1/1 ok ", 1},
		"without a frame":               {0, 0, 0, context.Canceled, "0/0 cancelled ", 0},
		"a frame less than ten seconds": {124, 0, 124, nil, "124/124 ok ", 124},
		"ten seconds":                   {125, 0, 125, nil, "125/125 0/0 ok ", 125},
		"a frame more":                  {126, 0, 126, nil, "125/125 1/1 ok ", 126},
		"a minute": {750, 0, 750, nil,
			"125/125 128/128 128/128 128/128 128/128 113/113 ok ", 750},
		"a minute of which 10 s were taken": {750, 625, 750, nil, "125/125 625/625 ok ", 750},
		"a minute of which less was taken":  {750, 626, 750, nil, "750/750 ok ", 750},
		"cancelled, with a frame decoded beyond": {130, 0, 131, fmt.Errorf("cancel message: %w", context.Canceled),
			"125/125 6/6 cancelled ", 131},
		"the client left": {3, 0, 3, fmt.Errorf("%w: reset", speech.ErrClientGone),
			"3/3 cancelled client disconnected", 3},
		"the client left most of it unread": {300, 290, 300, speech.ErrClientGone,
			"300/300 cancelled client disconnected", 300},
		"the client was slow": {3, 0, 3, speech.ErrClientSlow, "3/3 cancelled client too slow", 3},
		"the key was revoked": {3, 0, 3, access.ErrInvalidKey, "3/3 cancelled invalid api key", 3},
		"time ran out":        {130, 0, 130, speech.ErrTimeout, "125/125 5/-125 timeout timeout", 0},
		"time ran out for the client": {300, 40, 300, speech.ErrUnreadAudio,
			"125/125 128/128 47/7 timeout timeout: audio was waiting for the client", 260},
		"time ran out before the client began": {300, 300, 300, speech.ErrUnreadAudio,
			"300/0 timeout timeout: audio was waiting for the client", 0},
		"the engine failed": {
			260, 0, 261, &speech.EngineError{Text: "model file changed", Err: errors.New("secret path")},
			"125/125 128/128 8/-253 error model file changed", 0,
		},
		"the engine cancelled something": {5, 0, 5, &speech.EngineError{Err: context.Canceled},
			"5/0 error engine error", 0},
		"the worker died": {5, 0, 5, fmt.Errorf("frame 5: %w", speech.ErrWorkerGone),
			"5/0 error worker gone", 0},
		"the server went away": {5, 0, 5, speech.ErrDraining, "5/0 error draining", 0},
		"nobody knows why":     {5, 0, 5, errors.New("secret path"), "5/0 error engine error", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := openLog(t, LogConfig{Folder: t.TempDir()})
			defer l.Close()
			r := &speechtest.Recorder{}
			s := NewRecorder(l).Begin(grant, "rest", asked, r)
			if err := play(s, tt.played, tt.unread); err != nil {
				t.Fatal(err)
			}
			s.End(statsOf(tt.decoded), tt.err)
			sync1(t, l)
			events := readAll(t, l, 1)
			var got strings.Builder
			var sum int64
			for i, e := range events {
				fmt.Fprintf(&got, "%d/%d ", e.Frames, e.Billed)
				sum += e.Billed
				last := i == len(events)-1
				if e.ID != events[0].ID || e.Start != events[0].Start || e.Date != DateOf(e.Start) {
					t.Errorf("event %d of %d is of another utterance: %+v", i+1, len(events), e)
				}
				if (e.Kind == Final) != last || !last && e.Status != "" {
					t.Errorf("event %d of %d: %+v", i+1, len(events), e)
				}
			}
			last := events[len(events)-1]
			fmt.Fprintf(&got, "%s %s", last.Status, last.Error)
			if got.String() != tt.want {
				t.Errorf("left %q, want %q", got.String(), tt.want)
			}
			if sum != tt.paid {
				t.Errorf("all in all %d frames are billed, want %d", sum, tt.paid)
			}
			want := Event{
				ID: last.ID, Seq: last.Seq, Kind: Final, Start: last.Start, At: last.At, Date: last.Date,
				OrgID: "org_a", ProjectID: "prj_a", KeyID: "key_a",
				KeyPrefix: "swar_live_abcdef", Playground: true, RequestID: "req-1", Endpoint: "rest", Voice: "raj",
				Format: "wav",
				Status: last.Status, Error: last.Error, Frames: last.Frames, Billed: last.Billed, Chars: 6, Chunks: 1,
				TTFAus: 31_000, Queueus: 3000,
				Wallus: 2_000_000, Synthus: 1_000_000, PrefillCached: true, Seed: 7,
			}
			if last != want {
				t.Errorf("ended by %+v\nwant     %+v", last, want)
			}
			if heard := len(r.Blocks); heard == 0 {
				t.Error("the sink heard nothing")
			}
		})
	}
}

func TestAStreamEndsAfterAPanicToo(t *testing.T) {
	l := openLog(t, LogConfig{Folder: t.TempDir()})
	defer l.Close()
	s := NewRecorder(l).Begin(grant, "ws", asked, &speechtest.Recorder{})
	if err := play(s, 130, 0); err != nil {
		t.Fatal(err)
	}
	s.End(speech.Stats{}, errors.New("panic"))
	sync1(t, l)
	var frames, billed int64
	events := readAll(t, l, 1)
	for _, e := range events {
		frames, billed = frames+e.Frames, billed+e.Billed
	}
	if frames != 130 || billed != 0 {
		t.Errorf("%d frames, %d of them billed; want 130 and 0", frames, billed)
	}
	if last := events[len(events)-1]; last.Kind != Final || last.Status != Failed || last.Chars != 6 {
		t.Errorf("ended by %+v, want an error", last)
	}
}

func TestWhatLeavesNoEvent(t *testing.T) {
	l := openLog(t, LogConfig{Folder: t.TempDir()})
	defer l.Close()
	static := access.Grant{KeyID: "static_1"}
	for name, tt := range map[string]struct {
		r     *Recorder
		grant access.Grant
		st    speech.Stats
		err   error
	}{
		"a refusal":             {NewRecorder(l), grant, speech.Stats{Chars: 5}, speech.ErrBusy},
		"a refusal by the sink": {NewRecorder(l), grant, speech.Stats{Started: true, Chars: 5}, speech.ErrBusy},
		"a key without a payer": {NewRecorder(l), static, statsOf(200), nil},
		"no recorder":           {nil, grant, statsOf(200), nil},
	} {
		s := tt.r.Begin(tt.grant, "ws", asked, &speechtest.Recorder{})
		if tt.st.Frames > 0 {
			if err := play(s, 200, 0); err != nil {
				t.Fatal(err)
			}
		}
		s.End(tt.st, tt.err)
		if got := l.Backlog(); got != (Backlog{}) {
			t.Errorf("%s: left %+v", name, got)
		}
	}
}

func TestASinkThatFailsIsHeard(t *testing.T) {
	l := openLog(t, LogConfig{Folder: t.TempDir()})
	defer l.Close()
	r := &speechtest.Recorder{OnAudio: func(speech.Audio) error { return speech.ErrClientGone }}
	s := NewRecorder(l).Begin(grant, "ws", asked, r)
	err := play(s, 9, 0)
	if !errors.Is(err, speech.ErrClientGone) {
		t.Fatalf("play = %v, want the sink's error", err)
	}
	s.End(statsOf(1), err)
	s.End(statsOf(1), err) // a second end is none
	sync1(t, l)
	if got := readAll(t, l, 1); len(got) != 1 || got[0].Billed != 1 {
		t.Errorf("left %+v, want one event with one frame", got)
	}
}

func TestAStreamBelongsToTheDayOfItsStart(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := openLog(t, LogConfig{Folder: folder})
		defer l.Close()
		midnight := time.Date(2000, 1, 1, 18, 30, 0, 0, time.UTC) // in India
		time.Sleep(time.Until(midnight.Add(-time.Second)))
		for _, want := range []string{"2000-01-01", "2000-01-02"} {
			s := NewRecorder(l).Begin(grant, "ws", asked, &speechtest.Recorder{})
			if err := play(s, 1, 0); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			s.End(statsOf(1), nil)
			if s.event.Date != want {
				t.Errorf("the day of %v is %s, want %s", s.event.Start, s.event.Date, want)
			}
		}
	})
}

// TestACrashBillsWhatWasTaken: what stands in the log before the end is all that a crash leaves to be billed.
func TestACrashBillsWhatWasTaken(t *testing.T) {
	// Reports come every 125 frames or a few more.
	for unread, want := range map[int]int64{750: 0, 626: 0, 625: 125, 500: 250, 0: 750} {
		l := openLog(t, LogConfig{Folder: t.TempDir()})
		s := NewRecorder(l).Begin(grant, "rest", asked, &speechtest.Recorder{})
		if err := play(s, 750, unread); err != nil {
			t.Fatal(err)
		}
		sync1(t, l)
		var billed int64
		if l.Backlog() != (Backlog{}) {
			for _, e := range readAll(t, l, 1) {
				billed += e.Billed
				if e.Kind != Progress || e.Frames != e.Billed {
					t.Errorf("%d unread: event %+v before the end", unread, e)
				}
			}
		}
		if billed > want || billed < want-2*ProgressFrames {
			t.Errorf("%d of 750 frames unread: %d are billed before the end, want %d or a little less",
				unread, billed, want)
		}
		l.Close()
	}
}

type nowhere struct{}

func (nowhere) Start(speech.Start) error       { return nil }
func (nowhere) ChunkStart(speech.Chunk) error  { return nil }
func (nowhere) Audio(speech.Audio) error       { return nil }
func (nowhere) ChunkEnd(speech.ChunkEnd) error { return nil }

// A whole stream of five seconds: what metering adds to it.
func BenchmarkStream(b *testing.B) {
	l := openLog(b, LogConfig{Folder: b.TempDir()})
	defer l.Close()
	r := NewRecorder(l)
	b.ReportAllocs()
	for b.Loop() {
		s := r.Begin(grant, "rest", asked, nowhere{})
		if err := play(s, 62, 0); err != nil {
			b.Fatal(err)
		}
		s.End(statsOf(62), nil)
	}
}

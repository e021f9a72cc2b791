package speechtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/swar-tts/swar/runtime/speech"
)

// Limits says how much of [RunLimits] is tried. The zero value tries all of it.
type Limits struct {
	Every      int // an utterance is cancelled after every so many frames; 0 means 1
	Utterances int // that must leave no memory behind; 0 means 200
	Growth     int // bytes by which the process may grow meanwhile; 0 means 16 MiB
}

// RunLimits tests speakers at the limits of an utterance. It tries the longest text, the most chunks, a cancel after
// any frame, more utterances than workers, and hundreds of them. open returns a speaker with so many ready workers on
// which an utterance may wait for a minute, and registers its end with t.Cleanup; it is called once for each
// sub-test.
func RunLimits(t *testing.T, l Limits, open func(t *testing.T, workers int) speech.Speaker) {
	t.Helper()
	l.Every, l.Utterances, l.Growth = max(l.Every, 1), orElse(l.Utterances, 200), orElse(l.Growth, 16<<20)
	t.Run("the longest text is spoken whole", func(t *testing.T) { testLongest(t, open(t, 1)) })
	t.Run("as many chunks as there may be, and one more", func(t *testing.T) { testMostChunks(t, open(t, 1)) })
	t.Run("a cancel after any frame is billed for what was made",
		func(t *testing.T) { testCancelAnywhere(t, open(t, 1), l.Every) })
	t.Run("eight at once on two workers sound as each alone", func(t *testing.T) { testEightOnTwo(t, open(t, 2)) })
	t.Run("hundreds leave nothing behind", func(t *testing.T) { testNothingLeft(t, open(t, 2), l) })
}

func orElse(v, otherwise int) int {
	if v == 0 {
		return otherwise
	}
	return v
}

// wantWhole checks what came of an utterance that nobody cancelled. What is not in any chunk is white space.
func wantWhole(t *testing.T, r *Recorder, st speech.Stats) {
	t.Helper()
	frames := 0
	var spoken strings.Builder
	for i, e := range r.Ends {
		if e.Frames == 0 || !e.EOS {
			t.Errorf("chunk %d of %d: %d frames, its own end %v; want frames and its own end", i, len(r.Ends),
				e.Frames, e.EOS)
		}
		frames += e.Frames
		spoken.WriteString(r.Chunks[i].Text)
	}
	if len(r.Started) != 1 || r.Started[0].Chunks != len(r.Ends) || st.Chunks != len(r.Ends) {
		t.Fatalf("%d starts and %d chunk ends, stats %+v; want one start that announces all chunks", len(r.Started),
			len(r.Ends), st)
	}
	if st.Frames != frames || r.Frames() != frames || len(r.Bytes()) != frames*speech.FrameBytes {
		t.Errorf("%d frames are counted, chunks have %d, blocks %d, and %d bytes came", st.Frames, frames, r.Frames(),
			len(r.Bytes()))
	}
	if got, want := strings.Join(strings.Fields(spoken.String()), ""),
		strings.Join(strings.Fields(r.Started[0].Normalized), ""); got != want {
		t.Errorf("chunks have %d bytes of text, want the %d of what was announced", len(got), len(want))
	}
}

// longest is a text of as many characters as a text may have.
func longest() string {
	var b strings.Builder
	for i := 0; utf8.RuneCountInString(b.String()) < speech.MaxChars; i++ {
		fmt.Fprintf(&b, "Aapka order %d kal tak deliver ho jayega, aap please ghar par rahiye. ", i%10)
	}
	all := []rune(b.String())[:speech.MaxChars]
	all[len(all)-1] = '।' // no white space, which would not count
	return string(all)
}

func testLongest(t *testing.T, s speech.Speaker) {
	u := utterance(speech.PCM16)
	u.Text = longest()
	r, st := speak(t, s, u)
	wantWhole(t, r, st)
	t.Logf("%d characters: %d chunks, %d frames, %v for %v of audio, first audio after %v",
		utf8.RuneCountInString(u.Text), st.Chunks, st.Frames,
		st.Synth.Round(time.Millisecond), time.Duration(st.Frames)*speech.FrameDuration,
		st.TTFA.Round(time.Millisecond))
}

// testMostChunks finds a sentence of which no two share a chunk, whatever is done to have few, and how many of it may
// be spoken.
func testMostChunks(t *testing.T, s speech.Speaker) {
	sentences := func(words, n int) string { return strings.Repeat("Haan"+strings.Repeat(" bolo", words)+". ", n) }
	chunks := func(words, n int) int {
		t.Helper()
		got, err := s.Normalize(t.Context(), speech.Utterance{Text: sentences(words, n), Raw: true})
		if err != nil {
			t.Fatal(err)
		}
		return len(got.Chunks)
	}
	words, most := 1, speech.MaxChunks+10
	for chunks(words, most) <= speech.MaxChunks {
		words++
	}
	for chunks(words, most) > speech.MaxChunks {
		most--
	}
	u := utterance(speech.PCM16)
	u.Text, u.Raw = sentences(words, most), true
	r, st := speak(t, s, u)
	wantWhole(t, r, st)
	if len(r.Chunks) != speech.MaxChunks {
		t.Errorf("%d chunks, want %d", len(r.Chunks), speech.MaxChunks)
	}
	u.Text = sentences(words, most+1)
	r = &Recorder{}
	st, err := s.Speak(t.Context(), u, speech.Turn{}, r)
	if want := speech.TooManyChunks(speech.MaxChunks + 1); !errors.Is(err, want) || err.Error() != want.Error() ||
		st.Frames != 0 || len(r.Started) != 0 {
		t.Errorf("Speak = %+v, %v after %d starts; want %v and nothing else", st, err, len(r.Started), want)
	}
}

// testCancelAnywhere cancels at the first block with which a client has so many frames, for each number of them.
func testCancelAnywhere(t *testing.T, s speech.Speaker, every int) {
	u := utterance(speech.PCM16)
	u.Temperature = 0
	whole, _ := speak(t, s, u)
	tried := 0
	for after := 1; after < whole.Frames(); after += every {
		ctx, cancel := context.WithCancelCause(t.Context())
		sent := 0
		r := &Recorder{OnAudio: func(a speech.Audio) error {
			if sent += a.Frames; sent >= after {
				cancel(speech.ErrClientGone)
			}
			return nil
		}}
		st, err := s.Speak(ctx, u, speech.Turn{}, r)
		if err != nil && !errors.Is(err, speech.ErrClientGone) || err == nil && sent < whole.Frames() {
			t.Errorf("after %d frames: Speak = %v, want the cause of the cancel", after, err)
		}
		if r.Frames() != sent || st.Frames < sent || st.Frames > sent+1 {
			t.Errorf("after %d frames: %d are counted and %d were sent, %d before the cancel; want at most one more",
				after, st.Frames, r.Frames(), sent)
		}
		if !bytes.HasPrefix(whole.Bytes(), r.Bytes()) {
			t.Errorf("after %d frames: the audio is not that of the whole utterance", after)
		}
		if busy := s.Capacity().Busy; busy != 0 {
			t.Errorf("after %d frames: %d workers are still busy", after, busy)
		}
		cancel(nil)
		tried++
	}
	if again, _ := speak(t, s, u); !bytes.Equal(again.Bytes(), whole.Bytes()) {
		t.Error("the same utterance sounds otherwise after the cancels")
	}
	t.Logf("%d cancels in %d frames", tried, whole.Frames())
}

func testEightOnTwo(t *testing.T, s speech.Speaker) {
	const streams = 8
	of := func(i int) speech.Utterance {
		u := utterance(speech.PCM16)
		u.Text, u.Seed, u.Temperature = strings.Repeat(u.Text+" ", 1+i%3), int64(i), 1
		return u
	}
	alone := make([][]byte, streams)
	for i := range alone {
		r, _ := speak(t, s, of(i))
		alone[i] = r.Bytes()
	}
	var all sync.WaitGroup
	for i := range streams {
		all.Go(func() {
			r := &Recorder{} // which insists on the order of events
			st, err := s.Speak(t.Context(), of(i), speech.Turn{}, r)
			if err != nil || r.Frames() != st.Frames || !bytes.Equal(r.Bytes(), alone[i]) {
				t.Errorf("stream %d: %d bytes, %d frames of %d (error %v), want the %d bytes that it has alone", i,
					len(r.Bytes()), r.Frames(), st.Frames, err, len(alone[i]))
			}
		})
	}
	all.Wait()
	if busy := s.Capacity().Busy; busy != 0 {
		t.Errorf("%d workers are still busy", busy)
	}
}

// testNothingLeft compares memory, descriptors and goroutines before and after so many utterances, one half of them
// cancelled.
func testNothingLeft(t *testing.T, s speech.Speaker, l Limits) {
	speakMany := func(n int) {
		t.Helper()
		for i := range n {
			u := utterance(speech.PCM16)
			u.Text, u.Seed, u.Temperature = strings.SplitAfterN(u.Text, ".", 2)[0], int64(i), 0
			ctx, cancel := context.WithCancelCause(t.Context())
			r := &Recorder{OnAudio: func(speech.Audio) error {
				if i%2 == 1 {
					cancel(speech.ErrClientGone)
				}
				return nil
			}}
			if _, err := s.Speak(ctx, u, speech.Turn{}, r); err != nil && !errors.Is(err, speech.ErrClientGone) {
				t.Fatal(err)
			}
			cancel(nil)
		}
	}
	speakMany(4) // what stays for ever is there
	before := footprint()
	speakMany(l.Utterances)
	after := footprint()
	t.Logf("before %d utterances %v, after them %v", l.Utterances, before, after)
	if after.goroutines > before.goroutines+2 || after.files > before.files+2 {
		t.Errorf("%v became %v: goroutines or files stay open", before, after)
	}
	if after.heap > before.heap+int64(l.Growth) || after.resident > before.resident+int64(l.Growth) {
		t.Errorf("%v became %v, want at most %d MiB more", before, after, l.Growth>>20)
	}
}

// resources are what the process has. What a system does not tell is 0.
type resources struct {
	goroutines, files int
	heap, resident    int64 // bytes
}

func (r resources) String() string {
	return fmt.Sprintf("%d goroutines, %d files, %.1f MiB of heap, %.1f MiB resident", r.goroutines, r.files,
		float64(r.heap)/(1<<20), float64(r.resident)/(1<<20))
}

func footprint() (r resources) {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r.goroutines, r.heap = runtime.NumGoroutine(), int64(m.HeapAlloc)
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		r.files = len(open)
	}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		var size int64
		if _, err := fmt.Sscan(string(text), &size, &r.resident); err == nil {
			r.resident *= int64(os.Getpagesize())
		}
	}
	return r
}

package onnx

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/onnx/internal/model"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// What runs take on a processor that can just speak one stream in real time: a group of four frames, 320 ms, takes it
// 276 ms.
const (
	slowPrefill = 200 * time.Millisecond
	slowDecode1 = 40 * time.Millisecond
	slowDecode4 = 120 * time.Millisecond
)

var slowGroup = synth.GroupFrames*slowStep(1) + slowDecode4

func slowStep(streams int) time.Duration {
	return 30*time.Millisecond + time.Duration(streams)*8750*time.Microsecond
}

var slowTimes = runTimes{slowStep(1), slowStep(model.MaxBatch), slowDecode4}

// slow is a scheduler on processors that are slow, in a bubble.
type slow struct {
	*scheduler
	limits limits
	cache  *model.KVCache
}

func newSlow(t *testing.T, runners int) *slow {
	s := &slow{scheduler: newScheduler(runners, time.Now), limits: slowTimes.limits(model.MaxBatch, runners)}
	s.reckon(s.limits)
	s.cache = model.NewFakeCache(model.MaxBatch, func(_, n int, _ []*model.Stream) error {
		time.Sleep(slowStep(n))
		return nil
	})
	t.Cleanup(s.close)
	return s
}

// listener is what somebody hears who listens to a stream.
type listener struct {
	task   task
	stream *model.Stream
	first  time.Duration // until the first audio
	waited time.Duration // the longest that a prefill or a group took
	late   time.Duration // all gaps together
}

func (l *listener) wait(t *testing.T, s *slow, next func() (phase, error)) {
	t.Helper()
	begin := time.Now()
	if err := s.do(t.Context(), &l.task, next); err != nil {
		t.Error(err)
	}
	l.waited = max(l.waited, time.Since(begin))
}

// begin reads a text and plays the first frame.
func (s *slow) begin(t *testing.T, l *listener) {
	begin := time.Now()
	l.task.pace = pace{}
	l.wait(t, s, sleeping(slowPrefill))
	l.wait(t, s, sleeping(slowDecode1))
	l.task.pace.count(synth.FirstFrames, time.Now())
	l.first = time.Since(begin)
}

// play plays groups of frames until the given moment.
func (s *slow) play(t *testing.T, l *listener, until time.Time) {
	for time.Now().Before(until) {
		left := synth.GroupFrames
		l.wait(t, s, func() (phase, error) {
			switch left--; {
			case left >= 0:
				return phase{stream: l.stream}, nil
			case left == -1:
				return sleeping(slowDecode4)()
			}
			return phase{}, nil
		})
		p := &l.task.pace
		l.late = max(l.late, time.Since(p.first)-time.Duration(p.frames)*speech.FrameDuration)
		p.count(synth.GroupFrames, time.Now())
	}
}

// sleeping is a run that takes so long.
func sleeping(d time.Duration) func() (phase, error) {
	return once(func(context.Context) error { time.Sleep(d); return nil })
}

// TestWhoCanBeServedInRealTimeIs has as many streams begin as there are slow processors for, beside others that have
// a minute of audio left and could take all the time there is.
func TestWhoCanBeServedInRealTimeIs(t *testing.T) {
	for _, live := range []int{1, 2, 3} {
		synctest.Test(t, func(t *testing.T) {
			s := newSlow(t, live)
			until := time.Now().Add(30 * time.Second)
			listeners := make([]listener, model.MaxBatch)
			var wg sync.WaitGroup
			for i := range listeners {
				l := &listeners[i]
				l.stream = s.cache.Place(i)
				wg.Go(func() {
					if i%(model.MaxBatch/live) == 0 && i/(model.MaxBatch/live) < live {
						time.Sleep(time.Second)
						s.begin(t, l)
					} else {
						l.task.pace = at(time.Minute)
					}
					s.play(t, l, until)
				})
			}
			wg.Wait()
			for i, l := range listeners {
				if l.first == 0 {
					continue
				}
				t.Logf("%d live: first audio after %s, gaps of %s", live, l.first, l.late)
				if most := slowDecode4 + slowPrefill + slowDecode1; l.first > most { // it came in the middle of a run
					t.Errorf("%d live, stream %d: first audio after %s, want at most %s", live, i, l.first, most)
				}
				// The first group cannot be in time. All others make up for it.
				if most := slowGroup + slowDecode4 - speech.FrameDuration; l.late > most {
					t.Errorf("%d live, stream %d: gaps of %s, want at most %s", live, i, l.late, most)
				}
			}
		})
	}
}

// TestNobodyStarvesOnASlowProcessor has more streams speak than can be served in real time.
func TestNobodyStarvesOnASlowProcessor(t *testing.T) {
	for _, tt := range []struct {
		name    string
		leaving int // streams that begin again and again and leave after the first frame
	}{
		{"eight streams play", 0},
		{"four streams play, and four come and go", 4},
		{"one stream plays, and seven come and go", 7},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSlow(t, 1)
			until := time.Now().Add(time.Minute)
			listeners := make([]listener, model.MaxBatch)
			var wg sync.WaitGroup
			for i := range listeners {
				l := &listeners[i]
				l.stream = s.cache.Place(i)
				wg.Go(func() {
					s.begin(t, l)
					for i < tt.leaving && time.Now().Before(until) {
						s.begin(t, l)
					}
					if i >= tt.leaving {
						s.play(t, l, until)
					}
				})
			}
			wg.Wait()
			var frames []int
			for i, l := range listeners {
				// Nobody asks for more than a prefill or a group, so what others have asked for before is done after
				// a time.
				if most := s.limits.maxWait + model.MaxBatch*slowGroup; l.waited > most {
					t.Errorf("%s: stream %d waited for %s, want at most %s", tt.name, i, l.waited, most)
				}
				if i >= tt.leaving {
					frames = append(frames, l.task.pace.frames)
				}
			}
			t.Logf("%s: frames %v", tt.name, frames)
			if low, high := slices.Min(frames), slices.Max(frames); high-low > synth.GroupFrames {
				t.Errorf("%s: some have played %d frames, some %d", tt.name, low, high)
			}
		})
	}
}

package serve

import (
	"fmt"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/internal/testenv/clocktest"
	"github.com/swar-tts/swar/runtime/speech"
)

func TestWhoReadsMayPauseAsLongAsItPlays(t *testing.T) {
	const ten = 125 // frames, ten seconds
	type write struct {
		frames int
		took   time.Duration
	}
	at := func(s ...write) []write { return s }
	tests := map[string]struct {
		writes []write
		later  time.Duration
		want   time.Duration
	}{
		"nothing was written":               {nil, 0, stallLimit},
		"all was taken at once":             {at(write{ten, 0}, write{ten, 0}), 0, stallLimit},
		"a write waited, but not for long":  {at(write{ten, longWrite - 1}), 0, stallLimit},
		"a write waited":                    {at(write{ten, longWrite}), 0, stallLimit + 10*time.Second},
		"one waited before":                 {at(write{ten, longWrite}, write{ten, 0}), 0, stallLimit + 20*time.Second},
		"one waits after":                   {at(write{ten, 0}, write{ten, 4 * time.Second}), 0, stallLimit + 16*time.Second},
		"half of it has sounded":            {at(write{ten, longWrite}), 5 * time.Second, stallLimit + 5*time.Second},
		"all of it has just sounded":        {at(write{ten, longWrite}), 10 * time.Second, stallLimit},
		"all of it has sounded":             {at(write{ten, longWrite}), 11 * time.Second, stallLimit},
		"an event, which is taken in a jam": {at(write{0, 2 * time.Second}), 0, stallLimit},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var p pause
			now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
			for _, w := range tt.writes {
				p.wrote(w.frames, now, now.Add(w.took))
				now = now.Add(w.took)
			}
			if got := p.limit(now.Add(tt.later)); got != tt.want {
				t.Errorf("it may pause for %v, want %v", got, tt.want)
			}
		})
	}
}

// TestReaderThatPlays takes 20 s of audio, and pauses. Before that it has shown that it reads, or not.
func TestReaderThatPlays(t *testing.T) {
	const second = 2 * speech.SampleRate // bytes
	tests := map[string]struct {
		shows  bool
		pauses time.Duration
		cut    bool
	}{
		"it pauses for 29 s":                                     {false, 29 * time.Second, false},
		"it pauses for 31 s":                                     {false, 31 * time.Second, true},
		"it has read before, and pauses for 49 s":                {true, 49 * time.Second, false},
		"it has read before, and pauses for 52 s, which is more": {true, 52 * time.Second, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				serveInBubble(t, speakAtOnce(500), func(t *testing.T, g *rig, dial func() net.Conn) {
					conn := dial()
					defer conn.Close()
					post(t, conn, `{"text":"Hi","format":"pcm16"}`)
					if tt.shows {
						time.Sleep(longWrite)
					}
					if _, err := io.CopyN(io.Discard, conn, 20*second); err != nil {
						t.Fatal(err)
					}
					time.Sleep(tt.pauses)
					rest, err := io.ReadAll(io.LimitReader(conn, 19*second))
					if cut := len(rest) < 19*second; cut != tt.cut {
						t.Errorf("%d bytes came after the pause, %v; cut = %v, want %v", len(rest), err, cut, tt.cut)
					}
					conn.Close()
					line := g.logs.wait(t, 1)[0]
					if slow := fmt.Sprint(line["error"]) == speech.ErrClientSlow.Error(); slow != tt.cut {
						t.Errorf("logged %v", line)
					}
				})
			})
		})
	}
}

// TestPausesWhenTheClockIsSet: a client may pause for as long, whatever the clock is set to while it plays.
func TestPausesWhenTheClockIsSet(t *testing.T) {
	const ten = 125 // frames, ten seconds
	for _, by := range []time.Duration{0, time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			clock := clocktest.New(t)
			var p pause
			began := clock.Now()
			time.Sleep(longWrite)
			clock.Set(by)
			p.wrote(ten, began, clock.Now())
			clock.Set(by)
			time.Sleep(4 * time.Second)
			if got, want := p.limit(clock.Now()), stallLimit+6*time.Second; got != want {
				t.Errorf("by %v: a client may pause for %v, want %v", by, got, want)
			}
		})
	}
}

package session

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/internal/testenv/clocktest"
	"github.com/swar-tts/swar/runtime/speech"
)

// TestLeadWhenTheClockIsSet: sent audio sounds for as long as it does, whatever the clock is set to meanwhile.
func TestLeadWhenTheClockIsSet(t *testing.T) {
	for _, by := range []time.Duration{0, time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			clock := clocktest.New(t)
			l := lead{limit: 30 * time.Second, realTime: true, speed: 1}
			frames := int(40 * time.Second / speech.FrameDuration)
			l.addSpoken(frames)
			l.took(frames, clock.Now())
			clock.Set(by)
			time.Sleep(10*time.Second - 1)
			if isFull, until := l.isFull(clock.Now()); !isFull || until.Sub(clock.Now()) != 1 {
				t.Errorf("by %v: after 10 s less a nanosecond a sentence may be started (%v)", by, isFull)
			}
			time.Sleep(time.Nanosecond)
			if isFull, _ := l.isFull(clock.Now()); isFull {
				t.Errorf("by %v: after 10 s no sentence may be started", by)
			}
		})
	}
}

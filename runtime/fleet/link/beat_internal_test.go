package link

import (
	"testing"
	"time"
)

// TestHeartbeatsOfAllPodsMeet: whenever a link begins, and however late a timer is, beats come at the same moments of
// the clock, a second apart at most.
func TestHeartbeatsOfAllPodsMeet(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	for _, begun := range []time.Duration{0, 1, 49_999_999, 50 * time.Millisecond, 777 * time.Millisecond,
		999_999_999} {
		now := start.Add(begun)
		for late := range 5 {
			wait := untilBeat(now)
			if wait > heartbeat || wait <= heartbeat-beatSlot {
				t.Errorf("begun after %v: the next beat comes after %v, want above %v and up to %v",
					begun, wait, heartbeat-beatSlot, heartbeat)
			}
			next := now.Add(wait)
			if off := next.Sub(start) % beatSlot; off != 0 {
				t.Errorf("begun after %v: a beat comes %v beside its slot", begun, off)
			}
			now = next.Add(time.Duration(late) * 3 * time.Millisecond)
		}
	}
}

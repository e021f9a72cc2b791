package signin

import (
	"slices"
	"testing"
	"time"
)

// TestUsesFromTheFuture were noted while the clock stood there, and count no more when it is right.
func TestUsesFromTheFuture(t *testing.T) {
	now := time.Now()
	for ahead, want := range map[time.Duration]time.Duration{
		-time.Hour: 0, -time.Minute: verifyWindow - time.Minute, 0: verifyWindow,
		clockLeeway: verifyWindow + clockLeeway, clockLeeway + 1: 0, 1000 * time.Hour: 0,
	} {
		u := uses{Times: slices.Repeat([]time.Time{now.Add(ahead)}, verifyLimit)}
		if got := u.wait(now, verifyWindow, verifyLimit); got != want {
			t.Errorf("%v ahead one waits for %v, want %v", ahead, got, want)
		}
	}
}

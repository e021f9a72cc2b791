// Package clocktest has a clock of the system that somebody sets.
package clocktest

import (
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// Clock tells the time as [time.Now] does, also in a bubble of synctest. Each time has the time of day, which can be
// set, and a monotonic reading, which goes on.
type Clock struct {
	t     testing.TB
	began time.Time
	ahead atomic.Int64
}

// New returns a clock that is right.
func New(t testing.TB) *Clock { return &Clock{t: t, began: time.Now()} }

// Set puts the time of day forward by d, or back.
func (c *Clock) Set(d time.Duration) { c.ahead.Add(int64(d)) }

// Now returns the time.
func (c *Clock) Now() time.Time {
	const (
		hasMonotonic = 1 << 63
		secondShift  = 30          // below are nanoseconds
		year1885     = -2682288000 // in seconds since 1970
	)
	now := time.Now()
	elapsed, ahead := now.Sub(c.began), time.Duration(c.ahead.Load())
	day := now.Round(0).Add(ahead)
	made := day
	// A time is two words and a place. With the flag the first one has seconds since 1885, and the second one is the
	// monotonic clock.
	words := (*[2]uint64)(unsafe.Pointer(&made))
	words[0] = hasMonotonic | uint64(day.Unix()-year1885)<<secondShift | uint64(day.Nanosecond())
	words[1] = uint64(elapsed) + 1
	if !made.Round(0).Equal(day) || made.Add(time.Hour).Sub(made) != time.Hour {
		c.t.Fatalf("times are laid out otherwise: %v became %v", day, made)
	}
	return made
}

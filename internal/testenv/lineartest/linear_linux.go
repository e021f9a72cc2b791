package lineartest

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Times is how many times as long as the short text the long one is. Quadratic time is 4,096 times as long.
const Times = 64

const bound = 1000

// Check compares what work costs on a short text with what it costs on one of [Times] its length, in processor time of
// this thread. What lies between linear and quadratic is left to the machine, which may try again for a while.
func Check(t *testing.T, name, short, long string, work func(text string)) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	took := func(text string) time.Duration {
		began := processorTime(t)
		work(text)
		return processorTime(t) - began
	}
	one := time.Hour
	for range 5 {
		one = min(one, took(short))
	}
	many := time.Hour
	for spent := time.Duration(0); many > bound*one && spent < 10*time.Second; {
		last := took(long)
		many, spent = min(many, last), spent+last
	}
	if many > bound*one {
		t.Errorf("%q: %d times as many bytes take %.0f times as long, %v", name, Times,
			float64(many)/float64(one), many)
	}
}

// processorTime is what this thread has used: how long others kept the processor does not count.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Nano())
}

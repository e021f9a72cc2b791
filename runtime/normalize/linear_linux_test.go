package normalize

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestChainsTakeLinearTime compares a chain with one of 64 times its length: linear time is 64 times as long, quadratic
// time 4,096 times. What lies between is left to the machine, which may try again for a while.
func TestChainsTakeLinearTime(t *testing.T) {
	if raceDetector {
		t.Skip("the memory of the race detector makes long texts slow")
	}
	const short, times, bound = 2000, 64, 1000
	took := func(text string) time.Duration {
		began := processorTime(t)
		Text(text, Options{})
		return processorTime(t) - began
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, link := range links {
		one := time.Hour
		for range 5 {
			one = min(one, took(chain(link, short)))
		}
		best, spent := time.Hour, time.Duration(0)
		for best > bound*one && spent < 10*time.Second {
			last := took(chain(link, times*short))
			best, spent = min(best, last), spent+last
		}
		if best > bound*one {
			t.Errorf("%s: %d times as many bytes take %.0f times as long, %v", link, times,
				float64(best)/float64(one), best)
		}
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

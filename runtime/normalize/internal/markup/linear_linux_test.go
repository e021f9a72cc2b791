package markup

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestChainsTakeLinearTime(t *testing.T) {
	const short, times, bound = 4000, 64, 1000 // quadratic time is 4096 times as long
	took := func(text string) time.Duration {
		began := processorTime(t)
		Scan(text)
		return processorTime(t) - began
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, link := range links {
		one, many := time.Hour, time.Hour
		for range 5 {
			one = min(one, took(strings.Repeat(link, short/len(link))))
		}
		for spent := time.Duration(0); many > bound*one && spent < 10*time.Second; {
			// a busy machine may try again for a while
			last := took(strings.Repeat(link, times*short/len(link)))
			many, spent = min(many, last), spent+last
		}
		if many > bound*one {
			t.Errorf("%q: %d times as many bytes take %.0f times as long, %v", link, times,
				float64(many)/float64(one), many)
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

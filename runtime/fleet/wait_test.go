package fleet_test

import (
	"runtime"
	"testing"
	"time"
)

// waitUntil waits for what other goroutines and the network bring about; the test fails when it does not come in 10 s.
func waitUntil(t testing.TB, what string, done func() bool) {
	t.Helper()
	for begin := time.Now(); !done(); {
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("it never came about that %s", what)
		}
		runtime.Gosched()
		<-time.After(time.Millisecond)
	}
}

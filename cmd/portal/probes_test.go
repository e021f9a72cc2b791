package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/runtime/metrics"
)

func TestProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var store error
		asked := 0
		p := &probes{check: func(context.Context) error { asked++; return store }}
		h := p.handler(metrics.New())
		status := func(path string) int {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			return w.Code
		}
		for _, step := range []struct {
			name string
			then func()
			want int // of /readyz
		}{
			{"the store answers", func() {}, http.StatusOK},
			{"it does no longer, which is not asked yet", func() { store = errors.New("away") }, http.StatusOK},
			{"a moment before it is asked", func() { time.Sleep(probeEvery - time.Nanosecond) }, http.StatusOK},
			{"when it is", func() { time.Sleep(time.Nanosecond) }, http.StatusServiceUnavailable},
			{"it is back", func() { store = nil; time.Sleep(probeEvery) }, http.StatusOK},
			{"the portal is stopping", p.stop, http.StatusServiceUnavailable},
		} {
			step.then()
			if got := status("/readyz"); got != step.want {
				t.Errorf("%s: /readyz answers %d, want %d", step.name, got, step.want)
			}
			if got := status("/healthz"); got != http.StatusOK {
				t.Errorf("%s: /healthz answers %d", step.name, got)
			}
		}
		if asked != 3 {
			t.Errorf("the store was asked %d times, want 3", asked)
		}
	})
}

// TestAStoreThatHangs is given up after a while, and not asked again at once by whoever waited for that.
func TestAStoreThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		p := &probes{check: func(ctx context.Context) error {
			asked++
			<-ctx.Done()
			return ctx.Err()
		}}
		begin := time.Now()
		for range 100 {
			if err := p.ready(); err == nil {
				t.Error("a store that hangs is ready")
			}
		}
		if took := time.Since(begin); asked != 1 || took != probeLimit {
			t.Errorf("the store was asked %d times in %v, want once in %v", asked, took, probeLimit)
		}
	})
}

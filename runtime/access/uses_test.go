package access

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestLastUsesAreKeptUntilTheyAreTold: whoever takes them may fail for as long as it likes.
func TestLastUsesAreKeptUntilTheyAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		secret, hash := New(LivePrefix)
		cache := NewKeyCache(KeyCacheConfig{})
		cache.Replace([]Entry{{Hash: hash}})
		cache.PortalBack()
		var failing atomic.Bool
		failing.Store(true)
		var told []time.Time // read when synctest.Wait has returned
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			cache.ReportLastUsed(ctx, func(_ context.Context, used map[string]time.Time) error {
				told = append(told, used[hash.KeyID()])
				if failing.Load() {
					return errors.New("no room")
				}
				return nil
			}, slog.New(slog.DiscardHandler))
		}()
		var last time.Time
		for range 3 {
			wantGrant(t, cache, secret, nil)
			last = time.Now()
			time.Sleep(80 * time.Second)
		}
		synctest.Wait()
		failing.Store(false)
		time.Sleep(80 * time.Second)
		synctest.Wait()
		if n := len(told); n < 4 || !told[n-1].Equal(last) {
			t.Errorf("told %v, want %v in the end", told, last)
		}
		n := len(told)
		time.Sleep(time.Hour)
		stop()
		<-ended
		if len(told) != n {
			t.Errorf("told again: %v", told[n:])
		}
	})
}

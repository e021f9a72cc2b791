package memstore

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/swar-tts/swar/portal/storetest"
	"github.com/swar-tts/swar/portal/tenant"
)

func openTenant(t *testing.T) tenant.Store {
	s := New()
	t.Cleanup(func() { s.Close() })
	return s
}

func TestTenant(t *testing.T) { storetest.Tenant(t, openTenant) }

func TestTenantShared(t *testing.T) {
	storetest.TenantShared(t, func(t *testing.T) (tenant.Store, tenant.Store) {
		s := openTenant(t)
		return s, s
	})
}

func TestWatchersAreForgotten(t *testing.T) {
	s := New()
	broken := errors.New("broken")
	if err := s.WatchKeys(t.Context(), func([]tenant.Key, bool) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("WatchKeys = %v, want %v", err, broken)
	}
	if n := len(s.watchers); n != 0 {
		t.Errorf("%d watchers are known after the last one has ended", n)
	}
}

// With every change called twice, whatever it did the first time must be gone.
func TestTenantWithConflicts(t *testing.T) {
	storetest.Tenant(t, func(t *testing.T) tenant.Store {
		s := New()
		t.Cleanup(func() { s.Close() })
		var calls atomic.Int64
		s.RetryWhen(func() bool { return calls.Add(1)%2 == 1 })
		return s
	})
}

package dataplane

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/access"
)

func wantGrant(t *testing.T, cache *access.KeyCache, secret string, want error) access.Grant {
	t.Helper()
	g, err := cache.Grant(t.Context(), access.Credentials{Key: secret})
	if !errors.Is(err, want) {
		t.Errorf("Grant = %v, want %v", err, want)
	}
	return g
}

func TestARefusedKeyEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		secret, k := newKey()
		put(t, store, k)
		cache := access.NewKeyCache(access.KeyCacheConfig{})
		feed := NewFeed(store, quiet)
		go func() { _ = Local(t.Context(), feed, cache, quiet) }()
		<-cache.Ready()
		g := wantGrant(t, cache, secret, nil)
		begin := time.Now()
		feed.Refuse(k.Hash)
		<-g.Ended
		if took := time.Since(begin); took != 0 {
			t.Errorf("it ended after %v, want at once", took)
		}
		wantGrant(t, cache, secret, access.ErrInvalidKey)
		k.Name = "renamed"
		put(t, store, k) // as the store still has it
		synctest.Wait()
		wantGrant(t, cache, secret, access.ErrInvalidKey)
	})
}

func TestLocal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		secret, k := newKey()
		put(t, store, k)
		cache := access.NewKeyCache(access.KeyCacheConfig{})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Local(ctx, NewFeed(store, quiet), cache, quiet) }()
		<-cache.Ready()
		g := wantGrant(t, cache, secret, nil)
		used := time.Now().UTC()
		time.Sleep(80 * time.Second)
		synctest.Wait()
		if got := lastUsed(t, store, k.ID); !got.Equal(used) {
			t.Errorf("after 80 s the last use is %v, want %v", got, used)
		}
		wantGrant(t, cache, secret, nil)
		used = time.Now().UTC()

		put(t, store, revoked(k))
		synctest.Wait()
		select {
		case <-g.Ended:
		default:
			t.Error("a revoked key has not ended")
		}
		wantGrant(t, cache, secret, access.ErrInvalidKey)

		stop()
		if err := <-ended; err != nil {
			t.Errorf("Local = %v, want nil", err)
		}
		if got := lastUsed(t, store, k.ID); !got.Equal(used) {
			t.Errorf("at the end the last use is %v, want %v", got, used)
		}
		if _, current := cache.Size(); current {
			t.Error("a cache that nobody feeds any more takes itself for current")
		}
	})
}

func TestLocalEndsWithItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		cache := access.NewKeyCache(access.KeyCacheConfig{})
		ended := make(chan error)
		go func() { ended <- Local(t.Context(), NewFeed(store, quiet), cache, quiet) }()
		<-cache.Ready()
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, tenant.ErrClosed) {
			t.Errorf("Local = %v, want %v", err, tenant.ErrClosed)
		}
	})
}

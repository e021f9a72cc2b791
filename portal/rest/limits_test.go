package rest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/swar-tts/swar/portal/signin"
)

func TestRateOfAUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t)
		for i := range userBurst {
			if got := g.do(owner, "GET", "/portal/v1/me", ""); got.status != 200 {
				t.Fatalf("request %d: %d %s", i+1, got.status, got.body)
			}
		}
		limited := g.do(owner, "GET", "/portal/v1/me", "")
		limited.wantError(t, 429, "too_many_requests", "too many requests")
		if limited.header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After is %q, want 1", limited.header.Get("Retry-After"))
		}
		ok[any](g, member, "GET", "/portal/v1/me", "") // others are not concerned
		time.Sleep(time.Second)
		for i := range userRate {
			if got := g.do(owner, "GET", "/portal/v1/me", ""); got.status != 200 {
				t.Fatalf("request %d of the next second: %d %s", i+1, got.status, got.body)
			}
		}
		g.do(owner, "GET", "/portal/v1/me", "").wantError(t, 429, "too_many_requests", "too many requests")
	})
}

func TestRequestsAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t)
		release := make(chan struct{})
		g.broken.fault = func(context.Context) error { <-release; return nil }
		var wg sync.WaitGroup
		for range userActive {
			wg.Go(func() {
				if got := g.do(owner, "GET", "/portal/v1/me", ""); got.status != 200 {
					t.Errorf("%d %s", got.status, got.body)
				}
			})
		}
		synctest.Wait()
		g.do(owner, "GET", "/portal/v1/me", "").wantError(t, 429, "too_many_requests", "too many requests")
		close(release)
		wg.Wait()
		if got := g.do(owner, "GET", "/portal/v1/me", ""); got.status != 200 {
			t.Errorf("after they have ended: %d %s", got.status, got.body)
		}
	})
}

func TestRecentUsersAreBounded(t *testing.T) {
	r := newRecent(3, newLastJoin)
	first := r.of("0")
	for i := range 10 {
		r.of(fmt.Sprint(i))
		if i < 3 && r.of("0") != first {
			t.Errorf("after %d others the first user is forgotten", i)
		}
		if r.order.Len() > 3 || len(r.byID) != r.order.Len() {
			t.Fatalf("%d and %d users are kept, want at most 3", r.order.Len(), len(r.byID))
		}
	}
	if r.of("0") == first {
		t.Error("the user seen longest ago is still kept")
	}
}

func BenchmarkRecent(b *testing.B) {
	r := newRecent(maxUsers, newUserLimit)
	for i := range maxUsers {
		r.of(fmt.Sprint(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		r.of("77")
	}
}

// BenchmarkKeys measures a small answer from token to JSON, on a store in memory.
func BenchmarkKeys(b *testing.B) {
	g := newRig(b)
	org, _ := g.world()
	g.server.limits.of(userID(signin.Identity{Issuer: "https://issuer.example.org",
		Subject: owner})).tokens.SetLimit(rate.Inf)
	r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/portal/v1/keys?org_id="+org, http.NoBody)
	r.Header.Set("Authorization", "Bearer token-of-"+owner)
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		g.server.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}

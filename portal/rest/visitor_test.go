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
	"github.com/swar-tts/swar/portal/tenant"
)

// TestWhoIsRemovedIsOut is stricter than the five seconds that are promised: the next request is refused.
func TestWhoIsRemovedIsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t)
		org, prj := g.world()
		ok[any](g, member, "GET", "/portal/v1/keys?org_id="+org, "")
		ok[any](g, member, "GET", "/portal/v1/usage?org_id="+org, "")
		ok[any](g, owner, "PATCH", "/portal/v1/orgs/"+org+"/members/"+member, `{"role":"viewer"}`)
		g.do(member, "POST", "/portal/v1/keys", `{"project_id":"`+prj+`","name":"k"}`).wantError(t, 403, "viewer", "viewers may only read")
		ok[any](g, owner, "DELETE", "/portal/v1/orgs/"+org+"/members/"+member, "")
		for _, after := range []time.Duration{0, 5 * time.Second, time.Hour} {
			time.Sleep(after)
			for _, path := range []string{"/keys", "/usage", "/requests", "/billing", "/voice-requests"} {
				g.do(member, "GET", "/portal/v1"+path+"?org_id="+org, "").wantError(t, 403, "not_member", "not a member")
			}
			if me := ok[meAnswer](g, member, "GET", "/portal/v1/me", ""); len(me.Orgs) != 0 {
				t.Errorf("%v after the removal me shows %+v", after, me.Orgs)
			}
		}
	})
}

func TestFirstSignInJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t)
		org, _ := g.world()
		invite := func(email string) {
			ok[any](g, owner, "POST", "/portal/v1/orgs/"+org+"/members", `{"email":"`+email+`"}`)
		}
		invite("new@example.org")
		ok[any](g, "new@example.org", "GET", "/portal/v1/keys?org_id="+org, "") // any path will do
		g.do(stranger, "GET", "/portal/v1/keys?org_id="+org, "").wantError(t, 403, "not_member", "not a member")
		invite(stranger)
		time.Sleep(joinPause - time.Microsecond)
		g.do(stranger, "GET", "/portal/v1/keys?org_id="+org, "").wantError(t, 403, "not_member", "not a member")
		time.Sleep(time.Microsecond)
		ok[any](g, stranger, "GET", "/portal/v1/keys?org_id="+org, "")
	})
}

func TestOneEmailTwoIdentities(t *testing.T) {
	g := newRig(t, func(c *Config) { c.Verifier = issuers{} })
	made := decoded[orgAnswer](t, g.doAs("Bearer a", true, "POST", "/portal/v1/orgs", `{"name":"Mine"}`))
	g.doAs("Bearer b", true, "GET", "/portal/v1/keys?org_id="+made.ID, "").
		wantError(t, 403, "other_identity", "this e-mail has joined with another sign-in; ask an owner to remove it and invite it again")
	if got := g.doAs("Bearer a", true, "GET", "/portal/v1/keys?org_id="+made.ID, ""); got.status != 200 {
		t.Errorf("the first identity is answered %d %s", got.status, got.body)
	}
}

// issuers has one e-mail address at two issuers.
type issuers struct{}

func (issuers) Verify(_ context.Context, token string) (signin.Identity, error) {
	return signin.Identity{Issuer: "https://" + token + ".example.org", Subject: "1", Email: owner}, nil
}

func TestInvitedOnly(t *testing.T) {
	g := newRig(t)
	g.server.cfg.Tenancy = tenant.New(tenant.Config{InvitedOnly: true, Domains: []string{"example.org"}}, g.store)
	ok[any](g, owner, "GET", "/portal/v1/me", "")
	g.do("x@elsewhere.org", "GET", "/portal/v1/me", "").wantError(t, 403, "not_invited", "this e-mail is not invited; ask for an invitation")
	g.do("x@elsewhere.org", "POST", "/portal/v1/orgs", `{"name":"n"}`).wantError(t, 403, "not_invited", "this e-mail is not invited; ask for an invitation")
}

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

func TestVisitorsAreBounded(t *testing.T) {
	v := newVisitors(3)
	first := v.get("0")
	for i := range 10 {
		v.get(fmt.Sprint(i))
		if i < 3 && v.get("0") != first {
			t.Errorf("after %d others the first visitor is forgotten", i)
		}
		if v.order.Len() > 3 || len(v.byID) != v.order.Len() {
			t.Fatalf("%d and %d visitors are kept, want at most 3", v.order.Len(), len(v.byID))
		}
	}
	if v.get("0") == first {
		t.Error("the visitor seen longest ago is still kept")
	}
}

func BenchmarkVisitor(b *testing.B) {
	v := newVisitors(maxVisitors)
	for i := range maxVisitors {
		v.get(fmt.Sprint(i))
	}
	b.ReportAllocs()
	for b.Loop() {
		v.get("77")
	}
}

// BenchmarkKeys measures a small answer from token to JSON, on a store in memory.
func BenchmarkKeys(b *testing.B) {
	g := newRig(b)
	org, _ := g.world()
	g.server.visitors.get(userID(signin.Identity{Issuer: "https://issuer.example.org", Subject: owner})).tokens.SetLimit(rate.Inf)
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

package rest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

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
		g.do(member, "POST", "/portal/v1/keys", `{"project_id":"`+prj+`","name":"k"}`).wantError(t, 403, "viewer",
			"viewers may only read")
		ok[any](g, owner, "DELETE", "/portal/v1/orgs/"+org+"/members/"+member, "")
		for _, after := range []time.Duration{0, 5 * time.Second, time.Hour} {
			time.Sleep(after)
			for _, path := range []string{"/keys", "/usage", "/requests", "/billing", "/voice-requests"} {
				g.do(member, "GET", "/portal/v1"+path+"?org_id="+org, "").wantError(t, 403, "not_member",
					"not a member")
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
	g.do("x@elsewhere.org", "GET", "/portal/v1/me", "").wantError(t, 403, "not_invited",
		"this e-mail is not invited; ask for an invitation")
	g.do("x@elsewhere.org", "POST", "/portal/v1/orgs", `{"name":"n"}`).wantError(t, 403, "not_invited",
		"this e-mail is not invited; ask for an invitation")
}

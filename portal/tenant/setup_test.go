package tenant_test

import (
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/portal/tenant"
)

func TestTheFirstOrganisationIsTheOldestOfAnOperator(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		_, err := w.FirstOrg(t.Context(), operator)
		want(t, "where all were made by others", err, tenant.ErrOwned)
		_, err = w.FirstOrg(t.Context(), owner)
		want(t, "who is no operator", err, tenant.ErrOperatorsOnly)
		empty := tenant.New(tenant.Config{}, memstore.New())
		_, err = empty.FirstOrg(t.Context(), operator)
		want(t, "where there is none", err, tenant.ErrNotFound)

		var first tenant.Org
		for i := range 499 { // besides the one of the world
			time.Sleep(time.Second)
			made := must(w.CreateOrg(t.Context(), operator, "Swar", never))(t)
			if i == 0 {
				first = made.Org
			}
			if i == 0 || i == 497 {
				got := must(w.FirstOrg(t.Context(), operator))(t)
				if got.ID != first.ID {
					t.Errorf("of %d organisations the first is %s, want %s", i+2, got.ID, first.ID)
				}
			}
		}
		_, err = w.FirstOrg(t.Context(), operator)
		want(t, "among as many as no new server has", err, tenant.ErrOwned)
	})
}

func TestTheFirstOwner(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		org := must(w.CreateOrg(t.Context(), operator, "New", never))(t).Org
		invite := func(what string, by tenant.User, org, email string, refusal error) tenant.Member {
			t.Helper()
			m, err := w.InviteFirstOwner(t.Context(), by, org, email)
			want(t, what, err, refusal)
			return m
		}
		invite("who is no operator", owner, org.ID, stranger.Email, tenant.ErrOperatorsOnly)
		invite("what is no address", operator, org.ID, "me", tenant.ErrBadEmail)
		invite("of no organisation", operator, "org_none", stranger.Email, tenant.ErrNotFound)
		invite("where there is an owner", operator, w.org.ID, stranger.Email, tenant.ErrOwned)
		invite("who is the owner", operator, w.org.ID, owner.Email, tenant.ErrOwned)
		invite("who is in another organisation", operator, org.ID, viewer.Email, tenant.ErrTaken)
		invite("who is invited to another one", operator, org.ID, invited.Email, tenant.ErrTaken)
		_, _, err := w.Invite(t.Context(), operator, org.ID, "joined@example.org", tenant.RoleMember, never)
		want(t, "inviting", err, nil)
		want(t, "joining", w.Join(t.Context(), tenant.User{ID: "usr_joined", Email: "joined@example.org"}), nil)
		invite("who has joined as something else", operator, org.ID, "joined@example.org", tenant.ErrTaken)

		_, _, err = w.Invite(t.Context(), operator, org.ID, stranger.Email, tenant.RoleViewer, never)
		want(t, "inviting", err, nil)
		for range 2 { // also again, before they have joined
			m := invite("who was invited as something else", operator, org.ID, "STRANGER@example.org", nil)
			if m.Role != tenant.RoleOwner || m.State != tenant.Invited || m.Email != stranger.Email ||
				!m.MailedAt.IsZero() {
				t.Errorf("invited %+v", m)
			}
		}
		want(t, "joining", w.Join(t.Context(), stranger), nil)
		if got := must(w.Org(t.Context(), stranger, org.ID))(t); got.Org.Owners != 1 || got.Role != tenant.RoleOwner {
			t.Errorf("%d owners, role %s", got.Org.Owners, got.Role)
		}
		invite("the next one", operator, org.ID, "next@example.org", tenant.ErrOwned)
	})
}

func TestSigningOutEndsPlaygroundKeys(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		mine := must(w.CreatePlaygroundKey(t.Context(), member, w.project.ID, "", never))(t).Key
		theirs := must(w.CreatePlaygroundKey(t.Context(), owner, w.project.ID, "", never))(t).Key
		live := w.liveKey(t)
		_, err := w.EndPlayground(t.Context(), member, member.Email)
		want(t, "by who is no operator", err, tenant.ErrOperatorsOnly)
		ended := must(w.EndPlayground(t.Context(), operator, member.Email))(t)
		if len(ended) != 1 || ended[0].ID != mine.ID {
			t.Errorf("ended %+v, want %s", ended, mine.ID)
		}
		for _, tt := range []struct {
			key     tenant.Key
			revoked bool
		}{{mine, true}, {theirs, false}, {live, false}} {
			var now tenant.Key
			err := w.store.View(t.Context(), func(r tenant.Reader) (err error) {
				now,
					err = r.Key(tt.key.ID)
				return err
			})
			if err != nil || now.RevokedAt.IsZero() == tt.revoked {
				t.Errorf("key %+v, %v: want revoked %v", now, err, tt.revoked)
			}
		}
		if again := must(w.EndPlayground(t.Context(), operator, member.Email))(t); len(again) > 0 {
			t.Errorf("once more: %v", again)
		}
	})
}

package tenant_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
)

func TestLimits(t *testing.T) {
	for what, tt := range map[string]struct {
		have, most int // what the world begins with, and the limit
		refusal    error
		add        func(t *testing.T, w *world, i int) error
	}{
		"organisations of a user": {0, tenant.MaxCreatedOrgs, tenant.ErrTooManyOrgs, func(t *testing.T, w *world, i int) error {
			_, err := w.CreateOrg(t.Context(), member, fmt.Sprint("org ", i), never)
			return err
		}},
		"projects": {1, tenant.MaxProjects, tenant.ErrTooManyProjects, func(t *testing.T, w *world, i int) error {
			_, err := w.CreateProject(t.Context(), member, w.org.ID, fmt.Sprint("project ", i), never)
			return err
		}},
		"members": {4, tenant.MaxMembers, tenant.ErrTooManyMembers, func(t *testing.T, w *world, i int) error {
			_, _, err := w.Invite(t.Context(), owner, w.org.ID, fmt.Sprintf("m%d@example.org", i), "", never)
			return err
		}},
		"voice requests": {0, tenant.MaxVoiceRequests, tenant.ErrTooManyVoiceRequests, func(t *testing.T, w *world, _ int) error {
			v, err := w.CreateVoiceRequest(t.Context(), member, w.org.ID, wish(), never)
			if err == nil {
				_, err = w.WithdrawVoiceRequest(t.Context(), member, v.ID) // which counts all the same
			}
			return err
		}},
	} {
		t.Run(what, func(t *testing.T) {
			inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
				for i := tt.have; i < tt.most; i++ {
					if err := tt.add(t, w, i); err != nil {
						t.Fatalf("number %d of %d is refused: %v", i+1, tt.most, err)
					}
				}
				want(t, fmt.Sprintf("number %d of %d", tt.most+1, tt.most), tt.add(t, w, tt.most), tt.refusal)
			})
		})
	}
}

func TestWhatLimitsLeaveAlone(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		for range tenant.MaxCreatedOrgs {
			must(w.CreateOrg(t.Context(), stranger, "one", never))(t)
		}
		must(w.CreateOrg(t.Context(), operator, "an operator's", never))(t)
		must(w.CreateOrg(t.Context(), member, "of a user who was invited elsewhere", never))(t)

		for i := range tenant.MaxMembers - 4 {
			_, _, err := w.Invite(t.Context(), owner, w.org.ID, fmt.Sprintf("m%d@example.org", i), "", never)
			want(t, "inviting", err, nil)
		}
		_, _, err := w.Invite(t.Context(), owner, w.org.ID, viewer.Email, "", never)
		want(t, "inviting again who is there, in a full organisation", err, nil)
		must(w.RemoveMember(t.Context(), owner, w.org.ID, "m0@example.org"))(t)
		_, _, err = w.Invite(t.Context(), owner, w.org.ID, "late@example.org", "", never)
		want(t, "inviting after a removal", err, nil)
	})
}

func TestJoiningEndsAtTheLimit(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		var orgs []tenant.Org
		for range tenant.MaxJoinedOrgs + 1 {
			org := must(w.CreateOrg(t.Context(), operator, "one of many", never))(t).Org
			_, _, err := w.Invite(t.Context(), operator, org.ID, stranger.Email, tenant.RoleOwner, never)
			want(t, "inviting", err, nil)
			orgs = append(orgs, org)
		}
		mine := must(w.Me(t.Context(), stranger))(t)
		if len(mine) != tenant.MaxJoinedOrgs {
			t.Fatalf("a user of %d invitations is in %d organisations, want %d", len(orgs), len(mine),
				tenant.MaxJoinedOrgs)
		}
		_, err := w.RemoveMember(t.Context(), operator, mine[7].Org.ID, stranger.Email)
		want(t, "removing the only owner", err, tenant.ErrLastOwner)
		_, _, err = w.Invite(t.Context(), operator, mine[7].Org.ID, "other@example.org", tenant.RoleOwner, never)
		want(t, "inviting another", err, nil)
		want(t, "joining", w.Join(t.Context(), tenant.User{ID: "usr_other", Email: "other@example.org"}), nil)
		must(w.RemoveMember(t.Context(), operator, mine[7].Org.ID, stranger.Email))(t)
		if again := must(w.Me(t.Context(), stranger))(t); len(again) != tenant.MaxJoinedOrgs {
			t.Errorf("after leaving one and joining the one that waited the user is in %d, want %d", len(again),
				tenant.MaxJoinedOrgs)
		}
	})
}

func TestListedKeys(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		oldest := w.liveKey(t)
		for i := 1; i < tenant.MaxListedKeys; i++ {
			pass(time.Millisecond)
			must(w.RevokeKey(t.Context(), member, w.liveKey(t).ID))(t)
		}
		list := func() []tenant.Key { return must(w.Keys(t.Context(), viewer, w.org.ID, "", ""))(t) }
		if keys := list(); len(keys) != tenant.MaxListedKeys || keys[len(keys)-1].ID != oldest.ID {
			t.Errorf("%d keys are listed at the limit, want %d with the oldest at the end", len(keys),
				tenant.MaxListedKeys)
		}
		pass(time.Millisecond)
		must(w.RevokeKey(t.Context(), member, w.liveKey(t).ID))(t)
		pass(time.Millisecond)
		newest := w.liveKey(t)
		keys := list()
		if len(keys) != tenant.MaxListedKeys+1 || keys[0].ID != newest.ID || keys[len(keys)-1].ID != oldest.ID {
			t.Errorf("%d keys are listed above the limit, want %d and the active one that is older", len(keys),
				tenant.MaxListedKeys)
		}
		must(w.RevokeKey(t.Context(), member, oldest.ID))(t)
		if keys := list(); len(keys) != tenant.MaxListedKeys {
			t.Errorf("%d keys are listed when the oldest is revoked, want %d", len(keys), tenant.MaxListedKeys)
		}
	})
}

func TestListedVoiceRequests(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		second := must(w.CreateOrg(t.Context(), member, "second", never))(t).Org.ID
		var newest string
		for i := range tenant.MaxVoiceRequests + 1 {
			pass(time.Millisecond)
			v := must(w.CreateVoiceRequest(t.Context(), member, []string{w.org.ID, second}[i%2], wish(), never))(t)
			newest = v.ID
		}
		all := must(w.VoiceRequests(t.Context(), member, ""))(t)
		if len(all) != tenant.MaxVoiceRequests || all[0].ID != newest {
			t.Errorf("%d voice requests of two organisations are listed, want the newest %d", len(all),
				tenant.MaxVoiceRequests)
		}
	})
}

package tenant_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/speech"
)

func TestInviting(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		invite := func(role tenant.Role) (tenant.Member, *tenant.Invitation) {
			t.Helper()
			m, mail, err := w.Invite(t.Context(), owner, w.org.ID, " New@Example.ORG ", role, never)
			want(t, "inviting", err, nil)
			return m, mail
		}
		m, mail := invite("")
		if m.Email != "new@example.org" || m.Role != tenant.RoleMember || m.State != tenant.Invited {
			t.Errorf("invited as %+v", m)
		}
		if m.InvitedBy != owner.Email || m.InvitedAt.IsZero() {
			t.Errorf("invited as %+v, want it to say by whom and when", m)
		}
		if mail == nil || mail.Email != "new@example.org" || mail.OrgID != w.org.ID || mail.OrgName != "Swar" ||
			mail.Role != tenant.RoleMember || mail.InvitedBy != owner.Email {
			t.Errorf("the mail is %+v", mail)
		}
		for _, step := range []struct {
			what   string
			wait   time.Duration
			role   tenant.Role
			mailed bool
			want   tenant.Role
		}{
			{"again at once", 0, "", false, tenant.RoleMember},
			{"with another role", time.Minute, tenant.RoleViewer, false, tenant.RoleViewer},
			{"a microsecond before ten minutes", 9*time.Minute - time.Microsecond, "", false, tenant.RoleViewer},
			{"after ten minutes", time.Microsecond, "", true, tenant.RoleViewer},
			{"and the pause begins anew", 10*time.Minute - time.Microsecond, "", false, tenant.RoleViewer},
			{"until it is over", 2 * time.Microsecond, tenant.RoleOwner, true, tenant.RoleOwner},
		} {
			pass(step.wait)
			m, mail := invite(step.role)
			if (mail != nil) != step.mailed || m.Role != step.want || mail != nil && mail.Role != step.want {
				t.Errorf("%s: mail %+v and role %s, want mailed %v and role %s", step.what, mail, m.Role,
					step.mailed, step.want)
			}
		}
		pass(time.Hour)
		row, mail, err := w.Invite(t.Context(), owner, w.org.ID, viewer.Email, tenant.RoleOwner, never)
		if err != nil || mail != nil || row.Role != tenant.RoleViewer || row.State != tenant.Joined {
			t.Errorf("inviting who has joined gave %+v, %+v, %v, want the row unchanged", row, mail, err)
		}
		_, _, err = w.Invite(t.Context(), owner, w.org.ID, "x@y", "admin", never)
		want(t, "an unknown role", err, tenant.ErrBadRole)
	})
}

func TestEmails(t *testing.T) {
	long := strings.Repeat("a", tenant.MaxEmail-len("@example.org"))
	for name, tt := range map[string]struct {
		email string
		want  error
	}{
		"a plain one":               {"a@example.org", nil},
		"with a plus":               {"a+b@example.org", nil},
		"not ASCII":                 {"आशा@example.org", nil},
		"one byte below the limit":  {long[1:] + "@example.org", nil},
		"at the limit":              {long + "@example.org", nil},
		"one byte above the limit":  {long + "a@example.org", tenant.ErrBadEmail},
		"empty":                     {"", tenant.ErrBadEmail},
		"no @":                      {"example.org", tenant.ErrBadEmail},
		"two @":                     {"a@b@c", tenant.ErrBadEmail},
		"nothing before @":          {"@example.org", tenant.ErrBadEmail},
		"nothing behind @":          {"a@", tenant.ErrBadEmail},
		"a space in it":             {"a b@example.org", tenant.ErrBadEmail},
		"a second header in it":     {"a@example.org\r\nBcc: b@example.org", tenant.ErrBadEmail},
		"a turn of direction in it": {"a\u202eb@example.org", tenant.ErrBadEmail},
		"not UTF-8":                 {"\xff@example.org", tenant.ErrBadEmail},
		"another, in brackets":      {`"a"<b@example.org>`, tenant.ErrBadEmail},
		"a name in quotes":          {`"a"@example.org`, tenant.ErrBadEmail},
		"a comment":                 {"a(b)@example.org", tenant.ErrBadEmail},
		"two, with a comma":         {"a,b@example.org", tenant.ErrBadEmail},
		"two dots":                  {"a..b@example.org", tenant.ErrBadEmail},
		"an invisible letter":       {"a\u200bb@example.org", tenant.ErrBadEmail},
		"a Kelvin sign for a k":     {"\u212aelvin@example.org", tenant.ErrBadEmail},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
				_, _, err := w.Invite(t.Context(), owner, w.org.ID, tt.email, "", never)
				want(t, "inviting", err, tt.want)
			})
		})
	}
}

func TestJoining(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		mine := must(w.Me(t.Context(), invited))(t)
		if len(mine) != 1 || len(mine[0].Projects) != 1 {
			t.Fatalf("who was invited as an owner sees %+v, want one organisation and its project", mine)
		}
		if mine[0].Org.ID != w.org.ID || mine[0].Role != tenant.RoleOwner || mine[0].Org.Owners != 2 {
			t.Errorf("who was invited as an owner sees %+v", mine)
		}
		entries := len(w.log(t))
		want(t, "joining again", w.Join(t.Context(), invited), nil)
		if n := len(w.log(t)); n != entries {
			t.Errorf("joining again made %d entries", n-entries)
		}
		if mine := must(w.Me(t.Context(), stranger))(t); len(mine) != 0 {
			t.Errorf("a stranger sees %+v", mine)
		}
	})
}

func TestAnotherIdentityOfTheSameEmail(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		_, err := w.Me(t.Context(), impostor)
		want(t, "with nothing else to see", err, tenant.ErrOtherIdentity)

		made := must(w.CreateOrg(t.Context(), impostor, "Own", never))(t)
		if mine := must(w.Me(t.Context(), impostor))(t); len(mine) != 1 || mine[0].Org.ID != made.Org.ID {
			t.Errorf("the other identity sees %+v, want only what is its own", mine)
		}
		if got := must(w.VoiceRequests(t.Context(), impostor, ""))(t); len(got) != 0 {
			t.Errorf("the other identity sees the voice requests %+v", got)
		}

		must(w.Unbind(t.Context(), operator, w.org.ID, owner.Email))(t)
		want(t, "before the next sign-in the owner's place", w.Authorize(t.Context(), owner, w.org.ID, ""),
			tenant.ErrNotMember)
		want(t, "joining after Unbind", w.Join(t.Context(), impostor), nil)
		want(t, "after Unbind the other", w.Authorize(t.Context(), impostor, w.org.ID, ""), nil)
		want(t, "after Unbind the first", w.Authorize(t.Context(), owner, w.org.ID, ""), tenant.ErrOtherIdentity)
		if org := must(w.Org(t.Context(), impostor, w.org.ID))(t); org.Org.Owners != 1 || org.Role != tenant.RoleOwner {
			t.Errorf("after Unbind the organisation is %+v, want one owner", org)
		}
	})
}

func TestOnlyInvitedMaySignIn(t *testing.T) {
	guest := tenant.User{ID: "usr_guest", Email: "guest@Partner.example"}
	near := tenant.User{ID: "usr_near", Email: "guest@notpartner.example"}
	cfg := tenant.Config{InvitedOnly: true, Domains: []string{"partner.example"}}
	inWorld(t, cfg, func(t *testing.T, w *world) {
		for name, tt := range map[string]struct {
			user tenant.User
			want error
		}{
			"a member":                     {member, nil},
			"who is invited":               {invited, nil},
			"an e-mail of a listed domain": {guest, nil},
			"a domain that ends like it":   {near, tenant.ErrNotInvited},
			"a stranger":                   {stranger, tenant.ErrNotInvited},
			"an operator":                  {operator, nil},
		} {
			_, err := w.Me(t.Context(), tt.user)
			want(t, name+" signing in", err, tt.want)
			_, err = w.CreateOrg(t.Context(), tt.user, "x", never)
			want(t, name+" creating an organisation", err, tt.want)
		}
	})
}

func TestTheLastOwner(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) { // the second owner is only invited, which does not count
		_, err := w.RemoveMember(t.Context(), owner, w.org.ID, owner.Email)
		want(t, "removing the last owner", err, tenant.ErrLastOwner)
		_, err = w.RemoveMember(t.Context(), operator, w.org.ID, owner.Email)
		want(t, "removing the last owner as an operator", err, tenant.ErrLastOwner)
		_, err = w.SetRole(t.Context(), owner, w.org.ID, owner.Email, tenant.RoleMember)
		want(t, "demoting the last owner", err, tenant.ErrLastOwnerDemoted)
		_, err = w.SetRole(t.Context(), owner, w.org.ID, owner.Email, tenant.RoleOwner)
		want(t, "leaving the last owner an owner", err, nil)

		must(w.SetRole(t.Context(), owner, w.org.ID, member.Email, tenant.RoleOwner))(t)
		must(w.SetRole(t.Context(), member, w.org.ID, owner.Email, tenant.RoleViewer))(t)
		_, err = w.RemoveMember(t.Context(), member, w.org.ID, member.Email)
		want(t, "removing oneself as the last owner", err, tenant.ErrLastOwner)

		want(t, "the invited owner joins", w.Join(t.Context(), invited), nil)
		must(w.RemoveMember(t.Context(), member, w.org.ID, member.Email))(t)
		want(t, "who removed themselves", w.Authorize(t.Context(), member, w.org.ID, ""), tenant.ErrNotMember)
		if got := must(w.Org(t.Context(), invited, w.org.ID))(t).Org.Owners; got != 1 {
			t.Errorf("%d owners are counted, want 1", got)
		}
		_, err = w.RemoveMember(t.Context(), invited, w.org.ID, "nobody@example.org")
		want(t, "removing who is not there", err, tenant.ErrNotFound)
		_, err = w.SetRole(t.Context(), invited, w.org.ID, owner.Email, "boss")
		want(t, "an unknown role", err, tenant.ErrBadRole)
	})
}

func TestPlaygroundKeysGoWithTheirMaker(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, w *world) error{
		"when removed": func(t *testing.T, w *world) error {
			_, err := w.RemoveMember(t.Context(), owner, w.org.ID, member.Email)
			return err
		},
		"when made a viewer": func(t *testing.T, w *world) error {
			_, err := w.SetRole(t.Context(), owner, w.org.ID, member.Email, tenant.RoleViewer)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
				live := w.liveKey(t)
				must(w.CreatePlaygroundKey(t.Context(), member, w.project.ID, "", never))(t)
				kept := must(w.CreatePlaygroundKey(t.Context(), owner, w.project.ID, "", never))(t).Key
				want(t, "leaving", leave(t, w), nil)
				for _, k := range must(w.Keys(t.Context(), owner, w.org.ID, "", tenant.Playground))(t) {
					if k.Revoked() != (k.ID != kept.ID) {
						t.Errorf("the playground key of %s is revoked: %v", k.CreatedBy, k.Revoked())
					}
				}
				if k := must(w.Keys(t.Context(), owner, w.org.ID, "", tenant.Live))(t)[0]; k.ID != live.ID ||
					k.Revoked() {
					t.Errorf("the live key is revoked: %+v", k)
				}
			})
		})
	}
}

func TestTheAuditLogTellsEveryChange(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		name, ctx := "renamed", t.Context()
		created := must(w.CreateKey(ctx, member, w.project.ID, "server", []string{"raj"}, never))(t)
		must(w.UpdateKey(ctx, member, created.Key.ID, tenant.KeyChange{Name: &name}))(t)
		must(w.UpdateKey(ctx, member, created.Key.ID, tenant.KeyChange{Name: &name}))(t) // changes nothing
		must(w.RevokeKey(ctx, owner, created.Key.ID))(t)
		must(w.RevokeKey(ctx, owner, created.Key.ID))(t) // changes nothing
		played := must(w.CreatePlaygroundKey(ctx, member, w.project.ID, "https://example.org", never))(t)
		must(w.UpdateOrg(ctx, owner, w.org.ID, tenant.OrgChange{Name: &name}))(t)
		must(w.UpdateOrg(ctx, owner, w.org.ID, tenant.OrgChange{Name: &name}))(t) // changes nothing
		discloses := tenant.OrgChange{Disclosure: &speech.Disclosure{Set: true, Text: "AI"}}
		must(w.UpdateOrg(ctx, owner, w.org.ID, discloses))(t)
		must(w.UpdateOrg(ctx, owner, w.org.ID, discloses))(t) // changes nothing
		must(w.RenameProject(ctx, owner, w.project.ID, name))(t)
		must(w.SetRole(ctx, owner, w.org.ID, invited.Email, tenant.RoleViewer))(t)
		v := w.voiceRequest(t)
		must(w.MoveVoiceRequest(ctx, operator, v.ID, tenant.Reviewing))(t)
		must(w.WithdrawVoiceRequest(ctx, member, v.ID))(t)
		must(w.Unbind(ctx, operator, w.org.ID, viewer.Email))(t)
		must(w.RemoveMember(ctx, owner, w.org.ID, viewer.Email))(t)

		var got []string
		for _, a := range w.log(t) {
			got = append(got, string(a.Action)+" by "+strings.TrimSuffix(a.Actor, "@example.org"))
			if a.OrgID != w.org.ID || a.At.IsZero() || a.Target == "" || !strings.HasPrefix(a.ID, "aud_") {
				t.Errorf("an entry is %+v", a)
			}
			for k, v := range a.Detail {
				if strings.Contains(v, created.Secret) || strings.Contains(v, played.Secret) ||
					strings.Contains(v, created.Key.Hash.String()) {
					t.Errorf("the detail %s of %s holds a secret", k, a.Action)
				}
			}
		}
		slices.Sort(got)
		want := []string{
			"key.created by member", "key.created by member", "key.revoked by owner", "key.updated by member",
			"member.invited by owner", "member.invited by owner", "member.invited by owner",
			"member.joined by member", "member.joined by viewer",
			"member.removed by owner", "member.role_changed by owner", "member.unbound by operator",
			"org.created by owner", "org.disclosure_changed by owner", "org.renamed by owner", "project.created by owner", "project.renamed by owner",
			"voice_request.created by member", "voice_request.moved by operator", "voice_request.withdrawn by member",
		}
		if !slices.Equal(got, want) {
			t.Errorf("the log tells\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for limit, want := range map[int]error{-1: tenant.ErrBadLimit, 0: nil, 1: nil, 499: nil, 500: nil,
			501: tenant.ErrLimitTooHigh} {
			entries, err := w.AuditLog(ctx, owner, tenant.AuditQuery{OrgID: w.org.ID, Limit: limit})
			if err != want || limit == 1 && len(entries) != 1 {
				t.Errorf("limit %d: %d entries, %v, want %v", limit, len(entries), err, want)
			}
		}
	})
}

func TestWhatWasNotMailed(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		invite := func() *tenant.Invitation {
			t.Helper()
			_, mail, err := w.Invite(t.Context(), owner, w.org.ID, "new@example.org", "", never)
			want(t, "inviting", err, nil)
			return mail
		}
		mailed := func() time.Time {
			t.Helper()
			for _, m := range must(w.Members(t.Context(), owner, w.org.ID))(t) {
				if m.Email == "new@example.org" {
					return m.MailedAt
				}
			}
			t.Fatal("there is no such member")
			return time.Time{}
		}
		first := invite()
		want(t, "taking it back", w.NotMailed(t.Context(), *first), nil)
		if at := mailed(); !at.IsZero() {
			t.Errorf("it was mailed at %v", at)
		}
		pass(time.Minute)
		if invite() == nil {
			t.Fatal("what was not mailed is not mailed again")
		}
		second := mailed()
		want(t, "taking back what came before", w.NotMailed(t.Context(), *first), nil)
		if at := mailed(); second.IsZero() || !at.Equal(second) {
			t.Errorf("it was mailed at %v, want %v", at, second)
		}
		pass(tenant.MailPause)
		want(t, "taking back the next", w.NotMailed(t.Context(), *invite()), nil)
		if at := mailed(); !at.Equal(second) {
			t.Errorf("it was mailed at %v, want %v", at, second)
		}
		must(w.RemoveMember(t.Context(), owner, w.org.ID, "new@example.org"))(t)
		want(t, "of who was removed", w.NotMailed(t.Context(), *first), nil)
	})
}

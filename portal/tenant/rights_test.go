package tenant_test

import (
	"testing"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/speech"
)

func TestWhoMayDoWhat(t *testing.T) {
	const unknownOrg, unknownKey = "org_unknown", "key_unknown"
	name := "new"
	change := tenant.KeyChange{Name: &name}
	// outside: invited, strangers, impostors and who was removed
	type actors struct{ owner, member, viewer, outside error }
	everybody := actors{nil, nil, nil, tenant.ErrNotMember}
	writers := actors{nil, nil, tenant.ErrViewer, tenant.ErrNotMember}
	owners := actors{nil, tenant.ErrOwnersOnly, tenant.ErrOwnersOnly, tenant.ErrNotMember}
	objectWriters := actors{nil, nil, tenant.ErrViewer, tenant.ErrNotFound}
	nobody := actors{tenant.ErrNotMember, tenant.ErrNotMember, tenant.ErrNotMember, tenant.ErrNotMember}
	notFound := actors{tenant.ErrNotFound, tenant.ErrNotFound, tenant.ErrNotFound, tenant.ErrNotFound}
	operators := actors{tenant.ErrOperatorsOnly, tenant.ErrOperatorsOnly, tenant.ErrOperatorsOnly,
		tenant.ErrOperatorsOnly}

	tests := map[string]struct {
		want actors
		do   func(t *testing.T, w *world, u tenant.User) error
	}{
		"reading usage": {everybody, func(t *testing.T, w *world, u tenant.User) error {
			return w.Authorize(t.Context(), u, w.org.ID, "")
		}},
		"reading usage of a project": {everybody, func(t *testing.T, w *world, u tenant.User) error {
			return w.Authorize(t.Context(), u, w.org.ID, w.project.ID)
		}},
		"reading an organisation": {everybody, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.Org(t.Context(), u, w.org.ID)
			return err
		}},
		"reading an unknown organisation": {nobody, func(t *testing.T, w *world, u tenant.User) error {
			return w.Authorize(t.Context(), u, unknownOrg, "")
		}},
		"renaming an organisation": {owners, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.UpdateOrg(t.Context(), u, w.org.ID, tenant.OrgChange{Name: new("new")})
			return err
		}},
		"renaming an unknown organisation": {nobody, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.UpdateOrg(t.Context(), u, unknownOrg, tenant.OrgChange{Name: new("new")})
			return err
		}},
		"changing the disclosure of an organisation": {owners, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.UpdateOrg(t.Context(), u, w.org.ID, tenant.OrgChange{Disclosure: &speech.Disclosure{Set: true}})
			return err
		}},
		"listing members": {everybody, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.Members(t.Context(), u, w.org.ID)
			return err
		}},
		"inviting": {owners, func(t *testing.T, w *world, u tenant.User) error {
			_, _, err := w.Invite(t.Context(), u, w.org.ID, "new@example.org", "", never)
			return err
		}},
		"changing a role": {owners, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.SetRole(t.Context(), u, w.org.ID, invited.Email, tenant.RoleViewer)
			return err
		}},
		"removing a member": {owners, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.RemoveMember(t.Context(), u, w.org.ID, invited.Email)
			return err
		}},
		"letting another identity take a place": {operators, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.Unbind(t.Context(), u, w.org.ID, viewer.Email)
			return err
		}},
		"listing all organisations": {operators, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.Orgs(t.Context(), u, "", 10)
			return err
		}},
		"creating a project": {writers, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.CreateProject(t.Context(), u, w.org.ID, "new", never)
			return err
		}},
		"renaming a project": {objectWriters, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.RenameProject(t.Context(), u, w.project.ID, "new")
			return err
		}},
		"renaming an unknown project": {notFound, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.RenameProject(t.Context(), u, "prj_unknown", "new")
			return err
		}},
		"listing keys": {everybody, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.Keys(t.Context(), u, w.org.ID, w.project.ID, "")
			return err
		}},
		"creating a key": {objectWriters, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.CreateKey(t.Context(), u, w.project.ID, "new", nil, never)
			return err
		}},
		"creating a key in an unknown project": {notFound, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.CreateKey(t.Context(), u, "prj_unknown", "new", nil, never)
			return err
		}},
		"changing a key": {objectWriters, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.UpdateKey(t.Context(), u, w.liveKey(t).ID, change)
			return err
		}},
		"changing an unknown key": {notFound, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.UpdateKey(t.Context(), u, unknownKey, change)
			return err
		}},
		"revoking a key": {objectWriters, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.RevokeKey(t.Context(), u, w.liveKey(t).ID)
			return err
		}},
		"revoking an unknown key": {notFound, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.RevokeKey(t.Context(), u, unknownKey)
			return err
		}},
		"making a playground key": {objectWriters, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.CreatePlaygroundKey(t.Context(), u, w.project.ID, "", never)
			return err
		}},
		"listing voice requests": {everybody, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.VoiceRequests(t.Context(), u, w.org.ID)
			return err
		}},
		"asking for a voice": {writers, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.CreateVoiceRequest(t.Context(), u, w.org.ID, wish(), never)
			return err
		}},
		"withdrawing a member's voice request": {objectWriters, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.WithdrawVoiceRequest(t.Context(), u, w.voiceRequest(t).ID)
			return err
		}},
		"moving a voice request": {operators, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.MoveVoiceRequest(t.Context(), u, w.voiceRequest(t).ID, tenant.Reviewing)
			return err
		}},
		"reading the audit log": {owners, func(t *testing.T, w *world, u tenant.User) error {
			_, err := w.AuditLog(t.Context(), u, tenant.AuditQuery{OrgID: w.org.ID})
			return err
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			elsewhere := tt.want.outside
			if elsewhere == tenant.ErrNotMember {
				elsewhere = tenant.ErrOtherIdentity
			}
			if tt.want == nobody {
				elsewhere = tenant.ErrNotMember
			}
			var byOperator error
			if tt.want == nobody || tt.want == notFound {
				byOperator = tenant.ErrNotFound
			}
			for _, who := range []struct {
				name string
				user tenant.User
				want error
			}{
				{"an owner", owner, tt.want.owner},
				{"a member", member, tt.want.member},
				{"a viewer", viewer, tt.want.viewer},
				{"an invited one", invited, tt.want.outside},
				{"a stranger", stranger, tt.want.outside},
				{"an impostor", impostor, elsewhere},
				{"an operator", operator, byOperator},
			} {
				inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
					before := len(w.log(t))
					err := tt.do(t, w, who.user)
					want(t, who.name, err, who.want)
					if made := len(w.log(t)) - before; err != nil && made > 1 {
						// some calls make a key or a request first
						t.Errorf("%s was refused, but the log has %d new entries", who.name, made)
					}
				})
			}
		})
	}
}

func TestRefusalsHaveKindsAndTexts(t *testing.T) {
	for text, tt := range map[string]struct {
		err  *tenant.Refusal
		kind tenant.Kind
	}{
		"not found":                                                   {tenant.ErrNotFound, tenant.Missing},
		"not a member":                                                {tenant.ErrNotMember, tenant.Forbidden},
		"owners only":                                                 {tenant.ErrOwnersOnly, tenant.Forbidden},
		"viewers may only read":                                       {tenant.ErrViewer, tenant.Forbidden},
		"operators only":                                              {tenant.ErrOperatorsOnly, tenant.Forbidden},
		"email: not a valid address":                                  {tenant.ErrBadEmail, tenant.Invalid},
		"role must be owner, member or viewer":                        {tenant.ErrBadRole, tenant.Invalid},
		"the last owner cannot be removed":                            {tenant.ErrLastOwner, tenant.Invalid},
		"the last owner cannot be demoted":                            {tenant.ErrLastOwnerDemoted, tenant.Invalid},
		"organisation has 50 active keys; revoke one first":           {tenant.ErrTooManyKeys, tenant.Invalid},
		"key is revoked":                                              {tenant.ErrKeyRevoked, tenant.Invalid},
		"unknown voice 'rani'; see /v1/voices":                        {tenant.UnknownVoice("rani"), tenant.Invalid},
		"limit must be at most 500":                                   {tenant.ErrLimitTooHigh, tenant.Invalid},
		"hours: must be in [0, 10000]":                                {tenant.ErrBadHours, tenant.Invalid},
		"a voice request cannot move from submitted to ready":         {tenant.BadMove(tenant.Submitted, tenant.Ready), tenant.Invalid},
		"idempotency-key: was used with a different request":          {tenant.ErrIdempotencyReused, tenant.Invalid},
		"this e-mail is not invited; ask for an invitation":           {tenant.ErrNotInvited, tenant.Forbidden},
		"only the requester or an owner may withdraw a voice request": {tenant.ErrNotRequester, tenant.Forbidden},
	} {
		if tt.err.Error() != text || tt.err.Kind != tt.kind || tt.err.Code == "" {
			t.Errorf("%q has kind %d and code %q, want the text %q and kind %d", tt.err, tt.err.Kind, tt.err.Code,
				text, tt.kind)
		}
	}
}

func TestForeignThingsAreNotFound(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		other := must(w.CreateOrg(t.Context(), stranger, "Other", never))(t)
		want(t, "a foreign project", w.Authorize(t.Context(), owner, w.org.ID, other.Projects[0].ID),
			tenant.ErrNotFound)
		_, err := w.Keys(t.Context(), owner, w.org.ID, other.Projects[0].ID, "")
		want(t, "keys of a foreign project", err, tenant.ErrNotFound)
		_, err = w.CreateKey(t.Context(), owner, other.Projects[0].ID, "k", nil, never)
		want(t, "a key in a foreign project", err, tenant.ErrNotFound)
		k, err := w.RevokeKey(t.Context(), stranger, w.liveKey(t).ID)
		want(t, "revoking a foreign key", err, tenant.ErrNotFound)
		if k.ID != "" {
			t.Errorf("the refusal came with the key %+v", k)
		}
	})
}

func TestAnActorMustBeSomebody(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		for _, u := range []tenant.User{{}, {ID: "usr_owner"}, {Email: owner.Email},
			{ID: "operator", Email: "operator"}} {
			if err := w.Authorize(t.Context(), u, w.org.ID, ""); err == nil {
				t.Errorf("%+v may read", u)
			}
		}
		for _, u := range []tenant.User{{}, {ID: "usr_owner"}, {Email: owner.Email}} {
			if _, err := w.CreateOrg(t.Context(), u, "x", never); err == nil {
				t.Errorf("%+v may create an organisation", u)
			}
			if err := w.Join(t.Context(), u); err == nil {
				t.Errorf("%+v may join", u)
			}
		}
	})
}

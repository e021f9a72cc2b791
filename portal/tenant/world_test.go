package tenant_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/portal/tenant"
)

var (
	owner    = tenant.User{ID: "usr_owner", Email: "owner@example.org"}
	member   = tenant.User{ID: "usr_member", Email: "member@example.org"}
	viewer   = tenant.User{ID: "usr_viewer", Email: "viewer@example.org"}
	invited  = tenant.User{ID: "usr_invited", Email: "invited@example.org"}
	stranger = tenant.User{ID: "usr_stranger", Email: "stranger@example.org"}
	impostor = tenant.User{ID: "usr_impostor", Email: "owner@example.org"} // another identity with the owner's e-mail
	operator = tenant.Operator()

	never = tenant.Idempotency{}
)

// world is an organisation with a member of every sort, on a store that calls every change twice.
type world struct {
	*tenant.Service
	store   *memstore.Store
	org     tenant.Org
	project tenant.Project
}

// inWorld runs a test where time passes only when the test sleeps.
func inWorld(t *testing.T, cfg tenant.Config, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{store: memstore.New()}
		conflict := false
		w.store.RetryWhen(func() bool { conflict = !conflict; return conflict })
		if cfg.Voices == nil {
			cfg.Voices = func() []string { return []string{"anjura", "raj"} }
		}
		w.Service = tenant.New(tenant.Config{Voices: cfg.Voices}, w.store) // so that the world can be made
		made := must(w.CreateOrg(t.Context(), owner, "Swar", never))(t)
		w.org, w.project = made.Org, made.Projects[0]
		w.Service = tenant.New(cfg, w.store)
		w.add(t, member, tenant.RoleMember)
		w.add(t, viewer, tenant.RoleViewer)
		_, _, err := w.Invite(t.Context(), owner, w.org.ID, invited.Email, tenant.RoleOwner, never)
		want(t, "inviting", err, nil)
		test(t, w)
	})
}

// add invites a user, who joins.
func (w *world) add(t *testing.T, u tenant.User, role tenant.Role) {
	t.Helper()
	_, _, err := w.Invite(t.Context(), owner, w.org.ID, u.Email, role, never)
	want(t, "inviting "+u.Email, err, nil)
	want(t, "joining "+u.Email, w.Join(t.Context(), u), nil)
}

func (w *world) liveKey(t *testing.T) tenant.Key {
	t.Helper()
	return must(w.CreateKey(t.Context(), member, w.project.ID, "server", nil, never))(t).Key
}

func (w *world) voiceRequest(t *testing.T) tenant.VoiceRequest {
	t.Helper()
	return must(w.CreateVoiceRequest(t.Context(), member, w.org.ID, wish(), never))(t)
}

func wish() tenant.VoiceRequestInput {
	return tenant.VoiceRequestInput{VoiceName: "Meera", Language: "hi-IN", UseCase: "stories"}
}

// actions returns what the audit log says, newest first.
func (w *world) log(t *testing.T) []tenant.Audit {
	t.Helper()
	return must(w.AuditLog(t.Context(), operator, tenant.AuditQuery{OrgID: w.org.ID, Limit: tenant.MaxAuditLimit}))(t)
}

// must returns a value that came without an error.
func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatalf("unexpected error: %v", err)
		}
		return v
	}
}

// want compares refusals, of which the text counts.
func want(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) || want != nil && got.Error() != want.Error() {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func pass(d time.Duration) { time.Sleep(d) } // in a bubble it takes no time

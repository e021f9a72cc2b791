package tenant_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/access"
)

func TestALiveKey(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		made := must(w.CreateKey(t.Context(), member, w.project.ID, " server ", []string{"raj", "raj"}, never))(t)
		prefix, ok := access.Parse(made.Secret)
		k := made.Key
		if !ok || prefix != access.LivePrefix {
			t.Errorf("the key is %q, want a live one", made.Secret)
		}
		if k.Hash != access.HashOf(made.Secret) || k.ID != k.Hash.KeyID() || k.Prefix != made.Secret[:16] {
			t.Errorf("the key %q has the row %+v", made.Secret, k)
		}
		if k.OrgID != w.org.ID || k.ProjectID != w.project.ID || k.CreatedBy != member.Email || k.CreatedAt.IsZero() {
			t.Errorf("the row is %+v, want the project's, made by %s", k, member.Email)
		}
		if k.Kind != tenant.Live || k.Name != "server" || !slices.Equal(k.Voices, []string{"raj"}) {
			t.Errorf("the row is %+v, want a live key of what was asked", k)
		}
		if k.Revoked() || !k.ExpiresAt.IsZero() || k.Origin != "" {
			t.Errorf("the row is %+v, want a key without an end", k)
		}
		name, voices := "other", []string{}
		for _, step := range []struct {
			what   string
			change tenant.KeyChange
			want   string
		}{
			{"nothing", tenant.KeyChange{}, "server [raj]"},
			{"the name", tenant.KeyChange{Name: &name}, "other [raj]"},
			{"the voices to every voice", tenant.KeyChange{Voices: &voices}, "other []"},
			{"the voices to two", tenant.KeyChange{Voices: &[]string{"raj", "anjura"}}, "other [raj anjura]"},
		} {
			k := must(w.UpdateKey(t.Context(), member, k.ID, step.change))(t)
			listed := must(w.Keys(t.Context(), viewer, w.org.ID, "", ""))(t)[0]
			if got := fmt.Sprint(k.Name, " ", k.Voices); got != step.want ||
				fmt.Sprint(listed.Name, " ", listed.Voices) != step.want {
				t.Errorf("after changing %s the key is %s and listed as %+v, want %s", step.what, got,
					listed, step.want)
			}
		}
		_, err := w.UpdateKey(t.Context(), member, k.ID, tenant.KeyChange{Voices: &[]string{"rani"}})
		want(t, "an unknown voice", err, tenant.UnknownVoice("rani"))
		_, err = w.CreateKey(t.Context(), member, w.project.ID, "k", []string{"raj", "Anjura"}, never)
		want(t, "an unknown voice", err, tenant.UnknownVoice("Anjura"))

		pass(time.Second)
		revoked := must(w.RevokeKey(t.Context(), member, k.ID))(t)
		pass(time.Second)
		again := must(w.RevokeKey(t.Context(), owner, k.ID))(t)
		if !revoked.Revoked() || again.RevokedAt != revoked.RevokedAt ||
			revoked.RevokedAt.Sub(k.CreatedAt) != time.Second {
			t.Errorf("revoked at %v and then at %v, want the first time to stay", revoked.RevokedAt, again.RevokedAt)
		}
		_, err = w.UpdateKey(t.Context(), member, k.ID, tenant.KeyChange{Name: &name})
		want(t, "changing a revoked key", err, tenant.ErrKeyRevoked)
		if got := must(w.Org(t.Context(), owner, w.org.ID))(t).Org.ActiveKeys; got != 0 {
			t.Errorf("%d keys are counted as active, want 0", got)
		}
	})
}

func TestFiftyActiveKeys(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		second := must(w.CreateProject(t.Context(), member, w.org.ID, "second", never))(t)
		var last tenant.Key
		for i := range 50 {
			project := []string{w.project.ID, second.ID}[i%2]
			last = must(w.CreateKey(t.Context(), member, project, "k", nil, never))(t).Key
		}
		_, err := w.CreateKey(t.Context(), owner, w.project.ID, "k", nil, never)
		want(t, "the 51st key", err, tenant.ErrTooManyKeys)
		must(w.CreatePlaygroundKey(t.Context(), owner, w.project.ID, "", never))(t) // does not count
		must(w.RevokeKey(t.Context(), member, last.ID))(t)
		w.liveKey(t)
		_, err = w.CreateKey(t.Context(), owner, w.project.ID, "k", nil, never)
		want(t, "the 51st key after one was replaced", err, tenant.ErrTooManyKeys)
	})
}

func TestPlaygroundKeys(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		create := func(u tenant.User) tenant.Key {
			t.Helper()
			made := must(w.CreatePlaygroundKey(t.Context(), u, w.project.ID, "https://example.org", never))(t)
			if prefix, ok := access.Parse(made.Secret); !ok || prefix != access.PlaygroundPrefix {
				t.Errorf("the key is %q", made.Secret)
			}
			return made.Key
		}
		alive := func(u tenant.User) (n int) {
			for _, k := range must(w.Keys(t.Context(), u, w.org.ID, w.project.ID, tenant.Playground))(t) {
				if k.CreatedBy == u.Email && !k.Revoked() && !k.Expired(time.Now()) {
					n++
				}
			}
			return n
		}
		first := create(member)
		if first.ExpiresAt.Sub(first.CreatedAt) != 7200*time.Second || first.Origin != "https://example.org" ||
			first.Kind != tenant.Playground || len(first.Voices) != 0 {
			t.Errorf("the row is %+v", first)
		}
		if n := len(must(w.Keys(t.Context(), member, w.org.ID, "", ""))(t)); n != 0 {
			t.Errorf("%d playground keys are listed unasked", n)
		}
		for i := range 12 {
			pass(time.Second)
			create(member)
			if got, want := alive(member), min(i+2, 10); got != want {
				t.Errorf("after %d keys %d are alive, want %d", i+2, got, want)
			}
		}
		create(owner)
		if alive(member) != 10 || alive(owner) != 1 {
			t.Errorf("%d and %d keys are alive, want 10 and 1: each user has their own", alive(member), alive(owner))
		}
		keys := must(w.Keys(t.Context(), member, w.org.ID, "", tenant.Playground))(t)
		if oldest := keys[len(keys)-1]; oldest.ID != first.ID || !oldest.Revoked() {
			t.Errorf("the oldest key is %+v, want it revoked", oldest)
		}
		_, err := w.UpdateKey(t.Context(), member, keys[0].ID, tenant.KeyChange{})
		want(t, "changing a playground key", err, tenant.ErrPlaygroundKey)
		must(w.RevokeKey(t.Context(), member, keys[3].ID))(t) // not the owner's, which is among the first two
		create(member)

		pass(7200*time.Second - time.Microsecond)
		if alive(owner) != 1 {
			t.Error("the key ended before its time")
		}
		pass(time.Microsecond)
		if alive(owner) != 0 {
			t.Error("the key is alive after its time")
		}
		before := len(w.log(t))
		create(member)
		if got := len(w.log(t)) - before; got != 1 {
			t.Errorf("%d changes were logged, want 1: keys that have expired are not revoked", got)
		}
	})
}

func TestOrigins(t *testing.T) {
	long := "https://" + strings.Repeat("o", tenant.MaxOrigin-len("https://"))
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		for name, tt := range map[string]struct {
			origin string
			want   error
		}{
			"none":                     {"", nil},
			"a page":                   {"https://example.org:8443", nil},
			"an address":               {"http://[::1]:8080", nil},
			"an app":                   {"capacitor://localhost", nil},
			"one byte below the limit": {long[1:], nil},
			"at the limit":             {long, nil},
			"one byte above the limit": {long + "o", tenant.ErrBadOrigin},
			"a space":                  {"https://a b", tenant.ErrBadOrigin},
			"not ASCII":                {"https://आ", tenant.ErrBadOrigin},
			"of a page without one":    {"null", tenant.ErrBadOrigin},
			"any":                      {"*", tenant.ErrBadOrigin},
			"a path":                   {"https://example.org/", tenant.ErrBadOrigin},
			"a query":                  {"https://example.org?a", tenant.ErrBadOrigin},
			"a user":                   {"https://a@example.org", tenant.ErrBadOrigin},
			"no host":                  {"javascript:1", tenant.ErrBadOrigin},
			"in capitals":              {"HTTPS://example.org", tenant.ErrBadOrigin},
		} {
			_, err := w.CreatePlaygroundKey(t.Context(), owner, w.project.ID, tt.origin, never)
			want(t, name, err, tt.want)
		}
		_, err := w.Keys(t.Context(), owner, w.org.ID, "", "static")
		want(t, "an unknown kind", err, tenant.ErrBadKind)
	})
}

func TestIdempotencyKeys(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		ctx := t.Context()
		once := tenant.Idempotency{Key: "retry-1", Body: access.HashOf("body")}
		first := must(w.CreateKey(ctx, member, w.project.ID, "server", []string{"raj"}, once))(t)
		again := must(w.CreateKey(ctx, member, w.project.ID, "server", []string{"raj"}, once))(t)
		if first.Secret == "" || again.Secret != "" || fmt.Sprint(again.Key) != fmt.Sprint(first.Key) {
			t.Errorf("the answers are %+v and %+v, want the same row, and the secret once", first, again)
		}
		_, err := w.CreateKey(ctx, member, w.project.ID, "server", nil,
			tenant.Idempotency{Key: "retry-1", Body: access.HashOf("other")})
		want(t, "another body", err, tenant.ErrIdempotencyReused)
		if own := must(w.CreateKey(ctx, owner, w.project.ID, "server", nil, once))(t); own.Secret == "" {
			t.Error("another user's key of the same name was taken for a repetition")
		}
		pass(24*time.Hour - time.Microsecond)
		if late := must(w.CreateKey(ctx, member, w.project.ID, "server", nil, once))(t); late.Secret != "" {
			t.Error("a microsecond before a day the request was not remembered")
		}
		pass(time.Microsecond)
		if late := must(w.CreateKey(ctx, member, w.project.ID, "server", nil, once))(t); late.Secret == "" {
			t.Error("after a day the request was still remembered")
		}
		must(w.RemoveMember(ctx, owner, w.org.ID, member.Email))(t)
		_, err = w.CreateKey(ctx, member, w.project.ID, "server", nil, once)
		want(t, "repeating after one's removal", err, tenant.ErrNotFound)

		for name, do := range map[string]func(o tenant.Idempotency) (any, error){
			"CreateOrg":     func(o tenant.Idempotency) (any, error) { return w.CreateOrg(ctx, owner, "x", o) },
			"CreateProject": func(o tenant.Idempotency) (any, error) { return w.CreateProject(ctx, owner, w.org.ID, "x", o) },
			"CreateVoiceRequest": func(o tenant.Idempotency) (any, error) {
				return w.CreateVoiceRequest(ctx, owner, w.org.ID, wish(), o)
			},
			"CreatePlaygroundKey": func(o tenant.Idempotency) (any, error) {
				made, err := w.CreatePlaygroundKey(ctx, owner, w.project.ID, "", o)
				return made.Key, err
			},
			"Invite": func(o tenant.Idempotency) (any, error) {
				m, _, err := w.Invite(ctx, owner, w.org.ID, "once@example.org", "", o)
				pass(time.Hour) // so that a second invitation would be mailed, and the row be another
				return m, err
			},
		} {
			o := tenant.Idempotency{Key: name, Body: access.HashOf(name)}
			first, err1 := do(o)
			second, err2 := do(o)
			if err1 != nil || err2 != nil || fmt.Sprint(first) != fmt.Sprint(second) {
				t.Errorf("%s: %v, %v and %v, %v, want the same answer twice", name, first, err1, second, err2)
			}
			_, err := do(tenant.Idempotency{Key: name, Body: access.HashOf("other")})
			want(t, name+" with another body", err, tenant.ErrIdempotencyReused)
			for what, key := range map[string]string{"empty": "", "a space": "a b", "not ASCII": "ä",
				"too long": strings.Repeat("k", 256)} {
				_, err := do(tenant.Idempotency{Key: key, Body: o.Body})
				want(t, name+" with a key that is "+what, err, tenant.ErrBadIdempotencyKey)
			}
			for _, n := range []int{1, 254, 255} {
				if _, err := do(tenant.Idempotency{Key: strings.Repeat("k", n), Body: o.Body}); err != nil &&
					err != error(tenant.ErrIdempotencyReused) {
					t.Errorf("%s with a key of %d characters: %v", name, n, err)
				}
			}
		}
	})
}

// A refused request must not be remembered: what was in its way may be gone the next time.
func TestRefusalsAreNotRemembered(t *testing.T) {
	inWorld(t, tenant.Config{}, func(t *testing.T, w *world) {
		once := tenant.Idempotency{Key: "retry-1", Body: access.HashOf("body")}
		_, err := w.CreateKey(t.Context(), viewer, w.project.ID, "k", nil, once)
		want(t, "as a viewer", err, tenant.ErrViewer)
		must(w.SetRole(t.Context(), owner, w.org.ID, viewer.Email, tenant.RoleMember))(t)
		if made := must(w.CreateKey(t.Context(), viewer, w.project.ID, "k", nil, once))(t); made.Secret == "" {
			t.Error("the second attempt was taken for a repetition")
		}
	})
}

package rest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/swar-tts/swar/portal/tenant"
)

func TestAnswersAboutKeysWaitForThoseWhoCheckThem(t *testing.T) {
	var mu sync.Mutex
	var known []string
	g := newRig(t, func(c *Config) {
		c.AwaitKey = func(_ context.Context, k tenant.Key) {
			mu.Lock()
			defer mu.Unlock()
			known = append(known, fmt.Sprint(k.ID, " good: ", k.RevokedAt.IsZero(), ", voices: ", k.Voices))
		}
	})
	org, project := g.world()
	body := fmt.Sprintf(`{"project_id":%q,"name":"server"}`, project)
	once := []string{"Idempotency-Key", "once"}
	var want []string
	check := func(doing string, lines ...string) {
		t.Helper()
		want = append(want, lines...)
		if !slices.Equal(known, want) {
			t.Errorf("after %s: known %q, want %q", doing, known, want)
		}
	}
	live := ok[createdKeyAnswer](g, member, "POST", "/portal/v1/keys", body, once...).Row.ID
	check("creating a key", live+" good: true, voices: []")
	ok[any](g, member, "POST", "/portal/v1/keys", body, once...)
	check("repeating that")
	playground := ok[createdKeyAnswer](g, member, "POST", "/portal/v1/playground-key", body).Row.ID
	check("creating a playground key", playground+" good: true, voices: []")
	ok[any](g, member, "PATCH", "/portal/v1/keys/"+live, `{"voices":["raj"]}`)
	check("changing", live+" good: true, voices: [raj]")
	ok[any](g, owner, "PATCH", "/portal/v1/orgs/"+org, `{"disclosure":"AI"}`)
	slices.Sort(known[len(known)-2:]) // they are awaited together
	both := []string{live + " good: true, voices: [raj]", playground + " good: true, voices: []"}
	slices.Sort(both)
	check("setting a disclosure of both", both...)
	ok[any](g, owner, "PATCH", "/portal/v1/orgs/"+org, `{"name":"renamed"}`)
	ok[any](g, viewer, "GET", "/portal/v1/keys?org_id="+org, "")
	g.do(viewer, "DELETE", "/portal/v1/keys/"+live, "")
	g.do(viewer, "POST", "/portal/v1/keys", body)
	check("what changes no key, or is refused")
	g.broken.full = errors.New("disk full")
	g.do(member, "DELETE", "/portal/v1/keys/"+live, "").wantError(t, 503, "not_stored",
		"the key is refused from now on, but that is not stored yet; try again")
	check("revoking without the store", live+" good: false, voices: [raj]")
	g.broken.full = nil
	ok[any](g, member, "DELETE", "/portal/v1/keys/"+live, "")
	check("revoking", live+" good: false, voices: [raj]")
}

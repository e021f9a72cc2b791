package rest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/swar-tts/swar/portal/tenant"
)

func TestRevokingWhileNothingIsStored(t *testing.T) {
	g := newRig(t)
	var refused []string
	g.server.cfg.Tenancy = tenant.New(tenant.Config{
		Refuse: func(k tenant.Key) { refused = append(refused, k.ID) }, Log: g.server.cfg.Log,
	}, g.broken)
	_, project := g.world()
	made := ok[createdKeyAnswer](g, member, "POST", "/portal/v1/keys",
		fmt.Sprintf(`{"project_id":%q,"name":"server"}`, project))
	path := "/portal/v1/keys/" + made.Row.ID
	g.broken.full = fmt.Errorf("the disk is full: %w", tenant.ErrUnavailable)
	for range 2 {
		got := g.do(member, "DELETE", path, "")
		got.wantError(t, 503, "not_stored", "the key is refused from now on, but that is not stored yet; try again")
		if got.header.Get("Retry-After") != "1" {
			t.Errorf("headers %v", got.header)
		}
	}
	g.do(viewer, "DELETE", path, "").wantError(t, 403, "viewer", "viewers may only read")
	g.do(member, "PATCH", path, `{"name":"n"}`).wantError(t, 503, "unavailable", "unavailable; try again")
	if got := slices.Compact(refused); !slices.Equal(got, []string{made.Row.ID}) {
		t.Errorf("refused are %v, want %s", got, made.Row.ID)
	}
	g.broken.full = nil
	if row := ok[struct{ ID, RevokedAt string }](g, member, "DELETE", path, ""); row.ID != made.Row.ID {
		t.Errorf("the answer is %+v", row)
	}
}

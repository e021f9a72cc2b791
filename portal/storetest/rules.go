package storetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/access"
)

var (
	asha = tenant.User{ID: "usr_asha", Email: "asha@example.org"}
	ravi = tenant.User{ID: "usr_ravi", Email: "ravi@example.org"}
)

// newService returns rules over s, and an organisation that asha owns.
func newService(t *testing.T, s tenant.Store) (*tenant.Service, tenant.Membership) {
	t.Helper()
	rules := tenant.New(tenant.Config{Voices: func() []string { return []string{"anjura", "raj"} },
		Now: func() time.Time { return clock }}, s)
	made, err := rules.CreateOrg(t.Context(), asha, "Swar", tenant.Idempotency{})
	if err != nil {
		t.Fatalf("CreateOrg: %v", err)
	}
	return rules, made
}

// fillKeys has 20 creators, taking turns with the rules, make 60 live keys at once, and checks that 50 have come of it.
func fillKeys(t *testing.T, made tenant.Membership, rules ...*tenant.Service) {
	t.Helper()
	var created, refused atomic.Int64
	together(20, func(i int) {
		for range 3 {
			_, err := rules[i%len(rules)].CreateKey(t.Context(), asha, made.Projects[0].ID, "key", nil,
				tenant.Idempotency{})
			switch {
			case err == nil:
				created.Add(1)
			case errors.Is(err, tenant.ErrTooManyKeys):
				refused.Add(1)
			default:
				t.Errorf("CreateKey: %v", err)
			}
		}
	})
	if created.Load() != tenant.MaxActiveKeys || refused.Load() != 60-tenant.MaxActiveKeys {
		t.Errorf("%d keys created and %d refused, want 50 and 10", created.Load(), refused.Load())
	}
	for _, r := range rules {
		keys, err := r.Keys(t.Context(), asha, made.Org.ID, "", "")
		if err != nil || len(keys) != tenant.MaxActiveKeys {
			t.Errorf("%d keys are stored, %v, want 50", len(keys), err)
		}
		in, err := r.Org(t.Context(), asha, made.Org.ID)
		if err != nil || in.Org.ActiveKeys != tenant.MaxActiveKeys {
			t.Errorf("the organisation counts %d keys, %v, want 50", in.Org.ActiveKeys, err)
		}
	}
}

func testKeyLimit(t *testing.T, s tenant.Store) {
	rules, made := newService(t, s)
	fillKeys(t, made, rules)
	keys, err := rules.Keys(t.Context(), asha, made.Org.ID, "", "")
	if err != nil {
		t.Fatal(err)
	}
	together(5, func(int) { // one key, revoked five times, makes room for one
		if _, err := rules.RevokeKey(t.Context(), asha, keys[0].ID); err != nil {
			t.Errorf("RevokeKey: %v", err)
		}
	})
	for i, want := range []error{nil, tenant.ErrTooManyKeys} {
		if _, err := rules.CreateKey(t.Context(), asha, made.Projects[0].ID, "key", nil,
			tenant.Idempotency{}); !errors.Is(err, want) {
			t.Errorf("key %d after one was revoked: %v, want %v", i+1, err, want)
		}
	}
}

func testPlaygroundLimit(t *testing.T, s tenant.Store) {
	rules, made := newService(t, s)
	together(25, func(int) {
		if _, err := rules.CreatePlaygroundKey(t.Context(), asha, made.Projects[0].ID, "",
			tenant.Idempotency{}); err != nil {
			t.Errorf("CreatePlaygroundKey: %v", err)
		}
	})
	alive := read(t, s, func(r tenant.Reader) ([]tenant.Key, error) {
		return r.Keys(tenant.KeyQuery{OrgID: made.Org.ID, Kind: tenant.Playground, Active: true})
	})
	if len(alive) != tenant.MaxPlaygroundKeys {
		t.Errorf("%d playground keys are alive, want %d", len(alive), tenant.MaxPlaygroundKeys)
	}
}

func testLastOwner(t *testing.T, s tenant.Store) {
	rules, made := newService(t, s)
	if _, _, err := rules.Invite(t.Context(), asha, made.Org.ID, ravi.Email, tenant.RoleOwner,
		tenant.Idempotency{}); err != nil {
		t.Fatal(err)
	}
	if err := rules.Join(t.Context(), ravi); err != nil {
		t.Fatal(err)
	}
	var removed atomic.Int64
	together(2, func(i int) {
		who, whom := asha, ravi
		if i == 1 {
			who, whom = ravi, asha
		}
		_, err := rules.RemoveMember(t.Context(), who, made.Org.ID, whom.Email)
		switch {
		case err == nil:
			removed.Add(1)
		case errors.Is(err, tenant.ErrLastOwner), errors.Is(err, tenant.ErrNotMember):
		default:
			t.Errorf("RemoveMember: %v", err)
		}
	})
	left := read(t, s, func(r tenant.Reader) ([]tenant.Member, error) { return r.Members(made.Org.ID) })
	org := read(t, s, func(r tenant.Reader) (tenant.Org, error) { return r.Org(made.Org.ID) })
	if removed.Load() != 1 || len(left) != 1 || org.Owners != 1 {
		t.Errorf("%d removals left %d members and %d owners, want one of each", removed.Load(), len(left), org.Owners)
	}
}

func testRenames(t *testing.T, s tenant.Store) {
	rules, made := newService(t, s)
	together(10, func(i int) {
		if _, err := rules.UpdateOrg(t.Context(), asha, made.Org.ID,
			tenant.OrgChange{Name: new(fmt.Sprintf("name %d", i))}); err != nil {
			t.Errorf("UpdateOrg: %v", err)
		}
	})
	org := read(t, s, func(r tenant.Reader) (tenant.Org, error) { return r.Org(made.Org.ID) })
	entries := read(t, s, func(r tenant.Reader) ([]tenant.Audit, error) {
		return r.Audit(tenant.AuditQuery{OrgID: made.Org.ID, Limit: 100})
	})
	renames := map[string]bool{}
	for _, a := range entries {
		if a.Action == tenant.OrgRenamed {
			renames[a.Detail["name"]] = true
		}
	}
	if !renames[org.Name] || len(renames) != 10 {
		t.Errorf("the name is %q and the log has %d renames, want 10 with that one among them", org.Name, len(renames))
	}
}

func testOnceAtOnce(t *testing.T, s tenant.Store) {
	rules, made := newService(t, s)
	once := tenant.Idempotency{Key: "retry-1", Body: access.HashOf("body")}
	var secrets atomic.Int64
	ids := make([]string, 10)
	together(len(ids), func(i int) {
		created, err := rules.CreateKey(t.Context(), asha, made.Projects[0].ID, "key", nil, once)
		if err != nil {
			t.Errorf("CreateKey: %v", err)
		}
		if ids[i] = created.Key.ID; created.Secret != "" {
			secrets.Add(1)
		}
	})
	keys := read(t, s,
		func(r tenant.Reader) ([]tenant.Key, error) { return r.Keys(tenant.KeyQuery{OrgID: made.Org.ID}) })
	if len(keys) != 1 || secrets.Load() != 1 {
		t.Fatalf("%d keys were made and %d secrets given out, want one of each", len(keys), secrets.Load())
	}
	for _, id := range ids {
		if id != keys[0].ID {
			t.Errorf("an answer names key %s, want %s", id, keys[0].ID)
		}
	}
}

func testSharedRead(t *testing.T, a, b tenant.Store) {
	update(t, a, putAll)
	comesBack(t, b, makeOrg("org_a"), makeProject("prj_a", "org_a"), makeMember("org_a", "a@b"),
		makeKey("key_a", "org_a"),
		makeVoiceRequest("vr_a", "org_a"), makeAudit("aud_a", "org_a"), makeAnswer("s", "k"))
}

func testSharedWatch(t *testing.T, a, b tenant.Store) { watching(t, a, b) }

func testSharedLimit(t *testing.T, a, b tenant.Store) {
	rules, made := newService(t, a)
	others := tenant.New(tenant.Config{Now: func() time.Time { return clock }}, b)
	fillKeys(t, made, rules, others)
}

func testSharedTouch(t *testing.T, a, b tenant.Store) {
	update(t, a, func(tx tenant.Tx) { tx.PutKey(makeActiveKey("key_a", "org_a")) })
	together(10, func(i int) {
		s := a
		if i%2 == 1 {
			s = b
		}
		if err := s.Touch(t.Context(), map[string]time.Time{"key_a": at(i)}); err != nil {
			t.Errorf("Touch: %v", err)
		}
	})
	for _, s := range []tenant.Store{a, b} {
		if got := lastUsed(t, s, "key_a"); got != at(9) {
			t.Errorf("the key was last used at %v, want %v", got, at(9))
		}
	}
}

// Package storetest has the suites that every store of the portal passes: memory, SQLite and Firestore.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/speech"
)

// Tenant tests a store of tenancy, directly and through the rules. open returns an empty store for each test and
// closes it when the test ends, which must be harmless when the test has closed it.
func Tenant(t *testing.T, open func(t *testing.T) tenant.Store) {
	for _, tt := range []struct {
		name string
		test func(t *testing.T, s tenant.Store)
	}{
		{"every field of every record comes back", testFields},
		{"lexicons come back, also the largest", testLexicon},
		{"watchers see all lexicons and then every change", testLexiconWatch},
		{"what is absent stays absent", testAbsent},
		{"times come back in UTC, cut to microseconds", testTimes},
		{"long values come back whole", testLongValues},
		{"strings that databases treat specially are only strings", testOddStrings},
		{"what does not exist is not found", testNotFound},
		{"a put replaces the whole record", testReplace},
		{"what is put or read is copied", testCopies},
		{"lists are in order", testOrder},
		{"keys are filtered", testKeyQueries},
		{"organisations come page by page", testOrgPages},
		{"pages of the audit log join without gap or repetition", testAuditPages},
		{"pages of the audit log are stable while entries are added", testAuditGrowing},
		{"a change that fails leaves nothing behind, and its error is returned as it is", testFailedChange},
		{"a change that panics leaves nothing behind", testPanickingChange},
		{"a read after a write fails, also when the change hides it", testReadAfterWrite},
		{"a record without identifier is an error", testNoIdentifier},
		{"a view sees no change by half", testViewIsOneState},
		{"no increment is lost", testIncrements},
		{"a list that was read counts as read", testPhantoms},
		{"the last use of a key is the latest one, however it is told", testTouch},
		{"a put does not take back a use", testTouchAndPut},
		{"a thousand keys", testThousandKeys},
		{"watchers see all keys and then every change", testWatch},
		{"a watcher that is slow sees the newest state", testSlowWatcher},
		{"many watchers see the same", testManyWatchers},
		{"watching ends with its context, with update and with the store", testWatchEnds},
		{"what has expired is swept, and nothing else", testTenantSweep},
		{"an ended context ends the call and changes nothing", testTenantContext},
		{"a closed store says so", testClosed},
		{"fifty of twenty creators' keys succeed", testKeyLimit},
		{"ten playground keys are alive, however many are made at once", testPlaygroundLimit},
		{"two owners who remove each other leave one", testLastOwner},
		{"of two who rename, one name stays whole", testRenames},
		{"a request that is sent many times at once creates one key", testOnceAtOnce},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, open(t)) })
	}
}

// TenantShared tests two stores on one database, as two processes have it open. open returns both for each test,
// empty, and closes them.
func TenantShared(t *testing.T, open func(t *testing.T) (a, b tenant.Store)) {
	for _, tt := range []struct {
		name string
		test func(t *testing.T, a, b tenant.Store)
	}{
		{"what one writes the other reads", testSharedRead},
		{"a watcher of one sees the changes of the other", testSharedWatch},
		{"a watcher of one sees the lexicons of the other", testSharedLexicons},
		{"entries that both add to one lexicon at once are all kept", testSharedEntries},
		{"the limit of keys holds for both together", testSharedLimit},
		{"the last use is the latest of both", testSharedTouch},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := open(t)
			tt.test(t, a, b)
		})
	}
}

// waitLimit bounds the wait for what another goroutine does. It is far more than anything here takes, and only a
// failure waits for it.
const waitLimit = 30 * time.Second

// clock is when records of these tests are made: some time of a day, in microseconds.
var clock = time.Date(2026, 11, 21, 18, 29, 59, 123456000, time.UTC)

func at(seconds int) time.Time { return clock.Add(time.Duration(seconds) * time.Second) }

func hours(h float64) *float64 { return &h }

// The records of the tests: fields that a test does not look at are filled all the same.

func makeOrg(id string) tenant.Org {
	return tenant.Org{
		ID: id, Name: "आवाज़ Labs 🎙", CreatedAt: clock, CreatedBy: "asha@example.org", ActiveKeys: 3, Owners: 2,
		Disclosure: speech.Disclosure{Set: true, Text: "यह ए आई की 'आवाज़' है।"},
	}
}

func makeProject(id, orgID string) tenant.Project {
	return tenant.Project{ID: id, OrgID: orgID, Name: "हेल्पलाइन", CreatedAt: clock, CreatedBy: "asha@example.org"}
}

func makeMember(orgID, email string) tenant.Member {
	return tenant.Member{
		OrgID: orgID, Email: email, Role: tenant.RoleViewer, State: tenant.Joined, InvitedAt: at(1),
		InvitedBy: "asha@example.org",
		JoinedAt:  at(2), UserID: "usr_1", MailedAt: at(3),
	}
}

func makeKey(id, orgID string) tenant.Key {
	return tenant.Key{
		ID: id, OrgID: orgID, ProjectID: "prj_a", Kind: tenant.Playground, Name: "ब्राउज़र", Prefix: "swar_play_abcdef",
		Hash: access.HashOf(id), Voices: []string{"raj", "anjura"}, Origin: "https://example.org", CreatedAt: clock,
		CreatedBy: "asha@example.org", RevokedAt: at(4), LastUsedAt: at(5), ExpiresAt: at(6),
		Disclosure: speech.Disclosure{Set: true}, OrgDisclosure: speech.Disclosure{Set: true, Text: "AI"},
	}
}

func makeActiveKey(id, orgID string) tenant.Key {
	k := makeKey(id, orgID)
	k.Kind, k.Origin, k.RevokedAt, k.LastUsedAt, k.ExpiresAt = tenant.Live, "", time.Time{}, time.Time{}, time.Time{}
	return k
}

func makeVoiceRequest(id, orgID string) tenant.VoiceRequest {
	return tenant.VoiceRequest{
		ID: id, OrgID: orgID, VoiceName: "मीरा", Language: "hi-IN", UseCase: "कहानियाँ\nऔर समाचार",
		Hours: hours(12.25), Notes: "studio",
		Status: tenant.Reviewing, CreatedAt: clock, CreatedBy: "asha@example.org", UpdatedAt: at(7),
		Moves: []tenant.Move{{At: at(7), By: "operator", To: tenant.Reviewing},
			{At: at(8), By: "operator", To: tenant.Declined}},
	}
}

func makeAudit(id, orgID string) tenant.Audit {
	return tenant.Audit{
		ID: id, OrgID: orgID, At: at(9), Actor: "asha@example.org", Action: tenant.KeyCreated, Target: "key_a",
		Detail: map[string]string{"name": "ब्राउज़र", "a.b": "`dots` and 'quotes'", "": "no name"},
	}
}

func makeAnswer(scope, key string) tenant.Answer {
	return tenant.Answer{Scope: scope, Key: key, Body: access.HashOf("body"), JSON: []byte(`{"a":"\u0000 ä"}`),
		ExpiresAt: at(10)}
}

// update makes a change that must succeed.
func update(t *testing.T, s tenant.Store, change func(tx tenant.Tx)) {
	t.Helper()
	err := s.Update(t.Context(), func(tx tenant.Tx) error {
		change(tx)
		return nil
	})
	if err != nil {
		t.Fatalf("Update: %v", err)
	}
}

// read reads something that must be there.
func read[T any](t *testing.T, s tenant.Store, what func(r tenant.Reader) (T, error)) (v T) {
	t.Helper()
	err := s.View(t.Context(), func(r tenant.Reader) (err error) {
		v, err = what(r)
		return err
	})
	if err != nil {
		t.Fatalf("View: %v", err)
	}
	return v
}

// same compares two records, to which an empty list and none are the same.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(plain(got), plain(want)) {
		t.Errorf("%s came back as\n%+v, want\n%+v", what, got, want)
	}
}

func plain(v any) any {
	switch v := v.(type) {
	case tenant.Key:
		if len(v.Voices) == 0 {
			v.Voices = nil
		}
		return v
	case tenant.VoiceRequest:
		if len(v.Moves) == 0 {
			v.Moves = nil
		}
		return v
	case tenant.Audit:
		if len(v.Detail) == 0 {
			v.Detail = nil
		}
		return v
	case tenant.Answer:
		if len(v.JSON) == 0 {
			v.JSON = nil
		}
		return v
	}
	return v
}

// holds puts a record of each sort and compares what comes back, one by one and in lists.
func holds(t *testing.T, s tenant.Store, o tenant.Org, p tenant.Project, m tenant.Member, k tenant.Key,
	v tenant.VoiceRequest, a tenant.Audit, w tenant.Answer) {
	t.Helper()
	update(t, s, func(tx tenant.Tx) {
		tx.PutOrg(o)
		tx.PutProject(p)
		tx.PutMember(m)
		tx.PutKey(k)
		tx.PutVoiceRequest(v)
		tx.AppendAudit(a)
		tx.PutAnswer(w)
	})
	comesBack(t, s, o, p, m, k, v, a, w)
}

func comesBack(t *testing.T, s tenant.Store, o tenant.Org, p tenant.Project, m tenant.Member, k tenant.Key,
	v tenant.VoiceRequest, a tenant.Audit, w tenant.Answer) {
	t.Helper()
	same(t, "the organisation", read(t, s, func(r tenant.Reader) (tenant.Org, error) { return r.Org(o.ID) }), o)
	same(t, "the project", read(t, s, func(r tenant.Reader) (tenant.Project, error) { return r.Project(p.ID) }), p)
	same(t, "the member",
		read(t, s, func(r tenant.Reader) (tenant.Member, error) { return r.Member(m.OrgID, m.Email) }), m)
	same(t, "the key", read(t, s, func(r tenant.Reader) (tenant.Key, error) { return r.Key(k.ID) }), k)
	same(t, "the voice request",
		read(t, s, func(r tenant.Reader) (tenant.VoiceRequest, error) { return r.VoiceRequest(v.ID) }), v)
	same(t, "the answer",
		read(t, s, func(r tenant.Reader) (tenant.Answer, error) { return r.Answer(w.Scope, w.Key) }), w)

	only(t, "organisations", o, read(t, s, func(r tenant.Reader) ([]tenant.Org, error) { return r.Orgs("", 2) }))
	only(t, "projects", p, read(t, s, func(r tenant.Reader) ([]tenant.Project, error) { return r.Projects(p.OrgID) }))
	only(t, "members", m, read(t, s, func(r tenant.Reader) ([]tenant.Member, error) { return r.Members(m.OrgID) }))
	only(t, "memberships", m,
		read(t, s, func(r tenant.Reader) ([]tenant.Member, error) { return r.Memberships(m.Email) }))
	only(t, "keys", k,
		read(t, s, func(r tenant.Reader) ([]tenant.Key, error) { return r.Keys(tenant.KeyQuery{OrgID: k.OrgID}) }))
	only(t, "voice requests", v,
		read(t, s, func(r tenant.Reader) ([]tenant.VoiceRequest, error) { return r.VoiceRequests(v.OrgID) }))
	only(t, "audit entries", a, read(t, s, func(r tenant.Reader) ([]tenant.Audit, error) {
		return r.Audit(tenant.AuditQuery{OrgID: a.OrgID, Limit: 2})
	}))
}

func only[T any](t *testing.T, what string, want T, got []T) {
	t.Helper()
	if len(got) != 1 {
		t.Errorf("%d %s, want 1", len(got), what)
		return
	}
	same(t, "the list of "+what, got[0], want)
}

func testFields(t *testing.T, s tenant.Store) {
	holds(t, s, makeOrg("org_a"), makeProject("prj_a", "org_a"), makeMember("org_a", "asha@example.org"),
		makeKey("key_a", "org_a"),
		makeVoiceRequest("vr_a", "org_a"), makeAudit("aud_a", "org_a"), makeAnswer("usr_1", "retry-1"))
}

func testAbsent(t *testing.T, s tenant.Store) {
	v := tenant.VoiceRequest{ID: "vr_a", OrgID: "org_a"}
	holds(t, s, tenant.Org{ID: "org_a"}, tenant.Project{ID: "prj_a", OrgID: "org_a"},
		tenant.Member{OrgID: "org_a", Email: "a@b"},
		tenant.Key{ID: "key_a", OrgID: "org_a"}, v, tenant.Audit{ID: "aud_a", OrgID: "org_a"},
		tenant.Answer{Scope: "s", Key: "k"})
	v.Hours = hours(0)
	update(t, s, func(tx tenant.Tx) { tx.PutVoiceRequest(v) })
	if got := read(t, s,
		func(r tenant.Reader) (tenant.VoiceRequest, error) { return r.VoiceRequest("vr_a") }); got.Hours == nil ||
		*got.Hours != 0 {
		t.Errorf("zero hours came back as %v, want a zero that is not absent", got.Hours)
	}
}

func testTimes(t *testing.T, s tenant.Store) {
	kolkata := time.FixedZone("IST", 5*3600+1800)
	for name, in := range map[string]time.Time{
		"nanoseconds are cut":          time.Date(2026, 11, 21, 23, 59, 59, 999_999_999, kolkata),
		"a microsecond":                time.Date(2026, 11, 21, 0, 0, 0, 1_000, time.UTC),
		"a nanosecond less":            time.Date(2026, 11, 21, 0, 0, 0, 999, time.UTC),
		"on the second":                time.Date(2026, 2, 28, 18, 30, 0, 0, kolkata),
		"with a monotonic clock in it": time.Now(),
		"long ago":                     time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC),
		"far ahead":                    time.Date(9998, 12, 31, 23, 59, 59, 999_999_000, time.UTC),
	} {
		want := in.UTC().Truncate(time.Microsecond)
		k := makeKey("key_a", "org_a")
		k.CreatedAt, k.RevokedAt, k.LastUsedAt, k.ExpiresAt = in, in, time.Time{}, in
		v := makeVoiceRequest("vr_a", "org_a")
		v.CreatedAt, v.UpdatedAt, v.Moves = in, in, []tenant.Move{{At: in, To: tenant.Ready}}
		m := makeMember("org_a", "a@b")
		m.InvitedAt, m.JoinedAt, m.MailedAt = in, in, in
		a := makeAnswer("s", "k")
		a.ExpiresAt = in
		update(t, s, func(tx tenant.Tx) {
			tx.PutKey(k)
			tx.PutVoiceRequest(v)
			tx.PutMember(m)
			tx.PutAnswer(a)
		})
		k.CreatedAt, k.RevokedAt, k.ExpiresAt = want, want, want
		v.CreatedAt, v.UpdatedAt, v.Moves[0].At = want, want, want
		m.InvitedAt, m.JoinedAt, m.MailedAt = want, want, want
		a.ExpiresAt = want
		same(t, name+": the key", read(t, s, func(r tenant.Reader) (tenant.Key, error) { return r.Key("key_a") }), k)
		same(t, name+": the voice request",
			read(t, s, func(r tenant.Reader) (tenant.VoiceRequest, error) { return r.VoiceRequest("vr_a") }), v)
		same(t, name+": the member",
			read(t, s, func(r tenant.Reader) (tenant.Member, error) { return r.Member("org_a", "a@b") }), m)
		same(t, name+": the answer",
			read(t, s, func(r tenant.Reader) (tenant.Answer, error) { return r.Answer("s", "k") }), a)
	}
}

func testLongValues(t *testing.T, s tenant.Store) {
	v := makeVoiceRequest("vr_a", "org_a")
	v.UseCase, v.Notes = strings.Repeat("🎙", tenant.MaxUseCase), strings.Repeat("🎙", tenant.MaxNotes)
	o := makeOrg("org_a")
	o.Name = strings.Repeat("ह", tenant.MaxName)
	m := makeMember("org_a", strings.Repeat("a", tenant.MaxEmail-len("@example.org"))+"@example.org")
	k := makeKey("key_a", "org_a")
	k.Origin = "https://" + strings.Repeat("o", tenant.MaxOrigin-len("https://"))
	a := makeAudit("aud_a", "org_a")
	a.Target, a.Detail = m.Email, map[string]string{"name": o.Name, "voices": strings.Repeat("anjura,", 500)}
	w := makeAnswer("usr_1", strings.Repeat("~", tenant.MaxIdempotencyKey))
	w.JSON = []byte(`"` + strings.Repeat("x", 100_000) + `"`)
	holds(t, s, o, makeProject("prj_a", "org_a"), m, k, v, a, w)
}

func testOddStrings(t *testing.T, s tenant.Store) {
	odd := []string{
		"a/b@example.org", "../x@example.org", "__a__@example.org", "%2f@example.org", "o'neil@example.org", `"; drop table members; --@x`,
		"आशा@example.org", "e\u0301@example.org", "\u00e9@example.org", "a+b@example.org", ".@.", "a_%@example.org",
	}
	update(t, s, func(tx tenant.Tx) {
		for _, email := range odd {
			tx.PutMember(makeMember("org_a", email))
			tx.PutAnswer(makeAnswer(email, email))
			a := makeAudit("aud_"+strconv.Itoa(len(email)), "org_a")
			a.Detail = map[string]string{email: email}
			tx.AppendAudit(a)
		}
	})
	for _, email := range odd {
		same(t, email, read(t, s, func(r tenant.Reader) (tenant.Member, error) { return r.Member("org_a", email) }),
			makeMember("org_a", email))
		same(t, email, read(t, s, func(r tenant.Reader) (tenant.Answer, error) { return r.Answer(email, email) }),
			makeAnswer(email, email))
		only(t, "memberships", makeMember("org_a", email),
			read(t, s, func(r tenant.Reader) ([]tenant.Member, error) { return r.Memberships(email) }))
	}
	var got []string
	for _, m := range read(t, s, func(r tenant.Reader) ([]tenant.Member, error) { return r.Members("org_a") }) {
		got = append(got, m.Email)
	}
	want := slices.Sorted(slices.Values(odd))
	if !slices.Equal(got, want) {
		t.Errorf("members are %q, want %q", got, want)
	}
	// Scope and key are told apart, wherever they meet.
	update(t, s, func(tx tenant.Tx) { tx.PutAnswer(makeAnswer("a", "b/c")) })
	if err := s.View(t.Context(),
		func(r tenant.Reader) error { _, err := r.Answer("a/b", "c"); return err }); !errors.Is(err,
		tenant.ErrNotFound) {
		t.Errorf("Answer(a/b, c) = %v, with only (a, b/c) there, want ErrNotFound", err)
	}
}

func testNotFound(t *testing.T, s tenant.Store) {
	lookups := map[string]func(tenant.Reader) error{
		"organisation":  func(r tenant.Reader) error { _, err := r.Org("org_a"); return err },
		"project":       func(r tenant.Reader) error { _, err := r.Project("prj_a"); return err },
		"lexicon":       func(r tenant.Reader) error { _, err := r.Lexicon("prj_a"); return err },
		"member":        func(r tenant.Reader) error { _, err := r.Member("org_a", "a@b"); return err },
		"key":           func(r tenant.Reader) error { _, err := r.Key("key_a"); return err },
		"voice request": func(r tenant.Reader) error { _, err := r.VoiceRequest("vr_a"); return err },
		"answer":        func(r tenant.Reader) error { _, err := r.Answer("s", "k"); return err },
		"an odd id":     func(r tenant.Reader) error { _, err := r.Key("a/b/../__c__ '\"%"); return err },
		"an empty id":   func(r tenant.Reader) error { _, err := r.Project(""); return err },
	}
	for name, lookup := range lookups {
		if err := s.View(t.Context(), lookup); !errors.Is(err, tenant.ErrNotFound) {
			t.Errorf("%s in a view: %v, want ErrNotFound", name, err)
		}
		if err := s.Update(t.Context(), func(tx tenant.Tx) error { return lookup(tx) }); !errors.Is(err,
			tenant.ErrNotFound) {
			t.Errorf("%s in an update: %v, want ErrNotFound", name, err)
		}
	}
	lists := map[string]func(tenant.Reader) (int, error){
		"organisations": func(r tenant.Reader) (int, error) { l, err := r.Orgs("", 10); return len(l), err },
		"projects":      func(r tenant.Reader) (int, error) { l, err := r.Projects("org_a"); return len(l), err },
		"members":       func(r tenant.Reader) (int, error) { l, err := r.Members("org_a"); return len(l), err },
		"memberships":   func(r tenant.Reader) (int, error) { l, err := r.Memberships("a@b"); return len(l), err },
		"keys": func(r tenant.Reader) (int, error) {
			l, err := r.Keys(tenant.KeyQuery{OrgID: "org_a"})
			return len(l), err
		},
		"voice requests": func(r tenant.Reader) (int, error) { l, err := r.VoiceRequests("org_a"); return len(l), err },
		"audit": func(r tenant.Reader) (int, error) {
			l, err := r.Audit(tenant.AuditQuery{OrgID: "org_a", Limit: 10})
			return len(l), err
		},
	}
	for name, list := range lists {
		if n := read(t, s, list); n != 0 {
			t.Errorf("%d %s in an empty store", n, name)
		}
	}
	update(t, s, func(tx tenant.Tx) { tx.DeleteMember("org_a", "a@b") })
}

func testReplace(t *testing.T, s tenant.Store) {
	testFields(t, s)
	update(t, s, func(tx tenant.Tx) {
		tx.PutOrg(tenant.Org{ID: "org_a"})
		tx.PutProject(tenant.Project{ID: "prj_a", OrgID: "org_a"})
		tx.PutMember(tenant.Member{OrgID: "org_a", Email: "asha@example.org"})
		tx.PutKey(tenant.Key{ID: "key_a", OrgID: "org_a"})
		tx.PutVoiceRequest(tenant.VoiceRequest{ID: "vr_a", OrgID: "org_a"})
		tx.PutAnswer(tenant.Answer{Scope: "usr_1", Key: "retry-1"})
	})
	comesBack(t, s, tenant.Org{ID: "org_a"}, tenant.Project{ID: "prj_a", OrgID: "org_a"},
		tenant.Member{OrgID: "org_a", Email: "asha@example.org"},
		tenant.Key{ID: "key_a", OrgID: "org_a", LastUsedAt: at(5)}, tenant.VoiceRequest{ID: "vr_a", OrgID: "org_a"},
		makeAudit("aud_a", "org_a"), tenant.Answer{Scope: "usr_1", Key: "retry-1"})
	update(t, s, func(tx tenant.Tx) { tx.DeleteMember("org_a", "asha@example.org") })
	if n := len(read(t, s,
		func(r tenant.Reader) ([]tenant.Member, error) { return r.Memberships("asha@example.org") })); n != 0 {
		t.Errorf("%d memberships after the only one was deleted", n)
	}
}

func testCopies(t *testing.T, s tenant.Store) {
	spoil := func(k tenant.Key, v tenant.VoiceRequest, a tenant.Audit, w tenant.Answer) {
		k.Voices[0], *v.Hours, v.Moves[0].By, a.Detail["name"], w.JSON[0] = "spoilt", -1, "spoilt", "spoilt", '!'
	}
	update(t, s, func(tx tenant.Tx) {
		k, v, a, w := makeKey("key_a", "org_a"), makeVoiceRequest("vr_a", "org_a"), makeAudit("aud_a", "org_a"),
			makeAnswer("s", "k")
		tx.PutKey(k)
		tx.PutVoiceRequest(v)
		tx.AppendAudit(a)
		tx.PutAnswer(w)
		spoil(k, v, a, w)
	})
	for range 2 {
		err := s.View(t.Context(), func(r tenant.Reader) error {
			k, err1 := r.Key("key_a")
			v, err2 := r.VoiceRequest("vr_a")
			a, err3 := r.Audit(tenant.AuditQuery{OrgID: "org_a", Limit: 1})
			w, err4 := r.Answer("s", "k")
			keys, err5 := r.Keys(tenant.KeyQuery{OrgID: "org_a"})
			requests, err6 := r.VoiceRequests("org_a")
			if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
				return err
			}
			same(t, "the key", k, makeKey("key_a", "org_a"))
			same(t, "the voice request", v, makeVoiceRequest("vr_a", "org_a"))
			same(t, "the audit entry", a[0], makeAudit("aud_a", "org_a"))
			same(t, "the answer", w, makeAnswer("s", "k"))
			spoil(k, v, a[0], w)
			spoil(keys[0], requests[0], a[0], w)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func testOrder(t *testing.T, s tenant.Store) {
	update(t, s, func(tx tenant.Tx) {
		for _, id := range []string{"c", "a", "b", "e", "d"} {
			// a and b are made at one moment, the others one after the other.
			made := at(map[string]int{"a": 10, "b": 10, "c": 0, "d": 30, "e": 20}[id])
			p, k, v, m := makeProject("prj_"+id, "org_a"), makeKey("key_"+id, "org_a"),
				makeVoiceRequest("vr_"+id, "org_a"), makeMember("org_a", id+"@x")
			p.CreatedAt, k.CreatedAt, v.CreatedAt, m.InvitedAt = made, made, made, made
			tx.PutProject(p)
			tx.PutKey(k)
			tx.PutVoiceRequest(v)
			tx.PutMember(m)
			tx.PutMember(makeMember("org_"+id, "everywhere@x"))
			// What belongs to somebody else must not be listed.
			tx.PutProject(makeProject("prj_other_"+id, "org_other"))
			tx.PutKey(makeKey("key_other_"+id, "org_other"))
			tx.PutVoiceRequest(makeVoiceRequest("vr_other_"+id, "org_other"))
			tx.PutMember(makeMember("org_other", id+"@other"))
		}
	})
	list := func(what, want string, ids func(r tenant.Reader) ([]string, error)) {
		t.Helper()
		if got := strings.Join(read(t, s, ids), " "); got != want {
			t.Errorf("%s are %s, want %s", what, got, want)
		}
	}
	list("projects, oldest first,", "prj_c prj_a prj_b prj_e prj_d", func(r tenant.Reader) ([]string, error) {
		l, err := r.Projects("org_a")
		return names(l, func(p tenant.Project) string { return p.ID }), err
	})
	list("keys, newest first,", "key_d key_e key_b key_a key_c", func(r tenant.Reader) ([]string, error) {
		l, err := r.Keys(tenant.KeyQuery{OrgID: "org_a"})
		return names(l, func(k tenant.Key) string { return k.ID }), err
	})
	list("voice requests, newest first,", "vr_d vr_e vr_b vr_a vr_c", func(r tenant.Reader) ([]string, error) {
		l, err := r.VoiceRequests("org_a")
		return names(l, func(v tenant.VoiceRequest) string { return v.ID }), err
	})
	list("members, by e-mail,", "a@x b@x c@x d@x e@x everywhere@x", func(r tenant.Reader) ([]string, error) {
		l, err := r.Members("org_a")
		return names(l, func(m tenant.Member) string { return m.Email }), err
	})
	list("memberships, by organisation,", "org_a org_b org_c org_d org_e", func(r tenant.Reader) ([]string, error) {
		l, err := r.Memberships("everywhere@x")
		return names(l, func(m tenant.Member) string { return m.OrgID }), err
	})
}

func names[T any](list []T, name func(T) string) []string {
	all := make([]string, len(list))
	for i, v := range list {
		all[i] = name(v)
	}
	return all
}

func testKeyQueries(t *testing.T, s tenant.Store) {
	put := func(tx tenant.Tx, n int, id string, change func(k *tenant.Key)) {
		k := makeActiveKey(id, "org_a")
		k.CreatedAt = at(n)
		change(&k)
		tx.PutKey(k)
	}
	update(t, s, func(tx tenant.Tx) {
		put(tx, 1, "live", func(*tenant.Key) {})
		put(tx, 2, "revoked", func(k *tenant.Key) { k.RevokedAt = at(60) })
		put(tx, 3, "project", func(k *tenant.Key) { k.ProjectID = "prj_b" })
		put(tx, 4, "raj's", func(k *tenant.Key) { k.CreatedBy = "raj@example.org" })
		put(tx, 5, "play", func(k *tenant.Key) { k.Kind, k.ExpiresAt = tenant.Playground, at(0) })
		put(tx, 6, "played",
			func(k *tenant.Key) { k.Kind, k.ExpiresAt, k.RevokedAt = tenant.Playground, at(0), at(60) })
		put(tx, 7, "other", func(k *tenant.Key) { k.OrgID = "org_b" })
	})
	for name, tt := range map[string]struct {
		q    tenant.KeyQuery
		want string
	}{
		"of an organisation":     {tenant.KeyQuery{OrgID: "org_a"}, "played play raj's project revoked live"},
		"of another":             {tenant.KeyQuery{OrgID: "org_b"}, "other"},
		"of a project":           {tenant.KeyQuery{OrgID: "org_a", ProjectID: "prj_b"}, "project"},
		"of a foreign project":   {tenant.KeyQuery{OrgID: "org_b", ProjectID: "prj_b"}, ""},
		"of a kind":              {tenant.KeyQuery{OrgID: "org_a", Kind: tenant.Playground}, "played play"},
		"of a user":              {tenant.KeyQuery{OrgID: "org_a", CreatedBy: "raj@example.org"}, "raj's"},
		"not revoked":            {tenant.KeyQuery{OrgID: "org_a", Active: true}, "play raj's project live"},
		"the two newest":         {tenant.KeyQuery{OrgID: "org_a", Limit: 2}, "played play"},
		"fewer than the limit":   {tenant.KeyQuery{OrgID: "org_b", Limit: 2}, "other"},
		"the newest not revoked": {tenant.KeyQuery{OrgID: "org_a", Active: true, Kind: tenant.Live, Limit: 1}, "raj's"},
		"everything at once": {tenant.KeyQuery{
			OrgID: "org_a", ProjectID: "prj_a", Kind: tenant.Playground, CreatedBy: "asha@example.org", Active: true,
			Limit: 10,
		}, "play"},
	} {
		ids := func(r tenant.Reader) ([]string, error) {
			l, err := r.Keys(tt.q)
			return names(l, func(k tenant.Key) string { return k.ID }), err
		}
		if got := strings.Join(read(t, s, ids), " "); got != tt.want {
			t.Errorf("keys %s are %q, want %q", name, got, tt.want)
		}
		err := s.Update(t.Context(), func(tx tenant.Tx) error {
			got, err := ids(tx)
			if strings.Join(got, " ") != tt.want {
				t.Errorf("in a transaction, keys %s are %q, want %q", name, got, tt.want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func testOrgPages(t *testing.T, s tenant.Store) {
	update(t, s, func(tx tenant.Tx) {
		for i := range 7 {
			tx.PutOrg(makeOrg(fmt.Sprintf("org_%d", (i*3)%7)))
		}
	})
	for _, size := range []int{1, 3, 6, 7, 8} {
		var got []string
		for after := ""; ; {
			page := read(t, s, func(r tenant.Reader) ([]tenant.Org, error) { return r.Orgs(after, size) })
			if len(page) > size {
				t.Fatalf("a page of %d, want at most %d", len(page), size)
			}
			if len(page) == 0 {
				break
			}
			got = append(got, names(page, func(o tenant.Org) string { return o.ID })...)
			after = page[len(page)-1].ID
		}
		if want := "org_0 org_1 org_2 org_3 org_4 org_5 org_6"; strings.Join(got, " ") != want {
			t.Errorf("pages of %d give %v, want %s", size, got, want)
		}
	}
}

// appendAudits writes n entries, three at each moment, and as many of another organisation.
func appendAudits(t *testing.T, s tenant.Store, first, n int) {
	t.Helper()
	update(t, s, func(tx tenant.Tx) {
		for i := first; i < first+n; i++ {
			for _, org := range []string{"a", "b"} {
				a := makeAudit(fmt.Sprintf("aud_%s%02d", org, (i*7)%100), "org_"+org)
				a.At = clock.Add(time.Duration(i/3) * time.Microsecond)
				tx.AppendAudit(a)
			}
		}
	})
}

func auditPages(t *testing.T, s tenant.Store, size int, between func()) []tenant.Audit {
	t.Helper()
	var all []tenant.Audit
	q := tenant.AuditQuery{OrgID: "org_a", Limit: size}
	for {
		page := read(t, s, func(r tenant.Reader) ([]tenant.Audit, error) { return r.Audit(q) })
		if len(page) > size {
			t.Fatalf("a page of %d, want at most %d", len(page), size)
		}
		if len(page) == 0 {
			return all
		}
		if all = append(all, page...); len(all) > 1000 {
			t.Fatal("the pages have no end")
		}
		last := page[len(page)-1]
		q.Before = last.Place()
		between()
	}
}

func testAuditPages(t *testing.T, s tenant.Store) {
	appendAudits(t, s, 0, 26)
	whole := auditPages(t, s, 100, func() {})
	if len(whole) != 26 {
		t.Fatalf("%d entries, want 26", len(whole))
	}
	for i, a := range whole {
		if a.OrgID != "org_a" {
			t.Errorf("entry %d belongs to %s, want org_a", i, a.OrgID)
		}
		if i > 0 {
			if b := whole[i-1]; b.At.Before(a.At) || b.At.Equal(a.At) && b.ID <= a.ID {
				t.Errorf("%v %s stands before %v %s", b.At, b.ID, a.At, a.ID)
			}
		}
	}
	for _, size := range []int{1, 3, 7, 25, 26, 27} {
		if got := auditPages(t, s, size, func() {}); !reflect.DeepEqual(got, whole) {
			t.Errorf("pages of %d differ from the whole", size)
		}
	}
}

func testAuditGrowing(t *testing.T, s tenant.Store) {
	appendAudits(t, s, 0, 20)
	whole := auditPages(t, s, 100, func() {})
	next := 20
	got := auditPages(t, s, 6, func() {
		next = (next + 2) / 3 * 3 // at a later moment than all before
		appendAudits(t, s, next, 3)
		next += 3
	})
	if !reflect.DeepEqual(got, whole) {
		t.Errorf("while entries were added the pages held %d entries, want the %d that were there", len(got),
			len(whole))
	}
}

func testFailedChange(t *testing.T, s tenant.Store) {
	broken := errors.New("broken")
	for name, want := range map[string]error{"a fault": broken, "a refusal": tenant.ErrLastOwner,
		"not found": tenant.ErrNotFound} {
		err := s.Update(t.Context(), func(tx tenant.Tx) error {
			putAll(tx)
			return want
		})
		if err != want { //nolint:errorlint // exactly as it is, not wrapped
			t.Errorf("%s: Update = %v, want exactly %v", name, err, want)
		}
		if err := s.View(t.Context(),
			func(tenant.Reader) error { return want }); err != want { //nolint:errorlint // not wrapped
			t.Errorf("%s: View = %v, want exactly %v", name, err, want)
		}
	}
	isEmpty(t, s)
}

func testPanickingChange(t *testing.T, s tenant.Store) {
	func() {
		defer func() {
			if got := recover(); got != "out of luck" {
				t.Errorf("the panic came out as %v", got)
			}
		}()
		_ = s.Update(t.Context(), func(tx tenant.Tx) error {
			putAll(tx)
			panic("out of luck")
		})
	}()
	func() {
		defer func() { _ = recover() }()
		_ = s.View(t.Context(), func(tenant.Reader) error { panic("out of luck") })
	}()
	isEmpty(t, s)
	testFields(t, s) // it still works
}

func putAll(tx tenant.Tx) {
	tx.PutOrg(makeOrg("org_a"))
	tx.PutProject(makeProject("prj_a", "org_a"))
	tx.PutLexicon(makeLexicon("prj_a", "org_a"))
	tx.PutMember(makeMember("org_a", "a@b"))
	tx.PutKey(makeKey("key_a", "org_a"))
	tx.PutVoiceRequest(makeVoiceRequest("vr_a", "org_a"))
	tx.AppendAudit(makeAudit("aud_a", "org_a"))
	tx.PutAnswer(makeAnswer("s", "k"))
}

func isEmpty(t *testing.T, s tenant.Store) {
	t.Helper()
	testNotFound(t, s)
}

func testReadAfterWrite(t *testing.T, s tenant.Store) {
	reads := map[string]func(r tenant.Reader) error{
		"Org":           func(r tenant.Reader) error { _, err := r.Org("org_a"); return err },
		"Orgs":          func(r tenant.Reader) error { _, err := r.Orgs("", 1); return err },
		"Project":       func(r tenant.Reader) error { _, err := r.Project("prj_a"); return err },
		"Lexicon":       func(r tenant.Reader) error { _, err := r.Lexicon("prj_a"); return err },
		"Projects":      func(r tenant.Reader) error { _, err := r.Projects("org_a"); return err },
		"Member":        func(r tenant.Reader) error { _, err := r.Member("org_a", "a@b"); return err },
		"Members":       func(r tenant.Reader) error { _, err := r.Members("org_a"); return err },
		"Memberships":   func(r tenant.Reader) error { _, err := r.Memberships("a@b"); return err },
		"Key":           func(r tenant.Reader) error { _, err := r.Key("key_a"); return err },
		"Keys":          func(r tenant.Reader) error { _, err := r.Keys(tenant.KeyQuery{OrgID: "org_a"}); return err },
		"VoiceRequest":  func(r tenant.Reader) error { _, err := r.VoiceRequest("vr_a"); return err },
		"VoiceRequests": func(r tenant.Reader) error { _, err := r.VoiceRequests("org_a"); return err },
		"Audit": func(r tenant.Reader) error {
			_, err := r.Audit(tenant.AuditQuery{OrgID: "org_a", Limit: 1})
			return err
		},
		"Answer": func(r tenant.Reader) error { _, err := r.Answer("s", "k"); return err },
	}
	writes := map[string]func(tx tenant.Tx){
		"PutOrg":          func(tx tenant.Tx) { tx.PutOrg(makeOrg("org_a")) },
		"PutLexicon":      func(tx tenant.Tx) { tx.PutLexicon(makeLexicon("prj_a", "org_a")) },
		"PutProject":      func(tx tenant.Tx) { tx.PutProject(makeProject("prj_a", "org_a")) },
		"PutMember":       func(tx tenant.Tx) { tx.PutMember(makeMember("org_a", "a@b")) },
		"DeleteMember":    func(tx tenant.Tx) { tx.DeleteMember("org_a", "a@b") },
		"PutKey":          func(tx tenant.Tx) { tx.PutKey(makeKey("key_a", "org_a")) },
		"PutVoiceRequest": func(tx tenant.Tx) { tx.PutVoiceRequest(makeVoiceRequest("vr_a", "org_a")) },
		"AppendAudit":     func(tx tenant.Tx) { tx.AppendAudit(makeAudit("aud_a", "org_a")) },
		"PutAnswer":       func(tx tenant.Tx) { tx.PutAnswer(makeAnswer("s", "k")) },
	}
	attempt := func(write, read string) {
		err := s.Update(t.Context(), func(tx tenant.Tx) error {
			writes[write](tx)
			if err := reads[read](tx); !errors.Is(err, tenant.ErrReadAfterWrite) {
				t.Errorf("%s after %s = %v, want ErrReadAfterWrite", read, write, err)
			}
			return nil
		})
		if !errors.Is(err, tenant.ErrReadAfterWrite) {
			t.Errorf("an Update that hides %s after %s = %v, want ErrReadAfterWrite", read, write, err)
		}
	}
	for read := range reads {
		attempt("PutOrg", read)
	}
	for write := range writes {
		attempt(write, "Org")
	}
	isEmpty(t, s)
}

func testNoIdentifier(t *testing.T, s tenant.Store) {
	for name, put := range map[string]func(tx tenant.Tx){
		"organisation":               func(tx tenant.Tx) { tx.PutOrg(makeOrg("")) },
		"project":                    func(tx tenant.Tx) { tx.PutProject(makeProject("", "org_a")) },
		"lexicon":                    func(tx tenant.Tx) { tx.PutLexicon(makeLexicon("", "org_a")) },
		"lexicon of nobody":          func(tx tenant.Tx) { tx.PutLexicon(makeLexicon("prj_a", "")) },
		"project of nobody":          func(tx tenant.Tx) { tx.PutProject(makeProject("prj_a", "")) },
		"member":                     func(tx tenant.Tx) { tx.PutMember(makeMember("org_a", "")) },
		"member of nothing":          func(tx tenant.Tx) { tx.PutMember(makeMember("", "a@b")) },
		"key":                        func(tx tenant.Tx) { tx.PutKey(makeKey("", "org_a")) },
		"key of nobody":              func(tx tenant.Tx) { tx.PutKey(makeKey("key_a", "")) },
		"voice request":              func(tx tenant.Tx) { tx.PutVoiceRequest(makeVoiceRequest("", "org_a")) },
		"voice request of nobody":    func(tx tenant.Tx) { tx.PutVoiceRequest(makeVoiceRequest("vr_a", "")) },
		"audit entry":                func(tx tenant.Tx) { tx.AppendAudit(makeAudit("", "org_a")) },
		"audit entry about nobody":   func(tx tenant.Tx) { tx.AppendAudit(makeAudit("aud_a", "")) },
		"answer to no key":           func(tx tenant.Tx) { tx.PutAnswer(makeAnswer("s", "")) },
		"answer to nobody":           func(tx tenant.Tx) { tx.PutAnswer(makeAnswer("", "k")) },
		"good one before a bad one ": func(tx tenant.Tx) { putAll(tx); tx.PutOrg(makeOrg("")) },
		"bad one before a good one ": func(tx tenant.Tx) { tx.PutOrg(makeOrg("")); putAll(tx) },
	} {
		err := s.Update(t.Context(), func(tx tenant.Tx) error {
			put(tx)
			return nil
		})
		if err == nil {
			t.Errorf("a %s without identifier was taken", name)
		}
	}
	isEmpty(t, s)
}

func testViewIsOneState(t *testing.T, s tenant.Store) {
	const rounds = 30
	var wg sync.WaitGroup
	var done atomic.Bool
	ctx := t.Context()
	for range 3 {
		wg.Go(func() {
			for !done.Load() {
				err := s.View(ctx, func(r tenant.Reader) error {
					a, err1 := r.Org("org_a")
					b, err2 := r.Org("org_b")
					if (err1 == nil) != (err2 == nil) || a.Name != b.Name {
						t.Errorf("a view saw %q, %v beside %q, %v", a.Name, err1, b.Name, err2)
					}
					return nil
				})
				if err != nil {
					t.Errorf("View: %v", err)
					return
				}
			}
		})
	}
	for i := range rounds {
		update(t, s, func(tx tenant.Tx) {
			a, b := makeOrg("org_a"), makeOrg("org_b")
			a.Name, b.Name = strconv.Itoa(i), strconv.Itoa(i)
			tx.PutOrg(a)
			tx.PutOrg(b)
		})
	}
	done.Store(true)
	wg.Wait()
}

func testIncrements(t *testing.T, s tenant.Store) {
	const writers, each = 10, 5
	update(t, s, func(tx tenant.Tx) { tx.PutOrg(tenant.Org{ID: "org_a"}) })
	var calls atomic.Int64
	together(writers, func(int) {
		for range each {
			err := s.Update(t.Context(), func(tx tenant.Tx) error {
				calls.Add(1)
				o, err := tx.Org("org_a")
				if err != nil {
					return err
				}
				o.ActiveKeys++
				tx.PutOrg(o)
				return nil
			})
			if err != nil {
				t.Errorf("Update: %v", err)
			}
		}
	})
	if got := read(t, s,
		func(r tenant.Reader) (tenant.Org, error) { return r.Org("org_a") }).ActiveKeys; got != writers*each {
		t.Errorf("%d increments counted, want %d", got, writers*each)
	}
	t.Logf("%d changes took %d calls", writers*each, calls.Load())
}

// testPhantoms has many transactions add to a list of which each has read that it is short enough.
func testPhantoms(t *testing.T, s tenant.Store) {
	const most = 3
	q := tenant.KeyQuery{OrgID: "org_a", Active: true, Limit: most}
	var made atomic.Int64
	together(10, func(i int) {
		var full bool
		err := s.Update(t.Context(), func(tx tenant.Tx) error {
			keys, err := tx.Keys(q)
			if full = len(keys) == most; full || err != nil {
				return err
			}
			tx.PutKey(makeActiveKey(fmt.Sprintf("key_%d", i), "org_a"))
			return nil
		})
		if err != nil {
			t.Errorf("Update: %v", err)
		} else if !full {
			made.Add(1)
		}
	})
	all := read(t, s, func(r tenant.Reader) ([]tenant.Key, error) { return r.Keys(tenant.KeyQuery{OrgID: "org_a"}) })
	if len(all) != most || made.Load() != most {
		t.Errorf("%d keys are there and %d were made, want %d", len(all), made.Load(), most)
	}
}

// together runs n goroutines at once and waits for them.
func together(n int, run func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			run(i)
		})
	}
	close(start)
	wg.Wait()
}

func lastUsed(t *testing.T, s tenant.Store, id string) time.Time {
	t.Helper()
	return read(t, s, func(r tenant.Reader) (tenant.Key, error) { return r.Key(id) }).LastUsedAt
}

func testTouch(t *testing.T, s tenant.Store) {
	update(t, s, func(tx tenant.Tx) {
		for _, id := range []string{"key_a", "key_b", "key_c"} {
			tx.PutKey(makeActiveKey(id, "org_a"))
		}
	})
	touch := func(used map[string]time.Time) {
		t.Helper()
		if err := s.Touch(t.Context(), used); err != nil {
			t.Errorf("Touch: %v", err)
		}
	}
	touch(nil)
	touch(map[string]time.Time{"key_a": at(2).Add(999).In(time.FixedZone("IST", 19800)), "key_b": at(1),
		"key_unknown": at(9)})
	touch(map[string]time.Time{"key_a": at(1), "key_b": at(2)})
	touch(map[string]time.Time{"key_a": at(2)})
	for id, want := range map[string]time.Time{"key_a": at(2), "key_b": at(2), "key_c": {}} {
		if got := lastUsed(t, s, id); got != want {
			t.Errorf("%s was last used at %v, want %v", id, got, want)
		}
	}
	if err := s.View(t.Context(),
		func(r tenant.Reader) error { _, err := r.Key("key_unknown"); return err }); !errors.Is(err,
		tenant.ErrNotFound) {
		t.Errorf("after a Touch of an unknown key it is %v, want ErrNotFound", err)
	}
	together(20, func(i int) { touch(map[string]time.Time{"key_c": at((i * 7) % 20)}) })
	if got := lastUsed(t, s, "key_c"); got != at(19) {
		t.Errorf("of 20 uses at once the latest is %v, want %v", got, at(19))
	}
	many := map[string]time.Time{"key_c": at(30)}
	for i := range 1200 {
		many[fmt.Sprintf("key_%d", i)] = at(i)
	}
	touch(many)
	if got := lastUsed(t, s, "key_c"); got != at(30) {
		t.Errorf("of 1201 uses that of a known key is %v, want %v", got, at(30))
	}
}

func testTouchAndPut(t *testing.T, s tenant.Store) {
	k := makeActiveKey("key_a", "org_a")
	k.LastUsedAt = at(1) // as a move from another store brings it
	update(t, s, func(tx tenant.Tx) { tx.PutKey(k) })
	if got := lastUsed(t, s, "key_a"); got != at(1) {
		t.Errorf("a new key was last used at %v, want %v", got, at(1))
	}
	if err := s.Touch(t.Context(), map[string]time.Time{"key_a": at(5)}); err != nil {
		t.Fatal(err)
	}
	k.Name = "renamed"
	for _, used := range []time.Time{at(1), {}} {
		k.LastUsedAt = used
		update(t, s, func(tx tenant.Tx) { tx.PutKey(k) })
		if got := lastUsed(t, s, "key_a"); got != at(5) {
			t.Errorf("after a put with %v the key was last used at %v, want %v", used, got, at(5))
		}
	}
}

func testThousandKeys(t *testing.T, s tenant.Store) {
	for first := 0; first < 1000; first += 100 {
		update(t, s, func(tx tenant.Tx) {
			for i := first; i < first+100; i++ {
				k := makeActiveKey(fmt.Sprintf("key_%04d", i), "org_a")
				k.CreatedAt = at(i)
				tx.PutKey(k)
			}
		})
	}
	keys := read(t, s, func(r tenant.Reader) ([]tenant.Key, error) { return r.Keys(tenant.KeyQuery{OrgID: "org_a"}) })
	if len(keys) != 1000 || keys[0].ID != "key_0999" || keys[999].ID != "key_0000" {
		t.Fatalf("%d keys, want 1000, newest first", len(keys))
	}
	w := startWatch(t, s)
	w.await(t, "1000 keys", func(known map[string]tenant.Key) bool { return len(known) == 1000 })
	w.end(t)
}

func testTenantSweep(t *testing.T, s tenant.Store) {
	const day = 24 * time.Hour
	put := func(tx tenant.Tx, id string, expires time.Time) {
		k := makeActiveKey(id, "org_a")
		k.ExpiresAt = expires
		tx.PutKey(k)
		w := makeAnswer("s", id)
		w.ExpiresAt = expires
		tx.PutAnswer(w)
	}
	update(t, s, func(tx tenant.Tx) {
		putAll(tx) // of these only the answer expires, at(10)
		tx.PutKey(makeActiveKey("key_live", "org_a"))
		revoked := makeActiveKey("key_revoked", "org_a")
		revoked.RevokedAt = at(-1000)
		tx.PutKey(revoked)
		put(tx, "before", clock.Add(-day-time.Microsecond))
		put(tx, "at", clock.Add(-day))
		put(tx, "after", clock.Add(-day+time.Microsecond))
		put(tx, "now", clock)
		put(tx, "soon", clock.Add(time.Microsecond))
	})
	n, err := s.Sweep(t.Context(), clock)
	if err != nil || n != 2+4 {
		t.Errorf("Sweep = %d, %v, want the 2 keys that expired a day ago and 4 answers", n, err)
	}
	keys := names(read(t, s,
		func(r tenant.Reader) ([]tenant.Key, error) { return r.Keys(tenant.KeyQuery{OrgID: "org_a"}) }),
		func(k tenant.Key) string { return k.ID })
	slices.Sort(keys)
	if got, want := strings.Join(keys, " "), "after key_a key_live key_revoked now soon"; got != want {
		t.Errorf("the keys %s are left, want %s", got, want)
	}
	for id, want := range map[string]bool{"k": true, "before": false, "at": false, "after": false, "now": false,
		"soon": true} {
		err := s.View(t.Context(), func(r tenant.Reader) error { _, err := r.Answer("s", id); return err })
		if got := err == nil; got != want || err != nil && !errors.Is(err, tenant.ErrNotFound) {
			t.Errorf("answer %s: %v, want it there: %v", id, err, want)
		}
	}
	if n, err := s.Sweep(t.Context(), clock); n != 0 || err != nil {
		t.Errorf("a second Sweep = %d, %v, want nothing to do", n, err)
	}
}

func testTenantContext(t *testing.T, s tenant.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Update(ctx, func(tx tenant.Tx) error {
		putAll(tx)
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an Update whose context ends on the way = %v, want context.Canceled", err)
	}
	called := false
	for name, err := range map[string]error{
		"View":          s.View(ctx, func(tenant.Reader) error { called = true; return nil }),
		"Update":        s.Update(ctx, func(tx tenant.Tx) error { called = true; putAll(tx); return nil }),
		"Touch":         s.Touch(ctx, map[string]time.Time{"key_a": at(1)}),
		"WatchKeys":     s.WatchKeys(ctx, func([]tenant.Key, bool) error { called = true; return nil }),
		"WatchLexicons": s.WatchLexicons(ctx, func([]tenant.Lexicon, bool) error { called = true; return nil }),
		"Sweep":         func() error { _, err := s.Sweep(ctx, clock); return err }(),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with an ended context = %v, want context.Canceled", name, err)
		}
	}
	if called {
		t.Error("with an ended context something was called")
	}
	isEmpty(t, s)
}

func testClosed(t *testing.T, s tenant.Store) {
	w := startWatch(t, s)
	w.await(t, "the first call", func(map[string]tenant.Key) bool { return true })
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := w.wait(t); !errors.Is(err, tenant.ErrClosed) {
		t.Errorf("the watcher of a closed store ended with %v, want ErrClosed", err)
	}
	ctx := t.Context()
	for name, err := range map[string]error{
		"View":          s.View(ctx, func(tenant.Reader) error { return nil }),
		"Update":        s.Update(ctx, func(tenant.Tx) error { return nil }),
		"Touch":         s.Touch(ctx, map[string]time.Time{"key_a": at(1)}),
		"WatchKeys":     s.WatchKeys(ctx, func([]tenant.Key, bool) error { return nil }),
		"WatchLexicons": s.WatchLexicons(ctx, func([]tenant.Lexicon, bool) error { return nil }),
		"Sweep":         func() error { _, err := s.Sweep(ctx, clock); return err }(),
	} {
		if !errors.Is(err, tenant.ErrClosed) {
			t.Errorf("%s of a closed store = %v, want ErrClosed", name, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close of a closed store: %v", err)
	}
}

// ignoreGoroutines returns a check that every goroutine started since has ended.
func ignoreGoroutines(t *testing.T) (check func()) {
	t.Helper()
	known := goleak.IgnoreCurrent()
	return func() {
		t.Helper()
		goleak.VerifyNone(t, known)
	}
}

func sortedIDs(keys map[string]tenant.Key) string {
	return strings.Join(slices.Sorted(maps.Keys(keys)), " ")
}

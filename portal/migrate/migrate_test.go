package migrate

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/internal/testenv/firestoretest"
	"github.com/swar-tts/swar/portal/firestore"
	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/portal/sqlite"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/access"
	"github.com/swar-tts/swar/runtime/meter"
)

var emulator string

func TestMain(m *testing.M) {
	flag.Parse()
	emulator = firestoretest.Emulator("portal/migrate IS NOT TESTED with Firestore")
	os.Exit(m.Run())
}

// store is what the tests fill and read.
type store interface {
	Store
	usage.Store
}

func openMemory(*testing.T) store { return memstore.New() }

func openSQLite(t *testing.T) store {
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "portal.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func openFirestore(t *testing.T) store {
	if emulator == "" {
		t.Skip("there is no Firestore emulator; hack/firestore-emulator.sh says how to install it")
	}
	s, err := firestore.New(t.Context(), firestore.Config{
		Project: fmt.Sprintf("demo-move-%x", time.Now().UnixNano()), Emulator: emulator,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

var clock = time.Date(2026, 11, 21, 18, 29, 59, 123456000, time.UTC)

func at(seconds int) time.Time { return clock.Add(time.Duration(seconds) * time.Second) }

// fill stores three organisations with everything that an organisation can have, and usage of two sources.
func fill(t *testing.T, s store) {
	t.Helper()
	for n, orgID := range []string{"org_a", "org_b", "org_c"} {
		if orgID == "org_c" { // has nothing but itself
			put(t, s, func(tx tenant.Tx) { tx.PutOrg(tenant.Org{ID: orgID, Name: "खाली"}) })
			continue
		}
		put(t, s, func(tx tenant.Tx) {
			tx.PutOrg(tenant.Org{ID: orgID, Name: "आवाज़", CreatedAt: at(n), CreatedBy: "asha@example.org",
				ActiveKeys: 3 + n, Owners: 2})
			for i := range 3 {
				tx.PutProject(tenant.Project{ID: fmt.Sprintf("prj_%s_%d", orgID, i), OrgID: orgID, Name: "हेल्पलाइन",
					CreatedAt: at(i), CreatedBy: "asha@example.org"})
				tx.PutMember(tenant.Member{
					OrgID: orgID, Email: fmt.Sprintf("आशा%d@example.org", i), Role: tenant.RoleOwner,
					State: tenant.Joined, InvitedAt: at(1), InvitedBy: "a@b",
					JoinedAt: at(2), UserID: "usr_1", MailedAt: at(3),
				})
			}
			hours := 12.25
			tx.PutVoiceRequest(tenant.VoiceRequest{
				ID: "vr_" + orgID, OrgID: orgID, VoiceName: "मीरा", Language: "hi-IN", UseCase: "कहानियाँ",
				Hours: &hours, Notes: "studio", Status: tenant.Reviewing,
				CreatedAt: at(1), CreatedBy: "a@b", UpdatedAt: at(7),
				Moves: []tenant.Move{{At: at(7), By: "operator", To: tenant.Reviewing}},
			})
		})
		for first := 0; first < 120; first += 40 { // more than a batch of the move
			put(t, s, func(tx tenant.Tx) {
				for i := first; i < first+40; i++ {
					hash := access.HashOf(fmt.Sprint(orgID, i))
					k := tenant.Key{
						ID: hash.KeyID(), OrgID: orgID, ProjectID: "prj_" + orgID + "_0", Kind: tenant.Live,
						Name: fmt.Sprint(i), Prefix: "swar_live_abcdef", Hash: hash,
						Voices: []string{"raj"}, Origin: "https://example.org", CreatedAt: at(i), CreatedBy: "a@b",
						LastUsedAt: at(i * 2),
					}
					if i%3 == 0 {
						k.RevokedAt = at(500)
					}
					if i%5 == 0 {
						k.Kind, k.ExpiresAt = tenant.Playground, at(1000)
					}
					tx.PutKey(k)
					tx.AppendAudit(tenant.Audit{
						ID: fmt.Sprintf("aud_%s_%03d", orgID, i), OrgID: orgID, At: at(i / 7), Actor: "a@b",
						Action: tenant.KeyCreated, Target: k.ID,
						Detail: map[string]string{"name": k.Name},
					})
				}
			})
		}
	}
	for _, source := range []string{"src_1", "src/2"} {
		var events []meter.Event
		for i := range 400 {
			e := meter.Event{
				ID: fmt.Sprintf("evt_%s_%d", source, i), Seq: int64(i + 1), Kind: meter.Final, Start: at(i),
				At: at(i + 1), Date: []string{"2026-11-20", "2026-11-21"}[i%2],
				OrgID: []string{"org_a", "org_b"}[i/2%2], ProjectID: "prj_a", KeyID: fmt.Sprintf("key_%d", i%4),
				KeyPrefix: "swar_live_abcdef", RequestID: "कॉल",
				Endpoint: "ws", Voice: "raj", Format: "opus", Status: meter.OK, Frames: int64(i), Billed: int64(i),
				Chars: i, Chunks: 1, TTFAus: int64(1000 * i),
				Queueus: 7, Wallus: 8, Synthus: 9, PrefillCached: i%2 == 0, Seed: -int64(i),
			}
			switch {
			case i%9 == 0: // is running
				e.Kind, e.Status = meter.Progress, ""
			case i%7 == 0:
				e.Status, e.Error, e.Billed = meter.Failed, "worker gone", 0
			}
			events = append(events, e)
		}
		if err := s.Apply(t.Context(), usage.Batch{Batch: meter.Batch{Source: source, Events: events},
			Today: "2026-11-21"}); err != nil {
			t.Fatal(err)
		}
	}
	for i, month := range []string{"2026-09", "2026-10"} {
		if err := s.CloseMonth(t.Context(), usage.ClosedMonth{Month: month, Rate: int64(15 + 5*i),
			ClosedAt: at(i)}); err != nil {
			t.Fatal(err)
		}
	}
}

func put(t *testing.T, s Store, change func(tenant.Tx)) {
	t.Helper()
	if err := s.Update(t.Context(), func(tx tenant.Tx) error { change(tx); return nil }); err != nil {
		t.Fatal(err)
	}
}

// everything is what a store holds, in an order of its own.
type everything struct {
	orgs   []org
	audits []tenant.Audit
	usage  usage.Dump
}

func read(t *testing.T, s Store) (all everything) {
	t.Helper()
	err := eachOrg(t.Context(), s, func(o org) error {
		all.orgs = append(all.orgs, o)
		return eachAudit(t.Context(), s, o.ID, func(page []tenant.Audit) error {
			all.audits = append(all.audits, page...)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	d := &all.usage
	err = s.ExportUsage(t.Context(), func(part usage.Dump) error {
		d.Positions, d.Shards = append(d.Positions, part.Positions...), append(d.Shards, part.Shards...)
		d.Requests, d.Months = append(d.Requests, part.Requests...), append(d.Months, part.Months...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(d.Positions, func(a, b usage.Position) int { return cmp.Compare(a.Source, b.Source) })
	slices.SortFunc(d.Months, func(a, b usage.ClosedMonth) int { return cmp.Compare(a.Month, b.Month) })
	slices.SortFunc(d.Requests, func(a, b usage.Request) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(d.Shards, func(a, b usage.Shard) int {
		return cmp.Or(cmp.Compare(a.OrgID, b.OrgID), cmp.Compare(a.Date, b.Date), cmp.Compare(a.Source, b.Source))
	})
	for i := range all.orgs { // empty lists and none are the same
		o := &all.orgs[i]
		o.projects, o.members, o.keys, o.requests = plain(o.projects), plain(o.members), plain(o.keys),
			plain(o.requests)
	}
	return all
}

func plain[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

func wantSame(t *testing.T, got, want everything) {
	t.Helper()
	if reflect.DeepEqual(got, want) {
		return
	}
	t.Error("the stores do not hold the same")
	for i := range min(len(got.orgs), len(want.orgs)) {
		if !reflect.DeepEqual(got.orgs[i], want.orgs[i]) {
			t.Errorf("organisation\n%.600v, want\n%.600v", got.orgs[i], want.orgs[i])
		}
	}
	if !reflect.DeepEqual(got.audits, want.audits) {
		t.Errorf("audit logs of %d entries, want %d", len(got.audits), len(want.audits))
	}
	if !reflect.DeepEqual(got.usage, want.usage) {
		t.Errorf("usage\n%.900v, want\n%.900v", got.usage, want.usage)
	}
}

func TestMoveThroughEveryStore(t *testing.T) {
	first := openMemory(t)
	fill(t, first)
	want := read(t, first)
	if len(want.orgs) != 3 || len(want.orgs[0].keys) != 120 || len(want.audits) != 240 {
		t.Fatalf("the source has %d organisations, %d audit entries", len(want.orgs), len(want.audits))
	}
	if len(want.usage.Requests) != 800 || len(want.usage.Shards) != 8 {
		t.Fatalf("the source has %d requests, %d shards", len(want.usage.Requests), len(want.usage.Shards))
	}
	from := first
	for _, next := range []struct {
		name string
		open func(*testing.T) store
	}{{"SQLite", openSQLite}, {"Firestore", openFirestore}, {"SQLite again", openSQLite}, {"memory", openMemory}} {
		whole := t // the stores live until the whole chain is over
		t.Run("to "+next.name, func(t *testing.T) {
			if next.name == "Firestore" && emulator == "" {
				t.Skip("there is no Firestore emulator")
			}
			to := next.open(whole)
			counts, err := Move(t.Context(), Config{}, from, to)
			if err != nil {
				t.Fatal(err)
			}
			if counts.Orgs != 3 || counts.Keys != 240 || counts.Audits != 240 {
				t.Errorf("moved %+v, want 3 organisations, 240 keys and as many audit entries", counts)
			}
			if counts.Requests != 800 || counts.Sources != 2 || counts.Months != 2 {
				t.Errorf("moved %+v, want 800 requests, 2 sources and 2 months", counts)
			}
			if counts.InShards != counts.InRequests || counts.InShards.Frames != 2*399*400/2 ||
				counts.InShards.Billed >= counts.InShards.Frames {
				t.Errorf("sums are %+v in shards and %+v in requests, want %d frames", counts.InShards,
					counts.InRequests, 2*399*400/2)
			}
			wantSame(t, read(t, to), want)
			from = to
		})
	}
	// What was moved goes on counting.
	e := meter.Event{ID: "evt_new", Seq: 401, Kind: meter.Final, Start: at(0), At: at(1), Date: "2026-11-21",
		OrgID: "org_a", Status: meter.OK, Frames: 3, Billed: 3}
	if err := from.Apply(t.Context(), usage.Batch{Batch: meter.Batch{Source: "src/2", Events: []meter.Event{e}},
		Today: "2026-11-21"}); err != nil {
		t.Errorf("the next event of a source in the last store: %v", err)
	}
}

func TestMoveRefusesTargets(t *testing.T) {
	from := openMemory(t)
	fill(t, from)
	for name, tt := range map[string]struct {
		spoil  func(s store) error
		resume error // what resuming says; nil: it goes on
	}{
		"with an organisation of its own": {func(s store) error {
			return s.Update(t.Context(), func(tx tenant.Tx) error { tx.PutOrg(tenant.Org{ID: "org_x"}); return nil })
		}, ErrForeign},
		"with one of the source's organisations": {func(s store) error {
			return s.Update(t.Context(), func(tx tenant.Tx) error { tx.PutOrg(tenant.Org{ID: "org_a"}); return nil })
		}, nil},
		"with a source of its own": {func(s store) error {
			return s.ImportUsage(t.Context(), usage.Dump{Positions: []usage.Position{{Source: "src_x", Seq: 1}}})
		}, ErrForeign},
		"where a source is ahead": {func(s store) error {
			return s.ImportUsage(t.Context(), usage.Dump{Positions: []usage.Position{{Source: "src_1", Seq: 401}}})
		}, ErrForeign},
		"where a source is as far": {func(s store) error {
			return s.ImportUsage(t.Context(), usage.Dump{Positions: []usage.Position{{Source: "src_1", Seq: 400}}})
		}, nil},
		"with a closed month of its own": {func(s store) error {
			return s.CloseMonth(t.Context(), usage.ClosedMonth{Month: "2026-08", Rate: 20})
		}, ErrForeign},
		"with another rate": {func(s store) error {
			return s.CloseMonth(t.Context(), usage.ClosedMonth{Month: "2026-10", Rate: 21})
		}, ErrForeign},
	} {
		to := openMemory(t)
		if err := tt.spoil(to); err != nil {
			t.Fatal(err)
		}
		before := read(t, to)
		if _, err := Move(t.Context(), Config{}, from, to); !errors.Is(err, ErrNotEmpty) {
			t.Errorf("a target %s: %v, want ErrNotEmpty", name, err)
		}
		wantSame(t, read(t, to), before)
		_, err := Move(t.Context(), Config{Resume: true}, from, to)
		if !errors.Is(err, tt.resume) || tt.resume == nil && err != nil {
			t.Errorf("resuming into a target %s: %v, want %v", name, err, tt.resume)
		}
		if tt.resume != nil {
			wantSame(t, read(t, to), before)
		} else {
			wantSame(t, read(t, to), read(t, from))
		}
	}
}

// failing is a store whose n-th write fails, before or after it is made.
type failing struct {
	store
	n     int
	after bool
}

var errBroken = errors.New("broken")

func (f *failing) try(write func() error) error {
	f.n--
	if f.n == 0 && !f.after {
		return errBroken
	}
	err := write()
	if f.n == 0 && err == nil {
		err = errBroken
	}
	return err
}

func (f *failing) Update(ctx context.Context, change func(tenant.Tx) error) error {
	return f.try(func() error { return f.store.Update(ctx, change) })
}

func (f *failing) ImportUsage(ctx context.Context, d usage.Dump) error {
	return f.try(func() error { return f.store.ImportUsage(ctx, d) })
}

func TestMoveResumes(t *testing.T) {
	from := openMemory(t)
	fill(t, from)
	want := read(t, from)
	for name, tt := range map[string]struct {
		open func(*testing.T) store
		step int // not every write fails where that takes long
	}{"memory": {openMemory, 1}, "SQLite": {openSQLite, 3}, "Firestore": {openFirestore, 5}} {
		t.Run("into "+name, func(t *testing.T) {
			for _, after := range []bool{false, true} {
				for n := 1; ; n += tt.step {
					to := tt.open(t)
					_, err := Move(t.Context(), Config{}, from, &failing{to, n, after})
					if err == nil {
						if n < 8 {
							t.Errorf("the move had %d writes, want more", n-1)
						}
						break
					}
					if !errors.Is(err, errBroken) {
						t.Fatalf("write %d: %v", n, err)
					}
					if _, err := Move(t.Context(), Config{Resume: true}, from, to); err != nil {
						t.Errorf("resuming after write %d: %v", n, err)
					}
					wantSame(t, read(t, to), want)
				}
			}
		})
	}
}

// lossy is a store that forgets some of what is imported into it.
type lossy struct {
	store
	forget func(*usage.Dump)
}

func (l lossy) ImportUsage(ctx context.Context, d usage.Dump) error {
	d.Shards, d.Requests, d.Positions, d.Months = slices.Clone(d.Shards), slices.Clone(d.Requests),
		slices.Clone(d.Positions), slices.Clone(d.Months)
	l.forget(&d)
	return l.store.ImportUsage(ctx, d)
}

func TestMoveCounts(t *testing.T) {
	from := openMemory(t)
	fill(t, from)
	for want, forget := range map[string]func(*usage.Dump){
		"799 of 800 requests": func(d *usage.Dump) {
			d.Requests = slices.DeleteFunc(d.Requests, func(r usage.Request) bool { return r.ID == "evt_src_1_5" })
		},
		"7 of 8 shards": func(d *usage.Dump) {
			d.Shards = slices.DeleteFunc(d.Shards,
				func(s usage.Shard) bool { return s.OrgID+s.Date+s.Source == "org_a2026-11-20src_1" })
		},
		"1 of 2 sources of usage": func(d *usage.Dump) {
			d.Positions = slices.DeleteFunc(d.Positions, func(p usage.Position) bool { return p.Source == "src_1" })
		},
		"0 of 2 closed months": func(d *usage.Dump) { d.Months = nil },
		"159599 of 159600 frames in requests": func(d *usage.Dump) {
			for i := range d.Requests {
				if d.Requests[i].ID == "evt_src_1_5" {
					d.Requests[i].Frames--
				}
			}
		},
		"billed frames in shards": func(d *usage.Dump) {
			for i := range d.Shards {
				d.Shards[i].Billed++
			}
		},
	} {
		_, err := Move(t.Context(), Config{}, from, lossy{openMemory(t), forget})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want it to say %q", err, want)
		}
	}
}

func TestMoveTellsItsProgress(t *testing.T) {
	from := openMemory(t)
	fill(t, from)
	var last Counts
	calls := 0
	got, err := Move(t.Context(), Config{Progress: func(c Counts) {
		for i, k := range c.Kinds()[:10] {
			if k.Count < last.Kinds()[i].Count {
				t.Errorf("%s went back to %d", k.Name, k.Count)
			}
		}
		last = c
		calls++
	}}, from, openMemory(t))
	if err != nil || got != last || calls < 8 {
		t.Errorf("moved %+v (%v), last told %+v in %d calls", got, err, last, calls)
	}
}

func TestMoveEndsWithItsContext(t *testing.T) {
	from := openMemory(t)
	fill(t, from)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Move(ctx, Config{Progress: func(c Counts) {
		if c.Orgs == 2 {
			cancel()
		}
	}}, from, openMemory(t))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v, want context.Canceled", err)
	}
}

package firestore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/firestore/apiv1/firestorepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/ident"
	"github.com/swar-tts/swar/runtime/meter"
)

// commits counts what is sent in commits.
type commits struct {
	mu    sync.Mutex
	most  int // writes of a commit, its increments and maxima counted as one more for each document
	bytes int // of the largest cells of a commit, all shards together
	n     int
}

func (c *commits) dial() grpc.DialOption {
	return grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
		invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if r, ok := req.(*firestorepb.CommitRequest); ok && len(r.GetWrites()) > 0 {
			writes, size := 0, 0
			for _, w := range r.GetWrites() {
				writes++
				if len(w.GetUpdateTransforms()) > 0 {
					writes++
				}
				size += len(w.GetUpdate().GetFields()["cells"].GetBytesValue())
			}
			c.mu.Lock()
			c.n, c.most, c.bytes = c.n+1, max(c.most, writes), max(c.bytes, size)
			c.mu.Unlock()
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	})
}

// eventsOf spreads events over organisations and keys.
func eventsOf(n, orgs, keys int) []meter.Event {
	all := events("src", 1, n)
	for i := range all {
		all[i].OrgID, all[i].KeyID = fmt.Sprintf("org_%d", i%orgs), fmt.Sprintf("key_%026d", i%keys)
		all[i].TTFAus = int64(10_000 + i*97%300_000)
	}
	return all
}

func TestBookingFitsTransactions(t *testing.T) {
	for _, tt := range []struct{ events, orgs, commits int }{
		{maxEvents - 1, 1, 1},
		{maxEvents, maxEvents, 1},
		{maxEvents + 1, 1, 2},
		{3 * maxEvents, 3 * maxEvents, 3}, // the most writes that there can be: a shard for each event
	} {
		t.Run(fmt.Sprintf("%d events of %d organisations", tt.events, tt.orgs), func(t *testing.T) {
			t.Parallel()
			c := &commits{}
			s := openProject(t, newProject(), nil, c.dial())
			all := eventsOf(tt.events, tt.orgs, 1)
			for range 2 { // the second time all is known
				if err := book(t.Context(), s, "src", all); err != nil {
					t.Fatal(err)
				}
			}
			if c.most > 500 || c.n != tt.commits {
				t.Errorf("%d commits of up to %d writes, want %d of up to 500", c.n, c.most, tt.commits)
			}
			wantTotals(t, s, usage.Totals{Requests: int64(tt.events), Frames: 7 * int64(tt.events),
				Billed: 7 * int64(tt.events)})
		})
	}
}

func wantTotals(t *testing.T, s *Store, want usage.Totals) {
	t.Helper()
	sums, err := s.Compare(t.Context(), "2026-11-21")
	if err != nil {
		t.Fatal(err)
	}
	var shards, rows usage.Totals
	for _, c := range sums {
		shards.Add(c.Shards)
		rows.Add(c.Requests)
	}
	if shards != want || rows != want {
		t.Errorf("booked %+v in shards and %+v in rows, want %+v", shards, rows, want)
	}
}

// bigShard returns a shard with so many cells, folded from events.
func bigShard(t *testing.T, orgID string, keys int) usage.Shard {
	t.Helper()
	all := eventsOf(keys, 1, keys)
	for i := range all {
		all[i].OrgID = orgID
	}
	k, err := usage.Aggregate(usage.Batch{Batch: meter.Batch{Source: "src", Events: all}, Today: "2026-11-21"},
		usage.Position{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	shard, err := k.Shards[0].Fold(usage.Shard{})
	if err != nil {
		t.Fatal(err)
	}
	return shard
}

// unhurried is for tests of how much there is: with the race detector, folding it takes longer than a call may.
func unhurried(cfg *Config) { cfg.CallTimeout, cfg.Timeout = 10*time.Minute, 10*time.Minute }

func TestLargeShards(t *testing.T) {
	t.Parallel()
	s := openProject(t, newProject(), unhurried)
	shard := bigShard(t, "org_0", 22_000)
	if len(shard.Cells) < 1<<20 {
		t.Fatalf("the shard has %d bytes, which is not more than a document", len(shard.Cells))
	}
	if err := s.ImportUsage(t.Context(), usage.Dump{Shards: []usage.Shard{shard}}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Shards(t.Context(), "org_0", "2026-11-21", "2026-11-21")
	if err != nil || len(got) != 1 || !bytes.Equal(got[0].Cells, shard.Cells) {
		t.Fatalf("%d shards (%v), want the one that was stored", len(got), err)
	}
	if err := book(t.Context(), s, "src", eventsOf(1, 1, 1)); err != nil { // which is folded over it
		t.Fatal(err)
	}
	if got, err = s.Shards(t.Context(), "org_0", "2026-11-21", "2026-11-21"); err != nil || got[0].Requests != 22_001 ||
		len(got[0].Cells) < len(shard.Cells) {
		t.Errorf("afterwards it holds %d requests in %d bytes (%v), want 22,001", got[0].Requests,
			len(got[0].Cells), err)
	}
}

// Shards that do not fit into one document together stay as they are.
func TestShardsThatAreTooLargeTogether(t *testing.T) {
	t.Parallel()
	s := openProject(t, newProject(), unhurried)
	var want usage.Totals
	for _, source := range []string{"src_1", "src_2"} {
		all := eventsOf(30_000, 1, 1)
		for i := range all {
			all[i].KeyID = ident.New("key_") // which cannot be packed
		}
		b := usage.Batch{Batch: meter.Batch{Source: source, Events: all}, Today: "2026-11-21"}
		k, err := usage.Aggregate(b, usage.Position{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		shard, err := k.Shards[0].Fold(usage.Shard{})
		if err != nil {
			t.Fatal(err)
		}
		want.Add(shard.Totals)
		if err := s.ImportUsage(t.Context(), usage.Dump{Shards: []usage.Shard{shard}}); err != nil {
			t.Fatal(err)
		}
	}
	if fewer, err := s.MergeShards(t.Context(), "2026-11-21"); err != nil || fewer != 0 {
		t.Errorf("MergeShards = %d, %v; want them left alone", fewer, err)
	}
	shards, err := s.Shards(t.Context(), "org_0", "2026-11-21", "2026-11-21")
	var got usage.Totals
	for _, shard := range shards {
		got.Add(shard.Totals)
	}
	if err != nil || len(shards) != 2 || got != want {
		t.Errorf("%d shards (%v) hold %+v, want 2 with %+v", len(shards), err, got, want)
	}
}

func TestShardsThatAreTooLarge(t *testing.T) {
	random := usage.Shard{ShardKey: usage.ShardKey{OrgID: "org_a", Source: "src", Date: "2026-11-21"}}
	for seed := uint32(1); len(random.Cells) < 2<<20; { // which cannot be packed
		seed = seed*1664525 + 1013904223
		random.Cells = append(random.Cells, byte(seed>>24))
	}
	if _, err := newShardDoc(random); err == nil || !strings.Contains(err.Error(), "org_a on 2026-11-21") {
		t.Errorf("a shard of %d bytes that cannot be packed: %v, want an error that names it", len(random.Cells), err)
	}
	for size, packed := range map[int]bool{packFrom - 1: false, packFrom: false, packFrom + 1: true} {
		random.Cells = random.Cells[:size]
		d, err := newShardDoc(random)
		if err != nil || d.Packed != packed {
			t.Errorf("cells of %d bytes are packed: %v (%v), want %v", size, d.Packed, err, packed)
		}
		if back, err := d.shard(); err != nil || !bytes.Equal(back.Cells, random.Cells) {
			t.Errorf("cells of %d bytes do not come back: %v", size, err)
		}
		random.Cells = random.Cells[:2<<20]
	}
}

// Many large shards in one batch do not fit into one request.
func TestBookingFitsRequests(t *testing.T) {
	t.Parallel()
	c := &commits{}
	s := openProject(t, newProject(), unhurried, c.dial())
	const orgs = 30
	shard := bigShard(t, "org_0", 7000) // just not packed
	if len(shard.Cells) > packFrom || len(shard.Cells)*orgs < 10<<20 {
		t.Fatalf("shards have %d bytes", len(shard.Cells))
	}
	for i := range orgs {
		shard.OrgID = fmt.Sprintf("org_%d", i)
		if err := s.ImportUsage(t.Context(), usage.Dump{Shards: []usage.Shard{shard}}); err != nil {
			t.Fatal(err)
		}
	}
	c.n, c.bytes = 0, 0
	if err := book(t.Context(), s, "src", eventsOf(orgs, orgs, 1)); err != nil {
		t.Fatal(err)
	}
	if c.n < 2 || c.bytes > maxBytes {
		t.Errorf("%d commits of up to %d bytes, want several of up to %d", c.n, c.bytes, maxBytes)
	}
	days, err := s.Days(t.Context(), "org_29", "2026-11-21", "2026-11-21")
	if err != nil || len(days) != 1 || days[0].Requests != 7001 {
		t.Errorf("the last organisation has %+v (%v), want 7001 requests", days, err)
	}
}

// A commit that was given up may come through later than anybody looks for it.
func TestLateCommits(t *testing.T) {
	for name, tt := range map[string]struct {
		rival int // the attempt whose mark stands there when the first one commits
		want  error
	}{
		"its own, sent twice": {1, nil},
		"that of another":     {7, tenant.ErrUnavailable},
	} {
		t.Run("the mark is "+name, func(t *testing.T) {
			t.Parallel()
			project := newProject()
			rival := openProject(t, project, nil)
			s := openProject(t, project, nil,
				grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req, reply any,
					cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
					if r, ok := req.(*firestorepb.CommitRequest); ok {
						for _, w := range r.GetWrites() {
							if path := w.GetUpdate().GetName(); strings.Contains(path, "/commits/") {
								if _, err := rival.client.Collection("commits").Doc(path[strings.LastIndexByte(path,
									'/')+1:]).Set(ctx, map[string]any{markAttempt: tt.rival}); err != nil {
									t.Error(err)
								}
							}
						}
					}
					return invoke(ctx, method, req, reply, cc, opts...)
				}))
			err := s.Update(t.Context(), func(tx tenant.Tx) error { tx.PutOrg(tenant.Org{ID: "org_a"}); return nil })
			if !errors.Is(err, tt.want) || tt.want == nil && err != nil {
				t.Errorf("Update = %v, want %v", err, tt.want)
			}
		})
	}

	t.Run("it comes when the next one commits", func(t *testing.T) {
		t.Parallel()
		project := newProject()
		clean := openProject(t, project, nil)
		if err := operations["a change of tenancy"].prepare(t.Context(), clean); err != nil {
			t.Fatal(err)
		}
		var late func() error
		s := openProject(t, project, nil, grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, req,
			reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			switch {
			case strings.HasSuffix(method, "/Commit") && late == nil:
				late = func() error {
					ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
					defer cancel()
					return invoke(ctx, method, req, &firestorepb.CommitResponse{}, cc, opts...)
				}
				return errLate
			case strings.HasSuffix(method, "/Commit"):
				t.Logf("the late commit ends with %v", late())
			case strings.HasSuffix(method, "/Rollback"):
				return status.Error(codes.Canceled, "lost")
			}
			return invoke(ctx, method, req, reply, cc, opts...)
		}))
		var seen string
		attempt := 0
		err := s.Update(t.Context(), func(tx tenant.Tx) error {
			o, err := tx.Org("org_a")
			if err != nil {
				return err
			}
			attempt++
			seen = fmt.Sprint("attempt ", attempt)
			o.Name = seen
			o.ActiveKeys++
			tx.PutOrg(o)
			return nil
		})
		if err != nil && !errors.Is(err, tenant.ErrUnavailable) {
			t.Errorf("Update = %v", err)
		}
		if late == nil || attempt < 2 {
			t.Fatalf("%d attempts, want the first commit to be late", attempt)
		}
		var o tenant.Org
		if err := clean.View(t.Context(), func(r tenant.Reader) (err error) {
			o,
				err = r.Org("org_a")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if o.ActiveKeys != 11 || err == nil && o.Name != seen {
			t.Errorf("%d keys, named by %s, want 11; Update said %v and saw %s", o.ActiveKeys, o.Name, err, seen)
		}
	})
}

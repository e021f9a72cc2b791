package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

// dumpable is a store of usage that can be moved.
type dumpable interface {
	usage.Store
	usage.Dumper
}

// UsageDump tests that a store of usage can be read out and filled. open is as in [Usage], and its stores are
// [usage.Dumper].
func UsageDump(t *testing.T, open func(t *testing.T) usage.Store) {
	for _, tt := range []struct {
		name string
		test func(t *testing.T, s dumpable)
	}{
		{"what is imported comes out as it went in, once or twice", testDumpRoundTrip},
		{"what was booked is exported, and counting goes on in a copy", testDumpBooked},
		{"an import replaces", testDumpReplaces},
		{"an empty store exports nothing", testDumpNothing},
		{"an export ends with the error of who reads it, and with its context", testDumpEnds},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, ok := open(t).(dumpable)
			if !ok {
				t.Fatal("the store is not an usage.Dumper")
			}
			tt.test(t, s)
		})
	}
}

func export(t *testing.T, s usage.Dumper) (all usage.Dump) {
	t.Helper()
	err := s.ExportUsage(t.Context(), func(d usage.Dump) error {
		if n := d.Len(); n < 1 || n > 500 {
			t.Errorf("a part of the export has %d records, want 1 to 500", n)
		}
		all.Positions = append(all.Positions, d.Positions...)
		all.Shards = append(all.Shards, d.Shards...)
		all.Requests = append(all.Requests, d.Requests...)
		all.Months = append(all.Months, d.Months...)
		return nil
	})
	if err != nil {
		t.Fatalf("ExportUsage: %v", err)
	}
	return sorted(all)
}

func sorted(d usage.Dump) usage.Dump {
	slices.SortFunc(d.Positions, func(a, b usage.Position) int { return strings.Compare(a.Source, b.Source) })
	slices.SortFunc(d.Shards, func(a, b usage.Shard) int {
		return cmp.Or(strings.Compare(a.OrgID, b.OrgID), strings.Compare(a.Date, b.Date),
			strings.Compare(a.Source, b.Source))
	})
	slices.SortFunc(d.Requests, func(a, b usage.Request) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(d.Months, func(a, b usage.ClosedMonth) int { return strings.Compare(a.Month, b.Month) })
	return d
}

func importAll(t *testing.T, s usage.Dumper, d usage.Dump) {
	t.Helper()
	if err := s.ImportUsage(t.Context(), d); err != nil {
		t.Fatalf("ImportUsage: %v", err)
	}
}

// makeDump returns n positions, shards and requests and two months, with every field filled.
func makeDump(n int) (d usage.Dump) {
	for i := range n {
		source := fmt.Sprintf("src/%d", i)
		d.Positions = append(d.Positions,
			usage.Position{Source: source, Seq: 1<<62 + int64(i), Mark: fmt.Sprintf("mark %d", i)})
		d.Shards = append(d.Shards, usage.Shard{
			ShardKey: usage.ShardKey{OrgID: fmt.Sprintf("org_%d", i%3), Source: source, Date: today},
			Totals:   usage.Totals{Requests: int64(i), Frames: 1<<40 + int64(i), Billed: -int64(i)},
			Cells:    []byte{0, 1, 0xff, byte(i)},
		})
		d.Requests = append(d.Requests, usage.Request{
			ID: fmt.Sprintf("evt_%d~%s", i, today), Date: today, Source: source, OrgID: fmt.Sprintf("org_%d", i%3),
			ProjectID: "prj_a",
			KeyID:     "key_a", KeyPrefix: "swar_live_abcdef", Playground: i%2 == 0, Start: at(i), RequestID: "कॉल '1'",
			Endpoint: "ws",
			Voice:    "raj", Format: "opus", Status: usage.Running, Error: "none", Frames: int64(i), Billed: -1,
			Chars: 3, Chunks: 4,
			TTFAus: 150_000, Queueus: 6, Wallus: 7, Synthus: 8, PrefillCached: true, Seed: -1 << 63,
		})
	}
	d.Months = []usage.ClosedMonth{{Month: "2026-09", Rate: 15, ClosedAt: at(1)},
		{Month: "2026-10", Rate: 20, ClosedAt: at(2)}}
	return sorted(d)
}

func wantDump(t *testing.T, s usage.Dumper, want usage.Dump) {
	t.Helper()
	if got := export(t, s); !reflect.DeepEqual(got, want) {
		t.Errorf("exported\n%+v, want\n%+v", got, want)
	}
}

func testDumpRoundTrip(t *testing.T, s dumpable) {
	want := makeDump(160) // 482 records
	for range 2 {
		importAll(t, s, want)
		wantDump(t, s, want)
	}
	for _, orgID := range []string{"org_0", "org_1", "org_2"} { // all that reads finds it
		rows := requests(t, s, usage.RequestQuery{OrgID: orgID, MinTTFAus: 150_000, Limit: 500})
		shards, err := s.Shards(t.Context(), orgID, today, today)
		if len(rows) < 53 || len(shards) < 53 || err != nil {
			t.Errorf("of %s %d requests and %d shards are found (%v), want 53 or 54", orgID, len(rows), len(shards),
				err)
		}
	}
}

func testDumpBooked(t *testing.T, s dumpable) {
	events := makeEvents("src_1", 1, 700, func(i int, e *meter.Event) {
		e.OrgID = []string{"org_a", "org_b"}[i%2]
		e.Date = []string{"2026-11-14", today}[i/2%2]
	})
	for i := 0; i < len(events); i += 350 {
		send(t, s, "src_1", events[i:i+350])
	}
	closeMonth(t, s, "2026-10", 20)
	d := export(t, s)
	if len(d.Positions) != 1 || d.Positions[0].Source != "src_1" || d.Positions[0].Seq != 700 ||
		d.Positions[0].Mark == "" {
		t.Errorf("exported the positions %v, want 700 of src_1 with its mark", d.Positions)
	}
	if len(d.Shards) != 4 || len(d.Requests) != 700 || len(d.Months) != 1 {
		t.Errorf("exported %d shards, %d requests, %d months; want 4, 700 and 1",
			len(d.Shards), len(d.Requests), len(d.Months))
	}
	var sum usage.Totals
	for _, s := range d.Shards {
		sum.Add(s.Totals)
	}
	if want := sumOf(events); sum != want {
		t.Errorf("the exported shards hold %+v, want %+v", sum, want)
	}
	wantGap(t, apply(t.Context(), s, "src_1", events[:1]), 701)
	importAll(t, s, usage.Dump{Positions: []usage.Position{{Source: "src_2", Seq: 9}}})
	send(t, s, "src_2", makeEvents("src_2", 9, 2, nil)) // of which the first one is known
	if got := requests(t, s, usage.RequestQuery{OrgID: "org_a", Limit: 500}); len(got) != 351 {
		t.Errorf("%d requests, want 351: counting goes on behind the imported position", len(got))
	}
}

func testDumpReplaces(t *testing.T, s dumpable) {
	d := makeDump(2)
	importAll(t, s, d)
	d.Positions[0].Seq = 5
	d.Shards[0].Totals, d.Shards[0].Cells = usage.Totals{Requests: 1}, []byte("cells")
	d.Requests[0].Frames, d.Requests[0].Status, d.Requests[0].TTFAus = 77, meter.OK, 0
	d.Months[0].Rate = 30
	importAll(t, s, d)
	wantDump(t, s, d)
}

func testDumpNothing(t *testing.T, s dumpable) {
	importAll(t, s, usage.Dump{})
	wantDump(t, s, usage.Dump{})
}

func testDumpEnds(t *testing.T, s dumpable) {
	importAll(t, s, makeDump(3))
	broken := errors.New("broken")
	if err := s.ExportUsage(t.Context(), func(usage.Dump) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("ExportUsage = %v, want the error of who reads", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.ExportUsage(ctx, func(usage.Dump) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("ExportUsage in an ended context = %v, want context.Canceled", err)
	}
	d := makeDump(1)
	d.Positions[0].Source = "src_new"
	if err := s.ImportUsage(ctx, d); !errors.Is(err, context.Canceled) {
		t.Errorf("ImportUsage in an ended context = %v, want context.Canceled", err)
	}
	wantDump(t, s, makeDump(3))
}

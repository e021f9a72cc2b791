package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/cursor"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

// Usage tests a store of usage. open returns an empty store for each test and closes it when the test ends.
//
// A store may have a method Fault(func(step string) error), which makes it call a function at every step inside a
// transaction and fail with what that returns, as if the database had. The suite then fails each step once and
// demands that nothing was half stored.
func Usage(t *testing.T, open func(t *testing.T) usage.Store) {
	for _, tt := range []struct {
		name string
		test func(t *testing.T, s usage.Store)
	}{
		{"events are booked with their totals, cells and requests", testBooking},
		{"a batch that is sent twice counts once", testRepeats},
		{"batches that overlap count once", testOverlap},
		{"a batch that comes too early is refused and changes nothing", testGap},
		{"an old batch that comes late is refused and changes nothing", testLate},
		{"another event under a number that is booked is refused and changes nothing", testFork},
		{"events that are skipped are not booked, and counting goes on behind them", testSkipped},
		{"two sources share an organisation and a day", testTwoSources},
		{"writers that send the same batches at once count them once", testConcurrentWriters},
		{"a fault at any step leaves nothing behind", testFaults},
		{"progress and end are one request", testProgress},
		{"a failure takes back what progress billed", testTakeBack},
		{"usage of a closed month goes to today", testClosedMonth},
		{"a month is closed once", testCloseTwice},
		{"a month that closes while events arrive never changes again", testCloseUnderLoad},
		{"pages of requests are stable while requests arrive", testPages},
		{"requests are filtered", testFilters},
		{"requests with one start are told apart by their id", testEqualStarts},
		{"old requests are swept by day, and totals stay", testSweep},
		{"shards of a past day are merged, and sums stay", testMerge},
		{"merging tells how many shards are gone", testMergeCounts},
		{"many shards are merged", testMergeMany},
		{"shards are merged by two while sources report", testMergeUnderLoad},
		{"a fault while shards are merged changes no sum", testMergeFaults},
		{"a shard holds a hundred keys", testHundredKeys},
		{"the two ways of adding up are equal", testCompare},
		{"every field of a request comes back", testRequestFields},
		{"what does not exist is empty, not an error", testNothing},
		{"an ended context ends the call", testContext},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, open(t)) })
	}
}

// noon is the time at which generated events begin: in the middle of a day and a month, in UTC and in India.
var noon = time.Date(2026, 11, 15, 6, 30, 0, 0, time.UTC)

const today = "2026-11-15"

// makeEvents returns n ended streams of source numbered from first. The same arguments give the same events.
func makeEvents(source string, first int64, n int, change func(i int, e *meter.Event)) []meter.Event {
	events := make([]meter.Event, n)
	for i := range events {
		seq := first + int64(i)
		rng := rand.New(rand.NewPCG(uint64(seq), uint64(len(source))+uint64(source[len(source)-1])<<8))
		start := noon.Add(time.Duration(seq) * time.Millisecond)
		frames := 1 + rng.Int64N(400)
		e := meter.Event{
			ID: fmt.Sprintf("evt_%s_%08d", source, seq), Seq: seq, Kind: meter.Final,
			Start: start, At: start.Add(time.Second), Date: meter.DateOf(start),
			OrgID: "org_a", ProjectID: "prj_a", KeyID: fmt.Sprintf("key_%d", rng.IntN(3)),
			KeyPrefix: "swar_live_abcdef",
			RequestID: fmt.Sprintf("req-%d", seq), Endpoint: []string{"rest", "ws"}[rng.IntN(2)],
			Voice:  []string{"anjura", "raj"}[rng.IntN(2)],
			Format: "pcm16", Status: meter.OK, Frames: frames, Billed: frames, Chars: rng.IntN(4000),
			Chunks: 1 + rng.IntN(64),
			TTFAus: 10_000 + rng.Int64N(200_000), Queueus: rng.Int64N(2_000_000), Wallus: rng.Int64N(30_000_000),
			Synthus:       rng.Int64N(9_000_000),
			PrefillCached: rng.IntN(2) == 0, Seed: rng.Int64() - rng.Int64(),
		}
		if change != nil {
			change(i, &e)
		}
		events[i] = e
	}
	return events
}

func send(t testing.TB, s usage.Store, source string, events []meter.Event) {
	t.Helper()
	if err := apply(t.Context(), s, source, events); err != nil {
		t.Fatalf("Apply: %v", err)
	}
}

func apply(ctx context.Context, s usage.Store, source string, events []meter.Event) error {
	return s.Apply(ctx, usage.Batch{Batch: meter.Batch{Source: source, Events: events}, Today: today})
}

func sumOf(events []meter.Event) usage.Totals {
	var sum usage.Totals
	for _, e := range events {
		sum.Add(usage.Totals{Frames: e.Frames, Billed: e.Billed})
		if e.Kind == meter.Final {
			sum.Requests++
		}
	}
	return sum
}

// wantUsage checks, for an organisation and all time, days, shards and requests against the events that should be
// booked.
func wantUsage(t *testing.T, s usage.Store, orgID string, events []meter.Event) {
	t.Helper()
	want := sumOf(events)
	days, err := s.Days(t.Context(), orgID, "0000-01-01", "9999-12-31")
	if err != nil {
		t.Fatalf("Days: %v", err)
	}
	shards, err := s.Shards(t.Context(), orgID, "0000-01-01", "9999-12-31")
	if err != nil {
		t.Fatalf("Shards: %v", err)
	}
	rows := allRequests(t, s, orgID)
	var ofDays, ofShards, ofRows usage.Totals
	for _, d := range days {
		ofDays.Add(d.Totals)
	}
	for _, d := range shards {
		ofShards.Add(d.Totals)
	}
	ids := map[string]bool{}
	for _, r := range rows {
		ids[r.ID] = true
		ofRows.Add(usage.Totals{Frames: r.Frames, Billed: r.Billed})
		if r.Status != usage.Running {
			ofRows.Requests++
		}
	}
	if ofDays != want || ofShards != want || ofRows != want {
		t.Errorf("of %s: days %+v, shards %+v, requests %+v; want %+v", orgID, ofDays, ofShards, ofRows, want)
	}
	if len(ids) != len(rows) {
		t.Errorf("%d rows with %d ids", len(rows), len(ids))
	}
	folded, err := usage.Equal(shards, events)
	if err != nil || !folded {
		t.Errorf("the cells of the shards are not those of the events (%v)", err)
	}
}

func allRequests(t *testing.T, s usage.Store, orgID string) []usage.Request {
	t.Helper()
	var all []usage.Request
	for q := (usage.RequestQuery{OrgID: orgID, Limit: 500}); ; {
		page := requests(t, s, q)
		all = append(all, page...)
		if len(page) < q.Limit {
			return all
		}
		q.After = cursorOf(page)
	}
}

func requests(t *testing.T, s usage.Store, q usage.RequestQuery) []usage.Request {
	t.Helper()
	page, err := s.Requests(t.Context(), q)
	if err != nil {
		t.Fatalf("Requests: %v", err)
	}
	return page
}

func cursorOf(page []usage.Request) cursor.Cursor {
	return page[len(page)-1].Place()
}

func wantGap(t *testing.T, err error, want int64) {
	t.Helper()
	if gap, ok := errors.AsType[*meter.GapError](err); !ok || gap.Want != want {
		t.Errorf("error %v, want a gap error that wants event %d", err, want)
	}
}

func testBooking(t *testing.T, s usage.Store) {
	events := makeEvents("src_1", 1, 100, nil)
	send(t, s, "src_1", events)
	wantUsage(t, s, "org_a", events)
	shards, err := s.Shards(t.Context(), "org_a", today, today)
	if err != nil || len(shards) != 1 ||
		shards[0].ShardKey != (usage.ShardKey{OrgID: "org_a", Source: "src_1", Date: today}) {
		t.Errorf("Shards = %+v, %v; want one", shards, err)
	}
}

func testRepeats(t *testing.T, s usage.Store) {
	events := makeEvents("src_1", 1, 10, nil)
	for range 3 {
		send(t, s, "src_1", events)
	}
	wantUsage(t, s, "org_a", events)
}

func testOverlap(t *testing.T, s usage.Store) {
	events := makeEvents("src_1", 1, 30, nil)
	for _, cut := range [][2]int{{0, 10}, {5, 12}, {12, 13}, {0, 20}, {19, 30}, {29, 30}} {
		send(t, s, "src_1", events[cut[0]:cut[1]])
	}
	wantUsage(t, s, "org_a", events)
}

func testGap(t *testing.T, s usage.Store) {
	events := makeEvents("src_1", 1, 10, nil)
	wantGap(t, apply(t.Context(), s, "src_1", events[1:2]), 1)
	wantUsage(t, s, "org_a", nil)
	send(t, s, "src_1", events[:4])
	wantGap(t, apply(t.Context(), s, "src_1", events[5:]), 5)
	wantUsage(t, s, "org_a", events[:4])
	send(t, s, "src_1", events[4:])
	wantUsage(t, s, "org_a", events)
}

func testLate(t *testing.T, s usage.Store) {
	events := makeEvents("src_1", 1, 10, nil)
	send(t, s, "src_1", events)
	wantGap(t, apply(t.Context(), s, "src_1", events[:9]), 11)
	wantUsage(t, s, "org_a", events)
}

func testFork(t *testing.T, s usage.Store) {
	events := makeEvents("src_1", 1, 10, nil)
	send(t, s, "src_1", events[:6])
	for name, change := range map[string]func(e *meter.Event){
		"another stream":  func(e *meter.Event) { e.ID = "evt_other" },
		"progress of it":  func(e *meter.Event) { e.Kind = meter.Progress },
		"a later record":  func(e *meter.Event) { e.At = e.At.Add(time.Microsecond) },
		"another figure":  func(e *meter.Event) { e.Frames++ },
		"another invoice": func(e *meter.Event) { e.Billed-- },
	} {
		other := slices.Clone(events)
		change(&other[5])
		for _, batch := range [][]meter.Event{other[:6], other[5:6], other[5:], other} {
			err := apply(t.Context(), s, "src_1", batch)
			if fork, ok := errors.AsType[*meter.ForkError](err); !ok || fork.Seq != 6 {
				t.Errorf("%s: error %v, want a fork at event 6", name, err)
			}
		}
		wantUsage(t, s, "org_a", events[:6])
	}
	send(t, s, "src_1", events[5:])
	wantUsage(t, s, "org_a", events)
}

func testSkipped(t *testing.T, s usage.Store) {
	events := makeEvents("src_1", 1, 6, nil)
	skipped := func(which ...int64) map[int64]string {
		m := map[int64]string{}
		for _, seq := range which {
			m[seq] = "it cannot be true"
		}
		return m
	}
	for _, b := range []usage.Batch{
		{Batch: meter.Batch{Events: events[:3]}, Skipped: skipped(1, 3)},
		{Batch: meter.Batch{Events: events[:3]}, Skipped: skipped()}, // again
		{Batch: meter.Batch{Events: events[3:5]}, Skipped: skipped(4, 5)},
		{Batch: meter.Batch{Events: events[4:]}, Skipped: skipped(99)},
	} {
		b.Source, b.Today = "src_1", today
		if err := s.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	wantUsage(t, s, "org_a", []meter.Event{events[1], events[5]})
	wantGap(t, apply(t.Context(), s, "src_1", events[:1]), 7)
}

func testTwoSources(t *testing.T, s usage.Store) {
	a, b := makeEvents("src_1", 1, 20, nil), makeEvents("src_2", 1, 30, nil)
	send(t, s, "src_1", a[:10])
	send(t, s, "src_2", b)
	send(t, s, "src_1", a[10:])
	wantUsage(t, s, "org_a", slices.Concat(a, b))
}

func testConcurrentWriters(t *testing.T, s usage.Store) {
	const writers, size = 4, 5
	events := makeEvents("src_1", 1, 60, nil)
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for at := 0; at < len(events); at += size {
				for try := 0; ; try++ {
					err := apply(t.Context(), s, "src_1", events[at:at+size])
					if gap, ok := errors.AsType[*meter.GapError](err); ok && gap.Want > int64(at+size) {
						break // another writer is ahead
					}
					if err == nil {
						break
					}
					if try == 50 {
						t.Errorf("batch at %d: %v", at, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	wantUsage(t, s, "org_a", events)
}

// faulty is a store that can be made to fail.
type faulty interface {
	Fault(func(step string) error)
}

func testFaults(t *testing.T, s usage.Store) {
	f, ok := s.(faulty)
	if !ok {
		t.Skip("this store has no steps that could fail apart")
	}
	events := makeEvents("src_1", 1, 40, func(i int, e *meter.Event) {
		e.OrgID = []string{"org_a", "org_b"}[i%2]
		e.Date = []string{"2026-11-14", today}[i/2%2]
	})
	of := func(orgID string, n int) (mine []meter.Event) {
		for _, e := range events[:n] {
			if e.OrgID == orgID {
				mine = append(mine, e)
			}
		}
		return mine
	}
	boom := errors.New("the disk is on fire")
	steps := 0
	for at, failAt := 0, 0; at < len(events); {
		step, failed := 0, false
		f.Fault(func(string) error {
			step++
			if step-1 == failAt {
				failed = true
				return boom
			}
			return nil
		})
		err := apply(t.Context(), s, "src_1", events[at:at+10])
		f.Fault(nil)
		if !failed {
			if err != nil {
				t.Fatalf("without a fault: %v", err)
			}
			at, failAt = at+10, 0
			continue
		}
		if err == nil {
			t.Errorf("step %d failed, but Apply did not", failAt)
		}
		wantUsage(t, s, "org_a", of("org_a", at))
		wantUsage(t, s, "org_b", of("org_b", at))
		steps, failAt = steps+1, failAt+1
	}
	if steps < 4 {
		t.Errorf("only %d steps could fail; Fault must be called at least before the shards, the requests, the position and the commit", steps)
	}
	wantUsage(t, s, "org_a", of("org_a", len(events)))
	wantUsage(t, s, "org_b", of("org_b", len(events)))
}

// stream returns the records of one stream: progress of 125 frames each, then the end.
func stream(first int64, progress int, status meter.Status, last int64) []meter.Event {
	events := makeEvents("src_1", first, progress+1, func(i int, e *meter.Event) {
		e.ID, e.RequestID, e.Start = fmt.Sprintf("evt_stream_%d", first), "long", noon
		e.Kind, e.Status, e.Frames, e.Billed = meter.Progress, "", 125, 125
		if i == progress {
			e.Kind, e.Status, e.Frames, e.Billed = meter.Final, status, last, last
			if !status.Billed() {
				e.Error, e.Billed = "worker gone", -125*int64(progress)
			}
		}
	})
	return events
}

func testProgress(t *testing.T, s usage.Store) {
	events := stream(1, 3, meter.OK, 7)
	for i := range events {
		send(t, s, "src_1", events[i:i+1])
		rows := allRequests(t, s, "org_a")
		want := usage.Running
		if i == 3 {
			want = meter.OK
		}
		if len(rows) != 1 || rows[0].Status != want || rows[0].Frames != sumOf(events[:i+1]).Frames {
			t.Errorf("after record %d: %+v, want one row that is %s", i+1, rows, want)
		}
		wantUsage(t, s, "org_a", events[:i+1])
	}
}

func testTakeBack(t *testing.T, s usage.Store) {
	events := stream(1, 2, meter.Failed, 30)
	send(t, s, "src_1", events)
	rows := allRequests(t, s, "org_a")
	if len(rows) != 1 {
		t.Fatalf("requests = %+v, want one", rows)
	}
	row := rows[0]
	if row.Frames != 280 || row.Billed != 0 {
		t.Errorf("request = %+v, want 280 frames that are not billed", row)
	}
	if row.Status != meter.Failed || row.Error != "worker gone" {
		t.Errorf("request = %+v, want one that failed as its worker was gone", row)
	}
	wantUsage(t, s, "org_a", events)
}

func closeMonth(t *testing.T, s usage.Store, month string, rate int64) {
	t.Helper()
	if err := s.CloseMonth(t.Context(), usage.ClosedMonth{Month: month, Rate: rate, ClosedAt: noon}); err != nil {
		t.Fatalf("CloseMonth: %v", err)
	}
}

func testClosedMonth(t *testing.T, s usage.Store) {
	events := makeEvents("src_1", 1, 30, func(_ int, e *meter.Event) { e.Date = "2026-10-31" })
	send(t, s, "src_1", events[:10])
	before, err := s.Days(t.Context(), "org_a", "2026-10-01", "2026-10-31")
	if err != nil {
		t.Fatal(err)
	}
	closeMonth(t, s, "2026-10", 20)
	send(t, s, "src_1", events[:20]) // a part of it is booked already
	send(t, s, "src_1", events[20:])
	after, err := s.Days(t.Context(), "org_a", "2026-10-01", "2026-10-31")
	if err != nil || !slices.Equal(before, after) || len(before) != 1 {
		t.Errorf("the closed month had %+v and has %+v (%v)", before, after, err)
	}
	moved, err := s.Days(t.Context(), "org_a", today, today)
	if want := []usage.Day{{Date: today, Totals: sumOf(events[10:])}}; err != nil || !slices.Equal(moved, want) {
		t.Errorf("today has %+v (%v), want %+v", moved, err, want)
	}
	wantEqualSums(t, s, "2026-10-31", today)
}

func testCloseTwice(t *testing.T, s usage.Store) {
	closeMonth(t, s, "2026-10", 20)
	closeMonth(t, s, "2026-09", 15)
	closeMonth(t, s, "2026-10", 99)
	got, err := s.ClosedMonths(t.Context())
	want := []usage.ClosedMonth{{Month: "2026-09", Rate: 15, ClosedAt: noon},
		{Month: "2026-10", Rate: 20, ClosedAt: noon}}
	if err != nil || !slices.EqualFunc(got, want, func(a, b usage.ClosedMonth) bool {
		return a.Month == b.Month && a.Rate == b.Rate && a.ClosedAt.Equal(b.ClosedAt)
	}) {
		t.Errorf("ClosedMonths = %+v, %v; want %+v", got, err, want)
	}
}

func testCloseUnderLoad(t *testing.T, s usage.Store) {
	events := makeEvents("src_1", 1, 60, func(_ int, e *meter.Event) { e.Date = "2026-10-31" })
	third, over := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for at := 0; at < len(events); at += 3 {
			switch at {
			case 21:
				close(third)
			case 57:
				<-over // so that something comes too late
			}
			for try := 0; ; try++ {
				err := apply(t.Context(), s, "src_1", events[at:at+3])
				if err == nil {
					break
				}
				if try == 50 {
					t.Errorf("batch at %d: %v", at, err)
					return
				}
			}
		}
	})
	<-third
	closed := s.CloseMonth(t.Context(), usage.ClosedMonth{Month: "2026-10", Rate: 20, ClosedAt: noon})
	close(over)
	if closed != nil {
		t.Errorf("CloseMonth: %v", closed)
	}
	before, err := s.Days(t.Context(), "org_a", "2026-10-01", "2026-10-31")
	if err != nil {
		t.Error(err)
	}
	wg.Wait()
	after, err := s.Days(t.Context(), "org_a", "2026-10-01", "2026-10-31")
	if err != nil || !slices.Equal(before, after) {
		t.Errorf("the closed month had %+v and has %+v (%v)", before, after, err)
	}
	var all usage.Totals
	days, err := s.Days(t.Context(), "org_a", "2026-10-01", today)
	for _, d := range days {
		all.Add(d.Totals)
	}
	if want := sumOf(events); err != nil || all != want {
		t.Errorf("all in all %+v (%v), want %+v", all, err, want)
	}
	wantEqualSums(t, s, "2026-10-31", today)
}

func testPages(t *testing.T, s usage.Store) {
	events := makeEvents("src_1", 1, 25, nil)
	send(t, s, "src_1", events)
	var got []string
	q := usage.RequestQuery{OrgID: "org_a", Limit: 10}
	for arrived := int64(26); ; arrived++ {
		page := requests(t, s, q)
		for _, r := range page {
			got = append(got, r.RequestID)
		}
		if len(page) < q.Limit {
			break
		}
		q.After = cursorOf(page)
		send(t, s, "src_1", makeEvents("src_1", arrived, 1, nil)) // is newer, so it belongs to a page that was read
	}
	var want []string
	for _, e := range slices.Backward(events) {
		want = append(want, e.RequestID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("pages hold %v, want %v", got, want)
	}
}

func testFilters(t *testing.T, s usage.Store) {
	events := makeEvents("src_1", 1, 60, func(i int, e *meter.Event) {
		e.OrgID = []string{"org_a", "org_b"}[i/30]
		e.ProjectID = []string{"prj_a", "prj_b"}[i%2]
		e.Status = []meter.Status{meter.OK, meter.Cancelled, meter.Failed, meter.TimedOut}[i%4]
		e.TTFAus = int64(i) * 1000
	})
	send(t, s, "src_1", events)
	at := func(i int) time.Time { return events[i].Start }
	for name, q := range map[string]usage.RequestQuery{
		"by organisation":                   {OrgID: "org_a"},
		"another one":                       {OrgID: "org_b"},
		"an unknown one":                    {OrgID: "org_c"},
		"by project":                        {OrgID: "org_a", ProjectID: "prj_b"},
		"by key":                            {OrgID: "org_a", KeyID: "key_1"},
		"by voice":                          {OrgID: "org_a", Voice: "raj"},
		"by endpoint":                       {OrgID: "org_a", Endpoint: "ws"},
		"by status":                         {OrgID: "org_a", Status: meter.Cancelled},
		"by an id":                          {OrgID: "org_a", RequestID: events[7].RequestID},
		"by an id and something else":       {OrgID: "org_a", RequestID: events[7].RequestID, Status: events[7].Status, Voice: events[7].Voice},
		"by the id of another organisation": {OrgID: "org_a", RequestID: events[37].RequestID},
		"by the beginning of an id":         {OrgID: "org_a", RequestID: events[7].RequestID[:3]},
		"running":                           {OrgID: "org_a", Status: usage.Running},
		"slow ones, from exactly":           {OrgID: "org_a", MinTTFAus: 12_000},
		"slow ones, from just above":        {OrgID: "org_a", MinTTFAus: 12_001},
		"from a time on, inclusive":         {OrgID: "org_a", From: at(10)},
		"up to a time, exclusive":           {OrgID: "org_a", To: at(10)},
		"in a time that is not a moment":    {OrgID: "org_a", From: at(10), To: at(10)},
		"everything at once": {
			OrgID: "org_a", ProjectID: "prj_a", Voice: "anjura", Endpoint: "rest", Status: meter.OK, MinTTFAus: 1,
			From: at(1), To: at(29),
		},
		"behind a cursor":          {OrgID: "org_a", After: cursor.Cursor{At: at(5), ID: events[5].ID}},
		"behind the cursor's time": {OrgID: "org_a", ProjectID: "prj_b", After: cursor.Cursor{At: at(20).Add(-1), ID: "evt_"}},
		"only three":               {OrgID: "org_a", Limit: 3},
		"exactly as many":          {OrgID: "org_a", Limit: 30},
		"one too few":              {OrgID: "org_a", Limit: 29},
	} {
		if q.Limit == 0 {
			q.Limit = 500
		}
		var want []string
		for _, e := range slices.Backward(events) {
			row := usage.Request{
				ID: e.ID, OrgID: e.OrgID, ProjectID: e.ProjectID, KeyID: e.KeyID, Start: e.Start,
				Endpoint: e.Endpoint, Voice: e.Voice,
				Status: e.Status, TTFAus: e.TTFAus, RequestID: e.RequestID,
			}
			if q.Selects(row) && len(want) < q.Limit {
				want = append(want, e.RequestID)
			}
		}
		var got []string
		for _, r := range requests(t, s, q) {
			got = append(got, r.RequestID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func testEqualStarts(t *testing.T, s usage.Store) {
	events := makeEvents("src_1", 1, 9, func(_ int, e *meter.Event) { e.Start = noon })
	send(t, s, "src_1", events)
	var got []string
	q := usage.RequestQuery{OrgID: "org_a", Limit: 2}
	for range 6 {
		page := requests(t, s, q)
		for _, r := range page {
			got = append(got, r.ID)
		}
		if len(page) < 2 {
			break
		}
		q.After = cursorOf(page)
	}
	var want []string
	for _, e := range slices.Backward(events) {
		want = append(want, e.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("pages hold %v, want %v", got, want)
	}
}

func testSweep(t *testing.T, s usage.Store) {
	dates := []string{"2026-10-09", "2026-10-10", "2026-10-11", today}
	events := makeEvents("src_1", 1, 40, func(i int, e *meter.Event) { e.Date = dates[i%4] })
	send(t, s, "src_1", events)
	if n, err := s.SweepRequests(t.Context(), "2026-10-10"); n != 10 || err != nil {
		t.Errorf("SweepRequests = %d, %v; want 10, the rows of the day before", n, err)
	}
	if n, err := s.SweepRequests(t.Context(), "2026-10-10"); n != 0 || err != nil {
		t.Errorf("SweepRequests again = %d, %v; want 0", n, err)
	}
	for _, r := range allRequests(t, s, "org_a") {
		if r.Date < "2026-10-10" {
			t.Errorf("a request of %s is left", r.Date)
		}
	}
	days, err := s.Days(t.Context(), "org_a", "2026-10-01", today)
	var all usage.Totals
	for _, d := range days {
		all.Add(d.Totals)
	}
	if want := sumOf(events); err != nil || len(days) != 4 || all != want {
		t.Errorf("%d days hold %+v (%v), want 4 with %+v", len(days), all, err, want)
	}
}

func testHundredKeys(t *testing.T, s usage.Store) {
	events := makeEvents("src_1", 1, 2000, func(i int, e *meter.Event) { e.KeyID = fmt.Sprintf("key_%026d", i%100) })
	for at := 0; at < len(events); at += 500 {
		send(t, s, "src_1", events[at:at+500])
	}
	wantUsage(t, s, "org_a", events)
}

func wantEqualSums(t *testing.T, s usage.Store, dates ...string) {
	t.Helper()
	for _, date := range dates {
		all, err := s.Compare(t.Context(), date)
		if err != nil || len(all) == 0 {
			t.Errorf("Compare(%s) = %+v, %v; want organisations", date, all, err)
		}
		for _, c := range all {
			if c.Shards != c.Requests || c.Date != date {
				t.Errorf("on %s %+v", date, c)
			}
		}
	}
}

func testCompare(t *testing.T, s usage.Store) {
	a := makeEvents("src_1", 1, 20, func(i int, e *meter.Event) { e.OrgID = []string{"org_a", "org_b"}[i%2] })
	b := append(stream(1, 2, meter.OK, 3), stream(4, 1, meter.TimedOut, 9)...)
	b = append(b, stream(6, 2, meter.OK, 3)[:2]...) // is running
	other := makeEvents("src_3", 1, 5, func(_ int, e *meter.Event) { e.Date = "2026-11-14" })
	send(t, s, "src_1", a)
	send(t, s, "src_2", b)
	send(t, s, "src_3", other)
	got, err := s.Compare(t.Context(), today)
	if err != nil || len(got) != 2 || got[0].OrgID != "org_a" || got[1].OrgID != "org_b" {
		t.Fatalf("Compare = %+v, %v; want org_a and org_b", got, err)
	}
	var all usage.Totals
	all.Add(got[0].Shards)
	all.Add(got[1].Shards)
	if want := sumOf(slices.Concat(a, b)); all != want {
		t.Errorf("shards of the day hold %+v, want %+v", all, want)
	}
	wantEqualSums(t, s, today, "2026-11-14")
}

func testRequestFields(t *testing.T, s usage.Store) {
	e := meter.Event{
		ID: "evt_1", Seq: 1, Kind: meter.Final, Start: noon.Add(123456 * time.Microsecond), At: noon.Add(time.Minute),
		Date:  today,
		OrgID: "org_a", ProjectID: "prj_a", KeyID: "key_a", KeyPrefix: "swar_play_abcdef", Playground: true,
		RequestID: "कॉल-1'\"\\", Endpoint: "ws", Voice: "raj", Format: "opus", Status: meter.Failed,
		Error:  "worker gone; try ⟳",
		Frames: 1 << 40, Billed: -5, Chars: 4000, Chunks: 64, TTFAus: 1, Queueus: 2, Wallus: 3, Synthus: 4,
		PrefillCached: true, Seed: -1 << 63,
	}
	send(t, s, "src_1", []meter.Event{e})
	want := usage.Request{
		ID: e.ID, Date: e.Date, Source: "src_1", OrgID: e.OrgID, ProjectID: e.ProjectID, KeyID: e.KeyID,
		KeyPrefix: e.KeyPrefix, Playground: true,
		RequestID: e.RequestID, Endpoint: e.Endpoint, Voice: e.Voice, Format: e.Format, Status: e.Status,
		Error:  e.Error,
		Frames: e.Frames, Billed: e.Billed, Chars: e.Chars, Chunks: e.Chunks,
		TTFAus: 1, Queueus: 2, Wallus: 3, Synthus: 4, PrefillCached: true, Seed: e.Seed,
	}
	rows := allRequests(t, s, "org_a")
	if len(rows) != 1 {
		t.Fatalf("%d rows, want 1", len(rows))
	}
	if !rows[0].Start.Equal(e.Start) || rows[0].Start.Location() != time.UTC {
		t.Errorf("start %v, want %v in UTC", rows[0].Start, e.Start)
	}
	rows[0].Start = time.Time{}
	if rows[0] != want {
		t.Errorf("row = %+v\nwant  %+v", rows[0], want)
	}
}

func testNothing(t *testing.T, s usage.Store) {
	send(t, s, "src_1", nil)
	wantUsage(t, s, "org_a", nil)
	if c, err := s.Compare(t.Context(), today); len(c) != 0 || err != nil {
		t.Errorf("Compare = %+v, %v; want nothing", c, err)
	}
	if m, err := s.ClosedMonths(t.Context()); len(m) != 0 || err != nil {
		t.Errorf("ClosedMonths = %+v, %v; want nothing", m, err)
	}
	if n, err := s.SweepRequests(t.Context(), today); n != 0 || err != nil {
		t.Errorf("SweepRequests = %d, %v; want nothing", n, err)
	}
}

func testContext(t *testing.T, s usage.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	events := makeEvents("src_1", 1, 3, nil)
	if err := apply(ctx, s, "src_1", events); err == nil {
		t.Error("Apply in an ended context did not fail")
	}
	wantUsage(t, s, "org_a", nil)
	send(t, s, "src_1", events)
	wantUsage(t, s, "org_a", events)
}

package usage

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/meter"
)

var update = flag.Bool("update", false, "rewrite the files of testdata")

// randomEvents returns events of a few organisations, days, keys and ends, numbered from 1.
func randomEvents(rng *rand.Rand, n int) []meter.Event {
	pick := func(s ...string) string { return s[rng.IntN(len(s))] }
	events := make([]meter.Event, n)
	for i := range events {
		start := time.Date(2026, 11, 10+rng.IntN(3), rng.IntN(24), 0, i, 0, time.UTC)
		e := meter.Event{
			ID: fmt.Sprintf("evt_%d", i), Seq: int64(i + 1), Kind: meter.Final, Start: start, At: start,
			Date:  meter.DateOf(start),
			OrgID: pick("org_a", "org_b"), ProjectID: pick("prj_a", "prj_b"), KeyID: pick("key_a", "key_b", "key_c"),
			KeyPrefix:  "swar_live_aaaaaa",
			Playground: rng.IntN(5) == 0, Endpoint: pick("rest", "ws"), Voice: pick("anjura", "raj"),
			Status: []meter.Status{meter.OK, meter.Cancelled, meter.Failed, meter.TimedOut}[rng.IntN(4)],
			Frames: rng.Int64N(1000), Billed: rng.Int64N(1000) - 300, Chars: rng.IntN(4000), Synthus: rng.Int64N(1e7),
			TTFAus: int64(math.Exp(rng.NormFloat64()*0.5 + 10.5)), Queueus: max(0, rng.Int64N(2e6)-1e6),
		}
		if rng.IntN(6) == 0 {
			e.Kind, e.Status = meter.Progress, ""
		}
		events[i] = e
	}
	return events
}

// ledgerOf books batches in a store that is nothing but what Book and Fold say.
type ledgerOf struct {
	position Position
	shards   map[ShardKey]Shard
	requests map[string]Request
}

func (l *ledgerOf) apply(t *testing.T, events []meter.Event, closed ...string) error {
	t.Helper()
	k, err := Aggregate(Batch{Batch: meter.Batch{Source: "src", Events: events}, Today: "2026-11-20"},
		l.position, closed)
	if err != nil {
		return err
	}
	for _, c := range k.Shards {
		s, err := c.Fold(l.shards[c.Key])
		if err != nil {
			t.Fatal(err)
		}
		l.shards[c.Key] = s
	}
	for _, r := range k.Requests {
		row := l.requests[r.ID]
		row.Add(r)
		l.requests[r.ID] = row
	}
	l.position = k.Position
	return nil
}

func newLedgerOf() *ledgerOf {
	return &ledgerOf{shards: map[ShardKey]Shard{}, requests: map[string]Request{}}
}

// However a run of events is cut into batches, and whatever repeats and late batches come in between, the shards are
// the same to the byte.
func TestAnySplitAndRepeatGivesTheSameShards(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		events := randomEvents(rng, 1+rng.IntN(200))
		want := newLedgerOf()
		if err := want.apply(t, events); err != nil {
			t.Fatal(err)
		}
		got := newLedgerOf()
		for got.position.Seq < int64(len(events)) {
			from := rng.IntN(len(events))
			to := min(len(events), from+1+rng.IntN(30))
			err := got.apply(t, events[from:to])
			if refused := int64(from) > got.position.Seq || int64(to) < got.position.Seq; err != nil && !refused {
				t.Fatalf("seed %d: events %d to %d at %d: %v", seed, from+1, to, got.position.Seq, err)
			}
			if rng.IntN(3) == 0 {
				from = int(got.position.Seq)
				if err := got.apply(t, events[from:min(len(events), from+9)]); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		}
		if len(got.shards) != len(want.shards) || len(got.requests) != len(want.requests) {
			t.Fatalf("seed %d: %d shards and %d requests, want %d and %d", seed, len(got.shards), len(got.requests),
				len(want.shards), len(want.requests))
		}
		for k, w := range want.shards {
			if g := got.shards[k]; g.Totals != w.Totals || !bytes.Equal(g.Cells, w.Cells) {
				t.Errorf("seed %d: shard %+v differs", seed, k)
			}
		}
		for id, w := range want.requests {
			if got.requests[id] != w {
				t.Errorf("seed %d: request %+v, want %+v", seed, got.requests[id], w)
			}
		}
	}
}

// Cells are the same in whatever order events and shards are added.
func TestCellsDoNotKnowTheOrder(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 2))
		events := randomEvents(rng, 300)
		var one, parts [3]cells
		var sum, sums Totals
		for i := range events {
			one[0].add(&events[i], &sum)
		}
		rng.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		for i := range events {
			parts[rng.IntN(3)].add(&events[i], &sums)
		}
		var merged cells
		for _, i := range rng.Perm(3) {
			decoded, err := decodeCells(parts[i].encode())
			if err != nil {
				t.Fatal(err)
			}
			merged.merge(decoded)
		}
		if !bytes.Equal(merged.encode(), one[0].encode()) || sum != sums {
			t.Fatalf("seed %d: three shards in another order are not the one shard", seed)
		}
	}
}

func TestBookRefusesWhatIsNoRun(t *testing.T) {
	events := randomEvents(rand.New(rand.NewPCG(1, 1)), 5)
	events[3].Seq = 9
	_, err := Aggregate(Batch{Batch: meter.Batch{Source: "src", Events: events}}, Position{}, nil)
	if err == nil || !strings.Contains(err.Error(), "event 9 follows 3") {
		t.Errorf("error %v, want one that names the events", err)
	}
}

func TestBookMovesWhatHasNoOpenDay(t *testing.T) {
	events := randomEvents(rand.New(rand.NewPCG(1, 1)), 3)
	events[0].Date, events[1].Date, events[2].Date = "2026-10-31", "yesterday", "2026-11-01"
	b := Batch{Batch: meter.Batch{Source: "src", Events: events}, Today: "2026-11-20"}
	if got, want := b.Months(), []string{"2026-10", "2026-11"}; !slices.Equal(got, want) {
		t.Errorf("Months = %v, want %v", got, want)
	}
	k, err := Aggregate(b, Position{}, []string{"2026-10"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range k.Requests {
		got = append(got, r.ID+" "+r.Date)
	}
	if want := []string{"evt_0~2026-11-20 2026-11-20", "evt_1~2026-11-20 2026-11-20",
		"evt_2 2026-11-01"}; !slices.Equal(got, want) {
		t.Errorf("booked %q, want %q", got, want)
	}
}

// Stored cells must stay readable: this file was written by the first version.
func TestGoldenCells(t *testing.T) {
	const path = "testdata/cells-v1.hex"
	var s cells
	var sum Totals
	for _, e := range goldenEvents() {
		s.add(&e, &sum)
	}
	if *update {
		if err := os.WriteFile(path, []byte(hex.EncodeToString(s.encode())+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(s.encode(), golden) {
		t.Errorf("cells are encoded as %x, want %x", s.encode(), golden)
	}
	read, err := decodeCells(golden)
	if err != nil || !bytes.Equal(read.encode(), golden) {
		t.Errorf("golden cells read as %x, %v", read.encode(), err)
	}
	if len(read) != 3 || read[0].key != "key_a" || read[2].key != PlaygroundKey {
		t.Fatalf("golden cells read as %+v", read)
	}
	if read[0].frames != 30 || countOf(&read[0].ttfa) != 2 {
		t.Errorf("the first golden cell reads as %+v, want 30 frames and two times", read[0])
	}
}

func goldenEvents() []meter.Event {
	e := meter.Event{
		Kind: meter.Final, ProjectID: "prj_a", KeyID: "key_a", KeyPrefix: "swar_live_abcdef", Endpoint: "rest",
		Voice: "anjura", Status: meter.OK,
		Frames: 10, Billed: 10, Chars: 40, TTFAus: 31_000, Synthus: 250_000,
	}
	cut := e
	cut.Status, cut.Frames, cut.Billed, cut.TTFAus, cut.Queueus = meter.Failed, 20, 0, 1, 1_999_999
	raj := e
	raj.Voice = "raj"
	play := e
	play.Playground, play.KeyID = true, "key_p"
	return []meter.Event{e, cut, raj, play}
}

func TestDamagedCellsAreRefused(t *testing.T) {
	var s cells
	var sum Totals
	for _, e := range goldenEvents() {
		s.add(&e, &sum)
	}
	b := s.encode()
	for n := 1; n < len(b); n++ {
		if _, err := decodeCells(b[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are taken for cells", n, len(b))
		}
	}
	if _, err := decodeCells(append(slices.Clone(b), 0)); err == nil {
		t.Error("a byte too many is not noticed")
	}
	if _, err := (ShardChange{}).Fold(Shard{Cells: []byte{9}}); err == nil ||
		!strings.Contains(err.Error(), "version 9") {
		t.Errorf("cells of a newer version: %v", err)
	}
}

func FuzzDecodeCells(f *testing.F) {
	seeds := cellSeeds()
	for _, b := range seeds {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		shard := &Shard{ShardKey: ShardKey{Date: "2026-11-10"}, Cells: b}
		added, skipped := newAccounts("", newSeries("", nil)).add(shard),
			newAccounts("prj_none", newSeries("", nil)).add(shard)
		s, err := decodeCells(b)
		if err != nil {
			return
		}
		if added != nil || skipped != nil {
			t.Errorf("%x reads as cells, but not for reports: %v, %v", b, added, skipped)
		}
		again, err := decodeCells(s.encode())
		if err != nil || !bytes.Equal(again.encode(), s.encode()) {
			t.Errorf("%x reads as cells that do not come back: %v", b, err)
		}
		var h histogram
		for _, c := range s {
			h.add(&c.ttfa)
		}
		h.quantile(0.95)
	})
}

func cellSeeds() [][]byte {
	var seeds [][]byte
	for n := range 4 {
		var s cells
		var sum Totals
		for _, e := range goldenEvents()[:n+1] {
			s.add(&e, &sum)
		}
		seeds = append(seeds, s.encode())
	}
	return append(seeds, []byte{cellsVersion}, []byte{cellsVersion, 0, 0})
}

func TestFuzzSeeds(t *testing.T) {
	for i, b := range cellSeeds()[:4] {
		if _, err := decodeCells(b); err != nil || len(b) == 0 {
			t.Errorf("seed %d is not a cells: %v", i, err)
		}
	}
}

func TestSketchIsWithinOnePercent(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	distributions := map[string]func() int64{
		"log-normal with a slow tail": func() int64 {
			us := math.Exp(rng.NormFloat64()*0.4 + 10.3)
			if rng.IntN(33) == 0 {
				us *= 20
			}
			return int64(us)
		},
		"uniform":           func() int64 { return rng.Int64N(2_000_000) },
		"mostly no waiting": func() int64 { return max(0, rng.Int64N(1000)-900) },
		"always the same":   func() int64 { return 31_000 },
		"tiny":              func() int64 { return 1 + rng.Int64N(3) },
		"huge":              func() int64 { return math.MaxInt64 - rng.Int64N(1000) },
	}
	for name, next := range distributions {
		var s sketch
		values := make([]int64, 20_000)
		for i := range values {
			values[i] = next()
			s.add(values[i])
		}
		slices.Sort(values)
		var h histogram
		h.add(&s)
		for _, q := range []float64{0, 0.01, 0.5, 0.95, 0.99, 1} {
			want := float64(values[int(max(0, math.Ceil(q*float64(len(values)))-1))])
			got, ok := h.quantile(q)
			if !ok || math.Abs(got-want) > want*(accuracy+1e-9) {
				t.Errorf("%s: quantile %v = %v, want %v within 1 %%", name, q, got, want)
			}
		}
		b := s.append(nil)
		var read sketch
		r := reader{b: b}
		if read.read(&r); r.broken || len(r.rest()) != 0 || !slices.Equal(read.bins, s.bins) || read.zeros != s.zeros {
			t.Errorf("%s: does not come back from its %d bytes", name, len(b))
		}
		t.Logf("%s: %d bytes", name, len(b))
	}
	if _, ok := (&histogram{}).quantile(0.5); ok {
		t.Error("an empty histogram has a median")
	}
}

// hundredKeys is a busy day of an organisation with as many keys, voices and endpoints as it can have.
func hundredKeys(n int) []meter.Event {
	rng := rand.New(rand.NewPCG(7, 8))
	events := randomEvents(rng, n)
	for i := range events {
		e := &events[i]
		e.OrgID, e.Date, e.Playground = "org_a", "2026-11-10", false
		e.ProjectID, e.KeyID = "prj_0123456789abcdefghjkmnpqrs", fmt.Sprintf("key_%026d", rng.IntN(100))
	}
	return events
}

func TestAShardOfAHundredKeysIsFarBelowAMegabyte(t *testing.T) {
	c := ShardChange{events: hundredKeys(100_000)}
	s, err := c.Fold(Shard{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("100,000 requests with 100 keys, two voices and two endpoints: %d bytes", len(s.Cells))
	if len(s.Cells) > 512<<10 {
		t.Errorf("%d bytes; some stores take no more than a megabyte", len(s.Cells))
	}
}

func BenchmarkFoldBatch(b *testing.B) {
	full, err := ShardChange{events: hundredKeys(20_000)}.Fold(Shard{})
	if err != nil {
		b.Fatal(err)
	}
	c := ShardChange{events: hundredKeys(500)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Fold(full); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(full.Cells)), "B/shard")
}

func BenchmarkSketchAdd(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	values := make([]int64, 4096)
	for i := range values {
		values[i] = int64(math.Exp(rng.NormFloat64()*0.5 + 10.5))
	}
	var s sketch
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		s.add(values[i&4095])
		i++
	}
}

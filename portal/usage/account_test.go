package usage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/meter"
)

// plainUsage is what [Reports.Usage] must tell, added up in the plainest way: every cell is decoded whole and merged
// into the sum of each group that it belongs to, bin by bin of sparse sketches.
func plainUsage(t *testing.T, shards []Shard, q Query, rate func(month string) int64) Usage {
	t.Helper()
	first, last, err := q.days()
	if err != nil {
		t.Fatal(err)
	}
	total, days, keys, voices, endpoints := &plainSum{}, plainSums{}, plainSums{}, plainSums{}, plainSums{}
	for _, s := range shards {
		all, err := decodeCells(s.Cells)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			if q.ProjectID != "" && q.ProjectID != c.project {
				continue
			}
			for _, sum := range []*plainSum{
				total, days.at(cellKey{key: s.Date}), keys.at(cellKey{project: c.project, key: c.key}),
				voices.at(cellKey{key: c.voice}), endpoints.at(cellKey{key: c.endpoint}),
			} {
				sum.add(c, s.Date[:7])
			}
		}
	}
	u := Usage{OrgID: q.OrgID, ProjectID: q.ProjectID, From: q.From, To: q.To, Total: total.figures(rate)}
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		date := day.Format(time.DateOnly)
		u.ByDay = append(u.ByDay, DayFigures{date, days.at(cellKey{key: date}).figures(rate)})
	}
	for k, sum := range keys {
		u.ByKey = append(u.ByKey, KeyFigures{k.project, k.key, sum.prefix, sum.figures(rate)})
	}
	slices.SortFunc(u.ByKey, func(a, b KeyFigures) int {
		return cmp.Or(cmp.Compare(b.Frames, a.Frames), strings.Compare(a.KeyID, b.KeyID),
			strings.Compare(a.ProjectID, b.ProjectID))
	})
	u.ByVoice, u.ByEndpoint = voices.named(rate), endpoints.named(rate)
	return u
}

type plainSum struct {
	counts
	prefix string
	months map[string]int64
}

func (a *plainSum) add(c *cell, month string) {
	a.merge(&c.counts)
	a.prefix = max(a.prefix, c.prefix)
	if a.months == nil {
		a.months = map[string]int64{}
	}
	a.months[month] += c.billed
}

func (a *plainSum) figures(rate func(month string) int64) Figures {
	ms := func(q float64) *float64 {
		us, ok := plainQuantile(&a.ttfa, q)
		if !ok {
			return nil
		}
		ms := math.Round(us/100) / 10
		return &ms
	}
	f := Figures{
		Requests: a.requests, Errors: a.errors, Cancelled: a.cancelled, Frames: a.frames, Billed: a.billed,
		Chars:   a.chars,
		TTFAP50: ms(0.50), TTFAP95: ms(0.95), RTF: ratio(a.synthUS, a.frames*frameMicros),
	}
	for month, billed := range a.months {
		f.Paise += Paise(billed, rate(month))
	}
	return f
}

type plainSums map[cellKey]*plainSum

func (s plainSums) at(k cellKey) *plainSum {
	if s[k] == nil {
		s[k] = &plainSum{}
	}
	return s[k]
}

func (s plainSums) named(rate func(month string) int64) []NamedFigures {
	var all []NamedFigures
	for k, a := range s {
		all = append(all, NamedFigures{k.key, a.figures(rate)})
	}
	slices.SortFunc(all, func(a, b NamedFigures) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// countOf returns how many durations were added to s.
func countOf(s *sketch) uint64 {
	n := s.zeros
	for _, b := range s.bins {
		n += b.count
	}
	return n
}

func plainQuantile(s *sketch, q float64) (us float64, ok bool) {
	n := countOf(s)
	if n == 0 {
		return 0, false
	}
	rank := uint64(max(0, math.Ceil(q*float64(n))-1))
	below := s.zeros
	if rank < below {
		return 0, true
	}
	for _, b := range s.bins {
		if below += b.count; rank < below {
			return 2 * math.Pow(gamma, float64(b.index)) / (gamma + 1), true
		}
	}
	return 0, true
}

// shelf is a store that only has shards.
type shelf struct {
	Store
	shards []Shard
	closed []ClosedMonth
}

func (s shelf) Shards(context.Context, string, string, string) ([]Shard, error) { return s.shards, nil }
func (s shelf) ClosedMonths(context.Context) ([]ClosedMonth, error)             { return s.closed, nil }

// Reports are the plain sum to the last bit: of any shards, of one project and of all, over months of different rates,
// and in whatever order the store hands shards out.
func TestReportsAreThePlainSum(t *testing.T) {
	rates := Rates{{Paise: 20}, {From: "2026-11", Paise: 33}}
	closed := []ClosedMonth{{Month: "2026-10", Rate: 7}}
	rate := func(month string) int64 {
		if month == "2026-10" {
			return 7
		}
		return rates.at(month)
	}
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 11))
		shards := randomShards(t, rng)
		r, err := NewReports(shelf{shards: shards, closed: closed}, rates)
		if err != nil {
			t.Fatal(err)
		}
		for _, project := range []string{"", "prj_a", "prj_none"} {
			q := Query{OrgID: "org_a", ProjectID: project,
				From: midnight(time.Date(2026, 10, 25, 12, 0, 0, 0, time.UTC))}
			q.To = q.From.AddDate(0, 0, 14)
			got, err := r.Usage(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if want := plainUsage(t, shards, q, rate); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, project %q:\ngot  %+v\nwant %+v", seed, project, got, want)
			}
			little := got.Total.Requests == 0 || len(got.ByKey) < 4 || len(got.ByVoice) != 2
			if project != "prj_none" && len(shards) > 10 && little {
				t.Fatalf("seed %d, project %q: too little to compare: %+v", seed, project, got)
			}
		}
	}
}

// randomShards are of one organisation, two sources and two weeks around the turn of a month, with days left out and
// durations of every size from a microsecond to the longest that there is.
func randomShards(t *testing.T, rng *rand.Rand) []Shard {
	t.Helper()
	var shards []Shard
	for day := range 14 {
		for _, source := range []string{"src_1", "src_2"} {
			if rng.IntN(4) == 0 {
				continue
			}
			events := randomEvents(rng, rng.IntN(120))
			for i := range events {
				e := &events[i]
				e.KeyPrefix = "swar_live_" + e.KeyID
				switch rng.IntN(20) {
				case 0:
					e.TTFAus = rng.Int64() >> rng.IntN(63)
				case 1:
					e.TTFAus = 1
				}
			}
			date := meter.DateOf(time.Date(2026, 10, 25+day, 12, 0, 0, 0, time.UTC))
			s, err := ShardChange{Key: ShardKey{"org_a", source, date}, events: events}.Fold(Shard{})
			if err != nil {
				t.Fatal(err)
			}
			shards = append(shards, s)
		}
	}
	if rng.IntN(3) == 0 {
		rng.Shuffle(len(shards), func(i, j int) { shards[i], shards[j] = shards[j], shards[i] })
	}
	return shards
}

// A report of a damaged shard is an error that names it, wherever the cells break off.
func TestReportsRefuseDamagedCells(t *testing.T) {
	s, err := ShardChange{Key: ShardKey{"org_a", "src_1", "2026-11-10"}, events: goldenEvents()}.Fold(Shard{})
	if err != nil {
		t.Fatal(err)
	}
	q := Query{OrgID: "org_a", From: time.Date(2026, 11, 9, 0, 0, 0, 0, time.UTC),
		To: time.Date(2026, 11, 12, 0, 0, 0, 0, time.UTC)}
	ask := func(b []byte, project string) error {
		damaged := s
		damaged.Cells = b
		r, err := NewReports(shelf{shards: []Shard{damaged}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		q.ProjectID = project
		_, err = r.Usage(t.Context(), q)
		return err
	}
	for _, project := range []string{"", "prj_other"} {
		if err := ask(s.Cells, project); err != nil {
			t.Fatal(err)
		}
		for n := 1; n < len(s.Cells); n++ {
			if err := ask(s.Cells[:n], project); !errors.Is(err, errCells) ||
				!strings.Contains(err.Error(), "2026-11-10 from src_1") {
				t.Errorf("project %q, %d of %d bytes: %v", project, n, len(s.Cells), err)
			}
		}
		if err := ask(append(bytes.Clone(s.Cells), 0), project); !errors.Is(err, errCells) {
			t.Errorf("project %q, a byte too many: %v", project, err)
		}
	}
	if err := ask([]byte{9}, ""); err == nil || !strings.Contains(err.Error(), "version 9") {
		t.Errorf("cells of a newer version: %v", err)
	}
}

// A skipped sketch ends where a read one ends, whatever is in it.
func TestSkippingEndsWhereReadingEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for bins := range 40 {
		var s sketch
		for range bins {
			s.add(rng.Int64() >> rng.IntN(63))
		}
		for i := range s.bins {
			s.bins[i].count = 1 + rng.Uint64()>>rng.IntN(64)
		}
		for rest := range 10 {
			b := append(s.append(nil), bytes.Repeat([]byte{0x80}, rest)...)
			r := reader{b: b}
			if r.skipSketch(); r.broken || len(r.rest()) != rest {
				t.Fatalf("%d bins in %x, %d bytes behind them: %d left, broken %v", len(s.bins), b, rest,
					len(r.rest()), r.broken)
			}
		}
	}
}

// BenchmarkUsage times reports of a busy organisation without the store: its shards are in memory.
//
//	go test -run - -bench Usage ./portal/usage
func BenchmarkUsage(b *testing.B) {
	for _, bb := range []struct{ days, keys, sources int }{{30, 20, 1}, {30, 20, 3}, {400, 20, 1}, {400, 20, 3}} {
		b.Run(fmt.Sprintf("%d_days_%d_keys_%d_sources", bb.days, bb.keys, bb.sources), func(b *testing.B) {
			var shards []Shard
			var size int
			for source := range bb.sources {
				c := ShardChange{events: busyDay(rand.New(rand.NewPCG(uint64(source), 1)), bb.keys)}
				day, err := c.Fold(Shard{})
				if err != nil {
					b.Fatal(err)
				}
				for n := range bb.days {
					day.ShardKey = ShardKey{"org_a", fmt.Sprint("src_", source),
						meter.DateOf(time.Date(2025, 12, 1+n, 12, 0, 0, 0, time.UTC))}
					shards = append(shards, day)
					size += len(day.Cells)
				}
			}
			r, err := NewReports(shelf{shards: shards}, nil)
			if err != nil {
				b.Fatal(err)
			}
			q := Query{OrgID: "org_a", From: midnight(time.Date(2025, 12, 1, 12, 0, 0, 0, time.UTC))}
			q.To = q.From.AddDate(0, 0, bb.days)
			b.ReportAllocs()
			for b.Loop() {
				u, err := r.Usage(b.Context(), q)
				if err != nil || len(u.ByKey) != bb.keys {
					b.Fatalf("%d keys, %v", len(u.ByKey), err)
				}
			}
			b.ReportMetric(float64(size)/1e6, "MB-of-cells")
		})
	}
}

// busyDay is 33,000 requests with two voices and three endpoints: a million in thirty days.
func busyDay(rng *rand.Rand, keys int) []meter.Event {
	events := randomEvents(rng, 33_000)
	for i := range events {
		e := &events[i]
		e.ProjectID, e.KeyID, e.Playground = "prj_0123456789abcdefghjkmnpqrs",
			fmt.Sprintf("key_%026d", rng.IntN(keys)), false
		e.Endpoint = []string{"rest", "ws", "openai"}[rng.IntN(3)]
	}
	return events
}

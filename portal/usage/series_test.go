package usage

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/meter"
)

// Series hold, for each day, exactly what the cells of that day do, in whatever way they are split.
func TestSeriesAreThePlainSum(t *testing.T) {
	for seed := range uint64(20) {
		shards := randomShards(t, rand.New(rand.NewPCG(seed, 12)))
		r, err := NewReports(shelf{shards: shards}, nil)
		if err != nil {
			t.Fatal(err)
		}
		q := Query{OrgID: "org_a", From: midnight(time.Date(2026, 10, 25, 12, 0, 0, 0, time.UTC))}
		q.To = q.From.AddDate(0, 0, 14)
		for _, q.ProjectID = range []string{"", "prj_a", "prj_none"} {
			whole, err := r.Usage(t.Context(), q)
			if err != nil || whole.Series != nil {
				t.Fatalf("unsplit: %v, series %v", err, whole.Series)
			}
			for by, id := range map[Split]func(*cell) string{
				SplitKey:      func(c *cell) string { return c.key },
				SplitVoice:    func(c *cell) string { return c.voice },
				SplitEndpoint: func(c *cell) string { return c.endpoint },
			} {
				q := q
				q.Split = by
				got, err := r.Usage(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if want := plainSeries(t, shards, whole.ByDay, q.ProjectID,
					id); !reflect.DeepEqual(figuresOf(got.Series), want) {
					t.Fatalf("seed %d, project %q by %s:\ngot  %+v\nwant %+v", seed, q.ProjectID, by,
						figuresOf(got.Series), want)
				}
				got.Series = nil
				if !reflect.DeepEqual(got, whole) {
					t.Errorf("splitting by %s changes the rest", by)
				}
			}
		}
	}
}

// figuresOf leaves out the prefixes of keys.
func figuresOf(all []Series) []Series {
	bare := []Series{}
	for _, s := range all {
		bare = append(bare, Series{ID: s.ID, Frames: s.Frames, Billed: s.Billed})
	}
	return bare
}

func plainSeries(t *testing.T, shards []Shard, days []DayFigures, project string, id func(*cell) string) []Series {
	t.Helper()
	all := []Series{}
	for _, s := range shards {
		cells, err := decodeCells(s.Cells)
		if err != nil {
			t.Fatal(err)
		}
		day := slices.IndexFunc(days, func(d DayFigures) bool { return d.Date == s.Date })
		for _, c := range cells {
			if project != "" && c.project != project {
				continue
			}
			i := slices.IndexFunc(all, func(s Series) bool { return s.ID == id(c) })
			if i < 0 {
				i = len(all)
				all = append(all, Series{ID: id(c), Frames: make([]int64, len(days)), Billed: make([]int64, len(days))})
			}
			all[i].Frames[day] += c.frames
			all[i].Billed[day] += c.billed
		}
	}
	sum := func(s Series) (n int64) {
		for _, f := range s.Frames {
			n += f
		}
		return n
	}
	slices.SortFunc(all, func(a, b Series) int {
		return cmp.Or(cmp.Compare(sum(b), sum(a)),
			strings.Compare(a.ID, b.ID))
	})
	return all
}

func TestTheSmallestSeriesAreOne(t *testing.T) {
	for keys, want := range map[int]int{7: 7, 8: 8, 9: 9, 10: 9, 20: 9} {
		var events []meter.Event
		for k := range keys {
			for range k + 1 { // so that each has more than the one before
				e := goldenEvents()[0]
				e.ID, e.KeyID, e.KeyPrefix, e.Playground = fmt.Sprint("evt_", len(events)), fmt.Sprintf("key_%02d", k),
					fmt.Sprint("swar_live_", k), false
				e.Frames, e.Billed = 10, 5
				events = append(events, e)
			}
		}
		s, err := ShardChange{Key: ShardKey{"org_a", "src_1", "2026-11-10"}, events: events}.Fold(Shard{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReports(shelf{shards: []Shard{s}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 11, 9, 0, 0, 0, 0, meter.India)
		u, err := r.Usage(t.Context(), Query{OrgID: "org_a", From: at, To: at.AddDate(0, 0, 3), Split: SplitKey})
		if err != nil || len(u.Series) != want {
			t.Fatalf("%d keys: %d series, %v; want %d", keys, len(u.Series), err, want)
		}
		if first := u.Series[0]; first.ID != fmt.Sprintf("key_%02d", keys-1) || first.Prefix == "" ||
			first.Frames[1] == 0 {
			t.Errorf("%d keys: the first is %+v", keys, first)
		}
		last := u.Series[len(u.Series)-1]
		if (last.ID == Other) != (keys > maxSeries) {
			t.Errorf("%d keys: the last is %+v", keys, last)
		}
		var frames, billed int64
		for _, one := range u.Series {
			if len(one.Frames) != len(u.ByDay) || len(one.Billed) != len(u.ByDay) {
				t.Fatalf("%d keys: %d and %d days, want %d", keys, len(one.Frames), len(one.Billed), len(u.ByDay))
			}
			frames, billed = frames+one.Frames[1], billed+one.Billed[1]
		}
		if frames != u.Total.Frames || billed != u.Total.Billed {
			t.Errorf("%d keys: %d frames, %d billed; want %d and %d", keys, frames, billed, u.Total.Frames,
				u.Total.Billed)
		}
	}
}

func TestAnUnknownSplitIsRefused(t *testing.T) {
	r, err := NewReports(shelf{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Usage(t.Context(), Query{OrgID: "org_a", Split: "day"}); err != ErrSplit {
		t.Errorf("got %v, want %v", err, ErrSplit)
	}
	if u, err := r.Usage(t.Context(), Query{OrgID: "org_a", Split: SplitKey}); err != nil || u.Series == nil ||
		len(u.Series) != 0 {
		t.Errorf("without usage: %v, %v", u.Series, err)
	}
}

package usage_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

// book sends events, whatever their numbers, as one source.
func book(t *testing.T, store usage.Store, source string, events ...meter.Event) {
	t.Helper()
	for i := range events {
		e := &events[i]
		e.Seq = int64(i + 1)
		e.ID = fmt.Sprintf("evt_%s_%03d", source, i)
		e.Date = meter.DateOf(e.Start)
		e.Start = e.Start.UTC()
	}
	if err := usage.NewLedger(store).Send(t.Context(), meter.Batch{Source: source, Events: events}); err != nil {
		t.Fatal(err)
	}
}

func at(s string) time.Time {
	t, err := time.ParseInLocation("2006-01-02 15:04:05", s, meter.India)
	if err != nil {
		panic(err)
	}
	return t
}

// ended is a stream of a minute.
func ended(start string, change func(e *meter.Event)) meter.Event {
	e := meter.Event{
		Kind: meter.Final, Start: at(start), At: at(start), OrgID: "org_a", ProjectID: "prj_a", KeyID: "key_a",
		KeyPrefix: "swar_live_aaaaaa",
		RequestID: "r-" + start[11:], Endpoint: "rest", Voice: "anjura", Format: "wav", Status: meter.OK, Frames: 750,
		Billed: 750, Chars: 900, Chunks: 9,
		TTFAus: 40_000, Wallus: 20_000_000, Synthus: 15_000_000,
	}
	if change != nil {
		change(&e)
	}
	return e
}

func reports(t *testing.T, store usage.Store, rates usage.Rates) *usage.Reports {
	t.Helper()
	r, err := usage.NewReports(store, rates)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestUsageReport(t *testing.T) {
	store := memstore.New()
	book(t, store, "src_1",
		ended("2026-11-10 23:59:59", nil),
		ended("2026-11-11 00:00:00", func(e *meter.Event) { e.KeyID, e.Voice, e.TTFAus = "key_b", "raj", 80_000 }),
		ended("2026-11-11 09:00:00", func(e *meter.Event) { e.Status, e.Billed, e.Frames = meter.Failed, 0, 10 }),
		ended("2026-11-11 10:00:00", func(e *meter.Event) {
			e.ProjectID, e.Playground, e.Endpoint = "prj_b",
				true, "ws"
		}),
		ended("2026-11-11 10:00:00", func(e *meter.Event) { e.OrgID = "org_b" }))
	book(t, store, "src_2",
		ended("2026-11-13 12:00:00", func(e *meter.Event) {
			e.Status, e.Frames, e.Billed, e.TTFAus, e.Synthus, e.Chars = meter.Cancelled, 375, 375, 0, 0, 100
		}))
	r := reports(t, store, nil)

	u, err := r.Usage(t.Context(), usage.Query{OrgID: "org_a", From: at("2026-11-10 12:00:00"),
		To: at("2026-11-14 00:00:00")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := show(u.Total), "5 requests, 1 errors, 1 cancelled, 2635/2625 frames, 3700 chars, 70 paise, ttfa 39.7..80, rtf 0.285"; got != want {
		t.Errorf("total: %s\nwant   %s", got, want)
	}
	var got []string
	for _, d := range u.ByDay {
		got = append(got, d.Date+": "+show(d.Figures))
	}
	for _, k := range u.ByKey {
		got = append(got, fmt.Sprintf("%s %s %q: %s", k.ProjectID, k.KeyID, k.Prefix, show(k.Figures)))
	}
	for _, n := range slices.Concat(u.ByVoice, u.ByEndpoint) {
		got = append(got, n.Name+": "+show(n.Figures))
	}
	want := []string{
		"2026-11-10: 1 requests, 0 errors, 0 cancelled, 750/750 frames, 900 chars, 20 paise, ttfa 39.7..39.7, rtf 0.25",
		"2026-11-11: 3 requests, 1 errors, 0 cancelled, 1510/1500 frames, 2700 chars, 40 paise, ttfa 39.7..80, rtf 0.373",
		"2026-11-12: 0 requests, 0 errors, 0 cancelled, 0/0 frames, 0 chars, 0 paise, ttfa none, rtf none",
		"2026-11-13: 1 requests, 0 errors, 1 cancelled, 375/375 frames, 100 chars, 10 paise, ttfa none, rtf 0",
		`prj_a key_a "swar_live_aaaaaa": 3 requests, 1 errors, 1 cancelled, 1135/1125 frames, 1900 chars, 30 paise, ttfa 39.7..39.7, rtf 0.33`,
		`prj_a key_b "swar_live_aaaaaa": 1 requests, 0 errors, 0 cancelled, 750/750 frames, 900 chars, 20 paise, ttfa 80..80, rtf 0.25`,
		`prj_b playground "": 1 requests, 0 errors, 0 cancelled, 750/750 frames, 900 chars, 20 paise, ttfa 39.7..39.7, rtf 0.25`,
		"anjura: 4 requests, 1 errors, 1 cancelled, 1885/1875 frames, 2800 chars, 50 paise, ttfa 39.7..39.7, rtf 0.298",
		"raj: 1 requests, 0 errors, 0 cancelled, 750/750 frames, 900 chars, 20 paise, ttfa 80..80, rtf 0.25",
		"rest: 4 requests, 1 errors, 1 cancelled, 1885/1875 frames, 2800 chars, 50 paise, ttfa 39.7..80, rtf 0.298",
		"ws: 1 requests, 0 errors, 0 cancelled, 750/750 frames, 900 chars, 20 paise, ttfa 39.7..39.7, rtf 0.25",
	}
	if !slices.Equal(got, want) {
		t.Errorf("report:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	u, err = r.Usage(t.Context(), usage.Query{OrgID: "org_a", ProjectID: "prj_b", From: at("2026-11-10 12:00:00"),
		To: at("2026-11-14 00:00:00")})
	if err != nil || u.Total.Requests != 1 || len(u.ByDay) != 4 || len(u.ByKey) != 1 {
		t.Errorf("of one project: %+v, %v", u, err)
	}
}

func show(f usage.Figures) string {
	ttfa, rtf := "none", "none"
	if f.TTFAP50 != nil && f.TTFAP95 != nil {
		ttfa = fmt.Sprintf("%v..%v", *f.TTFAP50, *f.TTFAP95)
	}
	if f.RTF != nil {
		rtf = fmt.Sprint(*f.RTF)
	}
	return fmt.Sprintf("%d requests, %d errors, %d cancelled, %d/%d frames, %d chars, %d paise, ttfa %s, rtf %s",
		f.Requests, f.Errors, f.Cancelled, f.Frames, f.Billed, f.Chars, f.Paise, ttfa, rtf)
}

func TestUsageRanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // whose time begins on 1 January 2000, 05:30 in India
		const day = 24 * time.Hour
		now := time.Now()
		tests := map[string]struct {
			from, to    time.Time
			first, last string
			days        int
			err         error
		}{
			"the last 30 days":                  {time.Time{}, time.Time{}, "1999-12-03", "2000-01-01", 30, nil},
			"from a time on":                    {now.Add(-2 * day), time.Time{}, "1999-12-30", "2000-01-01", 3, nil},
			"30 days before an end":             {time.Time{}, now.Add(-day), "1999-12-02", "1999-12-31", 30, nil},
			"a midnight in India ends a day":    {at("1999-12-30 00:00:00"), at("1999-12-31 00:00:00"), "1999-12-30", "1999-12-30", 1, nil},
			"and a moment later begins one":     {at("1999-12-30 00:00:00"), at("1999-12-31 00:00:01"), "1999-12-30", "1999-12-31", 2, nil},
			"no time at all":                    {now, now, "2000-01-01", "2000-01-01", 1, nil},
			"no time at midnight":               {at("1999-12-30 00:00:00"), at("1999-12-30 00:00:00"), "1999-12-30", "1999-12-30", 1, nil},
			"backwards":                         {now, now.Add(-1), "", "", 0, usage.ErrBackwards},
			"400 days less a second":            {now.Add(-400*day + time.Second), now, "1998-11-27", "2000-01-01", 401, nil},
			"400 days":                          {now.Add(-400 * day), now, "1998-11-27", "2000-01-01", 401, nil},
			"400 days and a second":             {now.Add(-400*day - time.Second), now, "", "", 0, usage.ErrTooWide},
			"400 days between Indian midnights": {at("1998-11-27 00:00:00"), at("2000-01-01 00:00:00"), "1998-11-27", "1999-12-31", 400, nil},
		}
		r := reports(t, memstore.New(), nil)
		for name, tt := range tests {
			u, err := r.Usage(t.Context(), usage.Query{OrgID: "org_a", From: tt.from, To: tt.to})
			if !errors.Is(err, tt.err) {
				t.Errorf("%s: error %v, want %v", name, err, tt.err)
			}
			if tt.err != nil || err != nil {
				continue
			}
			if n := len(u.ByDay); n != tt.days || u.ByDay[0].Date != tt.first || u.ByDay[n-1].Date != tt.last {
				t.Errorf("%s: %d days %s to %s, want %d: %s to %s", name, n, u.ByDay[0].Date, u.ByDay[n-1].Date,
					tt.days, tt.first, tt.last)
			}
			if u.Total.TTFAP50 != nil || u.Total.RTF != nil {
				t.Errorf("%s: figures without data: %s", name, show(u.Total))
			}
		}
	})
}

func TestRequestPages(t *testing.T) {
	store := memstore.New()
	var events []meter.Event
	for i := range 120 {
		events = append(events, ended("2026-11-10 10:00:00", func(e *meter.Event) {
			e.Start = e.Start.Add(time.Duration(i) * time.Second)
			e.RequestID = fmt.Sprint(i)
		}))
	}
	book(t, store, "src_1", events...)
	r := reports(t, store, nil)
	for limit, want := range map[int][]int{0: {50, 50, 20}, 1: nil, 40: {40, 40, 40}, 60: {60, 60}, 119: {119, 1},
		120: {120}, 121: {120}, 500: {120}} {
		var sizes []int
		next := 119
		for cursor := ""; ; {
			page, err := r.Requests(t.Context(), usage.RequestQuery{OrgID: "org_a", Limit: limit}, cursor)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range page.Requests {
				if row.RequestID != fmt.Sprint(next) {
					t.Fatalf("limit %d: row %s, want %d", limit, row.RequestID, next)
				}
				next--
			}
			sizes = append(sizes, len(page.Requests))
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		if next != -1 || want != nil && !slices.Equal(sizes, want) {
			t.Errorf("limit %d: pages of %v with %d rows left, want %v", limit, sizes, next+1, want)
		}
	}
	for name, tt := range map[string]struct {
		q      usage.RequestQuery
		cursor string
		want   error
	}{
		"too many":          {usage.RequestQuery{Limit: 501}, "", usage.ErrLimit},
		"less than none":    {usage.RequestQuery{Limit: -1}, "", usage.ErrNoLimit},
		"junk":              {usage.RequestQuery{}, "!", usage.ErrCursor},
		"base 64 of junk":   {usage.RequestQuery{}, "anVuaw", usage.ErrCursor},
		"a time without id": {usage.RequestQuery{}, "MTIg", usage.ErrCursor},
		"backwards":         {usage.RequestQuery{From: at("2026-11-10 10:00:01"), To: at("2026-11-10 10:00:00")}, "", usage.ErrBackwards},
	} {
		if _, err := r.Requests(t.Context(), tt.q, tt.cursor); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

func TestBills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at("2026-12-02 12:00:00")))
		store := memstore.New()
		frames := func(n int64) func(*meter.Event) {
			return func(e *meter.Event) { e.Frames, e.Billed = n, n }
		}
		book(t, store, "src_1",
			ended("2026-09-30 23:59:59", frames(750)),
			ended("2026-10-01 00:00:00", frames(19)), // 0.5067 paise
			ended("2026-10-31 23:59:59", frames(19)), // with the other 1.013
			ended("2026-11-30 10:00:00", frames(7500)),
			ended("2026-11-30 10:00:00", func(e *meter.Event) { e.Status, e.Billed = meter.TimedOut, 0 }))
		rates := usage.Rates{{Paise: 20}, {From: "2026-11", Paise: 30}}
		u, err := usage.NewMaintenance(usage.MaintenanceConfig{Rates: rates}, store, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		want := []usage.Bill{
			{Month: "2026-12", Rate: 30},
			{Month: "2026-11", Requests: 2, Billed: 7500, Rate: 30, Paise: 300},
			{Month: "2026-10", Requests: 2, Billed: 38, Rate: 20, Paise: 1, Closed: true},
			{Month: "2026-09", Requests: 1, Billed: 750, Rate: 20, Paise: 20, Closed: true},
		}
		check := func(when string, rates usage.Rates) {
			t.Helper()
			got, err := reports(t, store, rates).Bills(t.Context(), "org_a")
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %+v, %v\nwant %+v", when, got, err, want)
			}
		}
		for range 2 { // as if there were two leaders
			if _, err := u.Round(t.Context()); err != nil {
				t.Fatal(err)
			}
			check("in the days of grace", rates)
		}
		time.Sleep(time.Until(at("2026-12-03 23:59:59")))
		if f, err := u.Round(t.Context()); err != nil || len(f.Closed) != 0 {
			t.Errorf("a second before the grace ends: %+v, %v", f, err)
		}
		time.Sleep(time.Second)
		if f, err := u.Round(t.Context()); err != nil || !slices.Equal(f.Closed, []string{"2026-11"}) {
			t.Errorf("when the grace has ended: %+v, %v", f, err)
		}
		want[1].Closed = true
		want[0].Rate = 99
		check("after another change of price", usage.Rates{{Paise: 99}})
	})
}

func TestUpkeepSweepsAndCompares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at("2026-11-20 12:00:00")))
		store := memstore.New()
		book(t, store, "src_1",
			ended("2026-10-15 23:59:59", nil), // 36 days ago; its month is open
			ended("2026-10-16 00:00:00", nil),
			ended("2026-11-19 12:00:00", nil))
		broken := &losing{Store: store}
		u, err := usage.NewMaintenance(usage.MaintenanceConfig{}, broken, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		f, err := u.Round(t.Context())
		if err != nil || f.Swept != 1 || f.Difference() != 0 {
			t.Errorf("first round: %+v, %v; want one row swept and no difference", f, err)
		}
		broken.date = "2026-11-19"
		f, err = u.Round(t.Context())
		if err != nil || f.Swept != 0 || len(f.Differences) != 1 || f.Difference() != 1+750+750 {
			t.Errorf("with a lost row: %+v, %v; want a difference of a request and 750 frames", f, err)
		}
		if _, err := usage.NewMaintenance(usage.MaintenanceConfig{Retention: 6}, store, nil); err == nil {
			t.Error("six days of retention are not refused")
		}
		if _, err := usage.NewMaintenance(usage.MaintenanceConfig{Retention: 7}, store, nil); err != nil {
			t.Errorf("seven days of retention: %v", err)
		}
	})
}

// TestUpkeepMergesPastDays: reports and bills stay as they were, to the last bin of a sketch.
func TestUpkeepMergesPastDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(at("2026-11-20 12:00:00")))
		store := memstore.New()
		days := []string{"2026-10-10", "2026-10-11", "2026-11-19", "2026-11-20"} // 41, 40, 1 and 0 days ago
		for n := range 5 {
			var events []meter.Event
			for i, day := range days {
				events = append(events, ended(day+" 10:00:00", func(e *meter.Event) {
					e.TTFAus, e.KeyID, e.Billed = int64(1000*(n+1)*(i+1)), fmt.Sprint("key_", n%2), int64(100*n+i)
				}))
			}
			book(t, store, fmt.Sprint("src_", n), events...)
		}
		r := reports(t, store, nil)
		told := func() (usage.Usage, []usage.Bill) {
			u, err := r.Usage(t.Context(), usage.Query{OrgID: "org_a", From: at("2026-10-01 00:00:00"),
				To: at("2026-11-21 00:00:00")})
			bills, other := r.Bills(t.Context(), "org_a")
			if err := errors.Join(err, other); err != nil {
				t.Fatal(err)
			}
			return u, bills
		}
		u, err := usage.NewMaintenance(usage.MaintenanceConfig{}, store, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		before, billsBefore := told()
		for round, want := range []int{8, 0} {
			if f, err := u.Round(t.Context()); err != nil || f.Merged != want || f.Difference() != 0 {
				t.Errorf("round %d: %+v, %v; want %d shards merged and no difference", round, f, err, want)
			}
		}
		after, billsAfter := told()
		for i := range billsAfter {
			billsAfter[i].Closed = billsBefore[i].Closed // upkeep does that, too
		}
		if !reflect.DeepEqual(before, after) || !slices.Equal(billsBefore, billsAfter) {
			t.Errorf("usage was %+v, %+v\nand is %+v, %+v", before, billsBefore, after, billsAfter)
		}
		shards, err := store.Shards(t.Context(), "org_a", days[0], days[3])
		if err != nil || len(shards) != 5+1+1+5 {
			t.Errorf("there are %d shards (%v), want 12", len(shards), err)
		}
	})
}

// losing is a store that has lost the rows of a date.
type losing struct {
	usage.Store
	date string
	down time.Time // it does not work before
}

func (l *losing) Compare(ctx context.Context, date string) ([]usage.Comparison, error) {
	all, err := l.Store.Compare(ctx, date)
	if date == l.date {
		for i := range all {
			all[i].Requests = usage.Totals{}
		}
	}
	if time.Now().Before(l.down) {
		return nil, errors.New("no store")
	}
	return all, err
}

func TestUpkeepRunsEveryNightAndSurvivesFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &losing{Store: memstore.New()}
		u, err := usage.NewMaintenance(usage.MaintenanceConfig{}, store, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 72*time.Hour)
		defer stop()
		var rounds []string
		store.down = time.Now().Add(30 * time.Minute)
		err = u.Run(ctx, func(usage.Findings) {
			rounds = append(rounds,
				time.Now().In(meter.India).Format("02 15:04"))
		})
		want := []string{"01 06:30", "02 02:30", "03 02:30", "04 02:30"}
		if err != nil || !slices.Equal(rounds, want) {
			t.Errorf("rounds at %v (%v), want %v", rounds, err, want)
		}
	})
}

func TestCSV(t *testing.T) {
	store := memstore.New()
	book(t, store, "src_1",
		ended("2026-11-10 10:00:00", nil),
		ended("2026-11-10 10:00:01", func(e *meter.Event) {
			e.RequestID, e.Status, e.Error, e.Billed, e.Frames, e.TTFAus = `=HYPERLINK("http://x","y")`, meter.Failed,
				"@SUM,1", 0, 1, 12_345
		}))
	r := reports(t, store, nil)
	u, err := r.Usage(t.Context(), usage.Query{OrgID: "org_a", From: at("2026-11-10 00:00:00"),
		To: at("2026-11-12 00:00:00")})
	if err != nil {
		t.Fatal(err)
	}
	for file, write := range map[string]func(b *bytes.Buffer) error{
		"days.csv": func(b *bytes.Buffer) error { return usage.WriteDays(b, u) },
		"bills.csv": func(b *bytes.Buffer) error {
			return usage.WriteBills(b, []usage.Bill{{Month: "2026-11", Rate: 20},
				{Month: "2026-10", Requests: 7, Billed: 123_457, Rate: 20, Paise: 3292, Closed: true}})
		},
		"requests.csv": func(b *bytes.Buffer) error {
			return r.WriteRequests(t.Context(), b, usage.RequestQuery{OrgID: "org_a"})
		},
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", file)
		if *usage.Update {
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s:\n%s\nwant (%v):\n%s", file, got.Bytes(), err, want)
		}
		rows, err := csv.NewReader(&got).ReadAll()
		if err != nil || len(rows) != 3 {
			t.Errorf("%s reads as %d rows, %v; want 3", file, len(rows), err)
		}
		for _, row := range rows[1:] {
			for _, field := range row {
				if strings.ContainsAny(field[:min(1, len(field))], "=+@") {
					t.Errorf("%s: a spreadsheet takes %q for a formula", file, field)
				}
			}
		}
	}
	var many []meter.Event
	for i := range 1001 {
		many = append(many, ended("2026-11-10 10:00:00",
			func(e *meter.Event) { e.RequestID, e.OrgID = fmt.Sprint(i), "org_many" }))
	}
	book(t, store, "src_2", many...)
	var out bytes.Buffer
	if err := r.WriteRequests(t.Context(), &out, usage.RequestQuery{OrgID: "org_many"}); err != nil ||
		bytes.Count(out.Bytes(), []byte("\n")) != 1002 {
		t.Errorf("1001 requests are %d lines, %v", bytes.Count(out.Bytes(), []byte("\n")), err)
	}
}

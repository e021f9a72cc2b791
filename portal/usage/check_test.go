package usage_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/memstore"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

// keysOf knows one key of one organisation, and another organisation.
type keysOf struct{}

func (keysOf) OwnerOf(_ context.Context, id string) (usage.Owner, error) {
	if id == "key_a" {
		return usage.Owner{OrgID: "org_a", ProjectID: "prj_a"}, nil
	}
	return usage.Owner{}, usage.ErrNoSuchKey
}

func (keysOf) HasProject(_ context.Context, o usage.Owner) (bool, error) {
	return o == usage.Owner{OrgID: "org_a", ProjectID: "prj_a"}, nil
}

// TestForgedUsage: what cannot be true changes no bill, is written to the log and counted, and what comes behind it is
// booked.
func TestForgedUsage(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	on := func(start time.Time) func(*meter.Event) {
		return func(e *meter.Event) { e.Start, e.Date = start, meter.DateOf(start) }
	}
	for name, tt := range map[string]struct {
		change func(*meter.Event)
		reason string // "": it is booked
		billed int64
	}{
		"as it should be":            {func(*meter.Event) {}, "", 10},
		"nothing was made":           {func(e *meter.Event) { e.Frames, e.Billed = 0, 0 }, "", 0},
		"negative frames":            {func(e *meter.Event) { e.Frames, e.Billed = -1, -1 }, "frames: -1", 0},
		"as many frames as can be":   {func(e *meter.Event) { e.Frames, e.Billed = 1<<16, 1<<16 }, "", 1 << 16},
		"one frame more":             {func(e *meter.Event) { e.Frames, e.Billed = 1<<16+1, 1 }, "frames: 65537", 0},
		"2^62 frames":                {func(e *meter.Event) { e.Frames, e.Billed = 1<<62, 1<<62 }, "frames:", 0},
		"more billed than made":      {func(e *meter.Event) { e.Billed = 11 }, "billed: 11 of 10", 0},
		"less than nothing billed":   {func(e *meter.Event) { e.Billed = -1 }, "billed: -1", 0},
		"too much taken back":        {func(e *meter.Event) { e.Status, e.Billed = meter.Failed, -1<<16-1 }, "billed: -65537", 0},
		"a day that there is not":    {func(e *meter.Event) { e.Date = "9999-99-99" }, `date: "9999-99-99"`, 0},
		"another day":                {func(e *meter.Event) { e.Date = "2026-01-01" }, "date:", 0},
		"as old as may be":           {on(now.Add(-400*24*time.Hour + time.Minute)), "", 10},
		"older":                      {on(now.Add(-400*24*time.Hour - time.Minute)), "start:", 0},
		"as far ahead as may be":     {on(now.Add(24*time.Hour - time.Minute)), "", 10},
		"further ahead":              {on(now.Add(24*time.Hour + time.Minute)), "start:", 0},
		"a status that there is not": {func(e *meter.Event) { e.Status = "free" }, `status: "free"`, 0},
		"a key that there is not":    {func(e *meter.Event) { e.KeyID = "key_x" }, `key: "key_x" does not exist`, 0},
		"the key of another":         {func(e *meter.Event) { e.OrgID = "org_b" }, "is not of the organisation", 0},
		"another project":            {func(e *meter.Event) { e.ProjectID = "prj_b" }, "is not of the organisation", 0},
		"a browser's key that is gone": {func(e *meter.Event) {
			on(now.Add(-24 * time.Hour))(e)
			e.KeyID, e.Playground = "key_x", true
		}, "", 10},
		"one that cannot be gone yet": {func(e *meter.Event) {
			on(now.Add(-24*time.Hour + time.Minute))(e)
			e.KeyID, e.Playground = "key_x", true
		}, `key: "key_x" does not exist`, 0},
		"and a project that there is not": {func(e *meter.Event) {
			on(now.Add(-25 * time.Hour))(e)
			e.KeyID, e.Playground, e.ProjectID = "key_x", true, "prj_x"
		}, `project: "prj_x"`, 0},
		"something taken back of nothing": {func(e *meter.Event) { e.Status, e.Frames, e.Billed = meter.Failed, 0, -1 }, "billed: 1 taken back of 0", 0},
		"a voice of 256 bytes":            {func(e *meter.Event) { e.Voice = strings.Repeat("v", 256) }, "", 10},
		"a voice of 257 bytes":            {func(e *meter.Event) { e.Voice = strings.Repeat("v", 257) }, "has 257 bytes", 0},
		"negative characters":             {func(e *meter.Event) { e.Chars = -1 }, "a negative count", 0},
		"progress without any status":     {func(e *meter.Event) { e.Kind, e.Status = meter.Progress, "" }, "", 10},
		"progress that takes something":   {func(e *meter.Event) { e.Kind, e.Status, e.Billed = meter.Progress, "", -1 }, "billed: -1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			store := memstore.New()
			checker := usage.NewChecker(keysOf{}, nil, slog.New(slog.NewTextHandler(&log, nil)))
			ledger := usage.NewLedger(store).Checked(checker)
			event := func(seq int64) meter.Event {
				return meter.Event{
					ID: "evt_" + string(rune('0'+seq)), Seq: seq, Kind: meter.Final, Start: now, At: now,
					Date:  meter.DateOf(now),
					OrgID: "org_a", ProjectID: "prj_a", KeyID: "key_a", Status: meter.OK, Endpoint: "rest",
					Frames: 10, Billed: 10,
				}
			}
			forged, good := event(1), event(2)
			tt.change(&forged)
			for range 2 { // a batch may come twice
				if err := ledger.Send(t.Context(),
					meter.Batch{Source: "src_a", Events: []meter.Event{forged}}); err != nil {
					t.Fatal(err)
				}
			}
			if err := ledger.Send(t.Context(), meter.Batch{Source: "src_a", Events: []meter.Event{good}}); err != nil {
				t.Fatalf("what comes behind it: %v", err)
			}
			billed := int64(0)
			for _, org := range []string{"org_a", "org_b", "org_x"} {
				shards, err := store.Shards(t.Context(), org, "0000-01-01", "9999-12-31")
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range shards {
					billed += s.Billed
				}
			}
			if billed != tt.billed+10 {
				t.Errorf("billed %d, want %d", billed, tt.billed+10)
			}
			if refused := checker.Refused() > 0; refused != (tt.reason != "") ||
				!strings.Contains(strings.ReplaceAll(log.String(), `\"`, `"`), tt.reason) {
				t.Errorf("refused %d, want the reason %q; log %s", checker.Refused(), tt.reason, log.String())
			}
		})
	}
}

// TestTakingBack: a stream that fails takes back what it was billed, in the same batch or later, and no more; a batch
// that comes again, also to a portal that was started anew, changes nothing.
func TestTakingBack(t *testing.T) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	event := func(seq int64, kind meter.Kind, status meter.Status, frames, billed int64) meter.Event {
		return meter.Event{
			ID: "evt_1", Seq: seq, Kind: kind, Start: now, At: now, Date: meter.DateOf(now), OrgID: "org_a",
			ProjectID: "prj_a", KeyID: "key_a",
			Status: status, Endpoint: "rest", Frames: frames, Billed: billed,
		}
	}
	progress := event(1, meter.Progress, "", 125, 125)
	fails := func(seq, billed int64) meter.Event { return event(seq, meter.Final, meter.Failed, 0, billed) }
	for name, tt := range map[string]struct {
		batches [][]meter.Event
		want    int64
		refused int64
	}{
		"all, later":          {[][]meter.Event{{progress}, {fails(2, -125)}}, 0, 0},
		"all, in one batch":   {[][]meter.Event{{progress, fails(2, -125)}}, 0, 0},
		"a part":              {[][]meter.Event{{progress}, {event(2, meter.Final, meter.TimedOut, 10, -25)}}, 100, 0},
		"more, later":         {[][]meter.Event{{progress}, {fails(2, -126)}}, 125, 1},
		"more, in one batch":  {[][]meter.Event{{progress, fails(2, -126)}}, 125, 1},
		"all, and once again": {[][]meter.Event{{progress}, {fails(2, -125)}, {fails(3, -1)}}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			store := memstore.New()
			checker := usage.NewChecker(keysOf{}, nil, slog.New(slog.DiscardHandler))
			for _, events := range tt.batches {
				for range 2 { // the same batch again
					if err := usage.NewLedger(store).Checked(checker).Send(t.Context(),
						meter.Batch{Source: "src_a", Events: events}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if got := checker.Refused(); got != tt.refused {
				t.Errorf("refused %d, want %d", got, tt.refused)
			}
			anew := usage.NewLedger(store).Checked(usage.NewChecker(keysOf{}, nil, slog.New(slog.DiscardHandler)))
			last := tt.batches[len(tt.batches)-1]
			if err := anew.Send(t.Context(), meter.Batch{Source: "src_a", Events: last}); err != nil {
				t.Fatal(err)
			}
			shards, err := store.Shards(t.Context(), "org_a", "0000-01-01", "9999-12-31")
			if err != nil {
				t.Fatal(err)
			}
			billed := int64(0)
			for _, s := range shards {
				billed += s.Billed
			}
			if billed != tt.want {
				t.Errorf("billed %d, want %d", billed, tt.want)
			}
		})
	}
}

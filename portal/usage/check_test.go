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

func (keysOf) HasOrg(_ context.Context, id string) (bool, error) {
	return id == "org_a" || id == "org_b", nil
}

// TestForgedUsage: what cannot be true changes no bill, is written to the log and counted, and what comes behind it is booked.
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
		"as it should be":               {func(*meter.Event) {}, "", 10},
		"nothing was made":              {func(e *meter.Event) { e.Frames, e.Billed = 0, 0 }, "", 0},
		"negative frames":               {func(e *meter.Event) { e.Frames, e.Billed = -1, -1 }, "frames: -1", 0},
		"as many frames as can be":      {func(e *meter.Event) { e.Frames, e.Billed = 1<<16, 1<<16 }, "", 1 << 16},
		"one frame more":                {func(e *meter.Event) { e.Frames, e.Billed = 1<<16+1, 1 }, "frames: 65537", 0},
		"2^62 frames":                   {func(e *meter.Event) { e.Frames, e.Billed = 1<<62, 1<<62 }, "frames:", 0},
		"more billed than made":         {func(e *meter.Event) { e.Billed = 11 }, "billed: 11 of 10", 0},
		"less than nothing billed":      {func(e *meter.Event) { e.Billed = -1 }, "billed: -1", 0},
		"too much taken back":           {func(e *meter.Event) { e.Status, e.Billed = meter.Failed, -1<<16-1 }, "billed: -65537", 0},
		"a day that there is not":       {func(e *meter.Event) { e.Date = "9999-99-99" }, `date: "9999-99-99"`, 0},
		"another day":                   {func(e *meter.Event) { e.Date = "2026-01-01" }, "date:", 0},
		"as old as may be":              {on(now.Add(-400*24*time.Hour + time.Minute)), "", 10},
		"older":                         {on(now.Add(-400*24*time.Hour - time.Minute)), "start:", 0},
		"as far ahead as may be":        {on(now.Add(24*time.Hour - time.Minute)), "", 10},
		"further ahead":                 {on(now.Add(24*time.Hour + time.Minute)), "start:", 0},
		"a status that there is not":    {func(e *meter.Event) { e.Status = "free" }, `status: "free"`, 0},
		"a key that there is not":       {func(e *meter.Event) { e.KeyID = "key_x" }, `key: "key_x" does not exist`, 0},
		"the key of another":            {func(e *meter.Event) { e.OrgID = "org_b" }, "is not of the organisation", 0},
		"another project":               {func(e *meter.Event) { e.ProjectID = "prj_b" }, "is not of the organisation", 0},
		"a browser's key that is gone":  {func(e *meter.Event) { e.KeyID, e.Playground = "key_x", true }, "", 10},
		"and an org that there is not":  {func(e *meter.Event) { e.KeyID, e.Playground, e.OrgID = "key_x", true, "org_x" }, `org: "org_x"`, 0},
		"negative characters":           {func(e *meter.Event) { e.Chars = -1 }, "a negative count", 0},
		"progress without any status":   {func(e *meter.Event) { e.Kind, e.Status = meter.Progress, "" }, "", 10},
		"progress that takes something": {func(e *meter.Event) { e.Kind, e.Status, e.Billed = meter.Progress, "", -1 }, "billed: -1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			store := memstore.New()
			checker := usage.NewChecker(keysOf{}, slog.New(slog.NewTextHandler(&log, nil)))
			ledger := usage.NewLedger(store).Checked(checker)
			event := func(seq int64) meter.Event {
				return meter.Event{
					ID: "evt_" + string(rune('0'+seq)), Seq: seq, Kind: meter.Final, Start: now, At: now, Date: meter.DateOf(now),
					OrgID: "org_a", ProjectID: "prj_a", KeyID: "key_a", Status: meter.OK, Endpoint: "rest", Frames: 10, Billed: 10,
				}
			}
			forged, good := event(1), event(2)
			tt.change(&forged)
			for range 2 { // a batch may come twice
				if err := ledger.Send(t.Context(), meter.Batch{Source: "src_a", Events: []meter.Event{forged}}); err != nil {
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
			if refused := checker.Refused() > 0; refused != (tt.reason != "") || !strings.Contains(strings.ReplaceAll(log.String(), `\"`, `"`), tt.reason) {
				t.Errorf("refused %d, want the reason %q; log %s", checker.Refused(), tt.reason, log.String())
			}
		})
	}
}

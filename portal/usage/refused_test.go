package usage

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/meter"
)

// nobody owns no key.
type nobody struct{}

func (nobody) OwnerOf(context.Context, string) (Owner, error) { return Owner{}, ErrNoSuchKey }

func (nobody) HasProject(context.Context, Owner) (bool, error) { return false, nil }

// away is a store that takes nothing.
type away struct{ Store }

func (away) Apply(context.Context, Batch) error { return errors.New("away") }

// taking is a store that takes everything.
type taking struct{ Store }

func (taking) Apply(context.Context, Batch) error { return nil }

func refusedEvents(from, n int64) (all []meter.Event) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	for seq := from; seq < from+n; seq++ {
		all = append(all, meter.Event{
			ID: "evt_1", Seq: seq, Kind: meter.Final, Start: now, At: now, Date: meter.DateOf(now), OrgID: "org_a",
			ProjectID: "prj_a",
			KeyID:     "key_x", Status: meter.OK, Endpoint: "rest", Frames: 10, Billed: 10, Chars: 7,
		})
	}
	return all
}

func linesOf(t *testing.T, path string) (all []Refused) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r Refused
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// TestRefusedUsageIsKept before it is acknowledged, whole, and once while its source repeats it.
func TestRefusedUsageIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "refused.jsonl")
	var log strings.Builder
	checker := NewChecker(nobody{}, NewRefusedFile(path), slog.New(slog.NewJSONHandler(&log, nil)))
	events := refusedEvents(1, 3)
	b := meter.Batch{Source: "src_a", Events: events[:2]}
	for range 3 {
		if NewLedger(away{}).Checked(checker).Send(t.Context(), b) == nil {
			t.Fatal("a store that is away took something")
		}
	}
	if got := checker.Refused(); got != 0 {
		t.Errorf("refused %d before anything was acknowledged", got)
	}
	for _, events := range [][]meter.Event{events[:2], events[:2], events[1:]} {
		if err := NewLedger(taking{}).Checked(checker).Send(t.Context(),
			meter.Batch{Source: "src_a", Events: events}); err != nil {
			t.Fatal(err)
		}
	}
	kept := linesOf(t, path)
	if len(kept) != 3 || checker.Refused() != 3 {
		t.Fatalf("kept %d and counted %d, want 3", len(kept), checker.Refused())
	}
	for i, r := range kept {
		if r.Event != events[i] || r.Source != "src_a" || !strings.Contains(r.Reason, `"key_x" does not exist`) ||
			r.At.IsZero() {
			t.Errorf("kept %+v, want the event %+v with its reason", r, events[i])
		}
	}
	if is, err := os.Stat(path); err != nil || is.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v (%v), want 0600", is.Mode(), err)
	}
	if n := strings.Count(log.String(), `"Chars":7`); n != 3 {
		t.Errorf("%d whole events in the log, want 3: %s", n, log.String())
	}
}

// TestAFullFileOfRefusedUsage takes what fits and then says what to do; the log has the rest.
func TestAFullFileOfRefusedUsage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "refused.jsonl")
	var log strings.Builder
	file := NewRefusedFile(path)
	checker := NewChecker(nobody{}, file, slog.New(slog.NewJSONHandler(&log, nil)))
	send := func(seq int64) int64 {
		t.Helper()
		if err := NewLedger(taking{}).Checked(checker).Send(t.Context(),
			meter.Batch{Source: "src_a", Events: refusedEvents(seq, 1)}); err != nil {
			t.Fatal(err)
		}
		is, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return is.Size()
	}
	send(1)
	all := []Refused{{At: time.Now().UTC(), Reason: "as long as may be", Source: "src_b",
		Event: refusedEvents(1, 1)[0]}}
	line, err := json.Marshal(all[0])
	if err != nil {
		t.Fatal(err)
	}
	size := send(2)
	file.limit = size + int64(len(line)) // one byte short of the line and its end
	if err := file.add(all); !errors.Is(err, errFull) {
		t.Errorf("one byte too much: %v, want that it is full", err)
	}
	file.limit++
	if err := file.add(all); err != nil {
		t.Errorf("as much as fits: %v", err)
	}
	send(3)
	if n := len(linesOf(t, path)); n != 3 || !strings.Contains(log.String(), "move it away") ||
		strings.Count(log.String(), `"Chars":7`) != 3 {
		t.Errorf("%d events in the file, and the log says %s; want 3, and the last one in the log alone", n,
			log.String())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	send(4)
	if n := len(linesOf(t, path)); n != 1 {
		t.Errorf("%d events in a new file, want one", n)
	}
}

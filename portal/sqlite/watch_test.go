package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/tenant"
)

// A key that is deleted must not free its number: whoever has seen it would miss the next change.
func TestWatchAfterSweep(t *testing.T) {
	s := open(t, Config{})
	put := func(id string, expires time.Time) {
		t.Helper()
		err := s.Update(t.Context(), func(tx tenant.Tx) error {
			tx.PutKey(tenant.Key{ID: id, OrgID: "org_a", ExpiresAt: expires})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	put("key_a", time.Time{})
	put("key_b", now.Add(-48*time.Hour))
	_, seen, err := s.keysSince(t.Context(), -1)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Sweep(t.Context(), now); n != 1 || err != nil {
		t.Fatalf("Sweep = %d, %v; want 1", n, err)
	}
	put("key_c", time.Time{})
	keys, _, err := s.keysSince(t.Context(), seen)
	if err != nil || len(keys) != 1 || keys[0].ID != "key_c" {
		t.Errorf("changes since then are %v, %v; want key_c", keys, err)
	}
}

// A watcher that knows more changes than there have been is told everything anew.
func TestWatcherLosesTrack(t *testing.T) {
	s := open(t, Config{})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var calls []string
	err := s.WatchKeys(ctx, func(keys []tenant.Key, full bool) error {
		calls = append(calls, fmt.Sprint(len(keys), full))
		switch len(calls) {
		case 1:
			return s.Update(ctx, func(tx tenant.Tx) error {
				tx.PutKey(tenant.Key{ID: "key_a", OrgID: "org_a"})
				return nil
			})
		case 2: // an older copy has come in its place
			err := s.write(ctx, func(c *conn) error {
				_, err := c.exec(`UPDATE key_changes SET last = 0`)
				return err
			})
			s.notifyWatchers()
			return err
		default:
			stop()
			return nil
		}
	})
	if want := []string{"0 true", "1 false", "1 true"}; !slices.Equal(calls, want) ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("the watcher was told %q and ended with %v, want %q", calls, err, want)
	}
}

// TestWatcherOfLexiconsLosesTrack is the same for lexicons.
func TestWatcherOfLexiconsLosesTrack(t *testing.T) {
	s := open(t, Config{})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var calls []string
	err := s.WatchLexicons(ctx, func(lexicons []tenant.Lexicon, full bool) error {
		calls = append(calls, fmt.Sprint(len(lexicons), full))
		switch len(calls) {
		case 1, 2:
			return s.Update(ctx, func(tx tenant.Tx) error {
				tx.PutLexicon(tenant.Lexicon{ProjectID: fmt.Sprint("prj_", len(calls)), OrgID: "org_a"})
				return nil
			})
		case 3: // an older copy has come in its place
			err := s.write(ctx, func(c *conn) error {
				_, err := c.exec(`DELETE FROM lexicons WHERE project_id = 'prj_2'`)
				return err
			})
			s.notifyWatchers()
			return err
		default:
			stop()
			return nil
		}
	})
	if want := []string{"0 true", "1 false", "1 false", "1 true"}; !slices.Equal(calls, want) ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("the watcher was told %q and ended with %v, want %q", calls, err, want)
	}
}

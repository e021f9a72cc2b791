package storetest_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/portal/storetest"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

// taken is a store that remembers what it was given to book.
type taken struct {
	usage.Store
	events []meter.Event
}

func (s *taken) Apply(_ context.Context, b usage.Batch) error {
	s.events = append(s.events, b.Events...)
	return nil
}

// Thirty days times 3,558 fit into a Duration, and times 3,559 do not.
func TestFillUsageSpreadsRowsOverThirtyDays(t *testing.T) {
	for _, rows := range []int{0, 1, 500, 501, 3558, 3559, 100_000} {
		t.Run(fmt.Sprint(rows, " rows"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // in which no time passes
				const span = 30 * 24 * time.Hour
				var s taken
				if err := storetest.FillUsage(t.Context(), &s, rows); err != nil {
					t.Fatal(err)
				}
				if len(s.events) != rows {
					t.Fatalf("%d events, want %d", len(s.events), rows)
				}
				begin, end := time.Now().Add(-span), time.Now()
				for i, e := range s.events {
					want := begin.Add(time.Duration(float64(span) * float64(i) / float64(rows)))
					if e.Seq != int64(i+1) || e.Start.Sub(want).Abs() > time.Millisecond || e.Start.Before(begin) ||
						!e.Start.Before(end) {
						t.Fatalf("event %d has the number %d and began at %v, want about %v", i, e.Seq, e.Start, want)
					}
					if e.Date != meter.DateOf(e.Start) {
						t.Fatalf("event %d of %v is dated %s", i, e.Start, e.Date)
					}
				}
			})
		})
	}
}

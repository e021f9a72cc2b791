package memstore

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swar-tts/swar/portal/storetest"
	"github.com/swar-tts/swar/portal/usage"
)

func TestUsage(t *testing.T) {
	storetest.Usage(t, func(*testing.T) usage.Store { return New() })
}

func TestUsageLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New()
		begin := time.Now()
		got, err := storetest.LoadUsage(t.Context(), s, storetest.Load{For: 10 * time.Second})
		if err != nil || got.Events != 5000 || got.Queue != 0 {
			t.Errorf("LoadUsage = %+v, %v; want 5,000 events and no queue", got, err)
		}
		if got.Batches < 80 || got.Batches > 102 {
			t.Errorf("LoadUsage = %+v, want 50 batches of each of two sources", got)
		}
		if took := time.Since(begin); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("took %v, want 10 s", took)
		}
		if err := storetest.FillUsage(t.Context(), s, 1001); err != nil {
			t.Fatal(err)
		}
		sum := 0
		for n := range 10 {
			days, err := s.Days(t.Context(), fmt.Sprintf("org_%d", n), "0000-01-01", "9999-12-31")
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range days {
				sum += int(d.Requests)
			}
		}
		if sum != 6001 {
			t.Errorf("the store has %d requests, want 6,001", sum)
		}
		if reads, err := storetest.ReadUsage(t.Context(), s, 10); err != nil || len(reads) != 5 {
			t.Errorf("ReadUsage = %+v, %v", reads, err)
		}
	})
}

// halfway is a store that can be made to fail at a step of Apply.
type halfway struct {
	*Store
	fault func(string) error
}

func (h *halfway) Fault(f func(string) error) { h.fault = f }

func (h *halfway) Apply(ctx context.Context, b usage.Batch) error {
	for _, step := range []string{"shards", "requests", "position", "commit"} {
		if h.fault == nil {
			break
		}
		if err := h.fault(step); err != nil {
			return err
		}
	}
	return h.Store.Apply(ctx, b)
}

// The store in memory has no steps that could fail apart. This lends it some, so that the suite's own test of them is
// tested.
func TestUsageFaults(t *testing.T) {
	storetest.Usage(t, func(*testing.T) usage.Store { return &halfway{Store: New()} })
}

func BenchmarkUsageApply(b *testing.B) {
	s := New()
	b.ReportAllocs()
	for b.Loop() {
		if err := storetest.FillUsage(b.Context(), s, 500); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/500, "ns/event")
}

package firestore

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/swar-tts/swar/portal/storetest"
	"github.com/swar-tts/swar/portal/tenant"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

// throughLedger books as a server's batches are booked.
type throughLedger struct {
	*Store
	ledger *usage.Ledger
}

func (s throughLedger) Apply(ctx context.Context, b usage.Batch) error {
	return s.ledger.Send(ctx, b.Batch)
}

// BenchmarkLoad is a minute of 500 events a second, which must not make a queue:
//
//	hack/firestore-emulator.sh go test -run '^$' -bench Load -benchtime 1x ./portal/firestore
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		s := open(b)
		loaded, err := storetest.LoadUsage(b.Context(), throughLedger{s, usage.NewLedger(s)}, storetest.Load{})
		if err != nil {
			b.Fatal(err)
		}
		sums, err := s.Compare(b.Context(), meter.DateOf(time.Now()))
		if err != nil {
			b.Fatal(err)
		}
		var shards, rows usage.Totals
		for _, c := range sums {
			shards.Add(c.Shards)
			rows.Add(c.Requests)
		}
		if shards != rows || shards.Requests != int64(loaded.Events) {
			b.Errorf("%d events are %+v in shards and %+v in rows", loaded.Events, shards, rows)
		}
		b.Logf("%+v", loaded)
		b.ReportMetric(float64(loaded.P50.Milliseconds()), "p50-ms/batch")
		b.ReportMetric(float64(loaded.P99.Milliseconds()), "p99-ms/batch")
		b.ReportMetric(float64(loaded.Queue), "events-queued")
	}
}

// BenchmarkReads asks what the portal asks, of 20,000 requests.
func BenchmarkReads(b *testing.B) {
	s := open(b)
	if err := storetest.FillUsage(b.Context(), s, 20_000); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		reads, err := storetest.ReadUsage(b.Context(), s, 100)
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range reads {
			b.Logf("%s: p50 %v, p99 %v", r.Question, r.P50, r.P99)
		}
	}
}

// BenchmarkRevocation is the time from the start of a revocation until each of two watchers in other clients has been
// told:
//
//	hack/firestore-emulator.sh go test -run '^$' -bench Revocation -benchtime 300x ./portal/firestore
func BenchmarkRevocation(b *testing.B) {
	project := newProject()
	writer := openProject(b, project, nil)
	ctx, stop := context.WithCancel(b.Context())
	told := [2]chan string{}
	ended := make(chan error, len(told))
	for i := range told {
		told[i] = make(chan string, 1000)
		watcher := openProject(b, project, nil)
		go func() {
			ended <- watcher.WatchKeys(ctx, func(keys []tenant.Key, _ bool) error {
				for _, k := range keys {
					if k.Revoked() {
						told[i] <- k.ID
					}
				}
				return nil
			})
		}()
	}
	put := func(k tenant.Key) {
		if err := writer.Update(ctx, func(tx tenant.Tx) error { tx.PutKey(k); return nil }); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 1000 { // beside which it happens
		if i%100 == 0 {
			err := writer.Update(ctx, func(tx tenant.Tx) error {
				for j := range 100 {
					tx.PutKey(tenant.Key{ID: fmt.Sprintf("key_%d", i+j), OrgID: "org_a"})
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	var times []time.Duration
	for b.Loop() {
		k := tenant.Key{ID: fmt.Sprintf("key_revoked_%d", len(times)), OrgID: "org_a"}
		put(k)
		k.RevokedAt = time.Now()
		start := time.Now()
		put(k)
		for _, t := range told {
			if got := <-t; got != k.ID {
				b.Fatalf("told of %s, want %s", got, k.ID)
			}
		}
		times = append(times, time.Since(start))
	}
	stop()
	for range told {
		<-ended
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}

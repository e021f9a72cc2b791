package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/swar-tts/swar/portal/cursor"
	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

// Load is a stream of usage events as servers send it. Zero fields take the defaults.
type Load struct {
	Rate    int           // events a second, of all sources together; 500
	For     time.Duration // one minute
	Sources int           // servers, each sending one batch at a time; 2
	Orgs    int           // organisations, among which the events are spread; 10
	Gather  time.Duration // time from one batch to the next; 200 ms
}

// Loaded is how a store bore a load.
type Loaded struct {
	Events  int           // that were sent and stored
	Batches int           // in how many batches
	P50     time.Duration // of storing a batch
	P99     time.Duration
	Longest time.Duration
	Queue   int // most events that waited at any time for a batch before them: a queue that grows is an overload
}

// LoadUsage books events at an even rate and returns when all of them are stored, or with the first error. Its
// sources are new ones each time, so that it can be run again on one store.
func LoadUsage(ctx context.Context, s usage.Store, load Load) (Loaded, error) {
	if load.Rate == 0 {
		load.Rate = 500
	}
	if load.For == 0 {
		load.For = time.Minute
	}
	if load.Sources == 0 {
		load.Sources = 2
	}
	if load.Orgs == 0 {
		load.Orgs = 10
	}
	if load.Gather == 0 {
		load.Gather = 200 * time.Millisecond
	}
	var (
		mu    sync.Mutex
		sum   Loaded
		times []time.Duration
		fault error
		wg    sync.WaitGroup
	)
	begin := time.Now()
	for n := range load.Sources {
		source := fmt.Sprintf("src_load_%d_%d", begin.UnixNano(), n)
		total := int(int64(load.Rate) * int64(load.For) / int64(time.Second) / int64(load.Sources))
		wg.Go(func() {
			for sent := 0; sent < total; {
				due := min(total, int(int64(load.Rate)*int64(time.Since(begin))/int64(time.Second)/int64(load.Sources)))
				gathered := load.Gather * time.Duration(load.Rate) / time.Duration(load.Sources)
				few := time.Duration(due-sent)*time.Second < gathered
				if due == sent || due < total && few {
					select {
					case <-time.After(10 * time.Millisecond):
						continue
					case <-ctx.Done():
						due = sent
					}
				}
				batch := loadEvents(source, int64(sent+1), min(due-sent, 500), load.Orgs)
				start := time.Now()
				err := s.Apply(ctx,
					usage.Batch{Batch: meter.Batch{Source: source, Events: batch}, Today: meter.DateOf(start)})
				took := time.Since(start)
				mu.Lock()
				if err == nil {
					err = context.Cause(ctx)
				}
				if err != nil {
					if fault == nil {
						fault = err
					}
					mu.Unlock()
					return
				}
				times = append(times, took)
				sum.Events += len(batch)
				sum.Queue = max(sum.Queue, due-sent-len(batch))
				mu.Unlock()
				sent += len(batch)
			}
		})
	}
	wg.Wait()
	sum.Batches = len(times)
	sum.P50, sum.P99, sum.Longest = quantiles(times)
	return sum, fault
}

// FillUsage books rows events in full batches. They are spread over ten organisations and thirty days, for measuring
// reads.
func FillUsage(ctx context.Context, s usage.Store, rows int) error {
	now := time.Now()
	step := 30 * 24 * time.Hour / time.Duration(max(1, rows))
	source := fmt.Sprintf("src_fill_%d", now.UnixNano())
	for at := 0; at < rows; at += 500 {
		events := loadEvents(source, int64(at+1), min(500, rows-at), 10)
		for i := range events {
			e := &events[i]
			e.Start = now.Add(-time.Duration(rows-at-i) * step).UTC().Truncate(time.Microsecond)
			e.Date = meter.DateOf(e.Start)
		}
		if err := s.Apply(ctx,
			usage.Batch{Batch: meter.Batch{Source: source, Events: events}, Today: meter.DateOf(now)}); err != nil {
			return err
		}
	}
	return nil
}

// Read is how long a kind of question took.
type Read struct {
	Question string
	P50, P99 time.Duration
}

// ReadUsage asks each question of the portal n times, about the organisations of [FillUsage].
func ReadUsage(ctx context.Context, s usage.Store, n int) ([]Read, error) {
	r, err := usage.NewReports(s, nil)
	if err != nil {
		return nil, err
	}
	questions := []struct {
		name string
		ask  func(orgID string) error
	}{
		{"usage of 30 days", func(orgID string) error {
			_, err := r.Usage(ctx, usage.Query{OrgID: orgID})
			return err
		}},
		{"the newest 50 requests", func(orgID string) error {
			_, err := r.Requests(ctx, usage.RequestQuery{OrgID: orgID}, "")
			return err
		}},
		{"500 requests further down", func(orgID string) error {
			after := cursor.Cursor{At: time.Now().Add(-10 * 24 * time.Hour).UTC().Truncate(time.Microsecond),
				ID: "evt_"}
			_, err := r.Requests(ctx, usage.RequestQuery{OrgID: orgID, Limit: 500}, after.String())
			return err
		}},
		{"failed requests of a project", func(orgID string) error {
			_, err := r.Requests(ctx, usage.RequestQuery{OrgID: orgID, ProjectID: "prj_1", Status: meter.Failed}, "")
			return err
		}},
		{"bills", func(orgID string) error {
			_, err := r.Bills(ctx, orgID)
			return err
		}},
	}
	var reads []Read
	for _, q := range questions {
		times := make([]time.Duration, n)
		for i := range times {
			start := time.Now()
			if err := q.ask(fmt.Sprintf("org_%d", i%10)); err != nil {
				return nil, fmt.Errorf("%s: %w", q.name, err)
			}
			times[i] = time.Since(start)
		}
		p50, p99, _ := quantiles(times)
		reads = append(reads, Read{q.name, p50, p99})
	}
	return reads, nil
}

// loadEvents returns n ended streams that begin now.
func loadEvents(source string, first int64, n, orgs int) []meter.Event {
	now := time.Now().UTC().Truncate(time.Microsecond)
	events := make([]meter.Event, n)
	for i := range events {
		rng := rand.New(rand.NewPCG(uint64(first)+uint64(i), 1))
		frames := 20 + rng.Int64N(300)
		events[i] = meter.Event{
			ID: fmt.Sprintf("evt_%s_%09d", source, first+int64(i)), Seq: first + int64(i), Kind: meter.Final,
			Start: now, At: now, Date: meter.DateOf(now),
			OrgID: fmt.Sprintf("org_%d", rng.IntN(orgs)), ProjectID: fmt.Sprintf("prj_%d", rng.IntN(2)),
			KeyID:     fmt.Sprintf("key_%026d", rng.IntN(5)),
			KeyPrefix: "swar_live_abcdef", RequestID: fmt.Sprintf("req_%026d", rng.Int64()),
			Endpoint: []string{"rest", "ws"}[rng.IntN(2)],
			Voice:    []string{"anjura", "raj"}[rng.IntN(2)], Format: "pcm16",
			Status: []meter.Status{meter.OK, meter.OK, meter.OK, meter.OK, meter.Cancelled, meter.Failed}[rng.IntN(6)],
			Frames: frames, Billed: frames, Chars: 10 + rng.IntN(400), Chunks: 1 + rng.IntN(8),
			TTFAus: 10_000 + int64(rng.ExpFloat64()*30_000), Queueus: max(0, rng.Int64N(200_000)-150_000),
			Wallus: frames * 30_000, Synthus: frames * 20_000,
			PrefillCached: rng.IntN(3) == 0, Seed: rng.Int64(),
		}
		if events[i].Status == meter.Failed {
			events[i].Billed, events[i].Error = 0, "engine error"
		}
	}
	return events
}

func quantiles(times []time.Duration) (p50, p99, longest time.Duration) {
	if len(times) == 0 {
		return 0, 0, 0
	}
	slices.Sort(times)
	last := len(times) - 1
	return times[last/2], times[last*99/100], times[last]
}

package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/swar-tts/swar/portal/usage"
	"github.com/swar-tts/swar/runtime/meter"
)

const yesterday = "2026-11-14"

// onDays puts events on yesterday and today in turn, of two organisations in turn.
func onDays(i int, e *meter.Event) {
	e.Date = []string{yesterday, today}[i%2]
	e.OrgID = []string{"org_a", "org_b"}[i/2%2]
}

// merge merges the shards of yesterday.
func merge(t *testing.T, s usage.Store) int {
	t.Helper()
	fewer, err := s.MergeShards(t.Context(), yesterday)
	if err != nil {
		t.Fatalf("MergeShards: %v", err)
	}
	return fewer
}

func wantSources(t *testing.T, s usage.Store, orgID, date string, want ...string) {
	t.Helper()
	shards, err := s.Shards(t.Context(), orgID, date, date)
	if err != nil {
		t.Fatalf("Shards: %v", err)
	}
	got := make([]string, len(shards))
	for i := range shards {
		got[i] = shards[i].Source
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the shards of %s on %s are of %v, want %v", orgID, date, got, want)
	}
}

func of(orgID string, events []meter.Event) []meter.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e meter.Event) bool { return e.OrgID != orgID })
}

func testMerge(t *testing.T, s usage.Store) {
	var sent []meter.Event
	for i, source := range []string{"src_1", "src_2", "src_3"} {
		events := makeEvents(source, 1, 12+4*i, onDays)
		send(t, s, source, events)
		sent = append(sent, events...)
	}
	merge(t, s)
	check := func(sources ...string) {
		t.Helper()
		for _, org := range []string{"org_a", "org_b"} {
			wantUsage(t, s, org, of(org, sent))
			wantSources(t, s, org, yesterday, sources...)
			wantSources(t, s, org, today, "src_1", "src_2", "src_3")
		}
		wantEqualSums(t, s, yesterday, today)
	}
	check(usage.MergedSource)
	merge(t, s) // changes nothing
	check(usage.MergedSource)

	send(t, s, "src_1", makeEvents("src_1", 1, 12, onDays)) // which is booked
	check(usage.MergedSource)
	late := makeEvents("src_1", 13, 4, onDays)
	send(t, s, "src_1", late)
	sent = append(sent, late...)
	check(usage.MergedSource, "src_1")
	merge(t, s)
	check(usage.MergedSource)
}

func testMergeCounts(t *testing.T, s usage.Store) {
	for name, step := range []struct {
		sources []string
		fewer   int
	}{
		{nil, 0}, {[]string{"src_1"}, 0}, {[]string{"src_2"}, 1}, {[]string{"src_3"}, 1}, {nil, 0}, {[]string{"src_4", "src_5"}, 2},
	} {
		for _, source := range step.sources {
			send(t, s, source, makeEvents(source, 1, 3, func(_ int, e *meter.Event) { e.Date = yesterday }))
		}
		if got := merge(t, s); got != step.fewer {
			t.Errorf("%d: with %v there are %d shards fewer, want %d", name, step.sources, got, step.fewer)
		}
	}
}

// testMergeMany: more sources than a store might merge at once.
func testMergeMany(t *testing.T, s usage.Store) {
	var sent []meter.Event
	for i := range 120 {
		source := fmt.Sprintf("src_%03d", i)
		events := makeEvents(source, 1, 1, func(_ int, e *meter.Event) { e.Date = yesterday })
		for try := 0; apply(t.Context(), s, source, events) != nil; try++ {
			if try == 10 {
				t.Fatalf("the batch of %s is not taken", source)
			}
		}
		sent = append(sent, events...)
	}
	merge(t, s)
	wantUsage(t, s, "org_a", sent)
	wantSources(t, s, "org_a", yesterday, usage.MergedSource)
}

// testMergeUnderLoad: two processes merge while sources report.
func testMergeUnderLoad(t *testing.T, s usage.Store) {
	const sources, size = 3, 4
	var reporting, merging sync.WaitGroup
	over := make(chan struct{})
	for range 2 {
		merging.Go(func() {
			for ended := false; !ended; {
				select {
				case <-over:
					ended = true
				default:
				}
				if _, err := s.MergeShards(t.Context(), yesterday); err != nil {
					t.Logf("MergeShards: %v", err) // it is tried again
				}
			}
		})
	}
	all := make([][]meter.Event, sources)
	for i := range sources {
		source := fmt.Sprintf("src_%d", i)
		all[i] = makeEvents(source, 1, 40, func(_ int, e *meter.Event) { e.Date = yesterday })
		reporting.Go(func() {
			for at := 0; at < len(all[i]); at += size {
				for try := 0; apply(t.Context(), s, source, all[i][at:at+size]) != nil; try++ {
					if try == 50 {
						t.Errorf("batch at %d of %s is not taken", at, source)
						return
					}
				}
			}
		})
	}
	reporting.Wait()
	close(over)
	merging.Wait()
	merge(t, s)
	wantUsage(t, s, "org_a", slices.Concat(all...))
	wantSources(t, s, "org_a", yesterday, usage.MergedSource)
}

func testMergeFaults(t *testing.T, s usage.Store) {
	f, ok := s.(faulty)
	if !ok {
		t.Skip("this store has no steps that could fail apart")
	}
	var sent []meter.Event
	for _, source := range []string{"src_1", "src_2", "src_3"} {
		events := makeEvents(source, 1, 10, onDays)
		send(t, s, source, events)
		sent = append(sent, events...)
	}
	for failAt, failed := 0, true; failed; failAt++ {
		step := 0
		failed = false
		f.Fault(func(string) error {
			step++
			if step-1 == failAt {
				failed = true
				return errors.New("the disk is on fire")
			}
			return nil
		})
		_, err := s.MergeShards(t.Context(), yesterday)
		f.Fault(nil)
		if failed && err == nil {
			t.Errorf("step %d failed, but MergeShards did not", failAt)
		}
		wantUsage(t, s, "org_a", of("org_a", sent))
		wantUsage(t, s, "org_b", of("org_b", sent))
	}
	merge(t, s)
	wantSources(t, s, "org_a", yesterday, usage.MergedSource)
	wantSources(t, s, "org_b", yesterday, usage.MergedSource)
}

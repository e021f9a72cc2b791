//go:build chaos

package chaos

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// scenario is one way in which a fleet is harmed, so many times.
type scenario struct {
	name    string
	times   [3]int // in the short form, in the usual one and in the long one
	shape   shape
	rest    int   // clients by REST
	sockets int   // and by WebSocket
	others  int   // and by the APIs of other services
	allowed []end // what clients may see besides what is their own doing, and busy
	harm    func(f *fleet, times int) loss
}

// result is a line of the table at the end.
type result struct {
	scenario
	times    int
	outcomes map[end]int
	heard    int // frames
	billed   int
	lost     int
	memory   int // MiB that a program that speaks has had at most
	took     time.Duration
	ok       bool
}

func TestChaos(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("CHAOS_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("CHAOS_SEED: %v", err)
		}
	}
	form := slices.Index([]string{"short", "", "long"}, os.Getenv("CHAOS"))
	if form < 0 {
		t.Fatalf("CHAOS=%s: want short, long or nothing", os.Getenv("CHAOS"))
	}
	chooseEngine(t)
	say("CHAOS_SEED=%d", seed)
	var audio map[string][]byte
	if !t.Run("in_peace", func(t *testing.T) { audio = listen(t, seed) }) {
		return
	}
	var results []result
	for _, s := range speaking.scenarios() {
		t.Run(strings.ReplaceAll(s.name, " ", "_"), func(t *testing.T) {
			if s.times[form] == 0 {
				t.Skip("not in this form")
			}
			if audio == nil {
				t.Fatal("there is nothing to compare with: -run left out in_peace; use -run 'TestChaos/(in_peace|SCENARIO)'")
			}
			r := s.run(t, seed, s.times[form], audio)
			r.ok = !t.Failed()
			results = append(results, r)
		})
	}
	say("%s", table(results))
}

// say tells how far it is, at once.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// run lets clients speak while the fleet is harmed, and then looks what came of it.
func (s scenario) run(t *testing.T, seed uint64, times int, audio map[string][]byte) result {
	begin := time.Now()
	say("%s, %d times", s.name, times)
	f := newFleet(t, seed, s.shape, audio)
	stop := f.crowd(s.rest, s.sockets, s.others)
	defer f.reportEvery(s.name, begin).Stop()
	l := s.harm(f, times)
	stop()
	f.waitIdle()
	for _, r := range f.routers {
		f.checkCuts(r)
	}
	r := result{scenario: s, times: times, outcomes: make(map[end]int), billed: f.bill(&l)}
	r.memory = f.checkMemory()
	shown := 0
	for _, o := range append(f.ledger.outcomes(), f.ledger.turns...) {
		r.outcomes[o.end]++
		r.heard += o.frames
		if !slices.Contains(append(s.allowed, complete, busy, left, cancelled), o.end) {
			if shown++; shown <= 10 {
				t.Errorf("%s was %s at %s after %d frames: %s", o.id, o.end, o.at.Format("15:04:05.000"),
					o.frames, o.detail)
			}
		}
	}
	r.lost, r.took = l.frames, time.Since(begin)
	say("  %v", r.outcomes)
	return r
}

// reportEvery says every ten seconds what came of the utterances so far.
func (f *fleet) reportEvery(name string, begin time.Time) *time.Ticker {
	tick := time.NewTicker(10 * time.Second)
	go func() { // waits for nothing more when the ticker is stopped, until the test ends
		for range tick.C {
			all := f.ledger.outcomes()
			say("  %s: %d utterances after %v", name, len(all), time.Since(begin).Round(time.Second))
		}
	}()
	return tick
}

// table shows what has been done and seen.
func table(results []result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-38s %5s %8s %5s %5s %5s %5s %6s %5s %5s %8s %8s %6s %5s %6s\n", "scenario", "times",
		"complete", "busy", "left", "canc.", "cut", "failed", "gone", "again", "heard", "billed", "lost", "MiB", "took")
	for _, r := range results {
		o := r.outcomes
		fmt.Fprintf(&b, "%-38s %5d %8d %5d %5d %5d %5d %6d %5d %5d %8d %8d %6d %5d %5.0fs", r.name, r.times,
			o[complete], o[busy], o[left], o[cancelled], o[cut], o[failed]+o[unready], o[gone], o[unanswered],
			r.heard, r.billed,
			r.lost, r.memory, r.took.Seconds())
		if !r.ok {
			b.WriteString("  FAILED")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

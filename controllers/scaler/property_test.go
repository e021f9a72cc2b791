package scaler_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/swar-tts/swar/controllers/scaler"
)

func drawPolicy(t *rapid.T) scaler.Policy {
	least := rapid.IntRange(0, 20).Draw(t, "min")
	return scaler.Policy{
		Min: least, Max: least + rapid.IntRange(1, 200).Draw(t, "more"),
		SlotsPerPod:         rapid.IntRange(1, 16).Draw(t, "slots"),
		TargetUtilization:   rapid.SampledFrom([]float64{0.5, 0.8, 1}).Draw(t, "utilization"),
		ScaleUpMaxFactor:    rapid.IntRange(2, 10).Draw(t, "factor"),
		MaxPercentPerMinute: rapid.IntRange(1, 100).Draw(t, "percent"),
		PodStart:            time.Duration(rapid.IntRange(1, 200).Draw(t, "pod start")) * time.Second,
		Stabilization:       time.Duration(rapid.IntRange(10, 600).Draw(t, "window")) * time.Second,
		IdleToZero:          time.Duration(rapid.IntRange(10, 600).Draw(t, "idle")) * time.Second,
	}
}

// TestBounds: for any reports of routers and any change of the size, the next one is within the bounds, grows by the
// factor at most, shrinks by a step at most, and does neither where it must not.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy(t)
		f := newFleet(p, rapid.IntRange(0, p.Max+5).Draw(t, "size"))
		for range rapid.IntRange(1, 100).Draw(t, "ticks") {
			for name := range f.routers {
				s := f.routers[name]
				s.Busy, s.Queued = rapid.IntRange(0, 500).Draw(t, "busy"), rapid.IntRange(0, 8).Draw(t, "queued")
				f.silent[name] = rapid.IntRange(0, 9).Draw(t, "silent") == 0
			}
			f.rolling = rapid.IntRange(0, 9).Draw(t, "rolling") == 0
			if rapid.IntRange(0, 19).Draw(t, "somebody changes the size") == 0 {
				f.wished = rapid.IntRange(0, p.Max+5).Draw(t, "to")
			}
			before := f.wished
			wait := time.Duration(rapid.IntRange(1, 60).Draw(t, "seconds")) * time.Second
			f.now = f.now.Add(wait)
			for name, s := range f.routers {
				s.Refused += int64(rapid.IntRange(0, 1000).Draw(t, "refused"))
				if !f.silent[name] {
					f.scaler.Observe(f.now, name, *s)
				}
			}
			checkStep(t, f, before, f.decide())
		}
	})
}

func checkStep(t *rapid.T, f *fleet, before int, d scaler.Decision) {
	p := f.policy
	if d.Replicas < p.Min || d.Replicas > p.Max || d.Reason == "" || d.Next <= 0 {
		t.Fatalf("%+v is out of bounds", d)
	}
	if most := max(before, 1) * p.ScaleUpMaxFactor; d.Replicas > max(most, p.Min) {
		t.Fatalf("from %d to %d: more than %d times", before, d.Replicas, p.ScaleUpMaxFactor)
	}
	if step := max(before*p.MaxPercentPerMinute/100, 1); d.Replicas < min(before, p.Max)-step {
		t.Fatalf("from %d to %d: more than %d %%", before, d.Replicas, p.MaxPercentPerMinute)
	}
	if before <= p.Max && d.Replicas < before && (f.rolling || f.now.Sub(start) < p.Stabilization) {
		t.Fatalf("from %d to %d, while that must not be", before, d.Replicas)
	}
}

// TestRiseIsBounded: over any time the size grows by the factor once, and once more in each time that a pod takes.
func TestRiseIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy(t)
		f := newFleet(p, max(p.Min, 1))
		first := f.wished
		f.busy(1_000_000)
		for range rapid.IntRange(1, 50).Draw(t, "ticks") {
			f.pass(scaler.Tick, 0)
			starts := f.now.Sub(start).Seconds() / p.PodStart.Seconds()
			if most := float64(first) * math.Pow(float64(p.ScaleUpMaxFactor), 1+starts); float64(f.wished) > most+1e-6 {
				t.Fatalf("%d pods of %d after %v, want at most %.1f", f.wished, first, f.now.Sub(start), most)
			}
		}
	})
}

// TestConstantDemand: the size goes to what is asked for without turning back, and stays.
func TestConstantDemand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPolicy(t)
		p.MaxPercentPerMinute = 100 // so that an hour is enough
		f := newFleet(p, rapid.IntRange(p.Min, p.Max).Draw(t, "size"))
		f.busy(rapid.IntRange(1, 500).Draw(t, "busy"))
		demand := 2 * float64(f.routers["a"].Busy)
		want := int(math.Ceil(demand/(float64(p.SlotsPerPod)*p.TargetUtilization) - 1e-9))
		want = min(max(want, p.Min), p.Max)
		sign := 0
		for end := f.now.Add(time.Hour); f.now.Before(end); {
			before := f.wished
			f.pass(scaler.Tick, 0)
			switch change := f.wished - before; {
			case change == 0:
			case sign*change < 0:
				t.Fatalf("from %d to %d, after it went the other way", before, f.wished)
			default:
				sign = change
			}
		}
		if f.wished != want {
			t.Fatalf("%d pods for %.0f streams, want %d: %s", f.wished, demand, want, f.last.Reason)
		}
	})
}

// TestStepIsSeenWithinATick: two seconds after demand has grown the size has.
func TestStepIsSeenWithinATick(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := usual
		f := newFleet(p, 10)
		f.busy(rapid.IntRange(0, 32).Draw(t, "before"))
		f.pass(time.Duration(rapid.IntRange(2, 400).Draw(t, "seconds"))*time.Second, 0)
		before := f.wished
		f.busy(4 * before) // all slots
		f.pass(scaler.Tick, int64(rapid.IntRange(1, 100).Draw(t, "refused a second")))
		if f.wished <= before {
			t.Fatalf("%d pods as before, %s", f.wished, f.last.Reason)
		}
	})
}

// TestEqualEventsGiveEqualDecisions, though routers and pods are kept in maps.
func TestEqualEventsGiveEqualDecisions(t *testing.T) {
	play := func() (all string) {
		f := newFleet(usual, 10)
		for i := range 20 {
			f.busy(3*i).pass(7*time.Second, int64(i))
			all += fmt.Sprintf("%d %s %.9f; ", f.last.Replicas, f.last.Reason, f.last.Demand)
		}
		return all
	}
	want := play()
	for range 20 {
		if got := play(); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	}
}

package scaler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/swar-tts/swar/controllers/scaler"
)

var start = time.Unix(1_800_000_000, 0)

// usual is a policy with every figure spelt out.
var usual = scaler.Policy{
	Min: 1, Max: 100, SlotsPerPod: 8, TargetUtilization: 0.8, ScaleUpMaxFactor: 4, PodStart: 40 * time.Second,
	Stabilization: 300 * time.Second, MaxPercentPerMinute: 10, IdleToZero: 60 * time.Second,
}

// fleet drives a scaler as the operator does: one sample a second from each router, a decision each two.
type fleet struct {
	scaler  *scaler.Scaler
	policy  scaler.Policy
	now     time.Time
	wished  int
	warming int
	rolling bool
	lags    bool // the Deployment has more pods than are wished
	routers map[string]*scaler.Sample
	silent  map[string]bool
	last    scaler.Decision
}

func newFleet(p scaler.Policy, replicas int) *fleet {
	f := &fleet{
		scaler: scaler.New(start), policy: p, now: start, wished: replicas, silent: make(map[string]bool),
		routers: map[string]*scaler.Sample{"a": {Epoch: 1}, "b": {Epoch: 2}},
	}
	f.decide()
	return f
}

func (f *fleet) decide() scaler.Decision {
	seen := scaler.Fleet{Replicas: f.wished, Deployed: f.wished, Rolling: f.rolling}
	for name := range f.routers {
		seen.Routers = append(seen.Routers, name)
	}
	pods := f.wished
	if f.lags {
		pods++
	}
	for i := range pods {
		seen.Pods = append(seen.Pods, scaler.Pod{
			Name: fmt.Sprint(i), Scheduled: true, Running: true, Ready: i >= f.warming,
		})
	}
	f.last = f.scaler.Decide(f.now, f.policy, seen)
	f.wished = f.last.Replicas
	return f.last
}

// pass lets time go by, in which routers refuse so many a second each.
func (f *fleet) pass(d time.Duration, refusing int64) scaler.Decision {
	for end := f.now.Add(d); f.now.Before(end); {
		f.now = f.now.Add(time.Second)
		for name, s := range f.routers {
			s.Refused += refusing
			s.Arrived += refusing
			if !f.silent[name] {
				f.scaler.Observe(f.now, name, *s)
			}
		}
		if int(f.now.Sub(start).Seconds())%2 == 0 {
			f.decide()
		}
	}
	return f.last
}

func (f *fleet) busy(each int) *fleet {
	for _, s := range f.routers {
		s.Busy = each
	}
	return f
}

func TestDecide(t *testing.T) {
	minute := time.Minute
	toZero := usual
	toZero.Min = 0
	for name, c := range map[string]struct {
		policy scaler.Policy
		wished int
		play   func(f *fleet)
		want   int
		reason scaler.Reason
	}{
		"demand for just this size": {usual, 10, func(f *fleet) { f.busy(32).pass(2*time.Second, 0) }, 10, scaler.Steady},
		"one slot less than the next pod asks for": {usual, 9, func(f *fleet) {
			f.busy(28).pass(2*time.Second, 0)
		}, 9, scaler.Steady},
		"one slot more than a size fills": {usual, 10, func(f *fleet) {
			f.busy(32)
			f.routers["a"].Queued = 1
			f.pass(2*time.Second, 0)
		}, 11, scaler.ScaledUpByDemand},
		"at once by four times, and no more": {usual, 10, func(f *fleet) {
			f.busy(40).pass(2*time.Second, 250)
		}, 40, scaler.LimitedByRate},
		"the factor comes back while pods start": {usual, 10, func(f *fleet) {
			f.busy(200).pass(22*time.Second, 0)
		}, 63, scaler.Steady},
		"never above the maximum": {usual, 90, func(f *fleet) {
			f.busy(400).pass(2*time.Second, 100)
		}, 100, scaler.LimitedByMaximum},
		"a maximum below the size": {usual, 101, func(*fleet) {}, 100, scaler.LimitedByMaximum},
		"a minimum above the size": {usual, 0, func(*fleet) {}, 1, scaler.RaisedToMinimum},
		"the minimum, though nobody asks": {usual, 1, func(f *fleet) {
			f.pass(10*minute, 0)
		}, 1, scaler.LimitedByMinimum},
		"just started: nothing goes for a whole window": {usual, 10, func(f *fleet) {
			f.pass(298*time.Second, 0)
		}, 10, scaler.HeldForWindow},
		"a whole window after the start": {usual, 10, func(f *fleet) { f.pass(300*time.Second, 0) }, 9, scaler.DownByRate},
		"one pod a minute of ten":        {usual, 10, func(f *fleet) { f.pass(358*time.Second, 0) }, 9, scaler.HeldForRate},
		"the minute is over":             {usual, 10, func(f *fleet) { f.pass(362*time.Second, 0) }, 8, scaler.DownByRate},
		"two pods a minute of 29":        {usual, 29, func(f *fleet) { f.pass(300*time.Second, 0) }, 27, scaler.DownByRate},
		"down to what the window asked for": {usual, 10, func(f *fleet) {
			f.busy(28).pass(300*time.Second, 0)
		}, 9, scaler.ScaledDown},
		"demand came back for a moment within the window": {usual, 10, func(f *fleet) {
			f.busy(32).pass(200*time.Second, 0)
			f.busy(0).pass(300*time.Second, 0)
		}, 10, scaler.HeldForWindow},
		"demand came back just before the window": {usual, 10, func(f *fleet) {
			f.busy(32).pass(200*time.Second, 0)
			f.busy(0).pass(302*time.Second, 0)
		}, 9, scaler.DownByRate},
		"a router is silent": {usual, 10, func(f *fleet) {
			f.pass(200*time.Second, 0)
			f.silent["a"] = true
			f.pass(200*time.Second, 0)
		}, 10, scaler.HeldMissingData},
		"a silent router's last word counts for 30 s": {usual, 10, func(f *fleet) {
			f.busy(32).pass(20*time.Second, 0)
			f.silent["a"] = true
			f.pass(30*time.Second, 0)
		}, 10, scaler.Steady},
		"and then no more": {usual, 10, func(f *fleet) {
			f.busy(32).pass(20*time.Second, 0)
			f.silent["a"] = true
			f.pass(32*time.Second, 0)
		}, 10, scaler.HeldMissingData},
		"up goes on while a router is silent": {usual, 10, func(f *fleet) {
			f.silent["a"] = true
			f.pass(100*time.Second, 0)
			f.busy(100).pass(2*time.Second, 0)
		}, 16, scaler.ScaledUpByDemand},
		"no router at all": {usual, 10, func(f *fleet) {
			f.pass(200*time.Second, 0)
			f.routers = nil
			f.pass(200*time.Second, 0)
		}, 10, scaler.HeldMissingData},
		"pods of the step before are still there": {usual, 10, func(f *fleet) {
			f.pass(300*time.Second, 0)
			f.lags = true
			f.pass(200*time.Second, 0)
		}, 9, scaler.HeldForDrain},
		"pods are being replaced": {usual, 10, func(f *fleet) {
			f.rolling = true
			f.pass(400*time.Second, 0)
		}, 10, scaler.HeldForRollout},
		"from zero with the first refusal": {toZero, 0, func(f *fleet) {
			f.pass(10*time.Second, 0)
			f.routers["a"].Warming, f.routers["a"].Arrived = 1, 1
			f.pass(2*time.Second, 0)
		}, 1, scaler.ActivatedFromZero},
		"nobody asks, nothing starts": {toZero, 0, func(f *fleet) { f.pass(minute, 0) }, 0, scaler.IdleToZero},
		"a request that came and went between two looks": {toZero, 0, func(f *fleet) {
			f.pass(10*time.Second, 0)
			f.routers["a"].Arrived, f.routers["a"].Served = 1, 1
			f.pass(2*time.Second, 0)
		}, 1, scaler.ActivatedFromZero},
		"a router that began with a request": {toZero, 0, func(f *fleet) {
			f.pass(40*time.Second, 0)
			f.routers["c"] = &scaler.Sample{Epoch: 3, Arrived: 1, Warming: 1}
			f.pass(2*time.Second, 0)
		}, 1, scaler.ActivatedFromZero},
		"a router that began anew with a request": {toZero, 0, func(f *fleet) {
			f.routers["a"].Arrived = 1000
			f.pass(10*time.Second, 0)
			f.routers["a"] = &scaler.Sample{Epoch: 3, Arrived: 1, Warming: 1}
			f.pass(2*time.Second, 0)
		}, 1, scaler.ActivatedFromZero},
		"counters of long ago start nothing": {toZero, 0, func(f *fleet) {
			f.routers["a"].Arrived, f.routers["a"].Refused = 1000, 1000
			f.pass(10*time.Second, 0)
		}, 0, scaler.IdleToZero},
		"the last pod stays for a while": {toZero, 1, func(f *fleet) {
			f.busy(1).pass(300*time.Second, 0)
			f.busy(0).pass(58*time.Second, 0)
		}, 1, scaler.HeldUntilIdle},
		"and goes when it was idle": {toZero, 1, func(f *fleet) {
			f.busy(1).pass(300*time.Second, 0)
			f.busy(0).pass(60*time.Second, 0)
		}, 0, scaler.IdleToZero},
		"but not just after the start": {toZero, 1, func(f *fleet) { f.pass(200*time.Second, 0) }, 1, scaler.HeldForWindow},
		"a pod that is warming is not idle": {toZero, 1, func(f *fleet) {
			f.warming = 1
			f.pass(600*time.Second, 0)
		}, 1, scaler.HeldWhileWarming},
		"nor just after it is warm": {toZero, 1, func(f *fleet) {
			f.warming = 1
			f.pass(600*time.Second, 0)
			f.warming = 0
			f.pass(58*time.Second, 0)
		}, 1, scaler.HeldUntilIdle},
		"it goes when nobody asked since it is warm": {toZero, 1, func(f *fleet) {
			f.warming = 1
			f.pass(600*time.Second, 0)
			f.warming = 0
			f.pass(60*time.Second, 0)
		}, 0, scaler.IdleToZero},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(c.policy, c.wished)
			c.play(f)
			if f.last.Replicas != c.want || f.last.Reason != c.reason {
				t.Errorf("got %d, %s; want %d, %s", f.last.Replicas, f.last.Reason, c.want, c.reason)
			}
		})
	}
}

// TestDemand: what clients want is what is spoken, what waits, and a third of what is refused.
func TestDemand(t *testing.T) {
	f := newFleet(usual, 10)
	f.routers["a"].Served, f.routers["a"].StreamTime = 100, 300*time.Second
	f.routers["b"].Queued = 5
	d := f.busy(40).pass(10*time.Second, 50)
	if want := 80 + 5 + 2*50*3.0/3; d.Demand < want-1 || d.Demand > want+1 || d.QueueDepth != 5 {
		t.Errorf("demand %.1f and %d waiting, want %.1f and 5", d.Demand, d.QueueDepth, want)
	}
	for _, s := range f.routers { // they start anew and refuse nothing
		*s = scaler.Sample{Epoch: s.Epoch + 10, Busy: 40}
	}
	if d = f.pass(4*time.Second, 0); d.Demand != 80 {
		t.Errorf("demand %.1f after routers started anew, want 80", d.Demand)
	}
}

// TestSlotsAreWhatPodsSay: pods that are not warm, or not connected, say nothing.
func TestSlotsAreWhatPodsSay(t *testing.T) {
	f := newFleet(usual, 1)
	for _, s := range f.routers {
		s.Pods = []scaler.PodState{
			{Address: "1", Slots: 16, Warm: true, Connected: true}, {Address: "2", Slots: 99, Connected: true},
			{Address: "3", Slots: 99, Warm: true},
		}
	}
	if d := f.busy(16).pass(2*time.Second, 0); d.Replicas != 3 {
		t.Errorf("%d pods for 32 streams on pods of 16 slots, want 3", d.Replicas)
	}
}

// TestLostPodsAreReplaced before Kubernetes deletes them, but not all at once.
func TestLostPodsAreReplaced(t *testing.T) {
	for name, c := range map[string]struct {
		lost    int
		lasting time.Duration
		want    int
		reason  scaler.Reason
	}{
		"all are in reach":               {0, 20 * time.Second, 10, scaler.HeldForWindow},
		"three are gone for a moment":    {3, 10 * time.Second, 10, scaler.HeldForWindow},
		"three are gone":                 {3, 12 * time.Second, 11, scaler.ReplacingLost},
		"half are gone":                  {5, 12 * time.Second, 13, scaler.ReplacingLost},
		"most are gone":                  {9, 12 * time.Second, 13, scaler.ReplacingLost},
		"all are: it is the way to them": {10, 12 * time.Second, 10, scaler.HeldForWindow},
		"one warms up again":             {-1, 12 * time.Second, 10, scaler.HeldForWindow},
	} {
		t.Run(name, func(t *testing.T) {
			s, now := scaler.New(start), start
			f := scaler.Fleet{Replicas: 10, Routers: []string{"a"}}
			v := scaler.Sample{Busy: 50}
			for i := range 10 {
				name := fmt.Sprint(i)
				f.Pods = append(f.Pods, scaler.Pod{Name: name, Address: name, Scheduled: true, Running: true,
					Ready: true})
				v.Pods = append(v.Pods, scaler.PodState{Address: name, Slots: 8, Warm: true, Connected: true})
			}
			var d scaler.Decision
			look := func() {
				s.Observe(now, "a", v)
				d = s.Decide(now, usual, f)
				now = now.Add(scaler.Tick)
			}
			look()
			for i := range c.lost {
				v.Pods[i].Connected = false
			}
			v.Pods[9].Warm = v.Pods[9].Warm && c.lost >= 0
			for end := start.Add(c.lasting); !now.After(end); {
				look()
			}
			if d.Replicas != c.want || d.Reason != c.reason {
				t.Errorf("got %d, %s; want %d, %s", d.Replicas, d.Reason, c.want, c.reason)
			}
		})
	}
}

// TestObserveAsksForADecision where refusals begin.
func TestObserveAsksForADecision(t *testing.T) {
	f := newFleet(usual, 0)
	f.pass(2*time.Second, 0)
	a := f.routers["a"]
	for _, c := range []struct {
		when   string
		change func()
		want   bool
	}{
		{"nobody asks", func() {}, false},
		{"somebody is served", func() { a.Arrived++; a.Served++ }, false},
		{"somebody is refused, as there is no pod", func() { a.Arrived++; a.Warming++ }, true},
		{"and somebody else", func() { a.Arrived++; a.Warming++ }, false},
		{"nobody", func() {}, false},
		{"nobody for longer", func() {}, false},
		{"somebody is refused, as all are busy", func() { a.Arrived++; a.Refused++ }, true},
	} {
		c.change()
		f.now = f.now.Add(time.Second)
		if got := f.scaler.Observe(f.now, "a", *a); got != c.want {
			t.Errorf("%s: %v, want %v", c.when, got, c.want)
		}
	}
}

// TestPodsAreAsBusyAsAnyRouterSays, and as open.
func TestPodsAreAsBusyAsAnyRouterSays(t *testing.T) {
	s := scaler.New(start)
	s.Observe(start, "a", scaler.Sample{Pods: []scaler.PodState{
		{Address: "1", Busy: 2, Cordoned: true, Warm: true, Connected: true}, {Address: "2", Cordoned: true, Connected: true},
	}})
	s.Observe(start, "b", scaler.Sample{Pods: []scaler.PodState{
		{Address: "1", Busy: 1, Warm: true, Connected: true}, {Address: "2"}, {Address: "3"},
	}})
	got := s.Pods(start)
	if p := got["1"]; p.Busy != 2 || p.Cordoned {
		t.Errorf("where routers differ: %+v", p)
	}
	if p := got["2"]; !p.Cordoned {
		t.Errorf("a router that is not connected was asked: %+v", p)
	}
	if _, ok := got["3"]; ok {
		t.Error("a pod that nobody is connected with is known")
	}
	if got := s.Pods(start.Add(5*time.Second + 1)); len(got) != 0 {
		t.Errorf("%d pods are known by routers that are silent", len(got))
	}
}

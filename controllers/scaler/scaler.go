// Package scaler decides how many worker pods a TTSDeployment gets, and which of them to remove. A [Scaler] turns the
// load reports of routers into a size; a [Drain] empties pods before they are removed, also when another autoscaler
// chose the size.
//
// Both are state machines without a goroutine, clock or channel, so that operator, tests and the simulator run the same
// decisions. The time is an argument and never decreases. Nothing is stored: after a restart begin with [New]. Neither
// is safe for concurrent use.
package scaler

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Tick is the interval of size decisions; [Scaler.Observe] asks for additional ones.
const Tick = 2 * time.Second

// Policy is what a TTSDeployment says of its size. A value of 0 means the default, but for Min.
type Policy struct {
	Min, Max            int
	SlotsPerPod         int           // where no pod has said yet how many it has; default 1
	TargetUtilization   float64       // share of slots that demand shall fill; default 0.8
	ScaleUpMaxFactor    int           // by which the size may grow in the time that a pod takes to start; default 4
	PodStart            time.Duration // that time, as measured; default 60 s
	Stabilization       time.Duration // the size serves the largest demand within it; default 300 s
	MaxPercentPerMinute int           // of the size, by which it may shrink, but by one pod in any case; default 10
	IdleToZero          time.Duration // with Min 0: the last pod stops after this time without a request; default 300 s
}

func (p Policy) withDefaults() Policy {
	p.Min = max(p.Min, 0)
	p.Max = max(p.Max, p.Min, 1)
	p.SlotsPerPod = max(p.SlotsPerPod, 1)
	if p.TargetUtilization <= 0 || p.TargetUtilization > 1 {
		p.TargetUtilization = 0.8
	}
	if p.ScaleUpMaxFactor < 2 {
		p.ScaleUpMaxFactor = 4
	}
	p.PodStart = cmp.Or(max(p.PodStart, 0), time.Minute)
	p.Stabilization = cmp.Or(max(p.Stabilization, 0), 5*time.Minute)
	p.MaxPercentPerMinute = cmp.Or(max(p.MaxPercentPerMinute, 0), 10)
	p.IdleToZero = cmp.Or(max(p.IdleToZero, 0), 5*time.Minute)
	return p
}

// Fleet is what Kubernetes says of one TTSDeployment.
type Fleet struct {
	Replicas int      // spec.replicas of the TTSDeployment: the last size, of any writer
	Deployed int      // spec.replicas of the Deployment of its worker pods
	Rolling  bool     // the Deployment is replacing pods
	Pods     []Pod    // of the Deployment, without finished ones
	Routers  []string // names of those that serve, as in [Scaler.Observe]
}

// Pod is a worker pod as Kubernetes sees it.
type Pod struct {
	Name        string
	Address     string // HOST:PORT as in [PodState]; empty while it has none
	Scheduled   bool   // it has a node
	Running     bool   // its phase is Running, or not known; not Pending
	Ready       bool
	Terminating bool // it is being deleted
}

// Reason says why a size is what it is. Reasons are part of the API: conditions and Events name them.
type Reason string

// Reasons of [Decision].
const (
	Steady            Reason = "Steady"            // demand asks for just this size
	ScaledUpByDemand  Reason = "ScaledUpByDemand"  // demand asks for more
	ActivatedFromZero Reason = "ActivatedFromZero" // a request arrived, and there was no pod
	RaisedToMinimum   Reason = "RaisedToMinimum"
	LimitedByMinimum  Reason = "LimitedByMinimum" // demand asks for less
	LimitedByMaximum  Reason = "LimitedByMaximum" // demand asks for more
	LimitedByRate     Reason = "LimitedByRate"    // demand asks for more than may be added before pods have started
	ReplacingLost     Reason = "ReplacingLost"    // pods that have served are out of reach and not deleted yet
	ScaledDown        Reason = "ScaledDown"
	DownByRate        Reason = "DownByRate"      // a step down, of several
	HeldForRate       Reason = "HeldForRate"     // the next step down is not due yet
	HeldForWindow     Reason = "HeldForWindow"   // demand asked for as much within the window, or that is not over
	HeldMissingData   Reason = "HeldMissingData" // a router has not reported: no pod is removed
	HeldForDrain      Reason = "HeldForDrain"    // pods of the step before are not gone yet
	HeldForRollout    Reason = "HeldForRollout"  // pods are being replaced
	HeldWhileWarming  Reason = "HeldWhileWarming"
	HeldUntilIdle     Reason = "HeldUntilIdle" // the last pod stays for a while after the last request
	IdleToZero        Reason = "IdleToZero"
)

// Decision is a size, and what it was decided on.
type Decision struct {
	Replicas   int
	Reason     Reason
	Demand     float64       // slots that clients want
	QueueDepth int           // requests that wait, in all routers
	Active     bool          // there was a request within Policy.IdleToZero
	Next       time.Duration // when to look again
}

// Scaler keeps the reports of routers while they count.
type Scaler struct {
	createdAt     time.Time
	routers       map[string]*router
	streams       streamLength
	demand        peak
	lastReachable map[string]time.Time // when pods that were warm once were in reach last, by name
	lastRequest   time.Time            // when a request was there last; zero for never
	lastWarming   time.Time            // when a pod was last warming, with at least one desired; zero for never
	allowance     allowance
	replicas      int // the size seen last, to notice changes of it
	seen          bool
	lastScaleDown time.Time
}

// New returns a scaler that knows nothing: it goes up at once, and down after a full window.
func New(now time.Time) *Scaler {
	return &Scaler{createdAt: now, routers: make(map[string]*router)}
}

// Decide returns the size that a fleet shall have. It keeps to what Policy says, however wrong the present size is.
func (s *Scaler) Decide(now time.Time, p Policy, f Fleet) Decision {
	p = p.withDefaults()
	s.dropUnlisted(now, f.Routers)
	s.observeSize(now, p, f.Replicas)
	states := s.Pods(now)
	if f.Replicas > 0 && anyWarming(f.Pods, states) {
		s.lastWarming = now
	}
	l := s.load(now, f.Routers)
	s.demand.add(now, l.demand, p.Stabilization)
	slots := slotsPerPod(states, p)
	lost := s.countLost(now, f.Pods, states)
	n := need{
		now:    podsFor(l.demand, slots, p) + lost,
		window: podsFor(s.demand.max(), slots, p) + lost,
		lost:   lost,
		first:  p.Min == 0 && (within(now, s.lastRequest, p.IdleToZero) || within(now, s.lastWarming, p.IdleToZero)),
	}
	if n.first && f.Replicas == 0 {
		n.now = max(n.now, 1)
	}
	d := Decision{Demand: l.demand, QueueDepth: l.queued, Active: within(now, s.lastRequest, p.IdleToZero), Next: Tick}
	switch {
	case f.Replicas > p.Max:
		d.Replicas, d.Reason = p.Max, LimitedByMaximum
	case n.now > f.Replicas || f.Replicas < p.Min:
		d.Replicas, d.Reason = s.up(p, f.Replicas, n)
	case f.Replicas == 0:
		d.Replicas, d.Reason = 0, IdleToZero
	case n.now == f.Replicas:
		d.Replicas, d.Reason = f.Replicas, Steady
	case l.missing:
		d.Replicas, d.Reason = f.Replicas, HeldMissingData
	default:
		d.Replicas, d.Reason = s.down(now, p, f, n)
	}
	return d
}

// need is how many pods are asked for.
type need struct {
	now    int  // by the present demand
	window int  // by the largest of the window
	lost   int  // of those, in the place of others
	first  bool // at least one pod: a request came lately, or waits for it to become warm
}

// within reports whether something happened less than a duration ago; a zero time is never.
func within(now, at time.Time, d time.Duration) bool { return !at.IsZero() && now.Sub(at) < d }

// observeSize records that the size changed, by any client, so that a decision that was not carried out uses no budget.
func (s *Scaler) observeSize(now time.Time, p Policy, replicas int) {
	s.allowance.refill(now, p)
	if s.seen && replicas > s.replicas {
		s.allowance.spend(s.replicas, replicas)
	}
	if s.seen && replicas < s.replicas {
		s.lastScaleDown = now
	}
	s.replicas, s.seen = replicas, true
}

// podsFor is how many pods a demand fills to the utilization that is aimed at.
func podsFor(demand, slots float64, p Policy) int {
	return int(math.Ceil(demand/(slots*p.TargetUtilization) - 1e-9))
}

func (s *Scaler) up(p Policy, replicas int, n need) (int, Reason) {
	to := max(min(n.now, s.allowance.limit(replicas), p.Max), replicas, p.Min)
	switch {
	case to == p.Max && n.now > p.Max:
		return to, LimitedByMaximum
	case to < n.now:
		return to, LimitedByRate
	case to > n.now:
		return to, RaisedToMinimum
	case replicas == 0:
		return to, ActivatedFromZero
	case n.now-n.lost <= replicas:
		return to, ReplacingLost
	}
	return to, ScaledUpByDemand
}

// down returns a size below the present one, or why not yet.
func (s *Scaler) down(now time.Time, p Policy, f Fleet, n need) (int, Reason) {
	held := func(why Reason) (int, Reason) { return f.Replicas, why }
	lastPod := f.Replicas == 1 // it stops after the idle time, whatever the window has
	floor := max(n.window, p.Min, 1)
	switch {
	case f.Replicas <= p.Min:
		return held(LimitedByMinimum)
	case lastPod && n.first && s.lastWarming.Equal(now):
		return held(HeldWhileWarming)
	case lastPod && n.first:
		return held(HeldUntilIdle)
	case now.Sub(s.createdAt) < p.Stabilization, !lastPod && floor >= f.Replicas:
		return held(HeldForWindow)
	case f.Rolling:
		return held(HeldForRollout)
	case present(f.Pods) > f.Replicas:
		return held(HeldForDrain)
	case within(now, s.lastScaleDown, time.Minute):
		return held(HeldForRate)
	case lastPod:
		return 0, IdleToZero
	}
	to := f.Replicas - max(f.Replicas*p.MaxPercentPerMinute/100, 1)
	if to > floor {
		return to, DownByRate
	}
	return floor, ScaledDown
}

// present counts pods that are not being deleted.
func present(pods []Pod) (n int) {
	for _, p := range pods {
		if !p.Terminating {
			n++
		}
	}
	return n
}

// anyWarming reports whether a pod is there that has not been ready to speak yet.
func anyWarming(pods []Pod, states map[string]PodState) bool {
	return slices.ContainsFunc(pods, func(p Pod) bool { return !p.Terminating && !p.Ready && !states[p.Address].Warm })
}

// unreachableAfter is how long a pod that has served may be out of reach: as long as a network may hiccup.
const unreachableAfter = 10 * time.Second

// countLost counts pods that have served, are not deleted and are unreachable for every router, such as those of a lost
// node: Kubernetes waits for minutes before it replaces them. If more than half are unreachable, the network is at
// fault, and none counts as lost.
func (s *Scaler) countLost(now time.Time, pods []Pod, states map[string]PodState) (n int) {
	served := make(map[string]time.Time, len(pods))
	for _, p := range pods {
		last, hasServed := s.lastReachable[p.Name]
		state, inReach := states[p.Address]
		hasServed = hasServed || state.Warm
		if !hasServed || p.Terminating {
			continue
		}
		if inReach { // or warming again, after its process has died
			last = now
		}
		served[p.Name] = last
		if now.Sub(last) > unreachableAfter {
			n++
		}
	}
	s.lastReachable = served
	if len(states) == 0 {
		return 0
	}
	return min(n, present(pods)/2)
}

// allowance is how far the size may grow: by a factor at once, and by the same factor again in each time that a pod
// takes to start, in which what was ordered before shows. It begins full.
type allowance struct {
	spent float64 // the logarithm of the growth factor that was used and is not restored yet
	at    time.Time
	whole float64
}

func (a *allowance) refill(now time.Time, p Policy) {
	a.whole = math.Log(float64(p.ScaleUpMaxFactor))
	a.spent = max(a.spent-a.whole*now.Sub(a.at).Seconds()/p.PodStart.Seconds(), 0)
	a.at = now
}

func (a *allowance) spend(from, to int) {
	a.spent = min(a.spent+math.Log(float64(to)/float64(max(from, 1))), a.whole)
}

func (a *allowance) limit(size int) int {
	return int(float64(max(size, 1))*math.Exp(a.whole-a.spent) + 1e-9)
}

// peak is the largest demand within a window. Values before a larger one are dropped.
type peak struct{ falling []demandAt }

type demandAt struct {
	at    time.Time
	slots float64
}

func (k *peak) add(now time.Time, slots float64, window time.Duration) {
	for len(k.falling) > 0 && k.falling[len(k.falling)-1].slots <= slots {
		k.falling = k.falling[:len(k.falling)-1]
	}
	k.falling = append(k.falling, demandAt{now, slots})
	for now.Sub(k.falling[0].at) > window {
		k.falling = k.falling[1:]
	}
}

func (k *peak) max() float64 { return k.falling[0].slots }

package scaler

import (
	"slices"
	"time"
)

// How long a router's report counts.
const (
	loadCounts  = 30 * time.Second // then it is missing, and nothing may go
	stateCounts = 5 * time.Second  // of pods, reported each second: a cordon of 30 s seen then has not ended
	rateOver    = time.Second      // refusals are averaged over at least this time, so that a step shows within a tick
	forgetAfter = 10 * time.Minute // a router that is not listed is forgotten
)

// unservedShare returns how many unserved calls one refusal stands for, when a share p of all tries is refused.
//
// A refused client retries: three tries in all, as the API recommends and package client does. With a share p of tries
// refused, a call makes 1+p+p² tries on average, of which p(1+p+p²) are refused, and fails with p³. So each refusal
// stands for p²/(1+p+p²) failed calls: a third if all tries are refused, a seventh if every other one is, and nearly
// none if few are, since those soon count as busy.
//
// Clients that never ask again are counted too low. But a fleet that is full wants more pods in any case, so that it
// gets there in more steps. The simulator compares the estimate with what clients asked for (docs/capacity.md).
func unservedShare(p float64) float64 { return p * p / (1 + p + p*p) }

// Sample is one report of a router, as FleetState of the fleet's protocol has it. Counters are since its start.
type Sample struct {
	Epoch      uint64 // of the router's process
	Busy       int    // utterances of this router that pods are speaking
	Queued     int
	Arrived    int64
	Refused    int64 // no slot was free in time
	Warming    int64 // refused because no pod was in use
	Served     int64
	Cut        int64
	StreamTime time.Duration // for which those held slots, all together
	Pods       []PodState
}

func (s Sample) refused() int64 { return s.Refused + s.Warming }

// PodState is a router's view of a pod.
type PodState struct {
	Address   string // HOST:PORT
	Zone      string
	Slots     int
	Busy      int
	Warm      bool // every worker was warm once
	Draining  bool
	Cordoned  bool
	Connected bool // only then the rest is known, but for Address and Zone
}

// router is what is remembered of one.
type router struct {
	lastReport time.Time
	last       Sample
	marks      []mark  // of the last seconds, the oldest first
	tries      float64 // a second, lately
	refused    float64 // of those
}

// mark is how many had asked and been refused at a time.
type mark struct {
	at               time.Time
	arrived, refused int64
}

// Observe records a router's report. It returns true if the size should be decided at once: clients are refused, and
// were not a moment ago.
func (s *Scaler) Observe(now time.Time, name string, v Sample) (atOnce bool) {
	r, known := s.routers[name]
	if !known {
		r = &router{lastReport: now, last: Sample{Epoch: v.Epoch}, marks: []mark{{now, v.Arrived, v.refused()}}}
		if now.Sub(s.createdAt) < loadCounts { // it may have run for long before; one that comes later has just started
			r.last.Arrived = v.Arrived
		}
		s.routers[name] = r
	}
	if v.Epoch != r.last.Epoch { // the router has restarted since its last report
		r.last = Sample{Epoch: v.Epoch}
		r.marks = []mark{{at: r.lastReport}}
	}
	s.streams.add(v.Served+v.Cut-r.last.Served-r.last.Cut, v.StreamTime-r.last.StreamTime)
	if v.Busy > 0 || v.Queued > 0 || v.Arrived > r.last.Arrived {
		s.lastRequest = now
	}
	before := r.refused
	r.lastReport, r.last = now, v
	r.count(now)
	return before == 0 && r.refused > 0
}

// count finds how often a second clients have tried and been refused lately.
func (r *router) count(now time.Time) {
	r.marks = append(r.marks, mark{now, r.last.Arrived, r.last.refused()})
	for len(r.marks) > 2 && now.Sub(r.marks[1].at) >= rateOver {
		r.marks = r.marks[1:]
	}
	first := r.marks[0]
	span := max(now.Sub(first.at), time.Second).Seconds()
	r.tries = float64(r.last.Arrived-first.arrived) / span
	r.refused = float64(r.last.refused()-first.refused) / span
}

// load is the sum of all reports.
type load struct {
	demand  float64
	queued  int
	missing bool // a serving router has not reported, or none serves
}

func (s *Scaler) load(now time.Time, routers []string) load {
	l := load{missing: len(routers) == 0}
	tries, refused := 0.0, 0.0
	for _, name := range routers {
		r, known := s.routers[name]
		if !known || now.Sub(r.lastReport) > loadCounts {
			l.missing = true
			continue
		}
		l.demand += float64(r.last.Busy + r.last.Queued)
		l.queued += r.last.Queued
		tries += r.tries
		refused += r.refused
	}
	if refused > 0 {
		l.demand += refused * unservedShare(min(refused/tries, 1)) * s.streams.mean().Seconds()
	}
	return l
}

func (s *Scaler) dropUnlisted(now time.Time, routers []string) {
	for name, r := range s.routers {
		if now.Sub(r.lastReport) > forgetAfter && !slices.Contains(routers, name) {
			delete(s.routers, name)
		}
	}
}

// streamLength is for how long a stream holds a slot, of the last few thousand.
type streamLength struct {
	streams float64
	time    time.Duration
}

const (
	manyStreams       = 2000            // then those before count half
	defaultStreamTime = 4 * time.Second // before any was reported; routers presume the same
)

func (l *streamLength) add(streams int64, held time.Duration) {
	if streams <= 0 || held < 0 {
		return
	}
	if l.streams > manyStreams {
		l.streams, l.time = l.streams/2, l.time/2
	}
	l.streams, l.time = l.streams+float64(streams), l.time+held
}

func (l *streamLength) mean() time.Duration {
	if l.streams == 0 {
		return defaultStreamTime
	}
	return time.Duration(float64(l.time) / l.streams)
}

// Pods returns the routers' view of pods, by address. Pods report the same to every router; if routers differ for a
// moment, the busier state counts, and the more open one. Pods without a connection to any router are left out.
func (s *Scaler) Pods(now time.Time) map[string]PodState {
	all := make(map[string]PodState)
	for _, r := range s.routers {
		if now.Sub(r.lastReport) > stateCounts {
			continue
		}
		for _, p := range r.last.Pods {
			if !p.Connected {
				continue
			}
			if q, ok := all[p.Address]; ok {
				p.Slots, p.Busy = max(p.Slots, q.Slots), max(p.Busy, q.Busy)
				p.Warm = p.Warm || q.Warm
				p.Draining, p.Cordoned = p.Draining && q.Draining, p.Cordoned && q.Cordoned
			}
			all[p.Address] = p
		}
	}
	return all
}

// slotsPerPod is how many slots warm pods have, on average: what a pod says holds, not what it was given.
func slotsPerPod(states map[string]PodState, p Policy) float64 {
	pods, slots := 0, 0
	for _, state := range states {
		if state.Warm && state.Slots > 0 {
			pods++
			slots += state.Slots
		}
	}
	if pods == 0 {
		return float64(p.SlotsPerPod)
	}
	return float64(slots) / float64(pods)
}

package main

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/swar-tts/swar/runtime/fleet/route"
	"github.com/swar-tts/swar/runtime/speech"
)

// result is what came out of a run. Requests count by when they arrived: not while the run warms up.
type result struct {
	cfg       config
	Arrived   int
	Served    int
	Refused   int // nobody was free in time
	Warming   int // nobody was there
	Failed    int // pods were tried in vain
	Cut       int // after the first frame
	Abandoned int // with their router
	Sends     int // attempts of those that have arrived
	Crossed   int // went to a pod in another zone
	Hits      int // found their text prepared
	Started   int
	Messages  int           // while it was measured
	Events    int           // of the simulator
	asked     time.Duration // of slots, by all who have arrived
	counts    route.Counts
	waits     [][]time.Duration // until a pod has begun, by router
	view      viewError
	scaled    scaled
}

// viewError compares what routers believe of pods with what is so.
type viewError struct {
	samples, wrong int
	slots          int // by which they were wrong, all together
	tooFree        int // of those samples: believed to have more than they had
	since          map[[2]int]time.Time
	ages           []time.Duration
}

func newResult(cfg config) *result {
	view := viewError{since: make(map[[2]int]time.Time)}
	return &result{cfg: cfg, waits: make([][]time.Duration, cfg.routers), view: view}
}

func (r *result) arrived(q *request) {
	if q.measured {
		r.Arrived++
		r.asked += q.length
	}
}

// started notes that a pod speaks a request.
func (r *result) started(w *world, q *request, p *pod) {
	hit := false
	if p.prepared != nil {
		_, hit = p.prepared.Get(q.text)
		p.prepared.Add(q.text, struct{}{})
	}
	if !q.measured {
		return
	}
	r.Started++
	r.waits[q.router.index] = append(r.waits[q.router.index], w.now.Sub(q.arrived))
	if p.zone != q.router.zone {
		r.Crossed++
	}
	if hit {
		r.Hits++
	}
}

func (r *result) end(q *request, bucket *int) {
	if q.measured {
		*bucket++
		r.Sends += q.sends
	}
}

func (r *result) served(q *request)    { r.end(q, &r.Served) }
func (r *result) cut(q *request)       { r.end(q, &r.Cut) }
func (r *result) abandoned(q *request) { r.end(q, &r.Abandoned) }

func (r *result) refused(q *request, err error) {
	switch {
	case errors.Is(err, speech.ErrBusy):
		r.end(q, &r.Refused)
	case errors.Is(err, speech.ErrWarming):
		r.end(q, &r.Warming)
	default:
		r.end(q, &r.Failed)
	}
}

func (r *result) message(w *world) {
	if !w.now.Before(w.begin) && !w.isOver() {
		r.Messages++
	}
}

// close checks that everything has ended once, and that every router knows what is free.
func (r *result) close(w *world) {
	if got := r.Served + r.Refused + r.Warming + r.Failed + r.Cut + r.Abandoned; got != r.Arrived {
		panic("requests are lost: " + time.Duration(r.Arrived-got).String())
	}
	for _, router := range w.routers {
		c := router.Counts()
		r.counts.Declined += c.Declined
		r.counts.Granted += c.Granted
		r.counts.Attempts += c.Attempts
		r.counts.Ejected += c.Ejected
		for _, p := range router.View(w.now) {
			if !w.isKnown(p) {
				panic("a router does not know " + p.Address)
			}
		}
	}
}

// isKnown reports whether a router is right about a pod in a world at rest.
func (w *world) isKnown(v route.PodView) bool {
	p := w.pods[podIndex(v.Address)]
	free := p.Free()
	if w.deployment != nil && (p.dead || !p.IsOpen()) {
		free = v.Free // nobody asks
	}
	return v.Free == free && v.Running == 0 && v.Unseen == 0 && p.Busy() == 0
}

// sampleView compares views with the truth each millisecond.
func (w *world) sampleView() {
	if w.isOver() {
		return
	}
	v := &w.result.view
	for i, r := range w.routers {
		if r.dead {
			continue
		}
		for j, p := range r.View(w.now) {
			pair := [2]int{i, j}
			v.samples++
			truth := w.pods[j].Free()
			if w.pods[j].dead || w.pods[j].hung || !w.pods[j].IsOpen() {
				truth = 0
			}
			believed := p.Free
			if !p.InUse {
				believed = 0
			}
			since, was := v.since[pair]
			switch {
			case believed == truth && was:
				v.ages = append(v.ages, w.now.Sub(since))
				delete(v.since, pair)
			case believed != truth:
				v.wrong++
				v.slots += max(believed-truth, truth-believed)
				if believed > truth {
					v.tooFree++
				}
				if !was {
					v.since[pair] = w.now
				}
			}
		}
	}
	w.after(time.Millisecond, w.sampleView)
}

// add puts runs of the same kind with other seeds together.
func (r *result) add(o *result) {
	for _, pair := range [][2]*int{
		{&r.Arrived, &o.Arrived}, {&r.Served, &o.Served}, {&r.Refused, &o.Refused}, {&r.Warming, &o.Warming},
		{&r.Failed, &o.Failed}, {&r.Cut, &o.Cut}, {&r.Abandoned, &o.Abandoned}, {&r.Sends, &o.Sends},
		{&r.Crossed, &o.Crossed}, {&r.Hits, &o.Hits}, {&r.Started, &o.Started}, {&r.Messages, &o.Messages},
		{&r.Events, &o.Events},
	} {
		*pair[0] += *pair[1]
	}
	r.counts.Declined += o.counts.Declined
	r.counts.Granted += o.counts.Granted
	r.counts.Attempts += o.counts.Attempts
	r.counts.Ejected += o.counts.Ejected
	for i := range r.waits {
		r.waits[i] = append(r.waits[i], o.waits[i]...)
	}
	r.cfg.length += o.cfg.length
	r.scaled.add(o.scaled)
}

// load is what clients really asked for, which is by chance a little more or less than they should.
func (r *result) load() float64 {
	return r.asked.Seconds() / r.cfg.length.Seconds() / float64(r.cfg.pods*r.cfg.slots)
}

// percent is a share of all that have arrived.
func (r *result) percent(n int) float64 { return 100 * float64(n) / float64(max(r.Arrived, 1)) }

func (r *result) refusedPercent() float64 { return r.percent(r.Refused) }

// attempts is how often a pod was asked, for each that was served.
func (r *result) attempts() float64 { return float64(r.Sends) / float64(max(r.Served, 1)) }

func (r *result) hitPercent() float64 { return 100 * float64(r.Hits) / float64(max(r.Started, 1)) }

func (r *result) crossedPercent() float64 {
	return 100 * float64(r.Crossed) / float64(max(r.Started, 1))
}

func (r *result) messagesPerSecond() float64 { return float64(r.Messages) / r.cfg.length.Seconds() }

// wait99 returns the wait that 99 % of those who were served by some routers, or by all, did not exceed.
func (r *result) wait99(routers ...int) time.Duration {
	var all []time.Duration
	for i, waits := range r.waits {
		if len(routers) == 0 || slices.Contains(routers, i) {
			all = append(all, waits...)
		}
	}
	return percentile(all, 0.99)
}

func percentile(all []time.Duration, share float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(int(math.Ceil(share*float64(len(all))))-1, len(all)-1)]
}

func (r *result) meanWait() time.Duration {
	var all time.Duration
	n := 0
	for _, waits := range r.waits {
		for _, wait := range waits {
			all += wait
			n++
		}
	}
	return all / time.Duration(max(n, 1))
}

// waited is the share of those who were served that did not begin at once.
func (r *result) waited() float64 {
	late, n := 0, 0
	for _, waits := range r.waits {
		for _, wait := range waits {
			if wait > 0 {
				late++
			}
			n++
		}
	}
	return float64(late) / float64(max(n, 1))
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/swar-tts/swar/controllers/scaler"
	"github.com/swar-tts/swar/runtime/speech"
)

// How Kubernetes and clients behave while a fleet's size changes.
const (
	podStartLeast   = 40 * time.Second // from being ordered to being warm
	podStartMost    = 50 * time.Second
	podStartUsual   = (podStartLeast + podStartMost) / 2
	podWarms        = 5 * time.Second // of those
	cordonLease     = 30 * time.Second
	probePeriod     = time.Second
	nodeUnready     = 40 * time.Second  // until the pods of a node that is lost are no longer Ready
	nodeEvicted     = 340 * time.Second // until they are deleted
	retryAfter      = time.Second
	retryJitter     = 250 * time.Millisecond
	documentedTries = 3
)

// scaling is how a fleet's size is chosen, and for whom.
type scaling struct {
	by     string                         // name of an autoscaler
	demand func(at time.Duration) float64 // streams that clients ask for, if nobody is refused
	most   float64                        // of that
	pods   int                            // at first, and at least
	limit  int                            // at most
	tries  int                            // of a client, until it gives up
	event  time.Duration                  // since which losses are told
	zones  int
	lost   bool // a zone is, at the event
}

// deployment is the worker pods of a fleet whose size changes: what the operator, Kubernetes and an autoscaler do.
type deployment struct {
	*scaling
	world    *world
	scaler   *scaler.Scaler
	drain    scaler.Drain
	chooser  autoscaler
	replicas int
	deployed int
}

func newDeployment(w *world, s *scaling) *deployment {
	d := &deployment{
		scaling: s, world: w, scaler: scaler.New(w.now), chooser: newAutoscaler(s), replicas: s.pods, deployed: s.pods,
	}
	w.after(0, d.look)
	if s.lost {
		w.after(s.event, d.loseZone)
	}
	return d
}

// look is what happens each second: probes, what routers tell, and each two seconds a decision.
func (d *deployment) look() {
	w := d.world
	if w.isOver() {
		return
	}
	for _, p := range w.pods {
		p.probe()
	}
	atOnce := false
	for _, r := range w.routers {
		if !r.dead && d.scaler.Observe(w.now, r.name(), r.sample()) {
			atOnce = true
		}
	}
	if second := w.now.Sub(epoch) / time.Second; second%2 == 0 || atOnce {
		d.decide()
	}
	present := 0
	for _, p := range d.active() {
		if !p.lost {
			present++
		}
	}
	w.result.scaled.sized(w, present)
	w.after(probePeriod, d.look)
}

func (d *deployment) decide() {
	w := d.world
	f := scaler.Fleet{Replicas: d.replicas, Deployed: d.deployed}
	for _, r := range w.routers {
		f.Routers = append(f.Routers, r.name())
	}
	seen := sight{since: w.now.Sub(epoch), wished: d.replicas}
	for _, p := range d.active() {
		f.Pods = append(f.Pods, scaler.Pod{
			Name: p.address, Address: p.address, Scheduled: true, Running: p.running, Ready: p.ready,
		})
		if p.ready {
			seen.ready++
		}
	}
	for _, r := range w.routers {
		seen.concurrent += r.speaking() + r.Queued()
	}
	seen.Decision = d.scaler.Decide(w.now, d.policy(), f)
	size := min(max(d.chooser.size(seen), d.pods), d.limit)
	w.result.scaled.decided(w, seen, size)
	d.replicas = size
	shrink := d.drain.Step(w.now, d.replicas, f, d.scaler.Pods(w.now))
	for _, address := range shrink.Cordon {
		w.pods[podIndex(address)].cordon(w.now.Add(cordonLease))
	}
	for _, address := range shrink.Uncordon {
		w.pods[podIndex(address)].cordon(time.Time{})
	}
	d.deployed = shrink.Replicas
	d.replicate()
}

func (d *deployment) policy() scaler.Policy {
	return scaler.Policy{Min: d.pods, Max: d.limit, SlotsPerPod: d.world.cfg.slots, PodStart: podStartUsual}
}

// active returns the pods that count as there.
func (d *deployment) active() (all []*pod) {
	for _, p := range d.world.pods {
		if !p.terminating {
			all = append(all, p)
		}
	}
	return all
}

// replicate creates and deletes pods as a ReplicaSet does.
func (d *deployment) replicate() {
	w, all := d.world, d.active()
	for range d.deployed - len(all) {
		w.order(d)
	}
	rank := func(p *pod) int {
		switch {
		case !p.running:
			return 0
		case !p.ready:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b *pod) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), -cmp.Compare(a.index, b.index)) // newer ones first
	})
	for i := range len(all) - d.deployed {
		if !all[i].dead {
			w.result.scaled.Removed += all[i].Busy()
		}
		all[i].terminate()
	}
}

// loseZone ends all pods of a zone at once. Kubernetes takes its time to notice; new pods start elsewhere.
func (d *deployment) loseZone() {
	w := d.world
	for _, p := range d.active() {
		if p.zone != w.zone(0) {
			continue
		}
		p.lost = true
		if p.running {
			p.kill()
		}
		w.after(nodeUnready, func() { p.ready = false })
		w.after(nodeEvicted, func() { p.terminating = true })
	}
}

// order creates a pod that is not there yet.
func (w *world) order(d *deployment) {
	i := len(w.pods)
	p := &pod{world: w, index: i, address: podAddress(i), zone: w.zone(i)}
	p.start()
	p.Warm(w.now, false)
	p.dead = true
	if d.lost && w.now.Sub(epoch) >= d.event {
		p.zone = w.zone(1 + i%(d.zones-1))
	}
	w.pods = append(w.pods, p)
	takes := podStartLeast + seconds(w.network.Float64()*(podStartMost-podStartLeast).Seconds())
	w.after(takes-podWarms, func() {
		if p.terminating || p.lost || w.isOver() {
			return
		}
		p.dead, p.running = false, true
		w.list()
		for _, r := range w.routers {
			r.link(p)
		}
		p.beat()
		w.after(podWarms, p.warm)
	})
}

func podAddress(i int) string { return fmt.Sprintf("pod%05d:9090", i) }

// warm ends warming up.
func (p *pod) warm() {
	if !p.dead {
		p.sendState(p.Warm(p.world.now, true))
		p.changed()
	}
}

// list tells routers which pods there are.
func (w *world) list() {
	for _, r := range w.routers {
		if !r.dead {
			r.do(r.List(w.now, w.endpoints()))
		}
	}
}

// probe is what the kubelet sees of a pod, and the pod of its lease.
func (p *pod) probe() {
	if p.dead {
		return
	}
	if !p.cordonedUntil.IsZero() && !p.world.now.Before(p.cordonedUntil) {
		p.cordon(time.Time{})
	}
	p.ready = p.IsOpen()
}

// cordon lets nothing new in until a time; zero ends it.
func (p *pod) cordon(until time.Time) {
	w := p.world
	w.after(w.travel()+w.travel(), func() {
		if p.dead {
			return
		}
		p.cordonedUntil = until
		p.sendState(p.Cordon(w.now, !until.IsZero()))
		p.changed()
	})
}

// terminate deletes a pod, which speaks to its end what it speaks.
func (p *pod) terminate() {
	p.terminating = true
	if p.running && !p.dead {
		p.drain()
	}
	p.world.list()
}

func (r *router) name() string { return fmt.Sprint("router", r.id) }

// speaking counts the utterances that pods have.
func (r *router) speaking() (n int) {
	for _, q := range r.requests {
		if q.number != 0 {
			n++
		}
	}
	return n
}

// sample is what the router tells those who scale the fleet.
func (r *router) sample() scaler.Sample {
	c := r.Counts()
	v := scaler.Sample{
		Epoch: r.id, Busy: r.speaking(), Queued: r.Queued(), Arrived: c.Arrived, Refused: c.Refused, Warming: c.Warming,
		Served: c.Served, Cut: c.Cut, StreamTime: r.spoken,
	}
	for _, p := range r.View(r.world.now) {
		v.Pods = append(v.Pods, scaler.PodState{
			Address: p.Address, Zone: p.Zone, Slots: p.Workers, Busy: p.Busy, Warm: p.Warm, Draining: p.Draining,
			Cordoned: p.Cordoned, Connected: p.Connected,
		})
	}
	return v
}

// listed is how many pods routers know.
func (w *world) listed() int {
	if w.deployment == nil {
		return len(w.pods)
	}
	return len(w.endpoints())
}

// again lets a client that was refused try once more, or give up.
func (w *world) again(q *request, err error) {
	if w.deployment == nil {
		return
	}
	isBusy := errors.Is(err, speech.ErrBusy) || errors.Is(err, speech.ErrWarming)
	if q.tries++; !isBusy || q.tries >= w.deployment.tries {
		w.result.gaveUp(w, q)
		return
	}
	next := &request{length: q.length, text: q.text, measured: q.measured, tries: q.tries}
	choice := w.network.Float64()
	w.after(retryAfter+seconds(w.network.Float64()*retryJitter.Seconds()), func() {
		next.arrived = w.now
		w.router(choice).arrive(next)
	})
}

// scaled is what came of a fleet whose size changes, while it was measured.
type scaled struct {
	Calls      int           // of clients, each of which may have tried several times
	Lost       int           // of those, without audio
	Removed    int           // streams on pods that were deleted to shrink
	Peak       int           // pods
	Turns      int           // between growing and shrinking
	lastLost   time.Duration // since the event
	grownAfter time.Duration // the event
	podTime    time.Duration
	demands    float64 // that the operator found, all together
	decisions  int
	sizes      []int // pods each second, from the beginning on
	direction  int
}

func (r *scaled) add(o scaled) {
	r.Calls, r.Lost, r.Removed, r.Turns = r.Calls+o.Calls, r.Lost+o.Lost, r.Removed+o.Removed, r.Turns+o.Turns
	r.Peak, r.lastLost, r.grownAfter = max(r.Peak, o.Peak), max(r.lastLost, o.lastLost), max(r.grownAfter, o.grownAfter)
	r.podTime, r.demands, r.decisions = r.podTime+o.podTime, r.demands+o.demands, r.decisions+o.decisions
}

// lostPercent is the share of calls without audio.
func (r *scaled) lostPercent() float64 { return 100 * float64(r.Lost) / float64(max(r.Calls, 1)) }

func (w *world) isMeasured() bool { return !w.now.Before(w.begin) && !w.isOver() }

func (r *result) called(w *world) {
	if w.isMeasured() {
		r.scaled.Calls++
	}
}

func (r *result) gaveUp(w *world, q *request) {
	if q.measured {
		r.scaled.Lost++
		r.scaled.lastLost = max(r.scaled.lastLost, w.now.Sub(epoch)-w.deployment.event)
	}
}

// sized notes how large the fleet is. It is called each second.
func (r *scaled) sized(w *world, pods int) {
	r.sizes = append(r.sizes, pods)
	if w.isMeasured() {
		r.Peak = max(r.Peak, pods)
		r.podTime += time.Duration(pods) * time.Second
	}
}

// decided notes that a size was chosen.
func (r *scaled) decided(w *world, s sight, size int) {
	if !w.isMeasured() {
		return
	}
	r.demands += s.Demand
	r.decisions++
	if size == s.wished {
		return
	}
	direction := 1
	if size < s.wished {
		direction = -1
	}
	if after := s.since - w.deployment.event; direction == 1 && r.grownAfter == 0 && after >= 0 {
		r.grownAfter = after
	}
	if direction == -r.direction {
		r.Turns++
	}
	r.direction = direction
}

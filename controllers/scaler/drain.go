package scaler

import (
	"cmp"
	"slices"
	"time"
)

// DefaultDrainTimeout is longer than any stream: 120 s, and 30 s for its end to be noticed.
const DefaultDrainTimeout = 150 * time.Second

// Drain empties worker pods before their Deployment shrinks. Pods to remove are cordoned: they refuse new work, report
// that, and are no longer Ready. A ReplicaSet deletes pods without a node first, then pending ones, then those that are
// not Ready, in an unreliable order. So a Deployment shrinks when all of its pods that are not Ready are empty, by the
// number of pods that cannot become Ready again.
//
// What it chose by the state of pods stays chosen while it lives. A new Drain loses nothing: it prefers cordoned pods.
// The zero value is ready.
type Drain struct {
	Timeout time.Duration // a pod cordoned for this long counts as empty, whatever is reported; default 150 s

	cordoned map[string]time.Time // since when a pod shall be, by name
	pasts    map[string]past      // by name
}

// past is what is remembered of a pod.
type past struct {
	running       bool
	reached       bool      // a router may have reached it, since it runs
	cordonedSince time.Time // since when it takes nothing new; zero while it does
}

// Shrink is what is to be done now.
type Shrink struct {
	Replicas int      // of the Deployment
	Cordon   []string // addresses of pods that shall take nothing new: leases, to be renewed while a pod is named
	Uncordon []string // addresses of pods that are cordoned and shall not be any more
	Draining int      // pods that shall go and are not being deleted yet
	Blocked  Blocked  // why the Deployment is larger than desired; empty if it is not
}

// Blocked is what a shrinking Deployment waits for.
type Blocked string

// What [Shrink] may wait for.
const (
	UntilRolledOut Blocked = "UntilRolledOut" // pods are being replaced, and which ones would go is not known
	UntilCordoned  Blocked = "UntilCordoned"  // pods that shall go have not become unready yet
	UntilEmpty     Blocked = "UntilEmpty"     // pods that might go are speaking
)

// rank is the order in which pods are chosen to go.
type rank int

const (
	unscheduled rank = iota
	pending
	chosenBefore
	notReady
	cordonedBefore
	serving
	outOfReach // no router could cordon it
)

// candidate is a pod that may have to go.
type candidate struct {
	Pod
	state PodState
	known bool // a router is connected with it, and state is what it says
	past  past
	rank  rank
}

// Step decides for a fleet with the desired number of pods, in any mode. States are those of [Scaler.Pods].
func (d *Drain) Step(now time.Time, replicas int, f Fleet, states map[string]PodState) Shrink {
	pods := d.candidates(now, f.Pods, states)
	excess := len(pods) - replicas
	if f.Rolling {
		excess = 0
	}
	chosen := d.choose(now, pods, excess)
	s := Shrink{Replicas: replicas, Draining: len(chosen)}
	cordoned := chosen
	switch removable := d.removable(now, pods); {
	case f.Rolling && f.Deployed > replicas:
		s.Replicas, s.Blocked = f.Deployed, UntilRolledOut
	case excess > removable:
		// As many as there are, less those: what is being deleted already counts as there.
		s.Replicas = max(replicas, min(f.Deployed, len(pods)-removable))
		s.Blocked = blockedBy(chosen)
		if s.Blocked == UntilEmpty {
			cordoned = slices.Concat(chosen, d.blockers(now, pods, chosen))
		}
	}
	s.Cordon, s.Uncordon = d.cordon(now, pods, cordoned)
	return s
}

func (d *Drain) timeout() time.Duration { return cmp.Or(max(d.Timeout, 0), DefaultDrainTimeout) }

// candidates joins what is known of every pod that is not being deleted.
func (d *Drain) candidates(now time.Time, pods []Pod, states map[string]PodState) []candidate {
	all := make([]candidate, 0, len(pods))
	pasts := make(map[string]past, len(pods))
	for _, p := range pods {
		if p.Terminating {
			continue
		}
		c := candidate{Pod: p}
		c.state, c.known = states[p.Address]
		c.past = d.pastOf(now, c)
		c.rank = d.rankOf(c)
		pasts[p.Name] = c.past
		all = append(all, c)
	}
	d.pasts = pasts
	return all
}

// pastOf updates the history of a pod.
func (d *Drain) pastOf(now time.Time, c candidate) past {
	b, remembered := d.pasts[c.Name]
	isOpen := c.Ready
	if c.known {
		isOpen = c.state.Warm && !c.state.Cordoned && !c.state.Draining
	}
	switch {
	case c.Running != b.running:
		b = past{running: c.Running, reached: !remembered, cordonedSince: now}
	case b.cordonedSince.IsZero():
		b.cordonedSince = now
	}
	b.reached = b.reached || c.known || c.Ready
	if isOpen {
		b.cordonedSince = time.Time{}
	}
	return b
}

func (d *Drain) rankOf(c candidate) rank {
	switch {
	case !c.Scheduled:
		return unscheduled
	case !c.Running:
		return pending
	case !d.cordoned[c.Name].IsZero() && (c.known || !c.Ready):
		return chosenBefore
	case !c.Ready:
		return notReady
	case c.state.Cordoned:
		return cordonedBefore
	case c.known:
		return serving
	}
	return outOfReach
}

// isDrained reports whether a pod is empty and stays so.
func (d *Drain) isDrained(now time.Time, c candidate) bool {
	if c.past.cordonedSince.IsZero() {
		return false
	}
	closedFor := now.Sub(c.past.cordonedSince)
	since, shall := d.cordoned[c.Name]
	switch {
	case !c.known && !c.past.reached: // such as one that crashes again and again
		return closedFor > outOfSight
	case c.known && !c.state.Cordoned && !c.state.Draining: // it becomes warm
		return false
	case c.known && c.state.Busy == 0 && shall && now.Sub(since) > stateCounts: // and that is not from before
		return true
	}
	return closedFor >= d.timeout()
}

// outOfSight is after how long a pod that runs without being reached is not about to serve.
const outOfSight = 10 * time.Second

// choose picks the pods that shall go. Once one is empty no serving pod is added until it has gone: each one that has
// just been cordoned would keep all from being deleted for as long as it speaks.
func (d *Drain) choose(now time.Time, pods []candidate, excess int) (chosen []candidate) {
	left := slices.Clone(pods)
	zones := make(map[string]int)
	isWaiting := false
	for _, c := range pods {
		zones[c.state.Zone]++
		isWaiting = isWaiting || c.rank == chosenBefore && d.isDrained(now, c)
	}
	// The idlest of the first rank goes first, and of those equally idle one from the zone with the most pods.
	order := func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.state.Busy, b.state.Busy),
			-cmp.Compare(zones[a.state.Zone], zones[b.state.Zone]), cmp.Compare(a.Name, b.Name))
	}
	for range excess {
		next := 0
		for i := range left {
			if order(left[i], left[next]) < 0 {
				next = i
			}
		}
		c := left[next]
		if c.rank >= serving && isWaiting {
			break
		}
		zones[c.state.Zone]--
		left = slices.Delete(left, next, next+1)
		chosen = append(chosen, c)
	}
	return chosen
}

// removable is by how many pods the Deployment may shrink without one being deleted that speaks. A pod that has just
// become warm may speak before that is known, so that one that is warming counts as if it did.
func (d *Drain) removable(now time.Time, pods []candidate) int {
	notRunning, closed, open := 0, 0, 0
	for _, c := range pods {
		switch {
		case !c.Running: // deleted before any other
			notRunning++
		case c.Ready: // deleted after any other
		case d.isDrained(now, c):
			closed++
		default:
			open++
		}
	}
	if open > 0 {
		return notRunning
	}
	return notRunning + closed
}

// blockedBy says why not all that shall go can be removed.
func blockedBy(chosen []candidate) Blocked {
	for _, c := range chosen {
		if c.Running && (c.Ready || c.past.cordonedSince.IsZero()) {
			return UntilCordoned
		}
	}
	return UntilEmpty
}

// blockers are pods that are not Ready for another reason and may be speaking, while all that shall go are empty. They
// would be deleted just as well, so that nothing can be until they have been emptied too.
func (d *Drain) blockers(now time.Time, pods, chosen []candidate) (all []candidate) {
	isOpen := func(c candidate) bool { return c.Running && !d.isDrained(now, c) }
	if slices.ContainsFunc(chosen, isOpen) {
		return nil
	}
	for _, c := range pods {
		if !c.Ready && isOpen(c) {
			all = append(all, c)
		}
	}
	return all
}

// cordon notes who shall be cordoned, and returns the addresses of those, and of others that are.
func (d *Drain) cordon(now time.Time, pods, shall []candidate) (cordon, uncordon []string) {
	before := d.cordoned
	d.cordoned = make(map[string]time.Time, len(shall))
	for _, c := range shall {
		if c.rank == outOfReach { // chosen without a report: another may be idler
			continue
		}
		d.cordoned[c.Name] = now
		if since, ok := before[c.Name]; ok {
			d.cordoned[c.Name] = since
		}
		if c.known {
			cordon = append(cordon, c.Address)
		}
	}
	for _, c := range pods {
		if _, ok := d.cordoned[c.Name]; !ok && c.known && c.state.Cordoned {
			uncordon = append(uncordon, c.Address)
		}
	}
	slices.Sort(cordon)
	slices.Sort(uncordon)
	return cordon, uncordon
}

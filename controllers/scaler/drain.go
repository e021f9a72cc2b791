package scaler

import (
	"cmp"
	"slices"
	"time"
)

// DrainPod is one of a fleet, as Kubernetes and routers see it.
type DrainPod struct {
	Name        string
	Address     string // as routers call it; empty while it has none
	Ready       bool   // for Kubernetes
	Warming     bool   // it has never been ready
	Terminating bool
	Busy        int  // utterances that it speaks
	Known       bool // routers tell of it: Busy and Cordoned are true
	Cordoned    bool // it takes nothing new, and routers have seen that
}

// Drain shrinks a fleet without cutting a stream: the pods that are to go take nothing new, and go when they are empty. It
// relies on ReplicaSets to delete pods that are not ready before others, which a pod that takes nothing new is not. It
// keeps nothing but whom it has chosen.
type Drain struct {
	chosen map[string]time.Time // by name, and since when
}

// Step is what is to be done now.
type Step struct {
	Replicas int      // that the Deployment may have
	Cordon   []string // addresses of pods that are to take nothing new
	Release  []string // addresses of pods that are to take utterances again
}

// Decide says how far a fleet may shrink now. present is how many pods its Deployment is to have, wanted how many it
// shall have in the end. limit is how long a pod may take to become empty.
func (d *Drain) Decide(now time.Time, wanted, present int, pods []DrainPod, limit time.Duration) Step {
	live := slices.DeleteFunc(slices.Clone(pods), func(p DrainPod) bool { return p.Terminating })
	surplus := present - wanted // pods in addition, of a roll-out, are not its matter
	if surplus <= 0 {
		d.chosen = nil
		return Step{Replicas: wanted, Release: d.release(live)}
	}
	// Pods that do not exist yet, or have never spoken, go first: by the rule of ReplicaSets, and they are no loss.
	unborn := max(present-len(live), 0)
	warming := 0
	for _, p := range live {
		if p.Warming {
			warming++
		}
	}
	d.choose(now, live, surplus-unborn-warming)
	gone := min(surplus, unborn+warming)
	s := Step{Release: d.release(live)}
	empty := 0
	for _, p := range live {
		if since, ok := d.chosen[p.Name]; ok {
			s.Cordon = append(s.Cordon, p.Address)
			if isEmpty(p) || now.Sub(since) >= limit {
				empty++
			}
		}
	}
	// All of the chosen go together: a ReplicaSet does not know which of them is empty.
	if empty == len(d.chosen) {
		gone += empty
	} else if unborn == 0 {
		gone = 0 // or one that is busy could be taken for one that is warming
	} else {
		gone = min(surplus, unborn)
	}
	s.Replicas = present - gone
	return s
}

// isEmpty reports whether a pod can go: it speaks nothing, takes nothing new, and Kubernetes knows.
func isEmpty(p DrainPod) bool { return p.Known && p.Cordoned && p.Busy == 0 && !p.Ready }

// choose has n pods be chosen: those that are already, and then the idlest.
func (d *Drain) choose(now time.Time, live []DrainPod, n int) {
	candidates := slices.DeleteFunc(slices.Clone(live), func(p DrainPod) bool { return p.Warming || p.Address == "" })
	slices.SortFunc(candidates, func(a, b DrainPod) int {
		return cmp.Or(d.order(a)-d.order(b), a.Busy-b.Busy, cmp.Compare(a.Name, b.Name))
	})
	next := make(map[string]time.Time)
	for _, p := range candidates[:min(max(n, 0), len(candidates))] {
		since, ok := d.chosen[p.Name]
		if !ok {
			since = now
		}
		next[p.Name] = since
	}
	d.chosen = next
}

// order is 0 for pods that were chosen before, and then 1 for those that routers tell of.
func (d *Drain) order(p DrainPod) int {
	if _, ok := d.chosen[p.Name]; ok {
		return 0
	}
	if p.Known {
		return 1
	}
	return 2
}

// release names those that take nothing new and are not to go.
func (d *Drain) release(live []DrainPod) (all []string) {
	for _, p := range live {
		if _, ok := d.chosen[p.Name]; !ok && p.Cordoned && p.Address != "" {
			all = append(all, p.Address)
		}
	}
	return all
}

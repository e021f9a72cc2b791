package controllers

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/keda"
	"github.com/swar-tts/swar/controllers/scaler"
)

// loadCounts is how long a router's report counts for autoscalers, and for the operator itself.
const loadCounts = 30 * time.Second

// externalLoad is the load that other autoscalers get.
type externalLoad struct {
	load        keda.Load
	mode        v1alpha1.ScalingMode
	queueTarget int
	changed     chan struct{} // nil: no call waits
}

// Load implements [keda.Source].
func (s *Sizer) Load(namespace, name string) (keda.Load, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.fleets[types.NamespacedName{Namespace: namespace, Name: name}.String()]
	switch {
	case f == nil:
		return keda.Load{}, nil, keda.ErrUnknown
	case f.mode != v1alpha1.ScalingExternal:
		return keda.Load{}, nil, keda.ErrNotExternal
	}
	if f.external.changed == nil {
		f.external.changed = make(chan struct{})
	}
	return f.external.load, f.external.changed, nil
}

// followLocked records the load of a fleet for others, and wakes waiting calls.
func (s *Sizer) followLocked(now time.Time, f *sized, d scaler.Decision) {
	before, mode := f.external.load, f.external.mode
	heard, missing := s.reporting(now, f)
	l := keda.Load{
		Known: heard, Demand: d.Demand, QueueDepth: d.QueueDepth, Active: d.Active || f.isWarming(now),
		DemandTarget: float64(f.policy.SlotsPerPod) * f.policy.TargetUtilization, QueueTarget: f.external.queueTarget,
	}
	if missing { // what is not known must not make the fleet smaller
		l.Demand = max(l.Demand, float64(f.fleet.Replicas)*l.DemandTarget)
	}
	if f.policy.Min == 0 && l.Active { // the demand of a refused call is over before an HPA looks
		l.Demand = max(l.Demand, l.DemandTarget)
	}
	f.external.load, f.external.mode = l, f.mode
	before.Known, before.Demand, before.QueueDepth = l.Known, l.Demand, l.QueueDepth
	if before != l || mode != f.mode {
		f.wake()
	}
}

// wake makes all waiting calls check again.
func (f *sized) wake() {
	if f.external.changed != nil {
		close(f.external.changed)
		f.external.changed = nil
	}
}

// reporting reports whether any router of a fleet has reported lately, and whether a serving one has not.
func (s *Sizer) reporting(now time.Time, f *sized) (heard, missing bool) {
	told := s.watcher.Reports(f.name.String())
	for _, router := range f.fleet.Routers {
		t := told[router]
		if t.State != nil && now.Sub(t.ReceivedAt) <= loadCounts {
			heard = true
		} else {
			missing = true
		}
	}
	return heard, missing
}

// isWarming reports whether a pod of a fleet that is to have some has not been ready to speak yet.
func (f *sized) isWarming(now time.Time) bool {
	isUnready := func(p scaler.Pod) bool { return !p.Terminating && !p.Ready }
	if f.fleet.Replicas == 0 || !slices.ContainsFunc(f.fleet.Pods, isUnready) {
		return false
	}
	states := f.scaler.Pods(now)
	return slices.ContainsFunc(f.fleet.Pods, func(p scaler.Pod) bool { return isUnready(p) && !states[p.Address].Warm })
}

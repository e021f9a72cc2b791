package controllers

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/metrics"
	"github.com/swar-tts/swar/controllers/plan"
	"github.com/swar-tts/swar/controllers/scaler"
	"github.com/swar-tts/swar/controllers/watch"
	"github.com/swar-tts/swar/runtime/contract"
	"github.com/swar-tts/swar/runtime/fleet/link/wire"
)

const (
	// cordonLease is how long a cordon lasts after its operator is gone.
	cordonLease = 30 * time.Second

	// drainMargin is the time that a draining pod may take beyond the longest utterance.
	drainMargin = 30 * time.Second

	// reportMaxAge is how long a report proves that its router is reachable.
	reportMaxAge = 30 * time.Second

	// slotsEvery is how often a fleet is looked at only because its slots have changed.
	slotsEvery = 15 * time.Second
)

// Sizer decides how many worker pods each fleet has, and drains pods before they are removed. [Sizer.Look] gives it a
// fleet. It decides every two seconds, and calls back when something has changed. Reports of routers cause no read of
// the cluster. It is safe for concurrent use.
type Sizer struct {
	now     func() time.Time
	changed func(types.NamespacedName)
	log     *slog.Logger
	watcher *watch.Watcher
	metrics *metrics.Fleets // nil: no metrics

	mu     sync.Mutex
	fleets map[string]*sized
}

// sized is one fleet.
type sized struct {
	name   types.NamespacedName
	policy scaler.Policy
	mode   v1alpha1.ScalingMode
	fleet  scaler.Fleet // as Kubernetes saw it last
	scaler *scaler.Scaler
	drain  scaler.Drain
	last   plan.Scaling

	external externalLoad // by others who scale

	slotsChangedAt time.Time         // when a change of slots last caused a check
	seen           map[string]uint64 // epochs and counters of routers that were observed, by address
}

// NewSizer returns one that knows no fleet. changed is called when a decision differs from the one before.
func NewSizer(
	now func() time.Time, dial func(fleet, address string) (*grpc.ClientConn, error),
	changed func(types.NamespacedName), log *slog.Logger,
) *Sizer {
	s := &Sizer{now: now, changed: changed, log: log, fleets: make(map[string]*sized)}
	s.watcher = watch.New(watch.Config{Dial: dial, OnReport: s.onReport}, log)
	return s
}

// Run decides until ctx ends.
func (s *Sizer) Run(ctx context.Context) error {
	var watching sync.WaitGroup
	watching.Go(func() { s.watcher.Run(ctx) })
	defer watching.Wait()
	tick := time.NewTicker(scaler.Tick)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.mu.Lock()
			all := slices.Collect(maps.Keys(s.fleets))
			s.mu.Unlock()
			for _, fleet := range all {
				s.decide(fleet)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// Forget drops a fleet.
func (s *Sizer) Forget(name types.NamespacedName) {
	s.mu.Lock()
	if f := s.fleets[name.String()]; f != nil {
		f.wake()
	}
	delete(s.fleets, name.String())
	s.metrics.ClearSize(name)
	s.mu.Unlock()
	s.watcher.Set(name.String(), nil)
}

// Observe records a fleet's state and spec, and returns its size decision.
func (s *Sizer) Observe(o plan.Observed) plan.Scaling {
	name := types.NamespacedName{Namespace: o.Fleet.Namespace, Name: o.Fleet.Name}
	routers := addresses(o.Gates, contract.RouterWatch)
	s.watcher.Set(name.String(), routers)
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.fleets[name.String()]
	if f == nil {
		f = &sized{name: name, scaler: scaler.New(s.now())}
		s.fleets[name.String()] = f
	}
	f.policy, f.mode = policyOf(o.Fleet), o.Fleet.Spec.Scaling.Mode
	f.drain.Timeout = time.Duration(o.Fleet.Spec.Rollout.DrainTimeoutSeconds)*time.Second + drainMargin
	f.fleet = fleetSeen(o, routers)
	f.external.queueTarget = int(o.Fleet.Spec.Scaling.TargetQueueDepth)
	return s.decideLocked(f)
}

// policyOf is what a TTSDeployment says of its size.
func policyOf(fleet *v1alpha1.TTSDeployment) scaler.Policy {
	c := fleet.Spec.Scaling
	p := scaler.Policy{
		Min: 1, Max: int(c.MaxReplicas), SlotsPerPod: int(fleet.Spec.Runtime.WorkersPerPod),
		TargetUtilization: float64(c.TargetSlotUtilizationPercent) / 100, ScaleUpMaxFactor: int(c.ScaleUp.MaxFactor),
		MaxPercentPerMinute: int(c.ScaleDown.MaxPercentPerMinute),
	}
	if c.MinReplicas != nil {
		p.Min = int(*c.MinReplicas)
	}
	if c.ScaleDown.StabilizationSeconds != nil {
		p.Stabilization = max(time.Duration(*c.ScaleDown.StabilizationSeconds)*time.Second, 1) // 0 would be the default
	}
	if c.IdleSecondsToZero != nil {
		p.IdleToZero = time.Duration(*c.IdleSecondsToZero) * time.Second
	}
	return p
}

// fleetSeen is what Kubernetes says of a fleet's pods.
func fleetSeen(o plan.Observed, routers []string) scaler.Fleet {
	f := scaler.Fleet{Replicas: int(plan.InitialReplicas(o.Fleet)), Routers: routers}
	f.Deployed = f.Replicas
	if d := o.Workers; d != nil && d.Spec.Replicas != nil {
		f.Deployed = int(*d.Spec.Replicas)
		f.Rolling = d.Status.UpdatedReplicas < d.Status.Replicas
		if o.Fleet.Spec.Replicas == nil { // absent means that the present size stays
			f.Replicas = f.Deployed
		}
	}
	for i := range o.Pods {
		p := &o.Pods[i]
		if p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
			continue
		}
		pod := scaler.Pod{
			Name: p.Name, Scheduled: p.Spec.NodeName != "", Running: p.Status.Phase != corev1.PodPending,
			Ready: plan.IsReady(p), Terminating: p.DeletionTimestamp != nil,
		}
		if p.Status.PodIP != "" {
			pod.Address = net.JoinHostPort(p.Status.PodIP, strconv.Itoa(contract.WorkerSpeech))
		}
		f.Pods = append(f.Pods, pod)
	}
	return f
}

// onReport handles the reports of a fleet's routers. A request to a fleet without pods does not wait for a tick.
func (s *Sizer) onReport(fleet string) {
	told := s.watcher.Reports(fleet)
	s.mu.Lock()
	f := s.fleets[fleet]
	atOnce := false
	if f != nil {
		for router, t := range told {
			if t.State != nil {
				atOnce = f.observe(t.ReceivedAt, router, t.State) || atOnce
			}
		}
	}
	s.mu.Unlock()
	if atOnce {
		s.decide(fleet)
	}
}

// observe records one report, once.
func (f *sized) observe(when time.Time, router string, v *wire.FleetState) (atOnce bool) {
	if f.seen == nil {
		f.seen = make(map[string]uint64)
	}
	if stamp := uint64(when.UnixNano()); f.seen[router] != stamp {
		f.seen[router] = stamp
		return f.scaler.Observe(when, router, sampleOf(v))
	}
	return false
}

func sampleOf(v *wire.FleetState) scaler.Sample {
	s := scaler.Sample{
		Epoch: v.Epoch, Busy: int(v.Busy), Queued: int(v.Queued), Arrived: v.Arrived, Refused: v.Refused,
		Warming: v.Warming,
		Served:  v.Served, Cut: v.Cut, StreamTime: time.Duration(v.StreamTime),
	}
	for _, p := range v.Pods {
		state := p.GetState()
		s.Pods = append(s.Pods, scaler.PodState{
			Address: p.Address, Zone: p.Zone, Connected: p.Connected, Slots: int(state.GetReady()),
			Busy: int(state.GetBusy()),
			Warm: state.GetWarm(), Draining: state.GetDraining(), Cordoned: state.GetCordoned(),
		})
	}
	return s
}

// decide decides about a fleet again, and calls back if it has to change.
func (s *Sizer) decide(fleet string) {
	s.mu.Lock()
	f := s.fleets[fleet]
	if f == nil {
		s.mu.Unlock()
		return
	}
	before := f.last
	after := s.decideLocked(f)
	slotsChanged := before.Slots != after.Slots && s.now().Sub(f.slotsChangedAt) >= slotsEvery
	if slotsChanged {
		f.slotsChangedAt = s.now()
	} else {
		f.last.Slots = before.Slots
	}
	s.mu.Unlock()
	before.Slots, before.Text, before.Reason = after.Slots, after.Text, after.Reason
	if slotsChanged || before != after {
		s.changed(f.name)
	}
}

// decideLocked decides, and sends cordons to routers.
func (s *Sizer) decideLocked(f *sized) plan.Scaling {
	now := s.now()
	decision := f.scaler.Decide(now, f.policy, f.fleet)
	s.followLocked(now, f, decision)
	if f.mode != v1alpha1.ScalingAutomatic {
		decision.Replicas, decision.Reason = f.fleet.Replicas, scaler.Reason(f.mode)
	}
	states := f.scaler.Pods(now)
	shrink := f.drain.Step(now, decision.Replicas, f.fleet, states)
	s.cordon(f, shrink)
	heard, silent := s.routers(f.name.String(), now)
	f.last = plan.Scaling{
		Desired: int32(decision.Replicas), Now: int32(shrink.Replicas), Reason: string(decision.Reason),
		Text:     textOf(decision),
		Reported: heard > 0, Limit: decision.Reason == scaler.LimitedByMaximum,
		Slots:      slotsOf(states, decision.QueueDepth),
		Mismatched: s.unfit(f),
	}
	s.metrics.SetSize(f.name, metrics.Size{
		Demand: decision.Demand, QueueDepth: decision.QueueDepth, Replicas: decision.Replicas,
		Reason:    string(decision.Reason),
		Reporting: heard, NotReporting: silent,
	})
	return f.last
}

// routers returns how many routers of a fleet have reported lately, and how many have not.
func (s *Sizer) routers(fleet string, now time.Time) (heard, silent int) {
	for _, t := range s.watcher.Reports(fleet) {
		if t.State != nil && now.Sub(t.ReceivedAt) < reportMaxAge {
			heard++
		} else {
			silent++
		}
	}
	return heard, silent
}

func textOf(d scaler.Decision) string {
	return fmt.Sprintf("%d pods: the demand is %.0f slots (%s)", d.Replicas, d.Demand, d.Reason)
}

// cordon has pods take nothing new, and others take utterances again.
func (s *Sizer) cordon(f *sized, shrink scaler.Shrink) {
	leases := make(map[string]time.Duration, len(shrink.Cordon)+len(shrink.Uncordon))
	for _, address := range shrink.Cordon {
		leases[address] = cordonLease
	}
	for _, address := range shrink.Uncordon {
		leases[address] = 0
	}
	s.watcher.Cordon(f.name.String(), leases)
}

func slotsOf(states map[string]scaler.PodState, queued int) (s v1alpha1.Slots) {
	s.Queued = int32(queued)
	for _, p := range states {
		s.Total += int32(p.Slots)
		s.Busy += int32(p.Busy)
	}
	return s
}

// unfit counts pods that are warm and that no router uses, though nothing else is wrong with them.
func (s *Sizer) unfit(f *sized) (n int) {
	used, unused := make(map[string]bool), make(map[string]bool)
	for _, t := range s.watcher.Reports(f.name.String()) {
		for _, p := range t.State.GetPods() {
			state := p.GetState()
			open := state.GetWarm() && !state.GetDraining() && !state.GetCordoned()
			switch {
			case p.InUse:
				used[p.Address] = true
			case p.Connected && open && !p.Ejected && !p.Suspect && !p.Terminating:
				unused[p.Address] = true
			}
		}
	}
	for address := range unused {
		if !used[address] {
			n++
		}
	}
	return n
}

// Package metrics holds every Prometheus metric of the operator about fleets. controller-runtime has its own metrics
// beside them.
//
// Each has the labels namespace and name, of the TTSDeployment: who scrapes the operator must keep them (honorLabels).
package metrics

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Size is what was decided of the size of a fleet, and what on.
type Size struct {
	Demand       float64 // slots that clients want
	QueueDepth   int     // utterances that wait, in all routers
	Replicas     int     // worker pods that there shall be
	Reason       string
	Reporting    int // routers that have reported lately
	NotReporting int // routers that have not
}

// Fleets has the metrics of fleets. It is safe for concurrent use, and a nil one does nothing.
type Fleets struct {
	now func() time.Time

	mu  sync.Mutex
	all map[types.NamespacedName]*fleet
}

// fleet is the last recorded state of a fleet.
type fleet struct {
	size       *Size             // nil if the size is not managed
	decisions  map[string]uint64 // by reason
	conditions []metav1.Condition
	expiry     time.Time // of the certificate that ends first; zero without one
}

// New returns metrics of no fleet.
func New(now func() time.Time) *Fleets {
	return &Fleets{now: now, all: make(map[types.NamespacedName]*fleet)}
}

// Register adds the metrics to those of controller-runtime. It may be called once in a process.
func (f *Fleets) Register() error { return ctrlmetrics.Registry.Register(f) }

// reasons are those of size decisions, and the modes without decisions. A counter that appears only with its first
// event hides that event from rate(), so these exist from the start; other reasons appear with their first event.
var reasons = []string{
	"Steady", "ScaledUpByDemand", "ActivatedFromZero", "RaisedToMinimum", "LimitedByMinimum", "LimitedByMaximum", "LimitedByRate",
	"ReplacingLost", "ScaledDown", "DownByRate", "HeldForRate", "HeldForWindow", "HeldMissingData", "HeldForDrain",
	"HeldForRollout", "HeldWhileWarming", "HeldUntilIdle", "IdleToZero", "Manual", "External",
}

// SetSize records a decision. A repeated decision counts once.
func (f *Fleets) SetSize(name types.NamespacedName, s Size) {
	f.change(name, func(of *fleet) {
		if of.decisions == nil {
			of.decisions = make(map[string]uint64, len(reasons))
			for _, r := range reasons {
				of.decisions[r] = 0
			}
		}
		if of.size == nil || of.size.Reason != s.Reason || of.size.Replicas != s.Replicas {
			of.decisions[s.Reason]++
		}
		of.size = &s
	})
}

// ClearSize records that a fleet's size is not managed, because the fleet is paused.
func (f *Fleets) ClearSize(name types.NamespacedName) {
	f.change(name, func(of *fleet) { of.size = nil })
}

// SetConditions records the conditions of a fleet.
func (f *Fleets) SetConditions(name types.NamespacedName, conditions []metav1.Condition) {
	f.change(name, func(of *fleet) { of.conditions = slices.Clone(conditions) })
}

// Certificate records when the first certificate of a fleet expires; the zero time means none.
func (f *Fleets) Certificate(name types.NamespacedName, expiry time.Time) {
	f.change(name, func(of *fleet) { of.expiry = expiry })
}

// Forget drops a deleted fleet.
func (f *Fleets) Forget(name types.NamespacedName) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, name)
}

// Clear drops all fleets, which another operator reports from now on.
func (f *Fleets) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.all)
}

func (f *Fleets) change(name types.NamespacedName, change func(*fleet)) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all[name] == nil {
		f.all[name] = &fleet{}
	}
	change(f.all[name])
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{"namespace", "name"}, labels...), nil)
}

var (
	demandDesc    = desc("ttsd_demand_slots", "Slots that the clients of a fleet want, summed over its routers.")
	queueDesc     = desc("ttsd_queue_depth", "Utterances that wait in all routers of a fleet.")
	desiredDesc   = desc("ttsd_desired_replicas", "Worker pods that a fleet shall have.")
	routersDesc   = desc("ttsd_routers", "Routers of a fleet, by whether they reported recently.", "heard")
	decisionsDesc = desc("ttsd_scale_decisions_total",
		"Decisions about the size of a fleet that differ from the one before, by reason.", "reason")
	conditionDesc = desc("ttsd_condition",
		"1 for each condition in the status of a TTSDeployment, with its present status and reason.", "type", "status", "reason")
	expiryDesc = desc("ttsd_cert_expiry_seconds",
		"Time until the certificate of a fleet that ends first is over; negative afterwards.")
)

// Describe implements [prometheus.Collector].
func (f *Fleets) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{demandDesc, queueDesc, desiredDesc, routersDesc, decisionsDesc,
		conditionDesc, expiryDesc} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (f *Fleets) Collect(to chan<- prometheus.Metric) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, of := range f.all {
		gauge := func(d *prometheus.Desc, value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value,
				append([]string{name.Namespace, name.Name}, labels...)...)
		}
		if s := of.size; s != nil {
			gauge(demandDesc, s.Demand)
			gauge(queueDesc, float64(s.QueueDepth))
			gauge(desiredDesc, float64(s.Replicas))
			gauge(routersDesc, float64(s.Reporting), "true")
			gauge(routersDesc, float64(s.NotReporting), "false")
		}
		for reason, n := range of.decisions {
			to <- prometheus.MustNewConstMetric(decisionsDesc, prometheus.CounterValue, float64(n), name.Namespace,
				name.Name, reason)
		}
		for _, c := range of.conditions {
			gauge(conditionDesc, 1, c.Type, string(c.Status), c.Reason)
		}
		if !of.expiry.IsZero() {
			gauge(expiryDesc, of.expiry.Sub(f.now()).Seconds())
		}
	}
}

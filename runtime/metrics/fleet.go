package metrics

import "github.com/prometheus/client_golang/prometheus"

// FleetCounts is what a router sees of the fleet, and has done. Slots and pods are its view: several routers see the
// same ones, so that the largest value counts, not the sum.
type FleetCounts struct {
	Free, Busy, Warming, Cordoned, Draining      int // slots
	InUse, PodsWarming, Away, Ejected, Suspected int // pods
	// slots that attempts of this router took and states do not count yet
	ViewError                                    int
	Demand                                       float64
	Refused, RefusedWarming, Failed, PodsEjected int64
}

// Fleet counts what a router does with pods. It is safe for concurrent use.
type Fleet struct {
	attempts prometheus.Histogram
	cut      *prometheus.CounterVec
}

// RegisterFleet adds the metrics of a router; read is called whenever they are scraped.
func (r *Registry) RegisterFleet(read func() FleetCounts) *Fleet {
	f := &Fleet{
		attempts: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "tts_attempts", Help: "Pods tried per utterance.", Buckets: []float64{1, 2, 3},
		}),
		cut: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tts_streams_cut_total",
			Help: "Utterances that were cut after their first frame, by cause; drain and router_drain are the platform's own, and must be 0.",
		}, []string{"cause"}),
	}
	for _, cause := range []string{"drain", "router_drain", "pod_lost", "stalled"} {
		f.cut.WithLabelValues(cause)
	}
	r.prometheus.MustRegister(f.attempts, f.cut,
		byState(read, "tts_fleet_slots",
			"Slots of the pods that this router sees; take the largest value of all routers.",
			func(c FleetCounts) map[string]int {
				return map[string]int{
					"free": c.Free, "busy": c.Busy, "warming": c.Warming, "cordoned": c.Cordoned, "draining": c.Draining,
				}
			}),
		byState(read, "tts_fleet_pods", "Pods that this router sees; take the largest value of all routers.",
			func(c FleetCounts) map[string]int {
				return map[string]int{
					"in_use": c.InUse, "warming": c.PodsWarming, "away": c.Away, "ejected": c.Ejected, "suspect": c.Suspected,
				}
			}),
		gauge("tts_fleet_view_error", "Slots that this router has filled and pods have not confirmed yet.", read,
			func(c FleetCounts) float64 { return float64(c.ViewError) }),
		gauge("tts_demand_slots",
			"Slots that this router's clients demand: speaking, waiting, and refusals of the last 10 s.",
			read, func(c FleetCounts) float64 { return c.Demand }),
		counter("tts_pods_ejected_total", "Pods that were ejected for a while because they failed.", read,
			func(c FleetCounts) float64 { return float64(c.PodsEjected) }),
		refusals{read},
	)
	return f
}

// Attempts records how many pods one utterance was sent to.
func (f *Fleet) Attempts(n int) { f.attempts.Observe(float64(n)) }

// Cut counts an utterance that was cut after its first frame: by drain, router_drain, pod_lost or stalled.
func (f *Fleet) Cut(cause string) { f.cut.WithLabelValues(cause).Inc() }

// states shows counts with a label state.
type states struct {
	desc *prometheus.Desc
	read func() map[string]int
}

func byState(read func() FleetCounts, name, help string, of func(FleetCounts) map[string]int) prometheus.Collector {
	desc := prometheus.NewDesc(name, help, []string{"state"}, nil)
	return states{desc, func() map[string]int { return of(read()) }}
}

// Describe implements [prometheus.Collector].
func (s states) Describe(to chan<- *prometheus.Desc) { to <- s.desc }

// Collect implements [prometheus.Collector].
func (s states) Collect(to chan<- prometheus.Metric) {
	for state, n := range s.read() {
		to <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, float64(n), state)
	}
}

// refusals shows why this router has refused.
type refusals struct{ read func() FleetCounts }

var refusedDesc = prometheus.NewDesc("tts_refused_total",
	"Utterances that no pod spoke, by reason: no slot in time, no pod in use, all attempts failed.",
	[]string{"reason"}, nil)

// Describe implements [prometheus.Collector].
func (r refusals) Describe(to chan<- *prometheus.Desc) { to <- refusedDesc }

// Collect implements [prometheus.Collector].
func (r refusals) Collect(to chan<- prometheus.Metric) {
	c := r.read()
	for reason, n := range map[string]int64{"busy": c.Refused, "warming": c.RefusedWarming, "failed": c.Failed} {
		to <- prometheus.MustNewConstMetric(refusedDesc, prometheus.CounterValue, float64(n), reason)
	}
}

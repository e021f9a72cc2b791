package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/swar-tts/swar/runtime/speech"
)

// Pod counts what a worker pod does for routers. It is safe for concurrent use.
type Pod struct {
	refused *prometheus.CounterVec
	grants  *prometheus.CounterVec
	rtf     *prometheus.HistogramVec
}

// RegisterPod adds the metrics of a worker pod; capacity is called whenever they are scraped.
func (r *Registry) RegisterPod(capacity func() speech.Capacity) *Pod {
	p := &Pod{
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tts_slot_refusals_total",
			Help: "Utterances that the pod had no slot for, by reason.",
		}, []string{"reason"}),
		grants: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tts_grants_total",
			Help: "Slots kept for a router, by result; a slot that was returned is neither used nor expired.",
		}, []string{"outcome"}),
		rtf: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "tts_rtf_busy",
			Help:    "Synthesis time per second of audio, by how many workers were busy when it ended.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .2, .4, .75, 1, 2, 4},
		}, []string{"busy"}),
	}
	for _, reason := range []string{"slot", "warming", "draining", "cordoned"} {
		p.refused.WithLabelValues(reason)
	}
	for _, outcome := range []string{"used", "expired"} {
		p.grants.WithLabelValues(outcome)
	}
	r.prometheus.MustRegister(p.refused, p.grants, p.rtf,
		gauge("tts_slots_busy", "Slots that speak now.", capacity,
			func(c speech.Capacity) float64 { return float64(c.Busy) }),
		gauge("tts_slots_reserved", "Slots reserved for a waiting request.", capacity,
			func(c speech.Capacity) float64 { return float64(c.Reserved) }))
	return p
}

// Refused counts an utterance that found no slot: slot, warming, draining or cordoned.
func (p *Pod) Refused(reason string) { p.refused.WithLabelValues(reason).Inc() }

// GrantUsed counts a slot that was taken by whom it was kept for.
func (p *Pod) GrantUsed() { p.grants.WithLabelValues("used").Inc() }

// GrantExpired counts a slot that was kept in vain.
func (p *Pod) GrantExpired() { p.grants.WithLabelValues("expired").Inc() }

// RecordRTF records how fast an utterance was spoken while so many workers were busy, itself among them.
func (p *Pod) RecordRTF(busy int, rtf float64) {
	p.rtf.WithLabelValues(strconv.Itoa(busy)).Observe(rtf)
}

package metrics

import "github.com/prometheus/client_golang/prometheus"

// RegisterConnections adds the counts of connections that were closed or refused to limit their number. closed
// returns them by reason at each scrape.
func (r *Registry) RegisterConnections(closed func(reason string) int64) {
	for _, reason := range []string{"waiting", "full"} {
		r.prometheus.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name:        "tts_connections_closed_total",
			Help:        "Connections that were closed to keep room: waiting, too many without a request; full, no file descriptor was left.",
			ConstLabels: prometheus.Labels{"reason": reason},
		}, func() float64 { return float64(closed(reason)) }))
	}
}

// Package metrics holds every Prometheus metric of the data plane, so that names and labels stand in one place.
//
// A process registers the groups of what it does, and counts in each its own work alone, so that sums over processes
// are right: the API where clients are answered, workers and an engine where speech is made, usage and keys where
// keys are checked, the portal where it is served.
package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Registry is the metrics of a process. Each Register method adds a group and may be called once. It is safe for
// concurrent use.
type Registry struct{ prometheus *prometheus.Registry }

// New returns a registry of what every process tells: about Go and about itself.
func New() *Registry {
	r := &Registry{prometheus.NewRegistry()}
	r.prometheus.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return r
}

// Handler serves the metrics in the Prometheus text format, or OpenMetrics where the scraper accepts it.
func (r *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(r.prometheus, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// gauge is one that is read whenever it is scraped, as a part of what read returns.
func gauge[T any](name, help string, read func() T, value func(T) float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help},
		func() float64 { return value(read()) })
}

// counter is the same for what only grows.
func counter[T any](name, help string, read func() T, value func(T) float64) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
		func() float64 { return value(read()) })
}

package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// PortalCounts is the state of a portal in this process, and of usage on its way into the store.
type PortalCounts struct {
	Queued     int64         // usage events that the store does not have yet, on disk or in memory
	Lost       int64         // usage events found lost since the start
	Delay      time.Duration // age of the oldest event that the store does not have
	Difference int64         // that the last comparison of the books has found, in requests and frames
	Keys       int           // in memory
	Current    bool          // they are what the store holds
}

// Portal counts what the portal is asked. It is safe for concurrent use.
type Portal struct {
	seconds *prometheus.HistogramVec
}

// RegisterPortal adds the metrics of a portal; read is called whenever they are scraped. It may be called once.
func (m *Metrics) RegisterPortal(read func() PortalCounts) *Portal {
	gauge := func(name, help string, value func(PortalCounts) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return value(read()) })
	}
	p := &Portal{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "tts_portal_request_seconds",
		Help:    "Time to answer a request to the portal or to sign in, by method and HTTP status.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
	}, []string{"method", "status"})}
	m.registry.MustRegister(
		p.seconds,
		gauge("tts_usage_queued_events", "Usage events that the store does not have yet.", func(c PortalCounts) float64 { return float64(c.Queued) }),
		gauge("tts_usage_oldest_seconds", "Age of the oldest usage event that the store does not have.", func(c PortalCounts) float64 { return c.Delay.Seconds() }),
		gauge("tts_usage_reconciliation_difference", "Requests and frames by which the two ways of adding up usage differ; must be 0.",
			func(c PortalCounts) float64 { return float64(c.Difference) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "tts_usage_lost_events_total",
			Help: "Usage events that nobody is billed for: neither disk nor memory had room, or a file is damaged or gone; must be 0.",
		}, func() float64 { return float64(read().Lost) }),
		gauge("tts_keys", "API keys of the portal in memory.", func(c PortalCounts) float64 { return float64(c.Keys) }),
		gauge("tts_keys_current", "1 while the keys in memory are those of the store, else 0.", func(c PortalCounts) float64 {
			if c.Current {
				return 1
			}
			return 0
		}),
	)
	return p
}

// Answered counts a request. A method that is none of the API's counts as OTHER, since clients can send any.
func (p *Portal) Answered(method string, status int, took time.Duration) {
	switch method {
	case "GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS":
	default:
		method = "OTHER"
	}
	p.seconds.WithLabelValues(method, strconv.Itoa(status)).Observe(took.Seconds())
}

package metrics

import "github.com/prometheus/client_golang/prometheus"

// RegisterLog adds the count of lines of the log that could not be written, which lost returns whenever it is
// scraped. It may be called once.
func (m *Metrics) RegisterLog(lost func() int64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "tts_log_lost_lines_total", Help: "Lines of the log that could not be written; must be 0.",
	}, func() float64 { return float64(lost()) }))
}

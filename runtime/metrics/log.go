package metrics

// RegisterLog adds the count of log lines that could not be written. lost returns it at each scrape.
func (r *Registry) RegisterLog(lost func() int64) {
	r.prometheus.MustRegister(counter("tts_log_lost_lines_total",
		"Lines of the log that could not be written; must be 0.",
		lost, func(n int64) float64 { return float64(n) }))
}

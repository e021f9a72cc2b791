package metrics

// RegisterLog adds the count of lines of the log that could not be written, which lost returns whenever it is scraped.
func (r *Registry) RegisterLog(lost func() int64) {
	r.prometheus.MustRegister(counter("tts_log_lost_lines_total", "Lines of the log that could not be written; must be 0.",
		lost, func(n int64) float64 { return float64(n) }))
}

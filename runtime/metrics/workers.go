package metrics

import "github.com/swar-tts/swar/runtime/speech"

// RegisterWorkers adds the metrics of the workers in this process; capacity is called whenever they are scraped.
func (r *Registry) RegisterWorkers(capacity func() speech.Capacity) {
	r.prometheus.MustRegister(
		gauge("tts_workers", "Workers configured.", capacity,
			func(c speech.Capacity) float64 { return float64(c.Workers) }),
		gauge("tts_workers_ready", "Workers warmed up.", capacity,
			func(c speech.Capacity) float64 { return float64(c.Ready) }),
	)
}

package metrics

import "time"

// UsageCounts is usage on its way from this process into the store.
type UsageCounts struct {
	Queued int64         // events that the store does not have yet, on disk or in memory
	Lost   int64         // events found lost since the start
	Forks  int64         // times that the log was found to be a copy of another one
	Delay  time.Duration // age of the oldest event that the store does not have
}

// RegisterUsage adds the metrics of usage, where it is metered; read is called whenever they are scraped.
func (r *Registry) RegisterUsage(read func() UsageCounts) {
	r.prometheus.MustRegister(
		gauge("tts_usage_queued_events", "Usage events that the store does not have yet.", read,
			func(c UsageCounts) float64 { return float64(c.Queued) }),
		gauge("tts_usage_oldest_seconds", "Age of the oldest usage event that the store does not have.", read,
			func(c UsageCounts) float64 { return c.Delay.Seconds() }),
		counter("tts_usage_lost_events_total",
			"Usage events that were lost and are not billed: no room on disk or in memory, or a damaged or missing file; must be 0.",
			read, func(c UsageCounts) float64 { return float64(c.Lost) }),
		counter("tts_usage_log_copies_total",
			"Detected copies of a reporting usage log, as on a cloned machine; without loss.",
			read, func(c UsageCounts) float64 { return float64(c.Forks) }),
	)
}

// KeyCounts are the API keys in the memory of this process.
type KeyCounts struct {
	Keys    int
	Current bool // they are what the store holds
}

// RegisterKeys adds the metrics of keys, where they are checked; read is called whenever they are scraped.
func (r *Registry) RegisterKeys(read func() KeyCounts) {
	r.prometheus.MustRegister(
		gauge("tts_keys", "API keys of the portal in memory.", read,
			func(c KeyCounts) float64 { return float64(c.Keys) }),
		gauge("tts_keys_current", "1 while the keys in memory equal those of the store, else 0.", read,
			func(c KeyCounts) float64 {
				if c.Current {
					return 1
				}
				return 0
			}),
	)
}

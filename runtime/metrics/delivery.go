package metrics

// DeliveryCounts is the state of what is spoken and not taken yet by its clients.
type DeliveryCounts struct {
	Listeners  int64 // clients that are being spoken to, or have not taken all of it
	SpoolBytes int64 // that wait for them
	SpoolLimit int64 // that may wait
	SpoolWaits int64 // how often, since the start, a worker had to wait because there was no room
}

// RegisterDelivery adds the metrics of delivery, which are read whenever they are scraped. It may be called once.
func (a *API) RegisterDelivery(read func() DeliveryCounts) {
	a.registry.prometheus.MustRegister(
		gauge("tts_listeners", "Clients that are served, or have unread audio.", read,
			func(c DeliveryCounts) float64 { return float64(c.Listeners) }),
		gauge("tts_spool_bytes", "Bytes of audio that clients have not read yet.", read,
			func(c DeliveryCounts) float64 { return float64(c.SpoolBytes) }),
		gauge("tts_spool_limit_bytes", "Limit of unread audio in bytes.", read,
			func(c DeliveryCounts) float64 { return float64(c.SpoolLimit) }),
		counter("tts_spool_waits_total", "Times that a worker had to wait because the spool was full.", read,
			func(c DeliveryCounts) float64 { return float64(c.SpoolWaits) }),
	)
}

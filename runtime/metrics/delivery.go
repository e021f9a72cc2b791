package metrics

import "github.com/prometheus/client_golang/prometheus"

// DeliveryCounts is the state of what is spoken and not taken yet by its clients.
type DeliveryCounts struct {
	Listeners  int64 // clients that are being spoken to, or have not taken all of it
	SpoolBytes int64 // that wait for them
	SpoolLimit int64 // that may wait
	SpoolWaits int64 // how often, since the start, a worker had to wait because there was no room
}

// RegisterDelivery adds the metrics of delivery, which are read whenever they are scraped. It may be called once.
func (m *Metrics) RegisterDelivery(read func() DeliveryCounts) {
	gauge := func(name, help string, value func(DeliveryCounts) int64) prometheus.Collector {
		o := prometheus.GaugeOpts{Name: name, Help: help}
		return prometheus.NewGaugeFunc(o, func() float64 { return float64(value(read())) })
	}
	m.registry.MustRegister(
		gauge("tts_listeners", "Clients that are being spoken to, or have not taken all of it.",
			func(c DeliveryCounts) int64 { return c.Listeners }),
		gauge("tts_spool_bytes", "Bytes of audio that wait to be taken by their clients.",
			func(c DeliveryCounts) int64 { return c.SpoolBytes }),
		gauge("tts_spool_limit_bytes", "Bytes of audio that may wait to be taken.",
			func(c DeliveryCounts) int64 { return c.SpoolLimit }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "tts_spool_waits_total", Help: "Times that a worker had to wait because the spool was full.",
		}, func() float64 { return float64(read().SpoolWaits) }),
	)
}

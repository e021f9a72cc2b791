// Package metrics holds every Prometheus metric of the data plane, so that names and labels stand in one place.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/swar-tts/swar/runtime/speech"
)

// Endpoint is the value of the label endpoint.
type Endpoint string

// The endpoints that are counted.
const (
	REST      Endpoint = "rest"
	WS        Endpoint = "ws"
	Normalize Endpoint = "normalize"
	Voices    Endpoint = "voices"
)

// Kind is the value of the label kind: why a request failed.
type Kind string

// The kinds of errors.
const (
	Validation Kind = "validation"
	Auth       Kind = "auth"
	Busy       Kind = "busy"
	Warming    Kind = "warming"
	Engine     Kind = "engine"
	WorkerGone Kind = "worker_gone"
	Timeout    Kind = "timeout"
	ClientGone Kind = "client_gone"
)

// StatusCancelled is the label status of an utterance that the client ended.
const StatusCancelled = "cancelled"

// Metrics counts requests and audio. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	ttfa     prometheus.Histogram
	queue    prometheus.Histogram
	rtf      prometheus.Histogram
	audio    prometheus.Counter
	chunks   *prometheus.CounterVec
	requests *prometheus.CounterVec
	errors   *prometheus.CounterVec
	sockets  prometheus.Gauge
}

// New returns metrics whose gauges read capacity when they are scraped.
func New(capacity func() speech.Capacity) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		ttfa: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "tts_ttfa_seconds",
			Help:    "Time from a worker being assigned to the first decoded frame.",
			Buckets: []float64{.005, .0075, .01, .015, .02, .03, .05, .075, .1, .15, .2, .3, .5, .75, 1, 2, 5},
		}),
		queue: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "tts_queue_seconds",
			Help:    "Time an utterance waited for a worker.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, .75, 1, 1.5, 2},
		}),
		rtf: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "tts_rtf",
			Help:    "Synthesis time per second of audio; below 1 is faster than real time.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .15, .2, .3, .4, .5, .75, 1, 1.5, 2, 4},
		}),
		audio: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tts_audio_seconds_total",
			Help: "Seconds of audio decoded.",
		}),
		chunks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tts_prefills_total",
			Help: "Chunks spoken, by whether their prefill came from the cache.",
		}, []string{"cached"}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tts_requests_total",
			Help: "Requests by endpoint and HTTP status; the status of an utterance ended by its client is cancelled.",
		}, []string{"endpoint", "status"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tts_errors_total",
			Help: "Requests that failed, by kind.",
		}, []string{"kind"}),
		sockets: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "tts_websockets_open",
			Help: "WebSocket connections open.",
		}),
	}
	gauge := func(name, help string, read func(speech.Capacity) int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(read(capacity())) })
	}
	m.registry.MustRegister(
		m.ttfa, m.queue, m.rtf, m.audio, m.chunks, m.requests, m.errors, m.sockets,
		gauge("tts_streams_active", "Utterances that hold a worker.", func(c speech.Capacity) int { return c.Busy }),
		gauge("tts_queue_depth", "Utterances waiting for a worker.", func(c speech.Capacity) int { return c.Queued }),
		gauge("tts_workers", "Workers configured.", func(c speech.Capacity) int { return c.Workers }),
		gauge("tts_workers_ready", "Workers warmed up.", func(c speech.Capacity) int { return c.Ready }),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	// A counter that appears only with its first event hides that event from rate(): show the labels from the start.
	for _, e := range []Endpoint{REST, WS, Normalize, Voices} {
		m.requests.WithLabelValues(string(e), "200")
	}
	for _, k := range []Kind{Validation, Auth, Busy, Warming, Engine, WorkerGone, Timeout, ClientGone} {
		m.errors.WithLabelValues(string(k))
	}
	return m
}

// Handler serves the metrics in the Prometheus text format, or OpenMetrics where the scraper accepts it.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// Request counts an answered request by its HTTP status.
func (m *Metrics) Request(e Endpoint, status int) {
	m.requests.WithLabelValues(string(e), strconv.Itoa(status)).Inc()
}

// Cancelled counts an utterance that its client ended. Whether that was an error, the client having gone, is counted apart.
func (m *Metrics) Cancelled(e Endpoint) {
	m.requests.WithLabelValues(string(e), StatusCancelled).Inc()
}

// Error counts a failure.
func (m *Metrics) Error(k Kind) { m.errors.WithLabelValues(string(k)).Inc() }

// Prefill counts a chunk.
func (m *Metrics) Prefill(cached bool) { m.chunks.WithLabelValues(strconv.FormatBool(cached)).Inc() }

// Spoken records an utterance that got a worker, whether it was completed or not.
func (m *Metrics) Spoken(s speech.Stats) {
	m.queue.Observe(s.Queue.Seconds())
	m.audio.Add(speech.Seconds(s.Frames))
	if s.Frames > 0 {
		m.ttfa.Observe(s.TTFA.Round(time.Microsecond).Seconds())
		m.rtf.Observe(s.RTF())
	}
}

// SocketOpened counts a WebSocket connection in; the returned function counts it out and must be called once.
func (m *Metrics) SocketOpened() (closed func()) {
	m.sockets.Inc()
	return m.sockets.Dec
}

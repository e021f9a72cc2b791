package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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
) // and the names of the dialects that are served, see [API.Expect]

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

// StreamCounts are the utterances of this process: in a router those of its own clients, not of the fleet.
type StreamCounts struct {
	Active int // that hold a worker
	Queued int // that wait for one
}

// StreamsOf returns the utterances of a process that speaks itself.
func StreamsOf(capacity func() speech.Capacity) func() StreamCounts {
	return func() StreamCounts {
		c := capacity()
		return StreamCounts{Active: c.Busy, Queued: c.Queued}
	}
}

// API counts requests and audio where clients are answered. It is safe for concurrent use.
type API struct {
	registry *Registry
	ttfa     prometheus.Histogram
	queue    prometheus.Histogram
	rtf      prometheus.Histogram
	audio    prometheus.Counter
	chunks   *prometheus.CounterVec
	requests *prometheus.CounterVec
	errors   *prometheus.CounterVec
	sockets  prometheus.Gauge
}

// RegisterAPI adds the metrics of the API; streams is called whenever they are scraped.
func (r *Registry) RegisterAPI(streams func() StreamCounts) *API {
	a := &API{
		registry: r,
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
	r.prometheus.MustRegister(
		a.ttfa, a.queue, a.rtf, a.audio, a.chunks, a.requests, a.errors, a.sockets,
		gauge("tts_streams_active", "Utterances that hold a worker.", streams,
			func(c StreamCounts) float64 { return float64(c.Active) }),
		gauge("tts_queue_depth", "Utterances waiting for a worker.", streams,
			func(c StreamCounts) float64 { return float64(c.Queued) }),
	)
	// A counter that appears only with its first event hides that event from rate(): show the labels from the start.
	for _, e := range []Endpoint{REST, WS, Normalize, Voices} {
		a.requests.WithLabelValues(string(e), "200")
	}
	for _, k := range []Kind{Validation, Auth, Busy, Warming, Engine, WorkerGone, Timeout, ClientGone} {
		a.errors.WithLabelValues(string(k))
	}
	return a
}

// Expect shows the requests of an endpoint from the start, as those of the native API are.
func (a *API) Expect(e Endpoint) { a.requests.WithLabelValues(string(e), "200") }

// Handler serves all metrics of the process, see [Registry.Handler].
func (a *API) Handler() http.Handler { return a.registry.Handler() }

// Request counts an answered request by its HTTP status.
func (a *API) Request(e Endpoint, status int) {
	a.requests.WithLabelValues(string(e), strconv.Itoa(status)).Inc()
}

// Cancelled counts an utterance that its client ended. Whether that was an error, the client having gone, is counted
// apart.
func (a *API) Cancelled(e Endpoint) {
	a.requests.WithLabelValues(string(e), StatusCancelled).Inc()
}

// Error counts a failure.
func (a *API) Error(k Kind) { a.errors.WithLabelValues(string(k)).Inc() }

// Prefill counts a chunk.
func (a *API) Prefill(cached bool) { a.chunks.WithLabelValues(strconv.FormatBool(cached)).Inc() }

// RecordUtterance records an utterance that got a worker, whether it was completed or not.
func (a *API) RecordUtterance(s speech.Stats) {
	a.queue.Observe(s.Queue.Seconds())
	a.audio.Add(speech.Seconds(s.Frames))
	if s.Frames > 0 {
		a.ttfa.Observe(s.TTFA.Round(time.Microsecond).Seconds())
		a.rtf.Observe(s.RTF())
	}
}

// SocketOpened counts a WebSocket connection in; the returned function counts it out and must be called once.
func (a *API) SocketOpened() (closed func()) {
	a.sockets.Inc()
	return a.sockets.Dec
}

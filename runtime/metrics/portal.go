package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Portal counts what the portal is asked. It is safe for concurrent use.
type Portal struct {
	seconds *prometheus.HistogramVec
}

// RegisterPortal adds the metrics of a portal. difference returns, whenever they are scraped, what the last comparison
// of the books has found, in requests and frames.
func (r *Registry) RegisterPortal(difference func() int64) *Portal {
	p := &Portal{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "tts_portal_request_seconds",
		Help:    "Time to answer a request to the portal or to sign in, by method and HTTP status.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
	}, []string{"method", "status"})}
	r.prometheus.MustRegister(
		p.seconds,
		gauge("tts_usage_reconciliation_difference",
			"Difference of requests and frames between bills and log; must be 0.",
			difference, func(n int64) float64 { return float64(n) }),
	)
	return p
}

// RegisterRefusedUsage adds the count of events of usage that cannot be true, which count returns whenever it is
// scraped.
func (r *Registry) RegisterRefusedUsage(count func() int64) {
	r.prometheus.MustRegister(counter("tts_usage_refused_events_total",
		"Events of usage that routers sent and the portal refused, because they cannot be true; must be 0. The log has each of them.",
		count, func(n int64) float64 { return float64(n) }))
}

// RegisterMails adds the counts of mails that a portal sent and gave up. count returns both at each scrape.
func (r *Registry) RegisterMails(count func() (sent, failed int64)) {
	r.prometheus.MustRegister(mails{count})
}

// mails reads both numbers at once.
type mails struct{ count func() (sent, failed int64) }

var mailsDesc = prometheus.NewDesc("tts_portal_mails_total",
	"Mails of the portal, by whether the mail server accepted them.",
	[]string{"result"}, nil)

// Describe implements [prometheus.Collector].
func (mails) Describe(c chan<- *prometheus.Desc) { c <- mailsDesc }

// Collect implements [prometheus.Collector].
func (m mails) Collect(c chan<- prometheus.Metric) {
	sent, failed := m.count()
	c <- prometheus.MustNewConstMetric(mailsDesc, prometheus.CounterValue, float64(sent), "sent")
	c <- prometheus.MustNewConstMetric(mailsDesc, prometheus.CounterValue, float64(failed), "failed")
}

// RegisterRouters adds the counts of connected front ends. count returns at each scrape how many have applied all
// changes of keys, and how many have not.
func (r *Registry) RegisterRouters(count func() (current, behind int)) {
	r.prometheus.MustRegister(routers{count})
}

// routers reads both numbers at once, so that their sum is right.
type routers struct{ count func() (current, behind int) }

var routersDesc = prometheus.NewDesc("tts_routers",
	"Routers connected to the portal, by whether they have applied all changes of keys.", []string{"current"}, nil)

// Describe implements [prometheus.Collector].
func (routers) Describe(c chan<- *prometheus.Desc) { c <- routersDesc }

// Collect implements [prometheus.Collector].
func (r routers) Collect(c chan<- prometheus.Metric) {
	current, behind := r.count()
	c <- prometheus.MustNewConstMetric(routersDesc, prometheus.GaugeValue, float64(current), "true")
	c <- prometheus.MustNewConstMetric(routersDesc, prometheus.GaugeValue, float64(behind), "false")
}

// RecordRequest counts a request. A method that is none of the API's counts as OTHER, since clients can send any.
func (p *Portal) RecordRequest(method string, status int, took time.Duration) {
	switch method {
	case "GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS":
	default:
		method = "OTHER"
	}
	p.seconds.WithLabelValues(method, strconv.Itoa(status)).Observe(took.Seconds())
}

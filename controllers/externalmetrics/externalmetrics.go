// Package externalmetrics serves the API external.metrics.k8s.io, by which a HorizontalPodAutoscaler scales a fleet
// without KEDA. It keeps nothing: each request asks the operator that acts, by KEDA's protocol, within two seconds.
//
// Its only client is the API server, which forwards requests (the aggregation layer). The API server has checked the
// user's rights before. So a client with its certificate is answered, and no other client.
//
// A cluster has one server of this API. While ours is out of reach, no namespace of the cluster can be deleted; so what
// the API server asks to see whether it is there is answered without the operator.
package externalmetrics

import (
	"context"
	"crypto/tls"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/metrics/pkg/apis/external_metrics/v1beta1"

	"github.com/swar-tts/swar/controllers/keda"
)

// Label is what a metric's selector names a TTSDeployment by.
const Label = "ttsdeployment"

// Query asks for the present value of a metric of a TTSDeployment.
type Query struct {
	Namespace, Name string
	Metric          string // keda.DemandSlots or keda.QueueDepth
}

// Config is what answers are made of.
type Config struct {
	// Value answers a query. Its errors are of gRPC.
	Value func(context.Context, Query) (float64, error)
	// Check refuses who must not call, by the way they have come; the state is nil without TLS.
	Check func(context.Context, *tls.ConnectionState) error
	Now   func() time.Time // nil means time.Now
}

type handler struct {
	Config
	log *slog.Logger
}

// New returns what answers requests of the API server.
func New(c Config, log *slog.Logger) http.Handler {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &handler{c, log}
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := h.answer(r)
	code := http.StatusOK
	if err != nil {
		status := statusOf(err)
		answer, code = status, int(status.Code)
		h.log.Log(r.Context(), levelOf(code), "refused", "path", r.URL.Path, "code", code, "error", status.Message)
	}
	write(w, r, code, answer)
}

func (h *handler) answer(r *http.Request) (any, error) {
	if err := h.Check(r.Context(), r.TLS); err != nil {
		return nil, refuse(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "%v", err)
	}
	isWatch := r.URL.Query().Has("watch") && isTrue(r.URL.Query().Get("watch"))
	if isWatch || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil, refuse(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,
			"external metrics can be read, by GET, and nothing else")
	}
	path := strings.TrimSuffix(r.URL.Path, "/")
	switch path {
	case "/apis":
		return groups(), nil
	case groupPath:
		return group(), nil
	case versionPath:
		return resources(), nil
	}
	below, isMetric := strings.CutPrefix(path, versionPath+"/namespaces/")
	namespace, metric, isWhole := strings.Cut(below, "/")
	if !isMetric || !isWhole {
		// Of /openapi/, too, which the API server then does without.
		return nil, refuse(http.StatusNotFound, metav1.StatusReasonNotFound,
			"there is nothing at %.100q: want %s/namespaces/NAMESPACE/METRIC", path, versionPath)
	}
	return h.values(r, Query{Namespace: namespace, Metric: metric})
}

// values answers for the TTSDeployment that a request selects.
func (h *handler) values(r *http.Request, q Query) (*v1beta1.ExternalMetricValueList, error) {
	if q.Metric != keda.DemandSlots && q.Metric != keda.QueueDepth {
		return nil, refuse(http.StatusNotFound, metav1.StatusReasonNotFound,
			"there is no metric %.60q: take %s or %s", q.Metric, keda.DemandSlots, keda.QueueDepth)
	}
	if len(validation.IsDNS1123Label(q.Namespace)) > 0 {
		return nil, refuse(http.StatusBadRequest, metav1.StatusReasonBadRequest,
			"%.70q is not a name of a namespace", q.Namespace)
	}
	var err error
	if q.Name, err = selected(r.URL.Query().Get("labelSelector")); err != nil {
		return nil, err
	}
	now := h.Now()
	value, err := h.Value(r.Context(), q)
	if err != nil {
		return nil, &queryError{q, err}
	}
	amount, err := quantity(value)
	if err != nil {
		return nil, err
	}
	return &v1beta1.ExternalMetricValueList{
		TypeMeta: metav1.TypeMeta{APIVersion: groupVersion, Kind: listKind},
		Items: []v1beta1.ExternalMetricValue{{
			MetricName: q.Metric, MetricLabels: map[string]string{Label: q.Name},
			Timestamp: metav1.NewTime(now), Value: *amount,
		}},
	}, nil
}

// largest is more than any fleet has to do, and can be said in thousandths.
const largest = 1e12

// quantity rounds to thousandths, in which a HorizontalPodAutoscaler counts.
func quantity(value float64) (*resource.Quantity, error) {
	isAmount := value >= 0 && value <= largest // and so not NaN
	if !isAmount {
		return nil, refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError,
			"the operator reports the value %v", value)
	}
	return resource.NewMilliQuantity(int64(math.Round(value*1000)), resource.DecimalSI), nil
}

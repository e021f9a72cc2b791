// Package keda is a KEDA external scaler. It reports the load of fleets, from which KEDA's HorizontalPodAutoscaler
// sizes them. It implements KEDA's protocol and knows only names of Kubernetes; the load comes from a [Source].
package keda

import (
	"errors"
	"math"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swar-tts/swar/controllers/keda/wire"
)

// Metrics that a fleet can be scaled by.
const (
	// DemandSlots is how many slots clients want: busy, waiting, and what was refused. It is the sum over the fleet and
	// is aimed at per pod, which Kubernetes calls AverageValue.
	DemandSlots = "tts_demand_slots"

	// QueueDepth is how many requests wait in all routers. Since queues are bounded it knows no size, only too few and
	// enough: it is aimed at as a whole, which Kubernetes calls Value, and beside the demand.
	QueueDepth = "tts_queue_depth"
)

// What the metadata of a trigger may say.
const (
	metaName   = "ttsdName" // the TTSDeployment; without it, that of the name of the ScaledObject
	metaMetric = "metric"   // one of those above; without it, DemandSlots
)

// Load is what a fleet has to do, and what its TTSDeployment aims at.
type Load struct {
	Known        bool    // of its routers, lately; otherwise nothing is known but what is aimed at
	Demand       float64 // slots that clients want
	QueueDepth   int     // requests that wait
	Active       bool    // it may not scale to zero: it had a request lately, or a pod is warming
	DemandTarget float64 // slots of the demand for each pod
	QueueTarget  int     // requests that may wait
}

// Errors of a [Source], wrapped.
var (
	ErrUnknown     = errors.New("unknown TTSDeployment")
	ErrNotExternal = errors.New("the TTSDeployment is not scaled by others")
)

// Source knows fleets. It is safe for concurrent use.
type Source interface {
	// Load returns what a fleet has to do. The channel is closed when whether it is active, or what it aims at, has
	// changed, or Load would return another error.
	Load(namespace, name string) (Load, <-chan struct{}, error)
}

// trigger is what one of a ScaledObject asks for.
type trigger struct {
	namespace, name string
	metric          string
}

// triggerOf parses the metadata of a trigger. Unknown metadata is for KEDA itself.
func triggerOf(ref *wire.ScaledObjectRef) (trigger, error) {
	t := trigger{namespace: ref.GetNamespace(), name: ref.GetName(), metric: DemandSlots}
	if name, ok := ref.GetScalerMetadata()[metaName]; ok {
		t.name = name
	}
	if metric, ok := ref.GetScalerMetadata()[metaMetric]; ok {
		t.metric = metric
	}
	if t.namespace == "" || t.name == "" {
		return t, status.Errorf(codes.InvalidArgument, "no TTSDeployment is named: give %s in the metadata", metaName)
	}
	return t, checkMetric(t.metric)
}

func checkMetric(metric string) error {
	if metric == DemandSlots || metric == QueueDepth {
		return nil
	}
	return status.Errorf(codes.InvalidArgument, "there is no metric %.60q: take %s or %s", metric, DemandSlots,
		QueueDepth)
}

// load returns what the fleet of a trigger has to do.
func (t trigger) load(s Source) (Load, <-chan struct{}, error) {
	l, changed, err := s.Load(t.namespace, t.name)
	switch {
	case errors.Is(err, ErrUnknown):
		return l, nil,
			status.Errorf(codes.NotFound, "no TTSDeployment %.60q in the namespace %.60q is looked after: check "+
				"%s, that it is not paused, and that the operator looks after the namespace", t.name, t.namespace, metaName)
	case errors.Is(err, ErrNotExternal):
		return l, nil,
			status.Errorf(codes.FailedPrecondition, "the TTSDeployment %s/%s is not scaled by others: set its "+
				"spec.scaling.mode to External", t.namespace, t.name)
	case err != nil:
		return l, nil, status.Error(codes.Internal, err.Error())
	}
	return l, changed, nil
}

// knownLoad returns the load, if routers have reported it.
func (t trigger) knownLoad(s Source) (Load, error) {
	l, _, err := t.load(s)
	if err == nil && !l.Known {
		err = status.Errorf(codes.Unavailable, "no recent report from the routers of TTSDeployment %s/%s: check its "+
			"pods, and in the operator's log", t.namespace, t.name)
	}
	return l, err
}

// spec is what KEDA is to aim at.
func (t trigger) spec(l Load) *wire.GetMetricSpecResponse {
	target := l.DemandTarget
	if t.metric == QueueDepth {
		target = float64(l.QueueTarget)
	}
	return &wire.GetMetricSpecResponse{MetricSpecs: []*wire.MetricSpec{
		{MetricName: t.metric, TargetSize: int64(math.Ceil(target)), TargetSizeFloat: target},
	}}
}

// valueOf is the present value of a metric.
func valueOf(metric string, l Load) *wire.GetMetricsResponse {
	value := l.Demand
	if metric == QueueDepth {
		value = float64(l.QueueDepth)
	}
	return &wire.GetMetricsResponse{MetricValues: []*wire.MetricValue{
		{MetricName: metric, MetricValue: int64(math.Ceil(value)), MetricValueFloat: value},
	}}
}

package externalmetrics

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/metrics/pkg/apis/external_metrics/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// APIService is the object that says who serves external metrics, one for each cluster.
var APIService = v1beta1.SchemeGroupVersion.Version + "." + v1beta1.SchemeGroupVersion.Group

const (
	registrationOwner = "swar-operator-metrics" // field manager

	// registrationEvery is how soon a changed registration is repaired. Until then the API is unreachable.
	registrationEvery = 10 * time.Second
)

var apiServiceKind = schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}

// ConflictError reports that another server owns the API.
type ConflictError struct {
	By string // Service, as NAMESPACE/NAME
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("the APIService %s belongs to %s, and a cluster has one server of external metrics: scale by that "+
		"one, such as by KEDA with the operator as its external scaler (docs/autoscaling.md), and set "+
		"operator.externalMetrics.enabled to false; or remove the other one first", APIService, e.By)
}

// Registration keeps the APIService of this server up to date. It names the CA by which the API server verifies this
// one.
type Registration struct {
	Client             client.Client
	Namespace, Service string // by which the API server calls us
	Trust              func(context.Context) ([]byte, error)
	Log                *slog.Logger
}

// Keep repairs the APIService until ctx ends. It returns a [ConflictError] when that is another server's, and changes
// nothing of it.
func (r *Registration) Keep(ctx context.Context) error {
	said := ""
	for {
		err := r.ensure(ctx)
		if taken, ok := errors.AsType[*ConflictError](err); ok {
			return taken
		}
		if err != nil && ctx.Err() == nil && err.Error() != said {
			r.Log.Error("the APIService is not as it must be; trying again", "error", err)
		}
		said = ""
		if err != nil {
			said = err.Error()
		}
		select {
		case <-time.After(registrationEvery):
		case <-ctx.Done():
			return nil
		}
	}
}

func (r *Registration) ensure(ctx context.Context) error {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(apiServiceKind)
	err := r.Client.Get(ctx, client.ObjectKey{Name: APIService}, live)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("there is no APIService %s: the chart makes one, and so does config/external-metrics",
			APIService)
	case err != nil:
		return fmt.Errorf("reading the APIService %s: %w", APIService, err)
	}
	namespace, _, _ := unstructured.NestedString(live.Object, "spec", "service", "namespace")
	name, isRemote, _ := unstructured.NestedString(live.Object, "spec", "service", "name")
	switch {
	case !isRemote:
		return &ConflictError{"the API server itself"}
	case namespace != r.Namespace || name != r.Service:
		return &ConflictError{"the Service " + namespace + "/" + name}
	}
	trust, err := r.Trust(ctx)
	if err != nil {
		return err
	}
	text, _, _ := unstructured.NestedString(live.Object, "spec", "caBundle")
	if bundle, err := base64.StdEncoding.DecodeString(text); err == nil && bytes.Equal(bundle, trust) {
		return nil
	}
	return r.apply(ctx, live.GetResourceVersion(), trust)
}

// apply writes the authority into the APIService that was looked at; where it has changed since, nothing is written.
func (r *Registration) apply(ctx context.Context, version string, trust []byte) error {
	wanted := &unstructured.Unstructured{}
	wanted.SetGroupVersionKind(apiServiceKind)
	wanted.SetName(APIService)
	wanted.SetResourceVersion(version)
	spec := map[string]any{"caBundle": base64.StdEncoding.EncodeToString(trust)}
	if err := unstructured.SetNestedMap(wanted.Object, spec, "spec"); err != nil {
		return err
	}
	err := r.Client.Apply(
		ctx, client.ApplyConfigurationFromUnstructured(wanted), client.FieldOwner(registrationOwner),
		client.ForceOwnership,
	)
	if err != nil {
		return fmt.Errorf("writing the authority into the APIService %s: %w", APIService, err)
	}
	r.Log.Info("the API server knows this server by the operator's authority", "apiservice", APIService)
	return nil
}

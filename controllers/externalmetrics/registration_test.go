package externalmetrics_test

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/swar-tts/swar/controllers/externalmetrics"
)

// TestWhatIsAnothersIsLeft as it is, and the error says whose it is. cmd/operator has the rest, with an API server.
func TestWhatIsAnothersIsLeft(t *testing.T) {
	for name, tt := range map[string]struct{ service, by string }{
		"of another name":       {"{namespace: swar-system, name: prometheus-adapter}", "the Service swar-system/prometheus-adapter"},
		"of another namespace":  {"{namespace: other, name: swar-metrics}", "the Service other/swar-metrics"},
		"of the API server":     {"null", "the API server itself"},
		"of a name that begins": {"{namespace: swar-system, name: swar-metrics-2}", "the Service swar-system/swar-metrics-2"},
	} {
		o := &unstructured.Unstructured{}
		text := "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: " +
			externalmetrics.APIService +
			"}, spec: {group: external.metrics.k8s.io, version: v1beta1, service: " + tt.service + "}}"
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		c := fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(o).Build()
		r := &externalmetrics.Registration{
			Client: c, Namespace: "swar-system", Service: "swar-metrics", Log: quiet,
			Trust: func(context.Context) ([]byte, error) { return []byte("authority"), nil },
		}
		err := r.Keep(t.Context())
		if taken, ok := errors.AsType[*externalmetrics.ConflictError](err); !ok || taken.By != tt.by {
			t.Errorf("one %s: got %v, want that it belongs to %s", name, err, tt.by)
		}
		live := o.DeepCopy()
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), live); err != nil {
			t.Fatal(err)
		}
		if _, isWritten, _ := unstructured.NestedString(live.Object, "spec", "caBundle"); isWritten {
			t.Errorf("one %s: it was written into", name)
		}
	}
}

package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers"
	"github.com/swar-tts/swar/controllers/metrics"
	"github.com/swar-tts/swar/controllers/monitoring"
	"github.com/swar-tts/swar/controllers/resources"
)

const monitorDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {kind: KIND, plural: PLURAL, singular: SINGULAR}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: SPEC}}}
`

// specs are what the Prometheus operator takes, as far as there is a way to get it wrong.
var specs = map[string]string{
	"PodMonitor": `{type: object, required: [selector], properties: {
		selector: {type: object, x-kubernetes-preserve-unknown-fields: true},
		podTargetLabels: {type: array, items: {type: string}},
		podMetricsEndpoints: {type: array, items: {type: object, properties: {
			port: {type: string}, path: {type: string}, interval: {type: string, pattern: "^[0-9]+s$"}}}}}}`,
	"PrometheusRule": `{type: object, properties: {groups: {type: array, items: {
		type: object, required: [name], properties: {
			name: {type: string, minLength: 1},
			rules: {type: array, minItems: 1, items: {type: object, required: [expr], properties: {
				alert: {type: string}, expr: {type: string}, for: {type: string, pattern: "^[0-9]+[sm]$"},
				labels: {type: object, additionalProperties: {type: string}},
				annotations: {type: object, additionalProperties: {type: string}}}}}}}}}}`,
}

// define has the cluster know the kinds of the Prometheus operator while a test runs.
func define(t *testing.T, c client.Client, kinds ...string) {
	t.Helper()
	for _, kind := range kinds {
		singular := strings.ToLower(kind)
		names := strings.NewReplacer("KIND", kind, "PLURAL", singular+"s", "SINGULAR", singular, "SPEC",
			strings.Join(strings.Fields(specs[kind]), " "))
		u := parse(t, "", names.Replace(monitorDefinition))
		create(t, c, u)
		t.Cleanup(func() {
			if err := c.Delete(context.Background(), u); err != nil {
				t.Error(err)
			}
		})
		eventually(t, kind+" is known", 30*time.Second, func(ctx context.Context) string {
			list := &unstructured.UnstructuredList{}
			list.SetAPIVersion(resources.MonitorsVersion)
			list.SetKind(kind + "List")
			if err := c.List(ctx, list); err != nil {
				return err.Error()
			}
			return ""
		})
	}
}

func monitor(kind string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(resources.MonitorsVersion)
	u.SetKind(kind)
	return u
}

func TestMonitorsWhereTheClusterKnowsThem(t *testing.T) {
	c, namespace := open(t)
	define(t, c, "PodMonitor", "PrometheusRule")
	texts := monitoring.New(monitoring.DefaultRunbooks)
	release := resources.Release{Rules: texts.Rules, Dashboard: texts.Dashboard}
	o := startOperator(t, namespace, controllers.Config{Release: release})
	create(t, c, fleetWith(t, namespace, "hinglish",
		`{observability: {podMonitor: Enabled, prometheusRule: Enabled, dashboard: Enabled}}`))
	at := types.NamespacedName{Namespace: namespace, Name: "hinglish"}
	for _, kind := range []string{"PodMonitor", "PrometheusRule"} {
		eventually(t, "there is a "+kind, 30*time.Second, func(ctx context.Context) string {
			if err := c.Get(ctx, at, monitor(kind)); err != nil {
				return err.Error()
			}
			return ""
		})
	}
	o.idle(t)
	f := &v1alpha1.TTSDeployment{}
	if err := c.Get(t.Context(), at, f); err != nil {
		t.Fatal(err)
	}
	compareRules(t, c, f, texts)
	compareDashboard(t, c, f, texts)
	before := f.DeepCopy()
	f.Spec.Observability.PrometheusRule = v1alpha1.Disabled
	if err := c.Patch(t.Context(), f, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the rules are gone", 30*time.Second, func(ctx context.Context) string {
		if err := c.Get(ctx, at, monitor("PrometheusRule")); !apierrors.IsNotFound(err) {
			return fmt.Sprint(err)
		}
		return ""
	})
	if err := c.Get(t.Context(), at, monitor("PodMonitor")); err != nil {
		t.Error(err)
	}
}

// compareRules has nothing dropped or changed by the API server, whose schema takes known fields only.
func compareRules(t *testing.T, c client.Client, f *v1alpha1.TTSDeployment, texts *monitoring.Templates) {
	t.Helper()
	u := monitor("PrometheusRule")
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(f), u); err != nil {
		t.Fatal(err)
	}
	want := texts.Rules(f)
	if got := u.Object["spec"]; !equality.Semantic.DeepEqual(got, any(want)) {
		t.Errorf("the rules are %v, want %v", got, want)
	}
	groups := want["groups"].([]any)
	if alerts := groups[0].(map[string]any)["rules"].([]any); len(alerts) < 10 {
		t.Errorf("got %d alerts, want them all", len(alerts))
	}
}

// compareDashboard has Grafana's sidecar find the dashboard.
func compareDashboard(t *testing.T, c client.Client, f *v1alpha1.TTSDeployment, texts *monitoring.Templates) {
	t.Helper()
	m := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: f.Namespace, Name: "hinglish-dashboard"},
		m); err != nil {
		t.Fatal(err)
	}
	file := f.Namespace + "-hinglish.json"
	if m.Labels["grafana_dashboard"] != "1" || len(m.Data) != 1 || m.Data[file] != texts.Dashboard(f) {
		t.Errorf("the ConfigMap has the labels %v and %d files, not %s alone", m.Labels, len(m.Data), file)
	}
}

func TestFleetsAreTold(t *testing.T) {
	c, namespace := open(t)
	told := metrics.New(time.Now)
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(told); err != nil {
		t.Fatal(err)
	}
	startOperator(t, namespace, controllers.Config{Metrics: told})
	fleet := fleetWith(t, namespace, "hinglish", `{scaling: {minReplicas: 2, maxReplicas: 4}}`)
	create(t, c, fleet)
	names := func() (all []string) {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			all = append(all, f.GetName())
			if f.GetName() == "ttsd_desired_replicas" && f.Metric[0].GetGauge().GetValue() != 2 {
				t.Errorf("got %v, want two pods", f.Metric)
			}
		}
		return all
	}
	eventually(t, "everything is told", 30*time.Second, func(context.Context) string {
		got := names()
		for _, want := range []string{
			"ttsd_demand_slots", "ttsd_queue_depth", "ttsd_desired_replicas", "ttsd_routers", "ttsd_scale_decisions_total", "ttsd_condition",
			"ttsd_cert_expiry_seconds",
		} {
			if !slices.Contains(got, want) {
				return fmt.Sprintf("there are %v, and not %s", got, want)
			}
		}
		return ""
	})
	if err := c.Delete(t.Context(), fleet); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nothing is told of what is gone", 30*time.Second, func(context.Context) string {
		if got := names(); len(got) > 0 {
			return fmt.Sprint(got)
		}
		return ""
	})
}

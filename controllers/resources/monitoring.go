package resources

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/runtime/contract"
)

// MonitorsVersion is that of the Prometheus operator's kinds.
const MonitorsVersion = "monitoring.coreos.com/v1"

// monitoring returns the monitoring objects of the fleet that the spec enables and whose kinds the cluster has.
func monitoring(r Release, d *v1alpha1.TTSDeployment) (objects []Object) {
	o := d.Spec.Observability
	if o.PodMonitor == v1alpha1.Enabled && r.Kinds.PodMonitor {
		objects = append(objects, ofPrometheus(d, "PodMonitor", podMonitor(d)))
	}
	if o.PrometheusRule == v1alpha1.Enabled && r.Kinds.PrometheusRule && r.Rules != nil {
		objects = append(objects, ofPrometheus(d, "PrometheusRule", r.Rules(d)))
	}
	if o.Dashboard == v1alpha1.Enabled && r.Dashboard != nil {
		objects = append(objects, dashboard(d, r.Dashboard(d)))
	}
	return objects
}

// podMonitor has all pods of the fleet asked for their metrics.
func podMonitor(d *v1alpha1.TTSDeployment) map[string]any {
	return map[string]any{
		"selector":            map[string]any{"matchLabels": map[string]any{LabelName: Name, LabelInstance: d.Name}},
		"podTargetLabels":     []any{LabelInstance, LabelComponent},
		"podMetricsEndpoints": []any{map[string]any{"port": portProbe, "path": contract.Metrics, "interval": "15s"}},
	}
}

func ofPrometheus(d *v1alpha1.TTSDeployment, kind string, spec map[string]any) Object {
	m := meta(d, FrontName(d), "")
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": MonitorsVersion, "kind": kind, "spec": spec}}
	u.SetName(m.Name)
	u.SetNamespace(m.Namespace)
	u.SetLabels(m.Labels)
	u.SetOwnerReferences(m.OwnerReferences)
	return u
}

// dashboard is found by Grafana's sidecar.
func dashboard(d *v1alpha1.TTSDeployment, text string) Object {
	c := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: meta(d, DashboardName(d), ""),
		Data:       map[string]string{d.Namespace + "-" + d.Name + ".json": text},
	}
	c.Labels["grafana_dashboard"] = "1"
	return c
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const configHead = "# Written by go generate ./hack/chart, from what the templates of charts/swar give.\n"

// bases say which object of a rendered chart goes where below config. Those of another case than default are of an
// operator that looks after all namespaces.
var bases = []struct {
	rendered string // file in testdata
	kind     string
	name     string
	file     string
}{
	{"default", "ServiceAccount", "swar-operator", "rbac/service_account.yaml"},
	{"default", "Role", "swar-operator-own", "rbac/own_role.yaml"},
	{"default", "RoleBinding", "swar-operator-own", "rbac/own_role_binding.yaml"},
	{"default", "Role", "swar-operator", "rbac/namespaced/role.yaml"},
	{"default", "RoleBinding", "swar-operator", "rbac/namespaced/role_binding.yaml"},
	{"config", "ClusterRole", "swar-operator", "rbac/cluster/role.yaml"},
	{"config", "ClusterRoleBinding", "swar-operator", "rbac/cluster/role_binding.yaml"},
	{"config", "ClusterRole", "swar-operator-metrics-auth", "rbac/cluster/metrics_auth_role.yaml"},
	{"config", "ClusterRoleBinding", "swar-operator-metrics-auth", "rbac/cluster/metrics_auth_role_binding.yaml"},
	{"config", "ClusterRole", "swar-operator-metrics-reader", "rbac/cluster/metrics_reader_role.yaml"},
	{"config", "ClusterRole", "swar-ttsdeployment-editor", "rbac/cluster/ttsdeployment_editor_role.yaml"},
	{"config", "ClusterRole", "swar-ttsdeployment-viewer", "rbac/cluster/ttsdeployment_viewer_role.yaml"},
	{"default", "Deployment", "swar-operator", "manager/manager.yaml"},
	{"default", "Service", "swar-operator-metrics", "manager/metrics_service.yaml"},
	{"default", "Service", "swar-operator", "manager/scaler_service.yaml"},
	{"default", "PodDisruptionBudget", "swar-operator", "manager/pod_disruption_budget.yaml"},
	{"default", "NetworkPolicy", "swar-operator", "network-policy/operator.yaml"},
	{"default", "NetworkPolicy", "swar-portal", "network-policy/portal.yaml"},
	{"default", "ServiceAccount", "swar-portal", "portal/service_account.yaml"},
	{"default", "PersistentVolumeClaim", "swar-portal", "portal/volume_claim.yaml"},
	{"default", "Service", "swar-portal", "portal/service.yaml"},
	{"default", "Deployment", "swar-portal", "portal/portal.yaml"},
	{"config", "ServiceMonitor", "swar-operator", "prometheus/operator.yaml"},
	{"config", "ServiceMonitor", "swar-portal", "prometheus/portal.yaml"},
	{"external-metrics", "Deployment", "swar-metrics", "external-metrics/deployment.yaml"},
	{"external-metrics", "Service", "swar-metrics", "external-metrics/service.yaml"},
	{"external-metrics", "APIService", "v1beta1.external.metrics.k8s.io", "external-metrics/api_service.yaml"},
	{"external-metrics", "PodDisruptionBudget", "swar-metrics", "external-metrics/pod_disruption_budget.yaml"},
	{"external-metrics", "NetworkPolicy", "swar-metrics", "external-metrics/network_policy.yaml"},
	{"external-metrics", "ServiceAccount", "swar-metrics", "external-metrics/service_account.yaml"},
	{"external-metrics", "Role", "swar-metrics", "external-metrics/role.yaml"},
	{"external-metrics", "RoleBinding", "swar-metrics", "external-metrics/role_binding.yaml"},
	{"external-metrics", "RoleBinding", "swar-system-swar-metrics", "external-metrics/authentication_reader.yaml"},
	{"external-metrics", "ClusterRole", "swar-metrics", "external-metrics/cluster_role.yaml"},
	{"external-metrics", "ClusterRoleBinding", "swar-metrics", "external-metrics/cluster_role_binding.yaml"},
}

// ofHelm are lines that only a release of Helm has.
var ofHelm = regexp.MustCompile(
	`(?m)^(# Source: .*| *app\.kubernetes\.io/managed-by: Helm| *helm\.sh/chart: .*|  annotations:\n    helm\.sh/resource-policy: keep)\n`)

// configOf returns the objects of config, by their names below root.
func configOf(root string) (map[string][]byte, error) {
	objects := map[string]string{} // by the case, kind and name
	for _, rendered := range []string{"default", "config", "external-metrics"} {
		text, err := os.ReadFile(filepath.Join(root, "hack/chart/testdata", rendered+".yaml"))
		if err != nil {
			return nil, err
		}
		for part := range strings.SplitSeq(string(text), "---\n") {
			part = strings.TrimSpace(ofHelm.ReplaceAllString(part, ""))
			kind, name := field(part, "kind: "), field(part, "  name: ")
			objects[rendered+" "+kind+" "+name] = part + "\n"
		}
	}
	files := map[string][]byte{}
	for _, b := range bases {
		object, ok := objects[b.rendered+" "+b.kind+" "+b.name]
		if !ok {
			return nil, fmt.Errorf("the case %s has no %s %s, which config/%s is made of", b.rendered, b.kind,
				b.name, b.file)
		}
		files["config/"+b.file] = []byte(configHead + object)
	}
	return files, nil
}

// field returns what follows a prefix in the first line that has it.
func field(object, prefix string) string {
	_, after, _ := strings.Cut("\n"+object, "\n"+prefix)
	value, _, _ := strings.Cut(after, "\n")
	return value
}

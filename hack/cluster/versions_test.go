package cluster

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// find returns what the group of an expression matches in a file of the repository.
func find(t *testing.T, file, expression string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(expression).FindStringSubmatch(string(text))
	if found == nil {
		t.Fatalf("%s has nothing like %s", file, expression)
	}
	return found[1]
}

// TestVersions: what is tested is what is promised, by the chart and by the documentation.
func TestVersions(t *testing.T) {
	promised := find(t, "charts/swar/Chart.yaml", `kubeVersion: ">=(1\.\d+)\.0-0"`)
	oldest := find(t, "hack/cluster/k8s-oldest/go.mod", `k8s\.io/kubernetes v(1\.\d+)\.`)
	newest := find(t, "hack/cluster/k8s/go.mod", `k8s\.io/kubernetes v(1\.\d+)\.`)
	if oldest != promised {
		t.Errorf("the oldest API server is %s, and the chart promises %s", oldest, promised)
	}
	page := strings.ReplaceAll(find(t, "docs/kubernetes.md", `(?s)^# Kubernetes\n\n(.*?)\n\n`), "\n", " ")
	for _, sentence := range []string{"Kubernetes " + oldest + " and later",
		"API servers of " + oldest + " and " + newest} {
		if !strings.Contains(page, sentence) {
			t.Errorf("docs/kubernetes.md does not say %q: %s", sentence, page)
		}
	}
	find(t, "CONTRIBUTING.md", `make test-oldest.*promised \((`+regexp.QuoteMeta(oldest)+`),`)
}

//go:build e2ecluster

package e2ecluster

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// idleRights are those of the operator that no step of the release needs, and why it has them all the same. A right is
// VERB GROUP/RESOURCE, or VERB GROUP/RESOURCE NAME; here * stands for every verb.
var idleRights = map[string]string{
	"update swar.dev/ttsdeployments/finalizers":        "to own objects where OwnerReferencesPermissionEnforcement is on",
	"* discovery.k8s.io/endpointslices":                "nobody can give routers a right that they have not",
	"create authentication.k8s.io/tokenreviews":        "for those who read its metrics, and nobody does here",
	"create authorization.k8s.io/subjectaccessreviews": "for those who read its metrics, and nobody does here",
	"* monitoring.coreos.com/podmonitors":              "the cluster does not know the kind",
	"* monitoring.coreos.com/prometheusrules":          "the cluster does not know the kind",
	"* /configmaps":                            "the fleet has no dashboard",
	"* apps/statefulsets":                      "the fleet has no usageVolume",
	"delete networking.k8s.io/networkpolicies": "the fleet keeps its network policies",
	"patch events.k8s.io/events":               "only of what happens again within minutes",
	"patch /events":                            "only of what happens again within minutes",
	"patch /secrets swar-operator-ca":          "the next authority is announced after years",
}

// rights holds what the operator did since the release was installed against what the chart's roles allow, both ways.
// The API server has noted each of its requests.
func rights(t *testing.T, l *life) {
	var roles []granted
	for _, kind := range []string{"roles", "clusterroles"} {
		var list struct{ Items []granted }
		text := kubectl(t, "get", kind, "-l", "app.kubernetes.io/component=operator", "-o", "json")
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err)
		}
		roles = append(roles, list.Items...)
	}
	files, err := filepath.Glob(filepath.Join(os.TempDir(), os.Getenv("SWAR_CLUSTER")+"-cluster", "node-1", "log",
		"audit*.log"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no audit log of the API server: %v", err)
	}
	var logs []io.Reader
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		logs = append(logs, file)
	}
	problems, err := compareRights(io.MultiReader(logs...), l.begun,
		"system:serviceaccount:"+namespace+":swar-operator", roles, idleRights)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Error(problem)
	}
}

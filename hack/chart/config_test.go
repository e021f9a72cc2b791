package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// build runs kustomize.
func build(t *testing.T, folder string) []object {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), tool(t, "kustomize"), "build", "../../config/"+folder).Output()
	if err != nil {
		t.Fatalf("kustomize build config/%s: %v", folder, err)
	}
	return parse(t, string(out))
}

// plain returns objects as text, in order, without what only one of the two ways to install has.
func plain(t *testing.T, objects []object) (all []string) {
	t.Helper()
	for _, o := range objects {
		switch o.kind() {
		case "Namespace", "Pod", "CustomResourceDefinition":
			// Helm makes the first, tests with the second; the third is compared elsewhere
			continue
		}
		delete(o.at("metadata", "labels"), "app.kubernetes.io/managed-by")
		delete(o.at("metadata", "labels"), "helm.sh/chart")
		delete(o.annotations(), "helm.sh/resource-policy")
		if len(o.annotations()) == 0 {
			delete(o.metadata(), "annotations")
		}
		all = append(all, o.text(t))
	}
	slices.Sort(all)
	return all
}

// TestConfigIsTheChart: kustomize gives what Helm gives.
func TestConfigIsTheChart(t *testing.T) {
	if *update {
		t.Skip("config is written after what it follows from")
	}
	for name, tt := range map[string]struct {
		folders []string
		golden  string
	}{
		"a namespace":               {[]string{"default"}, "default"},
		"the cluster, and monitors": {[]string{"cluster", "prometheus"}, "config"},
		"external metrics":          {[]string{"default", "external-metrics"}, "external-metrics"},
	} {
		var built []object
		for _, folder := range tt.folders {
			built = append(built, build(t, folder)...)
		}
		got, want := plain(t, built), plain(t, goldens(t)[tt.golden])
		for _, o := range got {
			if !slices.Contains(want, o) {
				t.Errorf("%s: kustomize gives, and Helm does not:\n%s", name, o)
			}
		}
		for _, o := range want {
			if !slices.Contains(got, o) {
				t.Errorf("%s: Helm gives, and kustomize does not:\n%s", name, o)
			}
		}
		if !slices.ContainsFunc(built, func(o object) bool { return o.kind() == "CustomResourceDefinition" }) {
			t.Errorf("%s: without the definition of TTSDeployment", name)
		}
	}
}

// TestConfigLeavesNothingOut: every file of config/ that is generated is part of what kustomize builds.
func TestConfigLeavesNothingOut(t *testing.T) {
	files, err := configOf("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name := range files {
		folder := name[:strings.LastIndex(name, "/")]
		listed := read(t, folder+"/kustomization.yaml")
		if !strings.Contains(listed, "\n  - "+name[len(folder)+1:]+"\n") {
			t.Errorf("%s is not in %s/kustomization.yaml", name, folder)
		}
	}
}

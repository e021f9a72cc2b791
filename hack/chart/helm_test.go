package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the templates give")

// Where the release of tests goes.
const (
	releaseName      = "swar"
	releaseNamespace = "swar-system"
)

// tool returns the path of a program that is built by a target of make, and skips the test where it is missing.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../.cache/bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if os.Getenv("SWAR_TEST_CHART") != "" {
		t.Fatalf("there is no %s: run make %s", path, name)
	}
	t.Skipf("SKIPPED, so that the chart was not tried: there is no %s; run make chart", path)
	return ""
}

// helm runs Helm, without what its user has set.
func helm(t *testing.T, args ...string) (out, said string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), tool(t, "helm"), args...)
	home := t.TempDir()
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "KUBECONFIG=" + filepath.Join(home, "none")}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}

// render returns the objects of a release with some values. Images come from where nodes have loaded them, unless
// values say otherwise.
func render(t *testing.T, args ...string) (out, said string, err error) {
	t.Helper()
	args = append([]string{"--values", "../../" + chart + "/ci/default-values.yaml"}, args...)
	return helm(t, append([]string{"template", releaseName, "../../" + chart, "--namespace", releaseNamespace},
		args...)...)
}

// cases are the files of values that are rendered, by their names.
func cases(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../" + chart + "/ci/*-values.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files of values, %v", len(files), err)
	}
	all := map[string]string{}
	for _, f := range files {
		all[strings.TrimSuffix(filepath.Base(f), "-values.yaml")] = f
	}
	return all
}

// TestTemplates compares what the templates give with testdata, which `go test -update` writes. The definition of
// TTSDeployment is left out, which another test compares.
func TestTemplates(t *testing.T) {
	for name, values := range cases(t) {
		t.Run(name, func(t *testing.T) {
			got, said, err := render(t, "--values", values, "--set", "crds.enabled=false")
			if err != nil || said != "" {
				t.Fatalf("%v\n%s", err, said)
			}
			again, _, err := render(t, "--values", values, "--set", "crds.enabled=false")
			if err != nil || again != got {
				t.Errorf("rendered again it is something else, %v", err)
			}
			golden := filepath.Join("testdata", name+".yaml")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil || string(want) != got {
				t.Errorf("it is something else than %s (%v); if that is meant, run go test ./hack/chart -update",
					golden, err)
			}
		})
	}
}

func TestLint(t *testing.T) {
	for name, values := range cases(t) {
		if out, said, err := helm(t, "lint", "../../"+chart, "--strict", "--values", values); err != nil {
			t.Errorf("%s: %v\n%s%s", name, err, out, said)
		}
	}
}

// TestTheDefinitionIsThatOfTheAPI, and stays when a release goes, unless it is not to.
func TestTheDefinitionIsThatOfTheAPI(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		keep string
	}{
		"kept":     {nil, "keep"},
		"not kept": {[]string{"--set", "crds.keep=false"}, ""},
	} {
		out, said, err := render(t, append(tt.args, "--show-only", "templates/crds.yaml")...)
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		got := parse(t, out)[0]
		if policy := got.annotations()["helm.sh/resource-policy"]; policy != any(tt.keep) &&
			(policy != nil || tt.keep != "") {
			t.Errorf("%s: its policy is %v", name, policy)
		}
		delete(got.annotations(), "helm.sh/resource-policy")
		delete(got.metadata(), "labels")
		text, err := os.ReadFile("../../" + definition)
		if err != nil {
			t.Fatal(err)
		}
		if want := parse(t, string(text))[0]; got.text(t) != want.text(t) {
			t.Errorf("%s: it is another definition than %s; run go generate ./hack/chart", name, definition)
		}
	}
}

// TestReleasesWhoseNameNoServiceCanHave are refused, unless objects get another name.
func TestReleasesWhoseNameNoServiceCanHave(t *testing.T) {
	args := []string{"template", "24x7", "../../" + chart, "--values", "../../" + chart + "/ci/default-values.yaml"}
	if _, said, err := helm(t, args...); err == nil || !strings.Contains(said, "choose another name for the release") {
		t.Errorf("%v\n%s", err, said)
	}
	if _, said, err := helm(t, append(args, "--set", "fullnameOverride=speech")...); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestValuesThatAreRefused, and with which words.
func TestValuesThatAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		set  string // values, as --set-json takes them
		want string // empty: they are accepted
	}{
		"a name that there is not":              {`operator.replica=3`, "replica"},
		"a name at the top":                     {`replicas=3`, "replicas"},
		"what a parent chart shares":            {`global={"a":"b"}`, ""},
		"a text in place of a number":           {`operator.replicas="3"`, "operator"},
		"no operator":                           {`operator.replicas=0`, "operator"},
		"nine of them":                          {`operator.replicas=9`, ""},
		"ten of them":                           {`operator.replicas=10`, "operator"},
		"the tag latest":                        {`images.worker.tag="latest"`, "tag"},
		"no registry":                           {`images.registry=""`, "set images.registry=localhost/swar, or push them to your registry and set that"},
		"a registry of its own for one image":   {`images={"registry":"","worker":{"repository":"ghcr.example.org/acme/worker"}}`, "images.registry is missing"},
		"a registry of its own for each image":  {`images={"registry":"","operator":{"repository":"localhost/o"},"worker":{"repository":"r.example.org/w"},"router":{"repository":"r:5000/r"},"portal":{"repository":"r.example.org/p"}}`, ""},
		"a registry with a port, and a folder":  {`images.registry="registry.example.org:5000/mirror/of__swar/"`, ""},
		"a registry that is an address":         {`images.registry="https://registry.example.org/"`, "registry"},
		"an image without a name":               {`images.worker.repository=""`, "repository"},
		"a label of the chart's own":            {`commonLabels={"app.kubernetes.io/instance":"x"}`, "commonLabels must not have app.kubernetes.io/instance"},
		"a label of its pods' own":              {`operator.podLabels={"app.kubernetes.io/name":"x"}`, "operator.podLabels must not have"},
		"a label of the portal's own":           {`portal.podLabels={"app.kubernetes.io/name":"x"}`, "portal.podLabels must not have"},
		"labels of others":                      {`portal.podLabels={"example.org/name":"x"}`, ""},
		"an account without a name":             {`operator.serviceAccount.create=false`, "operator.serviceAccount.name is missing"},
		"an account of somebody else":           {`operator.serviceAccount={"create":false,"name":"theirs"}`, ""},
		"a fleet of no portal":                  {`fleet.enabled=true,portal.enabled=false`, "fleet.spec.access is missing"},
		"an open fleet of no portal":            {`fleet={"enabled":true,"spec":{"access":{"mode":"Open"}}},portal.enabled=false`, ""},
		"a fleet of another portal":             {`fleet={"enabled":true,"spec":{"access":{"secretName":"theirs"}}},portal.enabled=false`, ""},
		"a release that no Service can have":    {`fullnameOverride="24x7"`, "fullnameOverride"},
		"a fleet that no Service can have":      {`fleet.name="24x7"`, "name"},
		"a fleet with a dot":                    {`fleet.name="a.b"`, "name"},
		"a fleet of one letter":                 {`fleet.name="a"`, ""},
		"a digest that is none":                 {`images.worker.digest="sha256:12"`, "digest"},
		"another scope":                         {`operator.scope="Everything"`, "scope"},
		"namespaces of a cluster":               {`operator={"scope":"Cluster","namespaces":["a"]}`, "operator.namespaces is for operator.scope Namespaced"},
		"a namespace that cannot be":            {`operator.namespaces=["Shop"]`, "namespaces"},
		"asking who reads, without permission":  {`operator.metrics.access="Authenticated"`, "take Open or Off, or operator.scope Cluster"},
		"external metrics of nobody":            {`operator={"externalMetrics":{"enabled":true},"scaler":{"enabled":false}}`, "set operator.scaler.enabled to true"},
		"no server of external metrics":         {`operator.externalMetrics.replicas=0`, "externalMetrics"},
		"nine of them, too":                     {`operator.externalMetrics={"enabled":true,"replicas":9}`, ""},
		"ten of them, too":                      {`operator.externalMetrics.replicas=10`, "externalMetrics"},
		"Firestore without a project":           {`portal.store.kind="firestore"`, "portal.store.firestore.project is missing"},
		"mails without a sender":                {`portal.smtp.server="mail.example.org"`, "portal.smtp.from is missing"},
		"domains for everybody":                 {`portal.signIn.domains=["example.org"]`, "invitedOnly"},
		"no voices":                             {`portal.voices=[]`, "voices"},
		"no model":                              {`portal.modelId=""`, "modelId"},
		"an address without a scheme":           {`portal.publicURL="tts.example.org"`, "publicURL"},
		"a route without a gateway":             {`httpRoute.enabled=true`, "httpRoute.parentRefs is empty"},
		"a fleet's name of 40 characters":       {`fleet.name="` + strings.Repeat("n", 40) + `"`, ""},
		"a fleet's name of 41":                  {`fleet.name="` + strings.Repeat("n", 41) + `"`, "name"},
		"a mail more than the portal can count": {`portal.signIn.mailsPerHour=20001`, "mailsPerHour"},
		"as many mails as it can":               {`portal.signIn.mailsPerHour=20000`, ""},
		"a text that looks like YAML":           {`tests.text="- a: \"b\" {{ .Values }}\n..."`, ""},
	} {
		_, said, err := render(t, "--set-json", tt.set)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %s", name, said)
		case tt.want != "" && (err == nil || !strings.Contains(said, tt.want)):
			t.Errorf("%s: it says %q, %v, want something with %q", name, said, err, tt.want)
		}
	}
}

// TestExtraObjects are rendered as they are, with templates filled in.
func TestExtraObjects(t *testing.T) {
	values := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(values, []byte(`extraObjects:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ .Release.Name }}-ours"}, data: {a: b}}
  - {apiVersion: example.org/v1, kind: ExternalSecret, metadata: {name: smtp}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	bare, _, err := render(t)
	if err != nil {
		t.Fatal(err)
	}
	out, said, err := render(t, "--values", values)
	if err != nil || said != "" {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, want := range []string{releaseName + "-ours", "kind: ExternalSecret"} {
		if !strings.Contains(out, want) || strings.Contains(bare, want) {
			t.Errorf("%q is in the release: %v; without the values: %v", want, strings.Contains(out, want),
				strings.Contains(bare, want))
		}
	}
	if _, said, err := render(t, "--set", "extraObjects[0]=text"); err == nil {
		t.Errorf("a text is taken as an object: %s", said)
	}
}

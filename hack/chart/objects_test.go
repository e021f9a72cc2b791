package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"

	"github.com/swar-tts/swar/controllers"
	"github.com/swar-tts/swar/portal/signin"
	"github.com/swar-tts/swar/runtime/contract"
)

// object is one of a release.
type object map[string]any

// parse reads the objects of a text.
func parse(t *testing.T, text string) (all []object) {
	t.Helper()
	for _, part := range strings.Split("\n"+text, "\n---\n") {
		var o object
		if err := yaml.Unmarshal([]byte(part), &o); err != nil {
			t.Fatalf("%v in\n%s", err, part)
		}
		if o != nil {
			all = append(all, o)
		}
	}
	return all
}

func (o object) kind() string             { return text(o["kind"]) }
func (o object) name() string             { return text(o.metadata()["name"]) }
func (o object) metadata() map[string]any { return o.at("metadata") }

func (o object) annotations() map[string]any { return o.at("metadata", "annotations") }

// at returns an object within o, empty where there is none.
func (o object) at(path ...string) map[string]any {
	m := map[string]any(o)
	for _, name := range path {
		m, _ = m[name].(map[string]any)
	}
	return m
}

// into makes a typed object of a part of o, which must not have fields that the type has not.
func (o object) into(t *testing.T, typed any, path ...string) {
	t.Helper()
	b, err := yaml.Marshal(o.at(path...))
	if err == nil {
		err = yaml.UnmarshalStrict(b, typed)
	}
	if err != nil {
		t.Fatalf("%s %s: %v", o.kind(), o.name(), err)
	}
}

func (o object) text(t *testing.T) string {
	t.Helper()
	b, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// goldens are the objects of all cases, which [TestTemplates] keeps true.
func goldens(t *testing.T) map[string][]object {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	all := map[string][]object{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(f), ".yaml")] = parse(t, string(b))
	}
	return all
}

// pods returns what all pods of objects are made of, by the kind and name of who makes them.
func pods(t *testing.T, objects []object) map[string]corev1.PodTemplateSpec {
	t.Helper()
	all := map[string]corev1.PodTemplateSpec{}
	for _, o := range objects {
		var p corev1.PodTemplateSpec
		switch o.kind() {
		case "Deployment":
			o.into(t, &p, "spec", "template")
		case "Pod":
			o.into(t, &p.ObjectMeta, "metadata")
			o.into(t, &p.Spec, "spec")
		default:
			continue
		}
		all[o.kind()+" "+o.name()] = p
	}
	if len(all) == 0 {
		t.Error("there are no pods")
	}
	return all
}

// TestPodsAreRestricted by the Pod Security Standard, as Kubernetes checks it.
func TestPodsAreRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
	for name, objects := range goldens(t) {
		for who, pod := range pods(t, objects) {
			meta := metav1.ObjectMeta{Labels: pod.Labels, Annotations: pod.Annotations}
			result := policy.AggregateCheckResults(evaluator.EvaluatePod(level, &meta, &pod.Spec))
			if !result.Allowed {
				t.Errorf("%s, %s: %s", name, who, result.ForbiddenDetail())
			}
			for _, c := range pod.Spec.Containers {
				root := c.SecurityContext.ReadOnlyRootFilesystem
				if root == nil || !*root || c.Resources.Limits.Memory().IsZero() {
					t.Errorf("%s, %s: its root can be written to, or it has no limit of memory", name, who)
				}
			}
		}
	}
}

// TestUsers are those of the images, or none where the cluster assigns them; the operator is told the same for fleets.
func TestUsers(t *testing.T) {
	for name, objects := range goldens(t) {
		isAssigned := name == "namespaces"
		for who, pod := range pods(t, objects) {
			s := pod.Spec.SecurityContext
			ids := []*int64{s.RunAsUser, s.RunAsGroup, s.FSGroup}
			for _, c := range pod.Spec.Containers {
				if c.SecurityContext.RunAsUser != nil || c.SecurityContext.RunAsGroup != nil {
					t.Errorf("%s, %s: the container %s has a user of its own", name, who, c.Name)
				}
			}
			for _, id := range ids {
				if (id == nil) != isAssigned || id != nil && *id != 65532 {
					t.Errorf("%s, %s: user and groups are %v", name, who, ids)
				}
			}
		}
		if slices.Contains(argumentsOf(t, objects, "operator"), "--assigned-user-ids") != isAssigned {
			t.Errorf("%s: the operator is not told who assigns users", name)
		}
	}
}

// TestNodesAskNobodyElseForImages: every image has a host before its name, or a node would ask Docker Hub for it.
func TestNodesAskNobodyElseForImages(t *testing.T) {
	for name, objects := range goldens(t) {
		for who, images := range imagesOf(t, objects) {
			for _, image := range images {
				host, _, _ := strings.Cut(image, "/")
				if host != "localhost" && !strings.ContainsAny(host, ".:") {
					t.Errorf("%s, %s: the image %s", name, who, image)
				}
			}
		}
	}
}

// imagesOf are those that pods run, and that arguments name, by who does.
func imagesOf(t *testing.T, objects []object) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for who, pod := range pods(t, objects) {
		for _, c := range pod.Spec.Containers {
			all[who] = append(all[who], c.Image)
			for _, a := range c.Args {
				if flag, image, _ := strings.Cut(a, "="); strings.HasSuffix(flag, "-image") {
					all[who] = append(all[who], image)
				}
			}
		}
	}
	return all
}

// TestImagesHaveAVersion or a digest.
func TestImagesHaveAVersion(t *testing.T) {
	for name, objects := range goldens(t) {
		for who, images := range imagesOf(t, objects) {
			for _, image := range images {
				_, tag, hasTag := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
				if !hasTag || tag == "" || tag == "latest" {
					t.Errorf("%s, %s: the image %s", name, who, image)
				}
			}
		}
	}
}

// TestNothingOfOthersIsTakenForTheirs: what the operator makes has a label, and nothing of the chart has it.
func TestNothingOfTheChartIsTakenForTheOperators(t *testing.T) {
	for name, objects := range goldens(t) {
		for _, o := range objects {
			if got := o.at("metadata", "labels")["app.kubernetes.io/managed-by"]; got != "Helm" {
				t.Errorf("%s: %s %s is managed by %v", name, o.kind(), o.name(), got)
			}
		}
	}
}

// TestScopes: without a right on the cluster as a whole in one, and with one role in the other. The server of external
// metrics has its own in both.
func TestScopes(t *testing.T) {
	for name, objects := range goldens(t) {
		var kinds []string
		for _, o := range objects {
			if strings.HasPrefix(o.kind(), "Cluster") &&
				o.at("metadata", "labels")["app.kubernetes.io/component"] != "metrics" {
				kinds = append(kinds, o.kind())
			}
		}
		if (len(kinds) > 0) != (name == "cluster" || name == "config") {
			t.Errorf("%s has %v", name, kinds)
		}
	}
}

// TestTheSecretsOfThePortal are those that the operator writes.
func TestTheSecretsOfThePortal(t *testing.T) {
	want := map[string][]string{
		"default": {controllers.PortalTLSSecret, controllers.PortalTokenSecret},
		"cluster": {controllers.PortalTLSSecret, controllers.PortalTokenSecret},
		"config":  {controllers.PortalTLSSecret, controllers.PortalTokenSecret},

		"external-metrics": {controllers.PortalTLSSecret, controllers.PortalTokenSecret},
		"firestore":        {"our-authority", controllers.PortalTLSSecret, controllers.PortalTokenSecret},
		"namespaces":       {controllers.PortalTokenSecret}, // in a mesh
	}
	for name, objects := range goldens(t) {
		var got []string
		for who, pod := range pods(t, objects) {
			for _, v := range pod.Spec.Volumes {
				if v.Secret != nil && strings.Contains(who, "-portal") {
					got = append(got, v.Secret.SecretName)
				}
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want[name]) {
			t.Errorf("%s: the portal is given %v, want %v", name, got, want[name])
		}
	}
}

// TestPorts are those of the programs.
func TestPorts(t *testing.T) {
	want := map[string][]int32{
		"operator": {contract.OperatorProbe, contract.OperatorMetrics, contract.OperatorScaler},
		"portal":   {contract.PortalAPI, contract.PortalDataplane, contract.PortalProbe},
		"metrics":  {contract.ExternalMetrics, contract.ExternalMetricsProbe},
	}
	for _, pod := range pods(t, goldens(t)["external-metrics"]) {
		for _, c := range pod.Spec.Containers {
			var got []int32
			for _, p := range c.Ports {
				got = append(got, p.ContainerPort)
			}
			if !slices.Equal(got, want[c.Name]) {
				t.Errorf("%s listens on %v, want %v", c.Name, got, want[c.Name])
			}
			if p := c.ReadinessProbe; p != nil &&
				(p.HTTPGet.Path != contract.Readyz || c.LivenessProbe.HTTPGet.Path != contract.Healthz) {
				t.Errorf("%s is asked %s and %s", c.Name, p.HTTPGet.Path, c.LivenessProbe.HTTPGet.Path)
			}
		}
	}
}

// route is a way of requests, of an HTTPRoute or an Ingress.
type route struct {
	path    string
	isExact bool
	to      string // name of a Service
	limit   string // for a request
}

// routes reads those of objects, in the order in which they count: the longest first, and of equals the exact one.
func routes(t *testing.T, objects []object) (all []route) {
	t.Helper()
	for _, o := range objects {
		switch o.kind() {
		case "HTTPRoute":
			var rules []struct {
				Matches     []struct{ Path struct{ Type, Value string } }
				Timeouts    struct{ Request string }
				BackendRefs []struct {
					Name string
					Port int
				}
			}
			b, err := yaml.Marshal(o.at("spec")["rules"])
			if err == nil {
				err = yaml.UnmarshalStrict(b, &rules)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rules {
				for _, m := range r.Matches {
					all = append(all, route{m.Path.Value, m.Path.Type == "Exact", r.BackendRefs[0].Name,
						r.Timeouts.Request})
				}
			}
		case "Ingress":
			var rules []struct {
				Host string
				HTTP struct {
					Paths []struct {
						Path, PathType string
						Backend        struct {
							Service struct {
								Name string
								Port struct{ Name string }
							}
						}
					}
				}
			}
			b, err := yaml.Marshal(o.at("spec")["rules"])
			if err == nil {
				err = yaml.UnmarshalStrict(b, &rules)
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range rules[0].HTTP.Paths {
				all = append(all, route{p.Path, p.PathType == "Exact", p.Backend.Service.Name, ""})
			}
		}
	}
	slices.SortFunc(all, func(a, b route) int { return len(b.path) - len(a.path) })
	return all
}

// TestWhereRequestsGo, from outside, by either way in.
func TestWhereRequestsGo(t *testing.T) {
	for name, portal := range map[string]string{"firestore": "swar-portal", "namespaces": "speech-portal"} {
		all := routes(t, goldens(t)[name])
		find := func(path string) route {
			for _, r := range all {
				isBelow := path == r.path || r.path == "/" || strings.HasPrefix(path, r.path+"/")
				if path == r.path || !r.isExact && isBelow {
					return r
				}
			}
			return route{}
		}
		for _, path := range append(signin.Paths(), "/portal", "/portal/v1/me") {
			if got := find(path); got.to != portal {
				t.Errorf("%s: %s goes to %q", name, path, got.to)
			}
		}
		for _, path := range []string{"/", "/v1/tts", "/v1/tts/stream", "/v1/voices", "/portals", "/authors"} {
			if got := find(path); got.to != "espeak" {
				t.Errorf("%s: %s goes to %q", name, path, got.to)
			}
		}
		if name != "firestore" {
			continue // an Ingress cannot say it
		}
		for path, limit := range map[string]string{"/v1/tts/stream": "0s", "/v1/tts": "150s", "/portal/v1/me": "150s"} {
			if got := find(path); got.limit != limit {
				t.Errorf("%s ends after %s, want %s", path, got.limit, limit)
			}
		}
	}
}

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

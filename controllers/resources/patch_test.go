package resources_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/swar-tts/swar/controllers/resources"
)

// TestCheckTemplates tries what a patch may do to the pods of a fleet, and what not.
func TestCheckTemplates(t *testing.T) {
	inContainer := func(fields string) string {
		return `{"spec": {"containers": [{"name": "worker", ` + fields + `}]}}`
	}
	for patch, want := range map[string]string{ // what the error says; empty: none
		``:     "",
		`null`: "",
		`{}`:   "",
		`{"metadata": {"labels": {"team": "voice"}, "annotations": {"a.example/b": "c"}}}`:                         "",
		`{"spec": {"initContainers": [{"name": "wait", "image": "w:1"}]}}`:                                         "",
		`{"spec": {"tolerations": [{"key": "speech"}], "priorityClassName": "high", "dnsPolicy": "ClusterFirst"}}`: "",
		`{"spec": {"containers": [{"name": "a", "image": "a:1", "resources": {"limits": {"cpu": "1"}}}]}}`:         "",
		`{"spec": {"terminationGracePeriodSeconds": 150}}`:                                                         "",
		`{"spec": {"terminationGracePeriodSeconds": 149}}`:                                                         "less than the 150 s of a drain",
		inContainer(`"env": [{"name": "A", "value": "b"}], "envFrom": [{"secretRef": {"name": "s"}}]`):             "",
		inContainer(`"livenessProbe": {"periodSeconds": 30, "failureThreshold": 9}`):                               "",
		inContainer(`"lifecycle": {"preStop": {"sleep": {"seconds": 5}}}`):                                         "",
		inContainer(`"securityContext": {"runAsUser": 1000}`):                                                      "",
		`[]`:                     "does not fit a pod template",
		`{"spec": {"nodes": 1}}`: `unknown field "nodes"`,
		`{"spec": {"containers": [{"image": "a:1"}]}}`:                                   "cannot be merged",
		`{"metadata": {"labels": {"app.kubernetes.io/component": "router"}}}`:            "labels of Swar",
		`{"spec": {"serviceAccountName": "mine"}}`:                                       "use serviceAccount.name",
		`{"spec": {"automountServiceAccountToken": true}}`:                               "projected token",
		`{"spec": {"hostNetwork": true}}`:                                                "hostNetwork",
		`{"spec": {"hostPID": true}}`:                                                    "hostPID",
		`{"spec": {"restartPolicy": "Never"}}`:                                           "restartPolicy",
		`{"spec": {"volumes": [{"name": "tls", "emptyDir": {}}]}}`:                       "the volume tls",
		`{"spec": {"volumes": [{"name": "tls", "$patch": "delete"}]}}`:                   "the volume tls",
		`{"spec": {"containers": [{"name": "worker", "$patch": "delete"}]}}`:             "the container worker",
		`{"spec": {"$patch": "replace", "containers": [{"name": "a", "image": "a:1"}]}}`: "the container worker",
		`{"$patch": "replace", "spec": {}}`:                                              "the container worker",
		inContainer(`"image": "mine:1"`):                                                 "runtime.image",
		inContainer(`"args": ["--open"]`):                                                "command and args",
		inContainer(`"command": ["sh"]`):                                                 "command and args",
		inContainer(`"resources": {"limits": {"cpu": "4"}}`):                             "workersPerPod",
		inContainer(`"ports": [{"containerPort": 9090, "$patch": "delete"}]`):            "port ",
		inContainer(`"volumeMounts": [{"mountPath": "/tmp", "name": "tls"}]`):            "mount /tmp",
		inContainer(`"readinessProbe": {"httpGet": {"path": "/"}}`):                      "readinessProbe but",
		inContainer(`"readinessProbe": null`):                                            "readinessProbe but",
		inContainer(`"image": "mine:1", "command": ["sh"]`):                              "image",
	} {
		t.Run(patch, func(t *testing.T) {
			d := of(t, "")
			d.Spec.Runtime.PodTemplate = &runtime.RawExtension{Raw: []byte(patch)}
			err := resources.CheckTemplates(release, d)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) ||
				!strings.HasPrefix(err.Error(), "spec.runtime.podTemplate: ")) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// TestCheckTemplatesOfRouters tries what routers have and workers do not.
func TestCheckTemplatesOfRouters(t *testing.T) {
	for patch, want := range map[string]string{
		`{"spec": {"containers": [{"name": "router", "env": [{"name": "GOMEMLIMIT", "value": "1"}]}]}}`: "variable GOMEMLIMIT",
		`{"spec": {"containers": [{"name": "router", "startupProbe": {"periodSeconds": 3}}]}}`:          "startupProbe",
		`{"metadata": {"annotations": {"a": "b"}}}`:                                                     "",
	} {
		d := of(t, "router: {usageVolume: {}}")
		d.Spec.Router.PodTemplate = &runtime.RawExtension{Raw: []byte(patch)}
		if err := resources.CheckTemplates(release, d); fmt.Sprint(err) == "<nil>" != (want == "") ||
			!strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v, want %q", patch, err, want)
		}
	}
}

// TestPatchedTemplates builds what platform teams add, and leaves out a patch that is refused.
func TestPatchedTemplates(t *testing.T) {
	d := of(t, ourPods)
	if err := resources.CheckTemplates(release, d); err != nil {
		t.Fatal(err)
	}
	worker, router := templates(t, resources.Build(release, d, resources.Facts{}))
	own := worker.Spec.Containers[0]
	has := func(name, value string) bool {
		return slices.Contains(own.Env, corev1.EnvVar{Name: name, Value: value})
	}
	if own.Name != resources.Worker || len(worker.Spec.Containers) != 2 || !has("ZONE", "a") ||
		own.StartupProbe.PeriodSeconds != 2 || own.StartupProbe.HTTPGet == nil || worker.Labels["team"] != "voice" ||
		*worker.Spec.RuntimeClassName != "gvisor" || worker.Spec.SchedulerName != "bin-packing" {
		t.Errorf("worker pods are %+v", worker)
	}
	if router.Spec.ServiceAccountName != "ours" || *router.Spec.TerminationGracePeriodSeconds != 600 ||
		router.Spec.Affinity.PodAntiAffinity == nil || worker.Spec.ServiceAccountName != "hindi-worker" {
		t.Errorf("routers are %+v; workers have the account %s", router.Spec, worker.Spec.ServiceAccountName)
	}
	d.Spec.Runtime.PodTemplate.Raw = []byte(`{"metadata": {"labels": {"team": "x"}}, "spec": {"hostNetwork": true}}`)
	if worker, _ = templates(t, resources.Build(release, d, resources.Facts{})); worker.Spec.HostNetwork ||
		worker.Labels["team"] != "" {
		t.Error("a patch that is refused is applied")
	}
}

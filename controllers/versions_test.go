package controllers_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers"
	"github.com/swar-tts/swar/controllers/resources"
)

// hasImageVolumes reports whether the API server is of Kubernetes 1.35 or later.
func hasImageVolumes(t *testing.T) bool {
	t.Helper()
	c, err := discovery.NewDiscoveryClientForConfig(kube)
	if err != nil {
		t.Fatal(err)
	}
	v, err := c.ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	return version.MustParseGeneric(v.GitVersion).AtLeast(version.MustParseGeneric("1.35"))
}

// sampleObjects returns what the fleets of config/samples are made of.
func sampleObjects(t *testing.T, strict client.Client, namespace string, isAssigned bool) (all []resources.Object) {
	t.Helper()
	files, err := filepath.Glob("../config/samples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d samples, %v", len(files), err)
	}
	release := resources.Release{
		WorkerImage: "localhost/swar/worker:0.1.0", RouterImage: "localhost/swar/router:0.1.0",
		OperatorNamespace: namespace,
		OperatorLabels:    map[string]string{resources.LabelName: "swar-operator"}, AssignedIDs: isAssigned,
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "\n---\n") {
			if !strings.Contains(part, "kind: "+v1alpha1.Kind+"\nmetadata:") {
				continue
			}
			u := parse(t, namespace, part)
			if err := strict.Create(t.Context(), u); err != nil { // a dry run gives it the defaults of the schema
				t.Fatalf("%s: %v", file, err)
			}
			d := &v1alpha1.TTSDeployment{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d); err != nil {
				t.Fatal(err)
			}
			all = append(all, resources.Build(release, d, resources.Facts{Workers: 1})...)
		}
	}
	if len(all) < 10*len(files) {
		t.Fatalf("%d objects of %d samples", len(all), len(files))
	}
	return all
}

// TestTheAPIServerKeepsWhatFleetsAreMadeOf: it leaves out fields that it does not know, of features that its version
// has switched off, without a word. What has image volumes is another test's before Kubernetes 1.35.
func TestTheAPIServerKeepsWhatFleetsAreMadeOf(t *testing.T) {
	c, namespace := open(t)
	strict := client.WithFieldValidation(client.NewDryRunClient(c), metav1.FieldValidationStrict)
	for _, o := range sampleObjects(t, strict, namespace, false) {
		if d, ok := o.(*appsv1.Deployment); ok && !hasImageVolumes(t) &&
			strings.Contains(d.String(), "ImageVolumeSource{") {
			continue
		}
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			t.Fatal(err)
		}
		wanted := &unstructured.Unstructured{Object: fields}
		unstructured.RemoveNestedField(fields, "metadata", "ownerReferences") // of a dry run, which has no UID
		unstructured.RemoveNestedField(fields, "status")
		kept := wanted.DeepCopy()
		if err := strict.Create(t.Context(), kept); err != nil {
			t.Errorf("%s %s: %v", wanted.GetKind(), wanted.GetName(), err)
			continue
		}
		if !controllers.Contains(kept.Object, wanted.Object) {
			is, _ := json.MarshalIndent(kept.Object, "", " ")
			t.Errorf("%s %s is kept without a part of it:\n%s", wanted.GetKind(), wanted.GetName(), is)
		}
	}
}

// TestModelsFromImages: where the API server knows no image volumes, no pod is made that would start without its model.
func TestModelsFromImages(t *testing.T) {
	c, namespace := open(t)
	startOperator(t, namespace, controllers.Config{})
	create(t, c, fleetWith(t, namespace, "neural",
		`{model: {id: neural, source: {oci: {reference: "registry.example.org/speech/neural:1"}}}}`))
	d, key := &appsv1.Deployment{}, client.ObjectKey{Namespace: namespace, Name: "neural-worker"}
	if hasImageVolumes(t) {
		eventually(t, "pods mount the image", 20*time.Second, func(ctx context.Context) string {
			if err := c.Get(ctx, key, d); err != nil {
				return err.Error()
			}
			if !strings.Contains(d.String(), "registry.example.org/speech/neural:1") {
				return d.String()
			}
			return ""
		})
		return
	}
	wait(t, c, namespace, "neural", "the fleet says what the cluster lacks", func(f *v1alpha1.TTSDeployment) string {
		is := condition(f, v1alpha1.Degraded)
		if is.Reason != v1alpha1.ReasonApplyFailed ||
			!strings.Contains(is.Message, "neural-worker: this cluster has no image volumes") {
			return is.Reason + ": " + is.Message
		}
		return ""
	})
	if err := c.Get(t.Context(), key, d); err == nil {
		t.Errorf("workers are made: %s", d.String())
	}
}

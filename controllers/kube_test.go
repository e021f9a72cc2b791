package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/internal/testenv/kubetest"
)

// kube is an API server that the tests of this package share; nil where its programs are missing.
var kube *rest.Config

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	config, stop, err := kubetest.Run(&envtest.Environment{
		CRDDirectoryPaths: []string{"../config/crd"}, ErrorIfCRDPathMissing: true,
	})
	switch {
	case errors.Is(err, kubetest.ErrMissing):
		return m.Run()
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	kube = config
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the API server:", err)
		return 1
	}
	return code
}

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(v1alpha1.AddToScheme(s))
	return s
}

// open returns a client, and a namespace of the test's own.
func open(t *testing.T) (client.Client, string) {
	t.Helper()
	if kube == nil {
		kubetest.Skip(t)
	}
	c, err := client.New(kube, client.Options{Scheme: newScheme()})
	if err != nil {
		t.Fatal(err)
	}
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	return c, n.Name
}

// parse reads an object from YAML and puts it into a namespace.
func parse(t *testing.T, namespace, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	u.SetNamespace(namespace)
	return u
}

// eventually waits until something is so, and fails with what is still wrong.
func eventually(t *testing.T, what string, limit time.Duration, wrong func(context.Context) string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	last := ""
	for {
		now := wrong(ctx)
		if now == "" {
			return
		}
		if ctx.Err() == nil {
			last = now
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("it never came about that %s: %s", what, last)
		}
	}
}

const espeakFleet = `
apiVersion: swar.dev/v1alpha1
kind: TTSDeployment
metadata: {name: NAME}
spec:
  model: {id: espeak-ng-hinglish, source: {image: {}}}
  access: {mode: Open}
`

func fleetYAML(name string) string { return strings.ReplaceAll(espeakFleet, "NAME", name) }

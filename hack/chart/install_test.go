package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/swar-tts/swar/hack/internal/page"
	"github.com/swar-tts/swar/internal/testenv/kubetest"
)

// administrator runs commands as somebody who has a checkout of the repository and access to a cluster.
type administrator struct {
	folder string // as the root of the repository, so far as commands of the pages read it
	env    []string
}

// newAdministrator starts an API server for one.
func newAdministrator(t *testing.T) *administrator {
	t.Helper()
	tools := filepath.Dir(tool(t, "helm"))
	e := &envtest.Environment{}
	kubetest.Start(t, e)
	user, err := e.ControlPlane.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	access, err := user.KubeConfig()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	kubeconfig := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(kubeconfig, access, 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Join([]string{e.BinaryAssetsDirectory, tools, os.Getenv("PATH")}, string(os.PathListSeparator))
	return &administrator{folder: root, env: []string{"HOME=" + home, "KUBECONFIG=" + kubeconfig, "PATH=" + path}}
}

// run runs commands as a shell does into which they are pasted, but ends with the first one that fails.
func (a *administrator) run(t *testing.T, commands string) string {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "-euo", "pipefail", "-c", commands)
	cmd.Dir, cmd.Env = a.folder, a.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s%s", err, commands, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// has fails the test unless the cluster has these objects, KIND/NAME of a namespace.
func (a *administrator) has(t *testing.T, namespace string, objects ...string) {
	t.Helper()
	a.run(t, "kubectl get --namespace "+namespace+" --output name "+strings.Join(objects, " "))
}

// established waits until an API server serves the kind that it was just given. People are slower than that.
const established = "kubectl wait --for condition=Established --timeout 30s crd/ttsdeployments.swar.dev"

// TestTheDocumentedInstall runs the commands of docs/kubernetes.md, word for word and in the order of the page, on an
// API server: all that needs no node. hack/e2ecluster runs the rest.
func TestTheDocumentedInstall(t *testing.T) {
	text := read(t, "docs/kubernetes.md")
	t.Run("with Helm", func(t *testing.T) {
		a := newAdministrator(t)
		install, fleet, ok := strings.Cut(page.Block(t, text, "config/samples/espeak.yaml"), "kubectl apply")
		apply, _, cut := strings.Cut("kubectl apply"+fleet, "kubectl wait") // no pod will ever start
		if !ok || !cut {
			t.Fatal("the page installs something else than a release, and a fleet that it waits for")
		}
		remove, all := page.Block(t, text, "helm uninstall swar"),
			[]string{"deployment/swar-operator", "deployment/swar-portal"}
		a.run(t, install+established)
		a.run(t, apply)
		a.has(t, "swar", append(all, "ttsd/espeak")...)
		a.run(t, remove)
		a.run(t, page.Block(t, text, "--set userIDs=Assigned"))
		a.has(t, "swar", all...)
		if pods := a.run(t, "kubectl get deployment --namespace swar --output yaml"); strings.Contains(pods,
			"runAsUser") {
			t.Errorf("with users that are assigned, pods name one:\n%s", pods)
		}
		a.run(t, remove)
		if left := a.run(t, "kubectl get deployment,ttsd --namespace swar --output name"); left != "" {
			t.Errorf("left behind: %s", left)
		}
	})
	t.Run("without Helm", func(t *testing.T) {
		a := newAdministrator(t)
		for _, way := range []string{page.Command(t, text, "kubectl apply --server-side -k config/default"),
			page.Block(t, text, "kubectl kustomize config/default")} {
			a.run(t, way)
			a.has(t, "swar-system", "deployment/swar-operator", "deployment/swar-portal")
		}
		a.run(t, established)
		a.run(t, "kubectl apply --namespace swar-system -f config/samples/espeak.yaml")
		images := a.run(t, "kubectl get deployment --namespace swar-system --output jsonpath='{..image}'")
		if strings.Contains(images, "localhost/") ||
			!strings.Contains(images, "registry.example.org/speech/operator:") {
			t.Errorf("with a registry, images are %s", images)
		}
	})
}

//go:build e2ecluster

package e2ecluster

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swar-tts/swar/hack/internal/page"
)

// isAssigned is what a pod says of its user that testdata/users-assigned.yaml has given one; as JSON, since jsonpath
// rounds it.
const isAssigned = `"runAsUser": 1000680000`

// TestTheDocumentedInstall runs the commands of docs/kubernetes.md word for word, as somebody pastes them, from the
// install to audible speech and the removal. run.sh has brought the images to the nodes by the page's command for that.
func TestTheDocumentedInstall(t *testing.T) {
	text, err := os.ReadFile("../../docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := page.Block(t, string(text), "config/samples/espeak.yaml")
	remove := page.Block(t, string(text), "helm uninstall swar")
	t.Run("users of the images", func(t *testing.T) {
		speakByThePage(t, commands)
		leave(t, remove)
	})
	t.Run("users of a range, as on OpenShift", func(t *testing.T) {
		first, rest, _ := strings.Cut(commands, "\n")
		assigned, _, _ := strings.Cut(page.Block(t, string(text), "--set userIDs=Assigned"), "--set images.registry=")
		_, registry, ok := strings.Cut(first, "--set images.registry=")
		if !ok {
			t.Fatalf("the first command of the page names no registry: %s", first)
		}
		for _, file := range []string{"users.yaml", "users-assigned.yaml"} {
			mustRun(t, "", "kubectl", "apply", "-f", "testdata/"+file)
			t.Cleanup(func() { _, _ = run("", "kubectl", "delete", "-f", "testdata/"+file) })
		}
		mustRun(t, "", "kubectl", "create", "namespace", namespace)
		mustRun(t, "", "kubectl", "label", "namespace", namespace, "swar.test/users=assigned",
			"pod-security.kubernetes.io/enforce=restricted")
		within(t, 20*time.Second, "pods get a user of the range", func() error {
			pod, err := tryKubectl("run", "probe", "--image", "swar.test/pause:1", "--dry-run=server", "-o", "json",
				"--overrides", `{"spec": {"securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}}, "containers": [{"name": "probe", `+
					`"image": "swar.test/pause:1", "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}]}}`)
			if err == nil && !strings.Contains(pod, isAssigned) {
				err = errors.New(pod)
			}
			return err
		})
		speakByThePage(t, assigned+"--set images.registry="+registry+"\n"+rest)
		pods := kubectl(t, "get", "pods", "-o", "json")
		if given := strings.Count(pods, isAssigned); given < 4 || given != strings.Count(pods, `"runAsUser": `) {
			t.Errorf("%d pods of operator, portal, routers and workers have a user of the range:\n%s", given, pods)
		}
		leave(t, remove)
	})
}

// speakByThePage runs the commands of an install and listens to what they end in.
func speakByThePage(t *testing.T, commands string) {
	t.Helper()
	folder := t.TempDir() // that looks like the root of the repository
	for _, name := range []string{"charts", "config"} {
		target, err := filepath.Abs("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	paste(t, folder, commands)
	t.Logf("%5.1f s: the commands of the page have run", time.Since(begin).Seconds())
	audio, err := os.ReadFile(filepath.Join(folder, "namaste.wav"))
	const header = 44
	if err != nil || len(audio) < header || !bytes.HasPrefix(audio, []byte("RIFF")) {
		t.Fatalf("namaste.wav has %d bytes, %v", len(audio), err)
	}
	sounds(t, audio[header:], 1)
}

// paste runs commands in a shell that ends with the first one that fails, and ends what they have left running.
func paste(t *testing.T, folder, commands string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	said, err := os.Create(filepath.Join(t.TempDir(), "said")) // a pipe would be held open by kubectl port-forward
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = said.Close() }()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", commands)
	cmd.Dir, cmd.SysProcAttr = folder, &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdout, cmd.Stderr = said, said
	err = cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if err != nil {
		text, _ := os.ReadFile(said.Name())
		t.Fatalf("%v\n%s\n%s\n%s", err, commands, text, everything())
	}
}

// leave removes a release as the page says, and then what stays of one.
func leave(t *testing.T, remove string) {
	t.Helper()
	paste(t, t.TempDir(), remove)
	mustRun(t, "", "kubectl", "delete", "namespace", namespace, "--timeout", "4m") // fleets speak to their end
}

//go:build e2ecluster

package e2ecluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	namespace = "swar"
	release   = "swar"
)

// run runs a program of the cluster's administrator, and returns what it prints.
func run(stdin string, program ...string) (string, error) {
	cmd := exec.Command(program[0], program[1:]...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(program, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

func mustRun(t *testing.T, stdin string, program ...string) string {
	t.Helper()
	out, err := run(stdin, program...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func tryKubectl(args ...string) (string, error) {
	return run("", append([]string{"kubectl", "--namespace", namespace}, args...)...)
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := tryKubectl(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func apply(t *testing.T, manifest string) {
	t.Helper()
	mustRun(t, manifest, "kubectl", "--namespace", namespace, "apply", "-f", "-")
}

func helm(t *testing.T, args ...string) string {
	t.Helper()
	return mustRun(t, "", append([]string{"helm", "--namespace", namespace}, args...)...)
}

// patch changes the fleet.
func patch(t *testing.T, spec string) {
	t.Helper()
	kubectl(t, "patch", "ttsd", fleet, "--type", "merge", "--patch", `{"spec": `+spec+`}`)
}

// within waits until something is so, and says after how long it was.
func within(t *testing.T, limit time.Duration, what string, wrong func() error) {
	t.Helper()
	begin := time.Now()
	for {
		err := wrong()
		if err == nil {
			t.Logf("%5.1f s: %s", time.Since(begin).Seconds(), what)
			return
		}
		if time.Since(begin) > limit {
			t.Fatalf("not within %v: %s: %v", limit, what, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// prints returns what is wrong until kubectl prints something.
func prints(want string, args ...string) func() error {
	return func() error {
		got, err := tryKubectl(args...)
		if err == nil && got != want {
			err = fmt.Errorf("kubectl %s prints %q, want %q", strings.Join(args, " "), got, want)
		}
		return err
	}
}

// is waits for a condition of the fleet, named by its type and its reason.
func is(t *testing.T, limit time.Duration, typ, reason string) {
	t.Helper()
	within(t, limit, "of the fleet, "+typ+" has the reason "+reason,
		prints(reason, "get", "ttsd", fleet, "-o", `jsonpath={.status.conditions[?(@.type=="`+typ+`")].reason}`))
}

// ready waits until a fleet has so many worker pods, all Ready, and none beside them.
func ready(t *testing.T, limit time.Duration, pods int) {
	t.Helper()
	want := fmt.Sprintf("%d %[1]d %[1]d", pods)
	if pods == 0 {
		want = "0"
	}
	within(t, limit, fmt.Sprintf("%d worker pods are Ready", pods), func() error {
		got, err := tryKubectl("get", "deployment", fleet+"-worker", "-o",
			"jsonpath={.spec.replicas} {.status.replicas} {.status.readyReplicas}")
		if got = strings.TrimSpace(got); err == nil && got != want {
			err = fmt.Errorf("spec, status and ready replicas are %q, want %q", got, want)
		}
		return err
	})
}

// address returns what clients in the cluster call.
func address(t *testing.T, service string) string {
	t.Helper()
	return kubectl(t, "get", "service", service, "-o", "jsonpath={.spec.clusterIP}:{.spec.ports[0].port}")
}

// digests are those of the images that make images has made.
func digests(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../dist/images/digests.json")
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		Images map[string]struct{ Digest string }
	}
	if err := json.Unmarshal(text, &made); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for name, image := range made.Images {
		all[name] = image.Digest
	}
	return all
}

// program stops or starts a program of node 1, as a fault would.
func program(t *testing.T, verb, name string) {
	t.Helper()
	mustRun(t, "", filepath.Join("..", "cluster", "program.sh"), verb, name)
}

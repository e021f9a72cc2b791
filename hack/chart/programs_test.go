package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
)

// program builds one of cmd.
func program(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../../cmd/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// argumentsOf are those that a Deployment starts a container with.
func argumentsOf(t *testing.T, objects []object, container string) []string {
	t.Helper()
	for _, pod := range pods(t, objects) {
		for _, c := range pod.Spec.Containers {
			if c.Name == container {
				return c.Args
			}
		}
	}
	return nil
}

// TestFlags are taken by the programs. With --version they read all of them, and do nothing.
func TestFlags(t *testing.T) {
	for name, from := range map[string]string{"operator": "operator", "metrics": "operator", "portal": "portal"} {
		path := program(t, from)
		for golden, objects := range goldens(t) {
			args := argumentsOf(t, objects, name)
			isWithout := name == "portal" && golden == "small" || name == "metrics" && golden != "external-metrics"
			if (len(args) == 0) != isWithout {
				t.Errorf("%s: %s has the arguments %q", golden, name, args)
			}
			if out, err := exec.CommandContext(t.Context(), path,
				append(args, "--version")...).CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v\n%s", golden, name, err, out)
			}
		}
	}
}

// TestThePortalStarts with what the chart gives it: certificates and a token, or in a mesh a token alone.
func TestThePortalStarts(t *testing.T) {
	path := program(t, "portal")
	files := grpcauthtest.New(t).Issue(grpcauth.Portal)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(grpcauthtest.Token), 0o600); err != nil {
		t.Fatal(err)
	}
	there := strings.NewReplacer(
		"/etc/swar/tls/tls.crt", files.Cert, "/etc/swar/tls/tls.key", files.Key, "/etc/swar/tls/ca.crt", files.CA,
		"/etc/swar/token/token", token,
	)
	for _, golden := range []string{"default", "namespaces"} {
		var args []string
		for _, a := range argumentsOf(t, goldens(t)[golden], "portal") {
			args = append(args, there.Replace(a))
		}
		if slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "/etc/swar") }) {
			t.Errorf("%s: it is given files that this test does not know: %v", golden, args)
		}
		cmd := exec.CommandContext(t.Context(), path,
			append(args, "--listen=127.0.0.1:0", "--dataplane=127.0.0.1:0", "--http=127.0.0.1:0")...)
		cmd.Env = []string{"SWAR_DATA=" + filepath.Join(t.TempDir(), "data")}
		log, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		limit := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
		ready := false
		var said []string
		for lines := bufio.NewScanner(log); lines.Scan(); {
			var line struct{ Msg string }
			if err := json.Unmarshal(lines.Bytes(), &line); err == nil && line.Msg == "ready" {
				ready = true
				_ = cmd.Process.Signal(syscall.SIGTERM)
			}
			said = append(said, lines.Text())
		}
		limit.Stop()
		if err := cmd.Wait(); err != nil || !ready {
			t.Errorf("%s: %v\n%s", golden, err, strings.Join(said, "\n"))
		}
	}
}

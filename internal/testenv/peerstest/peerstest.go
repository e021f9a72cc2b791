// Package peerstest starts identity providers of others beside a test: oidc-provider, the Firebase Auth emulator and
// Keycloak, which hack/peers.sh installs and names in SWAR_PEERS. Each ends with the test that has started it.
package peerstest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// FirebaseProject is the one project of the emulator.
const FirebaseProject = "demo-swar"

// Realm is the one realm of Keycloak; the person in it and the client are in hack/peers/realm.json.
const Realm = "swar"

// Folder is where hack/peers.sh has installed the providers. Without one the test is skipped, and says so.
func Folder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("SWAR_PEERS")
	if folder == "" {
		t.Skip("SKIPPED: identity providers of others are not installed: make peers does that and runs this test")
	}
	return folder
}

// OIDCProvider starts hack/peers/oidc.mjs, which stands at script, and returns the issuer. Any login is taken, and is
// the e-mail address.
func OIDCProvider(t *testing.T, script string) (issuer string) {
	t.Helper()
	folder := Folder(t)
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "oidc.mjs"), text, 0o600); err != nil {
		// modules are looked for beside the script
		t.Fatal(err)
	}
	line, err := bufio.NewReader(start(t, folder, nil, "node", "oidc.mjs")).ReadString('\n')
	if err != nil {
		t.Fatalf("the provider did not start: %v", err)
	}
	return strings.TrimSpace(line)
}

// FirebaseEmulator starts the emulator and returns its address, a host and a port.
func FirebaseEmulator(t *testing.T) (address string) {
	t.Helper()
	folder, home := Folder(t), t.TempDir()
	ports := freePorts(t, 3)
	config := fmt.Sprintf(`{"emulators":{"auth":{"host":"127.0.0.1","port":%d},"hub":{"host":"127.0.0.1","port":%d},"logging":{"host":"127.0.0.1","port":%d},"ui":{"enabled":false}}}`,
		ports[0], ports[1], ports[2])
	if err := os.WriteFile(filepath.Join(home, "firebase.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	out := start(t, home, []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "TMPDIR=" + home, "CI=1",
		"NO_UPDATE_NOTIFIER=1"},
		"node", filepath.Join(folder, "node_modules", "firebase-tools", "lib", "bin", "firebase.js"), "emulators:start", "--only", "auth", "--project", FirebaseProject)
	go func() { _, _ = io.Copy(os.Stderr, out) }()
	address = fmt.Sprintf("127.0.0.1:%d", ports[0])
	waitFor(t, "http://"+address+"/")
	return address
}

// Keycloak starts Keycloak with the realm that is described in the file realm, and returns the issuer. Where Keycloak
// is not installed the test is skipped.
func Keycloak(t *testing.T, realm string) (issuer string) {
	t.Helper()
	folder := filepath.Join(Folder(t), "keycloak")
	if _, err := os.Stat(filepath.Join(folder, "bin", "kc.sh")); err != nil {
		t.Skip("SKIPPED: Keycloak is not installed: make peers does that where Java and Maven are (Debian: apt-get install maven)")
	}
	text, err := os.ReadFile(realm)
	if err != nil {
		t.Fatal(err)
	}
	imports := filepath.Join(folder, "data", "import")
	if err := os.MkdirAll(imports, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(imports, "realm.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	ports := freePorts(t, 2)
	out := start(t, folder, nil, filepath.Join(folder, "bin", "kc.sh"), "start-dev", "--import-realm", "--db=dev-mem",
		"--cache=local",
		"--http-host=127.0.0.1", fmt.Sprintf("--http-port=%d", ports[0]), fmt.Sprintf("--http-management-port=%d", ports[1]))
	go func() { _, _ = io.Copy(os.Stderr, out) }()
	issuer = fmt.Sprintf("http://127.0.0.1:%d/realms/%s", ports[0], Realm)
	waitFor(t, issuer+"/.well-known/openid-configuration")
	return issuer
}

// start runs a program until the test ends, and returns its output.
func start(t *testing.T, folder string, env []string, name string, args ...string) io.Reader {
	t.Helper()
	cmd := exec.Command(name, args...) //nolint:noctx // it ends by the cleanup below, with what it has started
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		_, err = cmd.StdinPipe() // open until this process ends, however it does
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	return out
}

func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = listener.Close() }()
		_, port, err := net.SplitHostPort(listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		var p int
		if _, err := fmt.Sscan(port, &p); err != nil {
			t.Fatal(err)
		}
		ports = append(ports, p)
	}
	return ports
}

// waitFor waits until an address answers 200. The Firebase emulator takes ten to thirty seconds, Keycloak up to two
// minutes.
func waitFor(t *testing.T, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	for tick := time.NewTicker(200 * time.Millisecond); ; {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := http.DefaultClient.Do(r); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s does not answer", address)
		}
	}
}

// CallJSON posts a body, or gets where that is nil, and returns the answer.
func CallJSON(t *testing.T, address string, body any) (answer map[string]any) {
	t.Helper()
	method, text := http.MethodGet, []byte(nil)
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(got, &answer)
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s (%v)", address, resp.Status, got, err)
	}
	return answer
}

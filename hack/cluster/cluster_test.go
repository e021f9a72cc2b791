//go:build e2ecluster

package cluster

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// name is not that of the cluster that make cluster leaves running beside the test.
const name = "swar-smoke"

// run runs one of the scripts for the test's cluster, and returns what it prints.
func run(script string, args ...string) (string, error) {
	cmd := exec.Command("./"+script, args...)
	cmd.Env = append(os.Environ(), "SWAR_CLUSTER="+name)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w\n%s", script, strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}

func mustRun(t *testing.T, script string, args ...string) string {
	t.Helper()
	out, err := run(script, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func kubectl(args ...string) (string, error) {
	return run("in.sh", append([]string{"kubectl"}, args...)...)
}

// eventually waits until try succeeds, and fails the test with its last error when it does not within limit.
func eventually(t *testing.T, limit time.Duration, what string, try func() error) {
	t.Helper()
	begin := time.Now()
	for {
		err := try()
		if err == nil {
			t.Logf("%5.1f s: %s", time.Since(begin).Seconds(), what)
			return
		}
		if time.Since(begin) > limit {
			t.Fatalf("%s: not within %v: %v", what, limit, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// prints returns what fails until kubectl, run with args, prints want.
func prints(want string, args ...string) func() error {
	return func() error {
		got, err := kubectl(args...)
		if err == nil && strings.TrimSpace(got) != want {
			err = fmt.Errorf("kubectl %s prints %q, want %q", strings.Join(args, " "), got, want)
		}
		return err
	}
}

func TestCluster(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a cluster needs root")
	}
	mustRun(t, "build.sh", "all")
	mustRun(t, "down.sh") // what a test that was killed has left
	before := machine(t)
	t.Cleanup(func() { run("down.sh") })
	begin := time.Now()
	mustRun(t, "up.sh", "2")
	t.Logf("%5.1f s: two nodes and DNS ready", time.Since(begin).Seconds())

	for _, step := range []struct {
		sentence string
		test     func(*testing.T)
	}{
		{"each node is Ready and in a zone of its own", nodesHaveZones},
		{"pods run from an own image by its digest", podsRun},
		{"a service is reached by its name in both zones", serviceIsReached},
		{"an image is mounted as a volume", imageIsMounted},
		{"pods serve while the API server is away", apiServerStops},
		{"a node is lost and comes back", nodeIsLost},
	} {
		if !t.Run(step.sentence, step.test) {
			break // each goes on from the one before
		}
	}

	begin = time.Now()
	mustRun(t, "down.sh")
	t.Logf("%5.1f s: removed", time.Since(begin).Seconds())
	for what, want := range before {
		if got := machine(t)[what]; got != want {
			t.Errorf("%s after the cluster was removed:\n%s\nbefore it was started:\n%s", what, got, want)
		}
	}
}

func nodesHaveZones(t *testing.T) {
	eventually(t, time.Second, "two zones", prints("node-1=a True node-2=b True", "get", "nodes", "-o",
		`jsonpath={range .items[*]}{.metadata.name}={.metadata.labels.topology\.kubernetes\.io/zone} `+
			`{.status.conditions[?(@.type=="Ready")].status} {end}`))
}

func podsRun(t *testing.T) {
	archive, err := filepath.Glob(filepath.Join(strings.TrimSpace(mustRun(t, "build.sh", "all")), "smoke.tar"))
	if err != nil || len(archive) != 1 {
		t.Fatalf("smoke.tar: %v, %v", archive, err)
	}
	var image string
	for loaded := range strings.FieldsSeq(mustRun(t, "load-image.sh", archive...)) {
		if strings.HasPrefix(loaded, "swar.test/smoke@sha256:") {
			image = loaded
		}
	}
	manifest, err := os.ReadFile("testdata/smoke.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "smoke.yaml")
	if err := os.WriteFile(file, bytes.ReplaceAll(manifest, []byte("IMAGE"), []byte(image)), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "in.sh", "kubectl", "apply", "-f", file)
	eventually(t, time.Minute, "deployment of two",
		prints("2", "get", "deploy", "web", "-o", "jsonpath={.status.readyReplicas}"))
	eventually(t, time.Minute, "pod with an image volume", prints("true", "get", "pod", "client", "-o",
		"jsonpath={.status.containerStatuses[0].ready}"))
}

// answers asks the service until both zones have answered.
func answers(t *testing.T, limit time.Duration) {
	t.Helper()
	zones := map[string]bool{}
	eventually(t, limit, "an answer from each zone", func() error {
		out, err := kubectl("exec", "client", "--", "/smoke", "get", "http://web.default.svc.cluster.local/")
		if err != nil {
			return err
		}
		if fields := strings.Fields(out); len(fields) == 2 {
			zones[fields[1]] = true
		}
		if !zones["a"] || !zones["b"] {
			return fmt.Errorf("answers only from %v, the last was %q", zones, out)
		}
		return nil
	})
}

func serviceIsReached(t *testing.T) { answers(t, 20*time.Second) }

func imageIsMounted(t *testing.T) {
	out, err := kubectl("exec", "client", "--", "/smoke", "cat", "/image/smoke")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out, "\x7fELF") {
		t.Errorf("the program in the mounted image begins with %q", out[:min(len(out), 4)])
	}
}

func apiServerStops(t *testing.T) {
	address, err := kubectl("get", "service", "web", "-o", "jsonpath={.spec.clusterIP}")
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, "program.sh", "stop", "kube-apiserver")
	if _, err := kubectl("get", "nodes"); err == nil {
		t.Error("the API server still answers")
	}
	if _, err := run("in.sh", "curl", "-sS", "-m", "5", "http://"+address); err != nil {
		t.Errorf("without the API server: %v", err)
	}
	mustRun(t, "program.sh", "start", "kube-apiserver")
	eventually(t, time.Minute, "the API server is back", prints("ok", "get", "--raw", "/readyz"))
}

func nodeIsLost(t *testing.T) {
	pid, err := os.ReadFile(filepath.Join(os.TempDir(), name+"-cluster", "node-2", "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("kill", "-KILL", strings.TrimSpace(string(pid))).CombinedOutput(); err != nil {
		t.Fatalf("kill: %v: %s", err, out)
	}
	status := []string{"get", "node", "node-2", "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`}
	eventually(t, time.Minute, "the node is seen to be lost", prints("Unknown", status...))
	eventually(t, time.Minute, "its pod runs elsewhere",
		prints("2", "get", "deploy", "web", "-o", "jsonpath={.status.readyReplicas}"))
	begin := time.Now()
	mustRun(t, "up.sh", "2")
	t.Logf("%5.1f s: the node is back", time.Since(begin).Seconds())
	if _, err := kubectl("rollout", "restart", "deploy", "web"); err != nil {
		t.Fatal(err)
	}
	answers(t, time.Minute)
}

// machine returns what a cluster could leave behind on the machine.
func machine(t *testing.T) map[string]string {
	t.Helper()
	state := filepath.Join(os.TempDir(), name+"-cluster")
	found := map[string]string{"kernel settings": "", "mounts": "", "control groups": "", "processes": "", "files": "",
		"network": ""}
	for _, setting := range []string{
		"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys",
		"kernel/keys/root_maxbytes", "net/ipv4/ip_forward", "net/netfilter/nf_conntrack_max",
	} {
		value, err := os.ReadFile("/proc/sys/" + setting)
		if err != nil {
			continue
		}
		found["kernel settings"] += setting + " " + string(value)
	}
	for line := range strings.Lines(read(t, "/proc/self/mountinfo")) {
		if strings.Contains(line, name) {
			found["mounts"] += line
		}
	}
	for line := range strings.Lines(read(t, "/proc/net/dev")) {
		if device, _, ok := strings.Cut(line, ":"); ok {
			found["network"] += strings.TrimSpace(device) + "\n"
		}
	}
	found["control groups"] = glob(t, "/sys/fs/cgroup/"+name+"*", "/sys/fs/cgroup/*/"+name+"*")
	found["files"] = glob(t, state, "/run/containerd*", "/run/netns/*", "/var/lib/kubelet", "/var/lib/cni",
		"/var/log/pods")
	for _, file := range strings.Fields(glob(t, "/proc/[0-9]*/cmdline")) {
		// A process of the cluster names its state, or is a child of one that does, in process ids of its own.
		line, err := os.ReadFile(file)
		if err != nil {
			continue // ended meanwhile
		}
		environ, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "environ"))
		if bytes.Contains(line, []byte(state)) || bytes.Contains(environ, []byte("SWAR_CLUSTER="+name)) {
			found["processes"] += strings.ReplaceAll(string(line), "\x00", " ") + "\n"
		}
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func glob(t *testing.T, patterns ...string) string {
	t.Helper()
	var all []string
	for _, p := range patterns {
		paths, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, paths...)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

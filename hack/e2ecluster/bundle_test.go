//go:build e2ecluster

package e2ecluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/hack/internal/oci"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

const (
	starts     = 3 // of each kind, whose median counts
	bundlePods = "app.kubernetes.io/instance=neural,app.kubernetes.io/component=worker"
)

const bundleManifest = `
apiVersion: swar.dev/v1alpha1
kind: TTSDeployment
metadata: {name: neural}
spec:
  model: {id: random, sha256: %s, source: {oci: {reference: %s, subPath: random}}}
  runtime: {cpuPolicy: Shared, workersPerPod: %d, memory: 4Gi}
  router: {replicas: 1}
  scaling: {mode: Manual, minReplicas: 0, maxReplicas: 1}
  replicas: 1
`

// TestBundle measures how much longer a worker pod takes than the same worker outside Kubernetes, from the start to
// ready, with a bundle of a model of six layers in full precision (423 MB) that is mounted from an image.
func TestBundle(t *testing.T) {
	install(t, nil)
	folder := filepath.Join(t.TempDir(), "random")
	mustRun(t, "", "../../bin/swar", "bundle", "synth-random", "--size", "base", "-o", folder)
	digest, err := bundle.HashFile(filepath.Join(folder, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	reference := loadBundle(t, folder)
	for _, workers := range []int{1, 4} {
		outside := median(t, func() time.Duration { return startOutside(t, folder, workers) })
		apply(t, fmt.Sprintf(bundleManifest, digest, reference, workers))
		kubectl(t, "wait", "ttsd/neural", "--for", "condition=Available", "--timeout", "3m")
		inside := median(t, func() time.Duration { return startInside(t) })
		t.Logf("%d workers: %.1f s from the creation of a pod to Ready, %.1f s of the same worker outside: %.1f s more (goal 2)",
			workers, inside.Seconds(), outside.Seconds(), (inside - outside).Seconds())
		kubectl(t, "delete", "ttsd", "neural", "--timeout", "3m")
		within(t, 3*time.Minute, "its pods are gone", prints("", "get", "pods", "-l", bundlePods, "-o", "name"))
	}
}

// median is that of several starts, after one that fills the page cache.
func median(t *testing.T, start func() time.Duration) time.Duration {
	t.Helper()
	start()
	var all []time.Duration
	for range starts {
		all = append(all, start())
	}
	t.Log(all)
	slices.Sort(all)
	return all[len(all)/2]
}

// loadBundle makes an image of a folder, gives it to all nodes, and returns what a volume names it by.
func loadBundle(t *testing.T, folder string) string {
	t.Helper()
	files := make(oci.Tree)
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(filepath.Dir(folder), path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return files.Put(filepath.ToSlash(name), oci.Entry{Mode: 0o644, Content: content})
	})
	if err != nil {
		t.Fatal(err)
	}
	const name = "swar.test/random"
	image, err := oci.New(name+":1", []oci.Image{{
		Platform: oci.Platform{OS: "linux", Architecture: "amd64"}, Created: time.Unix(0, 0), Layers: []oci.Tree{files},
	}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "random.tar")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(image.Write(out), out.Close()); err != nil {
		t.Fatal(err)
	}
	mustRun(t, "", "../cluster/load-image.sh", path)
	return name + "@" + image.Index.Digest
}

// startOutside returns how long a worker takes to be ready that is a process of this machine.
func startOutside(t *testing.T, folder string, workers int) time.Duration {
	t.Helper()
	const speech, probes = "127.0.0.1:19090", "127.0.0.1:19091"
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("of-nobody-who-ever-comes"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	processors := fmt.Sprintf("0-%d", min(workers, runtime.NumCPU())-1) // as many as the pod has
	cmd := exec.CommandContext(ctx, "taskset", "-c", processors, "../../bin/swar-worker", "--bundle", folder,
		"--oversubscribe", "--token-file", token,
		"--workers", fmt.Sprint(workers), "--listen", speech, "--http", probes)
	var log strings.Builder
	cmd.Stderr = &log
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stop(); _ = cmd.Wait() }()
	for {
		answer, err := http.Get("http://" + probes + "/readyz")
		if err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return time.Since(begin)
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("the worker is not ready after a minute: %v\n%s", err, log.String())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// startInside has the fleet make its one pod anew, and returns how long that takes from its creation to Ready. The
// times in objects are whole seconds, so that the clock is that of who watches.
func startInside(t *testing.T) time.Duration {
	t.Helper()
	kubectl(t, "scale", "ttsd", "neural", "--replicas=0")
	within(t, 3*time.Minute, "it has no pods", prints("", "get", "pods", "-l", bundlePods, "-o", "name"))
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "kubectl", "--namespace", namespace, "get", "pods", "-l", bundlePods, "--watch",
		"-o", "json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { stop(); _ = cmd.Wait() }()
	time.Sleep(2 * time.Second) // until it watches
	kubectl(t, "scale", "ttsd", "neural", "--replicas=1")
	var created, runs time.Time
	for pods := json.NewDecoder(out); ; {
		var pod struct {
			Status struct {
				Conditions        []struct{ Type, Status string }
				ContainerStatuses []struct {
					State struct{ Running *struct{} }
				}
			}
		}
		if err := pods.Decode(&pod); err != nil {
			t.Fatalf("the pod is not Ready: %v", err)
		}
		if created.IsZero() {
			created = time.Now()
		}
		if all := pod.Status.ContainerStatuses; runs.IsZero() && len(all) > 0 && all[0].State.Running != nil {
			runs = time.Now()
		}
		for _, c := range pod.Status.Conditions {
			if c.Type == "Ready" && c.Status == "True" {
				t.Logf("its container ran after %.1f s, and spoke %.1f s later", runs.Sub(created).Seconds(),
					time.Since(runs).Seconds())
				return time.Since(created)
			}
		}
	}
}

//go:build e2ecluster

package e2ecluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// keepLogs keeps what every pod has logged in a folder, also of pods that are gone: kubelets remove it with the pod, so
// each file is linked to a second name while it is there.
func keepLogs(t *testing.T) {
	folder, err := filepath.Abs("../../dist/e2e-cluster")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Logf("what pods log is kept in %s", folder)
	// NAMESPACE_POD_UID/CONTAINER/RESTART.log
	files := filepath.Join(os.TempDir(), os.Getenv("SWAR_CLUSTER")+"-cluster", "node-*", "pods", namespace+"_*",
		"*", "*.log")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(500 * time.Millisecond); ; {
			found, _ := filepath.Glob(files)
			for _, file := range found {
				restart, container := filepath.Base(file), filepath.Base(filepath.Dir(file))
				pod := strings.Split(filepath.Base(filepath.Dir(filepath.Dir(file))), "_")[1]
				_ = os.Link(file, filepath.Join(folder, pod+"."+container+"."+restart)) // unless it is there
			}
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })
}

// Package kubetest starts the API server of a Kubernetes for tests, and prints its version.
package kubetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// ErrMissing is that the programs of an API server are not built.
var ErrMissing = errors.New("there is no API server: run make envtest-assets")

// Run starts an API server and prints its version to standard error. Its programs are in the folder that
// KUBEBUILDER_ASSETS names, else where make envtest-assets has built them; [ErrMissing] where there are none. The
// caller stops it.
func Run(e *envtest.Environment) (config *rest.Config, stop func() error, err error) {
	log.SetLogger(logr.Discard()) // controller-runtime would print what it has to say, and that nobody set a logger
	if e.BinaryAssetsDirectory = assets(); e.BinaryAssetsDirectory == "" {
		return nil, nil, ErrMissing
	}
	config, err = e.Start()
	if err != nil {
		return nil, nil, fmt.Errorf("starting an API server: %w", errors.Join(err, e.Stop()))
	}
	version, err := serverVersion(config)
	if err != nil {
		return nil, nil, errors.Join(err, e.Stop())
	}
	fmt.Fprintf(os.Stderr, "testing against kube-apiserver %s\n", version)
	config.QPS = -1 // tests ask often
	return config, e.Stop, nil
}

// Start is [Run] for one test, which ends the server. Without programs the test is skipped, see [Skip].
func Start(tb testing.TB, e *envtest.Environment) *rest.Config {
	tb.Helper()
	config, stop, err := Run(e)
	if errors.Is(err, ErrMissing) {
		Skip(tb)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := stop(); err != nil {
			tb.Errorf("stopping the API server: %v", err)
		}
	})
	return config
}

// Skip skips a test that has no API server, and fails it where SWAR_TEST_ENVTEST is set.
func Skip(tb testing.TB) {
	tb.Helper()
	if os.Getenv("SWAR_TEST_ENVTEST") != "" {
		tb.Fatal(ErrMissing)
	}
	tb.Skipf("SKIPPED, so that nothing was tested: %v", ErrMissing)
}

// assets returns the folder of etcd, kube-apiserver and kubectl; empty: they are not built.
func assets() string {
	if folder := os.Getenv("KUBEBUILDER_ASSETS"); folder != "" {
		return folder
	}
	_, here, _, _ := runtime.Caller(0)
	for _, level := range []string{"envtest", "all"} { // of the newest version
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(here), "../../../.cache/cluster",
			level+"-*/bin/kube-apiserver"))
		if len(found) > 0 {
			return filepath.Dir(found[len(found)-1])
		}
	}
	return ""
}

func serverVersion(config *rest.Config) (string, error) {
	c, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return "", fmt.Errorf("asking for the version of the API server: %w", err)
	}
	v, err := c.ServerVersion()
	if err != nil {
		return "", fmt.Errorf("asking for the version of the API server: %w", err)
	}
	return v.GitVersion, nil
}

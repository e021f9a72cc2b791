package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// startAPIServer starts one of the programs that make envtest-assets builds, and returns the access of an administrator.
func startAPIServer(t *testing.T, environment *envtest.Environment) *rest.Config {
	t.Helper()
	log.SetLogger(logr.Discard())
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		if found, _ := filepath.Glob("../../.cache/cluster/*/bin/kube-apiserver"); len(found) > 0 {
			assets = filepath.Dir(found[len(found)-1])
		}
	}
	switch {
	case assets == "" && os.Getenv("SWAR_TEST_ENVTEST") != "":
		t.Fatal("there is no API server: run make envtest-assets")
	case assets == "":
		t.Skip("SKIPPED, so that nothing was tested: there is no API server; run make envtest-assets")
	}
	environment.BinaryAssetsDirectory = assets
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Errorf("stopping the API server: %v", err)
		}
	})
	config.QPS = -1
	return config
}

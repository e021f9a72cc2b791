// Package onnxruntimetest finds the library of ONNX Runtime for tests.
package onnxruntimetest

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Library returns the path of the library: what SWAR_ONNXRUNTIME names, or what hack/onnxruntime.sh has fetched. Where
// there is neither it skips the test. In CI, where nobody sees what was skipped, it fails the test, unless
// SWAR_TEST_WITHOUT has the word onnxruntime.
func Library(tb testing.TB) string {
	tb.Helper()
	_, here, _, _ := runtime.Caller(0)
	return library(tb, filepath.Join(filepath.Dir(here), "..", "..", ".."))
}

func library(tb testing.TB, root string) string {
	tb.Helper()
	if path := os.Getenv("SWAR_ONNXRUNTIME"); path != "" {
		return path
	}
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	pins, err := os.ReadFile(filepath.Join(root, "hack", "fetch", "pins.txt"))
	if err != nil {
		tb.Fatal(err)
	}
	_, version, _ := strings.Cut(string(pins), "\nonnxruntime==")
	version, _, _ = strings.Cut(version, " ")
	path := filepath.Join(root, ".cache", "onnxruntime", "libonnxruntime-"+version+"-"+arch+".so")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	const missing = "NOT TESTED: there is no ONNX Runtime; run make onnxruntime, or set SWAR_ONNXRUNTIME to the library"
	meant := slices.Contains(strings.Fields(os.Getenv("SWAR_TEST_WITHOUT")), "onnxruntime")
	if os.Getenv("CI") == "true" && !meant {
		tb.Fatal(missing + "; if CI is meant to go without it, set SWAR_TEST_WITHOUT=onnxruntime")
	}
	tb.Skip(missing)
	return ""
}

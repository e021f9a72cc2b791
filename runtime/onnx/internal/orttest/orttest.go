// Package orttest finds ONNX Runtime for tests.
package orttest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/internal/ort"
)

// Need loads the library for a test: the one that SWAR_ONNXRUNTIME names, or the one that hack/onnxruntime.sh has fetched. Without
// either it skips the test and says how to get one; a library that is named must load. It returns the path.
func Need(tb testing.TB) string {
	tb.Helper()
	path := os.Getenv("SWAR_ONNXRUNTIME")
	if path == "" {
		_, here, _, _ := runtime.Caller(0)
		root := filepath.Join(filepath.Dir(here), "..", "..", "..", "..")
		arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
		if arch == "" {
			arch = runtime.GOARCH
		}
		path = filepath.Join(root, ".cache", "onnxruntime", "libonnxruntime-"+ort.Version+"-"+arch+".so")
		if _, err := os.Stat(path); err != nil {
			tb.Skip("NOT TESTED: no ONNX Runtime; run hack/onnxruntime.sh or set SWAR_ONNXRUNTIME to the library")
		}
	}
	if err := ort.Load(path); err != nil {
		tb.Fatal(err)
	}
	return path
}

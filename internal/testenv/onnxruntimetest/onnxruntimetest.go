// Package onnxruntimetest finds the library of ONNX Runtime for tests.
package onnxruntimetest

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/swar-tts/swar/internal/testenv/downloadtest"
)

// Library returns the path of the library: that of SWAR_ONNXRUNTIME, or the one that hack/onnxruntime.sh has
// downloaded. Without either it ends the test, see [downloadtest.Find].
func Library(tb testing.TB) string {
	tb.Helper()
	root := downloadtest.Root()
	pins, err := os.ReadFile(filepath.Join(root, "hack", "fetch", "pins.txt"))
	if err != nil {
		tb.Fatal(err)
	}
	return downloadtest.Find(tb, root, file(string(pins), runtime.GOARCH))
}

// file returns the pinned library of a processor: "onnxruntime==1.2.3 …", "amd64" → libonnxruntime-1.2.3-x64.so.
func file(pins, arch string) downloadtest.File {
	if arch == "amd64" {
		arch = "x64"
	}
	_, version, _ := strings.Cut("\n"+pins, "\nonnxruntime==")
	version, _, _ = strings.Cut(version, " ")
	return downloadtest.File{
		Variable: "SWAR_ONNXRUNTIME", Path: ".cache/onnxruntime/libonnxruntime-" + version + "-" + arch + ".so",
		Word:    "onnxruntime",
		Missing: "there is no ONNX Runtime; run make onnxruntime, or set SWAR_ONNXRUNTIME to the library",
	}
}

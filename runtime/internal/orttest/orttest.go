// Package orttest loads ONNX Runtime for tests.
package orttest

import (
	"testing"

	"github.com/swar-tts/swar/internal/testenv/onnxruntimetest"
	"github.com/swar-tts/swar/runtime/internal/ort"
)

// Need loads the library for a test and returns its path. Where there is none it ends the test, see
// [onnxruntimetest.Library]; one that is there must load.
func Need(tb testing.TB) string {
	tb.Helper()
	path := onnxruntimetest.Library(tb)
	if err := ort.Load(path); err != nil {
		tb.Fatal(err)
	}
	return path
}

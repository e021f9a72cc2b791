// Package downloadtest finds downloaded files for tests, and skips tests without them.
package downloadtest

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// File is a downloaded file or folder that tests need.
type File struct {
	Variable string // environment variable with its path; it wins
	Path     string // default path, in the root of the repository
	Probe    string // a file in the folder Path that shows that it is complete; empty for a file
	Word     string // in SWAR_TEST_WITHOUT if CI has no such file on purpose
	Missing  string // what is missing and how to get it: "there is no ONNX Runtime; run make onnxruntime"
}

// Root returns the root of the repository.
func Root() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", "..")
}

// Find returns the path of f: the variable's, or the default one below root if it exists. Without either it skips the
// test. With CI=true it fails the test, unless SWAR_TEST_WITHOUT has the word of f.
func Find(tb testing.TB, root string, f File) string {
	tb.Helper()
	if path := os.Getenv(f.Variable); path != "" {
		return path
	}
	path := filepath.Join(root, f.Path)
	if _, err := os.Stat(filepath.Join(path, f.Probe)); err == nil {
		return path
	}
	missing := "NOT TESTED: " + f.Missing
	meant := slices.Contains(strings.Fields(os.Getenv("SWAR_TEST_WITHOUT")), f.Word)
	if os.Getenv("CI") == "true" && !meant {
		tb.Fatal(missing + "; if CI is meant to go without it, set SWAR_TEST_WITHOUT=" + f.Word)
	}
	tb.Skip(missing)
	return ""
}

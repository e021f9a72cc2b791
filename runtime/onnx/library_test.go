package onnx

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/ort"
)

func TestFindLibrary(t *testing.T) {
	dir := t.TempDir()
	named := filepath.Join(dir, "some.so")
	if err := os.WriteFile(named, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := FindLibrary(named); got != named || err != nil {
		t.Errorf("a file that is named: %q, %v", got, err)
	}
	for path, want := range map[string]string{filepath.Join(dir, "none.so"): "make onnxruntime", dir: "folder"} {
		if got, err := FindLibrary(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want an error with %q", path, got, err, want)
		}
	}
	t.Chdir(dir)
	if _, err := os.Stat("/usr/lib/libonnxruntime.so"); err != nil { // unless this machine has one
		if got, err := FindLibrary(""); err == nil && strings.HasPrefix(got, dir) {
			t.Errorf("found %s in an empty folder", got)
		} else if err != nil && !strings.Contains(err.Error(), "SWAR_ONNXRUNTIME") {
			t.Errorf("nothing found: %v, want what to do", err)
		}
	}
	cache := filepath.Join(dir, ".cache", "onnxruntime")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	var fetched string
	for _, path := range libraryPaths() {
		if filepath.Dir(path) == cache {
			fetched = path
		}
	}
	if !strings.Contains(fetched, ort.Version) {
		t.Fatalf("no pinned file of .cache is looked for: %v", libraryPaths())
	}
	if err := os.WriteFile(fetched, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := FindLibrary(""); got != fetched || err != nil {
		t.Errorf("with the library that was fetched: %q, %v", got, err)
	}
}

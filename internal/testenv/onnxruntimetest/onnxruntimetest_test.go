package onnxruntimetest

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// recorder is a test that notes how it ended.
type recorder struct {
	testing.TB
	skipped, failed string
}

func (r *recorder) Helper() {}

func (r *recorder) Skip(args ...any) {
	r.skipped = args[0].(string)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) {
	r.failed = args[0].(string)
	runtime.Goexit()
}

func TestLibrary(t *testing.T) {
	const pins = "# What is pinned.\nonnxruntime==1.2.3 --hash=sha256:00\n"
	fetched := map[string]string{"amd64": "libonnxruntime-1.2.3-x64.so",
		"arm64": "libonnxruntime-1.2.3-arm64.so"}[runtime.GOARCH]
	for name, tt := range map[string]struct {
		ci, without, named, file string
		want, skipped, failed    string
	}{
		"none at a desk":                       {skipped: "NOT TESTED: there is no ONNX Runtime; run make onnxruntime"},
		"none in CI":                           {ci: "true", failed: "set SWAR_TEST_WITHOUT=onnxruntime"},
		"none in CI, which goes without":       {ci: "true", without: "onnxruntime", skipped: "NOT TESTED"},
		"none in CI, which goes without more":  {ci: "true", without: "npm onnxruntime", skipped: "NOT TESTED"},
		"none in CI, which lacks other things": {ci: "true", without: "onnxruntimes", failed: "make onnxruntime"},
		"one of another version in CI":         {ci: "true", file: strings.Replace(fetched, "1.2.3", "1.2.2", 1), failed: "make onnxruntime"},
		"one that was fetched":                 {ci: "true", file: fetched, want: fetched},
		"one that is named":                    {ci: "true", file: fetched, named: "other.so", want: "other.so"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CI", tt.ci)
			t.Setenv("SWAR_TEST_WITHOUT", tt.without)
			t.Setenv("SWAR_ONNXRUNTIME", tt.named)
			root := t.TempDir()
			write(t, filepath.Join(root, "hack", "fetch", "pins.txt"), pins)
			if tt.file != "" {
				write(t, filepath.Join(root, ".cache", "onnxruntime", tt.file), "")
			}
			var r recorder
			var got string
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				got = library(&r, root)
			}()
			<-ended
			if filepath.Base("/"+got) != filepath.Base("/"+tt.want) || !says(r.skipped, tt.skipped) ||
				!says(r.failed, tt.failed) {
				t.Errorf("found %q, skipped with %q, failed with %q", got, r.skipped, r.failed)
			}
		})
	}
}

// says reports whether a text has what it should say, and is empty where it should say nothing.
func says(text, want string) bool {
	return strings.Contains(text, want) && (text == "") == (want == "")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

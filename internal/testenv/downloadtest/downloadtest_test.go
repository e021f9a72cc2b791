package downloadtest

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// recorder is a test that records how it ended.
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

func TestFind(t *testing.T) {
	library := File{"SWAR_TEST_LIBRARY", ".cache/a/lib-1.2.3.so", "", "library",
		"there is no library; run make library"}
	folder := File{"SWAR_TEST_LIBRARY", ".cache/b", "model", "library", "there is no library; run make library"}
	for name, tt := range map[string]struct {
		file                    File
		ci, without, named, has string
		want, skipped, failed   string
	}{
		"none at a desk":                      {file: library, skipped: "NOT TESTED: there is no library; run make library"},
		"none in CI":                          {file: library, ci: "true", failed: "set SWAR_TEST_WITHOUT=library"},
		"none in CI, which goes without":      {file: library, ci: "true", without: "library", skipped: "NOT TESTED"},
		"none in CI, which goes without more": {file: library, ci: "true", without: "npm library", skipped: "NOT TESTED"},
		"none in CI, without another thing":   {file: library, ci: "true", without: "libraries", failed: "make library"},
		"another version in CI":               {file: library, ci: "true", has: ".cache/a/lib-1.2.2.so", failed: "make library"},
		"downloaded":                          {file: library, ci: "true", has: library.Path, want: library.Path},
		"named":                               {file: library, ci: "true", has: library.Path, named: "/other.so", want: "/other.so"},
		"a folder without its file":           {file: folder, has: ".cache/b/part", skipped: "make library"},
		"a whole folder":                      {file: folder, has: ".cache/b/model", want: ".cache/b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CI", tt.ci)
			t.Setenv("SWAR_TEST_WITHOUT", tt.without)
			t.Setenv("SWAR_TEST_LIBRARY", tt.named)
			root := t.TempDir()
			if tt.has != "" {
				write(t, filepath.Join(root, tt.has))
			}
			var r recorder
			got, ended := "", make(chan struct{})
			go func() {
				defer close(ended)
				got = Find(&r, root, tt.file)
			}()
			<-ended
			if !strings.HasSuffix(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("found %q, want %q", got, tt.want)
			}
			if !says(r.skipped, tt.skipped) || !says(r.failed, tt.failed) {
				t.Errorf("skipped with %q, failed with %q", r.skipped, r.failed)
			}
		})
	}
}

func TestRoot(t *testing.T) {
	if _, err := os.Stat(filepath.Join(Root(), "go.mod")); err != nil {
		t.Error(err)
	}
}

// says reports whether text contains want, and is empty if want is.
func says(text, want string) bool {
	return strings.Contains(text, want) && (text == "") == (want == "")
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

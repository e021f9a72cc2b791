package kokorotest

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

func TestFolder(t *testing.T) {
	for name, tt := range map[string]struct {
		ci, without, named string
		downloaded         bool
		want               string
		skipped, failed    string
	}{
		"none at a desk":                      {skipped: "NOT TESTED: there are no weights of Kokoro; run make kokoro"},
		"none in CI":                          {ci: "true", failed: "set SWAR_TEST_WITHOUT=kokoro"},
		"none in CI, which goes without":      {ci: "true", without: "kokoro", skipped: "NOT TESTED"},
		"none in CI, which goes without more": {ci: "true", without: "onnxruntime kokoro", skipped: "NOT TESTED"},
		"none in CI, which lacks others":      {ci: "true", without: "onnxruntime", failed: "make kokoro"},
		"downloaded":                          {ci: "true", downloaded: true, want: ".cache/kokoro"},
		"named":                               {ci: "true", downloaded: true, named: "/other", want: "/other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CI", tt.ci)
			t.Setenv("SWAR_TEST_WITHOUT", tt.without)
			t.Setenv("SWAR_KOKORO", tt.named)
			root := t.TempDir()
			if tt.downloaded {
				dir := filepath.Join(root, ".cache", "kokoro")
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, ModelFile), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var r recorder
			got, ended := "", make(chan struct{})
			go func() {
				defer close(ended)
				got = folder(&r, root)
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

// says reports whether a text has what it should say, and is empty where it should say nothing.
func says(text, want string) bool {
	return strings.Contains(text, want) && (text == "") == (want == "")
}

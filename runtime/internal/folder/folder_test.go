package folder

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMake(t *testing.T) {
	fails := errors.New("it fails")
	for name, tt := range map[string]struct {
		before []string // files in the folder; nil means that there is no folder
		fill   error
		want   string
	}{
		"no folder":                  {},
		"an empty folder":            {before: []string{}},
		"a folder with a file":       {before: []string{"other"}, want: "holds other already"},
		"filling it fails":           {fill: fails, want: fails.Error()},
		"filling an empty one fails": {before: []string{}, fill: fails, want: fails.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, "made")
			if tt.before != nil {
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, f := range tt.before {
				if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := Make(t.Context(), dir, func(_ context.Context, dir string) error {
				if _, err := WriteFile(dir, "file", []byte("x")); err != nil {
					return err
				}
				return tt.fill
			})
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
			_, missing := os.Stat(filepath.Join(dir, "file"))
			if (missing == nil) != (tt.want == "") {
				t.Errorf("the file: %v, and the error is %v", missing, err)
			}
			entries, err := os.ReadDir(parent)
			if err != nil || len(entries) > 1 {
				t.Errorf("%v, %v are left in the parent folder", entries, err)
			}
		})
	}
}

func TestFilesAreCompared(t *testing.T) {
	dir := t.TempDir()
	f, err := WriteFile(dir, "file", []byte("two"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Check("manifest.json"), CheckSizes(dir, []File{f}), Verify(dir, []File{f})); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("owt"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Verify(dir, []File{f}); err == nil || !strings.Contains(err.Error(), "was changed or is damaged") {
		t.Errorf("a changed file: %v", err)
	}
	for name, bad := range map[string]File{
		"the manifest":      {"manifest.json", f.SHA256, 3},
		"outside":           {"../file", f.SHA256, 3},
		"not in short form": {"./file", f.SHA256, 3},
		"no hash":           {"file", "12", 3},
		"empty":             {"file", f.SHA256, 0},
	} {
		if err := bad.Check("manifest.json"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestReadManifestIsStrict(t *testing.T) {
	var to struct{ A int }
	for text, want := range map[string]string{`{"A":1}`: "", `{"A":1,"B":2}`: "unknown field",
		`{"A":1} {}`: "something follows", `[`: "EOF"} {
		err := ReadManifest([]byte(text), &to)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}

func TestReadSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("four"), 0o600); err != nil {
		t.Fatal(err)
	}
	for most, ok := range map[int64]bool{3: false, 4: true, 5: true} {
		if _, err := ReadSmall(path, most); (err == nil) != ok {
			t.Errorf("at most %d bytes: %v", most, err)
		}
	}
}

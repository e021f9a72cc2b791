package packages

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Address{
		"pip:a_b==0.1.0/a_b/part.bin":        {"pip", "a_b==0.1.0", "a_b/part.bin"},
		"npm:a-b@1.2.1/package/voices/x.bin": {"npm", "a-b@1.2.1", "package/voices/x.bin"},
		"npm:a@1":                            {},
		"npm:a@1/":                           {},
		"pip:/x":                             {},
		"https://example.org/x":              {},
		"":                                   {},
	} {
		got, ok := Parse(text)
		if ok != (want != Address{}) || ok && got != want {
			t.Errorf("%q is %+v, %v", text, got, ok)
		}
	}
}

// tools puts programs in place of pip and npm, which copy the archives that are given to where they are to go.
func tools(t *testing.T, wheel, tarball []byte) (asked string) {
	t.Helper()
	dir := t.TempDir()
	asked = filepath.Join(dir, "asked")
	write := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("wheel", wheel)
	write("tarball", tarball)
	script := `#!/bin/sh
echo "$0 $*" >> ` + asked + `
env | grep -q SWAR_SECRET && { echo "ERROR: it sees secrets" >&2; exit 1; }
for a; do case $a in
--dest=*) to=${a#--dest=}/a-1-py3-none-any.whl from=wheel;;
--pack-destination=*) to=${a#--pack-destination=}/a-1.tgz from=tarball;;
missing*) printf 'WARNING: slow\nERROR: no such package\nmore\n' >&2; exit 1;;
hangs*) exec sleep 60;;
esac; done
cp ` + dir + `/$from "$to"
`
	write("python3", []byte(script))
	write("npm", []byte(script))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("SWAR_SECRET", "1")
	return asked
}

func wheelOf(t *testing.T, name, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tarballOf(t *testing.T, name, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: 0o644})
	if err == nil {
		_, err = w.Write([]byte(content))
	}
	if err := errors.Join(err, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFilesOfPackages(t *testing.T) {
	asked := tools(t, wheelOf(t, "a/part.bin", "wheel"), tarballOf(t, "package/v/x.bin", "tarball"))
	f := &Fetcher{Parent: filepath.Join(t.TempDir(), "store")}
	for _, tt := range []struct {
		address    string
		limit      int64
		want, fail string
	}{
		{"pip:a==1/a/part.bin", 5, "wheel", ""},
		{"pip:a==1/a/part.bin", 6, "wheel", ""},
		{"pip:a==1/a/part.bin", 4, "", "more than 4 bytes"},
		{"pip:a==1/a/other.bin", 5, "", "holds no a/other.bin"},
		{"npm:a@1/package/v/x.bin", 7, "tarball", ""},
		{"npm:a@1/package/v/x.bin", 6, "", "more than 6 bytes"},
		{"npm:a@1/package/v/y.bin", 7, "", "holds no package/v/y.bin"},
		{"pip:missing==1/x", 5, "", "python3: ERROR: no such package"},
	} {
		a, _ := Parse(tt.address)
		var b bytes.Buffer
		err := f.Copy(t.Context(), &b, a, tt.limit)
		if tt.fail == "" && (err != nil || b.String() != tt.want) {
			t.Errorf("%s: %q, %v", tt.address, b.String(), err)
		}
		if tt.fail != "" && (err == nil || !strings.Contains(err.Error(), tt.fail) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s, at most %d bytes: %v, want %q", tt.address, tt.limit, err, tt.fail)
		}
	}
	log, err := os.ReadFile(asked)
	if err != nil || strings.Count(string(log), "\n") != 3 {
		t.Errorf("%v; the tools were asked\n%swant each package once", err, log)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(f.Parent); err != nil || len(left) > 0 {
		t.Errorf("%v, %v are left", left, err)
	}
}

func TestAToolThatIsMissingOrStopped(t *testing.T) {
	tools(t, nil, nil)
	f := &Fetcher{Parent: t.TempDir()}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if err := f.Copy(ctx, &bytes.Buffer{}, Address{"npm", "hangs@1", "x"}, 1); !errors.Is(err, enough) {
		t.Errorf("stopped: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if err := f.Copy(t.Context(), &bytes.Buffer{}, Address{"npm", "a@1", "x"}, 1); err == nil || err.Error() != "npm is not installed" {
		t.Errorf("missing: %v", err)
	}
}

package packages

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
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
		if tt.fail != "" && (err == nil || !strings.Contains(err.Error(), tt.fail) ||
			strings.Contains(err.Error(), "\n")) {
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
	if err := f.Copy(t.Context(), &bytes.Buffer{}, Address{"npm", "a@1", "x"}, 1); err == nil ||
		err.Error() != "npm is not installed" {
		t.Errorf("missing: %v", err)
	}
}

// TestReasons: what pip and npm say without a network, and with one that has no such package.
func TestReasons(t *testing.T) {
	const retry = "WARNING: Retrying (Retry(total=%d, connect=None, read=None, redirect=None, status=None)) after connection broken by '%s': /simple/a/\n"
	const none = "ERROR: Could not find a version that satisfies the requirement a==1 (from versions: none)"
	down := "NewConnectionError('<pip._vendor.urllib3.connection.HTTPSConnection object at 0x7ff02ee81c90>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')"
	for name, tt := range map[string]struct{ said, want string }{
		"pip without a network": {
			fmt.Sprintf(retry, 1, down) + fmt.Sprintf(retry, 0, down) + none,
			"the package registry was not reached: Temporary failure in name resolution",
		},
		"pip behind a proxy that refuses": {
			fmt.Sprintf(retry, 0, "ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed: 403 Forbidden'))") + none,
			"the package registry was not reached: Tunnel connection failed: 403 Forbidden",
		},
		"pip that waits too long": {
			fmt.Sprintf(retry, 0, "ConnectTimeoutError(<object at 0x7f>, 'Connection to r.example timed out. (connect timeout=30)')") + none,
			"the package registry was not reached: Connection to r.example timed out. (connect timeout=30)",
		},
		"pip where a retry helped": {fmt.Sprintf(retry, 1, down) + none, none},
		"npm without a network": {
			"npm error code EAI_AGAIN\nnpm error request to https://r.example/x failed, reason: getaddrinfo EAI_AGAIN r.example\n",
			"the package registry was not reached: getaddrinfo EAI_AGAIN r.example",
		},
		"npm without the package": {"npm error code E404\nnpm error 404 Not Found\n", "npm error 404 Not Found"},
		"pip on a full disk": {
			"ERROR: Exception:\nTraceback (most recent call last):\n  File \"x.py\", line 1, in f\n    write()\nOSError: [Errno 28] No space left on device\n",
			"OSError: [Errno 28] No space left on device",
		},
		"nothing": {"", ""},
	} {
		if got := reason(tt.said); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

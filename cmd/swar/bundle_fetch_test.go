package main_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestFetchingABundle(t *testing.T) {
	s := bareShell(t)
	s.random("made")
	var archive bytes.Buffer
	z := gzip.NewWriter(&archive)
	w := tar.NewWriter(z)
	for name, content := range s.tree("made") {
		h := &tar.Header{Name: "hindi/" + name, Typeflag: tar.TypeReg, Size: int64(len(content)), Mode: 0o600}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if w.Close() != nil || z.Close() != nil {
		t.Fatal("the archive was not written")
	}
	sum := sha256.Sum256(archive.Bytes())
	digest := hex.EncodeToString(sum[:])
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write(archive.Bytes())
	}))
	defer web.Close()

	r := s.ok("bundle", "fetch", web.URL, "--sha256", digest, "--to", "got")
	if !strings.Contains(r.out, "✓ got: ") || !strings.Contains(r.out, "bundle verify got") ||
		!strings.Contains(r.err, "unpacking\n") {
		t.Errorf("it says %q and %q", r.out, r.err)
	}
	made, got := s.tree("made"), s.tree("got")
	for name := range made {
		if made[name] != got[name] || len(made) != len(got) {
			t.Errorf("%s differs, or %d files instead of %d", name, len(got), len(made))
		}
	}
	if r := s.ok("bundle", "fetch", web.URL, "--sha256", strings.ToUpper(digest), "--to",
		"got"); !strings.Contains(r.out, "already") {
		t.Errorf("again: it says %q", r.out)
	}
	if got := s.files(); got != "got got.sha256 made" {
		t.Errorf("the folder holds %s", got)
	}
	for what, tt := range map[string]struct {
		args []string
		code int
		says string
	}{
		"another hash":     {[]string{web.URL, "--sha256", strings.Repeat("0", 64), "--to", "x"}, 1, digest},
		"too large":        {[]string{web.URL, "--sha256", digest, "--to", "x", "--limit", "1KiB"}, 1, "--limit"},
		"no hash":          {[]string{web.URL, "--to", "x"}, 2, "--sha256 is missing"},
		"half a hash":      {[]string{web.URL, "--to", "x", "--sha256", digest[:63]}, 2, "want the 64 hexadecimal digits"},
		"no folder":        {[]string{web.URL, "--sha256", digest}, 2, "--to is missing"},
		"a limit of 0":     {[]string{web.URL, "--sha256", digest, "--to", "x", "--limit", "0"}, 2, "want a size such as 2GiB"},
		"another protocol": {[]string{"ftp://x/y", "--sha256", digest, "--to", "x"}, 2, "must begin with http"},
		"no address":       {nil, 2, "wants URL"},
	} {
		r := s.run(append([]string{"bundle", "fetch"}, tt.args...)...)
		if r.code != tt.code || !strings.Contains(r.err, tt.says) {
			t.Errorf("%s: exit code %d, %q; want %d, %q", what, r.code, r.err, tt.code, tt.says)
		}
	}
}

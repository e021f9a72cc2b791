package debian

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var hex = strings.Repeat("0f", 32)

func TestPinsAreReadAsTheyWereWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pins")
	want := Pins{{"amd64", "a", "1:2.0+dfsg-1", hex}, {"amd64", "b", "1", hex}, {"arm64", "a", "2", hex}}
	if err := (Pins{want[2], want[1], want[0]}).Write(path, "What this is.\nSecond line.\n"); err != nil {
		t.Fatal(err)
	}
	got, err := ReadPins(path)
	if err != nil || len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("got %v, %v", got, err)
	}
	if p, err := got.Find("arm64", "a"); err != nil || p.Version != "2" {
		t.Errorf("found %v, %v", p, err)
	}
	if _, err := got.Find("arm64", "b"); err == nil || !strings.Contains(err.Error(), "make image-pins") {
		t.Errorf("a package that is not pinned: %v", err)
	}
}

func TestPinsThatAreRefused(t *testing.T) {
	for name, line := range map[string]string{
		"three words": "amd64 a 1", "five words": "amd64 a 1 " + hex + " x",
		"a short hash": "amd64 a 1 " + hex[1:], "a long hash": "amd64 a 1 " + hex + "0",
	} {
		path := filepath.Join(t.TempDir(), "pins")
		if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadPins(path); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestParseURI(t *testing.T) {
	line := "'http://example.org/libc6_arm64.deb' libc6_2.36-9+deb12u14_arm64.deb 23 SHA256:" + hex + "\n"
	want := Pin{"arm64", "libc6", "2.36-9+deb12u14", hex}
	if got, err := parseURI("arm64", line); err != nil || got != want {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	got, err := parseURI("arm64", strings.Replace(line, " libc6_2", " libc6_1%3a2", 1))
	if err != nil || got.Version != "1:2.36-9+deb12u14" {
		t.Errorf("a version with an epoch: %v, %v", got, err)
	}
	for _, bad := range []string{"", "x", "'u' a_1_arm64.deb 1 MD5Sum:00", "'u' a.deb 1 SHA256:00"} {
		if _, err := parseURI("arm64", bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestFilesLieWhereTheyAreInstalled(t *testing.T) {
	for name, want := range map[string]string{
		"./lib/x86_64-linux-gnu/libc.so.6": "usr/lib/x86_64-linux-gnu/libc.so.6", "./lib64/ld.so": "usr/lib64/ld.so",
		"./usr/lib/a": "usr/lib/a",
		"./etc/lib/a": "etc/lib/a", "./": ".", "./lib": "lib", "./library/a": "library/a",
	} {
		if got := installed(name); got != want {
			t.Errorf("%s lies at %s, want %s", name, got, want)
		}
	}
}

func TestUnpackAndTake(t *testing.T) {
	var content bytes.Buffer
	out := tar.NewWriter(&content)
	for _, h := range []tar.Header{
		{Typeflag: tar.TypeDir, Name: "./", Mode: 0o755},
		{Typeflag: tar.TypeDir, Name: "./lib/", Mode: 0o755},
		{Typeflag: tar.TypeReg, Name: "./lib/a.so.1", Mode: 0o644},
		{Typeflag: tar.TypeSymlink, Name: "./lib/a.so", Linkname: "a.so.1"},
		{Typeflag: tar.TypeLink, Name: "./lib/b.so", Linkname: "./lib/a.so.1"},
	} {
		if h.Typeflag == tar.TypeReg {
			h.Size = 4
		}
		if err := out.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			_, _ = out.Write([]byte("code"))
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := unpack(&content)
	if err != nil {
		t.Fatal(err)
	}
	p := &Package{Name: "p", Version: "1", Files: files}
	for pattern, want := range map[string]string{
		"usr/lib/a.so*": "usr/lib/a.so usr/lib/a.so.1", "usr/lib/**": "usr/lib/a.so usr/lib/a.so.1 usr/lib/b.so",
	} {
		got, err := p.Take(pattern)
		if err != nil || strings.Join(got.Names(), " ") != want {
			t.Errorf("%s takes %v (%v), want %s", pattern, got.Names(), err, want)
		}
	}
	if got := files["usr/lib/b.so"]; string(got.Content) != "code" {
		t.Errorf("a hard link has the content %q", got.Content)
	}
	if got := files["usr/lib/a.so"]; got.Link != "a.so.1" {
		t.Errorf("a link leads to %q", got.Link)
	}
	if _, err := p.Take("usr/bin/*"); err == nil || !strings.Contains(err.Error(), "p 1 has no file usr/bin/*") {
		t.Errorf("a pattern without a file: %v", err)
	}
}

// TestAMirrorThatIsAwayIsAnError: apt-get itself takes it for a warning, and goes on with empty lists.
func TestAMirrorThatIsAwayIsAnError(t *testing.T) {
	for _, needed := range []string{"/usr/bin/apt-get", keyring} {
		if _, err := os.Stat(needed); err != nil {
			t.Skipf("NOT TESTED: %v", err)
		}
	}
	t.Setenv("http_proxy", "")
	a := &Archive{Cache: t.TempDir(), Mirror: "http://127.0.0.1:1"}
	err := a.Fetch(t.Context(), "amd64", []Pin{{"amd64", "libc6", "1", hex}})
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(a.state("amd64"), "sources")); err == nil {
		t.Error("the empty lists are taken for those of the mirror")
	}
}

func TestMirrorAmong(t *testing.T) {
	for uris, want := range map[string]string{
		"http://a.example/debian-security/ http://b.example/debian/": "http://b.example",
		"https://a.example/pub/debian":                               "https://a.example/pub",
		"http://a.example/ubuntu/ http://a.example/notdebian/":       "",
		"": "",
	} {
		if got := mirrorAmong(strings.Fields(uris)); got != want {
			t.Errorf("among %q it found %q, want %q", uris, got, want)
		}
	}
}

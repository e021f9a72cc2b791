package oci

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"
)

var created = time.Date(2026, 11, 22, 21, 26, 48, 0, time.FixedZone("IST", 19800))

func tree(t *testing.T, entries map[string]Entry) Tree {
	t.Helper()
	all := Tree{}
	for name, e := range entries {
		if err := all.Put(name, e); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func some(t *testing.T) Tree {
	return tree(t, map[string]Entry{
		"usr/local/bin/swar":                {Mode: 0o755, Content: []byte("program")},
		"tmp":                               {Mode: fs.ModeDir | fs.ModeSticky | 0o777},
		"data":                              {Mode: fs.ModeDir | 0o750, Owner: 65532},
		"lib":                               {Mode: fs.ModeSymlink | 0o777, Link: "usr/lib"},
		"etc/" + strings.Repeat("long", 60): {Mode: 0o600},
	})
}

func pair(t *testing.T, reference string) *Archive {
	t.Helper()
	var images []Image
	for _, arch := range []string{"amd64", "arm64"} {
		images = append(images, Image{
			Platform: Platform{"linux", arch}, Created: created,
			Layers: []Tree{some(t), {"a": {Mode: 0o644, Content: []byte(arch)}}},
			Run: Execution{User: "65532:65532", Entrypoint: []string{"/a"},
				Labels: map[string]string{"b": "2", "a": "1"}},
		})
	}
	a, err := New(reference, images)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func written(t *testing.T, a *Archive) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := a.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func files(t *testing.T, r io.Reader) (names []string, content map[string][]byte) {
	t.Helper()
	content = map[string][]byte{}
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return names, content
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprintf("%c %04o %d:%d %s %s", h.Typeflag, h.Mode, h.Uid, h.Gid, h.Name, h.Linkname))
		if h.ModTime.Unix() != created.Unix() || h.Uname != "" || h.Gname != "" {
			t.Errorf("%s: time %s, user %q, group %q", h.Name, h.ModTime, h.Uname, h.Gname)
		}
		if content[h.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheSameFilesGiveTheSameBytes(t *testing.T) {
	first, second := pair(t, "swar-tts/worker:v1"), pair(t, "swar-tts/worker:v1")
	if first.Index.Digest != second.Index.Digest {
		t.Errorf("digests %s and %s", first.Index.Digest, second.Index.Digest)
	}
	if !bytes.Equal(written(t, first), written(t, second)) {
		t.Error("two archives of the same files differ")
	}
}

func TestALayerIsSortedAndKeepsPermissions(t *testing.T) {
	var out bytes.Buffer
	if err := some(t).writeTar(&out, created); err != nil {
		t.Fatal(err)
	}
	got, _ := files(t, &out)
	want := []string{
		"5 0750 65532:0 data/ ",
		"5 0755 0:0 etc/ ",
		"0 0600 0:0 etc/" + strings.Repeat("long", 60) + " ",
		"2 0777 0:0 lib usr/lib",
		"5 1777 0:0 tmp/ ",
		"5 0755 0:0 usr/ ",
		"5 0755 0:0 usr/local/ ",
		"5 0755 0:0 usr/local/bin/ ",
		"0 0755 0:0 usr/local/bin/swar ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestWhatATreeRefuses(t *testing.T) {
	file := Entry{Mode: 0o644}
	for name, path := range map[string]string{
		"an absolute path": "/etc/passwd", "a path that leaves": "../etc", "a path that is not clean": "etc//passwd",
		"no path": "", "the root": ".",
	} {
		if err := (Tree{}).Put(path, file); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	twice := Tree{"a": file}
	if err := twice.Put("a", file); err == nil {
		t.Error("a second file of the same name was taken")
	}
	for name, bad := range map[string]Tree{
		"a file below a file":   {"a": file, "a/b": file},
		"a socket":              {"a": {Mode: fs.ModeSocket}},
		"a folder with content": {"a": {Mode: fs.ModeDir | 0o755, Content: []byte("x")}},
	} {
		if err := bad.writeTar(io.Discard, created); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

// TestAnArchiveIsWhole follows every reference of an archive down to the files, as whoever imports it does.
func TestAnArchiveIsWhole(t *testing.T) {
	a := pair(t, "swar-tts/worker:v1")
	_, content := files(t, bytes.NewReader(written(t, a)))
	blob := func(d Descriptor) []byte {
		b, ok := content[blobPath(d.Digest)]
		if !ok || digest(b) != d.Digest || int64(len(b)) != d.Size {
			t.Fatalf("blob %s of %d bytes: present %t, %d bytes, %s", d.Digest, d.Size, ok, len(b), digest(b))
		}
		return b
	}
	decode := func(b []byte, v any) {
		t.Helper()
		if err := json.Unmarshal(b, v); err != nil {
			t.Fatal(err)
		}
	}
	var top, all index
	decode(content["index.json"], &top)
	if len(top.Manifests) != 1 || top.Manifests[0].Digest != a.Index.Digest {
		t.Fatalf("index.json names %v, want %s only", top.Manifests, a.Index.Digest)
	}
	if got := top.Manifests[0].Annotations["io.containerd.image.name"]; got != "docker.io/swar-tts/worker:v1" {
		t.Errorf("name for containerd %q", got)
	}
	decode(blob(top.Manifests[0]), &all)
	for i, d := range all.Manifests {
		var m manifest
		var c config
		decode(blob(d), &m)
		decode(blob(m.Config), &c)
		if c.Platform != *d.Platform || c.Platform != a.Images[i].Platform {
			t.Errorf("the configuration is for %s, its manifest for %s", c.Platform, d.Platform)
		}
		if c.Config.User != "65532:65532" || !c.Created.Equal(created) {
			t.Errorf("configuration %+v", c)
		}
		for n, l := range m.Layers {
			z, err := gzip.NewReader(bytes.NewReader(blob(l)))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(z)
			if err != nil || digest(plain) != c.RootFS.DiffIDs[n] {
				t.Errorf("layer %d unpacks to %s (%v), want %s", n, digest(plain), err, c.RootFS.DiffIDs[n])
			}
			files(t, bytes.NewReader(plain))
		}
	}
	var docker []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	decode(content["manifest.json"], &docker)
	if len(docker) != 1 || len(docker[0].Layers) != 2 || docker[0].RepoTags[0] != a.Reference {
		t.Fatalf("manifest.json says %+v", docker)
	}
	for _, name := range append(docker[0].Layers, docker[0].Config) {
		if content[name] == nil {
			t.Errorf("manifest.json names %s, which is not there", name)
		}
	}
}

func TestFullName(t *testing.T) {
	for reference, want := range map[string]string{
		"worker:v1":                   "docker.io/library/worker:v1",
		"swar-tts/worker:v1":          "docker.io/swar-tts/worker:v1",
		"localhost/worker:v1":         "localhost/worker:v1",
		"registry.example/a/b:v1":     "registry.example/a/b:v1",
		"127.0.0.1:5000/swar/w:v1":    "127.0.0.1:5000/swar/w:v1",
		"registry:5000/swar-tts/w:v1": "registry:5000/swar-tts/w:v1",
	} {
		if got := FullName(reference); got != want {
			t.Errorf("%s is kept as %s, want %s", reference, got, want)
		}
	}
}

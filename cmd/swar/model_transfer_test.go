package main_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

func TestAModelGoesToAMachineWithoutTheInternet(t *testing.T) {
	s, h := hubShell(t)
	h.Publish("acme/hinglish", published(t))
	s.ok("model", "pull", "hf://acme/hinglish")
	out := s.ok("model", "export", "hinglish", "-o", "m.tar").out
	sum := sha256.Sum256(s.read("m.tar"))
	if !strings.Contains(out, hex.EncodeToString(sum[:])) || !strings.Contains(out, "model import 'm.tar'") {
		t.Errorf("it says %q, want the hash and what to type", out)
	}
	s.ok("model", "export", "hinglish", "-o", "again.tar")
	if !bytes.Equal(s.read("m.tar"), s.read("again.tar")) {
		t.Error("once more it is another archive")
	}
	server := httptest.NewServer(http.FileServer(http.Dir(s.dir)))
	defer server.Close()
	address := server.URL + "/m.tar#sha256=" + hex.EncodeToString(sum[:])
	if err := os.CopyFS(s.path("a folder"), os.DirFS(strings.TrimSpace(s.ok("model", "pull", "--quiet",
		"hf://acme/hinglish").out))); err != nil {
		t.Fatal(err)
	}
	want := s.tree("a folder")
	for how, args := range map[string][]string{
		"import":             {"model", "import", "m.tar", "--quiet"},
		"import of a pipe":   {"model", "import", "-", "--quiet"},
		"pull of a file":     {"model", "pull", "file:m.tar", "--quiet"},
		"pull of a folder":   {"model", "pull", "file:a folder", "--quiet"},
		"pull of an address": {"model", "pull", address, "--quiet"},
	} {
		store := t.TempDir()
		s.env = append(s.env, "SWAR_MODELS="+store)
		r := s.runWith(string(s.read("m.tar")), args...)
		if r.code != 0 {
			t.Errorf("%s: exit code %d, %s", how, r.code, r.err)
			continue
		}
		if err := os.CopyFS(s.path(how), os.DirFS(strings.TrimSpace(r.out))); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(s.tree(how)) != fmt.Sprint(want) {
			t.Errorf("%s: it is another bundle", how)
		}
		s.ok("model", "verify", "hinglish")
		entries, err := os.ReadDir(store)
		if err != nil || len(entries) != 1 {
			t.Errorf("%s: in the store there is %v, %v; want one model", how, entries, err)
		}
	}
}

func TestImportsThatAreRefused(t *testing.T) {
	s, h := hubShell(t)
	h.Publish("acme/hinglish", published(t))
	s.ok("model", "pull", "hf://acme/hinglish")
	s.ok("model", "export", "hinglish", "-o", "m.tar")
	s.ok("model", "rm", "hinglish")
	archiveOf := func(names ...string) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, name := range names {
			name, content, _ := strings.Cut(name, "=")
			_ = w.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644, Typeflag: tar.TypeReg})
			_, _ = w.Write([]byte(content))
		}
		_ = w.Close()
		return b.Bytes()
	}
	whole := s.read("m.tar")
	for what, tt := range map[string]struct {
		content []byte
		args    []string
		want    string
	}{
		"half":              {whole[:len(whole)/2], nil, "unpacking"},
		"no archive":        {[]byte(strings.Repeat("no archive ", 100)), nil, "not an archive that can be unpacked"},
		"no model":          {archiveOf("a=b"), nil, "there is no bundle in it"},
		"another format":    {archiveOf(`lock.json={"format": 2}`), nil, "format 2"},
		"a path as name":    {bytes.Replace(whole, []byte(`"name": "hinglish"`), []byte(`"name": "../nglis"`), 1), nil, "cannot be the name of a model"},
		"a path as version": {archiveOf(`lock.json={"format": 1, "name": "a", "revision": "../../../../../a"}`), nil, "is not a revision"},
		"out of the folder": {archiveOf("../evil=x"), nil, "leads out of the folder"},
		"a changed bundle":  {bytes.Replace(whole, []byte(`"hi-IN+en-IN"`), []byte(`"hi-IN+en-US"`), 1), nil, "one of both was changed"},
		"too large":         {whole, []string{"--limit", "1MiB"}, "--limit"},
	} {
		s.write("x.tar", tt.content)
		r := s.run(append([]string{"model", "import", "x.tar"}, tt.args...)...)
		if r.code != 1 || !strings.Contains(r.err, tt.want) {
			t.Errorf("%s: exit code %d, %q; want %q", what, r.code, r.err, tt.want)
		}
		if out := s.ok("model", "list", "--json").out; strings.Contains(out, `"folder"`) {
			t.Errorf("%s: something is in the store: %s", what, out)
		}
	}
	if r := s.run("model", "pull", "https://127.0.0.1:1/m.tar"); r.code != 1 || !strings.Contains(r.err, "#sha256=") {
		t.Errorf("an address without a hash: exit code %d, %q", r.code, r.err)
	}
}

func TestServeBringsAModelOnlyIfItMay(t *testing.T) {
	s, h := hubShell(t)
	h.Publish("acme/hinglish", published(t))
	if r := s.run("serve", "--portal", "off", "--listen", "127.0.0.1:0", "--model", "saryps-hindi"); r.code != 1 ||
		!strings.Contains(r.err, "--pull") {
		t.Errorf("without --pull: exit code %d, %q", r.code, r.err)
	}
	if asked := h.Asked.Load(); asked != 0 {
		t.Errorf("without --pull the hub was asked %d times", asked)
	}
	if v := s.serve("--model", "hf://acme/hinglish",
		"--pull"); !strings.Contains(get(t, v.base+"/v1/voices"), `"raj"`) {
		t.Error("with --pull the voice is not served")
	}
	asked := h.Asked.Load()
	s.serve("--model", "hinglish", "--pull")
	if again := h.Asked.Load() - asked; again != 0 {
		t.Errorf("of a model that is here the hub was asked %d times", again)
	}
}

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swar-tts/swar/hack/internal/oci"
)

// compileC returns a library compiled from a line of C.
func compileC(t *testing.T, source string, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("there is no gcc")
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.so")
	if err := os.WriteFile(in, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"-shared", "-fPIC", "-nostdlib", "-o", out, in}, args...)
	if text, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestALibraryThatIsMissingIsNoticed(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "versions")
	if err := os.WriteFile(script, []byte("INNER_1 { inner; };\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	inner := compileC(t, "int inner(void) { return 1; }", "-Wl,-soname,libinner.so.1", "-Wl,--version-script="+script)
	if err := os.WriteFile(filepath.Join(dir, "libinner.so"), inner, 0o600); err != nil {
		t.Fatal(err)
	}
	outer := compileC(t, "int inner(void); int outer(void) { return inner(); }", "-L"+dir, "-linner")
	older := compileC(t, "int inner(void) { return 1; }", "-Wl,-soname,libinner.so.1")
	file := func(content []byte) oci.Entry { return oci.Entry{Mode: 0o644, Content: content} }
	link := func(to string) oci.Entry { return oci.Entry{Mode: fs.ModeSymlink, Link: to} }
	folder := "usr/lib/" + architectures["amd64"].triplet
	library := folder + "/libinner.so.1"
	const missing = "libinner.so.1, which is missing"
	for name, c := range map[string]struct {
		tree oci.Tree
		want string
	}{
		"whole":                  {oci.Tree{"outer": file(outer), library: file(inner)}, ""},
		"found by way of a link": {oci.Tree{"outer": file(outer), library: link("x.so"), folder + "/x.so": file(inner)}, ""},
		"missing":                {oci.Tree{"outer": file(outer)}, missing},
		"a link to nowhere":      {oci.Tree{"outer": file(outer), library: link("x.so")}, missing},
		"a link to itself":       {oci.Tree{"outer": file(outer), library: link("libinner.so.1")}, missing},
		"an older version":       {oci.Tree{"outer": file(outer), library: file(older)}, "INNER_1 of libinner.so.1"},
		"no program at all":      {oci.Tree{"text": file([]byte("hello"))}, ""},
	} {
		err := checkLibraries(c.tree)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestFollow(t *testing.T) {
	tree := oci.Tree{
		"lib":             {Mode: fs.ModeSymlink, Link: "usr/lib"},
		"usr/lib/a":       {Mode: 0o644},
		"usr/lib/rel":     {Mode: fs.ModeSymlink, Link: "a"},
		"usr/lib64/abs":   {Mode: fs.ModeSymlink, Link: "/lib/rel"},
		"usr/lib64/above": {Mode: fs.ModeSymlink, Link: "../lib/a"},
	}
	for name, want := range map[string]string{
		"usr/lib/a": "usr/lib/a", "lib/a": "usr/lib/a", "lib/rel": "usr/lib/a", "usr/lib64/abs": "usr/lib/a",
		"usr/lib64/above": "usr/lib/a", "lib/none": "",
	} {
		if got, ok := follow(tree, name); got != want || ok != (want != "") {
			t.Errorf("%s leads to %q, want %q", name, got, want)
		}
	}
}

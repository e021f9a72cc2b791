package ort_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/internal/orttest"
)

// TestLoadRefuses runs in a process of its own, because the one of the other tests has loaded a library.
func TestLoadRefuses(t *testing.T) {
	if os.Getenv("ORT_TEST_FRESH") == "" {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		fresh := exec.Command(program, "-test.run=^TestLoadRefuses$", "-test.v")
		fresh.Env = append(os.Environ(), "ORT_TEST_FRESH=1")
		out, err := fresh.CombinedOutput()
		if t.Logf("%s", out); err != nil {
			t.Error(err)
		}
		return
	}
	tests := []struct{ name, path, want string }{
		{"no path", "", "make onnxruntime"},
		{"a file that is missing", filepath.Join(t.TempDir(), "nothing.so"), "there is no ONNX Runtime library at"},
		{"a folder", t.TempDir(), "is not a file"},
		{"a text", write(t, []byte("not a library")), "is not a library"},
		{"an empty file", write(t, nil), "is not a library"},
		{"a program, which is not a library", program(t), "but not ONNX Runtime"},
		{"a library that is too old", compile(t, old), "is older than " + ort.Version},
		{"a library for another machine", foreign(t), "made for EM_"},
	}
	for _, tt := range tests {
		err := ort.Load(tt.path)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", tt.name, err, tt.want)
		}
	}
	if ort.Loaded() != "" {
		t.Errorf("%s counts as loaded", ort.Loaded())
	}
	orttest.Need(t) // an error spoils nothing
	if ort.Loaded() == "" {
		t.Error("the right library is not loaded afterwards")
	}
	for release, ok := range map[string]bool{"1.0": true, ort.Loaded(): true, ort.Loaded() + "1": false,
		"1.999.0": false, "2.0.0": false} {
		if err := ort.AtLeast(release); (err == nil) != ok {
			t.Errorf("at least %s: %v", release, err)
		}
	}
}

func write(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "libonnxruntime.so")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func program(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// foreign is a header of an ELF file for a machine that nobody has.
func foreign(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(program(t))
	if err != nil {
		t.Fatal(err)
	}
	data[18], data[19] = 2, 0 // the field e_machine: SPARC
	return write(t, data)
}

// old is a library that, asked for its interface, has none of that version.
const old = `
struct base { const void *(*api)(unsigned version); const char *(*version)(void); };
static const void *api(unsigned version) { return 0; }
static const char *version(void) { return "1.17.0"; }
static const struct base it = { api, version };
const struct base *OrtGetApiBase(void) { return &it; }
`

// compile builds a shared library of a text in C.
func compile(t *testing.T, text string) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "old.c")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(t.TempDir(), "libonnxruntime.so")
	if out, err := exec.Command(compiler(), "-shared", "-fPIC", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return library
}

// TestTheLibraryTellsNobody: it leaves no identifier of the machine and no log behind, which it has where it sends what
// it sees to its maker.
func TestTheLibraryTellsNobody(t *testing.T) {
	orttest.Need(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), self, "-test.run", "^TestIntegersAreExactWithEveryKernel$")
	cmd.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home, "XDG_CACHE_HOME="+home, "XDG_DATA_HOME="+home,
		"ORT_DISABLE_TELEMETRY=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	left, err := os.ReadDir(home)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range left {
		t.Errorf("%s is left", file.Name())
	}
}

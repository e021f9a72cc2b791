package ort_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	declared = regexp.MustCompile(`\(\*(\w+)\)\(`)
	compared = regexp.MustCompile(`(?m)^FIELD\(\w+, \w+, (\w+)\)$`)
)

// TestInterfaceMatchesTheHeader compiles our declarations of ONNX Runtime's interface against the header that the
// wrapper ships.
func TestInterfaceMatchesTheHeader(t *testing.T) {
	ours := readFile(t, "ortapi.h")
	names := map[string]bool{"version": true}
	for _, m := range declared.FindAllStringSubmatch(ours, -1) {
		names[m[1]] = true
	}
	if len(names) < 30 {
		t.Fatalf("ortapi.h declares only %d functions", len(names))
	}
	checks := map[string]bool{}
	for _, m := range compared.FindAllStringSubmatch(readFile(t, "testdata/interface.c"), -1) {
		checks[m[1]] = true
	}
	for name := range names {
		if !checks[name] && name != "ort_unused" {
			t.Errorf("testdata/interface.c does not compare %s", name)
		}
	}
	if out, err := compileInterface(t, ours); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestInterfaceCheckNotices changes our declarations, each in a way that must not compile.
func TestInterfaceCheckNotices(t *testing.T) {
	ours := readFile(t, "ortapi.h")
	for name, change := range map[string][2]string{
		"a function one place further":       {"unused3[9]", "unused3[10]"},
		"a structure without a field":        {"	void (*KernelDestroy)(void *kernel);\n", ""},
		"an argument of another type":        {"size_t index, const OrtValue **value", "int index, const OrtValue **value"},
		"another number for a type":          {"ort_int8 = 3", "ort_int8 = 2"},
		"too little room at the end":         {"void *later[16]", "void *later[1]"},
		"a version that the wrapper has not": {"ort_api_version = 17", "ort_api_version = 1000"},
	} {
		changed := strings.Replace(ours, change[0], change[1], 1)
		if changed == ours {
			t.Fatalf("%s: ortapi.h has no %q", name, change[0])
		}
		if out, err := compileInterface(t, changed); err == nil || !strings.Contains(string(out), "error:") {
			t.Errorf("%s: it compiles (%v)\n%s", name, err, out)
		}
	}
}

// compileInterface compiles the comparison with a text in the place of ortapi.h.
func compileInterface(t *testing.T, header string) (out []byte, err error) {
	t.Helper()
	wrapper, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yalue/onnxruntime_go").Output()
	if err != nil {
		t.Fatalf("finding the module with the header: %v", err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"ortapi.h": header, "interface.c": readFile(t, "testdata/interface.c")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return exec.Command(compiler(), "-std=c11", "-fsyntax-only", "-Wno-enum-compare",
		"-I", dir, "-I", strings.TrimSpace(string(wrapper)), filepath.Join(dir, "interface.c")).CombinedOutput()
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// compiler is the one of cgo: who can build this package has it.
func compiler() string {
	if cc := os.Getenv("CC"); cc != "" {
		return cc
	}
	return "gcc"
}

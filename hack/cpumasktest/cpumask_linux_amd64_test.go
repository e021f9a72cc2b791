// Package cpumasktest has no code, only tests of what hides instructions from a program.
package cpumasktest

import (
	"errors"
	"fmt"
	_ "net" // which links the C library, as programs do that use kernels
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"
)

const script = "../cpumask.sh"

// told is what a program says that runs with the library: it has asked its processor in Go code, and goes on after a
// fault of its own.
func told() (text string) {
	defer func() {
		text = fmt.Sprintf("AVX2 %t, AVX-512 %t, %v\n", cpu.X86.HasAVX2, cpu.X86.HasAVX512F, recover())
	}()
	var nowhere *[1]int
	return fmt.Sprint(nowhere[0])
}

func TestMain(m *testing.M) {
	if os.Getenv("CPUMASK") != "" && len(os.Args) == 1 {
		fmt.Print(told())
		return
	}
	os.Exit(m.Run())
}

// need skips the test where this machine cannot hide instructions.
func need(t *testing.T) {
	t.Helper()
	out, err := exec.Command(script, "avx2", "true").CombinedOutput()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && e.ExitCode() == 2 {
		t.Skipf("%s", out)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func TestGoProgramsSeeAnOlderProcessor(t *testing.T) {
	need(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for level, isHidden := range map[string]bool{"avx2": true, "avx512": false} {
		cmd := exec.Command(script, level, self)
		out, err := cmd.CombinedOutput()
		want := fmt.Sprintf("AVX2 %t, AVX-512 %t, ", cpu.X86.HasAVX2, cpu.X86.HasAVX512F && !isHidden)
		if err != nil || !strings.HasPrefix(string(out), want) ||
			!strings.Contains(string(out), "nil pointer dereference") {
			t.Errorf("%s: %v, %s; want %s and a fault that it goes on after", level, err, out, want)
		}
	}
}

// TestAFaultEndsAProgram that has no handler, as without the library.
func TestAFaultEndsAProgram(t *testing.T) {
	need(t)
	out, err := exec.Command(script, "avx2", "bash", "-c", "kill -SEGV $$").CombinedOutput()
	if err == nil || !strings.Contains(err.Error(), "segmentation fault") {
		t.Errorf("%v: %s, want a segmentation fault", err, out)
	}
}

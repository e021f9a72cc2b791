// Package cpumasktest has no code, only tests of what hides instructions from a program.
package cpumasktest

import (
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

// masked runs a program under the script, by one way, and returns what it prints on both outputs.
func masked(way string, args ...string) (out, told string, code int, err error) {
	var stdout, stderr strings.Builder
	cmd := exec.Command(script, args...)
	cmd.Env = append(os.Environ(), "CPUMASK_WAY="+way)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), err
}

// inEachWay runs a test for every way in which instructions can be hidden. Patching must work on every machine with
// objdump.
func inEachWay(t *testing.T, test func(t *testing.T, way string)) {
	for _, way := range []string{"fault", "patch"} {
		t.Run(way, func(t *testing.T) {
			_, told, code, err := masked(way, "avx2", "true")
			if _, missing := exec.LookPath("objdump"); code == 2 && (way == "fault" || missing != nil) {
				t.Skip(told)
			}
			if err != nil {
				t.Fatalf("%v: %s", err, told)
			}
			test(t, way)
		})
	}
}

func TestGoProgramsSeeAnOlderProcessor(t *testing.T) {
	inEachWay(t, func(t *testing.T, way string) {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		for level, isHidden := range map[string]bool{"avx2": true, "avx512": false} {
			out, told, _, err := masked(way, level, self)
			want := fmt.Sprintf("AVX2 %t, AVX-512 %t, ", cpu.X86.HasAVX2, cpu.X86.HasAVX512F && !isHidden)
			if err != nil || !strings.HasPrefix(out, want) || !strings.Contains(out, "nil pointer dereference") {
				t.Errorf("%s: %v, %s%s; want %s and a fault that it goes on after", level, err, out, told, want)
			}
			if patched := strings.Contains(told, "CPUID instructions of "+self); patched != (way == "patch") {
				t.Errorf("%s: the script reports %q", level, told)
			}
		}
	})
}

// TestAFaultEndsAProgram that has no handler, as without the library. SIGSEGV and SIGILL are the signals it handles.
func TestAFaultEndsAProgram(t *testing.T) {
	inEachWay(t, func(t *testing.T, way string) {
		for signal, want := range map[string]string{"SEGV": "segmentation fault", "ILL": "illegal instruction"} {
			_, told, _, err := masked(way, "avx2", "bash", "-c", "kill -"+signal+" $$")
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %s, want %s", err, told, want)
			}
		}
	})
}

// TestWhatCannotHideInstructionsFails shows that no program runs unmasked without a word.
func TestWhatCannotHideInstructionsFails(t *testing.T) {
	t.Setenv("CGO_ENABLED", "0")
	static := t.TempDir() + "/static"
	if out, err := exec.Command("go", "build", "-o", static, "./testdata/static.go").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, c := range map[string]struct {
		way  string
		args []string
		want string
	}{
		"a static program":   {"any", []string{"avx2", static}, "linked statically"},
		"an unknown level":   {"any", []string{"sse2", "true"}, "CPUMASK is sse2, want avx2 or avx512"},
		"an unknown way":     {"other", []string{"avx2", "true"}, "want fault or patch"},
		"an unknown program": {"any", []string{"avx2", "/nowhere"}, "/nowhere is not a program"},
	} {
		if out, told, code, _ := masked(c.way, c.args...); code != 2 || out != "" || !strings.Contains(told, c.want) {
			t.Errorf("%s: code %d, %s%s; want 2 and %q", name, code, out, told, c.want)
		}
	}
}

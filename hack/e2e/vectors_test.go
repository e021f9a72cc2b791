//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheEngineEqualsTheReference compares one case, which lies in the repository as it is published. That all of them
// agree is tested beside the engine; here it is what the command prints and returns that is tested.
func TestTheEngineEqualsTheReference(t *testing.T) {
	library(t)
	const name = "03-noise-and-steps"
	cases := filepath.Join(t.TempDir(), "golden")
	if err := os.CopyFS(filepath.Join(cases, name), os.DirFS(filepath.Join(vectors, name))); err != nil {
		t.Fatal(err)
	}
	out := mustSwar(t, "bundle", "verify", "--vectors", cases)
	for _, quantity := range []string{"tokens", "kv_text", "h", "eos_logit", "latent", "frames", "audio"} {
		if _, rest, found := strings.Cut("\n"+out, "\n"+name+"  "+quantity+"  "); !found ||
			!strings.HasSuffix(strings.SplitN(rest, "\n", 2)[0], "  ok") {
			t.Errorf("%s is not ok:\n%s", quantity, out)
		}
	}
	if strings.Contains(out, "FAIL") || !strings.Contains(out, "\n1 case: ") ||
		!strings.Contains(out, " ok, 0 failed, ") {
		t.Errorf("it says\n%s", out)
	}
	bundle := randomBundle(t)
	if out := mustSwar(t, "bundle", "verify", "--vectors", cases,
		bundle); !strings.Contains(out, "ok  voice    raj: ") || !strings.Contains(out, "\n1 case: ") {
		t.Errorf("with a bundle it says\n%s", out)
	}

	// One value that the reference gave, in one array: nothing but its own comparison may notice.
	path := filepath.Join(cases, name, "run_t03_n1.eos_logit.npy")
	array := readFile(t, path)
	copy(array[len(array)-4:], []byte{0, 0, 0x80, 0x40}) // 4.0
	if err := os.WriteFile(path, array, 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, complaint := swar(t, "bundle", "verify", "--vectors", cases)
	failed := 0
	for line := range strings.Lines(out) {
		if strings.Contains(line, "  FAIL") {
			if failed++; !strings.HasPrefix(line, name+"  eos_logit  ") || !strings.Contains(line, "run t03_n1") {
				t.Errorf("%q", line)
			}
		}
	}
	if code != 1 || failed != 1 || !strings.Contains(out, " ok, 1 failed, ") ||
		!strings.HasPrefix(complaint, "swar: 1 of ") {
		t.Errorf("exit code %d, %d lines with FAIL; want 1 and 1\n%s%s", code, failed, out, complaint)
	}

	if code, _, complaint := swar(t, "bundle", "verify", "--vectors", t.TempDir()); code != 1 ||
		!strings.Contains(complaint, "case.json") {
		t.Errorf("a folder without cases: exit code %d, %q", code, complaint)
	}
}

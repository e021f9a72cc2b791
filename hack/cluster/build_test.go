package cluster

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestABuildAsksFirst for what it takes, before it compiles for a quarter of an hour.
func TestABuildAsksFirst(t *testing.T) {
	for _, tool := range []string{"gcc", "pkg-config"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("NOT TESTED: %s is missing", tool)
		}
	}
	for name, tt := range map[string]struct{ script, set, want string }{
		"libseccomp":       {"build.sh", "PKG_CONFIG_LIBDIR=/nowhere", "libseccomp-dev is missing"},
		"a C compiler":     {"build.sh", "CC=nowhere-cc -m64", "the C compiler nowhere-cc -m64 is missing"},
		"libseccomp, KEDA": {"keda.sh", "PKG_CONFIG_LIBDIR=/nowhere", "libseccomp-dev is missing"},
		"one that links":   {"build.sh", "CC=false", "linked statically with libseccomp"},
		"Go":               {"build.sh", "PATH=/usr/bin:/bin", "Go is missing"},
	} {
		if path, _ := exec.Command("env", "PATH=/usr/bin:/bin", "which", "go").Output(); name == "Go" && len(path) > 0 {
			continue
		}
		if name == "one that links" && exec.Command("pkg-config", "--exists", "libseccomp").Run() != nil {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "./"+tt.script)
		if tt.script == "build.sh" {
			cmd.Args = append(cmd.Args, "all")
		}
		cache := t.TempDir()
		cmd.Env = append(os.Environ(), "SWAR_CLUSTER_CACHE="+cache, tt.set)
		said, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(said), tt.want) || strings.Contains(string(said), "compiled") {
			t.Errorf("without %s: %v, %s, want %q", name, err, said, tt.want)
		}
	}
}

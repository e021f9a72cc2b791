package kubetest

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// recorder is a test that notes how it ended.
type recorder struct {
	testing.TB
	ended string
}

func (r *recorder) Helper()               {}
func (r *recorder) Fatal(...any)          { r.ended = "failed"; runtime.Goexit() }
func (r *recorder) Skipf(string, ...any)  { r.ended = "skipped"; runtime.Goexit() }
func (r *recorder) Cleanup(func())        {}
func (r *recorder) Errorf(string, ...any) {}

// TestWithoutAnAPIServer: a test says that it did nothing, and fails where that is not meant.
func TestWithoutAnAPIServer(t *testing.T) {
	for name, tt := range map[string]struct{ set, want string }{
		"by hand": {"", "skipped"},
		"in CI":   {"1", "failed"},
	} {
		t.Setenv("SWAR_TEST_ENVTEST", tt.set)
		r, done := &recorder{}, make(chan struct{})
		go func() {
			defer close(done)
			Skip(r)
		}()
		<-done
		if r.ended != tt.want {
			t.Errorf("%s: the test is %q, want %q", name, r.ended, tt.want)
		}
	}
}

// TestProgramsThatCannotRun are an error that names the folder, and not a skipped test.
func TestProgramsThatCannotRun(t *testing.T) {
	empty := t.TempDir()
	t.Setenv("KUBEBUILDER_ASSETS", empty)
	if _, _, err := Run(&envtest.Environment{}); err == nil || !strings.Contains(err.Error(), empty) {
		t.Errorf("started from an empty folder: %v", err)
	}
	if _, err := os.Stat(empty); err != nil {
		t.Error(err)
	}
}

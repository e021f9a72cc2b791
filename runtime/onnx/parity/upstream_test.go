package parity

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
)

// pythonVariable names a Python in which Kyutai's package pocket_tts can be imported; make test-upstream sets it.
const pythonVariable = "SWAR_TEST_POCKET_TTS"

// TestUpstreamsOwnPackageAgrees has the newest pocket_tts speak the models of the golden cases, and compares this
// engine with what it says: the golden numbers are of one version, and upstream goes on. It compares in floats and in
// integers, within the bounds of the golden cases.
func TestUpstreamsOwnPackageAgrees(t *testing.T) {
	python := os.Getenv(pythonVariable)
	if python == "" {
		t.Skip(pythonVariable + " is not set: Kyutai's own package is NOT compared with; make test-upstream does that (2 GB of packages)")
	}
	library := orttest.Need(t)
	from, to := t.TempDir(), t.TempDir()
	for _, tt := range []struct{ name, of, flow string }{
		{"v2", "01-v2-tanh", "lsd"}, {"noise and steps", "03-noise-and-steps", "lsd"}, {"bf16", "07-bf16", "lsd"}, {"drifting", "01-v2-tanh", "drifting"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			whole, made := filepath.Join(from, tt.name), filepath.Join(to, tt.name, "case")
			if err := os.Mkdir(filepath.Dir(made), 0o755); err != nil {
				t.Fatal(err)
			}
			wholeCase(t, whole, tt.of)
			out, err := exec.CommandContext(t.Context(), python, "testdata/upstream.py", whole, made,
				tt.flow).CombinedOutput()
			t.Logf("%s", out)
			if err != nil {
				t.Fatal(err)
			}
			precisions := []string{bundle.FP32, bundle.Int8}
			if tt.flow == "drifting" {
				// whose latents have no share of noise, of which the bounds of integers are relative
				precisions = precisions[:1]
			}
			for _, precision := range precisions {
				agrees(t, Config{Dir: filepath.Dir(made), Library: library, Precision: precision},
					tt.of != "01-v2-tanh")
			}
		})
	}
}

// agrees checks the case in a folder, and that every quantity was looked at. A case without a recording has no encoder
// either.
func agrees(t *testing.T, c Config, isMute bool) {
	t.Helper()
	worst := map[string]float64{}
	err := Check(t.Context(), c, func(r Result) {
		worst[r.Quantity] = max(worst[r.Quantity], r.Difference)
		switch {
		case r.Skipped:
			t.Errorf("%s %s: skipped: %s", r.Quantity, r.Run, r.Note)
		case r.Quantity == "prepared_text" && strings.HasSuffix(r.Note, "।."):
			t.Logf("%s: upstream does not know the danda as the end of a sentence", r.Note)
		case !r.OK:
			t.Errorf("%s: %s %s: %.2g apart, tolerance %.0g: %s", c.Precision, r.Quantity, r.Run, r.Difference,
				r.Tolerance, r.Note)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(ofRuns, ofAudio, []string{"voice_positions"})
	if !isMute {
		want = append(want, "voice_kv", "voice_latents")
	}
	for _, quantity := range want {
		if _, ok := worst[quantity]; !ok && quantity != "noise" { // the case has only that of unit variance
			t.Errorf("%s: %s was not compared", c.Precision, quantity)
		}
	}
	t.Logf("%s, largest differences: %v", c.Precision, worst)
}

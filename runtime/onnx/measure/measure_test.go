package measure

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
)

func tiny(t *testing.T, precision string) *Graphs {
	t.Helper()
	library := orttest.Need(t)
	r := convert.Tiny()
	r.Precision = precision
	dir := filepath.Join(t.TempDir(), "bundle")
	if _, err := convert.SynthRandom(dir, r); err != nil {
		t.Fatal(err)
	}
	g, err := Open(dir, library)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func TestEverythingRunsMoreThanOnce(t *testing.T) {
	for _, precision := range []string{bundle.FP32, bundle.Int8} {
		g := tiny(t, precision)
		for what, make := range map[string]func() (func() (time.Duration, error), error){
			"a step":             func() (func() (time.Duration, error), error) { return g.Step(1) },
			"most streams":       func() (func() (time.Duration, error), error) { return g.Step(MaxStreams) },
			"reading one token":  func() (func() (time.Duration, error), error) { return g.Prefill(1) },
			"reading 30 tokens":  func() (func() (time.Duration, error), error) { return g.Prefill(30) },
			"decoding one frame": func() (func() (time.Duration, error), error) { return g.Decode(1) },
			"decoding a group":   func() (func() (time.Duration, error), error) { return g.Decode(4) },
		} {
			run, err := make()
			if err != nil {
				t.Fatalf("%s, %s: %v", what, precision, err)
			}
			for range 3 {
				if took, err := run(); err != nil || took <= 0 {
					t.Errorf("%s, %s: %v, %v", what, precision, took, err)
				}
			}
		}
	}
}

func TestOnlySoManyStreams(t *testing.T) {
	g := tiny(t, bundle.FP32)
	for _, streams := range []int{0, MaxStreams + 1} {
		if _, err := g.Step(streams); err == nil || !strings.Contains(err.Error(), "want 1 to 8") {
			t.Errorf("%d streams: %v", streams, err)
		}
	}
}

func TestStepBytesAreLessWithIntegers(t *testing.T) {
	if full, integers := tiny(t, bundle.FP32).StepBytes(), tiny(t, bundle.Int8).StepBytes(); integers < 1 ||
		integers >= full {
		t.Errorf("%d bytes with integers and %d without", integers, full)
	}
}

func TestOpenNeedsABundle(t *testing.T) {
	if _, err := Open(t.TempDir(), "none"); err == nil {
		t.Error("an empty folder was opened")
	}
}

func TestBandwidthCountsEveryByte(t *testing.T) {
	array := make([]uint64, 1<<20+17) // not a multiple of what is added at a time
	want := uint64(0)
	for i := range array {
		array[i] = uint64(i) * 3
		want += array[i]
	}
	if got := sum(array); got != want {
		t.Errorf("the sum is %d, want %d", got, want)
	}
	if got := Bandwidth(array); !(got > 0) {
		t.Errorf("%g bytes a second", got)
	}
}

func TestClocksAdvance(t *testing.T) {
	thread, process := Thread(), Process()
	_ = sum(make([]uint64, 1<<20))
	if Process()-process <= 0 || Thread() == 0 || thread == 0 {
		t.Error("the clocks stand still")
	}
}

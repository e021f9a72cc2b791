//go:build chaos

package chaos

import (
	"cmp"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/swar-tts/swar/internal/testenv/onnxruntimetest"
	"github.com/swar-tts/swar/runtime/kokoro/kokorotest"
)

// engine is what fleets speak with.
type engine struct {
	model     string
	flags     func(s shape, seed uint64) []string // of a program that speaks
	bundle    string                              // folder; empty where there is none
	sentences []int                               // of each text
	ready     time.Duration                       // that a program may take until it speaks
	memory    int                                 // MiB that a program with one worker may have; 0: not looked at
	scenarios func() []scenario
}

// speaking is the engine that ENGINE names.
var speaking engine

// fakeEngine is paced, and its audio tells its text: it costs nothing, so that much can happen in a minute.
func fakeEngine() engine {
	return engine{
		model: "fake",
		flags: func(s shape, seed uint64) []string {
			return []string{
				"--engine", "fake", "--fake-frame", cmp.Or(s.frame, 20*time.Millisecond).String(),
				"--fake-faults", fmt.Sprint(s.faults), "--fake-seed", fmt.Sprint(seed),
			}
		},
		sentences: []int{1, 1, 1, 1, 2, 2, 3, 3, 4, 12},
		ready:     20 * time.Second,
		scenarios: scenarios,
	}
}

// chooseEngine sets speaking. It skips the test where Kokoro's weights or the library that runs them are missing.
func chooseEngine(t *testing.T) {
	t.Helper()
	switch name := os.Getenv("ENGINE"); name {
	case "", "fake":
		speaking = fakeEngine()
	case "kokoro":
		speaking = kokoroEngine(t)
	default:
		t.Fatalf("ENGINE=%s: want fake or kokoro", name)
	}
}

func kokoroEngine(t *testing.T) engine {
	t.Helper()
	defer func() {
		if t.Skipped() {
			say("*** Kokoro is NOT TESTED: its weights or ONNX Runtime are missing; make kokoro onnxruntime brings both ***")
		}
	}()
	library := onnxruntimetest.Library(t)
	dir, _ := kokorotest.Bundle(t, nil, "anjura=hf_beta", "raj=hm_omega")
	return engine{
		model: "kokoro-82m",
		flags: func(s shape, _ uint64) []string {
			flags := []string{"--engine", "kokoro", "--onnxruntime", library, "--bundle", cmp.Or(s.bundle, dir)}
			if s.phonemiser != "" {
				flags = append(flags, "--prefill-cache-mb", "0") // or every text would be read once
			}
			return flags
		},
		bundle:    dir,
		sentences: []int{1, 1, 1, 2, 4},
		ready:     2 * time.Minute,
		memory:    350,
		scenarios: kokoroScenarios,
	}
}

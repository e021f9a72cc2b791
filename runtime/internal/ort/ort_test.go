package ort_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/internal/orttest"
)

func TestThePinnedVersionIsTheOneThatTheEngineNames(t *testing.T) {
	pins, err := os.ReadFile("../../../hack/fetch/pins.txt")
	if err != nil {
		t.Fatal(err)
	}
	if want := "\nonnxruntime==" + ort.Version + " "; !strings.Contains(string(pins), want) {
		t.Errorf("hack/fetch/pins.txt has no line with %q", want)
	}
}

func TestLoad(t *testing.T) {
	if err := ort.Load(""); err == nil {
		t.Error("no path was loaded")
	}
	orttest.Need(t)
	orttest.Need(t) // the same path again
	if err := ort.Load("/nowhere/libonnxruntime.so"); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second library: %v, want an error", err)
	}
	if _, err := ort.Open([]byte("not a graph"), nil, nil); err == nil {
		t.Error("something that is not a graph was opened")
	}
}

func TestTensorsFitTheirShape(t *testing.T) {
	orttest.Need(t)
	if _, err := ort.Floats(make([]float32, 5), 2, 3); err == nil {
		t.Error("five values have the shape [2 3]")
	}
	if _, err := ort.Int32s(nil); err == nil {
		t.Error("a tensor without dimensions was made, which the wrapper cannot hold")
	}
	x, err := ort.Floats(nil, 1, 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := x.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

func TestRunHeedsTheContextBeforeItBegins(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	var s ort.Session
	if err := s.Run(ctx, nil, nil); !errors.Is(err, gone) {
		t.Errorf("Run = %v, want the cause", err)
	}
}

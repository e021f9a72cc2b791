package onnx

import (
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/layout/layouttest"
	"github.com/swar-tts/swar/runtime/synth/synthtest"
)

func TestEnginesOfPublicLayoutsKeepTheirPromises(t *testing.T) {
	library := orttest.Need(t)
	for _, name := range layouttest.Layouts() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := layouttest.Write(dir, name, convert.Tiny()); err != nil {
				t.Fatal(err)
			}
			e, err := New(Config{Bundle: dir, Library: library, Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			}()
			if m := e.Memory(); m.Weights <= 0 || m.Prompts <= 0 || m.Stream <= 0 {
				t.Errorf("memory %+v, want all of it counted", m)
			}
			synthtest.Run(t, suite(t, e))
		})
	}
}

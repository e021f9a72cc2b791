package onnx

import (
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/layout/layouttest"
	"github.com/swar-tts/swar/runtime/synth"
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
			synthtest.Run(t, func(t *testing.T) synth.Engine {
				e, err := New(Config{Bundle: dir, Library: library})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := e.Close(); err != nil {
						t.Error(err)
					}
				})
				if m := e.Memory(); m.Weights <= 0 || m.Prompts <= 0 || m.Stream <= 0 {
					t.Errorf("memory %+v, want all of it counted", m)
				}
				return e
			})
		})
	}
}

package layout_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/layout"
	"github.com/swar-tts/swar/runtime/onnx/layout/layouttest"
)

// BenchmarkFullSize measures the parts of speaking with integers of the size of the released models. The other layouts
// hold the same graphs.
func BenchmarkFullSize(b *testing.B) {
	orttest.Need(b)
	r := convert.Full()
	r.Precision = bundle.Int8
	dir := filepath.Join(b.TempDir(), "model")
	must(b, layouttest.Write(dir, layouttest.KevinAHMv2, r))
	m, err := layout.Open(dir, layout.Described)
	must(b, err)
	s, err := m.NewSequence()
	must(b, err)
	d, err := m.NewDecoder()
	must(b, err)
	defer func() { must(b, errors.Join(s.Close(), d.Close(), m.Close())) }()

	tokens, noise, latents := make([]int32, 30), make([]float32, 32), make([]float32, 4*32)
	must(b, errors.Join(s.Begin("raj"), s.Prefill(b.Context(), tokens), s.Draw(noise)))
	saved, _ := s.Save()
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"begin", func() error { return s.Begin("raj") }},
		{"prefill 30 tokens", func() error { return errors.Join(s.Begin("raj"), s.Prefill(b.Context(), tokens)) }},
		{"save", func() error { s.Save(); return nil }},
		{"restore", func() error { return errors.Join(s.Begin("raj"), s.Restore(saved)) }},
		{"draw", func() error { return s.Draw(noise) }},
		{"one step", func() error { return errors.Join(s.Begin("raj"), s.Restore(saved), s.Step(b.Context(), noise)) }},
		{"decode 1 frame", func() error { d.Begin(); _, err := d.Decode(latents[:32], 1); return err }},
		{"decode 4 frames", func() error { d.Begin(); _, err := d.Decode(latents, 4); return err }},
	} {
		b.Run(part.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(b, part.run())
			}
		})
	}
}

package onnx

import (
	"errors"
	"testing"

	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/orttest"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// BenchmarkFull measures a random model with the sizes of the released ones, on one thread, behind a prompt of 102 positions.
func BenchmarkFull(b *testing.B) {
	for _, precision := range []string{bundle.FP32, bundle.Int8} {
		b.Run(precision, func(b *testing.B) { benchmarkFull(b, precision) })
	}
}

func benchmarkFull(b *testing.B, precision string) {
	orttest.Need(b)
	r := bundle.Full()
	r.Precision = precision
	dir, m := random(b, r)
	e := open(b, dir, m)
	made, err := newWorker(e)
	if err != nil {
		b.Fatal(err)
	}
	defer made.Close()
	s, d := made.sequence.(*stream), made.decoder
	tokens := make([]int32, 30)
	quiet := make([]float32, m.Dims.Latent)

	b.Run("prefill of 30 tokens", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := errors.Join(s.Begin("raj"), s.Prefill(b.Context(), tokens)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("prefill from the cache", func(b *testing.B) {
		o := synth.Options{Voice: "raj", Text: "abcdefghijklmnopqrstuvwxyzabcd"}
		if _, err := made.Prefill(b.Context(), o); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if cached, err := made.Prefill(b.Context(), o); err != nil || !cached {
				b.Fatal(cached, err)
			}
		}
	})
	b.Run("step", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.length = 200
			if err := s.Step(b.Context(), quiet); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, frames := range []int{synth.FirstFrames, synth.GroupFrames} {
		b.Run(map[int]string{synth.FirstFrames: "decode one frame", synth.GroupFrames: "decode four frames"}[frames], func(b *testing.B) {
			latents := make([]float32, frames*m.Dims.Latent)
			b.ReportAllocs()
			for b.Loop() {
				d.Begin()
				if _, err := d.Decode(latents, frames); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkChunk measures what the engine adds around a model that costs next to nothing.
func BenchmarkChunk(b *testing.B) {
	orttest.Need(b)
	dir, m := random(b, bundle.Tiny())
	w := newTestWorker(b, open(b, dir, m))
	b.ReportAllocs()
	frames := 0
	for b.Loop() {
		pcm, _, _ := speak(b, w, synth.Options{Voice: "raj", Text: "kal subah das baje", Temperature: .3})
		frames += len(pcm) / speech.FrameSamples
	}
	b.ReportMetric(float64(frames)/float64(b.N), "frames/op")
}

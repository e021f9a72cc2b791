package onnx

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/convert"
	"github.com/swar-tts/swar/runtime/onnx/internal/model"
	"github.com/swar-tts/swar/runtime/speech"
	"github.com/swar-tts/swar/runtime/synth"
)

// BenchmarkFull measures a random model with the sizes of the released ones, on one thread, behind a prompt of 102
// positions.
func BenchmarkFull(b *testing.B) {
	for _, precision := range []string{bundle.FP32, bundle.Int8} {
		b.Run(precision, func(b *testing.B) { benchmarkFull(b, precision) })
	}
}

func benchmarkFull(b *testing.B, precision string) {
	orttest.Need(b)
	r := convert.Full()
	r.Precision = precision
	dir, m := random(b, r)
	e := open(b, dir, m)
	made, err := newWorker(e)
	if err != nil {
		b.Fatal(err)
	}
	defer made.Close()
	s, d := made.sequence.(*model.Stream), made.decoder
	tokens := make([]int32, 30)
	quiet := make([]float32, m.Dims.Latent)

	b.Run("prefill of 30 tokens", func(b *testing.B) {
		measure(b, func() error { return errors.Join(s.Begin("raj"), s.Prefill(b.Context(), tokens)) })
	})
	b.Run("prefill from the cache", func(b *testing.B) {
		saved, _ := s.Save()
		measure(b, func() error { return errors.Join(s.Begin("raj"), s.Restore(saved), s.Draw(quiet)) })
	})
	b.Run("step", func(b *testing.B) {
		measure(b, func() error {
			s.SetLength(200)
			return s.Step(b.Context(), quiet)
		})
	})
	for _, frames := range []int{synth.FirstFrames, synth.GroupFrames} {
		b.Run(map[int]string{synth.FirstFrames: "decode one frame", synth.GroupFrames: "decode four frames"}[frames],
			func(b *testing.B) {
				latents := make([]float32, frames*m.Dims.Latent)
				measure(b, func() error {
					d.Begin()
					_, err := d.Decode(latents, frames)
					return err
				})
			})
	}
	s.Release()
	for _, n := range []int{2, 3, 4, 6, 8} {
		b.Run(fmt.Sprintf("step of %d streams", n), func(b *testing.B) {
			var streams []*model.Stream
			for range n {
				s, err := e.model.(native).NewStream()
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				if err := s.Begin("raj"); err != nil {
					b.Fatal(err)
				}
				streams = append(streams, s)
			}
			cache := streams[0].Cache()
			measure(b, func() error {
				for _, s := range streams {
					s.SetLength(200)
				}
				first, got := cache.LockRange(streams, n)
				defer cache.UnlockRange(first, got)
				return cache.Step(first, got, streams)
			})
		})
	}
}

// BenchmarkStreams measures how many frames per second one thread makes for streams that speak at the same time, and
// how many streams the steps of the language model were shared by.
func BenchmarkStreams(b *testing.B) {
	library := orttest.Need(b)
	r := convert.Full()
	r.Precision = bundle.Int8
	dir, m := random(b, r)
	for _, streams := range []int{1, 2, 4, 8} {
		b.Run(strconv.Itoa(streams), func(b *testing.B) {
			e, err := New(Config{Bundle: dir, Library: library, Threads: 1,
				Tokenizer: func([]byte) (Tokenizer, error) { return letters(m.Dims.Vocab), nil }})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			var workers []synth.Worker
			for range streams {
				w := newTestWorker(b, e)
				defer w.Close()
				workers = append(workers, w)
			}
			var frames atomic.Int64
			before, spent := e.Counters().Batches, processTime(b, wholeProcess)
			for b.Loop() {
				var wg sync.WaitGroup
				for i, w := range workers {
					wg.Go(func() {
						pcm, err := trySpeak(b.Context(), w,
							synth.Options{Voice: "raj", Text: strings.Repeat("ab ", 3), Seed: int64(i),
								Temperature: .3})
						if err != nil {
							b.Error(err)
						}
						frames.Add(int64(len(pcm) / speech.FrameSamples))
					})
				}
				wg.Wait()
			}
			runs, steps := uint64(0), uint64(0)
			for size, n := range e.Counters().Batches {
				n -= before[size]
				runs, steps = runs+n, steps+n*uint64(size)
			}
			spent = processTime(b, wholeProcess) - spent
			b.ReportMetric(spent.Seconds()*1000/float64(frames.Load()), "cpu-ms/frame")
			b.ReportMetric(float64(steps)/float64(runs), "streams/run")
		})
	}
}

// measure runs f again and again and reports the processor time of its thread too: the clock on the wall counts what
// others do.
func measure(b *testing.B, f func() error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := f(); err != nil { // the first run of a shape makes a plan
		b.Fatal(err)
	}
	b.ReportAllocs()
	before := processTime(b, thisThread)
	for b.Loop() {
		if err := f(); err != nil {
			b.Fatal(err)
		}
	}
	spent := processTime(b, thisThread) - before
	b.ReportMetric(spent.Seconds()*1000/float64(b.N), "cpu-ms/op")
}

// Whose time getrusage tells.
const (
	wholeProcess = 0
	thisThread   = 1
)

func processTime(b *testing.B, who int) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkChunk measures what the engine adds around a model that costs next to nothing.
func BenchmarkChunk(b *testing.B) {
	orttest.Need(b)
	dir, m := random(b, convert.Tiny())
	w := newTestWorker(b, open(b, dir, m))
	b.ReportAllocs()
	frames := 0
	for b.Loop() {
		pcm, _, _ := speak(b, w, synth.Options{Voice: "raj", Text: "kal subah das baje", Temperature: .3})
		frames += len(pcm) / speech.FrameSamples
	}
	b.ReportMetric(float64(frames)/float64(b.N), "frames/op")
}

package vocoder

import (
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swar-tts/swar/runtime/internal/rowproduct"
	"github.com/swar-tts/swar/runtime/safetensors"
)

// asTrained are made-up weights that are as small as those of the published model: how fast a kernel is depends on
// that.
type asTrained struct{ madeUp }

func (asTrained) Int8s(name string, shape ...int) ([]int8, error) {
	v, err := madeUp{}.Int8s(name, shape...)
	r := source32(name)
	for i := range v {
		v[i] = int8(min(max(r.NormFloat64()*6, -64), 63))
	}
	return v, err
}

// cpuSeconds is what this thread has computed for.
func cpuSeconds(b *testing.B) float64 {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &used); err != nil {
		b.Fatal(err)
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

// BenchmarkVocoder says how many seconds of one thread a second of audio takes. The kernels take turns, so that
// whatever else the machine does troubles all alike; the best turn of each counts. SWAR_VOCODER names a
// vocoder.safetensors to use in place of made-up weights.
func BenchmarkVocoder(b *testing.B) {
	var weights Tensors = asTrained{}
	if path := os.Getenv("SWAR_VOCODER"); path != "" {
		file, closer, err := safetensors.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		defer closer.Close()
		weights = file
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	kernels := slices.DeleteFunc(rowproduct.Kernels(), func(k rowproduct.Kernel) bool { return k.Name() == "plain" })
	best, vs, chunks := make([]float64, len(kernels)), make([]*Vocoder, len(kernels)), make([]Chunk, len(kernels))
	for i, k := range kernels {
		var err error
		if vs[i], err = New(weights, Options{Kernel: k}); err != nil {
			b.Fatal(err)
		}
		chunks[i] = longChunk(b, vs[i])
	}
	for b.Loop() {
		for i := range kernels {
			began := cpuSeconds(b)
			samples := listen(b, vs[i], chunks[i], 1920)
			took := (cpuSeconds(b) - began) * SampleRate / float64(len(samples))
			if best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	for i, k := range kernels {
		b.ReportMetric(best[i], k.Name()+"-s/s")
	}
}

// longChunk is a chunk of 2.5 seconds.
func longChunk(b *testing.B, v *Vocoder) Chunk {
	c, r := testChunk(b, v), rand.New(rand.NewPCG(5, 6))
	for c.frames() < 100 {
		c.Durations = append(c.Durations, 4)
		for range textWidth {
			c.Text = append(c.Text, float32(r.NormFloat64()*.3))
		}
	}
	for len(c.Pitch) < 2*c.frames() {
		c.Pitch, c.Energy = append(c.Pitch, 200), append(c.Energy, .5)
	}
	return c
}

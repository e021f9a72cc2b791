package model

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/internal/rowproduct"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/codec"
	"github.com/swar-tts/swar/runtime/onnx/internal/vectortest"
)

// integerCodec returns the codec of a case in int8, and as it stands in a bundle.
func integerCodec(t *testing.T, name string) (v *vectortest.Case, m bundle.Manifest, file []byte) {
	t.Helper()
	v = vectortest.Load(t, name)
	v.Checkpoint.Precision = bundle.Int8
	built, err := v.Checkpoint.Codec()
	if err != nil {
		t.Fatal(err)
	}
	return v, bundle.Manifest{Dims: v.Checkpoint.Dims(), GELU: v.Checkpoint.GELU, Codec: built.Graph}, built.Model
}

func openOwn(t *testing.T, m *bundle.Manifest, file []byte, k rowproduct.Kernel) sharedCodec {
	t.Helper()
	c, err := codec.Open(m, file, k)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return ownCodec{c}
}

// relative is the root mean square of the differences, as a part of that of what is wanted.
func relative(got, want []float32) float64 {
	difference, size := 0., 0.
	for i, w := range want {
		d := float64(got[i]) - float64(w)
		difference, size = difference+d*d, size+float64(w)*float64(w)
	}
	return math.Sqrt(difference / size)
}

// TestOwnCodecIsTheGraph compares with the same graph on ONNX Runtime, which multiplies the same bytes in the
// transformer and computes all else in floats.
func TestOwnCodecIsTheGraph(t *testing.T) {
	orttest.Need(t)
	for _, name := range []string{"01-v2-tanh", "02-v1-erf", "04-codec"} {
		v, m, file := integerCodec(t, name)
		width := m.Dims.Latent
		latents := make([]float32, 34*width)
		for i := range latents {
			latents[i] = float32(math.Sin(float64(i*i))) * 2
		}
		if name == "04-codec" {
			latents = v.Array(t, "latents.npy").Floats
		}
		onGraph, err := openCodec(&m, ort.Open, file)
		if err != nil {
			t.Fatal(err)
		}
		want := play(t, newDecoder(t, onGraph), width, latents, []int{1, 4})
		if err := onGraph.close(); err != nil {
			t.Error(err)
		}
		var first []float32
		for _, k := range rowproduct.Kernels() {
			t.Run(name+" "+k.Name(), func(t *testing.T) {
				d := newDecoder(t, openOwn(t, &m, file, k))
				for _, plan := range [][]int{{1, 4}, {1}, {2}, {3, 7}, {4, 1, 2}, {len(latents) / width}} {
					got := play(t, d, width, latents, plan)
					if first == nil {
						first = got
						part := relative(got, want)
						t.Logf("%.1e of the graph's samples lie apart", part)
						if !(part <= 1e-3) {
							t.Errorf("%.1e of the graph's samples lie apart, want at most 1e-3", part)
						}
					}
					if !slices.Equal(got, first) {
						t.Errorf("plan %v: other samples than plan [1 4] with the first kernel", plan)
					}
				}
			})
		}
	}
}

// TestOwnCodecRefusesAnotherGraph misses each constant once, and has one of another shape.
func TestOwnCodecRefusesAnotherGraph(t *testing.T) {
	_, m, file := integerCodec(t, "04-codec")
	for _, name := range []string{
		"flow_lm.emb_mean", "mimi.quantizer.output_proj.weight", "mimi.upsample.convtr.convtr.weight", "self_attn.in_proj.weight.scales",
		"norm2.bias", "linear1.weight", "mimi.decoder.model.0.conv.bias", "convtr.bias", "block.3.conv.weight", "mimi.decoder.model.11.conv.weight",
	} {
		damaged := []byte(strings.ReplaceAll(string(file), name, strings.Repeat("x", len(name))))
		if c, err := codec.Open(&m, damaged, rowproduct.Kernels()[0]); err == nil {
			t.Errorf("without %s: it was opened, and closing it says %v", name, c.Close())
		} else if !strings.Contains(err.Error(), "convert the model again") {
			t.Errorf("without %s: %v", name, err)
		}
	}
	m.Dims.CodecWidth *= 2
	if _, err := codec.Open(&m, file, rowproduct.Kernels()[0]); err == nil || !strings.Contains(err.Error(), "shape") {
		t.Errorf("twice as wide: %v", err)
	}
}

// TestWhatIsNoNumberIsHeard has such a value in constants of all kinds: samples must not look like numbers.
func TestWhatIsNoNumberIsHeard(t *testing.T) {
	_, m, file := integerCodec(t, "04-codec")
	for _, name := range []string{
		"flow_lm.emb_mean", "mimi.quantizer.output_proj.weight", "mimi.decoder_transformer.transformer.layers.0.norm1.weight",
		"mimi.decoder.model.0.conv.weight", "mimi.decoder.model.3.block.1.conv.bias", "mimi.decoder.model.3.block.3.conv.weight",
		"mimi.decoder.model.11.conv.bias", "mimi.decoder_transformer.transformer.layers.1.linear2.weight.scales",
	} {
		// what follows the name are the bytes of the values
		before, after, found := bytes.Cut(file, append([]byte(name), 9<<3|2))
		if !found {
			t.Fatalf("there is no constant %s", name)
		}
		_, n := binary.Uvarint(after)
		damaged := bytes.Clone(file)
		place := damaged[len(before)+len(name)+1+n:]
		if name == "mimi.decoder.model.11.conv.bias" {
			place = place[4*2:] // of the newest tap, which is the only one that is not zero
		}
		binary.LittleEndian.PutUint32(place, math.Float32bits(float32(math.NaN())))
		d := newDecoder(t, openOwn(t, &m, damaged, rowproduct.Kernels()[0]))
		samples, err := d.Decode(make([]float32, m.Dims.Latent), 1)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(samples, func(v float32) bool { return v != v }) {
			t.Errorf("%s: all samples are numbers", name)
		}
	}
}

// BenchmarkDecode decodes with the bundle in int8 that SWAR_BUNDLE names, by the graph on ONNX Runtime and by our own
// kernels in turns: the least time of the processor for a frame.
func BenchmarkDecode(b *testing.B) {
	dir := os.Getenv("SWAR_BUNDLE")
	if dir == "" {
		b.Skip("SWAR_BUNDLE names no bundle")
	}
	orttest.Need(b)
	m, err := bundle.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(dir, m.Codec.File.File))
	if err != nil {
		b.Fatal(err)
	}
	for _, own := range []bool{false, true} {
		c, err := openSharedCodec(&m, own, ort.Open, file)
		if err != nil {
			b.Fatal(err)
		}
		d := newDecoder(b, c)
		for _, frames := range []int{1, 4} {
			b.Run(fmt.Sprintf("own=%v/%d", own, frames), func(b *testing.B) {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				latents, least := make([]float32, frames*m.Dims.Latent), time.Duration(math.MaxInt64)
				for b.Loop() {
					before := threadTime()
					if _, err := d.Decode(latents, frames); err != nil {
						b.Fatal(err)
					}
					least = min(least, threadTime()-before)
				}
				b.ReportMetric(least.Seconds()*1e3/float64(frames), "ms/frame")
			})
		}
	}
}

func threadTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}

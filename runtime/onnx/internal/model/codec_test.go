package model

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/internal/ort"
	"github.com/swar-tts/swar/runtime/internal/orttest"
	"github.com/swar-tts/swar/runtime/onnx/bundle"
	"github.com/swar-tts/swar/runtime/onnx/internal/vectortest"
	"github.com/swar-tts/swar/runtime/speech"
)

const closeEnoughAudio = 2e-5

func openVectorCodec(t testing.TB, v *vectortest.Case) sharedCodec {
	t.Helper()
	built, err := v.Checkpoint.Codec()
	if err != nil {
		t.Fatal(err)
	}
	m := bundle.Manifest{Dims: v.Checkpoint.Dims(), Codec: built.Graph}
	c, err := openCodec(&m, ort.Open, built.Model)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// play decodes all latents by the plan: the last number repeats, the last group may be short.
func play(t testing.TB, d Decoder, width int, latents []float32, plan []int) []float32 {
	t.Helper()
	var audio []float32
	d.Begin()
	for i := 0; len(latents) > 0; i++ {
		frames := min(plan[min(i, len(plan)-1)], len(latents)/width)
		samples, err := d.Decode(latents[:frames*width], frames)
		if err != nil {
			t.Fatal(err)
		}
		audio, latents = append(audio, samples...), latents[frames*width:]
	}
	return audio
}

func newDecoder(t testing.TB, c sharedCodec) Decoder {
	t.Helper()
	d, err := c.newDecoder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestCodecEqualsTheReference(t *testing.T) {
	orttest.Need(t)
	v := vectortest.Load(t, "04-codec")
	d := newDecoder(t, openVectorCodec(t, v))
	latents := v.Array(t, "latents.npy").Floats
	first := play(t, d, v.Checkpoint.Dims().Latent, latents, []int{1})
	for _, tt := range []struct {
		plan []int
		file string
	}{{[]int{1}, "audio_plan_1.npy"}, {[]int{1, 4}, "audio_plan_1_4.npy"}, {[]int{3, 7}, "audio_plan_3_7.npy"}} {
		t.Run(fmt.Sprint("plan ", tt.plan), func(t *testing.T) {
			got := play(t, d, v.Checkpoint.Dims().Latent, latents, tt.plan)
			far, among := vectortest.Apart(t, got, v.Array(t, tt.file).Floats), vectortest.Apart(t, got, first)
			t.Logf("%d frames: %.1e from the reference, %.1e from one by one", len(got)/speech.FrameSamples, far, among)
			if !(far <= closeEnoughAudio) || !(among <= 3e-6) {
				t.Errorf("%.1e from the reference, %.1e from one by one", far, among)
			}
			if again := play(t, d, v.Checkpoint.Dims().Latent, latents, tt.plan); !slices.Equal(again, got) {
				t.Error("the same plan again decodes to other samples")
			}
		})
	}
}

func TestMaskIsTheWindow(t *testing.T) {
	const positions, window = 3, 4
	for position, want := range map[int][]string{
		0: {"...#..", "...##.", "...###"}, // no position before the first
		2: {".###..", ".####.", "..####"},
		3: {"####..", ".####.", "..####"},
		9: {"####..", ".####.", "..####"},
	} {
		g := decoding{mask: make([]float32, positions*(window-1+positions)), masked: -1}
		g.maskFrom(position, positions, window)
		for i, row := range want {
			got := ""
			for _, v := range g.mask[i*len(row) : (i+1)*len(row)] {
				switch {
				case v == 0:
					got += "#"
				case math.IsInf(float64(v), -1):
					got += "."
				default:
					got += "?"
				}
			}
			if got != row {
				t.Errorf("position %d, row %d: %s, want %s", position, i, got, row)
			}
		}
	}
}

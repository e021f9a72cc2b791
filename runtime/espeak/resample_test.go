package espeak

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestResampledLengthIsExact(t *testing.T) {
	for _, in := range []int{0, 1, 23, 24, 25, 146, 147, 148, 1763, 1764, 1765, 4095, 4096, 4097, 22050} {
		got := len(resampled(make([]int16, in), 1000, 1000))
		want := (in*phases + stride - 1) / stride
		if got != want {
			t.Errorf("%d samples become %d, want %d", in, got, want)
		}
	}
	if got := len(resampled(make([]int16, 1764), 1764, 1920)); got != 1920 {
		t.Errorf("80 ms become %d samples, want a frame of 1920", got)
	}
}

func TestTheCutOfTheInputDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	in := make([]int16, 10_000)
	for i := range in {
		in[i] = int16(r.Uint32())
	}
	want := resampled(in, len(in), 20_000)
	for _, blocks := range [][2]int{{1, 1}, {1, 1920}, {147, 160}, {1000, 7}, {4096, 1920}, {10_000, 1}} {
		if got := resampled(in, blocks[0], blocks[1]); !slices.Equal(got, want) {
			t.Errorf("in blocks of %d in and %d out other samples come out", blocks[0], blocks[1])
		}
	}
}

func TestSinesStaySines(t *testing.T) {
	for _, tt := range []struct {
		hz, minSNR float64 // dB
	}{
		{50, 80}, {100, 80}, {440, 80}, {1000, 80}, {3000, 80}, {5000, 80}, {8000, 80}, {9000, 70},
	} {
		out := resampled(sine(tt.hz, programRate, 2*programRate), 4096, 1920)
		got := snr(out, tt.hz)
		t.Logf("%.0f Hz: SNR %.1f dB", tt.hz, got)
		if got < tt.minSNR {
			t.Errorf("%.0f Hz: SNR %.1f dB, want at least %.0f", tt.hz, got, tt.minSNR)
		}
	}
}

func TestTheResponseIsFlatTo9kHz(t *testing.T) {
	for hz := 100.0; hz <= 9000; hz += 100 {
		got := responseDB(hz)
		if math.Abs(got) > .1 {
			t.Errorf("%.0f Hz: %+.3f dB, want within 0.1", hz, got)
		}
	}
	if got := responseDB(10_000); got > -1 || got < -6 {
		t.Errorf("10 kHz: %+.1f dB, want the edge of the filter", got)
	}
}

func TestSoundIsNotMovedInTime(t *testing.T) {
	in := make([]int16, 147*20)
	in[147*10] = 20_000
	out := resampled(in, 500, 500)
	top := slices.Index(out, slices.Max(out))
	if top != 160*10 {
		t.Errorf("a click at 147·10 comes out at %d, want 160·10", top)
	}
	for d := 1; d < 20; d++ {
		if a, b := out[top-d], out[top+d]; a-b > 1 || b-a > 1 {
			t.Errorf("%d samples beside the click: %d before, %d after, want the same", d, a, b)
		}
	}
}

func TestAConstantStaysConstant(t *testing.T) {
	in := slices.Repeat([]int16{12_345}, 2000)
	for i, s := range resampled(in, 2000, 2000)[60:2000] {
		if s != 12_345 {
			t.Fatalf("sample %d of a constant 12345 is %d", 60+i, s)
		}
	}
}

func TestSamplesOutOfRangeAreClipped(t *testing.T) {
	for _, tt := range []struct {
		in   float32
		want int16
	}{
		{0, 0}, {.4, 0}, {.6, 1}, {-.4, 0}, {-.6, -1}, {32766.4, 32766}, {32767, 32767}, {40000, 32767}, {-32768, -32768}, {-40000, -32768},
	} {
		if got := clip(tt.in); got != tt.want {
			t.Errorf("clip(%v) = %d, want %d", tt.in, got, tt.want)
		}
	}
	// A square wave at full scale overshoots. Away from its edges no sample may have wrapped round to the other sign.
	in := slices.Concat(slices.Repeat([]int16{math.MaxInt16}, 500), slices.Repeat([]int16{math.MinInt16}, 500))
	for i, s := range resampled(in, 1000, 1000) {
		if at := i * stride / phases; at < 495 && s < 0 || at > 505 && s > 0 {
			t.Fatalf("sample %d of a square wave wrapped round to %d", i, s)
		}
	}
}

func TestResamplingAllocatesNothing(t *testing.T) {
	var r resampler
	r.reset()
	in, out := make([]int16, 1764), make([]int16, 1920)
	if got := testing.AllocsPerRun(100, func() {
		r.push(in)
		r.pull(out)
	}); got != 0 {
		t.Errorf("%v allocations a block, want none", got)
	}
}

func BenchmarkResampleFrame(b *testing.B) {
	var r resampler
	r.reset()
	in, out := sine(440, programRate, 1764), make([]int16, 1920)
	b.ReportAllocs()
	b.SetBytes(2 * 1920)
	for b.Loop() {
		r.push(in)
		r.pull(out)
	}
}

// resampled is all of in, pushed and pulled in blocks of these sizes.
func resampled(in []int16, push, pull int) (out []int16) {
	var r resampler
	r.reset()
	dst := make([]int16, pull)
	drain := func() {
		for n := r.pull(dst); n > 0; n = r.pull(dst) {
			out = append(out, dst[:n]...)
		}
	}
	for len(in) > 0 {
		block := in[:min(push, len(in))]
		in = in[len(block):]
		for len(block) > 0 {
			block = block[r.push(block):]
			drain()
		}
	}
	r.end()
	drain()
	return out
}

func sine(hz, rate float64, n int) []int16 {
	s := make([]int16, n)
	for i := range s {
		s[i] = int16(math.Round(20_000 * math.Sin(2*math.Pi*hz*float64(i)/rate)))
	}
	return s
}

// snr is the level of the sine in x over everything else, away from the ends.
func snr(x []int16, hz float64) float64 {
	x = x[480 : len(x)-480]
	level, rest := fit(x, hz)
	return 20 * math.Log10(level/rest)
}

func responseDB(hz float64) float64 {
	out := resampled(sine(hz, programRate, programRate), 4096, 1920)
	level, _ := fit(out[480:len(out)-480], hz)
	return 20 * math.Log10(level/(20_000/math.Sqrt2))
}

// fit returns the RMS of the sine of this frequency that comes closest to x, and the RMS of what it leaves.
func fit(x []int16, hz float64) (level, rest float64) {
	var ss, cc, sc, xs, xc float64
	w := 2 * math.Pi * hz / 24000
	for i, v := range x {
		s, c := math.Sincos(w * float64(i))
		ss, cc, sc = ss+s*s, cc+c*c, sc+s*c
		xs, xc = xs+float64(v)*s, xc+float64(v)*c
	}
	det := ss*cc - sc*sc
	a, b := (xs*cc-xc*sc)/det, (xc*ss-xs*sc)/det
	for i, v := range x {
		s, c := math.Sincos(w * float64(i))
		d := float64(v) - a*s - b*c
		level, rest = level+(a*s+b*c)*(a*s+b*c), rest+d*d
	}
	return math.Sqrt(level / float64(len(x))), math.Sqrt(rest / float64(len(x)))
}

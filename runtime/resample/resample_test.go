package resample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// streaming is a shape that waits for little, as engines use it.
var streaming = Shape{Half: 24, Cutoff: .94, Beta: 9}

var pairs = [][2]int{
	{8000, 24000}, {11025, 24000}, {12345, 24000}, {16000, 24000}, {22050, 24000}, {24000, 24000}, {32000, 24000}, {44100, 24000},
	{48000, 24000}, {96000, 24000}, {24000, 22050}, {24000, 8000},
}

func filter(t testing.TB, from, to int, s Shape) *Filter {
	t.Helper()
	f, err := New(from, to, s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestLengthIsExact(t *testing.T) {
	for _, p := range pairs {
		f := filter(t, p[0], p[1], Recorded)
		for _, n := range []int{0, 1, 2, 23, 146, 147, 148, 1763, 1764, 1765, 8191, 8192, 22050} {
			want := (n*p[1] + p[0] - 1) / p[0]
			if got := len(f.All(make([]float32, n))); got != want {
				t.Errorf("%d to %d Hz: %d samples become %d, want %d", p[0], p[1], n, got, want)
			}
			if got := len(streamed(f, make([]int16, n), 1000, 1000)); got != want {
				t.Errorf("%d to %d Hz: a stream of %d samples becomes %d, want %d", p[0], p[1], n, got, want)
			}
		}
	}
	want := (1<<50)/44099*24000 + (1<<50%44099*24000+44098)/44099
	if got := filter(t, 44099, 24000, Recorded).Len(1 << 50); got != want {
		t.Errorf("a very long sound becomes %d samples", got)
	}
}

// TestToneAndRest sends one tone after another through each filter. What comes out beside the tone, images,
// aliases and rounding, is 80 dB below it; a tone that the lower rate cannot carry is gone.
func TestToneAndRest(t *testing.T) {
	for _, p := range pairs {
		f := filter(t, p[0], p[1], Recorded)
		nyquist := float64(min(p[0], p[1])) / 2
		for _, part := range []float64{.005, .02, .1, .25, .4, .5, .6, .7, .8, .85, .9} {
			hz := part * nyquist
			level, rest := fit(inner(f.All(tone(hz, p[0]))), hz, p[1])
			if got := 20 * math.Log10(level*math.Sqrt2); math.Abs(got) > .01 {
				t.Errorf("%d to %d Hz: %.0f Hz has %+.4f dB, want within 0.01", p[0], p[1], hz, got)
			}
			if got := 20 * math.Log10(rest/level); got > -80 {
				t.Errorf("%d to %d Hz: beside %.0f Hz there is %.1f dB, want at most -80", p[0], p[1], hz, got)
			}
		}
		if p[0] <= p[1] {
			continue
		}
		for _, part := range []float64{1, 1.01, 1.1, 1.25} {
			hz := part * nyquist
			if got := 20 * math.Log10(rms(inner(f.All(tone(hz, p[0]))))*math.Sqrt2); got > -80 && hz < float64(p[0])/2 {
				t.Errorf("%d to %d Hz: %.0f Hz is folded back with %.1f dB, want at most -80", p[0], p[1], hz, got)
			}
		}
	}
}

// TestImagesOfTheUpperEdge looks above the input's Nyquist frequency for what a tone just below it leaves there.
func TestImagesOfTheUpperEdge(t *testing.T) {
	for _, from := range []int{8000, 11025, 16000, 22050} {
		f := filter(t, from, 24000, Recorded)
		for _, part := range []float64{.5, .9, .95, .99} {
			hz := part * float64(from) / 2
			_, rest := fit(inner(f.All(tone(hz, from))), hz, 24000)
			if db := 20 * math.Log10(rest*math.Sqrt2); db > -80 {
				t.Errorf("%d Hz: beside %.0f Hz there is %.1f dB, want at most -80", from, hz, db)
			}
		}
	}
}

// TestSweep compares a whole sweep with the same sweep made at the other rate: level, time and phase of everything
// at once.
func TestSweep(t *testing.T) {
	for _, p := range pairs {
		top := .85 * float64(min(p[0], p[1])) / 2
		f := filter(t, p[0], p[1], Recorded)
		got, want := f.All(sweep(top, p[0])), sweep(top, p[1])
		var level, rest float64
		for i := p[1] / 20; i < p[1]*19/20; i++ {
			d := float64(got[i] - want[i])
			level, rest = level+float64(want[i]*want[i]), rest+d*d
		}
		if db := 10 * math.Log10(rest/level); db > -75 {
			t.Errorf("%d to %d Hz: a sweep to %.0f Hz is %.1f dB off, want at most -75", p[0], p[1], top, db)
		}
	}
}

func TestSoundIsNotMovedInTime(t *testing.T) {
	for _, p := range pairs {
		f := filter(t, p[0], p[1], Recorded)
		in := make([]float32, p[0])
		in[p[0]/f.down/2*f.down] = 1
		out := f.All(in)
		top := p[0] / f.down / 2 * f.up
		if got := slices.Index(out, slices.Max(out)); got != top {
			t.Errorf("%d to %d Hz: a click comes out at %d, want %d", p[0], p[1], got, top)
		}
		for d := 1; d < 20; d++ {
			if a, b := out[top-d], out[top+d]; math.Abs(float64(a-b)) > 1e-6 {
				t.Errorf("%d to %d Hz: %d samples beside the click: %g before, %g after", p[0], p[1], d, a, b)
			}
		}
	}
}

func TestAConstantStaysConstant(t *testing.T) {
	for _, p := range pairs {
		out := filter(t, p[0], p[1], Recorded).All(slices.Repeat([]float32{.5}, p[0]))
		for i, v := range out[p[1]/4 : p[1]*3/4] {
			if math.Abs(float64(v)-.5) > 1e-6 {
				t.Fatalf("%d to %d Hz: sample %d of a constant 0.5 is %g", p[0], p[1], i, v)
			}
		}
	}
}

func TestEqualRatesChangeNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	in := make([]float32, 5000)
	for i := range in {
		in[i] = float32(r.NormFloat64())
	}
	if got := filter(t, 24000, 24000, Recorded).All(in); !slices.Equal(got, in) {
		t.Error("24 kHz to 24 kHz gives other samples")
	}
}

func TestTheCutOfTheInputDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	in := make([]int16, 10_000)
	for i := range in {
		in[i] = int16(r.Uint32())
	}
	for _, p := range [][2]int{{22050, 24000}, {48000, 24000}, {44100, 24000}, {96000, 8000}, {24000, 24000}} {
		f := filter(t, p[0], p[1], streaming)
		want := make([]int16, 0, 20_000)
		floats := make([]float32, len(in))
		for i, v := range in {
			floats[i] = float32(v)
		}
		for _, v := range f.All(floats) {
			want = append(want, clip(v))
		}
		for _, blocks := range [][2]int{{1, 1}, {1, 1920}, {147, 160}, {1000, 7}, {4096, 1920}, {10_000, 1}} {
			if got := streamed(f, in, blocks[0], blocks[1]); !slices.Equal(got, want) {
				t.Errorf("%v Hz: in blocks of %d in and %d out other samples come out", p, blocks[0], blocks[1])
			}
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
	for i, s := range streamed(filter(t, 22050, 24000, streaming), in, 1000, 1000) {
		if at := i * 147 / 160; at < 495 && s < 0 || at > 505 && s > 0 {
			t.Fatalf("sample %d of a square wave wrapped round to %d", i, s)
		}
	}
}

func TestAStreamAllocatesNothing(t *testing.T) {
	s := filter(t, 22050, 24000, streaming).Stream()
	in, out := make([]int16, 1764), make([]int16, 1920)
	if got := testing.AllocsPerRun(100, func() {
		s.Push(in)
		s.Pull(out)
	}); got != 0 {
		t.Errorf("%v allocations a block, want none", got)
	}
}

func TestRatesWithin(t *testing.T) {
	for _, tt := range []struct {
		from, to int
		want     string // "" is fine
	}{
		{MinRate - 1, 24000, "a rate of 999 Hz is not within 1000 to 768000 Hz"},
		{MinRate, 24000, ""},
		{MaxRate, 24000, ""},
		{MaxRate + 1, 24000, "768001 Hz is not within"},
		{24000, 0, "a rate of 0 Hz"},
		{-24000, 24000, "a rate of -24000 Hz"},
		{23999, 24000, ""},
		{44_099, 24000, ""},
		{191_999, 24000, "191999 Hz and 24000 Hz have too little in common"},
	} {
		_, err := New(tt.from, tt.to, Recorded)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%d to %d Hz: %v, want %q", tt.from, tt.to, err, tt.want)
		}
	}
}

func BenchmarkMinute(b *testing.B) {
	for _, from := range []int{16000, 44100, 48000} {
		b.Run(fmt.Sprint(from), func(b *testing.B) {
			f, in := filter(b, from, 24000, Recorded), make([]float32, 60*from)
			for b.Loop() {
				f.All(in)
			}
		})
	}
}

// streamed is all of in, pushed and pulled in blocks of these sizes.
func streamed(f *Filter, in []int16, push, pull int) (out []int16) {
	s := f.Stream()
	dst := make([]int16, pull)
	drain := func() {
		for n := s.Pull(dst); n > 0; n = s.Pull(dst) {
			out = append(out, dst[:n]...)
		}
	}
	for len(in) > 0 {
		block := in[:min(push, len(in))]
		in = in[len(block):]
		for len(block) > 0 {
			block = block[s.Push(block):]
			drain()
		}
	}
	s.End()
	drain()
	return out
}

func tone(hz float64, rate int) []float32 {
	s := make([]float32, rate/2)
	for i := range s {
		s[i] = float32(math.Sin(2 * math.Pi * hz * float64(i) / float64(rate)))
	}
	return s
}

// sweep is a second from nothing to top.
func sweep(top float64, rate int) []float32 {
	s := make([]float32, rate)
	for i := range s {
		at := float64(i) / float64(rate)
		s[i] = float32(math.Sin(math.Pi * top * at * at))
	}
	return s
}

// inner is x without its ends, where a tone begins and stops.
func inner(x []float32) []float32 { return x[len(x)/5 : len(x)*4/5] }

func rms(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(len(x)))
}

// fit returns the RMS of the sine of this frequency that comes closest to x, and the RMS of what it leaves.
func fit(x []float32, hz float64, rate int) (level, rest float64) {
	var ss, cc, sc, xs, xc float64
	w := 2 * math.Pi * hz / float64(rate)
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
		rest += d * d
	}
	return math.Hypot(a, b) / math.Sqrt2, math.Sqrt(rest / float64(len(x)))
}

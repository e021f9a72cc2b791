package espeak

import (
	"math"
	"testing"
)

func TestTheProgramIsFlatTo9kHz(t *testing.T) {
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

func TestAFrameIsAFrame(t *testing.T) {
	if got := len(resampled(make([]int16, 1764), 1764, 1920)); got != 1920 {
		t.Errorf("80 ms become %d samples, want a frame of 1920", got)
	}
}

// BenchmarkResampleFrame is what a frame costs after the program has spoken it.
func BenchmarkResampleFrame(b *testing.B) {
	s := toService.Stream()
	in, out := sine(440, programRate, 1764), make([]int16, 1920)
	b.ReportAllocs()
	b.SetBytes(2 * 1920)
	for b.Loop() {
		s.Push(in)
		s.Pull(out)
	}
}

// resampled is all of in, pushed and pulled in blocks of these sizes.
func resampled(in []int16, push, pull int) (out []int16) {
	s := toService.Stream()
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

func sine(hz, rate float64, n int) []int16 {
	s := make([]int16, n)
	for i := range s {
		s[i] = int16(math.Round(20_000 * math.Sin(2*math.Pi*hz*float64(i)/rate)))
	}
	return s
}

// responseDB is what is left of a sine of this frequency, away from the ends.
func responseDB(hz float64) float64 {
	out := resampled(sine(hz, programRate, programRate), 4096, 1920)
	out = out[480 : len(out)-480]
	var in, quarter float64
	w := 2 * math.Pi * hz / 24000
	for i, v := range out {
		s, c := math.Sincos(w * float64(i))
		in, quarter = in+s*float64(v), quarter+c*float64(v)
	}
	return 20 * math.Log10(2*math.Hypot(in, quarter)/float64(len(out))/20_000)
}

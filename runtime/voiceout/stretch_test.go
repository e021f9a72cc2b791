package voiceout

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/swar-tts/swar/runtime/stretch"
)

var speeds = []float64{.5, .7, .8, .97, 1.1, 1.2, 1.5, 2}

func stretched(t testing.TB, speed float64, samples []int16) []float64 {
	t.Helper()
	return floats(whole(t, Format{Speed: speed}, samples))
}

func TestSpeedSetsTheLength(t *testing.T) {
	for _, speed := range speeds {
		for _, n := range []int{0, 1, 100, stretch.Hop, stretch.Hop + 1, 3 * stretch.Hop, frame, 10*frame + 77} {
			want := int(math.Round(float64(n) / speed))
			if got := len(stretched(t, speed, speech(t, n))); got != want {
				t.Errorf("%d samples at speed %g are %d, want %d", n, speed, got, want)
			}
		}
	}
}

func TestSpeedHoldsLittleBack(t *testing.T) {
	for _, speed := range speeds {
		got := 0
		for i, part := range encoded(t, Format{Speed: speed}, speech(t, 20*frame), frames)[:20] {
			got += len(part) / 2
			behind := float64((i+1)*frame)/speed - float64(got)
			if ms := behind * speed / EngineRate * 1000; ms > 40 {
				t.Fatalf("at speed %g, after %d frames %.1f ms of them are not out, want at most 40", speed, i+1, ms)
			}
		}
	}
}

// vowel is a voice of a pitch that holds a vowel: harmonics under three formants.
func vowel(hz float64, n int) []int16 {
	out := make([]int16, n)
	for i := range out {
		v := 0.0
		for k := 1.; k*hz < 5000; k++ {
			loud := 0.0
			for _, formant := range [][2]float64{{700, 1}, {1200, .6}, {2600, .2}} {
				loud += formant[1] / (1 + math.Pow((k*hz-formant[0])/120, 2))
			}
			v += (loud + .05) * math.Sin(2*math.Pi*k*hz*float64(i)/EngineRate+k*k)
		}
		out[i] = int16(4000 * v)
	}
	return out
}

// TestSpeedKeepsThePitchOfAVowel also looks at what comes out between the harmonics: clicks and roughness.
func TestSpeedKeepsThePitchOfAVowel(t *testing.T) {
	for _, hz := range []float64{100, 260} {
		in := vowel(hz, EngineRate)
		for _, speed := range speeds {
			out := stretched(t, speed, in)
			out = out[len(out)/8 : len(out)*7/8]
			if got := pitch(out); math.Abs(got/hz-1) > .02 {
				t.Errorf("%g Hz at speed %g: the pitch is %.1f Hz, want within 2 %%", hz, speed, got)
			}
			if db := between(out, hz); db > -25 {
				t.Errorf("%g Hz at speed %g: beside the harmonics there is %.1f dB, want at most -25", hz, speed, db)
			}
		}
	}
}

// pitch is the fundamental frequency of a steady sound, by its autocorrelation.
func pitch(x []float64) float64 {
	like := func(lag int) float64 {
		var ab, aa, bb float64
		for i := range min(len(x)-lag, 6_000) {
			ab, aa, bb = ab+x[i]*x[i+lag], aa+x[i]*x[i], bb+x[i+lag]*x[i+lag]
		}
		return ab / math.Sqrt(aa*bb+1)
	}
	const low, high = EngineRate / 500, EngineRate / 80
	values := make([]float64, high+2)
	for lag := low - 1; lag <= high+1; lag++ {
		values[lag] = like(lag)
	}
	top := slices.Max(values)
	for lag := low; lag <= high; lag++ { // the first high peak, not one of its multiples
		a, b, c := values[lag-1], values[lag], values[lag+1]
		if b >= a && b >= c && b > .93*top {
			return EngineRate / (float64(lag) + .5*(a-c)/(a-2*b+c))
		}
	}
	return 0
}

// between is how much of a sound is not near a harmonic, in dB.
func between(x []float64, hz float64) float64 {
	const bin = 8192
	var near, far float64
	for at := 0; at+bin <= min(len(x), bin); at += bin {
		for f := 40.; f < 4000; f += 40 {
			l := level(x[at:at+bin], f, EngineRate)
			if off := math.Abs(f/hz - math.Round(f/hz)); off*hz < 18 {
				near += l * l
			} else {
				far += l * l
			}
		}
		for k := 1.; k*hz < 4000; k++ {
			l := level(x[at:at+bin], k*hz, EngineRate)
			near += l * l
		}
	}
	return 10 * math.Log10(far/near)
}

func TestSpeedKeepsTheSoundOfSpeech(t *testing.T) {
	in := speech(t, 40*frame)
	was := floats(whole(t, Format{}, in))
	for _, speed := range speeds {
		out := stretched(t, speed, in)
		if r := crossings(out) / crossings(was); r < .75 || r > 1.25 {
			t.Errorf("at speed %g zero is crossed %.2f times as often, want within 25 %%", speed, r)
		}
		if r := sharpest(out) / sharpest(was); r > 1.1 {
			t.Errorf("at speed %g the sharpest edge is %.2f times that of the speech: a click", speed, r)
		}
		part := int(EngineRate / 10 / speed) // what 100 ms of the speech have become
		if got, want := loudest(out, part), loudest(was, EngineRate/10); math.Abs(got-want) > 1 {
			t.Errorf("at speed %g the loudest 100 ms have %+.2f dB, want within 1", speed, got-want)
		}
		for _, band := range [][2]float64{{100, 300}, {300, 700}, {700, 1500}, {1500, 3000}, {3000, 6000},
			{6000, 10_000}} {
			if db := power(out, band) - power(was, band); math.Abs(db) > 3 {
				t.Errorf("at speed %g %.0f to %.0f Hz have %+.1f dB, want within 3", speed, band[0], band[1], db)
			}
		}
	}
}

// crossings is how often a sound crosses zero, for each of its samples.
func crossings(x []float64) float64 {
	n := 0
	for i := 1; i < len(x); i++ {
		if (x[i] < 0) != (x[i-1] < 0) {
			n++
		}
	}
	return float64(n) / float64(len(x))
}

// sharpest is the largest second difference.
func sharpest(x []float64) (most float64) {
	for i := 2; i < len(x); i++ {
		most = max(most, math.Abs(x[i]-2*x[i-1]+x[i-2]))
	}
	return most
}

// power is the mean power of a band, in dB.
func power(x []float64, band [2]float64) float64 {
	const bin = 512
	sum, n := 0.0, 0
	for at := 0; at+bin <= len(x); at += bin {
		for f := band[0]; f < band[1]; f += (band[1] - band[0]) / 8 {
			l := level(x[at:at+bin], f, EngineRate)
			sum += l * l
			n++
		}
	}
	return 10 * math.Log10(sum/float64(n))
}

// TestSpeedKeepsTimes: bursts of a tone stay where they belong, within the reach and a part of a window.
func TestSpeedKeepsTimes(t *testing.T) {
	in := make([]int16, 3*EngineRate)
	const every, long = EngineRate / 5, EngineRate / 20
	for at := every; at+long < len(in); at += every {
		for i := range long {
			in[at+i] = int16(9000 * math.Sin(2*math.Pi*440*float64(i)/EngineRate))
		}
	}
	for _, speed := range speeds {
		out := stretched(t, speed, in)
		for at := every; at+long < len(in); at += every {
			var moment, sum float64
			for i := int(float64(at-every/4) / speed); i < int(float64(at+long+every/4)/speed); i++ {
				moment, sum = moment+float64(i)*out[i]*out[i], sum+out[i]*out[i]
			}
			off := math.Abs(moment/sum-float64(at+long/2)/speed) / EngineRate * 1000 // ms that are heard
			if min(off, off*speed) > 8 {
				t.Errorf("at speed %g the burst at %d is off by %.1f ms, want at most 8, of the speech or of what is heard", speed, at, off)
			}
		}
	}
}

// TestSpeedIsAsCleanAsThatOfSox compares with another WSOLA.
func TestSpeedIsAsCleanAsThatOfSox(t *testing.T) {
	for _, hz := range []float64{110, 210} {
		in := vowel(hz, EngineRate)
		for _, speed := range []float64{.7, 1.5} {
			raw := []string{"-t", "raw", "-r", "24000", "-e", "signed", "-b", "16", "-c", "1"}
			args := append(append(slices.Clone(raw), file(t, "vowel.raw", whole(t, Format{}, in))), raw...)
			other := floats(run(t, "sox", append(args, "-", "tempo", "-s", fmt.Sprint(speed))...))
			own := stretched(t, speed, in)
			ours, theirs := between(own[len(own)/8:], hz), between(other[len(other)/8:], hz)
			t.Logf("%g Hz at speed %g: beside the harmonics there is %.1f dB, with sox %.1f", hz, speed, ours, theirs)
			if ours > max(theirs+3, -35) {
				t.Errorf("%g Hz at speed %g: beside the harmonics there is %.1f dB, with sox %.1f", hz, speed,
					ours, theirs)
			}
		}
	}
}

func BenchmarkStretch(b *testing.B) {
	samples := speech(b, EngineRate)
	for _, speed := range []float64{.5, .9, 1.1, 2} {
		b.Run(fmt.Sprint(speed), func(b *testing.B) {
			s := stretch.New(speed)
			for b.Loop() {
				for rest := samples; len(rest) > 0; {
					rest = rest[s.Push(rest):]
					for len(s.Pull()) > 0 {
					}
				}
			}
		})
	}
}

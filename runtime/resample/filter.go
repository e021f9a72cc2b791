// Package resample turns sound of one sample rate into sound of another, without moving it in time. It knows
// neither files nor engines.
package resample

import (
	"fmt"
	"math"
)

// A Shape says what a filter keeps and how far it looks for that. It is a sinc under a Kaiser window.
type Shape struct {
	Half   int     // samples of the lower of both rates that it looks to either side
	Cutoff float64 // where it has lost half, as a part of the lower of both Nyquist frequencies
	Beta   float64 // of the window: 9 puts 80 dB and more between what it keeps and the rest
}

// Recorded is the shape for sound that lies there as a whole: flat within 0.01 dB to nine tenths of the lower
// Nyquist frequency, and what that frequency cannot carry, images and aliases, more than 80 dB down.
var Recorded = Shape{Half: 72, Cutoff: .955, Beta: 9}

// What a filter may become. Rates without a large common divisor need one row of taps for each sample of a second.
const (
	MinRate = 1000    // Hz
	MaxRate = 768_000 // Hz
	maxTaps = 8 << 20 // in all rows together, 32 MiB
)

const lanes = 48 // taps of a row are a multiple of it: that many are summed without a check

// A Filter turns one rate into another. It is safe for concurrent use.
type Filter struct {
	up, down int       // up samples out for every down samples in
	half     int       // samples of the input that it looks to either side, about
	taps     int       // of one row
	rows     []float32 // up rows, in the order of the samples that they meet
}

// New returns the filter from one rate to another, in Hz. It fails for rates outside [MinRate, MaxRate], and for
// pairs that need more than 32 MiB, which odd rates above 60 kHz do.
func New(from, to int, s Shape) (*Filter, error) {
	for _, rate := range []int{from, to} {
		if rate < MinRate || rate > MaxRate {
			return nil, fmt.Errorf("a rate of %d Hz is not within %d to %d Hz", rate, MinRate, MaxRate)
		}
	}
	common := divisor(from, to)
	f := &Filter{up: to / common, down: from / common}
	if f.up == f.down {
		f.half, f.taps = lanes/2, lanes
		f.rows = make([]float32, lanes)
		f.rows[f.half-1] = 1
		return f, nil
	}
	wide := max(1, float64(from)/float64(to)) // samples of the input for one of the lower rate
	f.half = int(math.Ceil(float64(s.Half)*wide/(lanes/2))) * (lanes / 2)
	f.taps = 2 * f.half
	if f.up > maxTaps/f.taps {
		return nil, fmt.Errorf("%d Hz and %d Hz have too little in common: a filter between them needs %d rows of %d taps",
			from, to, f.up, f.taps)
	}
	f.rows = make([]float32, f.up*f.taps)
	h := make([]float64, f.taps)
	for phase := range f.up {
		sum := 0.0
		for i := range h {
			// distance from the tap's sample to the output's place
			x := float64(f.half-1-i) + float64(phase)/float64(f.up)
			h[i] = sinc(s.Cutoff/wide*x) * kaiser(x/float64(f.half), s.Beta)
			sum += h[i]
		}
		for i, v := range h {
			f.rows[phase*f.taps+i] = float32(v / sum) // each row sums to one, so that a constant stays constant
		}
	}
	return f, nil
}

func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// kaiser is the window at x, which runs from -1 to 1.
func kaiser(x, beta float64) float64 {
	return besselI0(beta*math.Sqrt(max(0, 1-x*x))) / besselI0(beta)
}

func besselI0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-17; k++ {
		term *= x / (2 * k) * (x / (2 * k))
		sum += term
	}
	return sum
}

// Len returns how many samples n samples become: n·to/from, rounded up.
func (f *Filter) Len(n int) int {
	return n/f.down*f.up + (n%f.down*f.up+f.down-1)/f.down
}

// All returns the whole of a sound at the other rate. Around it there is silence. Between equal rates it stays
// what it is.
func (f *Filter) All(sound []float32) []float32 {
	out := make([]float32, f.Len(len(sound)))
	padded := make([]float32, len(sound)+f.taps-1)
	copy(padded[f.half-1:], sound)
	head, phase := 0, 0
	for i := range out {
		out[i] = dot(f.row(phase), padded[head:])
		for phase += f.down; phase >= f.up; phase -= f.up {
			head++
		}
	}
	return out
}

func (f *Filter) row(phase int) []float32 { return f.rows[phase*f.taps:][:f.taps] }

// dot returns the sum of products of h, a multiple of lanes long, and the first of x. It keeps four sums apart so
// that the processor need not wait for one before it starts the next.
func dot(h, x []float32) float32 {
	var a, b, c, d float32
	for len(h) >= lanes {
		some, under := (*[lanes]float32)(h), (*[lanes]float32)(x)
		for i := 0; i < lanes; i += 4 {
			a += some[i] * under[i]
			b += some[i+1] * under[i+1]
			c += some[i+2] * under[i+2]
			d += some[i+3] * under[i+3]
		}
		h, x = h[lanes:], x[lanes:]
	}
	return (a + b) + (c + d)
}

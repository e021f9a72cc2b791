package vocoder

import "math"

// The sine source of the harmonic-plus-noise model (Wang and others, 2019): a sum of harmonics of the fundamental, and
// its short-time spectrum.
const (
	harmonics   = 9
	pitchRate   = 300 // samples for a value of the fundamental
	voicedFrom  = 10  // Hz: what is lower counts as without voice
	sineHeight  = 0.1 // of each harmonic
	voicedNoise = 0.003
	windowSize  = 20 // samples of the short-time spectra
	hop         = 5
	bins        = windowSize/2 + 1
)

// source computes the harmonic source of a chunk.
type source struct {
	pitch   []float32 // Hz
	phase   []float64 // in turns, at the middle of each value of pitch
	weights []float32 // of the harmonics
	bias    float32
	noise   func(sample int64, out []float32) // nil for none
}

func newSource(pitch, weights []float32, bias float32, noise func(sample int64, out []float32)) *source {
	s := &source{pitch: pitch, phase: make([]float64, len(pitch)), weights: weights, bias: bias, noise: noise}
	var turns float64
	for i, hz := range pitch {
		turns += float64(hz) / SampleRate * pitchRate
		turns -= math.Floor(turns)
		s.phase[i] = turns
	}
	return s
}

// samples is how many the chunk has.
func (s *source) samples() int { return pitchRate * len(s.pitch) }

// write computes samples from one on.
func (s *source) write(from int, out []float64) {
	var deviates [harmonics]float32
	for i := range out {
		n := from + i
		value := n / pitchRate
		voiced := s.pitch[value] > voicedFrom
		first, second := 0.0, 0.0 // the sines of the harmonic before, and of the one before that
		var twice float64
		if voiced {
			sine, cosine := math.Sincos(2 * math.Pi * s.turns(n))
			first, twice = sine, 2*cosine
		}
		if s.noise != nil {
			s.noise(int64(n), deviates[:])
		}
		sum := float64(s.bias)
		for h := range harmonics {
			height := sineHeight * first
			if s.noise != nil {
				amount := sineHeight / 3
				if voiced {
					amount = voicedNoise
				}
				height += amount * float64(deviates[h])
			}
			sum += float64(s.weights[h]) * height
			first, second = twice*first-second, first
		}
		out[i] = math.Tanh(sum)
	}
}

// turns is the phase of the fundamental at a sample, between those of the two values of pitch around it.
func (s *source) turns(sample int) float64 {
	at := (float64(sample)+0.5)/pitchRate - 0.5
	i := int(math.Floor(at))
	switch {
	case i < 0:
		return s.phase[0]
	case i+1 >= len(s.phase):
		return s.phase[len(s.phase)-1]
	}
	// Phases are kept below one turn; what is added from one value to the next is known.
	step := float64(s.pitch[i+1]) / SampleRate * pitchRate
	return s.phase[i] + (at-float64(i))*step
}

// spectra computes short-time spectra of a signal of so many samples, mirrored at its ends: for each frame the
// magnitudes of the bins, and then their phases.
type spectra struct {
	source *source
	buffer []float64
}

var window, cosines, sines = transform()

// transform returns the window (Hann) and the tables of a discrete Fourier transform of that size.
func transform() (w [windowSize]float64, c, s [windowSize]float64) {
	for i := range w {
		w[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/windowSize)
		s[i], c[i] = math.Sincos(2 * math.Pi * float64(i) / windowSize)
	}
	return w, c, s
}

// frames is how many spectra the signal has.
func (s *spectra) frames() int { return s.source.samples()/hop + 1 }

// write computes frames [from, from+n) into out, rows of 2 bins.
func (s *spectra) write(from, n int, out []float32) {
	first := from*hop - windowSize/2
	count := (n-1)*hop + windowSize
	if cap(s.buffer) < count {
		s.buffer = make([]float64, count)
	}
	x := s.buffer[:count]
	begin, end := max(first, 0), min(first+count, s.source.samples())
	s.source.write(begin, x[begin-first:end-first])
	for i := range begin - first { // mirrored, without the sample at the edge
		x[begin-first-1-i] = s.at(first+count, begin+1+i, first, x)
	}
	for i := range first + count - end {
		x[end-first+i] = s.at(first+count, end-2-i, first, x)
	}
	for f := range n {
		spectrum(x[f*hop:f*hop+windowSize], out[f*2*bins:(f+1)*2*bins])
	}
}

// at is the sample at a place, which may lie beside x.
func (s *spectra) at(until, place, first int, x []float64) float64 {
	if place >= first && place < until {
		return x[place-first]
	}
	var one [1]float64
	s.source.write(place, one[:])
	return one[0]
}

// silent is the square below which a bin has no phase: it holds rounding and nothing else.
const silent = 1e-14

func spectrum(x []float64, out []float32) {
	var windowed [windowSize]float64
	for i := range windowed {
		windowed[i] = x[i] * window[i]
	}
	for b := range bins {
		var re, im float64
		for i, v := range windowed {
			re += v * cosines[b*i%windowSize]
			im -= v * sines[b*i%windowSize]
		}
		square := re*re + im*im
		out[b], out[bins+b] = float32(math.Sqrt(square)), 0
		if square > silent {
			out[bins+b] = float32(math.Atan2(im, re))
		}
	}
}

// overlap makes samples of log magnitudes and phases by overlapping windows, divided by what those add up to.
type overlap struct {
	sum [windowSize]float64
}

var inverseWindow = normalised()

// normalised is the window divided by the sum of the squares of all that overlap, which is the same everywhere.
func normalised() (w [windowSize]float64) {
	for i := range w {
		var squares float64
		for j := i % hop; j < windowSize; j += hop {
			squares += window[j] * window[j]
		}
		w[i] = window[i] / squares
	}
	return w
}

// push takes a frame of post, log magnitudes and what the sine makes phases of, and writes the hop of samples that is
// complete then.
func (o *overlap) push(post []float32, out []float32) {
	var phases [bins]float32
	for b := range phases {
		phases[b] = float32(math.Sin(float64(post[bins+b])))
	}
	o.inverse(post[:bins], phases[:], out)
}

// inverse is push with phases.
func (o *overlap) inverse(logs, phases, out []float32) {
	var x [windowSize]float64
	for b := range bins {
		height := math.Exp(float64(logs[b])) / windowSize
		if b > 0 && b < bins-1 {
			height *= 2
		}
		sine, cosine := math.Sincos(float64(phases[b]))
		re, im := height*cosine, height*sine
		for i := range x {
			x[i] += re*cosines[b*i%windowSize] - im*sines[b*i%windowSize]
		}
	}
	for i := range x {
		o.sum[i] += x[i] * inverseWindow[i]
	}
	for i := range hop {
		out[i] = float32(o.sum[i])
	}
	copy(o.sum[:], o.sum[hop:])
	clear(o.sum[windowSize-hop:])
}

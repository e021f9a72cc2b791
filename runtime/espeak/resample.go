package espeak

import "math"

// The program speaks at 22,050 Hz, the service at 24,000: 160 samples out for every 147 in. One frame is exactly 1,764 samples in.
const (
	programRate = 22050
	phases      = 160 // samples out …
	stride      = 147 // … for this many in
)

// The filter is a sinc under a Kaiser window. Its shape is a compromise between the 24 samples (1.1 ms) that it looks ahead and
// how much of the band it keeps: flat to 9 kHz, where the program's voices end, and images more than 80 dB down.
const (
	taps   = 48
	half   = taps / 2
	cutoff = 0.94 // of the Nyquist frequency of the input
	beta   = 9.0
)

// filter holds the taps of each phase, in the order of the samples that they meet. Each phase sums to one, so that a constant
// stays constant.
var filter = newFilter()

func newFilter() *[phases][taps]float32 {
	f := new([phases][taps]float32)
	for phase := range f {
		var h [taps]float64
		sum := 0.0
		for i := range h {
			x := float64(half-1-i) + float64(phase)/phases // distance from the tap's sample to the output's place
			h[i] = sinc(cutoff*x) * kaiser(x/half)
			sum += h[i]
		}
		for i := range h {
			f[phase][i] = float32(h[i] / sum)
		}
	}
	return f
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// kaiser is the window at x, which runs from -1 to 1.
func kaiser(x float64) float64 { return besselI0(beta*math.Sqrt(max(0, 1-x*x))) / besselI0(beta) }

func besselI0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-17; k++ {
		term *= x / (2 * k) * (x / (2 * k))
		sum += term
	}
	return sum
}

// resampler turns 22.05 kHz into 24 kHz without moving the sound in time: n samples in become ⌈n·160/147⌉ out, and it holds
// back 24 samples until it knows what follows them. The same samples come out however the input is cut.
type resampler struct {
	buf   [4096]float32
	head  int // start of the window under the filter
	tail  int // end of what was pushed
	owed  int // input samples whose place has not been passed; ends the flush at the exact length
	phase int
	ended bool
}

// reset makes r ready for a new sound.
func (r *resampler) reset() {
	// The first sample of the sound meets the centre of the window: what came before it is silence.
	clear(r.buf[:half-1])
	r.head, r.tail, r.owed, r.phase, r.ended = 0, half-1, 0, 0, false
}

// push takes as much of src as there is room for and returns how many samples that is: at least one while pull has nothing to
// give.
func (r *resampler) push(src []int16) int {
	if r.head > 0 && r.tail+len(src) > len(r.buf)-half {
		r.tail = copy(r.buf[:], r.buf[r.head:r.tail])
		r.head = 0
	}
	n := min(len(src), len(r.buf)-half-r.tail) // the last places are kept for end
	for i, s := range src[:n] {
		r.buf[r.tail+i] = float32(s)
	}
	r.tail += n
	r.owed += n
	return n
}

// end says that no sample follows.
func (r *resampler) end() {
	if r.ended {
		return
	}
	r.ended = true
	clear(r.buf[r.tail : r.tail+half])
	r.tail += half
}

// pull fills dst as far as it can and returns the number of samples.
func (r *resampler) pull(dst []int16) int {
	head, phase, owed := r.head, r.phase, r.owed
	n := 0
	for n < len(dst) && head+taps <= r.tail && owed > 0 {
		dst[n] = clip(dot(&filter[phase], (*[taps]float32)(r.buf[head:])))
		n++
		if phase += stride; phase >= phases {
			phase -= phases
			head++
			owed--
		}
	}
	r.head, r.phase, r.owed = head, phase, owed
	return n
}

// dot keeps four sums apart so that the processor need not wait for one before it starts the next.
func dot(h, x *[taps]float32) float32 {
	var a, b, c, d float32
	for i := 0; i < taps; i += 4 {
		a += h[i] * x[i]
		b += h[i+1] * x[i+1]
		c += h[i+2] * x[i+2]
		d += h[i+3] * x[i+3]
	}
	return (a + b) + (c + d)
}

func clip(x float32) int16 {
	switch {
	case x >= math.MaxInt16:
		return math.MaxInt16
	case x <= math.MinInt16:
		return math.MinInt16
	case x >= 0:
		return int16(x + 0.5)
	default:
		return int16(x - 0.5)
	}
}

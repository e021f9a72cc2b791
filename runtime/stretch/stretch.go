// Package stretch makes speech faster or slower and keeps its pitch. It knows samples at 24 kHz only.
package stretch

import "math"

const sampleRate = 24_000

// Speeds outside these sound broken.
const (
	MinSpeed = 0.5
	MaxSpeed = 2.0
)

// Hop is how many samples come out at a time: 10 ms.
const Hop = sampleRate / 100

// What a stretcher works with, in samples.
const (
	hop     = Hop
	matched = 2 * hop          // 20 ms, that are compared with what would follow
	reach   = sampleRate / 200 // 5 ms, that a window may lie off its place to either side
	leap    = sampleRate / 400 // 2.5 ms, the least that is skipped or repeated: a period of 400 Hz
)

// A Stretcher changes how fast a voice speaks, and not how high: WSOLA (Verhelst and Roelands, 1993). Every 10 ms of
// output come from the place of the input that is then due, give or take 5 ms: from where the last window goes on
// while that is near enough, else from where the sound is most like what would go on, with a fade over 10 ms.
//
// It holds back 25 ms of its input at most. The same samples come out however the input is cut. It is not safe for
// concurrent use.
type Stretcher struct {
	speed float64
	in    []float32 // of the input, from place base on
	base  int
	total int // samples put in
	made  int // hops taken out
	last  int // where the last window begins
	ended bool
	out   [hop]int16
}

// fade is how loud a window is in its first half; the second half of the one before makes up for it.
var fade = func() (f [hop]float32) {
	for i := range f {
		f[i] = float32(.5 - .5*math.Cos(math.Pi*(float64(i)+.5)/hop))
	}
	return f
}()

// New returns a stretcher of which the output takes 1/speed of the time.
func New(speed float64) *Stretcher {
	return &Stretcher{speed: speed, in: make([]float32, 0, 4096)}
}

// Push consumes as many samples as there is room for and returns their number. That is at least one after Pull had
// nothing to give.
func (s *Stretcher) Push(samples []int16) int {
	s.forget()
	n := min(len(samples), cap(s.in)-matched-2*reach-hop-len(s.in)) // the last places are kept for End
	for _, v := range samples[:n] {
		s.in = append(s.in, float32(v))
	}
	s.total += n
	return n
}

// forget drops what no window can need any more.
func (s *Stretcher) forget() {
	from := min(s.last+hop, s.due()-reach) - s.base
	if from <= 0 || len(s.in) < cap(s.in)/2 {
		return
	}
	from = min(from, len(s.in))
	s.in = s.in[:copy(s.in, s.in[from:])]
	s.base += from
}

// End says that no sample follows.
func (s *Stretcher) End() { s.ended = true }

// due is the place of the input where the next window belongs.
func (s *Stretcher) due() int { return int(math.Round(float64(s.made) * hop * s.speed)) }

// Pull returns the next 10 ms, fewer at the end, or nothing. They are valid until the next call.
func (s *Stretcher) Pull() []int16 {
	left := hop
	if s.ended {
		left = min(hop, int(math.Round(float64(s.total)/s.speed))-s.made*hop)
	}
	if left <= 0 || s.total == 0 {
		return nil
	}
	follows := s.last + hop
	if s.made == 0 {
		follows = 0
	}
	if need := max(follows, s.due()+reach) + matched; need > s.base+len(s.in) {
		if !s.ended {
			return nil
		}
		s.silence(need)
	}
	next := s.place(follows)
	before, now := s.in[follows-s.base:][:hop], s.in[next-s.base:][:hop]
	for i, f := range fade {
		s.out[i] = int16(math.RoundToEven(float64(before[i] + f*(now[i]-before[i]))))
	}
	s.last = next
	s.made++
	return s.out[:left]
}

// silence is what follows the input, up to a place.
func (s *Stretcher) silence(upTo int) {
	for s.base+len(s.in) < upTo {
		if len(s.in) == cap(s.in) {
			s.forget()
		}
		s.in = append(s.in, 0)
	}
}

// place chooses where the next window begins. follows is where the last one goes on.
func (s *Stretcher) place(follows int) int {
	due := s.due()
	low, high := max(due-reach, s.base, 0), due+reach
	if follows >= low && follows <= high {
		return follows
	}
	// Just beside where the window goes on, all sound is like itself. That would shift the pitch, and not keep it.
	if follows < low {
		low = max(low, follows+leap)
	} else {
		high = min(high, follows-leap)
	}
	pattern := s.in[follows-s.base:][:matched]
	const step = 3 // speech has little above the 4 kHz that are left of it
	best, most := low, math.Inf(-1)
	for at := low; at <= high; at += step {
		if like := likeness(pattern, s.in[at-s.base:][:matched], step); like > most {
			best, most = at, like
		}
	}
	first, last := max(low, best-step+1), min(high, best+step-1)
	most = math.Inf(-1)
	for at := first; at <= last; at++ {
		if like := likeness(pattern, s.in[at-s.base:][:matched], 1); like > most {
			best, most = at, like
		}
	}
	return best
}

// likeness is how well b goes on as a does, of every step-th sample: their correlation over the level of b.
func likeness(a, b []float32, step int) float64 {
	var product, energy float32
	b = b[:len(a)]
	for i := 0; i < len(a); i += step {
		product += a[i] * b[i]
		energy += b[i] * b[i]
	}
	return float64(product) / math.Sqrt(float64(energy)+1)
}

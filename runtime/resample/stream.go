package resample

import "math"

// A Stream resamples a sound that comes in blocks. n samples in become [Filter.Len](n) out, and it holds back half a
// filter until the following samples are known. The same samples come out however the input is cut. It is not safe
// for concurrent use.
type Stream struct {
	f     *Filter
	buf   []float32
	head  int // start of the window under the filter
	tail  int // end of what was pushed
	owed  int // input samples whose place has not been passed; ends the flush at the exact length
	phase int
	ended bool
}

// Stream returns a stream that is ready for a sound. It never allocates again.
func (f *Filter) Stream() *Stream {
	const blocks = 4096 // room beside the filter, for what is pushed at a time
	s := &Stream{f: f, buf: make([]float32, max(blocks, 2*f.taps+blocks/2))}
	s.Reset()
	return s
}

// Reset makes s ready for a new sound.
func (s *Stream) Reset() {
	// The first sample of the sound meets the centre of the window: what came before it is silence.
	before := s.f.half - 1
	clear(s.buf[:before])
	s.head, s.tail, s.owed, s.phase, s.ended = 0, before, 0, 0, false
}

// Push consumes as many samples of src as there is room for and returns their number. That is at least one while Pull
// has nothing to give.
func (s *Stream) Push(src []int16) int {
	if s.head > 0 && s.tail+len(src) > len(s.buf)-s.f.half {
		s.tail = copy(s.buf, s.buf[s.head:s.tail])
		s.head = 0
	}
	n := min(len(src), len(s.buf)-s.f.half-s.tail) // the last places are kept for End
	for i, v := range src[:n] {
		s.buf[s.tail+i] = float32(v)
	}
	s.tail += n
	s.owed += n
	return n
}

// End says that no sample follows.
func (s *Stream) End() {
	if s.ended {
		return
	}
	s.ended = true
	clear(s.buf[s.tail : s.tail+s.f.half])
	s.tail += s.f.half
}

// Ended reports whether End was called.
func (s *Stream) Ended() bool { return s.ended }

// Pull fills dst as far as it can and returns the number of samples.
func (s *Stream) Pull(dst []int16) int {
	f, head, phase, owed := s.f, s.head, s.phase, s.owed
	n := 0
	for n < len(dst) && head+f.taps <= s.tail && owed > 0 {
		dst[n] = clip(dot(f.row(phase), s.buf[head:]))
		n++
		for phase += f.down; phase >= f.up; phase -= f.up {
			head++
			owed--
		}
	}
	s.head, s.phase, s.owed = head, phase, owed
	return n
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

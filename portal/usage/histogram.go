package usage

import "math"

// histogram is the sum of many sketches: a sketch with a dense store, to which a bin is added without a search. It has
// pages, because durations of one kind need a few hundred of all bins. The zero value is empty.
type histogram struct {
	zeros uint64 // of the value 0
	pages [maxIndex/pageBins + 1]*[pageBins]uint64
}

const pageBins = 64

func (h *histogram) add(s *sketch) {
	h.zeros += s.zeros
	for _, b := range s.bins {
		i := uint32(b.index)
		p := h.pages[i/pageBins]
		if p == nil {
			p = h.page(int(i / pageBins))
		}
		p[i%pageBins] += b.count
	}
}

// merge adds o.
func (h *histogram) merge(o *histogram) {
	h.zeros += o.zeros
	for i, from := range o.pages {
		if from == nil {
			continue
		}
		to := h.page(i)
		for j, n := range from {
			to[j] += n
		}
	}
}

func (h *histogram) page(i int) *[pageBins]uint64 {
	if h.pages[i] == nil {
		h.pages[i] = new([pageBins]uint64)
	}
	return h.pages[i]
}

// count returns how many durations were added.
func (h *histogram) count() uint64 {
	n := h.zeros
	for _, p := range h.pages {
		if p == nil {
			continue
		}
		for _, c := range p {
			n += c
		}
	}
	return n
}

// quantile returns the smallest of the durations, in microseconds and within 1 %, that a share q of them, from 0 to
// 1, does not exceed: the nearest rank, so that of a few durations the 95th percentile is the longest. ok is false
// when there are none.
func (h *histogram) quantile(q float64) (us float64, ok bool) {
	n := h.count()
	if n == 0 {
		return 0, false
	}
	rank := uint64(max(0, math.Ceil(q*float64(n))-1))
	below := h.zeros
	if rank < below {
		return 0, true
	}
	for i, p := range h.pages {
		if p == nil {
			continue
		}
		for j, c := range p {
			if below += c; rank < below {
				return 2 * math.Pow(gamma, float64(i*pageBins+j)) / (gamma + 1), true
			}
		}
	}
	return 0, true
}

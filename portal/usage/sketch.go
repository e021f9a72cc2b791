package usage

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// sketch counts durations, with quantiles exact to 1 %. It is the DDSketch of Masson, Rim and Lee (VLDB 2019) with a
// sparse store: bin i holds the values in (γ^(i-1), γ^i]. Two sketches are merged by adding bins, so the result does
// not depend on the order. The zero value is empty.
//
// It is our own because ours has one mapping, whole numbers only and one encoding: it costs no dependency on
// protobuf, and an add allocates only for a new bin.
type sketch struct {
	zeros uint64 // of the value 0
	bins  []bin  // in order of index
}

type bin struct {
	index int32
	count uint64
}

const (
	accuracy = 0.01
	maxIndex = 2184 // of the largest int64
)

var (
	gamma        = (1 + accuracy) / (1 - accuracy)
	inverseLogOf = 1 / math.Log(gamma)
)

// add counts a duration in microseconds. A negative one counts as 0.
func (s *sketch) add(us int64) {
	if us <= 0 {
		s.zeros++
		return
	}
	index := int32(math.Ceil(math.Log(float64(us)) * inverseLogOf))
	i, ok := s.find(index)
	if !ok {
		s.bins = slices.Insert(s.bins, i, bin{index: index})
	}
	s.bins[i].count++
}

func (s *sketch) find(index int32) (int, bool) {
	return slices.BinarySearchFunc(s.bins, index, func(b bin, index int32) int { return cmp.Compare(b.index, index) })
}

// merge adds o.
func (s *sketch) merge(o *sketch) {
	s.zeros += o.zeros
	if len(o.bins) == 0 {
		return
	}
	sum := make([]bin, 0, len(s.bins)+len(o.bins))
	a, b := s.bins, o.bins
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].index < b[0].index:
			sum, a = append(sum, a[0]), a[1:]
		case a[0].index > b[0].index:
			sum, b = append(sum, b[0]), b[1:]
		default:
			sum = append(sum, bin{a[0].index, a[0].count + b[0].count})
			a, b = a[1:], b[1:]
		}
	}
	s.bins = append(append(sum, a...), b...)
}

// append writes the sketch: uvarint zeros, uvarint bins, then for each bin uvarint index less the index before it
// (for the first: the index) and uvarint count.
func (s *sketch) append(b []byte) []byte {
	b = binary.AppendUvarint(b, s.zeros)
	b = binary.AppendUvarint(b, uint64(len(s.bins)))
	before := int32(0)
	for _, bin := range s.bins {
		b = binary.AppendUvarint(b, uint64(bin.index-before))
		b = binary.AppendUvarint(b, bin.count)
		before = bin.index
	}
	return b
}

// read makes s, whose memory it uses again, what append wrote.
func (s *sketch) read(r *reader) {
	s.zeros = r.uvarint()
	n := r.count(2)
	s.bins = slices.Grow(s.bins[:0], n)[:n]
	before := uint64(0)
	for i := range s.bins {
		var step, count uint64
		if b := r.rest(); len(b) >= 2 &&
			b[0]|b[1] < 0x80 { // reports read millions of these, so that one look at both pays
			step, count = uint64(b[0]), uint64(b[1])
			r.pos += 2
		} else {
			step, count = r.uvarint(), r.uvarint()
		}
		if step > maxIndex-before || i > 0 && step == 0 || count == 0 {
			r.fail()
			s.bins = s.bins[:i]
			return
		}
		before += step
		s.bins[i] = bin{int32(before), count}
	}
}

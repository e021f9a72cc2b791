package voiceout

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// flac makes the subset of FLAC that streams (RFC 9639, section 7): blocks of 80 ms, which no rate makes longer than
// the 4608 samples that it allows, with fixed predictors and Rice codes. A stream does not say how long it is.
type flac struct {
	header   []byte // nil once written
	rateCode uint64
	number   uint64 // of the next frame
	fill     int
	block    []int16
	residual []int32
}

// flacRates are the codes of sample rates in a frame (section 9.1.2).
var flacRates = map[int]uint64{8000: 4, 16_000: 5, 22_050: 6, 24_000: 7, 32_000: 8, 44_100: 9, 48_000: 10}

func newFLAC(rate int, tags []string) sink {
	size := rate * 80 / 1000
	f := &flac{rateCode: flacRates[rate], block: make([]int16, size), residual: make([]int32, size)}
	w := bitWriter{dst: []byte("fLaC")}
	w.put(0, 8) // STREAMINFO
	w.put(34, 24)
	w.put(uint64(size), 16) // least and most samples of a block
	w.put(uint64(size), 16)
	w.put(0, 24) // and bytes of a frame: unknown
	w.put(0, 24)
	w.put(uint64(rate), 20)
	w.put(0, 3)  // channels, less one
	w.put(15, 5) // bits of a sample, less one
	w.put(0, 36) // samples: unknown
	f.header = appendComments(slices.Concat(w.dst, make([]byte, 16)), tags)
	return f
}

// appendComments appends the last block of metadata (section 8.6).
func appendComments(b []byte, tags []string) []byte {
	comments := func(dst []byte, s string) []byte {
		return append(binary.LittleEndian.AppendUint32(dst, uint32(len(s))), s...)
	}
	var body []byte
	body = comments(body, "swar")
	body = binary.LittleEndian.AppendUint32(body, uint32(len(tags)))
	for _, tag := range tags {
		body = comments(body, tag)
	}
	b = append(b, 0x80|4, byte(len(body)>>16), byte(len(body)>>8), byte(len(body)))
	return append(b, body...)
}

func (f *flac) write(dst []byte, samples []int16) ([]byte, error) {
	for len(samples) > 0 {
		n := copy(f.block[f.fill:], samples)
		samples, f.fill = samples[n:], f.fill+n
		if f.fill == len(f.block) {
			dst = f.frame(f.putHeader(dst), f.block)
			f.fill = 0
		}
	}
	return dst, nil
}

func (f *flac) close(dst []byte) ([]byte, error) {
	dst = f.putHeader(dst)
	if f.fill > 0 {
		dst = f.frame(dst, f.block[:f.fill])
	}
	return dst, nil
}

func (f *flac) putHeader(dst []byte) []byte {
	dst = append(dst, f.header...)
	f.header = nil
	return dst
}

// frame appends the frame of one block (section 9).
func (f *flac) frame(dst []byte, block []int16) []byte {
	start := len(dst)
	dst = append(dst, 0xFF, 0xF8) // with blocks of equal length
	dst = append(dst, 0x70|byte(f.rateCode), 0x08)
	dst = appendNumber(dst, f.number)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(block)-1))
	dst = append(dst, flacCRC8(dst[start:]))
	f.number++

	w := bitWriter{dst: dst}
	f.subframe(&w, block)
	dst = w.whole()
	return binary.BigEndian.AppendUint16(dst, flacCRC16(dst[start:]))
}

// subframe writes a block in the shortest of the ways that there are (section 9.2).
func (f *flac) subframe(w *bitWriter, block []int16) {
	if isConstant(block) {
		w.put(0, 8)
		w.put(uint64(uint16(block[0])), 16)
		return
	}
	order := bestOrder(block)
	f.predict(block, order)
	p := partition(f.residual[order:len(block)], len(block), order)
	if 16*order+p.bits >= 16*len(block) {
		w.put(1<<1, 8) // as it is
		for _, s := range block {
			w.put(uint64(uint16(s)), 16)
		}
		return
	}
	w.put(uint64(8+order)<<1, 8)
	for _, s := range block[:order] {
		w.put(uint64(uint16(s)), 16)
	}
	w.put(0, 2) // Rice parameters of four bits
	w.put(uint64(p.order), 4)
	rest := f.residual[order:len(block)]
	for i := range 1 << p.order {
		n := len(block) >> p.order
		if i == 0 {
			n -= order
		}
		w.put(uint64(p.parameters[i]), 4)
		w.rice(rest[:n], p.parameters[i])
		rest = rest[n:]
	}
}

func isConstant(block []int16) bool {
	for _, s := range block {
		if s != block[0] {
			return false
		}
	}
	return true
}

// bestOrder is the order of the fixed predictor that leaves least.
func bestOrder(block []int16) int {
	if len(block) < 8 {
		return 0
	}
	var sums [5]uint64
	var last [4]int32 // differences of each order
	for i, s := range block {
		d := int32(s)
		for order := range 4 {
			if i >= 4 {
				sums[order] += uint64(max(d, -d))
			}
			d, last[order] = d-last[order], d
		}
		if i >= 4 {
			sums[4] += uint64(max(d, -d))
		}
	}
	best := 0
	for order, sum := range sums {
		if sum < sums[best] {
			best = order
		}
	}
	return best
}

// predict puts what the predictor of an order does not foresee into residual, from its place order on.
func (f *flac) predict(block []int16, order int) {
	at := func(i int) int32 { return int32(block[i]) }
	for i := order; i < len(block); i++ {
		r := at(i)
		switch order {
		case 1:
			r -= at(i - 1)
		case 2:
			r -= 2*at(i-1) - at(i-2)
		case 3:
			r -= 3*at(i-1) - 3*at(i-2) + at(i-3)
		case 4:
			r -= 4*at(i-1) - 6*at(i-2) + 4*at(i-3) - at(i-4)
		}
		f.residual[i] = r
	}
}

const (
	maxPartitions = 6  // as a power of two: each then has a millisecond and more
	maxRice       = 14 // 15 stands for something else
)

// A partitioning cuts a residual into 1<<order parts, each with a Rice parameter of its own.
type partitioning struct {
	order      int
	bits       int // about
	parameters [1 << maxPartitions]uint
}

func partition(residual []int32, size, order int) partitioning {
	most := min(maxPartitions, bits.TrailingZeros(uint(size)))
	for most > 0 && size>>most <= order {
		most--
	}
	var sums [1 << maxPartitions]uint64
	rest := residual
	for i := range 1 << most {
		n := size >> most
		if i == 0 {
			n -= order
		}
		for _, r := range rest[:n] {
			sums[i] += uint64(zigzag(r))
		}
		rest = rest[n:]
	}
	var best partitioning
	for o := most; o >= 0; o-- {
		p := partitioning{order: o, bits: 6}
		for i := range 1 << o {
			n := size >> o
			if i == 0 {
				n -= order
			}
			k, cost := riceParameter(sums[i], n)
			p.parameters[i] = k
			p.bits += 4 + cost
		}
		if o == most || p.bits < best.bits {
			best = p
		}
		for i := range 1 << o / 2 { // for the next order
			sums[i] = sums[2*i] + sums[2*i+1]
		}
	}
	return best
}

// riceParameter is the one that n numbers of this sum need the fewest bits with, at most that many.
func riceParameter(sum uint64, n int) (k uint, most int) {
	if n == 0 {
		return 0, 0
	}
	cost := func(k uint) int { return n*int(k+1) + int(sum>>k) }
	k = uint(max(0, bits.Len64(sum/uint64(n))-1))
	k = min(k, maxRice)
	for k < maxRice && cost(k+1) < cost(k) {
		k++
	}
	return k, cost(k)
}

// zigzag makes a number without a sign of one with: 0, -1, 1, -2 become 0, 1, 2, 3.
func zigzag(r int32) uint32 { return uint32(r<<1) ^ uint32(r>>31) }

// appendNumber appends a frame number as UTF-8 would a character, of up to 36 bits.
func appendNumber(dst []byte, n uint64) []byte {
	if n < 0x80 {
		return append(dst, byte(n))
	}
	more := (bits.Len64(n) - 2) / 5 // bytes behind the first: of 6 bits each, where the first has 6 less one for each
	dst = append(dst, byte(0xFF<<(7-more))|byte(n>>(6*more)))
	for more--; more >= 0; more-- {
		dst = append(dst, 0x80|byte(n>>(6*more)&0x3F))
	}
	return dst
}

// A bitWriter appends bits, the most significant first.
type bitWriter struct {
	dst     []byte
	pending uint64
	n       uint // bits of pending that are not in dst, fewer than 8
}

// put writes the lowest count bits of v, up to 48.
func (w *bitWriter) put(v uint64, count uint) {
	w.pending = w.pending<<count | v
	for w.n += count; w.n >= 8; {
		w.n -= 8
		w.dst = append(w.dst, byte(w.pending>>w.n))
	}
}

// rice writes numbers with a Rice parameter.
func (w *bitWriter) rice(residual []int32, k uint) {
	for _, r := range residual {
		u := zigzag(r)
		zeros := uint(u >> k)
		for ; zeros > 31; zeros -= 31 {
			w.put(0, 31)
		}
		w.put(1, zeros+1)
		w.put(uint64(u&(1<<k-1)), k)
	}
}

// whole returns dst, filled up with zeros to a byte.
func (w *bitWriter) whole() []byte {
	if w.n > 0 {
		w.put(0, 8-w.n)
	}
	return w.dst
}

// The checks of a frame, with the polynomials x^8+x^2+x+1 and x^16+x^15+x^2+1.
var flacTable8, flacTable16 = func() (eight [256]byte, sixteen [256]uint16) {
	for i := range 256 {
		a, b := byte(i), uint16(i)<<8
		for range 8 {
			a = a<<1 ^ a>>7*0x07
			b = b<<1 ^ b>>15*0x8005
		}
		eight[i], sixteen[i] = a, b
	}
	return eight, sixteen
}()

func flacCRC8(p []byte) (crc byte) {
	for _, b := range p {
		crc = flacTable8[crc^b]
	}
	return crc
}

func flacCRC16(p []byte) (crc uint16) {
	for _, b := range p {
		crc = crc<<8 ^ flacTable16[byte(crc>>8)^b]
	}
	return crc
}

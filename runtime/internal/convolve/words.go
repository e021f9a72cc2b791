package convolve

// #include "convolve.h"
import "C"

import (
	"math"
	"unsafe"
)

// Bytes have 256 steps, which is little where the result of many convolutions should be silent: what they round off
// is heard. Words have so many that nothing is. They take two to four times as long.

// WordStride is how many words a row of so many channels has: kernels take whole groups. What follows the channels
// may be anything.
func WordStride(channels int) int {
	const group = C.group_channels / 2
	return (channels + group - 1) / group * group
}

// WordRange is the largest integer of a row of words of so many channels. Weights have the rest of the 32 bits of a
// sum, which are about as many.
func WordRange(channels int) int {
	return min(math.MaxInt16, int(math.Sqrt((1<<33)/float64(channels))))
}

// PackWords rounds weights [out][taps][in] to words and lays them out. The scale of a column is the smallest for
// which all of its weights are words and no sum of a tap leaves 32 bits, whatever the rows are, up to [WordRange]. A
// column that holds what is not a number makes all of its results that, too.
func PackWords(weights []float32, in, out, taps int) *Weights {
	const columns = C.panel_columns
	if in < 1 || out < 1 || taps < 1 || len(weights) != out*taps*in || in > MaxIn {
		panic("convolve: sizes do not fit each other")
	}
	stride, panels := WordStride(in), (out+columns-1)/columns
	w := &Weights{
		In: in, Out: out, Taps: taps, stride: 2 * stride, words: true, scales: make([]float32, out),
		sums: make([]uint8, panels*taps), offsets: make([]int32, panels*taps*columns),
	}
	for i := range w.sums {
		w.sums[i] = C.add_words
	}
	w.panels = panelsFor(w, panels*taps*stride*columns*2)
	to := unsafe.Slice((*int16)(unsafe.Pointer(&w.panels[0])), len(w.panels)/2)
	for o := range out {
		column := weights[o*taps*in : (o+1)*taps*in]
		scale := wordScale(column, in)
		w.scales[o] = float32(scale)
		if !(scale > 0) || math.IsInf(scale, 0) {
			continue // zeros, times that
		}
		for i, v := range column {
			channel := i % in
			at := ((o/columns*taps+i/in)*stride+channel/2*2)*columns + o%columns*2 + channel%2
			to[at] = int16(math.RoundToEven(float64(v) / scale))
		}
	}
	return w
}

// wordScale is that of a column [taps][in]. Rounding makes the sum of a tap larger by at most a half for each weight.
func wordScale(column []float32, in int) float64 {
	most := float64(WordRange(in))
	scale, sum := 0., 0.
	for i, v := range column {
		if i%in == 0 {
			sum = 0
		}
		size := math.Abs(float64(v))
		sum += size
		scale = max(scale, size/math.MaxInt16, sum*most/(math.MaxInt32-most*float64(in)/2))
	}
	if scale == 0 {
		return 0
	}
	return float64(math.Nextafter32(float32(scale), float32(math.Inf(1)))) // at least as large, in floats
}

// MultiplyWords is [Kernel.Multiply] for rows of words, each [WordStride] long and with a scale, and weights of
// [PackWords].
func (k Kernel) MultiplyWords(w *Weights, y []float32, x []int16, scales []float32, rows, dilation int) {
	if !w.words || !w.fit(y, 2*len(x), scales, rows, dilation) {
		panic("convolve: sizes do not fit each other")
	}
	if rows > 0 {
		k.multiply(w, y, (*C.uint8_t)(unsafe.Pointer(&x[0])), scales, rows, dilation)
	}
}

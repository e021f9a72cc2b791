// Package convolve convolves rows of bytes with 8-bit weights, or rows of words with 16-bit weights, exactly, on
// every processor.
//
// A row is a moment of a signal. It becomes integers once, by a scale of its own ([vector.Functions.Round] and its
// siblings), and every tap reads it where it lies. The products of a tap are added up as integers, which is exact in
// any order; each sum becomes a float, times the scale of its row, and taps are added in one order, so that all
// kernels give the same bits however a signal is cut. Which kernel runs is decided when the program starts.
package convolve

/*
#cgo CFLAGS: -O3 -std=c11
#include "convolve.h"

static const convolve_kernel *kernel_at(size_t i) { return convolve_kernels[i]; }
static int runs(const convolve_kernel *k) { return k->runs_here(); }

static void multiply_by(const convolve_kernel *k, size_t in, size_t out, size_t taps, const int8_t *panels,
                        const uint8_t *sums, const int32_t *offsets, const float *scales, const uint8_t *x,
                        const float *scale, size_t rows, size_t dilation, float *y) {
	const convolve_weights w = {in, out, taps, panels, sums, offsets, scales};
	k->multiply(&w, x, scale, rows, dilation, y);
}
*/
import "C"

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// MaxIn is how many channels the input may have, so that no sum leaves 32 bits.
const MaxIn = C.max_in

// Zero is the byte that stands for 0 in a row.
const Zero = 128

// Stride is how long a row of so many channels is: kernels take whole groups. What follows the channels may be
// anything.
func Stride(channels int) int {
	return (channels + C.group_channels - 1) / C.group_channels * C.group_channels
}

// Kernel is convolutions by one set of instructions of a processor. It is safe for concurrent use.
type Kernel struct{ c *C.convolve_kernel }

// Kernels returns those that this processor can run, the fastest first and plain C last.
func Kernels() []Kernel {
	return slices.DeleteFunc(built(), func(k Kernel) bool { return C.runs(k.c) == 0 })
}

// built returns all kernels of this program.
func built() []Kernel {
	var all []Kernel
	for i := C.size_t(0); ; i++ {
		c := C.kernel_at(i)
		if c == nil {
			return all
		}
		all = append(all, Kernel{c})
	}
}

// Find returns the kernel of a name that this processor can run, or the fastest one for the empty name. The names are
// those of package rowproduct.
func Find(name string) (Kernel, error) {
	var names []string
	for _, k := range Kernels() {
		if name == "" || k.Name() == name {
			return k, nil
		}
		names = append(names, k.Name())
	}
	return Kernel{},
		fmt.Errorf("convolutions have no kernel %q for this processor; it can run %s", name, strings.Join(names, ", "))
}

// Name is that of the set of instructions, such as avx512vnni.
func (k Kernel) Name() string { return C.GoString(k.c.name) }

// Weights are those of a convolution, as kernels read them.
type Weights struct {
	In, Out, Taps int
	stride        int // bytes of a row
	words         bool
	panels        []int8
	sums          []uint8 // how products of a tap and a panel may be added up
	offsets       []int32
	scales        []float32
}

// Pack lays weights [out][taps][in] out, with a scale for each of out.
func Pack(weights []int8, scales []float32, in, taps int) *Weights {
	const columns, depth = C.panel_columns, C.panel_depth
	out, stride := len(scales), Stride(in)
	if in < 1 || taps < 1 || len(weights) != out*taps*in || in > MaxIn {
		panic("convolve: sizes do not fit each other")
	}
	panels := (out + columns - 1) / columns
	w := &Weights{
		In: in, Out: out, Taps: taps, stride: stride, scales: scales,
		sums: make([]uint8, panels*taps), offsets: make([]int32, panels*taps*columns),
	}
	w.panels = panelsFor(w, panels*taps*stride*columns)
	for o := range out {
		for t := range taps {
			at := o/columns*taps + t
			to := w.panels[at*stride*columns:]
			for i, v := range weights[(o*taps+t)*in : (o*taps+t+1)*in] {
				to[(i/depth*columns+o%columns)*depth+i%depth] = v
				w.offsets[at*columns+o%columns] -= Zero * int32(v)
			}
		}
	}
	for at := range w.sums {
		w.sums[at] = howToAdd(w.panels[at*stride*columns : (at+1)*stride*columns])
	}
	return w
}

// howToAdd returns how the products of a tap and a panel may be added in 16 bits, whatever the bytes of a row are.
func howToAdd(panel []int8) uint8 {
	const step, group = C.panel_bytes, C.panel_bytes * C.group_steps
	how := uint8(C.add_group)
	for from := 0; from < len(panel); from += group {
		for lane := 0; lane < step; lane += 2 {
			var all bounds
			for k := 0; k < group; k += step {
				var pair bounds
				for _, v := range panel[from+k+lane : from+k+lane+2] {
					pair.add(v)
					all.add(v)
				}
				if !pair.fit() {
					return C.add_in_32
				}
			}
			if !all.fit() {
				how = C.add_pairs
			}
		}
	}
	return how
}

// bounds are how much weights sum up to at most, in either direction.
type bounds struct{ above, below int }

func (b *bounds) add(v int8) {
	b.above += max(int(v), 0)
	b.below += min(int(v), 0)
}

// fit says whether 16 bits hold the products with any bytes.
func (b *bounds) fit() bool { return 255*b.above <= 1<<15-1 && 255*b.below >= -1<<15 }

// Bytes is what weights take.
func (w *Weights) Bytes() int64 {
	return int64(len(w.panels)+len(w.sums)) + 4*int64(len(w.offsets)+len(w.scales))
}

// Multiply writes y [rows, w.Out]. Row r of it follows from the rows r, r + dilation, and so on of x, each [Stride]
// bytes long and with a scale: an integer is a byte less [Zero].
func (k Kernel) Multiply(w *Weights, y []float32, x []byte, scales []float32, rows, dilation int) {
	if w.words || !w.fit(y, len(x), scales, rows, dilation) {
		panic("convolve: sizes do not fit each other")
	}
	if rows > 0 {
		k.multiply(w, y, (*C.uint8_t)(&x[0]), scales, rows, dilation)
	}
}

// fit says whether there are as many values, bytes and scales as are needed.
func (w *Weights) fit(y []float32, bytes int, scales []float32, rows, dilation int) bool {
	needed := rows + (w.Taps-1)*dilation
	return len(y) == rows*w.Out && dilation > 0 && (rows == 0 || bytes >= needed*w.stride && len(scales) >= needed)
}

func (k Kernel) multiply(w *Weights, y []float32, x *C.uint8_t, scales []float32, rows, dilation int) {
	C.multiply_by(k.c, C.size_t(w.stride), C.size_t(w.Out), C.size_t(w.Taps), (*C.int8_t)(&w.panels[0]),
		(*C.uint8_t)(&w.sums[0]),
		(*C.int32_t)(&w.offsets[0]), (*C.float)(&w.scales[0]), x, (*C.float)(&scales[0]),
		C.size_t(rows), C.size_t(dilation), (*C.float)(&y[0]))
	runtime.KeepAlive(w) // whose panels the collector does not see
}

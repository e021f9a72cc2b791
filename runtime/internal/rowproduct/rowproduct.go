// Package rowproduct multiplies rows of floats by matrices of 8-bit integers, exactly, on every processor.
//
// Each row becomes integers from -127 to 127 by a scale of its own, as QuantizeLinear of ONNX makes them; the integers
// are multiplied and added up in 32 bits; each sum becomes a float again, times the scale of its row and that of its
// column. Sums of integers are exact, and the floats are computed in one order, so that all kernels give the same bits.
// Which kernel runs is decided when the program starts.
package rowproduct

/*
#cgo CFLAGS: -O3
#include "rowproduct.h"

static const row_kernel *kernel_at(size_t i) { return row_kernels[i]; }
static int runs(const row_kernel *k) { return k->runs_here(); }

static void multiply_by(const row_kernel *k, size_t in, size_t out, const int8_t *panels, const int32_t *offset,
                        const float *scales, const float *x, size_t rows, float *y, void *scratch) {
	const row_matrix m = {in, out, panels, offset, scales};
	k->multiply(&m, x, rows, y, scratch);
}

static size_t scratch_bytes(const row_kernel *k, size_t in, size_t rows) {
	const row_matrix m = {.in = in};
	return k->scratch(&m, rows);
}
*/
import "C"

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// The shape in which a matrix lies: panels of so many columns, [panels][in/PanelDepth][PanelColumns][PanelDepth].
const (
	PanelColumns = C.panel_columns
	PanelDepth   = C.panel_depth
)

// MaxIn is how many rows a matrix may have, so that no sum leaves 32 bits.
const MaxIn = C.max_in

// Kernel is row products by one set of instructions of a processor. It is safe for concurrent use.
type Kernel struct{ c *C.row_kernel }

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

// Find returns the kernel of a name, or the fastest one for the empty name. An error says what there is.
func Find(name string) (Kernel, error) {
	here := Kernels()
	if name == "" {
		return here[0], nil
	}
	named := func(k Kernel) bool { return k.Name() == name }
	if i := slices.IndexFunc(here, named); i >= 0 {
		return here[i], nil
	}
	why := "there is none of that name"
	if slices.ContainsFunc(built(), named) {
		why = "this processor does not have its instructions"
	}
	var names []string
	for _, k := range here {
		names = append(names, k.Name())
	}
	return Kernel{}, fmt.Errorf("kernel %q: %s; it can run %s", name, why, strings.Join(names, ", "))
}

// Name returns the instruction set, such as avx512vnni. It is empty for the zero value, with which [Find] finds the
// fastest.
func (k Kernel) Name() string {
	if k.c == nil {
		return ""
	}
	return C.GoString(k.c.name)
}

// Pointer is the kernel's row_kernel of rowproduct.h, for other packages' C.
func (k Kernel) Pointer() unsafe.Pointer { return unsafe.Pointer(k.c) }

// Matrix is a matrix of integers [In, Out] as kernels read it.
type Matrix struct {
	In, Out int       // In is a multiple of PanelDepth, at most MaxIn
	Panels  []int8    // with zeros where the last panel has no column
	Offset  []int32   // -128 times the sum of each column
	Scales  []float32 // of each column
}

// Pack lays a matrix of [in, out] out, into panels where they are long enough, see [PanelBytes].
func Pack(panels, matrix []int8, scales []float32, in, out int) *Matrix {
	if in%PanelDepth != 0 || in > MaxIn || len(matrix) != in*out || len(scales) != out ||
		len(panels) != PanelBytes(in, out) {
		panic("rowproduct: sizes do not fit each other")
	}
	m := &Matrix{in, out, panels, make([]int32, out), scales}
	clear(panels)
	for i := range in {
		for o, v := range matrix[i*out : (i+1)*out] {
			panel := (o/PanelColumns*in + i/PanelDepth*PanelDepth) * PanelColumns
			m.Panels[panel+o%PanelColumns*PanelDepth+i%PanelDepth] = v
			m.Offset[o] -= 128 * int32(v)
		}
	}
	return m
}

// PanelBytes is the length of the panels of a matrix of [in, out].
func PanelBytes(in, out int) int { return (out + PanelColumns - 1) / PanelColumns * PanelColumns * in }

// Scratch is how many bytes [Kernel.MultiplyIn] needs.
func (k Kernel) Scratch(in, rows int) int {
	return int(C.scratch_bytes(k.c, C.size_t(in), C.size_t(rows)))
}

// Multiply writes y [rows, m.Out], the product of x [rows, m.In] and m.
func (k Kernel) Multiply(m *Matrix, x []float32, rows int, y []float32) {
	k.MultiplyIn(m, x, rows, y, make([]byte, k.Scratch(m.In, rows)))
}

// MultiplyIn is Multiply with memory that it may use meanwhile.
func (k Kernel) MultiplyIn(m *Matrix, x []float32, rows int, y []float32, scratch []byte) {
	whole := m.In%PanelDepth == 0 && m.In <= MaxIn
	matrixFits := len(m.Panels) == PanelBytes(m.In, m.Out) && len(m.Offset) == m.Out && len(m.Scales) == m.Out
	if rowsFit := len(x) == rows*m.In && len(y) == rows*m.Out; !whole || !matrixFits || !rowsFit {
		panic("rowproduct: sizes do not fit each other")
	}
	if len(y) == 0 || len(x) == 0 {
		clear(y)
		return
	}
	if len(scratch) < k.Scratch(m.In, rows) {
		panic("rowproduct: too little memory")
	}
	C.multiply_by(k.c, C.size_t(m.In), C.size_t(m.Out), (*C.int8_t)(&m.Panels[0]), (*C.int32_t)(&m.Offset[0]),
		(*C.float)(&m.Scales[0]),
		(*C.float)(&x[0]), C.size_t(rows), (*C.float)(&y[0]), unsafe.Pointer(&scratch[0]))
}

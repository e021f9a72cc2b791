package graph

import (
	"bytes"
	"encoding/binary"
	"math"
)

// The operator that a product becomes. Its inputs are the rows, f32 [rows, in]; the matrix in panels, i8 [panels,
// in/4, 16, 4]; what a row of zeros would sum up to, i32 [out]; and a scale for each output, f32 [out]. Its output is
// f32 [rows, out].
const (
	rowDomain  = "swar"
	rowVersion = 1
	rowProduct = "RowProduct"

	panelWidth = 16 // outputs side by side: 32-bit sums in a register of 512 bits
	panelDepth = 4  // products of bytes that one instruction adds into such a sum
)

// The largest integer of a row, counted from its zero.
const (
	RowRange = 127
	RowZero  = 128
)

// RowZeros is the zero of every row of x, which is of rank two, for [Builder.MultiplyRows].
func (b *Builder) RowZeros(x Value) Value {
	count := b.Op("Gather", []Value{b.Op("Shape", []Value{x}), b.Ints(0)})
	return b.Op("Expand", []Value{b.Uint8(RowZero), count})
}

// MultiplyRows adds a product of rows with an integer matrix. It quantises rows, f32 [rows, in], to bytes and
// multiplies them by a matrix of [in, out] and by a scale for each output. zeros are those of as many rows.
//
// Every row has a scale of its own. A row of zeros has a scale of zero: what it becomes as integers has no meaning,
// but times zero it is zeros again. [FuseRows] knows these nodes by every detail.
func (b *Builder) MultiplyRows(x, zeros Value, name string, matrix []int8, scales []float32, in, out int) Value {
	peak := b.Op("ReduceMax", []Value{b.Op("Abs", []Value{x})}, Attr{Name: "axes", Value: []int64{-1}},
		Attr{Name: "keepdims", Value: 0})
	scale := b.Op("Mul", []Value{peak, b.Float(1. / RowRange)})
	bytes := b.Op("QuantizeLinear", []Value{x, scale, zeros}, Attr{Name: "axis", Value: 0})
	sums := b.Op("MatMulInteger", []Value{bytes, b.Int8s(name, matrix, in, out), b.Uint8(RowZero)})
	y := b.Op("Cast", []Value{sums}, Attr{Name: "to", Value: int(F32)})
	y = b.Op("Mul", []Value{y, b.Op("Reshape", []Value{scale, b.Ints(-1, 1)})})
	return b.Op("Mul", []Value{y, b.Floats(name+".scales", scales, out)})
}

// FuseRows fuses every product of rows by an integer matrix into one custom operator. [Builder.MultiplyRows] writes
// such a product in nine nodes; the result is the same. What differs from that writing in anything stays as it is.
//
// It returns the new file and how many products it replaced; a file without any comes back as it is. Otherwise fused
// shares no memory with file, and nothing as large as a matrix is held beside the two. Nodes and weights that only
// the replaced nodes used are left out; everything else is passed through byte for byte. It fails only where the file
// is not a model or is cut off.
func FuseRows(file []byte) (fused []byte, products int, err error) {
	return rewriteRows(file, (*model).replace)
}

// rewriteRows replaces every product by what replace puts in the place of its last node.
func rewriteRows(file []byte,
	replace func(m *model, last *operation, p product)) (rewritten []byte, products int, err error) {
	m, err := readModel(file)
	if err != nil {
		return nil, 0, err
	}
	if m.foreign {
		return file, 0, nil
	}
	// What is left out can have been all that kept another product from being replaced, so one round may not be enough.
	for before := -1; before < products; {
		before = products
		for _, o := range m.operations {
			if p, ok := m.match(o); ok {
				replace(m, o, p)
				products++
			}
		}
	}
	if products == 0 {
		return file, 0, nil
	}
	return m.bytes(), products, nil
}

// product is rows times a matrix of integers, and of each output a scale.
type product struct {
	rows           string
	matrix, scales *tensor
}

// match tells if a node is the last of a product, and of which.
func (m *model) match(last *operation) (p product, ok bool) {
	if m.fields[last.at] == nil || !last.is("Mul", 2) {
		return p, false
	}
	scaled := m.maker(last.input(0), "Mul", 2)
	floats := m.maker(scaled.input(0), "Cast", 1, Attr{"to", int(F32)})
	sums := m.maker(floats.input(0), "MatMulInteger", 3)
	integers := m.maker(sums.input(0), "QuantizeLinear", 3, Attr{"axis", 0})
	zeros := m.maker(integers.input(2), "Expand", 2)
	scale := m.maker(integers.input(1), "Mul", 2)
	peak := m.maker(scale.input(0), "ReduceMax", 1, Attr{"axes", []int64{-1}}, Attr{"keepdims", 0})
	magnitude := m.maker(peak.input(0), "Abs", 1)
	column := m.maker(scaled.input(1), "Reshape", 2)
	if zeros == nil || magnitude == nil || column == nil {
		return p, false
	}
	for _, o := range []*operation{integers, sums, floats, scaled} {
		if m.values[o.outputs[0]].uses != 1 {
			return p, false
		}
	}
	p = product{integers.input(0), m.constant(sums.input(1)), m.constant(last.input(1))}
	if magnitude.input(0) != p.rows || column.input(0) != integers.input(1) {
		return p, false
	}
	zero, step := []byte{RowZero}, binary.LittleEndian.AppendUint32(nil, math.Float32bits(1./RowRange))
	shape := binary.LittleEndian.AppendUint64(bytes.Repeat([]byte{0xff}, 8), 1) // -1, 1
	quantized := m.constant(scale.input(1)).holds(F32, step) &&
		m.constant(zeros.input(0)).holds(U8, zero) && m.constant(sums.input(2)).holds(U8, zero)
	perRow := m.constant(column.input(1)).holds(I64, shape, 2)
	return p, quantized && perRow && p.fits() && m.room(p.matrix)
}

// fits tells if the weights are there, in types and sizes that the operator takes.
func (p product) fits() bool {
	w, s := p.matrix, p.scales
	if p.rows == "" || w == nil || s == nil {
		return false
	}
	if w.kind != I8 || len(w.dims) != 2 || s.kind != F32 || len(s.dims) != 1 {
		return false
	}
	in, out := w.dims[0], w.dims[1]
	if in < 1 || in > math.MaxInt32 || out < 1 || out > math.MaxInt32 {
		return false
	}
	complete := int64(len(w.raw)) == in*out && int64(len(s.raw)) == 4*out
	return complete && in%panelDepth == 0 && s.dims[0] == out
}

// room tells if the names of what a matrix becomes are free.
func (m *model) room(w *tensor) bool {
	return w.packed || m.values[w.rows()] == nil && m.values[w.zero()] == nil && m.values[w.name+".floats"] == nil
}

// replace puts the product in the place of its last node.
func (m *model) replace(last *operation, p product) {
	if !p.matrix.packed {
		p.matrix.packed = true
		m.added = append(m.added, p.matrix.inPanels())
	}
	before := last.inputs
	last.domain, last.op = rowDomain, rowProduct
	last.inputs = []string{p.rows, p.matrix.rows(), p.matrix.zero(), p.scales.name}
	m.declares = true
	m.write(last)
	m.release(before)
}

func (t *tensor) rows() string { return t.name + ".rows" }
func (t *tensor) zero() string { return t.name + ".zero" }

func (t *tensor) in() int     { return int(t.dims[0]) }
func (t *tensor) out() int    { return int(t.dims[1]) }
func (t *tensor) panels() int { return (t.out() + panelWidth - 1) / panelWidth }

func (t *tensor) rowsSize() int { return t.panels() * panelWidth * t.in() }
func (t *tensor) zeroSize() int { return 4 * t.out() }

func (t *tensor) rowsHead() []byte {
	return tensorHead(t.rows(), I8, t.rowsSize(), t.panels(), t.in()/panelDepth, panelWidth, panelDepth)
}

func (t *tensor) zeroHead() []byte { return tensorHead(t.zero(), I32, t.zeroSize(), t.out()) }

// inPanels is the matrix in panels, and what a row of zeros would sum up to.
func (t *tensor) inPanels() addition {
	size := len(t.rowsHead()) + t.rowsSize() + len(t.zeroHead()) + t.zeroSize()
	return addition{t.rows(), size, func(file []byte) []byte {
		file = append(file, t.rowsHead()...)
		start := len(file)
		file = file[:start+t.rowsSize()] // what was never written is zero, as the rest of the last panel has to be
		sums := t.pack(file[start:])
		file = append(file, t.zeroHead()...)
		for _, sum := range sums {
			file = binary.LittleEndian.AppendUint32(file, uint32(-RowZero*sum))
		}
		return file
	}}
}

// pack writes a matrix of [in, out] in panels, and returns the sum over each output's weights.
//
// It goes through the matrix in the order of memory, and writes a line of a cache at a time.
func (t *tensor) pack(to []byte) (sums []int32) {
	in, out := t.in(), t.out()
	sums = make([]int32, out)
	for k := range in / panelDepth {
		rows := t.raw[k*panelDepth*out:][:panelDepth*out]
		for n := 0; n < out; n += panelWidth {
			width := min(panelWidth, out-n)
			a, b, c, d := rows[n:][:width], rows[n+out:][:width], rows[n+2*out:][:width], rows[n+3*out:][:width]
			line, sum := to[n*in+k*panelWidth*panelDepth:][:width*panelDepth], sums[n:][:width]
			for i := range width {
				sum[i] += int32(int8(a[i])) + int32(int8(b[i])) + int32(int8(c[i])) + int32(int8(d[i]))
				binary.LittleEndian.PutUint32(line[i*panelDepth:],
					uint32(a[i])|uint32(b[i])<<8|uint32(c[i])<<16|uint32(d[i])<<24)
			}
		}
	}
	return sums
}

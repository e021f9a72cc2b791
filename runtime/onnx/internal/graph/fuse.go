package graph

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// The operator that a product becomes. Its inputs are the rows, f32 [rows, in]; the matrix in panels, i8 [panels, in/4, 16, 4]; what a
// row of zeros would sum up to, i32 [out]; and a scale for each output, f32 [out]. Its output is f32 [rows, out].
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

// MultiplyRows makes bytes of rows, f32 [rows, in], and multiplies them by a matrix of [in, out] and by a scale for each output. zeros are
// those of as many rows.
//
// Every row has a scale of its own. A row of zeros has a scale of zero: what it becomes as integers has no meaning, but times zero it is
// zeros again. [FuseRows] knows these nodes by every detail.
func (b *Builder) MultiplyRows(x, zeros Value, name string, matrix []int8, scales []float32, in, out int) Value {
	peak := b.Op("ReduceMax", []Value{b.Op("Abs", []Value{x})}, Attr{Name: "axes", Value: []int64{-1}}, Attr{Name: "keepdims", Value: 0})
	scale := b.Op("Mul", []Value{peak, b.Float(1. / RowRange)})
	bytes := b.Op("QuantizeLinear", []Value{x, scale, zeros}, Attr{Name: "axis", Value: 0})
	sums := b.Op("MatMulInteger", []Value{bytes, b.Int8s(name, matrix, in, out), b.Uint8(RowZero)})
	y := b.Op("Cast", []Value{sums}, Attr{Name: "to", Value: int(F32)})
	y = b.Op("Mul", []Value{y, b.Op("Reshape", []Value{scale, b.Ints(-1, 1)})})
	return b.Op("Mul", []Value{y, b.Floats(name+".scales", scales, out)})
}

// FuseRows replaces every product of rows by an integer matrix, as [Builder.MultiplyRows] writes it in nine nodes, by one node of our own that makes
// the same of the same rows. What differs from that writing in anything stays as it is.
//
// It returns the new file and how many products it replaced; a file without any comes back as it is. Otherwise fused shares no memory
// with file, and nothing as large as a matrix is held beside the two. Nodes and weights that only the replaced nodes used are
// left out; everything else is passed through byte for byte. It fails only where the file is not a model or is cut off.
func FuseRows(file []byte) (fused []byte, products int, err error) {
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
				m.replace(o, p)
				products++
			}
		}
	}
	if products == 0 {
		return file, 0, nil
	}
	return m.bytes(), products, nil
}

// model is a file on its way to another. All bytes are the file's until they are written.
type model struct {
	before, after []byte // of the graph
	declared      bool   // our operators are among the imports
	foreign       bool   // has what our graphs never have, and what a node replaced or left out could break

	fields     [][]byte // of the graph, in order; nil where one is left out
	operations []*operation
	values     map[string]*value // by name, while something has it
	matrices   []*tensor         // to be written in panels
}

// value is what a name stands for.
type value struct {
	maker  *operation
	tensor *tensor
	input  bool // of the graph: the caller's, even where there is a tensor to fall back on
	uses   int  // as an input of a node or an output of the graph
}

// operation is a node.
type operation struct {
	at              int // in fields
	domain, op      string
	inputs, outputs []string
	attrs           [][]byte
}

// tensor is an initialiser.
type tensor struct {
	at     int // in fields
	name   string
	kind   Type
	dims   []int64 // at most one more than is believed
	raw    []byte
	packed bool // is among the matrices
}

func (t *tensor) rows() string { return t.name + ".rows" }
func (t *tensor) zero() string { return t.name + ".zero" }

func readModel(file []byte) (*model, error) {
	m := &model{values: map[string]*value{}}
	var graph []byte
	found, end := false, 0
	err := fields(file, func(f field) error {
		start := end
		end += len(f.whole)
		if f.kind != protowire.BytesType {
			return nil
		}
		body, _ := protowire.ConsumeBytes(f.body)
		switch f.number {
		case 7:
			m.foreign = found // a second one would have to be merged into the first
			found, graph, m.before, m.after = true, body, file[:start], file[end:]
		case 8:
			return messages(body, func(number protowire.Number, domain []byte) error {
				m.declared = m.declared || number == 1 && string(domain) == rowDomain
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errNotGraph
	}
	return m, fields(graph, m.readField)
}

func (m *model) readField(f field) error {
	at := len(m.fields)
	m.fields = append(m.fields, f.whole)
	if f.kind != protowire.BytesType {
		return nil
	}
	body, _ := protowire.ConsumeBytes(f.body)
	switch f.number {
	case 1:
		return m.readOperation(at, body)
	case 5:
		return m.readTensor(at, body)
	case 11, 12:
		return messages(body, func(number protowire.Number, name []byte) error {
			switch {
			case number != 1:
			case f.number == 11:
				m.value(string(name)).input = true
			default:
				m.value(string(name)).uses++
			}
			return nil
		})
	}
	return nil
}

func (m *model) readOperation(at int, body []byte) error {
	o := &operation{at: at}
	m.operations = append(m.operations, o)
	err := messages(body, func(number protowire.Number, v []byte) error {
		switch number {
		case 1:
			o.inputs = append(o.inputs, string(v))
		case 2:
			o.outputs = append(o.outputs, string(v))
		case 4:
			o.op = string(v)
		case 5:
			o.attrs = append(o.attrs, v)
			return messages(v, func(number protowire.Number, _ []byte) error {
				m.foreign = m.foreign || number == 6 || number == 11 // a graph inside uses what it likes of the one around it
				return nil
			})
		case 7:
			o.domain = string(v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range o.inputs {
		m.value(name).uses++
	}
	for _, name := range o.outputs {
		m.define(name).maker = o
	}
	return nil
}

func (m *model) readTensor(at int, body []byte) error {
	t := &tensor{at: at}
	err := fields(body, func(f field) error {
		n, _ := protowire.ConsumeVarint(f.body) // of bytes it is their number, and not used
		switch {
		case f.number == 1 && f.kind == protowire.VarintType:
			t.addDim(n)
		case f.number == 1 && f.kind == protowire.BytesType:
			packed, _ := protowire.ConsumeBytes(f.body)
			for len(packed) > 0 {
				n, size := protowire.ConsumeVarint(packed)
				if size < 0 {
					return errNotGraph
				}
				t.addDim(n)
				packed = packed[size:]
			}
		case f.number == 2 && f.kind == protowire.VarintType:
			t.kind = Type(n)
		case f.number == 8 && f.kind == protowire.BytesType:
			name, _ := protowire.ConsumeBytes(f.body)
			t.name = string(name)
		case f.number == 9 && f.kind == protowire.BytesType:
			t.raw, _ = protowire.ConsumeBytes(f.body)
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.define(t.name).tensor = t
	return nil
}

func (t *tensor) addDim(n uint64) {
	if len(t.dims) <= maxRank {
		t.dims = append(t.dims, int64(n))
	}
}

func (m *model) value(name string) *value {
	v := m.values[name]
	if v == nil {
		v = &value{}
		m.values[name] = v
	}
	return v
}

// define returns the value that a node or a weight makes. The empty name, of an output that nobody wants, stands for nothing.
func (m *model) define(name string) *value {
	if name == "" {
		return &value{}
	}
	v := m.value(name)
	m.foreign = m.foreign || v.maker != nil || v.tensor != nil // made twice
	return v
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
	zero := []byte{RowZero}
	ok = magnitude.input(0) == p.rows && column.input(0) == integers.input(1) &&
		m.constant(zeros.input(0)).holds(U8, zero) &&
		m.constant(sums.input(2)).holds(U8, zero) &&
		m.constant(scale.input(1)).holds(F32, binary.LittleEndian.AppendUint32(nil, math.Float32bits(1./RowRange))) &&
		m.constant(column.input(1)).holds(I64, binary.LittleEndian.AppendUint64(bytes.Repeat([]byte{0xff}, 8), 1), 2) &&
		p.fits() && m.room(p.matrix)
	return p, ok
}

// is tells if a node is what the builder would write for an operator of ONNX with one output and these attributes. Attributes that
// mean the same and are written differently are not ours.
func (o *operation) is(op string, inputs int, attrs ...Attr) bool {
	return o.op == op && o.domain == "" && len(o.inputs) == inputs && len(o.outputs) == 1 && o.outputs[0] != "" &&
		slices.EqualFunc(o.attrs, attrs, func(got []byte, want Attr) bool { return bytes.Equal(got, attribute(want)) })
}

// maker returns the node that makes a value, if it is this one, or else nil.
func (m *model) maker(name, op string, inputs int, attrs ...Attr) *operation {
	v := m.values[name]
	if v == nil || v.maker == nil || !v.maker.is(op, inputs, attrs...) {
		return nil
	}
	return v.maker
}

// input returns the name of an input. That of no node is empty, and no node makes it, so a chain that breaks ends in nil.
func (o *operation) input(i int) string {
	if o == nil {
		return ""
	}
	return o.inputs[i]
}

// constant returns the tensor of that name, if no caller can put another in its place, or else nil.
func (m *model) constant(name string) *tensor {
	if v := m.values[name]; v != nil && !v.input {
		return v.tensor
	}
	return nil
}

// holds tells if a tensor is there and holds just that.
func (t *tensor) holds(kind Type, raw []byte, dims ...int64) bool {
	return t != nil && t.kind == kind && slices.Equal(t.dims, dims) && bytes.Equal(t.raw, raw)
}

// fits tells if the weights are there, in types and sizes that the operator takes.
func (p product) fits() bool {
	w, s := p.matrix, p.scales
	if p.rows == "" || w == nil || s == nil || w.kind != I8 || s.kind != F32 || len(w.dims) != 2 || len(s.dims) != 1 {
		return false
	}
	in, out := w.dims[0], w.dims[1]
	return 0 < in && in <= math.MaxInt32 && in%panelDepth == 0 && 0 < out && out <= math.MaxInt32 &&
		int64(len(w.raw)) == in*out && s.dims[0] == out && int64(len(s.raw)) == 4*out
}

// room tells if the names of what a matrix becomes are free.
func (m *model) room(w *tensor) bool {
	return w.packed || m.values[w.rows()] == nil && m.values[w.zero()] == nil
}

// replace puts the product in the place of its last node.
func (m *model) replace(last *operation, p product) {
	if !p.matrix.packed {
		p.matrix.packed = true
		m.matrices = append(m.matrices, p.matrix)
	}
	before := last.inputs
	last.domain, last.op = rowDomain, rowProduct
	last.inputs = []string{p.rows, p.matrix.rows(), p.matrix.zero(), p.scales.name}
	n := node{domain: last.domain, op: last.op, outputs: []Value{Value(last.outputs[0])}}
	for _, name := range last.inputs {
		n.inputs = append(n.inputs, Value(name))
		m.value(name).uses++
	}
	m.fields[last.at] = bytesField(nil, 1, new(Builder).encode(n, last.at))
	m.release(before)
}

// release takes a use of each value back, and leaves out what nothing uses any more for that. It makes use of the list.
func (m *model) release(names []string) {
	for len(names) > 0 {
		name := names[len(names)-1]
		names = names[:len(names)-1]
		if name == "" {
			continue
		}
		v := m.values[name]
		v.uses--
		if v.uses > 0 || v.input {
			continue
		}
		o := v.maker
		if o == nil {
			if v.tensor != nil {
				m.fields[v.tensor.at] = nil
			}
			delete(m.values, name)
			continue
		}
		if slices.ContainsFunc(o.outputs, func(name string) bool { return name != "" && m.values[name].uses > 0 }) {
			continue
		}
		m.fields[o.at] = nil
		names = append(names, o.inputs...)
		for _, name := range o.outputs {
			delete(m.values, name)
		}
	}
}

// bytes returns the new file.
func (m *model) bytes() []byte {
	matrices := slices.DeleteFunc(m.matrices, func(w *tensor) bool { return m.values[w.rows()] == nil })
	size := 0
	for _, f := range m.fields {
		size += len(f)
	}
	for _, w := range matrices {
		size += len(w.rowsHead()) + w.rowsSize() + len(w.zeroHead()) + w.zeroSize()
	}
	head := protowire.AppendVarint(protowire.AppendTag(nil, 7, protowire.BytesType), uint64(size))
	var tail []byte
	if !m.declared {
		tail = bytesField(nil, 8, intField(bytesField(nil, 1, []byte(rowDomain)), 2, rowVersion))
	}

	file := make([]byte, 0, len(m.before)+len(head)+size+len(m.after)+len(tail))
	file = append(append(file, m.before...), head...)
	for _, f := range m.fields {
		file = append(file, f...)
	}
	for _, w := range matrices {
		file = append(file, w.rowsHead()...)
		start := len(file)
		file = file[:start+w.rowsSize()] // what was never written is zero, as the rest of the last panel has to be
		sums := w.pack(file[start:])
		file = append(file, w.zeroHead()...)
		for _, sum := range sums {
			file = binary.LittleEndian.AppendUint32(file, uint32(-RowZero*sum))
		}
	}
	return append(append(file, m.after...), tail...)
}

func (t *tensor) in() int     { return int(t.dims[0]) }
func (t *tensor) out() int    { return int(t.dims[1]) }
func (t *tensor) panels() int { return (t.out() + panelWidth - 1) / panelWidth }

func (t *tensor) rowsSize() int { return t.panels() * panelWidth * t.in() }
func (t *tensor) zeroSize() int { return 4 * t.out() }

func (t *tensor) rowsHead() []byte {
	return tensorHead(t.rows(), I8, t.rowsSize(), t.panels(), t.in()/panelDepth, panelWidth, panelDepth)
}

func (t *tensor) zeroHead() []byte { return tensorHead(t.zero(), I32, t.zeroSize(), t.out()) }

// tensorHead is a weight of a graph up to its values, which take so many bytes.
func tensorHead(name string, kind Type, size int, shape ...int) []byte {
	var dims []byte
	for _, d := range shape {
		dims = protowire.AppendVarint(dims, uint64(d))
	}
	m := intField(bytesField(nil, 1, dims), 2, int64(kind))
	m = bytesField(m, 8, []byte(name))
	m = protowire.AppendVarint(protowire.AppendTag(m, 9, protowire.BytesType), uint64(size))
	head := protowire.AppendVarint(protowire.AppendTag(nil, 5, protowire.BytesType), uint64(len(m)+size))
	return append(head, m...)
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
				binary.LittleEndian.PutUint32(line[i*panelDepth:], uint32(a[i])|uint32(b[i])<<8|uint32(c[i])<<16|uint32(d[i])<<24)
			}
		}
	}
	return sums
}

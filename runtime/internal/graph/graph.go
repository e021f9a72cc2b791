// Package graph writes, reads and rewrites ONNX models. It has a small builder, a small reader and a rewrite over the
// protobuf encoding, without the schema or generated code.
package graph

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// What every model declares, unless the builder is told otherwise. Operator set 17 is the first with
// LayerNormalization.
const (
	irVersion     = 8
	opset         = 17
	Contrib       = "com.microsoft" // domain of the operators that only ONNX Runtime has
	contribOpset  = 1
	producer      = "swar"
	dataTypeF32   = 1
	dataTypeU8    = 2
	dataTypeI8    = 3
	dataTypeI32   = 6
	dataTypeI64   = 7
	dataTypeBool  = 9
	dataTypeF16   = 10
	attributeF    = 1
	attributeI    = 2
	attributeS    = 3
	attributeInts = 7
)

// Type is the element type of a tensor.
type Type int32

// The element types that the graphs use.
const (
	F32  Type = dataTypeF32
	U8   Type = dataTypeU8
	I8   Type = dataTypeI8
	I32  Type = dataTypeI32
	I64  Type = dataTypeI64
	Bool Type = dataTypeBool
	F16  Type = dataTypeF16 // of graphs that are only read
)

func (t Type) String() string {
	switch t {
	case F32:
		return "f32"
	case U8:
		return "u8"
	case I8:
		return "i8"
	case I32:
		return "i32"
	case I64:
		return "i64"
	case Bool:
		return "bool"
	case F16:
		return "f16"
	}
	return "type " + strconv.Itoa(int(t))
}

// Value names a tensor inside a graph. The empty one stands for an optional input that is left out.
type Value string

// Attr is an attribute of a node: an int, a float32, a string or a []int64 under a name.
type Attr struct {
	Name  string
	Value any
}

// Edge is an input or an output of a graph. A dimension is a number or, as text, the name of a size that varies.
type Edge struct {
	Name string
	Type Type
	Dims []string
}

// Builder collects a graph. Nodes must be added in an order in which every value exists before it is used. A mistake
// in what is added (a shape that does not fit its values) is the program's own and panics. It is not safe for
// concurrent use.
type Builder struct {
	name            string
	opset           int64
	nodes           []node
	tensors         [][]byte
	inputs, outputs []Edge
	names           map[Value]Value // values that leave the graph
	next            int
	shared          map[string]Value // small constants by what they hold, to write each once
}

type node struct {
	domain, op      string
	name            string // empty means one that is made up
	inputs, outputs []Value
	attrs           []Attr
	encoded         [][]byte // attributes of a node of another file
}

// New returns an empty graph.
func New(name string) *Builder {
	return &Builder{name: name, opset: opset, names: map[Value]Value{}, shared: map[string]Value{}}
}

// Opset declares another operator set than 17, for readers that want an older one. Nothing checks the nodes against it.
func (b *Builder) Opset(version int) { b.opset = int64(version) }

// Input declares an input. Its dimensions are ints or, for sizes that vary, strings.
func (b *Builder) Input(name string, t Type, dims ...any) Value {
	b.inputs = append(b.inputs, edge(name, t, dims))
	return Value(name)
}

// Output declares that v, which a node has made, leaves the graph under the given name. No node stands in between, so
// that the node writes straight into the tensor of the caller.
func (b *Builder) Output(name string, v Value, t Type, dims ...any) {
	if _, twice := b.names[v]; twice {
		panic(fmt.Sprintf("graph: %s leaves the graph twice", v))
	}
	b.outputs = append(b.outputs, edge(name, t, dims))
	b.names[v] = Value(name)
}

// Inputs returns what was declared, in order.
func (b *Builder) Inputs() []Edge { return b.inputs }

// Outputs returns what was declared, in order.
func (b *Builder) Outputs() []Edge { return b.outputs }

// Floats adds a constant. Its values are copied.
func (b *Builder) Floats(name string, values []float32, shape ...int) Value {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return b.tensor(name, F32, raw, len(values), shape)
}

// Float adds a constant without dimensions; equal ones share one constant.
func (b *Builder) Float(value float32) Value {
	bits := math.Float32bits(value)
	return b.scalar("float"+strconv.FormatUint(uint64(bits), 16), F32, binary.LittleEndian.AppendUint32(nil, bits))
}

// Int adds a constant of one integer without dimensions; equal ones share one constant.
func (b *Builder) Int(value int64) Value {
	return b.scalar("int"+strconv.FormatInt(value, 10), I64, binary.LittleEndian.AppendUint64(nil, uint64(value)))
}

// Int8 adds a constant of one signed byte without dimensions; equal ones share one constant.
func (b *Builder) Int8(value int8) Value {
	return b.scalar("signed"+strconv.Itoa(int(value)), I8, []byte{byte(value)})
}

// Uint8 adds a constant of one unsigned byte without dimensions; equal ones share one constant.
func (b *Builder) Uint8(value uint8) Value {
	return b.scalar("unsigned"+strconv.Itoa(int(value)), U8, []byte{value})
}

func (b *Builder) scalar(name string, t Type, raw []byte) Value {
	v, ok := b.shared[name]
	if !ok {
		v = b.tensor(name, t, raw, 1, nil)
		b.shared[name] = v
	}
	return v
}

// Int8s adds a constant of signed bytes. Its values are copied.
func (b *Builder) Int8s(name string, values []int8, shape ...int) Value {
	raw := make([]byte, len(values))
	for i, v := range values {
		raw[i] = byte(v)
	}
	return b.tensor(name, I8, raw, len(values), shape)
}

// Uint8s adds a constant of unsigned bytes. Its values are copied.
func (b *Builder) Uint8s(name string, values []uint8, shape ...int) Value {
	return b.tensor(name, U8, values, len(values), shape)
}

// Ints adds a list of integers, as shapes, axes and sizes are given; equal lists share one constant.
func (b *Builder) Ints(values ...int64) Value {
	key := fmt.Sprint(values)
	if v, ok := b.shared[key]; ok {
		return v
	}
	raw := make([]byte, 0, 8*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	v := b.tensor("ints"+strconv.Itoa(len(b.shared)), I64, raw, len(values), []int{len(values)})
	b.shared[key] = v
	return v
}

func (b *Builder) tensor(name string, t Type, raw []byte, count int, shape []int) Value {
	n := 1
	var dims []byte
	for _, d := range shape {
		n *= d
		dims = protowire.AppendVarint(dims, uint64(d))
	}
	if n != count {
		panic(fmt.Sprintf("graph: tensor %s: %d values for shape %v", name, count, shape))
	}
	var m []byte
	m = bytesField(m, 1, dims)
	m = intField(m, 2, int64(t))
	m = bytesField(m, 8, []byte(name))
	m = bytesField(m, 9, raw)
	b.tensors = append(b.tensors, m)
	return Value(name)
}

// Op adds a node with one output and returns it.
func (b *Builder) Op(op string, inputs []Value, attrs ...Attr) Value {
	return b.Ops("", op, 1, inputs, attrs...)[0]
}

// Ops adds a node of the given domain with n outputs and returns them.
func (b *Builder) Ops(domain, op string, n int, inputs []Value, attrs ...Attr) []Value {
	outputs := make([]Value, n)
	for i := range outputs {
		outputs[i] = Value("v" + strconv.Itoa(b.next))
		b.next++
	}
	b.nodes = append(b.nodes, node{domain: domain, op: op, inputs: inputs, outputs: outputs, attrs: attrs})
	return outputs
}

func (b *Builder) encode(n node, index int) []byte {
	var m []byte
	for field, values := range [][]Value{n.inputs, n.outputs} {
		for _, v := range values {
			if name, ok := b.names[v]; ok {
				v = name
			}
			m = bytesField(m, protowire.Number(field+1), []byte(v))
		}
	}
	name := n.name
	if name == "" {
		name = n.op + "_" + strconv.Itoa(index)
	}
	m = bytesField(m, 3, []byte(name))
	m = bytesField(m, 4, []byte(n.op))
	for _, a := range n.attrs {
		m = bytesField(m, 5, attribute(a))
	}
	for _, a := range n.encoded {
		m = bytesField(m, 5, a)
	}
	if n.domain != "" {
		m = bytesField(m, 7, []byte(n.domain))
	}
	return m
}

func attribute(a Attr) []byte {
	m := bytesField(nil, 1, []byte(a.Name))
	switch v := a.Value.(type) {
	case float32:
		m = protowire.AppendTag(m, 2, protowire.Fixed32Type)
		m = protowire.AppendFixed32(m, math.Float32bits(v))
		return intField(m, 20, attributeF)
	case int:
		return intField(intField(m, 3, int64(v)), 20, attributeI)
	case string:
		return intField(bytesField(m, 4, []byte(v)), 20, attributeS)
	case []int64:
		for _, n := range v {
			m = intField(m, 8, n)
		}
		return intField(m, 20, attributeInts)
	}
	panic(fmt.Sprintf("graph: attribute %s is a %T", a.Name, a.Value))
}

// Bytes returns the encoded model.
func (b *Builder) Bytes() []byte {
	var buffer bytes.Buffer
	_, _ = b.WriteTo(&buffer) // a buffer takes everything
	return buffer.Bytes()
}

// WriteTo writes the encoded model. Nothing is copied together, so that a model needs memory for its tensors once.
func (b *Builder) WriteTo(w io.Writer) (written int64, err error) {
	var before, after []byte // the tensors stand between them
	for i, n := range b.nodes {
		before = bytesField(before, 1, b.encode(n, i))
	}
	before = bytesField(before, 2, []byte(b.name))
	for _, e := range b.inputs {
		after = bytesField(after, 11, e.encode())
	}
	for _, e := range b.outputs {
		after = bytesField(after, 12, e.encode())
	}
	size := len(before) + len(after)
	for _, t := range b.tensors {
		size += len(t) + len(tensorTag(t))
	}

	head := bytesField(intField(nil, 1, irVersion), 2, []byte(producer))
	head = protowire.AppendVarint(protowire.AppendTag(head, 7, protowire.BytesType), uint64(size))
	write := func(part []byte) {
		if err == nil {
			var n int
			n, err = w.Write(part)
			written += int64(n)
		}
	}
	write(append(head, before...))
	for _, t := range b.tensors {
		write(tensorTag(t))
		write(t)
	}
	after = bytesField(after, 8, intField(nil, 2, b.opset)) // of the model, no longer of the graph
	write(bytesField(after, 8, intField(bytesField(nil, 1, []byte(Contrib)), 2, contribOpset)))
	return written, err
}

// tensorTag stands before an encoded tensor.
func tensorTag(t []byte) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, 5, protowire.BytesType), uint64(len(t)))
}

func edge(name string, t Type, dims []any) Edge {
	e := Edge{Name: name, Type: t, Dims: make([]string, len(dims))}
	for i, d := range dims {
		e.Dims[i] = fmt.Sprint(d)
	}
	return e
}

func (e Edge) encode() []byte {
	var shape []byte
	for _, d := range e.Dims {
		dim := bytesField(nil, 2, []byte(d))
		if n, err := strconv.ParseInt(d, 10, 64); err == nil {
			dim = intField(nil, 1, n)
		}
		shape = bytesField(shape, 1, dim)
	}
	tensor := bytesField(intField(nil, 1, int64(e.Type)), 2, shape)
	return bytesField(bytesField(nil, 1, []byte(e.Name)), 2, bytesField(nil, 1, tensor))
}

func bytesField(m []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), v)
}

func intField(m []byte, field protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), uint64(v))
}

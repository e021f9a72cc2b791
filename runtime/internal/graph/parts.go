package graph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Parts is a model of others, taken apart: what of it is wanted can be added to a [Builder]. Nothing of the file is
// copied, so that it must not change while its parts are in use.
type Parts struct {
	Opset int // of the operators of ONNX
	Nodes []*Node

	makers  map[string]*Node // by output
	tensors map[string]*Tensor
	inputs  map[string]bool
}

// Node is a node of a graph. Values have the names that they have in the file.
type Node struct {
	Domain, Op, Name string
	Inputs, Outputs  []string
	Attrs            []Attr // of a node that is made, not read

	encoded [][]byte // attributes of a node that was read
}

// Tensor is a constant of a graph: a weight, or a number that nodes need.
type Tensor struct {
	Name string
	Type Type
	Dims []int

	body []byte
}

// maxValues bounds the values of a tensor. The largest of speech models have some millions.
const maxValues = 1 << 28

// ReadParts takes an ONNX file apart. Graphs inside the graph, as those of loops and conditions, are refused.
func ReadParts(file []byte) (*Parts, error) {
	m, err := readModel(file)
	if err != nil {
		return nil, err
	}
	if m.foreign {
		return nil, errors.New("the graph has graphs inside it, or duplicate names")
	}
	p := &Parts{makers: map[string]*Node{}, tensors: map[string]*Tensor{}, inputs: map[string]bool{}}
	for _, o := range m.operations {
		n := &Node{Domain: o.domain, Op: o.op, Name: o.name, Inputs: o.inputs, Outputs: o.outputs, encoded: o.attrs}
		p.Nodes = append(p.Nodes, n)
		for _, name := range o.outputs {
			p.makers[name] = n
		}
	}
	delete(p.makers, "") // outputs that nobody wants
	for name, v := range m.values {
		if v.input {
			p.inputs[name] = true
		}
		if v.tensor == nil || v.input {
			continue
		}
		t := &Tensor{Name: name, Type: v.tensor.kind, body: v.tensor.body}
		if t.Dims, err = v.tensor.shape(); err != nil {
			return nil, err
		}
		p.tensors[name] = t
	}
	return p, p.readOpset(file)
}

func (t *tensor) shape() ([]int, error) {
	dims, n := make([]int, len(t.dims)), int64(1)
	for i, d := range t.dims {
		if d < 0 || d > maxValues || n*d > maxValues || i == maxRank {
			return nil, fmt.Errorf("the constant %.80q has the shape %v: the file is damaged", t.name, t.dims)
		}
		dims[i], n = int(d), n*d
	}
	return dims, nil
}

func (p *Parts) readOpset(file []byte) error {
	return messages(file, func(number protowire.Number, opset []byte) error {
		if number != 8 {
			return nil
		}
		domain := ""
		err := messages(opset, func(number protowire.Number, name []byte) error {
			if number == 1 {
				domain = string(name)
			}
			return nil
		})
		if domain == "" {
			p.Opset = int(integer(opset, 2, 0))
		}
		return err
	})
}

// Maker returns the node that makes a value, or nil.
func (p *Parts) Maker(value string) *Node { return p.makers[value] }

// Tensor returns a constant, or nil. What the caller of the graph may replace is none.
func (p *Parts) Tensor(name string) *Tensor { return p.tensors[name] }

// IsInput reports whether a value comes from the caller of the graph.
func (p *Parts) IsInput(value string) bool { return p.inputs[value] }

// Add adds a node as it is, under the names of its values.
func (b *Builder) Add(n *Node) {
	c := node{domain: n.Domain, op: n.Op, name: n.Name, attrs: n.Attrs, encoded: n.encoded}
	for _, name := range n.Inputs {
		c.inputs = append(c.inputs, Value(name))
	}
	for _, name := range n.Outputs {
		c.outputs = append(c.outputs, Value(name))
	}
	b.nodes = append(b.nodes, c)
}

// AddTensor adds a constant as it is, under its name.
func (b *Builder) AddTensor(t *Tensor) { b.tensors = append(b.tensors, t.body) }

// Like returns a node with the attributes of n.
func (n *Node) Like(op string, inputs, outputs []string) *Node {
	return &Node{Op: op, Name: n.Name, Inputs: inputs, Outputs: outputs, encoded: n.encoded}
}

// Size returns the number of values.
func (t *Tensor) Size() int {
	n := 1
	for _, d := range t.Dims {
		n *= d
	}
	return n
}

// The fields of an encoded tensor that hold values, one of them in a file.
const (
	fieldFloats = 4
	fieldInts   = 5
	fieldRaw    = 9
	fieldPlace  = 14 // 1 for values in a file of their own
)

// Floats returns the values of a tensor of float32.
func (t *Tensor) Floats() ([]float32, error) {
	if t.Type != F32 {
		return nil, fmt.Errorf("the constant %.80q is %v, want f32", t.Name, t.Type)
	}
	values := make([]float32, 0, min(t.Size(), len(t.body)))
	err := t.each(fieldFloats, 4, func(raw []byte) {
		for ; len(raw) > 0; raw = raw[4:] {
			values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		}
	})
	return values, err
}

// Bytes returns the values of a tensor of signed or unsigned bytes. They may be the file's, and must not be changed.
func (t *Tensor) Bytes() (values []byte, err error) {
	if t.Type != U8 && t.Type != I8 {
		return nil, fmt.Errorf("the constant %.80q is %v, want u8 or i8", t.Name, t.Type)
	}
	err = t.each(fieldInts, 1, func(raw []byte) {
		if values == nil {
			values = raw[:len(raw):len(raw)]
			return
		}
		values = append(values, raw...)
	})
	return values, err
}

// each calls f with the bytes of the values, of all of them or of one after the other, which are numbers in the given
// field.
func (t *Tensor) each(number protowire.Number, width int, f func(raw []byte)) error {
	left := t.Size()
	take := func(raw []byte) error {
		if left == 0 {
			return fmt.Errorf("the constant %.80q has more than %d values: the file is damaged", t.Name, t.Size())
		}
		left--
		f(raw[:width])
		return nil
	}
	err := fields(t.body, func(x field) error {
		switch {
		case x.number == fieldPlace && integer(x.whole, fieldPlace, 0) == 1:
			return fmt.Errorf("the values of %.80q lie in another file: use an export in one file", t.Name)
		case x.number == fieldRaw && x.kind == protowire.BytesType:
			raw, _ := protowire.ConsumeBytes(x.body)
			if len(raw) != width*left {
				return fmt.Errorf("the constant %.80q has %d bytes for %d values: the file is damaged", t.Name,
					len(raw), left)
			}
			left = 0
			f(raw)
			return nil
		case x.number == number:
			return numbers(x, take)
		}
		return nil
	})
	if err == nil && left > 0 {
		return fmt.Errorf("the constant %.80q is missing %d of its %d values: the file is damaged", t.Name, left,
			t.Size())
	}
	return err
}

// numbers calls f with the four bytes of each number of a field, which may hold one or many.
func numbers(x field, f func(raw []byte) error) error {
	body, one := x.body, x.kind
	if x.kind == protowire.BytesType {
		body, _ = protowire.ConsumeBytes(x.body)
		one = protowire.VarintType
		if x.number == fieldFloats {
			one = protowire.Fixed32Type
		}
	}
	for len(body) > 0 {
		var v uint32
		var n int
		switch one {
		case protowire.Fixed32Type:
			v, n = protowire.ConsumeFixed32(body)
		case protowire.VarintType:
			var long uint64
			long, n = protowire.ConsumeVarint(body)
			v = uint32(long)
		default:
			return errNotGraph
		}
		if n < 0 {
			return errNotGraph
		}
		if err := f(binary.LittleEndian.AppendUint32(nil, v)); err != nil {
			return err
		}
		body = body[n:]
	}
	return nil
}

package graph

import (
	"bytes"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// model is a file on its way to another. All bytes are the file's until they are written.
type model struct {
	before, after []byte // of the graph
	declared      bool   // our operators are among the imports
	declares      bool   // they have to be
	hidden        int    // products of integers in graphs inside it
	foreign       bool   // has what our graphs never have, and what a node replaced or left out could break

	fields     [][]byte // of the graph, in order; nil where one is left out
	operations []*operation
	values     map[string]*value // by name, while something has it
	added      []addition        // weights that were not there before
}

// addition is weights that are written behind all others, if anything still uses the one of that name.
type addition struct {
	name  string
	size  int                      // of what write writes
	write func(file []byte) []byte // appends the encoded weights; the room behind file is zeros
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
	name            string
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
	body   []byte // all of it, encoded
	packed bool   // is among what is added, in another form
}

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
		case 3:
			o.name = string(v)
		case 4:
			o.op = string(v)
		case 5:
			o.attrs = append(o.attrs, v)
			return m.readInside(v)
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

// readInside looks for a graph in an attribute of a node. It uses what it likes of the one around it.
func (m *model) readInside(attribute []byte) error {
	return messages(attribute, func(number protowire.Number, inside []byte) error {
		if number != 6 && number != 11 {
			return nil
		}
		m.foreign = true
		n, err := countProducts(inside)
		m.hidden += n
		return err
	})
}

// countProducts returns how many nodes of a graph, and of the graphs inside it, multiply integers.
func countProducts(graph []byte) (products int, err error) {
	err = messages(graph, func(number protowire.Number, node []byte) error {
		if number != 1 {
			return nil
		}
		return messages(node, func(number protowire.Number, v []byte) error {
			switch number {
			case 4:
				if op := string(v); op == "MatMulInteger" || slices.Contains(multipliers, op) {
					products++
				}
			case 5:
				return messages(v, func(number protowire.Number, inside []byte) error {
					if number != 6 && number != 11 {
						return nil
					}
					n, err := countProducts(inside)
					products += n
					return err
				})
			}
			return nil
		})
	})
	return products, err
}

func (m *model) readTensor(at int, body []byte) error {
	t := &tensor{at: at, body: body}
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

// define returns the value that a node or a weight makes. The empty name, of an output that nobody wants, stands for
// nothing.
func (m *model) define(name string) *value {
	if name == "" {
		return &value{}
	}
	v := m.value(name)
	m.foreign = m.foreign || v.maker != nil || v.tensor != nil // made twice
	return v
}

// is tells if a node is what the builder would write for an operator of ONNX with one output and these attributes.
// Attributes that mean the same and are written differently are not ours.
func (o *operation) is(op string, inputs int, attrs ...Attr) bool {
	if o.op != op || o.domain != "" || len(o.inputs) != inputs {
		return false
	}
	if len(o.outputs) != 1 || o.outputs[0] == "" {
		return false
	}
	same := func(got []byte, want Attr) bool { return bytes.Equal(got, attribute(want)) }
	return slices.EqualFunc(o.attrs, attrs, same)
}

// maker returns the node that makes a value, if it is this one, or else nil.
func (m *model) maker(name, op string, inputs int, attrs ...Attr) *operation {
	v := m.values[name]
	if v == nil || v.maker == nil || !v.maker.is(op, inputs, attrs...) {
		return nil
	}
	return v.maker
}

// input returns the name of an input. That of no node is empty, and no node makes it, so a chain that breaks ends in
// nil.
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

// write encodes a node anew, after its operator or inputs were changed, and counts the uses of the inputs. It has no
// attributes.
func (m *model) write(o *operation) {
	n := node{domain: o.domain, op: o.op}
	for _, name := range o.inputs {
		n.inputs = append(n.inputs, Value(name))
		m.value(name).uses++
	}
	for _, name := range o.outputs {
		n.outputs = append(n.outputs, Value(name))
	}
	m.fields[o.at] = bytesField(nil, 1, new(Builder).encode(n, o.at))
}

// release takes a use of each value back, and leaves out what nothing uses any more for that. It makes use of the list.
//
// In a foreign model all stays: who else uses it is not known.
func (m *model) release(names []string) {
	if m.foreign {
		return
	}
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
	added := slices.DeleteFunc(m.added, func(a addition) bool { return m.values[a.name] == nil })
	size := 0
	for _, f := range m.fields {
		size += len(f)
	}
	for _, a := range added {
		size += a.size
	}
	head := protowire.AppendVarint(protowire.AppendTag(nil, 7, protowire.BytesType), uint64(size))
	var tail []byte
	if m.declares && !m.declared {
		tail = bytesField(nil, 8, intField(bytesField(nil, 1, []byte(rowDomain)), 2, rowVersion))
	}

	file := make([]byte, 0, len(m.before)+len(head)+size+len(m.after)+len(tail))
	file = append(append(file, m.before...), head...)
	for _, f := range m.fields {
		file = append(file, f...)
	}
	for _, a := range added {
		file = a.write(file)
	}
	return append(append(file, m.after...), tail...)
}

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

package graph

import (
	"fmt"
	"slices"
)

// multipliers are the operators of ONNX and ONNX Runtime that multiply integers of eight bits, apart from
// MatMulInteger.
var multipliers = []string{
	"ConvInteger", "QLinearConv", "QLinearMatMul", "QGemm", "QAttention",
	"DynamicQuantizeMatMul", "MatMulIntegerToFloat", "DynamicQuantizeLSTM",
}

// SignedProducts returns how many products of integers in a file have signed weights. ONNX Runtime may cut the sums
// of such products off, see [UnsignProducts].
func SignedProducts(file []byte) (products int, err error) {
	m, err := readModel(file)
	if err != nil {
		return 0, err
	}
	for _, o := range m.operations {
		if m.signed(o) != nil || slices.Contains(multipliers, o.op) {
			products++
		}
	}
	return products + m.hidden, nil
}

// UnsignProducts makes the weights of every MatMulInteger unsigned. It adds 128 to them and to their zero point, so
// that the products stay the same. It fails where products of integers are written in another way, which it would
// have to leave as they are.
func UnsignProducts(file []byte) ([]byte, error) {
	m, err := readModel(file)
	if err != nil {
		return nil, err
	}
	if m.hidden > 0 {
		return nil, fmt.Errorf("%d integer products are in a graph within the graph, where they cannot be made exact: "+
			"use the model in floats", m.hidden)
	}
	for _, o := range m.operations {
		if slices.Contains(multipliers, o.op) {
			return nil, fmt.Errorf("the operator %s cannot be made exact on this processor: use the model in floats",
				o.op)
		}
		if weights := m.signed(o); weights != nil {
			if err := m.unsign(o, weights); err != nil {
				return nil, err
			}
		}
	}
	if len(m.added) == 0 {
		return file, nil
	}
	return m.bytes(), nil
}

// signed returns the weights of a MatMulInteger, if they are signed, or else nil.
func (m *model) signed(o *operation) *tensor {
	if o.op != "MatMulInteger" || o.domain != "" || len(o.inputs) < 2 {
		return nil
	}
	if w := m.constant(o.inputs[1]); w != nil && w.kind == I8 {
		return w
	}
	return nil
}

// unsign gives a MatMulInteger unsigned weights.
func (m *model) unsign(o *operation, weights *tensor) error {
	before := o.inputs
	zero := ""
	if len(before) > 3 {
		zero = before[3]
	}
	o.inputs = []string{before[0], m.unsigned(weights), "", ""}
	if len(before) > 2 {
		o.inputs[2] = before[2]
	}
	if zero == "" {
		o.inputs[3] = m.unsigned(&tensor{name: o.inputs[1] + ".zero", kind: I8, raw: []byte{0}})
	} else {
		point := m.constant(zero)
		if point == nil || point.kind != I8 {
			return fmt.Errorf("the zero point %s of a product of integers is not a constant of signed bytes: "+
				"use the model in floats", zero)
		}
		o.inputs[3] = m.unsigned(point)
	}
	m.write(o)
	m.release(before)
	return nil
}

// unsigned adds a tensor of signed bytes as unsigned ones, once, and returns its name.
func (m *model) unsigned(t *tensor) string {
	name := t.name + ".unsigned"
	if t.packed {
		return name
	}
	t.packed = true
	shape := make([]int, len(t.dims))
	for i, d := range t.dims {
		shape[i] = int(d)
	}
	head := tensorHead(name, U8, len(t.raw), shape...)
	m.added = append(m.added, addition{name, len(head) + len(t.raw), func(file []byte) []byte {
		file = append(file, head...)
		for _, v := range t.raw {
			file = append(file, v^0x80) // 128 more
		}
		return file
	}})
	return name
}

package graph

import (
	"encoding/binary"
	"math"
)

// FloatRows replaces the products of [FuseRows] by products of unrounded rows with a matrix of floats. The floats are
// the integers times the scale of their output. So a graph computes without rounding rows to integers. It returns how
// many products it replaced.
func FloatRows(file []byte) (floats []byte, products int, err error) {
	return rewriteRows(file, (*model).replaceByFloats)
}

// replaceByFloats puts a product of floats in the place of a product's last node.
func (m *model) replaceByFloats(last *operation, p product) {
	name := p.matrix.name + ".floats"
	if !p.matrix.packed {
		p.matrix.packed = true
		m.added = append(m.added, p.inFloats(name))
	}
	before := last.inputs
	last.domain, last.op = "", "MatMul"
	last.inputs = []string{p.rows, name}
	m.write(last)
	m.release(before)
}

// inFloats is the matrix times the scales.
func (p product) inFloats(name string) addition {
	in, out := p.matrix.in(), p.matrix.out()
	head := tensorHead(name, F32, 4*in*out, in, out)
	return addition{name, len(head) + 4*in*out, func(file []byte) []byte {
		file = append(file, head...)
		for i, v := range p.matrix.raw {
			scale := math.Float32frombits(binary.LittleEndian.Uint32(p.scales.raw[4*(i%out):]))
			file = binary.LittleEndian.AppendUint32(file, math.Float32bits(float32(int8(v))*scale))
		}
		return file
	}}
}

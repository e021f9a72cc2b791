package layouttest

import (
	"fmt"
	"math"

	"github.com/swar-tts/swar/runtime/internal/graph"
)

// The operations of PyTorch, each under its name there, as the TorchScript exporter spells them out. It takes the
// sizes of tensors for values, because any of them may vary, so that a line of Python leaves a dozen small nodes,
// most of which ONNX Runtime cannot remove, and what Python only looks at, the exporter copies. Stand-ins without all
// this would be a faster peer than the published files are. Casts to the type that a value has already are left out
// here, because loading a graph removes them.

// size is x.shape[axis], a scalar.
func (b *builder) size(x graph.Value, axis int64) graph.Value {
	return b.pick(b.op("Shape", x), 0, axis)
}

// sizes puts a shape together, of ints and of values as size returns them.
func (b *builder) sizes(dims ...any) graph.Value {
	parts := make([]graph.Value, len(dims))
	for i, d := range dims {
		switch d := d.(type) {
		case int:
			parts[i] = b.Ints(int64(d))
		case graph.Value:
			parts[i] = b.unsqueeze(d, 0)
		default:
			panic(fmt.Sprintf("layouttest: a size is a %T", d))
		}
	}
	return b.concat(0, parts...)
}

// view is x.view(…) and x.reshape(…) with sizes of which some are known only when the graph runs.
func (b *builder) view(x graph.Value, dims ...any) graph.Value {
	return b.op("Reshape", x, b.sizes(dims...))
}

// unbind takes an axis of three apart.
func (b *builder) unbind(x graph.Value, axis int) (parts [3]graph.Value) {
	for i, p := range b.Ops("", "Split", 3, []graph.Value{x, b.Ints(1, 1, 1)}, graph.Attr{Name: "axis", Value: axis}) {
		parts[i] = b.op("Squeeze", p, b.Ints(int64(axis)))
	}
	return parts
}

// chunk is torch.chunk along the last axis, whose length is measured though it never changes.
func (b *builder) chunk(x graph.Value, n int64) []graph.Value {
	length := b.op("Gather", b.op("Shape", x), b.Ints(-1))
	part := b.op("Div", b.add(length, b.Ints(n-1)), b.Ints(n))
	chunks := make([]graph.Value, n)
	start := b.Ints(0)
	for i := range chunks {
		end := b.mul(part, b.Ints(int64(i+1)))
		chunks[i] = b.slice(x, start, end, -1)
		start = end
	}
	return chunks
}

// arange is torch.arange of a scalar.
func (b *builder) arange(end graph.Value) graph.Value {
	return b.op("Range", b.Int(0), end, b.Int(1))
}

func (b *builder) arangeFloats(end graph.Value) graph.Value {
	return b.op("Range", b.number(0), b.float(end), b.number(1))
}

// counted is torch.arange of a known length, which becomes a constant.
func (b *builder) counted(length int) graph.Value {
	values := make([]int64, length)
	for i := range values {
		values[i] = int64(i)
	}
	return b.Ints(values...)
}

// full is torch.full. The exporter has ConstantOfShape here, which does the same.
func (b *builder) full(value, shape graph.Value) graph.Value { return b.op("Expand", value, shape) }

// expand is x.expand(shape), where -1 leaves a size as it is.
func (b *builder) expand(x, shape graph.Value) graph.Value {
	ones := b.full(b.Int(1), b.op("Shape", shape))
	keep := b.op("Equal", shape, b.mul(ones, b.Int(-1)))
	return b.op("Expand", x, b.op("Where", keep, ones, shape))
}

// from is shape[first:].
func (b *builder) from(shape graph.Value, first int64) graph.Value {
	return b.slice(shape, b.Ints(first), b.Ints(math.MaxInt64), 0)
}

// assignRows is x[i, :, from:to] = values, for x of [2, 1, capacity, …]. No operator does that: an index of each row
// is put together, out of three that are brought to one shape, and the whole of x is copied. Half of x is copied once
// more, to see how large the part is.
func (b *builder) assignRows(x graph.Value, i int64, from, to, values graph.Value) graph.Value {
	values = b.op("Expand", values, b.op("Shape", b.slice(b.pick(x, 0, i), from, to, 1)))
	half, first := b.reshape(b.Ints(i), 1, 1, 1), b.reshape(b.Ints(0), 1, 1)
	rows := b.slice(b.counted(capacity), from, to, 0)
	shape := b.op("Shape", b.add(half, rows))
	index := make([]graph.Value, 0, 3)
	for _, v := range []graph.Value{half, first, rows} {
		index = append(index, b.unsqueeze(b.expand(v, shape), -1))
	}
	values = b.op("Reshape", values, b.concat(0, shape, b.from(b.op("Shape", x), int64(len(index)))))
	return b.op("ScatterND", x, b.concat(-1, index...), values)
}

// assign is x[i] = values, where target is x[i]; it is x for x[:] = values with x a list of one.
func (b *builder) assign(x graph.Value, i int64, target, values graph.Value) graph.Value {
	values = b.op("Expand", values, b.op("Shape", target))
	values = b.op("Reshape", values, b.concat(0, b.Ints(1), b.from(b.op("Shape", x), 1)))
	return b.op("ScatterND", x, b.reshape(b.Ints(i), 1, 1), values)
}

// variance is x.var(dim=-1, keepdim=True). The unbiased one counts the columns when the graph runs.
func (b *builder) variance(x graph.Value, unbiased bool) graph.Value {
	d := b.op("Sub", x, b.mean(x))
	v := b.mean(b.mul(d, d))
	if !unbiased {
		return v
	}
	columns := b.Op("ReduceProd", []graph.Value{b.op("Gather", b.op("Shape", x), b.Ints(-1))},
		graph.Attr{Name: "keepdims", Value: 0})
	n := b.float(columns)
	return b.op("Div", b.mul(v, n), b.op("Sub", n, b.number(1)))
}

// attend is scaled_dot_product_attention of queries and values [1, heads, rows, head] and keys [1, heads, head,
// rows], with a mask to add to the scores.
func (b *builder) attend(q, keys, v, mask graph.Value) graph.Value {
	return b.op("MatMul", b.shares(q, keys, mask), v)
}

// attendSeen is attend with a mask of booleans. The exporter then looks for queries that see nothing, of which there
// are none here.
func (b *builder) attendSeen(q, keys, v, seen graph.Value) graph.Value {
	p := b.shares(q, keys, b.op("Where", seen, b.number(0), b.number(math.Inf(-1))))
	return b.op("MatMul", b.op("Where", b.op("IsNaN", p), b.number(0), p), v)
}

// shares says how much each query takes of each key. Both are scaled, by a scale that is found when the graph runs.
func (b *builder) shares(q, keys, mask graph.Value) graph.Value {
	head := b.float(b.from(b.op("Shape", q), -1))
	scale := b.op("Sqrt", b.op("Div", b.number(1), b.op("Sqrt", head)))
	scores := b.op("MatMul", b.mul(q, scale), b.mul(keys, scale))
	return b.Op("Softmax", []graph.Value{b.add(scores, mask)}, graph.Attr{Name: "axis", Value: -1})
}
